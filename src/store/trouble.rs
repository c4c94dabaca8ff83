//! What can be wrong with the index as a file, said in one place: where it lies, what that means and what to do. No message of SQLite's
//! own about damage or locks reaches anybody.

use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::{anyhow, bail};
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, ErrorCode};
use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

use super::copy;
use crate::store::codec::Unreadable;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("the index {path} is damaged ({what}): `recall doctor --fix` sets it aside and brings back what can be")]
    Damaged { path: PathBuf, what: String },
    #[error(
        "the index {path} is locked by another process: a digest or `recall forget` that writes it anew takes up to minutes; try again \
         when it is done (`fuser '{path}'` says who holds it)"
    )]
    Locked { path: PathBuf },
    #[error("the index {path} was written by another process while it was read: try again")]
    Changed { path: PathBuf },
    #[error(
        "the index {path} cannot be opened ({why}): see that it and its folder are yours and may be written (`chown`, `chmod u+rw`)"
    )]
    Closed { path: PathBuf, why: String },
    #[error("the index {path} cannot be written any more ({why}): see that there is room on its disk (`df -h '{path}'`)")]
    Full { path: PathBuf, why: String },
    #[error("the index {path} cannot be read or written ({why}): see what the system says of its disk (`dmesg`)")]
    Failing { path: PathBuf, why: String },
    #[error("{path} is {what}, where the index should be: move it away")]
    NoFile { path: PathBuf, what: &'static str },
    #[error("{path} is a link to {to}, which is not there: bring that back, or remove the link to begin anew")]
    LeadsNowhere { path: PathBuf, to: PathBuf },
}

impl Trouble {
    /// The same, of the index itself, where it came up with something made from it.
    fn of(&self, index: &Path) -> Self {
        let mut trouble = self.clone();
        let (Self::Damaged { path, .. }
        | Self::Locked { path }
        | Self::Changed { path }
        | Self::Closed { path, .. }
        | Self::Full { path, .. }
        | Self::Failing { path, .. }
        | Self::NoFile { path, .. }
        | Self::LeadsNowhere { path, .. }) = &mut trouble;
        index.clone_into(path);
        trouble
    }
}

/// The same error in words for the user, where it is about the file of the index; every other as it is.
pub fn explained(error: anyhow::Error, path: &Path) -> anyhow::Error {
    match error.downcast_ref::<Trouble>().map(|trouble| trouble.of(path)).or_else(|| of(&error, path)) {
        // A damage of what was read, not of the file.
        Some(Trouble::Damaged { path, .. }) if changed_meanwhile(&path) => anyhow!(Trouble::Changed { path }),
        Some(trouble) => anyhow!(trouble),
        None => error,
    }
}

/// Is it about the file of the index, so that going on makes no sense?
pub fn is_trouble(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Trouble>().is_some() || of(error, Path::new("")).is_some()
}

/// What is damaged, where somebody who reads all of the index met this. Whatever stops a reader is a damage, unless the index itself cannot
/// be had just now.
///
/// # Errors
/// The error itself, then.
pub fn as_damage(error: anyhow::Error) -> anyhow::Result<String> {
    match error.downcast_ref::<Trouble>().cloned().or_else(|| of(&error, Path::new(""))) {
        Some(Trouble::Damaged { what, .. }) => Ok(what),
        Some(_) => Err(error),
        None => Ok(format!("{error:#}")),
    }
}

/// Is it about the index being damaged?
pub fn is_damage(error: &anyhow::Error) -> bool {
    let trouble = error.downcast_ref::<Trouble>().cloned().or_else(|| of(error, Path::new("")));
    matches!(trouble, Some(Trouble::Damaged { .. }))
}

