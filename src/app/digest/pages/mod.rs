//! Writes the pages: only those that changed, each one atomically, with the user's notes kept.

pub(crate) mod collect;
mod day_list;
mod file;
mod unrecorded;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(crate) use self::file::{NOTES_HEADING, notes_in};
use crate::analyze::account::SessionAccount;
use crate::app::digest::in_hand::SessionsInHand;
use crate::app::digest::pages::collect::{PageContext, SessionPage, with_page_data};
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::note::Note;
use crate::model::page_path;
use crate::model::price::{costs_by_model, session_cost};
use crate::render::page::{DayEntry, NeighbourDays, SessionPageInput, UndigestedTotals, day_links, day_page};
use crate::store::leftovers::WritingMarker;
use crate::store::pages::{PageRecord, Undigested};
use crate::store::worker_pool::BATCH_SESSIONS;
use crate::store::{Reader, Writer};
use crate::sys::failpoints;
use crate::sys::messages::Ui;
use crate::sys::progress::Progress;
use transcripts::session::Millis;
use transcripts::session::SessionFacts;

/// What became of pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PageCounts {
    /// Pages whose text was made.
    pub(crate) made: u64,
    /// Of these, pages whose file had to be written, because it was missing or held another text.
    pub(crate) written: u64,
}

/// Brings the pages up to date with the digests: all of them if `all`, or if the time zone changed and with it the days. Missing
/// pages are written again.
///
/// The zone counts only once every page is written by it, and a page is recorded before its file is written: so a run that is cut short
/// leaves no page that the next one does not know, whatever its zone.
pub(crate) fn write(config: &Config, store: &mut Writer, all: bool, ui: &Ui) -> Result<PageCounts> {
    write_with(config, store, all, SessionsInHand::default(), ui)
}

/// The same, with sessions that the run has loaded.
pub(crate) fn write_with(config: &Config, store: &mut Writer, all: bool, in_hand: SessionsInHand, ui: &Ui) -> Result<PageCounts> {
    let comparing = Progress::endless("comparing");
    store.find_lives(all)?;
    store.find_overtaken(all)?;
    store.find_rule_mentions()?;
    store.find_near_duplicates(all)?;
    drop(comparing);
    failpoints::point("repeats found");
    let (zone, before) = (config.zone_fingerprint(), store.page_zone()?);
    let moved = before.as_ref() != Some(&zone) && store.has_pages()?;
    if moved && before.is_some() {
        ui.note("the time zone has changed: all pages are written again");
        store.lasting(|store| store.drop_page_zone())?;
        failpoints::point("zone dropped");
    }
    if all || moved {
        unrecorded::record(config, store)?;
    }
    let gone = missing_pages(store, &config.data_dir)?;
    match written_and_gone(&gone, store)? {
        0 => {}
        1 => ui.note("1 page was missing and has been written again"),
        n => ui.note(&format!("{n} pages were missing and have been written again")),
    }
    let counts = bring_up_to_date(config, store, all || moved, in_hand, gone, ui)?;
    if day_list::is_missing(config) {
        let _writing = begin_writing(config)?;
        day_list::write(config, store)?;
    }
    if before.as_ref() != Some(&zone) && (moved || counts.made > 0) {
        store.record_page_zone(&zone)?;
    }
    Ok(counts)
}

/// Records the pages of these sessions that outlived an earlier index, so that they are written or removed as those of any session. The pages of all
/// other sessions stay as they are: the next run takes back what stands on them.
pub(crate) fn record_outlived(sessions: &BTreeSet<i64>, config: &Config, store: &Writer) -> Result<()> {
    begin_zone(config, store)?;
    unrecorded::record_of(sessions, config, store)
}

/// A first page is of today's zone: of a zone that is not known, all pages would be written again, and those that outlived an earlier index removed.
fn begin_zone(config: &Config, store: &Writer) -> Result<()> {
    if store.has_pages()? { Ok(()) } else { store.record_page_zone(&config.zone_fingerprint()) }
}

/// How many of the missing pages had been written: not those that a run was cut short before.
fn written_and_gone(gone: &[PageRecord], store: &Reader) -> Result<usize> {
    if gone.is_empty() {
        return Ok(0);
    }
    let outdated: HashSet<i64> = store.sessions_with_outdated_pages()?.into_iter().collect();
    let is_due = |page: &PageRecord| match page.session {
        Some(pk) => Ok::<_, anyhow::Error>(outdated.contains(&pk)),
        None => Ok(store.sessions_of_day(&page.day)?.iter().any(|pk| outdated.contains(pk))),
    };
    gone.iter().try_fold(0, |n, page| Ok(n + usize::from(!is_due(page)?)))
}

