//! Quarantine: a damaged index gets a dated name, and its logs with it, because beside another index they would be taken for that one's.
//!
//! The index is renamed before its logs. While there is no index and a restored one waits beside it, no other index is created; so a log
//! that an interrupted repair left behind still belongs to the index in quarantine.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::config::Config;
use crate::store::WholeIndex;
use crate::store::files_beside;
use crate::store::maintenance::Contents;
use crate::sys::{failpoints, private_files};
use transcripts::session::Millis;
use transcripts::sqlite_files::{JOURNAL, LOGS, SHM, WAL, with_suffix};

/// Moves the index and its logs. Returns its new name, or `None` if it was empty or missing.
pub(crate) fn move_index(index: &Path, config: &Config) -> Result<Option<PathBuf>> {
    let name = free_name(index, config.now(), config);
    let is_kept = give_name(index, &name)?;
    failpoints::point("index set aside");
    logs_to(index, &name)?;
    Ok(is_kept.then_some(name))
}

/// Moves the logs of an index that stays. Returns their new names.
pub(crate) fn move_logs(index: &Path, config: &Config) -> Result<Vec<PathBuf>> {
    let name = free_name(index, config.now(), config);
    logs_to(index, &name)?;
    Ok([JOURNAL, WAL].iter().map(|log| with_suffix(&name, log)).filter(|log| log.exists()).collect())
}

/// Moves the logs that an interrupted repair left behind to the index they belong to, if that is known.
pub(crate) fn move_logs_left_behind(index: &Path, restored: &Path, config: &Config) -> Result<()> {
    let name = latest(index, restored).unwrap_or_else(|| free_name(index, config.now(), config));
    logs_to(index, &name)
}

/// The damaged index in quarantine from which the restored one was made.
pub(crate) fn latest(index: &Path, restored: &Path) -> Option<PathBuf> {
    // The inode's change time is set by renaming.
    let named_at = |file: &Path| fs::metadata(file).ok().map(|found| (found.ctime(), found.ctime_nsec()));
    let made_at = named_at(restored)?;
    files_beside::quarantined(index).into_iter().filter(|file| named_at(file) >= Some(made_at)).max_by_key(|file| named_at(file))
}

/// What an index in quarantine holds.
pub(crate) fn contents(file: &Path) -> Result<Contents> {
    let held = WholeIndex::open_damaged(file).map_or_else(|_| Contents::unreadable(), |store| store.contents_of_damaged());
    // Reading it with its log creates this file.
    private_files::remove(&with_suffix(file, SHM))?;
    Ok(held)
}

fn logs_to(index: &Path, name: &Path) -> Result<()> {
    for log in [JOURNAL, WAL, SHM] {
        let from = with_suffix(index, log);
        if log == SHM {
            // Shared memory of readers, nothing lasting.
            private_files::remove(&from)?;
        } else if give_name(&from, &with_suffix(name, log))? {
            failpoints::point("log set aside");
        }
    }
    Ok(private_files::sync_folder_of(index)?)
}

/// Renames a file. An empty one is deleted, and the result is false.
fn give_name(from: &Path, to: &Path) -> Result<bool> {
    match fs::metadata(from).map(|found| found.len()) {
        Err(_) => Ok(false),
        Ok(0) => Ok(private_files::remove(from).map(|()| false)?),
        Ok(_) => {
            fs::rename(from, to).with_context(|| format!("cannot set {} aside", from.display()))?;
            private_files::sync_folder_of(from)?;
            Ok(true)
        }
    }
}

fn free_name(index: &Path, now: Millis, config: &Config) -> PathBuf {
    let dated = with_suffix(index, &format!("{}{}", files_beside::QUARANTINE, config.local_time(Some(now), "%Y-%m-%d-%H%M%S")));
    let further = (2..).map(|n| with_suffix(&dated, &format!("-{n}")));
    let is_free = |name: &PathBuf| !name.exists() && !LOGS.iter().any(|log| with_suffix(name, log).exists());
    [dated.clone()].into_iter().chain(further).find(is_free).unwrap_or(dated)
}
