//! What can be wrong with the index as a file, in words for the user: which file, what that means and what to do. SQLite's own messages
//! about damage and locks are never shown.

use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::anyhow;
use rusqlite::ErrorCode;
use rusqlite::types::FromSqlError;
use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

use super::codec::UnreadableBody;
use crate::model::page_path::PAGES;
use crate::store::files_beside;
use transcripts::sqlite_files::WAL;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the index {path} is damaged ({what}): run `recall doctor --fix` to move it aside and restore what can be restored")]
    Damaged { path: PathBuf, what: String },
    #[error(
        "the index {path} is locked by another process: a digest or `recall forget` may rewrite it for minutes; try again later (`fuser '{path}'` shows who locks it)"
    )]
    Locked { path: PathBuf },
    #[error("the index {path} was written by another process while it was read: try again")]
    Changed { path: PathBuf },
    #[error(
        "the index {path} cannot be opened ({why}): make sure that you own it and its folder, and can write to them (`chown`, `chmod u+rw`)"
    )]
    Closed { path: PathBuf, why: String },
    #[error("the index {path} cannot be written any more ({why}): free space on its disk (`df -h '{path}'`)")]
    Full { path: PathBuf, why: String },
    #[error("the index {path} cannot be read or written ({why}): see what the system says of its disk (`dmesg`)")]
    Failing { path: PathBuf, why: String },
    #[error("{path} is {what}, where the index should be: move it away")]
    NoFile { path: PathBuf, what: &'static str },
    #[error("{path} is a link to {to}, which is not there: bring that back, or remove the link to begin anew")]
    LeadsNowhere { path: PathBuf, to: PathBuf },
}

impl StoreError {
    /// The same error about the index itself, if it arose with a copy of it.
    fn of(&self, index: &Path) -> Self {
        let mut error = self.clone();
        let (Self::Damaged { path, .. }
        | Self::Locked { path }
        | Self::Changed { path }
        | Self::Closed { path, .. }
        | Self::Full { path, .. }
        | Self::Failing { path, .. }
        | Self::NoFile { path, .. }
        | Self::LeadsNowhere { path, .. }) = &mut error;
        index.clone_into(path);
        error
    }
}

/// Puts an error about the file of the index into words for the user; returns every other unchanged.
pub(crate) fn explained(error: anyhow::Error, path: &Path) -> anyhow::Error {
    match error.downcast_ref::<StoreError>().map(|error| error.of(path)).or_else(|| of(&error, path)) {
        // What was read is damaged, not the file.
        Some(StoreError::Damaged { path, .. }) if changed_meanwhile(&path) => anyhow!(StoreError::Changed { path }),
        Some(error) => anyhow!(error),
        None => error,
    }
}

/// Is it about the file of the index, so that going on makes no sense?
pub(crate) fn is_store_error(error: &anyhow::Error) -> bool {
    error.downcast_ref::<StoreError>().is_some() || of(error, Path::new("")).is_some()
}

/// What is damaged, given the error that stopped a reader of the whole index. Whatever stops it is damage, unless the index cannot be read
/// at the moment.
///
/// # Errors
/// The error itself, in that case.
pub(crate) fn as_damage(error: anyhow::Error) -> anyhow::Result<String> {
    match error.downcast_ref::<StoreError>().cloned().or_else(|| of(&error, Path::new(""))) {
        Some(StoreError::Damaged { what, .. }) => Ok(what),
        Some(_) => Err(error),
        None => Ok(format!("{error:#}")),
    }
}

/// Does it say that the index is damaged?
pub(crate) fn is_damage(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<StoreError>().cloned().or_else(|| of(error, Path::new("")));
    matches!(error, Some(StoreError::Damaged { .. }))
}

