//! The copy of the index that is kept beside it: one, at most a day behind, for the day the index is damaged.
//!
//! Made under a name of its own, synced, looked through, then renamed: a copy that is there is whole. It goes before anything is taken out
//! of the index, in the same step: what was forgotten is in no copy, whenever the run is cut short. A damaged index that was set aside may
//! hold it as well, and goes with it.

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

use super::Store;
use super::trouble::Trouble;
use crate::model::session::Millis;
use crate::sys::private_files;

/// What is put behind the name of the index for its copy.
pub const COPY: &str = ".copy";
/// For a copy that is being made.
const UNFINISHED: &str = ".copy-unfinished";
/// For a damaged index that was set aside; a date follows.
pub const DAMAGED: &str = ".damaged-";
/// For an index that is being mended, and for one that is and waits to be renamed into place.
pub const MENDING: &str = ".mending";
pub const MENDED: &str = ".mended";
/// What SQLite puts behind a name.
pub const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

const DAY: Millis = 24 * 3_600_000;
/// What is to stay free beside a copy, in bytes.
const SPARE: u64 = 16 << 20;
/// The SQL function by which statements that take something out have the copy removed.
const DROP: &str = "drop_copies";

/// A copy that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copy {
    pub at: Millis,
    pub bytes: u64,
}

/// A file beside the index, named as it is with something behind; where the index is a link, beside what that leads to.
pub fn beside(index: &Path, suffix: &str) -> PathBuf {
    let mut name = index.canonicalize().unwrap_or_else(|_| index.to_owned()).into_os_string();
    name.push(suffix);
    name.into()
}

/// The copy of an index, if there is one.
pub fn find(index: &Path) -> Option<Copy> {
    let found = fs::metadata(beside(index, COPY)).ok().filter(fs::Metadata::is_file)?;
    let at = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(Copy { at: at.as_millis() as Millis, bytes: found.len() })
}

/// Damaged indexes that were set aside, the oldest first, without their logs.
pub fn set_aside(index: &Path) -> Vec<PathBuf> {
    let mut all = siblings(index, &[DAMAGED]).unwrap_or_default();
    all.retain(|file| !LOGS.iter().any(|log| ends_with(file, log)));
    all.sort();
    all
}

/// Logs that were set aside while their index stayed.
pub fn logs_set_aside(index: &Path) -> Vec<PathBuf> {
    let mut all = siblings(index, &[DAMAGED]).unwrap_or_default();
    let base = |file: &Path| {
        let bytes = file.as_os_str().as_bytes();
        let log = LOGS.iter().find(|log| bytes.ends_with(log.as_bytes()))?;
        Some(PathBuf::from(OsStr::from_bytes(&bytes[..bytes.len() - log.len()])))
    };
    all.retain(|file| base(file).is_some_and(|index| !index.exists()));
    all.sort();
    all
}

/// Removes a file for good, and says which where it cannot.
fn remove(file: &Path) -> io::Result<()> {
    private_files::remove(file).map_err(|e| io::Error::new(e.kind(), format!("cannot remove {}: {e}", file.display())))
}

/// Removes whatever beside the index may hold what it is not to hold any more.
///
/// # Errors
/// When they cannot be found, or one of the files cannot be removed.
pub fn drop_all(index: &Path) -> io::Result<()> {
    // The beginning of the unfinished one's, too.
    siblings(index, &[COPY, MENDED, MENDING, DAMAGED])?.iter().try_for_each(|file| remove(file))
}

/// Removes damaged indexes that were set aside, with their logs. Returns what is gone.
///
/// # Errors
/// As `drop_all`.
pub fn drop_set_aside(index: &Path) -> io::Result<Vec<PathBuf>> {
    let all = siblings(index, &[DAMAGED])?;
    all.iter().try_for_each(|file| remove(file))?;
    Ok(all)
}

/// The files beside the index whose names begin with its own and one of these.
fn siblings(index: &Path, starts: &[&str]) -> io::Result<Vec<PathBuf>> {
    let whole: Vec<PathBuf> = starts.iter().map(|start| beside(index, start)).collect();
    let fits = |path: &PathBuf| whole.iter().any(|start| path.as_os_str().as_bytes().starts_with(start.as_os_str().as_bytes()));
    let Some(folder) = whole.first().and_then(|file| file.parent()) else { return Ok(Vec::new()) };
    let named = |e: io::Error| io::Error::new(e.kind(), format!("cannot look into {}: {e}", folder.display()));
    let entries = fs::read_dir(folder).map_err(named)?.collect::<io::Result<Vec<_>>>().map_err(named)?;
    Ok(entries.into_iter().map(|entry| entry.path()).filter(fits).collect())
}

