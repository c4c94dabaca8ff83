//! What `recall doctor --fix` does about a damaged index.
//!
//! ## Order
//! 1. The damaged index is locked against writers and its contents listed, as far as it can be read.
//! 2. A copy that passes the full check becomes the new index, without what was forgotten since. If none passes, the new index is empty.
//! 3. Added to it: what can be read of a copy that did not pass, then of the damaged index; then what pages say that neither knows.
//! 4. The damaged index goes into quarantine, and the new one into its place.
//! 5. The transcripts are read again, and what pages say of their sessions goes into the index: settled items, and digests that were paid for.
//!    What is lost is reported: at once what is certain, afterwards what neither gave back.
//!
//! ## Invariants
//! The new index is written under another name and renamed into place when it is complete. An interrupted repair can be repeated, and
//! nothing is written to the damaged index.

mod quarantine;
mod report;

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

use self::report::{Before, numbers, report_at_once, report_lost};
use super::digest::{self, run_lock};
use crate::app::digest::DigestRequest;
use crate::app::page_facts::Pages;
use crate::config::Config;
use crate::store::files_beside;
use crate::store::maintenance::{Contents, WriteLock, any_damage, backup, orphaned_log};
use crate::store::pages::UnreadPages;
use crate::store::{Maintenance, WholeIndex, Writer};
use crate::sys::messages::Ui;
use crate::sys::{failpoints, private_files};
use text::clean::without_controls;
use transcripts::sqlite_files::{LOGS, with_suffix};

pub(crate) fn run(config: &Config, ui: &Ui, out: &mut impl Write) -> Result<()> {
    let mut lock = run_lock(config)?;
    let Ok(_held) = lock.try_write() else { return digest::run_in_progress() };
    if matches!(WholeIndex::open_if_there(&config.database()), Ok(None)) {
        return anew(config, out);
    }
    // Another process may have repaired it since it was examined.
    if is_whole(config) {
        writeln!(out, "intact      {}: already repaired", without_controls(&config.database().display().to_string()))?;
        return Ok(());
    }
    // Before the run below rewrites them.
    let pages = Pages::read(config);
    let before = restore(config, &pages, ui, out)?;
    // Nothing could find this out later, whatever becomes of the run.
    report_at_once(&before, config, ui)?;
    failpoints::point("mended");
    // A run as any other: what it costs, which is nothing, and what it does is known.
    let ran = digest::run_with_lock(DigestRequest { ingest_only: true, ..DigestRequest::default() }, config.clone(), out);
    report_lost(&before, ran.is_ok(), config, ui, out)?;
    ran.map(|_| ())
}

/// Makes a new index where nothing is left of the old one but its pages. The run itself says what stands on these alone.
fn anew(config: &Config, out: &mut impl Write) -> Result<()> {
    writeln!(out, "rebuilt     {}, from transcripts and pages", without_controls(&config.database().display().to_string()))?;
    digest::run_with_lock(DigestRequest { ingest_only: true, ..DigestRequest::default() }, config.clone(), out).map(|_| ())
}

fn is_whole(config: &Config) -> bool {
    let opened = WholeIndex::open_if_there(&config.database());
    let damage = opened.and_then(|store| store.map(|store| any_damage(&store)).transpose());
    matches!(damage, Ok(None | Some(None)))
}