fn of(error: &anyhow::Error, path: &Path) -> Option<StoreError> {
    let path = path.to_owned();
    if let Some(unreadable) = error.downcast_ref::<UnreadableBody>() {
        return Some(StoreError::Damaged { path, what: unreadable.to_string() });
    }
    if let Some(value) = error.downcast_ref::<FromSqlError>() {
        return Some(StoreError::Damaged { path, what: format!("a stored value cannot be read: {value}") });
    }
    let sql = error.downcast_ref::<rusqlite::Error>()?;
    let damaged = || Some(StoreError::Damaged { path: path.clone(), what: sql.to_string() });
    match sql.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            Some(StoreError::Locked { path })
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            Some(StoreError::Closed { path, why: sql.to_string() })
        }
        Some(ErrorCode::SchemaChanged) => Some(StoreError::Changed { path }),
        Some(ErrorCode::DiskFull) => Some(StoreError::Full { path, why: sql.to_string() }),
        Some(ErrorCode::SystemIoFailure) => Some(StoreError::Failing { path, why: sql.to_string() }),
        Some(ErrorCode::Unknown) if is_about_schema(&sql.to_string()) => damaged(),
        Some(_) => None,
        None => is_about_value(sql).then(damaged).flatten(),
    }
}

/// Tables are not what the index's format says: our own statements are right about them.
fn is_about_schema(message: &str) -> bool {
    let message = message.strip_prefix("migration ").unwrap_or(message);
    ["no such table", "no such column", "duplicate column", "unsupported file format"]
        .iter()
        .any(|start| message.starts_with(start))
        || message.contains(" already exists")
        || message.contains(" has no column named ")
}

/// A stored value cannot be one that was stored there.
fn is_about_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(error, E::FromSqlConversionFailure(..) | E::IntegralValueOutOfRange(..) | E::Utf8Error(..) | E::InvalidColumnType(..))
}

/// Checks that what has the path is a file, or nothing: opening a pipe would block forever.
pub(crate) fn check_kind(path: &Path) -> Result<(), StoreError> {
    let kind = match fs::metadata(path) {
        Ok(found) => found.file_type(),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return match fs::read_link(path) {
                Ok(to) => Err(StoreError::LeadsNowhere { path: path.to_owned(), to }),
                Err(_) => Ok(()),
            };
        }
        Err(e) => return Err(closed(path, &e)),
    };
    match kind.is_file() {
        true => Ok(()),
        false => Err(StoreError::NoFile { path: path.to_owned(), what: name_of(kind) }),
    }
}