/// Is everything in the database itself, with nothing beside it that a writer is about to fold in?
pub(super) fn is_at_rest(index: &Path) -> bool {
    fs::metadata(beside(index, "-wal")).map_or_else(|e| e.kind() == ErrorKind::NotFound, |m| m.len() == 0)
}

fn ends_with(file: &Path, end: &str) -> bool {
    file.as_os_str().as_bytes().ends_with(end.as_bytes())
}

/// Lets statements of this connection say that something is taken out: [`taken_out`].
pub(super) fn drop_with_what_is_taken_out(db: &Connection, index: &Path) -> Result<()> {
    let index = index.to_owned();
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    db.create_scalar_function(DROP, 0, flags, move |_| {
        drop_all(&index).map_err(|e| rusqlite::Error::UserFunctionError(e.into()))?;
        Ok(0)
    })?;
    Ok(())
}

/// Something is about to be taken out: what else holds it goes first.
pub(super) fn taken_out(db: &Connection) -> Result<()> {
    let gone = db.prepare_cached("SELECT drop_copies()")?.query_row([], |r| r.get::<_, i64>(0));
    gone.context("what is to be taken out may stand in the copy of the index")?;
    Ok(())
}

impl Store {
    /// Makes a copy when the last one is a day old and something was stored since. Returns whether it did.
    ///
    /// # Errors
    /// As `make_copy`.
    pub fn copy_when_due(&self, now: Millis) -> Result<bool> {
        let last = find(&self.path);
        // One from the future is from a clock that was wrong.
        if last.is_some_and(|copy| (now - copy.at).abs() < DAY) {
            return Ok(false);
        }
        let Some(stored) = self.last_stored()? else { return Ok(false) };
        if last.is_some_and(|copy| copy.at >= stored && copy.at <= now) {
            return Ok(false);
        }
        self.make_copy(now)
    }

    /// When something was stored last. A run that was cut short is not on record as one.
    fn last_stored(&self) -> Result<Option<Millis>> {
        // The last digest, not the latest: to find that, all of them would be read.
        let sql = "SELECT max(at) FROM (SELECT max(at) AS at FROM run
             UNION ALL SELECT made_at FROM digest WHERE pk = (SELECT max(pk) FROM digest)
             UNION ALL SELECT max(at) FROM note UNION ALL SELECT max(at) FROM user_closed)";
        Ok(self.db.query_row(sql, [], |r| r.get(0))?)
    }

    /// Makes a copy, unless something that was taken out may still be in the file. Returns whether it did.
    ///
    /// # Errors
    /// When there is no room for it, or it cannot be written or is not whole. The one before is then still there.
    fn make_copy(&self, now: Millis) -> Result<bool> {
        if self.wants_scrub()? {
            return Ok(false);
        }
        let (copy, unfinished) = (beside(&self.path, COPY), beside(&self.path, UNFINISHED));
        let made = self.write_copy(&unfinished, now).and_then(|()| Ok(fs::rename(&unfinished, &copy)?));
        let made =
            made.inspect_err(|_| _ = private_files::remove(&unfinished)).and_then(|()| Ok(private_files::sync_folder_of(&copy)?));
        made.with_context(|| format!("cannot keep a copy of the index in {}", copy.display()))?;
        Ok(true)
    }

    fn write_copy(&self, to: &Path, now: Millis) -> Result<()> {
        let bytes: u64 = self.db.query_row(
            "SELECT (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)",
            [],
            |r| r.get::<_, i64>(0).map(|bytes| bytes as u64),
        )?;
        private_files::remove(to)?;
        check_room(to, bytes)?;
        // Before SQLite does, with the umask's permissions.
        let file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(to)?;
        self.db.execute("VACUUM INTO CAST(?1 AS TEXT)", [to.as_os_str().as_bytes()])?;
        // By all that a mending asks for: a copy that it would not take must not replace one that it would.
        let mut copy = Self::open_aside(to)?;
        copy.use_threads(self.threads);
        if let Some(what) = copy.any_damage()? {
            bail!(Trouble::Damaged { path: self.path.clone(), what });
        }
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(now.max(0) as u64))?;
        Ok(file.sync_all()?)
    }
}

/// A disk that is filled to the last byte would stop the next digest.
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
        let told = drop_all(&file.path().join("recall.db")).expect_err("a file is no folder").to_string();
        assert!(told.starts_with("cannot look into ") && told.contains(&*file.path().to_string_lossy()), "{told}");
    }
}
