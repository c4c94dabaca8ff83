//! Writing the pages: only those that changed, each in one step, the user's notes kept.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::config::Config;
use crate::facts::Facts;
use crate::fault;
use crate::leftovers::Writing;
use crate::page::{DayEntry, Shown, Told, day_of, day_page, session_page, session_page_name};
use crate::price::costs_by_model;
use crate::private;
use crate::session::{Millis, Session};
use crate::store::Store;
use crate::store::crew::PART;
use crate::store::notes::Note;
use crate::store::pages::PageRecord;
use crate::ui::Ui;

/// The heading below which a page is the user's own.
pub const NOTES: &str = "## Notes";

/// Brings the pages up to date with the digests; all of them when `all`. Returns how many files were written.
pub fn write(config: &Config, store: &mut Store, all: bool, ui: &Ui) -> Result<u64> {
    store.find_repeats(all)?;
    fault::point("repeats found");
    let dirty = if all { store.digested_or_dirty()? } else { store.page_dirty()? };
    let noted = store.noted_days()?;
    let mut moments = noted.clone();
    let mut days: BTreeMap<String, String> = BTreeMap::new();
    if all {
        moments.extend(store.notes()?.into_iter().map(|note| note.at));
        // Days whose sessions have all gone since, too.
        days.extend(store.pages()?.into_iter().map(|page| (page.day, String::new())));
    }
    for at in moments {
        days.entry(config.local_time(Some(at), "%Y-%m-%d")).or_default();
    }
    if dirty.is_empty() && days.is_empty() {
        return Ok(0);
    }
    let _writing = Writing::begin(&config.data_dir).with_context(|| format!("cannot write in {}", config.data_dir.display()))?;
    Writer { config, store, ui, all, days, made: BTreeMap::new(), gone: Vec::new(), written: 0 }.run(&dirty, &noted)
}

/// Writes the pages of some days anew, with notes that move there; one with nothing left on it goes.
pub fn write_days(config: &Config, store: &mut Store, days: BTreeMap<String, String>, ui: &Ui) -> Result<u64> {
    Writer { config, store, ui, all: false, days, made: BTreeMap::new(), gone: Vec::new(), written: 0 }.run(&[], &[])
}

struct Writer<'a> {
    config: &'a Config,
    store: &'a Store,
    ui: &'a Ui,
    /// All pages are written anew: none is known to stay where it is.
    all: bool,
    /// Days to be written anew, each with notes that moved there.
    days: BTreeMap<String, String>,
    /// What these days say of sessions whose pages were made in this run.
    made: BTreeMap<String, HashMap<i64, DayEntry>>,
    /// Pages that no longer apply. They go last: a run that is cut short finds them again.
    gone: Vec<PageRecord>,
    written: u64,
}

