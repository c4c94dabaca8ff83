//! The index: whether it exists and is intact, and the state of its sessions.

use std::path::Path;

use anyhow::Result;

use super::{Depth, Finding, Repair, Severity, ago};
use crate::app::orphans;
use crate::app::page_facts::Pages;
use crate::config::Config;
use crate::policy::View;
use crate::store::error::{StoreError, explained};
use crate::store::files_beside;
use crate::store::maintenance::{any_damage_with, backup, damage_of_structure};
use crate::store::status::IndexCounts;
use crate::store::{Memory, OtherFormat, WholeIndex};
use crate::sys::progress::Progress;
use text::clean::{self, counted, one_line};
use transcripts::session::Millis;

/// Listed sessions on which the model failed.
const MAX_LISTED: usize = 3;
/// Tolerated clock error.
const MAX_CLOCK_SKEW: Millis = 24 * 3_600_000;
/// An index of so many bytes is large: reading every value of it takes more than a second.
const LARGE: u64 = 64 << 20;

pub(crate) fn findings(config: &Config, depth: Depth, now: Millis) -> Vec<Finding> {
    let path = config.database();
    let opened = Memory::open_if_there(&path, &config.policy(View::Owner))
        .and_then(|store| store.map(|s| Ok((s.index_counts(MAX_LISTED)?, s))).transpose());
    let (counts, store) = match opened {
        Ok(Some(opened)) => opened,
        Ok(None) if let Some(held) = held_by_pages(config, depth) => return vec![gone(&held, &path)],
        Ok(None) => return vec![Finding::warning("index", format!("none yet at {}", path.display()), "`recall digest` makes it")],
        Err(e) => return vec![unusable(e, &path)].into_iter().chain(companion_files(config, depth, now, false)).collect(),
    };
    let size = std::fs::metadata(&path).map_or(0, |m| m.len());
    let state = state_of(&counts, size, depth, config);
    let is_well = state.state == Severity::Ok;
    let mut all = vec![state];
    all.extend(companion_files(config, depth, now, is_well));
    all.extend(failing(&counts));
    if depth != Depth::Quick {
        all.extend(left_in_pages(config));
    }
    all.extend(clock(&store, now).ok().flatten());
    all
}

/// What pages hold of an index that is gone.
fn held_by_pages(config: &Config, depth: Depth) -> Option<String> {
    if depth == Depth::Quick { None } else { Pages::told_without_index(config) }
}

fn gone(held: &str, path: &Path) -> Finding {
    let found = format!(
        "missing: no index at {}, but pages hold {held}. All of this can be restored, but digests only where transcripts still exist",
        path.display()
    );
    let advice =
        "bring it back from a backup of yours if you have one; `recall doctor --fix` makes a new one of transcripts and pages";
    Finding::problem("index", found, advice).fixed_by(Repair::Index)
}

/// Sessions that are left in pages alone.
fn left_in_pages(config: &Config) -> Option<Finding> {
    let store = WholeIndex::open(&config.database()).ok()?;
    let orphans = orphans::find(config, &store).ok()?;
    let found = orphans::describe(&orphans)?;
    let advice = "read them there, or `recall forget --session ID` removes one; `recall doctor --seen` marks this as seen";
    Some(Finding::warning("pages", found, advice))
}

const DAMAGED_ADVICE: &str =
    "`recall doctor --fix` moves it aside, restores the backup and what is readable, and reads the transcripts again";

/// Why an index cannot be opened, and what to do about it. Only a damaged one is quarantined: it holds what no transcript holds
/// any more.
fn unusable(error: anyhow::Error, path: &Path) -> Finding {
    let error = explained(error, path);
    let found = format!("{error:#}");
    match error.downcast_ref() {
        Some(OtherFormat::TooOld) => {
            let advice = "export it with the recall that wrote it, move it away, then `recall import` what was exported";
            return Finding::problem("index", found, advice);
        }
        Some(OtherFormat::Newer | OtherFormat::Older) => {
            return Finding::problem("index", found, "upgrade recall: this one is older than what wrote the index");
        }
        None => {}
    }
    match error.downcast_ref::<StoreError>() {
        Some(StoreError::Damaged { what, .. }) => {
            Finding::problem("index", format!("{} is damaged: {what}", path.display()), DAMAGED_ADVICE).fixed_by(Repair::Index)
        }
        _ => {
            Finding::problem("index", found, "check that you can read and write it and that nothing else locks it, then try again")
        }
    }
}

