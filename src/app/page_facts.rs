//! What the pages on disk say that may be nowhere else: notes, settled items, and digests that were paid for.
//!
//! Notes and settled items go back into the index, notes through the sanitizer as if imported; for digests see `digest::from_pages`. A note
//! that cannot is shown in full, because the next digest may rewrite its page.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use jiff::civil::{Date, Time};

use crate::app::{notes, orphans};
use crate::config::Config;
use crate::model::author::Author;
use crate::model::digest::is_paid;
use crate::model::note::EVERYWHERE;
use crate::model::page_path::day_of_page;
use crate::render::page::read::{self, NoteLine, SettledLine};
use crate::store::error::is_store_error;
use crate::store::transfer::ExportedNote;
use crate::store::{Reader, Writer};
use crate::sys::messages::Ui;
use text::clean::{counted, without_controls};
use transcripts::session::{Millis, Project};

/// All that pages hold, as they were when they were read.
pub(crate) struct Pages {
    sessions: Vec<PageFacts>,
    notes: Vec<(Millis, NoteLine)>,
}

/// What the page of a session tells beside its digest.
pub(crate) struct PageFacts {
    pub(crate) file: PathBuf,
    pub(crate) session: String,
    project: Project,
    pub(crate) summarizer: &'static str,
    /// The model's digest itself stands there.
    holds_digest: bool,
    pub(crate) ended_at: Option<Millis>,
    /// What the digest cost, in US dollars.
    pub(crate) cost_usd: Option<f64>,
    settled: Vec<SettledLine>,
}

impl Pages {
    /// All pages; one that cannot be read is skipped.
    pub(crate) fn read(config: &Config) -> Self {
        let sessions = orphans::pages(config).filter_map(|page| {
            let text = fs::read_to_string(&page.file).ok()?;
            let (summarizer, settled) = (page.summarizer, read::settled(&text, &page.session));
            Some(PageFacts {
                holds_digest: is_paid(summarizer) && read::holds_digest(&text, &page.session),
                file: page.file,
                session: page.session,
                project: page.project,
                summarizer,
                ended_at: page.ended_at,
                cost_usd: read::cost(&text),
                settled,
            })
        });
        let notes = orphans::files(config).filter_map(|file| {
            let (day, text) = (day_of_page(&file)?, fs::read_to_string(&file).ok()?);
            let at = |note: &NoteLine| {
                let clock: Time = format!("{}:00", note.clock).parse().ok()?;
                Some(day.to_datetime(clock).to_zoned(config.time_zone.clone()).ok()?.timestamp().as_millisecond())
            };
            Some(read::notes(&text).into_iter().filter_map(|note| Some((at(&note)?, note))).collect::<Vec<_>>())
        });
        Self { sessions: sessions.collect(), notes: notes.flatten().collect() }
    }

    /// What the pages hold, where no index knows of it; `None` if that is nothing. Reads all pages.
    pub(crate) fn told_without_index(config: &Config) -> Option<String> {
        Self::read(config).told()
    }

    /// How many sessions, notes and digests that were paid for.
    pub(crate) fn told(&self) -> Option<String> {
        let distinct = |ids: &mut dyn Iterator<Item = &String>| ids.collect::<BTreeSet<_>>().len();
        let sessions = distinct(&mut self.sessions.iter().map(|page| &page.session));
        let paid = distinct(&mut self.sessions.iter().filter(|page| is_paid(page.summarizer)).map(|page| &page.session));
        let notes = distinct(&mut self.notes.iter().map(|(_, note)| &note.id));
        let digests = if paid == 1 { "1 digest by the model".to_owned() } else { format!("{paid} digests by the model") };
        let held = distinct(&mut self.sessions.iter().filter(|page| page.holds_digest).map(|page| &page.session));
        let named = if held < paid { format!(" ({} of them only named)", paid - held) } else { String::new() };
        let told = [counted(sessions, "session"), counted(notes, "note"), digests + &named].join(", ");
        (sessions + notes > 0).then_some(told)
    }

