//! The copies of the index that are kept beside it, for the day it is damaged, and the names of all files beside it.
//!
//! ## The two copies
//! [`COPY`] is at most a day behind the index. [`CHECKED`] is the last copy that passed the full check ([`super::any_damage`]); only a copy
//! that passed replaces it. So damage that no one has noticed yet gets into the first and not into the second. They are separate files:
//! what hits one on the disk spares the other.
//!
//! ## Invariants
//! A copy is written under a name of its own, synced, then renamed: a copy that exists is complete.
//!
//! Copies are deleted before anything is deleted from the index, in the same step: what was forgotten is in no copy, even if the run is
//! interrupted. Damaged indexes in quarantine may hold it as well, and are deleted with them.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use super::{Maintenance, whole_index};
use crate::model::session::Millis;
use crate::store::Reader;
use crate::store::error::StoreError;
use crate::sys::private_files;

/// Appended to the name of the index: the daily copy.
pub(crate) const COPY: &str = ".copy";
/// The last copy that passed the full check.
pub(crate) const CHECKED: &str = ".copy-checked";
/// Both, the later first.
pub(crate) const COPIES: [&str; 2] = [COPY, CHECKED];
/// A copy that is being written.
const UNFINISHED: &str = ".copy-unfinished";
/// A damaged index in quarantine; a date follows.
pub(crate) const QUARANTINE: &str = ".damaged-";
/// An index that is being restored, and one that waits to be renamed into place.
pub(crate) const RESTORING: &str = ".mending";
pub(crate) const RESTORED: &str = ".mended";
/// What SQLite appends to a name.
pub(crate) const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

const DAY: Millis = 24 * 3_600_000;
/// Disk space to leave free beside a copy, in bytes.
const SPARE: u64 = 16 << 20;
/// The SQL function by which statements that delete something have the copies deleted.
const DROP: &str = "drop_copies";

/// A copy that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backup {
    /// By the clock of the run that made it.
    pub(crate) at: Millis,
    pub(crate) bytes: u64,
}

/// A file beside the index: its name with a suffix. Where the index is a link, beside its target.
pub(crate) fn beside(index: &Path, suffix: &str) -> PathBuf {
    let mut name = index.canonicalize().unwrap_or_else(|_| index.to_owned()).into_os_string();
    name.push(suffix);
    name.into()
}

/// The copy of an index with this suffix, if it exists.
pub fn find(index: &Path, suffix: &str) -> Option<Backup> {
    let found = fs::metadata(beside(index, suffix)).ok().filter(fs::Metadata::is_file)?;
    let at = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(Backup { at: at.as_millis() as Millis, bytes: found.len() })
}

/// Damaged indexes in quarantine, oldest first, without their logs.
pub(crate) fn quarantined(index: &Path) -> Vec<PathBuf> {
    let mut all = siblings(index, &[QUARANTINE]).unwrap_or_default();
    all.retain(|file| !LOGS.iter().any(|log| ends_with(file, log)));
    all.sort();
    all
}

/// Logs in quarantine whose index stayed.
pub(crate) fn quarantined_logs(index: &Path) -> Vec<PathBuf> {
    let mut all = siblings(index, &[QUARANTINE]).unwrap_or_default();
    let base = |file: &Path| {
        let bytes = file.as_os_str().as_bytes();
        let log = LOGS.iter().find(|log| bytes.ends_with(log.as_bytes()))?;
        Some(PathBuf::from(OsStr::from_bytes(&bytes[..bytes.len() - log.len()])))
    };
    all.retain(|file| base(file).is_some_and(|index| !index.exists()));
    all.sort();
    all
}

/// Deletes a file; the error names it.
fn remove(file: &Path) -> io::Result<()> {
    private_files::remove(file).map_err(|e| io::Error::new(e.kind(), format!("cannot remove {}: {e}", file.display())))
}

/// Deletes every file beside the index that may hold what is deleted from it.
pub(crate) fn delete_all(index: &Path) -> io::Result<()> {
    // `COPY` is the beginning of the other copies' names.
    siblings(index, &[COPY, RESTORED, RESTORING, QUARANTINE])?.iter().try_for_each(|file| remove(file))
}

/// Deletes damaged indexes in quarantine, with their logs. Returns what was deleted.
pub(crate) fn delete_quarantined(index: &Path) -> io::Result<Vec<PathBuf>> {
    let all = siblings(index, &[QUARANTINE])?;
    all.iter().try_for_each(|file| remove(file))?;
    Ok(all)
}

/// The files beside the index whose names begin with its own and one of these suffixes.
fn siblings(index: &Path, starts: &[&str]) -> io::Result<Vec<PathBuf>> {
    let whole: Vec<PathBuf> = starts.iter().map(|start| beside(index, start)).collect();
    let fits = |path: &PathBuf| whole.iter().any(|start| path.as_os_str().as_bytes().starts_with(start.as_os_str().as_bytes()));
    let Some(folder) = whole.first().and_then(|file| file.parent()) else { return Ok(Vec::new()) };
    let named = |e: io::Error| io::Error::new(e.kind(), format!("cannot look into {}: {e}", folder.display()));
    let entries = fs::read_dir(folder).map_err(named)?.collect::<io::Result<Vec<_>>>().map_err(named)?;
    Ok(entries.into_iter().map(|entry| entry.path()).filter(fits).collect())
}

/// Is everything in the database file itself, and nothing in a log beside it?
pub(in crate::store) fn is_at_rest(index: &Path) -> bool {
    fs::metadata(beside(index, "-wal")).map_or_else(|e| e.kind() == ErrorKind::NotFound, |m| m.len() == 0)
}

