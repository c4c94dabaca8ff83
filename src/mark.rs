//! Marks: what hooks leave for the next batch. A mark is a hint, the transcript is the truth; a lost mark loses nothing.
//!
//! One small JSON file in `marks/new/` each, without any text of the session.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::session::Millis;

/// The event of a session's end, and how the names of its marks end.
const SESSION_END: &str = "session-end";
const PRE_COMPACT: &str = "pre-compact";
const ENDS: &str = "-session-end.json";
/// No hook takes this long.
const ABANDONED: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub session: String,
    pub transcript: String,
    /// The transcript's size when the hook ran, in bytes.
    pub offset: u64,
    /// `session-end`, `pre-compact` …
    pub event: String,
    /// The reason of an end, the trigger of a compaction.
    #[serde(default)]
    pub reason: String,
    pub at: Millis,
}

impl Mark {
    pub fn ends_session(&self) -> bool {
        self.event == SESSION_END
    }

    /// Is the session's context about to be compacted? It goes on after that.
    pub fn is_compaction(&self) -> bool {
        self.event == PRE_COMPACT
    }
}

pub fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("marks/new")
}

/// Where marks are written before they are renamed into place.
fn staging(data_dir: &Path) -> PathBuf {
    data_dir.join("marks/tmp")
}

/// Leaves a mark: a file of its own, renamed into place once it is whole, so that none is ever torn or lost to another. 0600.
///
/// Nothing is synced, which takes longer than all else: a mark that a power failure takes back, or of which it leaves nothing but the
/// name, is a hint less.
pub fn leave(data_dir: &Path, mark: &Mark) -> io::Result<()> {
    match write(data_dir, mark) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            // The goal first: who finds the staging folder relies on it.
            crate::private::create_dir(&folder(data_dir))?;
            crate::private::create_dir(&staging(data_dir))?;
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
    // Names sort by time.
    file.persist_noclobber(folder(data_dir).join(format!("{:014}-{random}", mark.at.max(0)))).map_err(|e| e.error)?;
    Ok(())
}

/// The newest marks of sessions that ended, by the marks' names, at most `most`, newest first.
pub fn newest_ends(data_dir: &Path, most: usize) -> Vec<Mark> {
    let Ok(entries) = fs::read_dir(folder(data_dir)) else { return Vec::new() };
    let ends = |path: &PathBuf| path.to_str().is_some_and(|name| name.ends_with(ENDS));
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(ends).collect();
    files.sort_unstable_by(|a, b| b.cmp(a));
    files.iter().take(most).filter_map(|path| read(path)).collect()
}

/// Removes what hooks that were killed left half written.
pub fn tidy(data_dir: &Path) {
    crate::private::remove_files(&staging(data_dir), |age| age.is_some_and(|age| age > ABANDONED));
}

fn read(path: &Path) -> Option<Mark> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The marks that wait, oldest first, with their files. One that cannot be read is as good as none.
pub fn waiting(data_dir: &Path) -> Vec<(PathBuf, Option<Mark>)> {
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