fn name_of(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// Checks that an empty or missing index has never had anything in it: otherwise a new one must not silently replace it.
pub(crate) fn check_emptied(path: &Path) -> Result<(), StoreError> {
    let size_now = || fs::metadata(path).ok().map(|found| found.len());
    let size = size_now();
    let missing = match size {
        Some(0) => "it is empty",
        Some(_) => return Ok(()),
        None => "it is gone",
    };
    let has = |suffix: &str| fs::metadata(files_beside::beside(path, suffix)).is_ok_and(|found| found.len() > 0);
    let left = [
        (files_beside::COPY, "a copy of it"),
        (files_beside::CHECKED, "a copy of it"),
        (files_beside::RESTORED, "one that was repaired"),
        (WAL, "the log of its changes"),
    ];
    // Without a database SQLite plays no log back: the log is a leftover of an index that was deleted by hand.
    let counts = |suffix: &str| size.is_some() || suffix != WAL;
    let found = left.into_iter().find(|(suffix, _)| counts(suffix) && has(suffix));
    // Another process was creating it: its head was written before its log.
    if found.is_some() && size_now() != size {
        return Ok(());
    }
    match found {
        Some((suffix, what)) => {
            let copies = files_beside::COPIES
                .iter()
                .filter(|copy| has(copy))
                .map(|copy| files_beside::beside(path, copy).display().to_string());
            let anew = match suffix {
                files_beside::COPY | files_beside::CHECKED => {
                    format!("; to begin anew remove {}", copies.collect::<Vec<_>>().join(" and "))
                }
                _ => String::new(),
            };
            Err(StoreError::Damaged { path: path.to_owned(), what: format!("{missing}, and {what} is there{anew}") })
        }
        None if size.is_some() && has_pages(path) => Err(StoreError::Damaged {
            path: path.to_owned(),
            what: format!("{missing}, but there are pages that were made from it"),
        }),
        None => Ok(()),
    }
}

/// Checks those bytes of the file's header that never change. For some others SQLite would report a read-only file, or a file of a later
/// SQLite, which would mislead the user. <https://www.sqlite.org/fileformat2.html#the_database_header>
pub(crate) fn check_header(path: &Path) -> Result<(), StoreError> {
    // Opening it will say why it cannot be read.
    let Ok(head) = head_of(path) else { return Ok(()) };
    let forms = head[18..20].iter().all(|form| [1, 2].contains(form)) && head[21..24] == [64, 32, 32];
    let of_an_index = head[56..60] == [0, 0, 0, 1] && head[44..47] == [0, 0, 0] && head[47] <= 4;
    // A file just created has neither an encoding nor tables.
    let new = head[44..48] == [0; 4] && head[56..60] == [0; 4];
    if head.starts_with(b"SQLite format 3\0") && !(forms && (of_an_index || new)) {
        return Err(StoreError::Damaged { path: path.to_owned(), what: "its head is not that of an index".into() });
    }
    Ok(())
}

/// The file's first 100 bytes.
fn head_of(path: &Path) -> io::Result<[u8; 100]> {
    with_opened(path, |file| {
        let mut head = [0; 100];
        file.read_exact_at(&mut head, 0)?;
        Ok(head)
    })
}

/// The range that SQLite locks in a file it has open: numbers from <https://www.sqlite.org/src/file/src/os.h>.
const SHARED: Flock =
    Flock { start: 0x4000_0002, length: 510, pid: None, typ: FlockType::WriteLock, offset_type: FlockOffsetType::Set };

/// Does another process have the index open? No, if the system does not say.
pub(super) fn is_open_elsewhere(path: &Path) -> bool {
    with_opened(path, |file| Ok(fcntl_getlk(file, &SHARED)?)).is_ok_and(|held| held.is_some())
}

/// Runs `work` with an open descriptor of the file. Closing any descriptor of a file drops all locks that the process holds on it, those of
/// SQLite's connections included: another process that closes the index would then believe it is the last, and delete the log in use. So
/// the descriptor stays open as long as the file has a name.
/// <https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>
fn with_opened<T>(path: &Path, work: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
    static OPENED: Mutex<Vec<File>> = Mutex::new(Vec::new());
    let named = fs::metadata(path)?;
    let is_named = |file: &File| file.metadata().is_ok_and(|found| (found.dev(), found.ino()) == (named.dev(), named.ino()));
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    opened.retain(|file| file.metadata().is_ok_and(|found| found.nlink() > 0));
    let at = match opened.iter().position(is_named) {
        Some(at) => at,
        None => {
            opened.push(File::open(path)?);
            opened.len() - 1
        }
    };
    work(&opened[at])
}

/// An index that is read without locks, and size and time of its files before.
static WITHOUT_LOCKS: Mutex<Option<(PathBuf, Looks)>> = Mutex::new(None);

type Looks = [Option<(u64, SystemTime)>; 2];

fn looks(path: &Path) -> Looks {
    ["", WAL].map(|end| {
        let found = fs::metadata(files_beside::beside(path, end)).ok()?;
        Some((found.len(), found.modified().ok()?))
    })
}

/// To be called before an index is read without locks. If another process writes it meanwhile, what is read mixes old and new.
pub(super) fn read_without_locks(path: &Path) {
    *WITHOUT_LOCKS.lock().unwrap_or_else(PoisonError::into_inner) = Some((path.to_owned(), looks(path)));
}

fn changed_meanwhile(path: &Path) -> bool {
    let known = WITHOUT_LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    known.as_ref().is_some_and(|(read, before)| read == path && looks(path) != *before)
}

fn has_pages(path: &Path) -> bool {
    fs::read_dir(path.with_file_name(PAGES)).is_ok_and(|mut days| days.next().is_some())
}

/// The error for a file that the system does not let us open.
pub(crate) fn closed(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Closed { path: path.to_owned(), why: error.to_string() }
}

#[cfg(test)]
mod tests;
