//! Writing the pages: only those that changed, each in one step, the user's notes kept.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::config::Config;
use crate::fault;
use crate::leftovers::Writing;
use crate::page::{Shown, day_of, day_page, session_page, session_page_name};
use crate::price::costs_by_model;
use crate::private;
use crate::session::{Millis, Session};
use crate::store::Store;
use crate::store::digests::Stored;
use crate::store::load::SessionHead;
use crate::store::notes::Note;
use crate::store::pages::PageRecord;
use crate::ui::Ui;

/// The heading below which a page is the user's own.
pub const NOTES: &str = "## Notes";

/// Brings the pages up to date with the digests; all of them when `all`. Returns how many files were written.
pub fn write(config: &Config, store: &mut Store, all: bool, ui: &Ui) -> Result<u64> {
    store.find_repeats(all)?;
    fault::point("repeats found");
    let mut dirty: BTreeSet<i64> = store.page_dirty()?.into_iter().collect();
    let mut writer = Writer { config, store, ui, days: BTreeMap::new(), gone: Vec::new(), written: 0 };
    let noted = writer.store.noted_days()?;
    let mut moments = noted.clone();
    if all {
        moments.extend(writer.store.notes()?.into_iter().map(|note| note.at));
        dirty.extend(writer.store.digested()?.iter().map(|h| h.pk));
        // Days whose sessions have all gone since, too.
        writer.days.extend(writer.store.pages()?.into_iter().map(|page| (page.day, String::new())));
    }
    for at in moments {
        writer.days.entry(config.local_time(Some(at), "%Y-%m-%d")).or_default();
    }
    if dirty.is_empty() && writer.days.is_empty() {
        return Ok(0);
    }
    let _writing = Writing::begin(&config.data_dir).with_context(|| format!("cannot write in {}", config.data_dir.display()))?;
    writer.run(&dirty, &noted)
}

/// Writes the pages of some days anew, with notes that move there; one with nothing left on it goes.
pub fn write_days(config: &Config, store: &mut Store, days: BTreeMap<String, String>, ui: &Ui) -> Result<u64> {
    Writer { config, store, ui, days, gone: Vec::new(), written: 0 }.run(&BTreeSet::new(), &[])
}

struct Writer<'a> {
    config: &'a Config,
    store: &'a mut Store,
    ui: &'a Ui,
    /// Days to be written anew, each with notes that moved there.
    days: BTreeMap<String, String>,
    /// Pages that no longer apply. They go last: a run that is cut short finds them again.
    gone: Vec<PageRecord>,
    written: u64,
}

/// A session with all its page needs, owned.
struct Loaded {
    session: Session,
    stored: Stored,
    closed: Vec<String>,
    costs: BTreeMap<String, Option<f64>>,
    page: String,
    /// The path of the page of a later session that says nearly the same.
    repeated_by: Option<String>,
}

impl Loaded {
    fn shown(&self) -> Shown<'_> {
        Shown {
            session: &self.session,
            digest: &self.stored.digest,
            digest_id: &self.stored.id,
            summarizer: &self.stored.summarizer,
            goes_on: self.stored.interim_until.is_some(),
            closed: &self.closed,
            costs: self.costs.clone(),
            page: self.page.clone(),
            repeated_by: self.repeated_by.as_deref(),
        }
    }
}