fn bring_up_to_date(
    config: &Config,
    store: &mut Writer,
    all: bool,
    in_hand: SessionsInHand,
    gone: Vec<PageRecord>,
    ui: &Ui,
) -> Result<PageCounts> {
    let mut dirty = if all { store.digested_or_dirty()? } else { store.sessions_with_outdated_pages()? };
    let noted = store.outdated_days()?;
    let mut moments = noted.clone();
    let mut days: BTreeMap<String, String> = BTreeMap::new();
    if all {
        moments.extend(store.notes()?.into_iter().map(|note| note.at));
        // Includes days whose sessions are all gone by now.
        days.extend(store.pages()?.into_iter().map(|page| (page.day, String::new())));
    }
    let known: BTreeSet<i64> = dirty.iter().copied().collect();
    for page in gone {
        dirty.extend(page.session.filter(|pk| !known.contains(pk)));
        days.entry(page.day).or_default();
    }
    for at in moments {
        days.entry(config.local_time(Some(at), "%Y-%m-%d")).or_default();
    }
    if dirty.is_empty() && days.is_empty() {
        return Ok(PageCounts::default());
    }
    let ids = (dirty.len() > 1).then(|| store.session_ids()).transpose()?;
    let context = PageContext { all, ids, in_hand: in_hand.if_unchanged(store)?, ..PageContext::default() };
    PageWriter::new(config, store, ui, &context, days)?.run(&dirty, &noted)
}

fn begin_writing(config: &Config) -> Result<WritingMarker> {
    WritingMarker::begin(&config.data_dir).with_context(|| format!("cannot write in {}", config.data_dir.display()))
}

/// Rewrites the pages of the given days, with the notes that move there. A page with nothing left on it is removed.
pub(crate) fn write_days(config: &Config, store: &mut Writer, days: BTreeMap<String, String>, ui: &Ui) -> Result<PageCounts> {
    begin_zone(config, store)?;
    PageWriter::new(config, store, ui, &PageContext::default(), days)?.run(&[], &[])
}

struct PageWriter<'a> {
    /// Tells who comes after a kill that pages may be half-written.
    _writing: WritingMarker,
    config: &'a Config,
    store: &'a Writer,
    ui: &'a Ui,
    context: &'a PageContext,
    /// Days to rewrite, each with the notes that move to its page.
    days: BTreeMap<String, String>,
    /// Day entries of sessions whose pages were made in this run, by day.
    made: BTreeMap<String, HashMap<i64, DayEntry>>,
    /// Pages that no longer apply. Removed last, so that the next run finds them again if this one is interrupted.
    gone: Vec<PageRecord>,
    /// Sessions with days on which they no longer went on. Their records go as late.
    left: BTreeSet<(i64, String)>,
    /// The latest day of the pages of sessions so far: of those before it, no session comes any more.
    reached: String,
    /// Days that have a page.
    on_record: BTreeSet<String>,
    /// Days whose page was made or removed in this run, with the days that it links to.
    linked: BTreeMap<String, NeighbourDays>,
    undigested: Undigested,
    /// Folders with pages that were written since these were synced.
    unsynced: BTreeSet<PathBuf>,
    counts: PageCounts,
}

/// Limits of one transaction: pages, and their text in bytes.
const BATCH_PAGES: usize = 200;
const BATCH_TEXT_BYTES: usize = 4 << 20;

/// Pages that are recorded in one transaction, each with its session; `None` where the session has no page.
#[derive(Default)]
struct PageBatch {
    made: Vec<(i64, Option<SessionPage>)>,
    bytes: usize,
}

impl PageBatch {
    fn add(&mut self, session: i64, made: Option<SessionPage>) {
        self.bytes += made.as_ref().map_or(0, |made| made.text.len());
        self.made.push((session, made));
    }

    fn is_full(&self) -> bool {
        self.made.len() >= BATCH_PAGES || self.bytes >= BATCH_TEXT_BYTES
    }
}

