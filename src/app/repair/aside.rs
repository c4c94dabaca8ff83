//! A damaged index gets a dated name, and its logs with it: beside another index they would be taken for that one's.
//!
//! The index goes first: without one nobody begins another as long as the mended one waits beside it, so a log that was left behind by a
//! mending that was cut short is still its own.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::with;
use crate::config::Config;
use crate::model::session::Millis;
use crate::store::mend::Held;
use crate::store::{Store, copy};
use crate::sys::{failpoints, private_files};

/// Returns the name it has then, where there was any of it.
pub fn set_aside(index: &Path, config: &Config) -> Result<Option<PathBuf>> {
    let name = free_name(index, config.now(), config);
    let is_kept = give_name(index, &name)?;
    failpoints::point("index set aside");
    logs_to(index, &name)?;
    Ok(is_kept.then_some(name))
}

/// Sets aside what lies beside an index that stays. Returns the names it has then.
pub fn set_logs_of(index: &Path, config: &Config) -> Result<Vec<PathBuf>> {
    let name = free_name(index, config.now(), config);
    logs_to(index, &name)?;
    Ok(["-journal", "-wal"].iter().map(|log| with(&name, log)).filter(|log| log.exists()).collect())
}

/// Sets the logs aside that a mending left which was cut short: to the index they belong to, where that is known.
pub fn set_logs_aside(index: &Path, mended: &Path, config: &Config) -> Result<()> {
    let name = last(index, mended).unwrap_or_else(|| free_name(index, config.now(), config));
    logs_to(index, &name)
}

/// The index that was set aside when the mended one was made.
pub fn last(index: &Path, mended: &Path) -> Option<PathBuf> {
    // A file's status changes when it gets another name.
    let named_at = |file: &Path| fs::metadata(file).ok().map(|found| (found.ctime(), found.ctime_nsec()));
    let made_at = named_at(mended)?;
    copy::set_aside(index).into_iter().filter(|file| named_at(file) >= Some(made_at)).max_by_key(|file| named_at(file))
}

/// What one that was set aside holds.
pub fn held(file: &Path) -> Result<Held> {
    let held = Store::open_aside(file).map(|store| store.held()).unwrap_or_default();
    // Whoever reads it by its log makes this.
    private_files::remove(&with(file, "-shm"))?;
    Ok(held)
}

fn logs_to(index: &Path, name: &Path) -> Result<()> {
    for log in ["-journal", "-wal", "-shm"] {
        let from = with(index, log);
        if log == "-shm" {
            // Readers share nothing that lasts.
            private_files::remove(&from)?;
        } else if give_name(&from, &with(name, log))? {
            failpoints::point("log set aside");
        }
    }
    Ok(private_files::sync_folder_of(index)?)
}

/// Of nothing there is nothing to keep: then it is removed, and false.
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
    let dated = with(index, &format!("{}{}", copy::DAMAGED, config.local_time(Some(now), "%Y-%m-%d-%H%M%S")));
    let further = (2..).map(|n| with(&dated, &format!("-{n}")));
    let is_free = |name: &PathBuf| !name.exists() && !copy::LOGS.iter().any(|log| with(name, log).exists());
    [dated.clone()].into_iter().chain(further).find(is_free).unwrap_or(dated)
}