fn ends_with(file: &Path, end: &str) -> bool {
    file.as_os_str().as_bytes().ends_with(end.as_bytes())
}

/// Defines the SQL function that [`before_deletion`] calls.
pub(in crate::store) fn define_deletion_hook(db: &Connection, index: &Path) -> Result<()> {
    let index = index.to_owned();
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    db.create_scalar_function(DROP, 0, flags, move |_| {
        delete_all(&index).map_err(|e| rusqlite::Error::UserFunctionError(e.into()))?;
        Ok(0)
    })?;
    Ok(())
}

/// To be called before something is deleted from the index: deletes the files that also hold it.
pub(in crate::store) fn before_deletion(db: &Connection) -> Result<()> {
    let gone = db.prepare_cached("SELECT drop_copies()")?.query_row([], |r| r.get::<_, i64>(0));
    gone.context("what is to be taken out may stand in the copy of the index")?;
    Ok(())
}

impl Maintenance {
    /// Makes the copies if the last one is a day old and something was stored since. Returns whether it did.
    ///
    /// # Errors
    /// As `make_copies`.
    pub(crate) fn copy_when_due(&self, now: Millis) -> Result<bool> {
        // A copy that did not pass the check, or has no second one, does not count.
        let checked = find(&self.path, CHECKED);
        let last = find(&self.path, COPY).filter(|copy| checked.is_some_and(|checked| checked.at == copy.at));
        // A copy from the future was made under a wrong clock.
        if last.is_some_and(|copy| (now - copy.at).abs() < DAY) {
            return Ok(false);
        }
        let Some(stored) = self.last_stored()? else { return Ok(false) };
        if last.is_some_and(|copy| copy.at >= stored && copy.at <= now) {
            return Ok(false);
        }
        self.make_copies(now)
    }

    /// When something was last stored. An interrupted run is not recorded as a run.
    fn last_stored(&self) -> Result<Option<Millis>> {
        // The last digest by number, not by time: to find that, all of them would be read.
        let sql = "SELECT max(at) FROM (SELECT max(at) AS at FROM run
             UNION ALL SELECT made_at FROM digest WHERE pk = (SELECT max(pk) FROM digest)
             UNION ALL SELECT max(at) FROM note UNION ALL SELECT max(at) FROM user_closed UNION ALL SELECT max(at) FROM wrong)";
        Ok(self.db.query_row(sql, [], |r| r.get(0))?)
    }

    /// Makes both copies, unless the file may still hold something that was deleted. Returns whether it did.
    ///
    /// # Errors
    /// When the disk has no room for them or they cannot be written; the previous ones then remain. When the copy does not pass the check:
    /// then it is kept, and the last one that did remains.
    fn make_copies(&self, now: Millis) -> Result<bool> {
        if self.needs_secure_erase()? {
            return Ok(false);
        }
        let copy = beside(&self.path, COPY);
        let cannot = || format!("cannot keep a copy of the index in {}", copy.display());
        let damage = self.put_copy(COPY, now, |to| self.write_copy(to)).with_context(cannot)?;
        if let Some(what) = damage {
            bail!(StoreError::Damaged { path: self.path.clone(), what });
        }
        let again = |to: &Path| Ok(fs::copy(&copy, to).map(drop)?);
        self.put_copy(CHECKED, now, again)
            .with_context(|| format!("{}, after it", beside(&self.path, CHECKED).display()))
            .with_context(cannot)?;
        Ok(true)
    }

    /// Writes a file under another name, then gives it the suffix. Returns what `write` does.
    fn put_copy<T>(&self, suffix: &str, now: Millis, write: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let (copy, unfinished) = (beside(&self.path, suffix), beside(&self.path, UNFINISHED));
        let put = || {
            private_files::remove(&unfinished)?;
            check_room(&unfinished, self.bytes()?)?;
            // Created here, because SQLite would use the umask's permissions.
            let file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&unfinished)?;
            let written = write(&unfinished)?;
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(now.max(0) as u64))?;
            file.sync_all()?;
            fs::rename(&unfinished, &copy)?;
            private_files::sync_folder_of(&copy)?;
            Ok(written)
        };
        put().inspect_err(|_| _ = private_files::remove(&unfinished))
    }

    /// Writes a copy and returns what is damaged in it. A restore asks the same of a copy.
    fn write_copy(&self, to: &Path) -> Result<Option<String>> {
        self.db.execute("VACUUM INTO CAST(?1 AS TEXT)", [to.as_os_str().as_bytes()])?;
        super::any_damage(&Reader { threads: self.threads, ..whole_index::as_found(to)? })
    }

    fn bytes(&self) -> Result<u64> {
        let sql = "SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)";
        Ok(self.db.query_row(sql, [], |r| r.get::<_, i64>(0).map(|bytes| bytes as u64))?)
    }
}

/// A full disk would stop the next digest.
fn check_room(file: &Path, bytes: u64) -> Result<()> {
    let Ok(stat) = rustix::fs::statvfs(file.parent().unwrap_or(file)) else { return Ok(()) };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    if free < bytes.saturating_add(SPARE) {
        bail!("it takes {} MB and {} MB are free", bytes.div_ceil(1_000_000), free / 1_000_000);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_looked_into_is_not_taken_for_an_empty_one() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let told = delete_all(&file.path().join("recall.db")).expect_err("a file is no folder").to_string();
        assert!(told.starts_with("cannot look into ") && told.contains(&*file.path().to_string_lossy()), "{told}");
    }
}
