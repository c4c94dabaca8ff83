//! Tracks what was already injected into a session, by its start, as a notice or as passages, so that nothing is injected twice
//! in the same detail.
//!
//! One file per session in `marks/told/`, one line per session or note shown. Never text, and ids only as hashes.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::sys::{data_folder, private_files};
use transcripts::session::short_id;

/// Most entries per session. Once reached, prompts of this session get nothing more.
const MAX_ENTRIES: usize = 200;
/// Age after which a session's file is removed, counted from its last entry. After that things may be shown again.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// How something was shown, in increasing detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownAs {
    /// Named in a notice.
    Notice,
    /// Among the notes at the session's start.
    Start,
    /// By passages of its text.
    Passages,
}

const SHOWN_AS: [(ShownAs, &str); 3] = [(ShownAs::Notice, "notice"), (ShownAs::Start, "start"), (ShownAs::Passages, "passages")];

/// What was already shown to one session.
#[derive(Debug, Default)]
pub(crate) struct SeenLog {
    lines: Vec<(ShownAs, String)>,
}

impl SeenLog {
    pub(crate) fn read(data_dir: &Path, session: &str) -> Self {
        let text = fs::read_to_string(file(data_dir, session)).unwrap_or_default();
        let line = |line: &str| {
            let (how, id) = line.split_once(' ')?;
            Some((SHOWN_AS.iter().find(|(_, name)| *name == how)?.0, id.to_owned()))
        };
        Self { lines: text.lines().filter_map(line).take(MAX_ENTRIES).collect() }
    }

    /// Adds what is shown, here and in no file.
    pub(crate) fn add<'i>(&mut self, how: ShownAs, ids: impl Iterator<Item = &'i str>) {
        self.lines.extend(ids.map(|id| (how, hashed(id))));
    }

    /// Whether it was shown in any way.
    pub(crate) fn of(&self, id: &str) -> bool {
        let id = hashed(id);
        self.lines.iter().any(|(_, known)| *known == id)
    }

    /// Whether it was shown in this way, or in more detail.
    pub(crate) fn has(&self, id: &str, how: ShownAs) -> bool {
        let id = hashed(id);
        self.lines.iter().any(|(known, of)| *of == id && *known as u8 >= how as u8)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.lines.len() >= MAX_ENTRIES
    }
}

/// Records what is shown to a session.
pub(crate) fn record<'i>(data_dir: &Path, session: &str, how: ShownAs, ids: impl Iterator<Item = &'i str>) -> Result<()> {
    let name = SHOWN_AS.iter().find(|(known, _)| *known == how).map_or("", |(_, name)| name);
    let lines: String = ids.map(|id| format!("{name} {}\n", hashed(id))).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let path = file(data_dir, session);
    let append = || OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
    let file = match append() {
        Err(e) if e.kind() == ErrorKind::NotFound => private_files::create_dir(&folder(data_dir)).and_then(|()| append()),
        other => other,
    };
    file.and_then(|mut file| file.write_all(lines.as_bytes())).with_context(|| format!("cannot write {}", path.display()))
}

/// Forgets what was shown: after a compaction it may be gone from the context.
pub(crate) fn clear(data_dir: &Path, session: &str) {
    let _ = fs::remove_file(file(data_dir, session));
}

/// Removes the files of sessions that are long over.
pub(crate) fn remove_old(data_dir: &Path) {
    private_files::remove_files(&folder(data_dir), |age| age.is_none_or(|age| age > MAX_AGE));
}

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join(data_folder::MARKS).join("told")
}

fn file(data_dir: &Path, session: &str) -> PathBuf {
    folder(data_dir).join(hashed(session))
}

fn hashed(id: &str) -> String {
    short_id("t", &[id])
}
