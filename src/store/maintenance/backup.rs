//! The copies of the index that are kept beside it, for the day it is damaged.
//!
//! ## The two copies
//! [`COPY`] is at most a day behind the index. [`CHECKED`] is the last copy that passed the full check ([`super::any_damage`]); only a copy
//! that passed replaces it. So damage that no one has noticed yet gets into the first and not into the second. They are separate files:
//! what hits one on the disk spares the other.
//!
//! ## Invariants
//! A copy is written under a name of its own, synced, then renamed: a copy that exists is complete.

use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use super::{Maintenance, whole_index};
use crate::store::Reader;
use crate::store::error::StoreError;
use crate::store::files_beside::{CHECKED, COPY, UNFINISHED, beside};
use crate::sys::private_files;
use text::clean::size;
use transcripts::session::Millis;

const DAY: Millis = 24 * 3_600_000;
/// Disk space to leave free beside a copy, in bytes.
const SPARE: u64 = 16 << 20;

/// A copy that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backup {
    /// By the clock of the run that made it.
    pub(crate) at: Millis,
    pub(crate) bytes: u64,
}

/// The copy of an index with this suffix, if it exists.
pub fn find(index: &Path, suffix: &str) -> Option<Backup> {
    let found = fs::metadata(beside(index, suffix)).ok().filter(fs::Metadata::is_file)?;
    let at = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(Backup { at: at.as_millis() as Millis, bytes: found.len() })
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
        bail!("it takes {} and {} is free", size(bytes), size(free));
    }
    Ok(())
}
