//! Compactions whose summary is awaited: clients write it when the hook at the session's start is done, so the next prompt tells what it
//! leaves out.
//!
//! One file per session in `marks/compacted/`, which holds the key of the summary that was the last one before, if there was one. Never text.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::sys::{data_folder, private_files};
use transcripts::session::{RecordKey, short_id};

/// Nobody prompts a session any more whose compaction is older.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// Notes that a session was compacted, whose last summary so far is this one.
pub(crate) fn note(data_dir: &Path, session: &str, known: Option<RecordKey>) -> Result<()> {
    let path = file(data_dir, session);
    let known = known.map(|key| key.to_string()).unwrap_or_default();
    private_files::create_dir(&folder(data_dir))
        .and_then(|()| private_files::replace_unsynced(&path, known.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The key of the last summary before the compaction whose own one is awaited, empty without one; `None` if none is.
pub(crate) fn awaited(data_dir: &Path, session: &str) -> Option<String> {
    fs::read_to_string(file(data_dir, session)).ok()
}

/// Notes that no summary of the session is awaited any more.
pub(crate) fn settle(data_dir: &Path, session: &str) {
    let _ = fs::remove_file(file(data_dir, session));
}

/// Removes the files of sessions that are long over.
pub(crate) fn remove_old(data_dir: &Path) {
    private_files::remove_files(&folder(data_dir), |age| age.is_none_or(|age| age > MAX_AGE));
}

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join(data_folder::MARKS).join("compacted")
}

fn file(data_dir: &Path, session: &str) -> PathBuf {
    folder(data_dir).join(short_id("t", &[session]))
}