impl Writer<'_> {
    fn run(mut self, dirty: &[i64], noted: &[Millis]) -> Result<u64> {
        let (config, store, all) = (self.config, self.store, self.all);
        for part in dirty.chunks(PART) {
            let make = |store: &Store, pk: &i64| with_shown(config, store, all, *pk, |shown, day| Made::of(shown, day, config));
            store.each_in_order(|| false, part, make, |pk, made| self.session(*pk, made?))?;
            // Of the last day more may come.
            let last = self.made.keys().next_back().cloned().unwrap_or_default();
            self.write_days(self.made.range(..last).map(|(day, _)| day.clone()).collect())?;
        }
        self.write_days(self.days.keys().cloned().collect())?;
        fault::point("days written");
        for page in std::mem::take(&mut self.gone) {
            self.remove(&page.path)?;
        }
        fault::point("old pages removed");
        self.store.pages_written(dirty)?;
        self.store.days_written(noted)?;
        Ok(self.written)
    }

    fn write_days(&mut self, days: Vec<String>) -> Result<()> {
        days.into_iter().try_for_each(|day| {
            let notes = self.days.remove(&day).unwrap_or_default();
            self.day(&day, &notes)
        })
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
    fn session(&mut self, pk: i64, made: Option<Made>) -> Result<()> {
        let mut notes = String::new();
        for page in self.store.pages_of(pk)?.into_iter().filter(|page| made.as_ref().is_none_or(|made| made.path != page.path)) {
            let found = match self.notes_of(&page.path) {
                Ok(found) => found,
                Err(e) => {
                    self.ui.warn(&format!("{e:#}: the page stays"));
                    continue;
                }
            };
            let day = self.days.entry(page.day.clone()).or_default();
            // A session without a page leaves its notes to the day.
            if made.is_some() {
                notes.push_str(&found)
            } else {
                day.push_str(&found)
            }
            self.gone.push(page);
        }
        if let Some(made) = made {
            self.put(&made.path, &made.text, &notes)?;
            fault::point("page replaced");
            self.store.record_page(&PageRecord { path: made.path, session: Some(pk), day: made.day.clone() })?;
            self.store.note_facts(pk, &made.facts)?;
            self.days.entry(made.day.clone()).or_default();
            self.made.entry(made.day).or_default().insert(pk, made.entry);
        }
        Ok(())
    }

    /// Writes the page of a day from the sessions that have a page there; without any, only notes keep it.
    fn day(&mut self, day: &str, moved_notes: &str) -> Result<()> {
        let path = day_path(day);
        let mut made = self.made.remove(day).unwrap_or_default();
        let (mut entries, mut others) = (Vec::new(), Vec::new());
        for pk in self.store.sessions_of_day(day)? {
            let left = self.gone.iter().any(|p| p.session == Some(pk) && p.day == day);
            let stays = !left || self.store.pages_of(pk)?.iter().any(|p| p.day == day && !self.gone.contains(p));
            match made.remove(&pk) {
                Some(entry) if stays => entries.push(entry),
                None if stays => others.push(pk),
                _ => {}
            }
        }
        let (config, all) = (self.config, self.all);
        let entry = |store: &Store, pk: &i64| entry_of(config, store, all, *pk);
        self.store.each_in_order(
            || false,
            &others,
            entry,
            |pk, entry| {
                let Some((entry, new)) = entry? else { return Ok(()) };
                entries.push(entry);
                new.iter().try_for_each(|facts| self.store.note_facts(*pk, facts))
            },
        )?;
        let noted = self.notes_on(day)?;
        if entries.is_empty() && noted.is_empty() && moved_notes.is_empty() && self.notes_of(&path)?.is_empty() {
            return self.remove(&path);
        }
        self.put(&path, &day_page(day, entries, &noted, &self.config.time_zone), moved_notes)?;
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

/// A session's page, and what the page of its day says of it.
struct Made {
    path: String,
    day: String,
    text: String,
    entry: DayEntry,
    facts: Facts,
}

impl Made {
    fn of(shown: &Shown<'_>, day: &str, config: &Config) -> Self {
        let text = session_page(shown, &config.time_zone);
        let entry = DayEntry::of(shown, &config.time_zone);
        Self { path: session_path(day, &shown.page), day: day.to_owned(), text, entry, facts: Facts::of(shown.session) }
    }
}

/// What its day's page says of a session, and what of that was not on record.
fn entry_of(config: &Config, store: &Store, all: bool, pk: i64) -> Result<Option<(DayEntry, Option<Facts>)>> {
    let Some((path, facts)) = store.facts_of(pk)?.filter(|_| !all) else {
        let made = |shown: &Shown<'_>, _: &str| (DayEntry::of(shown, &config.time_zone), Some(Facts::of(shown.session)));
        return with_shown(config, store, all, pk, made);
    };
    let Some(stored) = store.digest_of(pk)? else { return Ok(None) };
    let head = store.session_head(pk)?;
    let (branch, later) = (store.last_branch(pk)?, later(pk, config, store, all)?);
    let told = Told {
        id: &head.id,
        project: &head.project,
        branch: branch.as_deref(),
        facts: &facts,
        digest: &stored.digest,
        goes_on: stored.interim_until.is_some(),
        closed: &store.closed_of(pk)?,
        costs: costs_by_model(&facts.usage, &config.prices),
        repeated_by: later.as_deref(),
        page: path.rsplit('/').next().unwrap_or_default(),
    };
    Ok(Some((DayEntry::told(&told, &config.time_zone), None)))
}

/// Makes something of all that pages show of a session, if it has a digest. The other argument is its day.
fn with_shown<T>(
    config: &Config,
    store: &Store,
    all: bool,
    pk: i64,
    make: impl FnOnce(&Shown<'_>, &str) -> T,
) -> Result<Option<T>> {
    let Some(stored) = store.digest_of(pk)? else { return Ok(None) };
    let session = store.load_session(&store.session_head(pk)?)?;
    let (day, page) = page_of(&session, config, store)?;
    let later = later(pk, config, store, all)?;
    let shown = Shown {
        session: &session,
        digest: &stored.digest,
        digest_id: &stored.id,
        summarizer: &stored.summarizer,
        goes_on: stored.interim_until.is_some(),
        closed: &store.closed_of(pk)?,
        costs: costs_by_model(&session.usage, &config.prices),
        page,
        repeated_by: later.as_deref(),
    };
    Ok(Some(make(&shown, &day)))
}

/// The day of a session, and the name of its page.
fn page_of(session: &Session, config: &Config, store: &Store) -> Result<(String, String)> {
    let day = day_of(session, &config.time_zone);
    let page = session_page_name(session, &day, store.shares_prefix(&session.id, 8)?);
    Ok((day, page))
}

/// The path of the page of a later session that says nearly the same.
fn later(session: i64, config: &Config, store: &Store, all: bool) -> Result<Option<String>> {
    let Some(later) = store.repeated_by(session)? else { return Ok(None) };
    if !all && let Some(path) = store.page_that_stays(later)? {
        return Ok(Some(path));
    }
    let later = store.load_session(&store.session_head(later)?)?;
    let (day, page) = page_of(&later, config, store)?;
    Ok(Some(session_path(&day, &page)))
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