fn of(error: &anyhow::Error, path: &Path) -> Option<Trouble> {
    let path = path.to_owned();
    if let Some(unreadable) = error.downcast_ref::<Unreadable>() {
        return Some(Trouble::Damaged { path, what: unreadable.to_string() });
    }
    if let Some(value) = error.downcast_ref::<FromSqlError>() {
        return Some(Trouble::Damaged { path, what: format!("a stored value cannot be read: {value}") });
    }
    let sql = error.downcast_ref::<rusqlite::Error>()?;
    let damaged = || Some(Trouble::Damaged { path: path.clone(), what: sql.to_string() });
    match sql.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            Some(Trouble::Locked { path })
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            Some(Trouble::Closed { path, why: sql.to_string() })
        }
        Some(ErrorCode::DiskFull) => Some(Trouble::Full { path, why: sql.to_string() }),
        Some(ErrorCode::SystemIoFailure) => Some(Trouble::Failing { path, why: sql.to_string() }),
        Some(ErrorCode::Unknown) if is_of_another_form(&sql.to_string()) => damaged(),
        Some(_) => None,
        None => is_of_a_value(sql).then(damaged).flatten(),
    }
}

/// Tables are not what the index's form says: no statement of ours is wrong about them.
fn is_of_another_form(message: &str) -> bool {
    let message = message.strip_prefix("migration ").unwrap_or(message);
    ["no such table", "no such column", "duplicate column", "unsupported file format"]
        .iter()
        .any(|start| message.starts_with(start))
        || message.contains(" already exists")
        || message.contains(" has no column named ")
}

/// A stored value is none that is ever stored there.
fn is_of_a_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(error, E::FromSqlConversionFailure(..) | E::IntegralValueOutOfRange(..) | E::Utf8Error(..) | E::InvalidColumnType(..))
}

