//! What `recall doctor --fix` does about a damaged index: sets it aside, puts together what is left, reads the transcripts again, and
//! says in numbers what is lost.
//!
//! The new index is made under another name and renamed into place when it is whole: a run that is cut short is done again, and until
//! then nothing is written to the damaged one.

mod aside;
mod base;
mod told;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use self::base::Base;
use self::told::{Before, numbers, tell_at_once, tell_lost};
use super::digest::{self, run_lock};
use crate::app::digest::DigestRequest;
use crate::config::Config;
use crate::privacy::Policy;
use crate::store::hold::Hold;
use crate::store::mend::Held;
use crate::store::unearth::Unearthed;
use crate::store::{Memory, Store, copy, orphaned_log};
use crate::sys::messages::Ui;
use crate::sys::{failpoints, private_files};
use crate::text::clean::plain;

pub fn run(config: &Config, ui: &Ui, out: &mut impl Write) -> Result<()> {
    let mut lock = run_lock(config)?;
    let Ok(_held) = lock.try_write() else { bail!("a run is under way: try again when it has ended") };
    // Another one may have mended it since it was looked at.
    if is_whole(config) {
        writeln!(out, "whole       {}: it is mended by now", plain(&config.database().display().to_string()))?;
        return Ok(());
    }
    let before = put_together(config, ui, out)?;
    // Whatever becomes of the run: nobody finds this out later.
    tell_at_once(&before, config, ui)?;
    failpoints::point("mended");
    // A run as every other: what it costs, nothing, and what it does, all is known.
    let ran = digest::run_with_lock(DigestRequest { ingest_only: true, ..DigestRequest::default() }, config.clone(), out);
    tell_lost(&before, ran.is_ok(), config, ui, out)?;
    ran.map(|_| ())
}

fn is_whole(config: &Config) -> bool {
    let opened = Memory::open_if_there(&config.database(), &Policy::upkeep());
    let damage = opened.and_then(|store| store.map(|store| store.any_damage()).transpose());
    matches!(damage, Ok(None | Some(None)))
}

/// Makes a new index of what is left and puts it in the place of the damaged one.
fn put_together(config: &Config, ui: &Ui, out: &mut impl Write) -> Result<Before> {
    // Where a link leads: that stays.
    let index = copy::beside(&config.database(), "");
    let (mending, mended) = (copy::beside(&index, copy::MENDING), copy::beside(&index, copy::MENDED));
    if mended.exists() && !index.exists() {
        return take_up(&index, &mended, config, out);
    }
    if let Some(before) = without_log(&index, config, ui, out)? {
        return Ok(before);
    }
    for file in [&mending, &mended] {
        copy::LOGS.iter().map(|log| with(file, log)).chain([file.clone()]).try_for_each(|file| private_files::remove(&file))?;
    }
    let unearthed = Unearthed::open(&index).ok();
    let hold = Hold::take(&index);
    let damaged = unearthed.and_then(|unearthed| unearthed.opened_anew(&index).ok());
    let damaged = damaged.as_ref().map(|unearthed| &unearthed.store);
    if damaged.is_some_and(|damaged| !damaged.has_this_form()) {
        ui.warn(
            "the damaged index is of another version of recall and too damaged to be brought up to date: nothing is saved from it",
        );
    }
    let lost = damaged.map(Store::held).unwrap_or_default();
    let mut base = Base::lay(&index, &mending, config)?;
    let outdated = damaged.map(|damaged| base.forget_as(damaged)).transpose()?.unwrap_or_default();
    let salvaged = damaged.map(|damaged| base.store.salvage(damaged)).transpose()?.unwrap_or_default();
    finish(base.store, &mending, &mended)?;
    failpoints::point("mended beside");
    let aside = aside::set_aside(&index, config)?;
    if outdated {
        // It holds what was forgotten since.
        private_files::remove(&copy::beside(&index, copy::COPY))?;
    }
    failpoints::point("set aside");
    put_in_place(&mended, &index)?;
    drop(hold);
    if let Some(file) = aside {
        writeln!(out, "set aside   {}", plain(&file.display().to_string()))?;
    }
    writeln!(out, "restored    {}", base.told)?;
    writeln!(out, "saved       from the damaged index, beyond that: {}", numbers(&salvaged))?;
    Ok(Before::new(lost, base.known))
}

/// An index that is whole without the log beside it stays as it is: the log is set aside. None where that does not mend it.
fn without_log(index: &Path, config: &Config, ui: &Ui, out: &mut impl Write) -> Result<Option<Before>> {
    if !orphaned_log::has_log(index) {
        return Ok(None);
    }
    let Some(alone) = Store::open_without_log(index).ok().filter(Store::is_whole_without_log) else { return Ok(None) };
    let hold = Hold::take(index);
    let held = alone.held();
    let logs = aside::set_logs_of(index, config)?;
    drop(hold);
    for log in logs {
        writeln!(out, "set aside   {}", plain(&log.display().to_string()))?;
    }
    writeln!(out, "restored    the index itself, which is whole without it: {}", numbers(&held.salvaged()))?;
    ui.warn("what the log beside the index held is not in it: where the log was its own, that is what was stored last");
    Ok(Some(Before::new(held, Held::default())))
}

/// Ends a mending that was cut short when all was put together and the damaged index, at least, set aside.
fn take_up(index: &Path, mended: &Path, config: &Config, out: &mut impl Write) -> Result<Before> {
    aside::set_logs_aside(index, mended, config)?;
    let lost = aside::last(index, mended).map(|file| aside::held(&file)).transpose()?.unwrap_or_default();
    // The copy is what the mended one was made from. Where it holds what was forgotten since, it is gone.
    let copy = Store::open_aside(&copy::beside(index, copy::COPY)).map(|copy| copy.held()).unwrap_or_default();
    let mut known = Store::open_aside(mended)?.held();
    known.knows_forgotten = copy.knows_forgotten;
    put_in_place(mended, index)?;
    writeln!(out, "mended      {}: an earlier mending was cut short", plain(&index.display().to_string()))?;
    Ok(Before::new(lost, known))
}

/// All in the one file, on the disk, under the name that says so.
fn finish(store: Store, mending: &Path, mended: &Path) -> Result<()> {
    store.tidy()?;
    drop(store);
    fs::File::open(mending)?.sync_all()?;
    fs::rename(mending, mended)?;
    Ok(private_files::sync_folder_of(mended)?)
}

fn put_in_place(mended: &Path, index: &Path) -> Result<()> {
    fs::rename(mended, index)?;
    Ok(private_files::sync_folder_of(index)?)
}

fn with(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}