/// Makes a new index of what is left and puts it into the place of the damaged one.
fn restore(config: &Config, pages: &Pages, ui: &Ui, out: &mut impl Write) -> Result<Before> {
    // The target of a link: the link stays.
    let index = files_beside::beside(&config.database(), "");
    let (restoring, restored) =
        (files_beside::beside(&index, files_beside::RESTORING), files_beside::beside(&index, files_beside::RESTORED));
    if restored.exists() && !index.exists() {
        return resume(&index, &restored, pages, config, out);
    }
    if let Some(before) = without_log(&index, config, ui, out)? {
        return Ok(before);
    }
    [&restoring, &restored].into_iter().try_for_each(|file| remove_with_logs(file))?;
    let write_lock = WriteLock::acquire(&index);
    let damaged = WholeIndex::open_damaged(&index).ok().filter(WholeIndex::has_sessions_table);
    if damaged.as_ref().is_some_and(WholeIndex::has_other_format) {
        ui.warn(
            "the damaged index is of another version of recall and too damaged to be brought up to date: nothing is saved from it",
        );
    }
    let lost = damaged.as_ref().map_or_else(Contents::unreadable, WholeIndex::contents_of_damaged);
    let mut base = Base::new(&index, &restoring, config)?;
    let outdated = damaged.as_ref().map(|damaged| base.forget_as(damaged)).transpose()?.unwrap_or_default();
    let salvaged = damaged.as_ref().map(|damaged| base.store.salvage(damaged)).transpose()?.unwrap_or_default();
    let before = Before::new(lost, base.known, pages, &base.store)?;
    pages.restore(&mut base.store, config, ui)?;
    base.store.record_unread_pages(UnreadPages::OfMended)?;
    finish(base.store, &restoring, &restored)?;
    failpoints::point("mended beside");
    let aside = quarantine::move_index(&index, config)?;
    if outdated {
        // They hold what was forgotten since.
        files_beside::COPIES.iter().try_for_each(|copy| private_files::remove(&files_beside::beside(&index, copy)))?;
    }
    failpoints::point("set aside");
    put_in_place(&restored, &index)?;
    drop(write_lock);
    if let Some(file) = aside {
        writeln!(out, "set aside   {}", without_controls(&file.display().to_string()))?;
    }
    writeln!(out, "restored    {}", base.told)?;
    writeln!(out, "saved       also from the damaged index: {}", numbers(&salvaged))?;
    Ok(before)
}

/// The index that everything else is added to.
struct Base {
    store: Maintenance,
    /// What the copies held. Without any, what was forgotten is unknown.
    known: Contents,
    told: String,
}

impl Base {
    /// The later copy that passes the full check. Otherwise an empty index, with what can be read of the copies.
    fn new(index: &Path, at: &Path, config: &Config) -> Result<Self> {
        let copies: Vec<_> = files_beside::COPIES
            .iter()
            .filter_map(|suffix| Some((files_beside::beside(index, suffix), backup::find(index, suffix)?)))
            .collect();
        let when = |copy: &backup::Backup| config.local_time(Some(copy.at), "%Y-%m-%d %H:%M");
        let Some((_, latest)) = copies.first() else {
            return Self::of(Maintenance::open(at)?, Contents::unreadable(), "nothing: there is no copy of the index".into());
        };
        // Those that do not pass are later than the one that does.
        let mut torn = Vec::new();
        for (file, copy) in &copies {
            match open_whole(file, at)? {
                None => torn.push(file),
                Some(mut store) => {
                    let held = Contents::of(&store);
                    let told = format!("the copy of {}: {}", when(copy), numbers(&held.count()));
                    let known = torn.into_iter().try_fold(held, |known, file| salvage_copy(&mut store, known, file))?;
                    return Self::of(store, known, told);
                }
            }
        }
        let mut store = Maintenance::open(at)?;
        store.relax_durability()?;
        let known = torn.iter().rev().try_fold(Contents::unreadable(), |known, file| salvage_copy(&mut store, known, file))?;
        let told = format!(
            "what can be read of the copy of {}, which is damaged as well: {}",
            when(latest),
            numbers(&Contents::of(&store).count())
        );
        Self::of(store, known, told)
    }

    fn of(store: Maintenance, known: Contents, told: String) -> Result<Self> {
        // Everything is synced before it is put into its place.
        store.relax_durability()?;
        Ok(Self { store, known, told })
    }

    /// Deletes what was forgotten since the copy was made: that is not lost. Returns whether there was any.
    fn forget_as(&mut self, damaged: &WholeIndex) -> Result<bool> {
        let any = self.store.forget_as(damaged)?;
        if any {
            let left = Contents::of(&self.store);
            self.known.sessions.retain(|id| left.sessions.contains(id));
            self.known.digests.retain(|id| left.digests.contains(id));
            self.known.settled.retain(|id| left.settled.contains(id));
            self.known.denied.retain(|id| left.denied.contains(id));
            self.known.stamps = left.stamps;
            self.known.records = left.records;
        }
        Ok(any)
    }
}