impl Writer<'_> {
    fn run(mut self, dirty: &BTreeSet<i64>, noted: &[Millis]) -> Result<u64> {
        let mut old: HashMap<i64, Vec<PageRecord>> = HashMap::new();
        for page in self.store.pages()? {
            if let Some(session) = page.session {
                old.entry(session).or_default().push(page);
            }
        }
        for pk in dirty {
            self.session(*pk, old.remove(pk).unwrap_or_default())?;
        }
        for (day, notes) in std::mem::take(&mut self.days) {
            self.day(&day, &notes)?;
        }
        fault::point("days written");
        for page in std::mem::take(&mut self.gone) {
            self.remove(&page.path)?;
        }
        fault::point("old pages removed");
        for pk in dirty {
            self.store.pages_written(*pk)?;
        }
        self.store.days_written(noted)?;
        Ok(self.written)
    }

    /// What was remembered on a day.
    fn notes_on(&self, day: &str) -> Result<Vec<Note>> {
        let Ok(date) = day.parse::<jiff::civil::Date>() else { return Ok(Vec::new()) };
        let at = |date: jiff::civil::Date| {
            date.to_zoned(self.config.time_zone.clone()).map(|begins| begins.timestamp().as_millisecond())
        };
        // Nothing comes before the first day there is, nor after the last.
        let end = date.tomorrow().and_then(at).unwrap_or(Millis::MAX);
        self.store.notes_between(at(date).unwrap_or(Millis::MIN), end)
    }

    /// Writes a session's page; one under another name goes, and its notes move along.
    fn session(&mut self, pk: i64, old: Vec<PageRecord>) -> Result<()> {
        let head = self.store.session_head(pk)?;
        let loaded = self.load(&head)?;
        let path = loaded.as_ref().map(|l| session_path(&day_of(&l.session, &self.config.time_zone), &l.page));
        let mut notes = String::new();
        for page in old.into_iter().filter(|p| Some(&p.path) != path.as_ref()) {
            let found = match self.notes_of(&page.path) {
                Ok(found) => found,
                Err(e) => {
                    self.ui.warn(&format!("{e:#}: the page stays"));
                    continue;
                }
            };
            let day = self.days.entry(page.day.clone()).or_default();
            // A session without a page leaves its notes to the day.
            if path.is_some() {
                notes.push_str(&found)
            } else {
                day.push_str(&found)
            }
            self.gone.push(page);
        }
        if let (Some(loaded), Some(path)) = (&loaded, &path) {
            let day = day_of(&loaded.session, &self.config.time_zone);
            self.put(path, &session_page(&loaded.shown(), &self.config.time_zone), &notes)?;
            fault::point("page replaced");
            self.store.record_page(&PageRecord { path: path.clone(), session: Some(pk), day: day.clone() })?;
            self.days.entry(day).or_default();
        }
        Ok(())
    }

    fn load(&self, head: &SessionHead) -> Result<Option<Loaded>> {
        let Some(stored) = self.store.digest_of(head.pk)? else { return Ok(None) };
        let session = self.store.load_session(head)?;
        let (_, page) = self.page_of(&session)?;
        let costs = costs_by_model(&session.usage, &self.config.prices);
        let closed = self.store.closed_of(head.pk)?;
        Ok(Some(Loaded { closed, session, stored, costs, page, repeated_by: self.later(head.pk)? }))
    }

    /// The day of a session, and the name of its page.
    fn page_of(&self, session: &Session) -> Result<(String, String)> {
        let day = day_of(session, &self.config.time_zone);
        let page = session_page_name(session, &day, self.store.shares_prefix(&session.id, 8)?);
        Ok((day, page))
    }

    fn later(&self, session: i64) -> Result<Option<String>> {
        let Some(later) = self.store.repeated_by(session)? else { return Ok(None) };
        let later = self.store.load_session(&self.store.session_head(later)?)?;
        let (day, page) = self.page_of(&later)?;
        Ok(Some(session_path(&day, &page)))
    }

    /// Writes the page of a day from the sessions that have a page there; without any, only notes keep it.
    fn day(&mut self, day: &str, moved_notes: &str) -> Result<()> {
        let path = day_path(day);
        let mut loaded: Vec<Loaded> = Vec::new();
        for pk in self.store.sessions_of_day(day)? {
            let left = self.gone.iter().any(|p| p.session == Some(pk) && p.day == day);
            let stays = !left || self.store.pages_of(pk)?.iter().any(|p| p.day == day && !self.gone.contains(p));
            if stays {
                loaded.extend(self.load(&self.store.session_head(pk)?)?);
            }
        }
        loaded.sort_by_key(|l| (l.session.began_at(), l.session.id.clone()));
        let shown: Vec<Shown<'_>> = loaded.iter().map(Loaded::shown).collect();
        let noted = self.notes_on(day)?;
        if shown.is_empty() && noted.is_empty() && moved_notes.is_empty() && self.notes_of(&path)?.is_empty() {
            return self.remove(&path);
        }
        self.put(&path, &day_page(day, &shown, &noted, &self.config.time_zone), moved_notes)?;
        self.store.record_page(&PageRecord { path, session: None, day: day.to_owned() })
    }

    /// Replaces a page when its text differs, with the user's notes below it.
    fn put(&mut self, path: &str, text: &str, moved_notes: &str) -> Result<()> {
        let file = self.config.data_dir.join(path);
        let before = read(&file)?;
        let mut notes = notes_in(before.as_deref().unwrap_or_default()).to_owned();
        if !moved_notes.trim().is_empty() && !notes.contains(moved_notes.trim()) {
            notes.push_str(moved_notes);
        }
        let text = if notes.is_empty() { text.to_owned() } else { format!("{text}\n{NOTES}\n{notes}") };
        if before.as_deref() == Some(text.as_str()) {
            return Ok(());
        }
        private::replace(&file, text.as_bytes()).with_context(|| format!("cannot write {}", file.display()))?;
        self.written += 1;
        Ok(())
    }

    fn notes_of(&self, path: &str) -> Result<String> {
        Ok(read(&self.config.data_dir.join(path))?.map_or_else(String::new, |text| notes_in(&text).to_owned()))
    }

    fn remove(&mut self, path: &str) -> Result<()> {
        let file = self.config.data_dir.join(path);
        // What it says may have been forgotten, and nothing knows of it any more after this.
        private::remove(&file)?;
        self.store.drop_page(path)
    }
}

fn read(file: &Path) -> Result<Option<String>> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// What follows the notes' heading, however an editor ended its line. Text from sessions never starts a heading, so the first one
/// is the user's.
pub fn notes_in(page: &str) -> &str {
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == NOTES {
            return &page[at..];
        }
    }
    ""
}

fn day_path(day: &str) -> String {
    format!("daily/{}/{day}.md", &day[..7])
}

fn session_path(day: &str, name: &str) -> String {
    format!("daily/{}/sessions/{name}", &day[..7])
}
