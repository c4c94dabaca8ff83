//! Marks: what hooks leave for the next batch. A mark is a hint, the transcript is the truth; a lost mark loses nothing.
//!
//! One small JSON file in `marks/new/` each, without any text of the session.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::session::Millis;

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
        self.event == "session-end"
    }
}

pub fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("marks/new")
}

/// The marks that wait, oldest first, with their files. One that cannot be read is as good as none.
pub fn waiting(data_dir: &Path) -> Vec<(PathBuf, Option<Mark>)> {
    let Ok(entries) = fs::read_dir(folder(data_dir)) else { return Vec::new() };
    let files = entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "json"));
    let mut marks: Vec<_> = files
        .map(|path| {
            let mark = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Mark>(&bytes).ok());
            (path, mark)
        })
        .collect();
    marks.sort_by_key(|(path, mark)| (mark.as_ref().map_or(0, |m| m.at), path.clone()));
    marks
}