/// The files beside the index: its copy, and quarantined damaged indexes.
fn companion_files(config: &Config, depth: Depth, now: Millis, is_well: bool) -> Vec<Finding> {
    if depth == Depth::Quick {
        return Vec::new();
    }
    let copy = match backup::find(&config.database(), files_beside::COPY) {
        Some(copy) => {
            let told = format!("made {} ago, {}", ago(copy.at, now), clean::size(copy.bytes));
            match backup::find(&config.database(), files_beside::CHECKED) {
                Some(checked) if checked.at < copy.at => {
                    format!("{told}; the last one that passed the full check is {} old", ago(checked.at, now))
                }
                _ => told,
            }
        }
        None if is_well => "none: the next digest makes one".to_owned(),
        // No digest runs before the index is repaired.
        None => "none".to_owned(),
    };
    let index = config.database();
    let aside = files_beside::quarantined(&index).into_iter().chain(files_beside::quarantined_logs(&index)).map(|file| {
        let found = format!("{} was moved aside: delete it if nothing is missing; `recall forget` deletes it too", file.display());
        Finding::ok("index", found)
    });
    [Finding::ok("copy", copy)].into_iter().chain(aside).collect()
}

fn state_of(counts: &IndexCounts, size: u64, depth: Depth, config: &Config) -> Finding {
    let found = format!(
        "{}, {}, {}",
        clean::size(size),
        counted(counts.sessions as usize, "session"),
        counted(counts.digests as usize, "digest")
    );
    if depth == Depth::Quick {
        return Finding::ok("index", found);
    }
    let path = config.database();
    let in_part = depth == Depth::Full && size > LARGE;
    let damage = WholeIndex::open(&path).and_then(|whole| {
        if in_part {
            return damage_of_structure(&whole);
        }
        let bar = Progress::of("checking", counts.sessions.unsigned_abs());
        any_damage_with(&whole, || bar.advance(1))
    });
    match damage {
        Ok(None) if in_part => {
            Finding::ok("index", format!("{found}, structure intact: `recall doctor --deep` also reads all values"))
        }
        Ok(None) => Finding::ok("index", format!("{found}, intact")),
        Ok(Some(damage)) => {
            Finding::problem("index", format!("{found}, damaged: {}", one_line(&damage)), DAMAGED_ADVICE).fixed_by(Repair::Index)
        }
        Err(e) => unusable(e, &path),
    }
}

fn failing(counts: &IndexCounts) -> Option<Finding> {
    let (id, times, why) = counts.failing.first()?;
    let more = if counts.failing.len() > 1 { "; `recall status` names the others" } else { "" };
    let times = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
    let found = format!("the model failed {times} on session {id}: {why}{more}");
    let advice = format!("it has a digest without the model; `recall digest --session {id}` tries again");
    let same = counts.failing.iter().map(|(id, _, why)| format!("{id} {why}")).collect::<Vec<_>>().join("\n");
    Some(Finding::warning("digests", found, advice).same_while(same))
}

/// Runs recorded in the future: the clock is wrong now, or was then.
fn clock(store: &Memory, now: Millis) -> Result<Option<Finding>> {
    let Some((at, _)) = store.last_run()?.filter(|(at, _)| *at > now + MAX_CLOCK_SKEW) else { return Ok(None) };
    let found = format!("the newest session is dated {} in the future", ago(now, at));
    Ok(Some(Finding::warning("clock", found, "set the clock: digests and limits use the time of the system")))
}