impl<'a> PageWriter<'a> {
    fn new(
        config: &'a Config,
        store: &'a Writer,
        ui: &'a Ui,
        context: &'a PageContext,
        days: BTreeMap<String, String>,
    ) -> Result<Self> {
        let writing = begin_writing(config)?;
        let (on_record, undigested) = (store.days_with_page()?, store.undigested(Millis::MIN, Millis::MAX)?);
        Ok(Self {
            _writing: writing,
            config,
            store,
            ui,
            context,
            days,
            made: BTreeMap::new(),
            gone: Vec::new(),
            left: BTreeSet::new(),
            reached: String::new(),
            on_record,
            linked: BTreeMap::new(),
            undigested,
            unsynced: BTreeSet::new(),
            counts: PageCounts::default(),
        })
    }

    fn run(mut self, dirty: &[i64], noted: &[Millis]) -> Result<PageCounts> {
        let (config, store, context) = (self.config, self.store, self.context);
        let writing = Progress::of("writing", dirty.len() as u64);
        for part in dirty.chunks(BATCH_SESSIONS) {
            let make = |store: &Reader, pk: &i64| {
                with_page_data(config, store, context, *pk, |shown, account, day| SessionPage::of(shown, account, day, config))
            };
            let mut batch = PageBatch::default();
            store.map_in_order(
                || false,
                part,
                make,
                |pk, made| {
                    writing.advance(1);
                    batch.add(*pk, made?);
                    if batch.is_full() { self.sessions(std::mem::take(&mut batch)) } else { Ok(()) }
                },
            )?;
            self.sessions(batch)?;
            // The last day stays open: the next batch may add to it.
            self.write_days(self.made.range(..self.reached.clone()).map(|(day, _)| day.clone()).collect())?;
        }
        self.write_days(self.days.keys().cloned().collect())?;
        self.link_neighbours()?;
        failpoints::point("days written");
        // Before the pages whose notes they took over go, and before they count as written.
        self.sync_folders()?;
        failpoints::point("folders synced");
        for page in std::mem::take(&mut self.gone) {
            self.remove(&page.path)?;
        }
        std::mem::take(&mut self.left).iter().try_for_each(|(pk, day)| self.store.drop_later_day(*pk, day))?;
        failpoints::point("old pages removed");
        day_list::write(config, store)?;
        self.store.mark_pages_written(dirty)?;
        self.store.days_written(noted)?;
        Ok(self.counts)
    }

    fn write_days(&mut self, days: Vec<String>) -> Result<()> {
        days.into_iter().try_for_each(|day| {
            let notes = self.days.remove(&day).unwrap_or_default();
            self.day(&day, &notes)
        })
    }

    /// Writes the pages of sessions, after all of them are recorded.
    fn sessions(&mut self, batch: PageBatch) -> Result<()> {
        let store = self.store;
        let moved: Vec<String> = store
            .in_snapshot(|| batch.made.iter().map(|(pk, made)| self.leave_former(*pk, made.as_ref())).collect::<Result<_>>())?;
        store.in_transaction(|| {
            batch.made.iter().filter_map(|(pk, made)| Some((pk, made.as_ref()?))).try_for_each(|(pk, made)| {
                store.record_page(&PageRecord { path: made.path.clone(), session: Some(*pk), day: made.day.clone() })?;
                made.later_days().try_for_each(|day| store.record_later_day(*pk, day))?;
                store.record_facts(*pk, &made.facts)
            })
        })?;
        failpoints::point("pages recorded");
        for ((pk, made), notes) in batch.made.into_iter().zip(moved) {
            let Some(made) = made else { continue };
            self.put(&made.path, &made.text, &notes)?;
            failpoints::point("page replaced");
            for (day, entry) in made.entries {
                self.days.entry(day.clone()).or_default();
                self.made.entry(day).or_default().insert(pk, entry);
            }
            self.reached = std::mem::take(&mut self.reached).max(made.day);
        }
        Ok(())
    }