    /// Whether they are of any session or show any note that the index does not know.
    pub(crate) fn hold_more_than(&self, store: &Reader) -> Result<bool> {
        for page in &self.sessions {
            if store.session_pk(&page.session)?.is_none() {
                return Ok(true);
            }
        }
        for (_, note) in &self.notes {
            if store.look_up_note(&note.id)?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Pages of sessions whose digest was paid for.
    pub(crate) fn paid(&self) -> impl Iterator<Item = &PageFacts> {
        self.sessions.iter().filter(|page| is_paid(page.summarizer))
    }

    /// Sessions that have a page, and so a digest, and those whose digest is the model's; without what was forgotten.
    pub(crate) fn digests(&self, store: &Reader) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
        let mut all = (BTreeSet::new(), BTreeSet::new());
        for page in &self.sessions {
            if !store.is_shut_out(&page.session)? {
                all.0.insert(page.session.clone());
                all.1.extend(is_paid(page.summarizer).then(|| page.session.clone()));
            }
        }
        Ok(all)
    }

    /// Adds notes and settled items that the index does not know, the latter of sessions that it knows.
    pub(crate) fn restore(&self, store: &mut Writer, config: &Config, ui: &Ui) -> Result<()> {
        for page in &self.sessions {
            for item in &page.settled {
                let at = item.day.map_or(config.now(), |day| end_of(day, config));
                store.settle_again(&page.session, (&item.id, &item.text), at, &item.by)?;
            }
        }
        for (at, note) in &self.notes {
            let known = store.look_up_note(&note.id)?;
            match known {
                Some(known) if known.closed.is_none() => {
                    if let Some(by) = &note.closed_by {
                        store.close_note(&known, Some((config.now(), by.clone())))?;
                    }
                }
                Some(_) => {}
                None => match self.put_back(*at, note, store, config) {
                    Err(e) if is_store_error(&e) => return Err(e),
                    Err(e) => {
                        let told = format!("note {} is left only in a page ({e:#}): {}", note.id, without_controls(&note.text));
                        ui.warn(&format!("{told}; `recall remember` keeps it again"));
                    }
                    Ok(()) => {}
                },
            }
        }
        Ok(())
    }

    fn put_back(&self, at: Millis, note: &NoteLine, store: &mut Writer, config: &Config) -> Result<()> {
        let project = self.project(&note.project, store)?;
        let by = |author: &Author| Some(author.clone());
        let exported = ExportedNote {
            note: note.id.clone(),
            project,
            kind: note.kind.clone(),
            text: note.text.clone(),
            at,
            author: note.author.clone(),
            closed_at: note.closed_by.as_ref().map(|_| at),
            closed_by: note.closed_by.as_ref().and_then(by),
        };
        notes::import_note(exported, &config.sanitizer()?, store, config).map(|_| ())
    }

    /// The key of the project with this name.
    ///
    /// # Errors
    /// When none has it, or more than one.
    fn project(&self, name: &str, store: &Reader) -> Result<String> {
        let stored = store.session_heads()?.into_iter().map(|head| head.project);
        let mut keys: BTreeSet<String> =
            self.sessions.iter().map(|page| page.project.clone()).chain(stored).map(|p| p.key).collect();
        keys.retain(|key| Project { key: key.clone() }.name() == name);
        if name == "all projects" {
            keys.insert(EVERYWHERE.to_owned());
        }
        match (keys.len(), keys.pop_first()) {
            (1, Some(key)) => Ok(key),
            (0, _) => anyhow::bail!("no stored session belongs to the project {name} of this page"),
            _ => anyhow::bail!("more than one project is called {name}"),
        }
    }
}

/// The last moment of a day that is over by now.
fn end_of(day: Date, config: &Config) -> Millis {
    let next = day.tomorrow().and_then(|next| next.to_zoned(config.time_zone.clone()));
    next.map_or(config.now(), |next| config.now().min(next.timestamp().as_millisecond() - 1))
}
