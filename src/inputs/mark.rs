//! Marks: what hooks leave for the next batch. A mark is a hint and the transcript is the truth: a lost mark loses no data.
//!
//! Each mark is one small JSON file in `marks/new/` and holds no text of the session. `marks/ends` names those of sessions that ended, one
//! a line with the client's folder, so that a session's start need not list all that waits: it reads the last lines, whatever there is.

use std::fs;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sys::data_folder::MARKS;
use crate::sys::private_files::{open_regular, replace_unsynced};
use transcripts::session::Millis;

/// The event of a session's end, and the suffix of the file names of its marks.
const SESSION_END: &str = "session-end";
const PRE_COMPACT: &str = "pre-compact";
const SESSION_END_SUFFIX: &str = "-session-end.json";
/// How much of the list of ends is read, in bytes: some hundred sessions.
const ENDS_READ: u64 = 32 << 10;
/// The longest folder name in the list, in bytes; longer ones are no folder of the client's.
const MAX_FOLDER: usize = 255;
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
    data_dir.join(MARKS).join("new")
}

/// The folder that marks are written into before they are renamed into `marks/new/`.
fn staging(data_dir: &Path) -> PathBuf {
    data_dir.join(MARKS).join("tmp")
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
    let name = format!("{:014}-{random}", mark.at.max(0));
    file.persist_noclobber(folder(data_dir).join(&name)).map_err(|e| e.error)?;
    if mark.ends_session() {
        // Without its line, a start does not tell of this session until the next digest: no reason to fail.
        let _ = list_end(data_dir, &name, mark);
    }
    Ok(())
}

/// The list of marks of sessions that ended.
fn ends(data_dir: &Path) -> PathBuf {
    data_dir.join(MARKS).join("ends")
}

/// Appends a line in one write, so that lines of several hooks do not mix.
fn list_end(data_dir: &Path, name: &str, mark: &Mark) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = open_regular(options.create(true).append(true).mode(0o600), &ends(data_dir))?;
    let folder = Path::new(&mark.transcript).parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let folder = if folder.len() > MAX_FOLDER || folder.contains('\n') { String::new() } else { folder };
    file.write_all(format!("{name} {folder}\n").as_bytes())
}

/// The marks of sessions that ended last, newest first: at most `own` of those whose transcript lies in a folder of the client's that
/// `is_own` says is the asking project's, then at most `others`. Opens no other marks, however many wait.
pub(crate) fn newest_session_ends(data_dir: &Path, is_own: impl Fn(&str) -> bool, own: usize, others: usize) -> Vec<Mark> {
    let text = last_ends(data_dir).unwrap_or_default();
    let mut listed: Vec<(&str, &str)> = text.lines().filter_map(listed_end).collect();
    listed.sort_unstable_by(|a, b| b.cmp(a));
    let (ours, rest): (Vec<_>, Vec<_>) = listed.into_iter().partition(|(_, folder)| is_own(folder));
    let chosen = ours.into_iter().take(own).chain(rest.into_iter().take(others));
    chosen.filter_map(|(name, _)| read(&folder(data_dir).join(name))).collect()
}

/// The name and the folder of a line.
fn listed_end(line: &str) -> Option<(&str, &str)> {
    line.split_once(' ').filter(|(name, _)| name.ends_with(SESSION_END_SUFFIX) && !name.contains('/'))
}

fn last_ends(data_dir: &Path) -> io::Result<String> {
    let mut file = open_regular(fs::OpenOptions::new().read(true), &ends(data_dir))?;
    let from = file.metadata()?.len().saturating_sub(ENDS_READ);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(ENDS_READ).read_to_end(&mut bytes)?;
    // The first line may have lost its beginning, and then names no file.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Takes out of the list of ends what no longer waits. A line that is added meanwhile may get lost; its mark does not.
pub(crate) fn shorten_ends(data_dir: &Path) {
    let list = ends(data_dir);
    let mut text = String::new();
    let read = open_regular(fs::OpenOptions::new().read(true), &list).and_then(|mut file| file.read_to_string(&mut text));
    if read.as_ref().is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        return;
    }
    let waits = |line: &&str| listed_end(line).is_some_and(|(name, _)| folder(data_dir).join(name).exists());
    let left: String = text.split_inclusive('\n').filter(|line| waits(&line.trim_end_matches('\n'))).collect();
    let _ = match left.is_empty() {
        true => fs::remove_file(&list),
        false if left.len() < text.len() => replace_unsynced(&list, left.as_bytes()),
        false => Ok(()),
    };
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