    /// The notes on a session's page under another name than now, which is to be removed. The days that it left are written.
    fn leave_former(&mut self, pk: i64, made: Option<&SessionPage>) -> Result<String> {
        let mut notes = String::new();
        for page in self.store.pages_of(pk)?.into_iter().filter(|page| made.is_none_or(|made| made.path != page.path)) {
            let found = match self.notes_of(&page.path) {
                Ok(found) => found,
                Err(e) => {
                    self.ui.warn(&format!("{e:#}: the page stays"));
                    continue;
                }
            };
            let day = self.days.entry(page.day.clone()).or_default();
            // Without a page of its own, the session's notes move to the day's page.
            if made.is_some() {
                notes.push_str(&found)
            } else {
                day.push_str(&found)
            }
            self.gone.push(page);
        }
        for day in self.store.later_days_of(pk)? {
            if made.is_none_or(|made| made.later_days().all(|later| *later != day)) {
                self.days.entry(day.clone()).or_default();
                self.left.insert((pk, day));
            }
        }
        if made.is_none()
            && let Some(at) = self.store.began_without_digest(pk)?
        {
            // It still counts in the costs of its day, if that day has a page.
            let day = self.config.local_time(Some(at), "%Y-%m-%d");
            if self.store.has_day_page(&day)? {
                self.days.entry(day).or_default();
            }
        }
        Ok(notes)
    }

    /// Writes a day's page from the sessions that began or went on on that day. Without any, only notes keep the page.
    fn day(&mut self, day: &str, moved_notes: &str) -> Result<()> {
        let path = page_path::of_day(day);
        let mut made = self.made.remove(day).unwrap_or_default();
        let (mut entries, mut others) = (Vec::new(), Vec::new());
        for pk in self.store.sessions_of_day(day)? {
            let stays = self.stands_on(pk, day)?;
            match made.remove(&pk) {
                Some(entry) if stays => entries.push(entry),
                None if stays => match self.entry_on_record(pk, day)? {
                    Some(entry) => entries.push(entry),
                    None => others.push(pk),
                },
                _ => {}
            }
        }
        let (config, context) = (self.config, self.context);
        let entry = |store: &Reader, pk: &i64| {
            let made = |shown: &SessionPageInput<'_>, _: Option<SessionAccount>, _: &str| {
                let facts = SessionFacts::of(shown.session);
                (DayEntry::on(day, shown, &facts, &config.time_zone), facts)
            };
            with_page_data(config, store, context, *pk, made)
        };
        self.store.map_in_order(
            || false,
            &others,
            entry,
            |pk, entry| {
                let Some((entry, facts)) = entry? else { return Ok(()) };
                entries.extend(entry);
                self.store.record_facts(*pk, &facts)
            },
        )?;
        let noted = notes_on(day, config, self.store)?;
        if entries.is_empty() && noted.is_empty() && moved_notes.is_empty() && self.notes_of(&path)?.is_empty() {
            self.on_record.remove(day);
            self.linked.insert(day.to_owned(), NeighbourDays::default());
            return self.remove(&path);
        }
        let beside = self.beside(day);
        let text = day_page(day, entries, undigested_on(day, config, self.store, &self.undigested)?, &noted, &config.time_zone);
        self.store.record_page(&PageRecord { path: path.clone(), session: None, day: day.to_owned() })?;
        self.put(&path, &(text + &day_links(&beside)), moved_notes)?;
        self.on_record.insert(day.to_owned());
        self.linked.insert(day.to_owned(), beside);
        Ok(())
    }

    /// Does a session that is recorded for a day still stand on its page?
    fn stands_on(&self, pk: i64, day: &str) -> Result<bool> {
        let left = self.left.contains(&(pk, day.to_owned()));
        if !left && !self.gone.iter().any(|p| p.session == Some(pk) && p.day == day) {
            return Ok(true);
        }
        let has_page = self.store.pages_of(pk)?.iter().any(|p| p.day == day && !self.gone.contains(p));
        Ok(has_page || !left && self.store.later_days_of(pk)?.contains(day))
    }

    /// The days beside a day that have a page, or are about to get one.
    fn beside(&self, day: &str) -> NeighbourDays {
        let earlier = (Bound::Unbounded, Bound::Excluded(day));
        let before = [
            self.on_record.range::<str, _>(earlier).next_back(),
            self.made.range::<str, _>(earlier).next_back().map(|(day, _)| day),
        ];
        let later = (Bound::Excluded(day), Bound::Unbounded);
        let after = [self.on_record.range::<str, _>(later).next(), self.made.range::<str, _>(later).next().map(|(day, _)| day)];
        NeighbourDays { before: before.into_iter().flatten().max().cloned(), after: after.into_iter().flatten().min().cloned() }
    }

    /// Makes the pages again that link to other days than those now beside them: a day came or went in this run, or in one that was cut short.
    fn link_neighbours(&mut self) -> Result<()> {
        let mut suspects: BTreeSet<String> = BTreeSet::new();
        for day in self.linked.keys() {
            let NeighbourDays { before, after } = self.beside(day);
            suspects.extend([before, self.on_record.get(day).cloned(), after].into_iter().flatten());
        }
        for day in suspects {
            let beside = self.beside(&day);
            let is_right = match self.linked.get(&day) {
                Some(linked) => *linked == beside,
                None => self.text_of(&page_path::of_day(&day))?.contains(&day_links(&beside)),
            };
            if !is_right {
                self.day(&day, "")?;
            }
        }
        Ok(())
    }
}