/// A copy of a copy, upgraded if it is of an older format; `None` if it does not pass the full check.
fn open_whole(copy: &Path, at: &Path) -> Result<Option<Maintenance>> {
    // Its permissions are copied as well.
    fs::copy(copy, at).with_context(|| format!("cannot copy {}", copy.display()))?;
    if let Ok(store) = Maintenance::open(at)
        && matches!(any_damage(&store), Ok(None))
    {
        return Ok(Some(store));
    }
    remove_with_logs(at)?;
    Ok(None)
}

/// Adds what can be read of a damaged copy, and what it is known to have held.
fn salvage_copy(store: &mut Maintenance, known: Contents, copy: &Path) -> Result<Contents> {
    let Ok(copy) = WholeIndex::open_damaged(copy) else { return Ok(known) };
    store.salvage(&copy)?;
    let held = Contents::of(&copy);
    // What was forgotten is known if any copy knows it all: they are deleted when something is forgotten.
    let unread = known.unread.intersection(&held.unread).copied().collect();
    Ok(Contents { unread, ..known.and(held) })
}

/// If the index is whole without the log beside it, it stays and the log goes into quarantine. `None` if that does not repair it.
fn without_log(index: &Path, config: &Config, ui: &Ui, out: &mut impl Write) -> Result<Option<Before>> {
    if !orphaned_log::has_log(index) {
        return Ok(None);
    }
    let Some(alone) = WholeIndex::open_without_log(index).ok().filter(WholeIndex::is_sound_without_log) else { return Ok(None) };
    let write_lock = WriteLock::acquire(index);
    let held = Contents::of(&alone);
    let logs = quarantine::move_logs(index, config)?;
    drop(write_lock);
    Writer::open_existing(index)?.record_unread_pages(UnreadPages::OfMended)?;
    for log in logs {
        writeln!(out, "set aside   {}", without_controls(&log.display().to_string()))?;
    }
    writeln!(out, "restored    the index itself, which is undamaged without the log: {}", numbers(&held.count()))?;
    ui.warn("data in the log beside the index is not restored: if the log belongs to this index, the latest data is missing");
    Ok(Some(Before::of(held)))
}

/// Finishes a repair that was interrupted after the new index was complete and the damaged one in quarantine.
fn resume(index: &Path, restored: &Path, pages: &Pages, config: &Config, out: &mut impl Write) -> Result<Before> {
    quarantine::move_logs_left_behind(index, restored, config)?;
    let lost = quarantine::latest(index, restored).map(|file| quarantine::contents(&file)).transpose()?;
    // The new index was made from a copy. If that held what was forgotten since, it is gone.
    let copy = files_beside::COPIES.iter().find_map(|copy| WholeIndex::open_as_found(&files_beside::beside(index, copy)).ok());
    let copy = copy.map_or_else(Contents::unreadable, |copy| Contents::of(&copy));
    let store = WholeIndex::open_as_found(restored)?;
    let known = Contents { unread: copy.unread, ..Contents::of(&store) };
    let before = Before::new(lost.unwrap_or_else(Contents::unreadable), known, pages, &store)?;
    drop(store);
    put_in_place(restored, index)?;
    writeln!(out, "repaired    {}: an earlier repair was cut short", without_controls(&index.display().to_string()))?;
    Ok(before)
}

/// Puts all of it into one file, synced, under the name that says it is complete.
fn finish(store: Maintenance, restoring: &Path, restored: &Path) -> Result<()> {
    store.vacuum()?;
    drop(store);
    fs::File::open(restoring)?.sync_all()?;
    fs::rename(restoring, restored)?;
    Ok(private_files::sync_folder_of(restored)?)
}

fn put_in_place(restored: &Path, index: &Path) -> Result<()> {
    fs::rename(restored, index)?;
    Ok(private_files::sync_folder_of(index)?)
}

fn remove_with_logs(file: &Path) -> Result<()> {
    Ok(LOGS.iter().map(|log| with_suffix(file, log)).chain([file.to_owned()]).try_for_each(|file| private_files::remove(&file))?)
}