/// Looks whether what lies at the path can be an index at all: opening a pipe would wait for ever.
///
/// # Errors
/// A [`Trouble`].
pub fn check_place(path: &Path) -> Result<(), Trouble> {
    let kind = match fs::metadata(path) {
        Ok(found) => found.file_type(),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return match fs::read_link(path) {
                Ok(to) => Err(Trouble::LeadsNowhere { path: path.to_owned(), to }),
                Err(_) => Ok(()),
            };
        }
        Err(e) => return Err(closed(path, &e)),
    };
    match kind.is_file() {
        true => Ok(()),
        false => Err(Trouble::NoFile { path: path.to_owned(), what: name_of(kind) }),
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

/// Looks whether an index that has nothing in it once had: then it must not be begun anew in silence.
///
/// # Errors
/// A [`Trouble`].
pub fn check_emptied(path: &Path) -> Result<(), Trouble> {
    let size = fs::metadata(path).map_or(None, |found| Some(found.len()));
    let missing = match size {
        Some(0) => "it is empty",
        Some(_) => return Ok(()),
        None => "it is gone",
    };
    let has = |suffix: &str| fs::metadata(copy::beside(path, suffix)).is_ok_and(|found| found.len() > 0);
    let left = [(copy::COPY, "a copy of it"), (copy::MENDED, "one that was mended"), ("-wal", "the log of its changes")];
    // Without the database SQLite takes no log for its own: it is left over where somebody deleted the index by hand.
    let counts = |suffix: &str| size.is_some() || suffix != "-wal";
    match left.into_iter().find(|(suffix, _)| counts(suffix) && has(suffix)) {
        Some((suffix, what)) => {
            let anew = match suffix {
                copy::COPY => format!("; to begin anew remove {}", copy::beside(path, suffix).display()),
                _ => String::new(),
            };
            Err(Trouble::Damaged { path: path.to_owned(), what: format!("{missing}, and {what} is there{anew}") })
        }
        None if size.is_some() && has_pages(path) => {
            Err(Trouble::Damaged { path: path.to_owned(), what: format!("{missing}, and pages made from it are there") })
        }
        None => Ok(()),
    }
}

/// Looks at those bytes of the file's head that are always the same. SQLite takes some others for a file that nobody may write, or for one
/// of its own later forms, which would send the user the wrong way. <https://www.sqlite.org/fileformat2.html#the_database_header>
///
/// # Errors
/// A [`Trouble`].
pub fn check_head(path: &Path) -> Result<(), Trouble> {
    // Whoever opens it says why it cannot be read.
    let Ok(head) = head_of(path) else { return Ok(()) };
    let forms = head[18..20].iter().all(|form| [1, 2].contains(form)) && head[21..24] == [64, 32, 32];
    let of_an_index = head[56..60] == [0, 0, 0, 1] && head[44..47] == [0, 0, 0] && head[47] <= 4;
    // One that was just made has neither an encoding nor tables.
    let new = head[44..48] == [0; 4] && head[56..60] == [0; 4];
    if head.starts_with(b"SQLite format 3\0") && !(forms && (of_an_index || new)) {
        return Err(Trouble::Damaged { path: path.to_owned(), what: "its head is not that of an index".into() });
    }
    Ok(())
}

/// The file's first bytes.
fn head_of(path: &Path) -> io::Result<[u8; 100]> {
    with_opened(path, |file| {
        let mut head = [0; 100];
        file.read_exact_at(&mut head, 0)?;
        Ok(head)
    })
}

/// What SQLite locks of a file that is open: <https://www.sqlite.org/src/file/src/os.h> has these numbers.
const SHARED: Flock =
    Flock { start: 0x4000_0002, length: 510, pid: None, typ: FlockType::WriteLock, offset_type: FlockOffsetType::Set };

/// Has another process the index open? Where the system does not tell, none has.
pub(super) fn is_open_elsewhere(path: &Path) -> bool {
    with_opened(path, |file| Ok(fcntl_getlk(file, &SHARED)?)).is_ok_and(|held| held.is_some())
}

/// Does something with a file that is open to be looked at. Closing any descriptor of a file gives up all locks that the process has on
/// it, those of its connections, too: who closes the index elsewhere would take itself for the last and delete the log that they write to.
/// So it stays open as long as the file has a name.
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

/// A file without a form has nothing in it yet.
///
/// # Errors
/// A [`Trouble`], or that it cannot be read.
pub fn check_form(version: usize, db: &Connection, path: &Path) -> anyhow::Result<()> {
    // Both as of one moment: another process may be making the index.
    let formless = "SELECT user_version = 0 AND EXISTS (SELECT 1 FROM sqlite_master) FROM pragma_user_version";
    if version == 0 && db.query_row(formless, [], |r| r.get(0))? {
        bail!(Trouble::Damaged { path: path.to_owned(), what: "what form it has cannot be told".into() });
    }
    Ok(())
}

/// An index that is read without locks, and how its files looked before.
static WITHOUT_LOCKS: Mutex<Option<(PathBuf, Looks)>> = Mutex::new(None);

type Looks = [Option<(u64, SystemTime)>; 2];

fn looks(path: &Path) -> Looks {
    ["", "-wal"].map(|end| {
        let found = fs::metadata(copy::beside(path, end)).ok()?;
        Some((found.len(), found.modified().ok()?))
    })
}

/// From here on it is read as if nobody wrote it. Somebody may: what is read is then a bit of this and a bit of that.
pub(super) fn read_without_locks(path: &Path) {
    *WITHOUT_LOCKS.lock().unwrap_or_else(PoisonError::into_inner) = Some((path.to_owned(), looks(path)));
}

fn changed_meanwhile(path: &Path) -> bool {
    let known = WITHOUT_LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    known.as_ref().is_some_and(|(read, before)| read == path && looks(path) != *before)
}

fn has_pages(path: &Path) -> bool {
    fs::read_dir(path.with_file_name("daily")).is_ok_and(|mut days| days.next().is_some())
}

/// The same for a file that the system does not let us open.
pub fn closed(path: &Path, error: &std::io::Error) -> Trouble {
    Trouble::Closed { path: path.to_owned(), why: error.to_string() }
}

#[cfg(test)]
mod tests;