/// A day's page, built from what the policy lets the reader see. `None` if that is nothing.
pub(crate) fn visible_day_page(config: &Config, memory: &OpenMemory, day: &str) -> Result<Option<String>> {
    let memory = &memory.0;
    memory.in_snapshot(|| {
        let (mut entries, context) = (Vec::new(), PageContext::default());
        for pk in memory.sessions_of_day(day)? {
            let entry = |shown: &SessionPageInput<'_>, _: Option<SessionAccount>, _: &str| {
                DayEntry::on(day, shown, &SessionFacts::of(shown.session), &config.time_zone)
            };
            entries.extend(with_page_data(config, memory, &context, pk, entry)?.flatten());
        }
        let noted = notes_on(day, config, memory)?;
        let any = !entries.is_empty() || !noted.is_empty();
        let (from, until) = day_bounds(day, config).unwrap_or_default();
        let untold = undigested_on(day, config, memory, &memory.undigested(from, until)?)?;
        Ok(any.then(|| day_page(day, entries, untold, &noted, &config.time_zone)))
    })
}

/// Whether a day's page, as written, shows something that the policy hides from the reader.
pub(crate) fn shows_hidden(config: &Config, memory: &OpenMemory, day: &str) -> Result<bool> {
    memory.0.hides_part_of_day(day, day_bounds(day, config).unwrap_or((Millis::MIN, Millis::MAX)))
}

/// Notes remembered on a day.
fn notes_on(day: &str, config: &Config, store: &Reader) -> Result<Vec<Note>> {
    day_bounds(day, config).map_or_else(|| Ok(Vec::new()), |(from, until)| store.notes_between(from, until))
}

/// Number and cost of those of these sessions without a digest that began on a day.
fn undigested_on(day: &str, config: &Config, store: &Reader, all: &Undigested) -> Result<UndigestedTotals> {
    let Some((from, until)) = day_bounds(day, config) else { return Ok(UndigestedTotals::default()) };
    let mut untold = UndigestedTotals::default();
    for usage in all.usage_between(store, from, until)? {
        let (usd, unknown) = session_cost(&costs_by_model(&usage, &config.prices));
        untold.sessions += 1;
        untold.cost = (untold.cost.0 + usd, untold.cost.1 || unknown);
    }
    Ok(untold)
}

/// Start and end of a day; `None` if `day` is no date.
fn day_bounds(day: &str, config: &Config) -> Option<(Millis, Millis)> {
    let date = day.parse::<jiff::civil::Date>().ok()?;
    let at = |date: jiff::civil::Date| date.to_zoned(config.time_zone.clone()).map(|begins| begins.timestamp().as_millisecond());
    // The calendar's first and last day have no neighbour.
    Some((at(date).unwrap_or(Millis::MIN), date.tomorrow().and_then(at).unwrap_or(Millis::MAX)))
}

/// Recorded pages whose file is missing. In a folder that cannot be listed, no page counts as missing.
fn missing_pages(store: &Reader, data_dir: &Path) -> Result<Vec<PageRecord>> {
    let mut folders: HashMap<String, Option<hashbrown::HashSet<OsString>>> = HashMap::new();
    let mut missing = Vec::new();
    store.each_page(|path| {
        let Some((folder, name)) = path.rsplit_once('/') else { return };
        if !folders.contains_key(folder) {
            folders.insert(folder.to_owned(), names_in(&data_dir.join(folder)));
        }
        if folders[folder].as_ref().is_some_and(|names| !names.contains(OsStr::new(name))) {
            missing.push(path.to_owned());
        }
    })?;
    missing.iter().filter_map(|path| store.page_at(path).transpose()).collect()
}

fn names_in(folder: &Path) -> Option<hashbrown::HashSet<OsString>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.ok().map(|entry| entry.file_name())).collect(),
        Err(e) => (e.kind() == ErrorKind::NotFound).then(hashbrown::HashSet::new),
    }
}
