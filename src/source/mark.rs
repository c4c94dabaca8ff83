//! Marks: what hooks leave for the next batch. A mark is a hint and the transcript is the truth: a lost mark loses no data.
//!
//! Each mark is one small JSON file in `marks/new/` and holds no text of the session.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::session::Millis;

/// The event of a session's end, and the suffix of the file names of its marks.
const SESSION_END: &str = "session-end";
const PRE_COMPACT: &str = "pre-compact";
const SESSION_END_SUFFIX: &str = "-session-end.json";
/// No hook runs this long: an older file in the staging folder is a leftover.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub session: String,
    pub transcript: String,
    /// The transcript's size when the hook ran, in bytes.
    pub offset: u64,
    /// `session-end`, `pre-compact` …
    pub event: String,
    /// The reason of a session's end, or the trigger of a compaction.
    #[serde(default)]
    pub reason: String,
    pub at: Millis,
}

impl Mark {
    pub(crate) fn ends_session(&self) -> bool {
        self.event == SESSION_END
    }

    /// Is the session's context about to be compacted? The session continues afterwards.
    pub(crate) fn is_compaction(&self) -> bool {
        self.event == PRE_COMPACT
    }
}

pub(crate) fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("marks/new")
}

/// The folder that marks are written into before they are renamed into `marks/new/`.
fn staging(data_dir: &Path) -> PathBuf {
    data_dir.join("marks/tmp")
}

/// Writes a mark to a file of its own (0600), renamed into place once it is complete, so that no mark is torn or overwrites
/// another.
///
/// The file is not synced, which would take longer than everything else: a mark that a power failure removes or empties is only a
/// lost hint.
pub(crate) fn write_mark(data_dir: &Path, mark: &Mark) -> io::Result<()> {
    match write(data_dir, mark) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            // `marks/new/` first: a caller that finds the staging folder relies on it.
            crate::sys::private_files::create_dir(&folder(data_dir))?;
            crate::sys::private_files::create_dir(&staging(data_dir))?;
            write(data_dir, mark)
        }
        other => other,
    }
}

fn write(data_dir: &Path, mark: &Mark) -> io::Result<()> {
    let suffix = format!("-{}.json", mark.event);
    let mut file = tempfile::Builder::new().prefix("").suffix(&suffix).rand_bytes(12).tempfile_in(staging(data_dir))?;
    file.write_all(&serde_json::to_vec(mark)?)?;
    let random = file.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    // File names sort by time.
    file.persist_noclobber(folder(data_dir).join(format!("{:014}-{random}", mark.at.max(0)))).map_err(|e| e.error)?;
    Ok(())
}

/// Returns at most `most` marks of ended sessions, newest first by file name.
pub(crate) fn newest_session_ends(data_dir: &Path, most: usize) -> Vec<Mark> {
    let Ok(entries) = fs::read_dir(folder(data_dir)) else { return Vec::new() };
    let ends = |path: &PathBuf| path.to_str().is_some_and(|name| name.ends_with(SESSION_END_SUFFIX));
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(ends).collect();
    files.sort_unstable_by(|a, b| b.cmp(a));
    files.iter().take(most).filter_map(|path| read(path)).collect()
}

/// Removes files that killed hooks left half written.
pub(crate) fn remove_leftovers(data_dir: &Path) {
    crate::sys::private_files::remove_files(&staging(data_dir), |age| age.is_some_and(|age| age > ABANDONED_AFTER));
}

fn read(path: &Path) -> Option<Mark> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Returns the waiting marks with their files, oldest first. `None` stands for one that cannot be read.
pub(crate) fn pending(data_dir: &Path) -> Vec<(PathBuf, Option<Mark>)> {
    let Ok(entries) = fs::read_dir(folder(data_dir)) else { return Vec::new() };
    let files = entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "json"));
    let mut marks: Vec<_> = files
        .map(|path| {
            let mark = read(&path);
            (path, mark)
        })
        .collect();
    marks.sort_by_key(|(path, mark)| (mark.as_ref().map_or(0, |m| m.at), path.clone()));
    marks
}
