//! Databases of other programs: SQLite files that are read, beside which nothing is written.

use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::discover::stamp;
use crate::sqlite_files::{LOGS, sqlite_uri, with_suffix};

/// How long to wait while the program writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// What lies beside a database, which says how it can be read without a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// No log: a file that nobody changes, for as long as there is none.
    Nothing,
    /// What its readers share.
    Shared,
    /// A log without what its readers share, which SQLite would write.
    LogAlone,
}

impl Beside {
    pub fn of(path: &Path) -> Self {
        let is_filled = |file: &Path| file.metadata().is_ok_and(|meta| meta.len() > 0);
        let [log, shared, journal] = LOGS.map(|log| with_suffix(path, log));
        match (is_filled(&log), is_filled(&journal)) {
            (false, false) => Self::Nothing,
            (true, _) if !shared.exists() => Self::LogAlone,
            _ => Self::Shared,
        }
    }
}

/// Connects to a database beside which lies what was found there.
pub fn connect(path: &Path, beside: Beside) -> rusqlite::Result<Connection> {
    let how = if beside == Beside::Nothing { "?immutable=1" } else { "" };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(sqlite_uri(path, how), flags)?;
    db.busy_timeout(PATIENCE)?;
    // The schema is read, too: a file that is cut short is found here.
    db.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    Ok(db)
}

/// A database whose program may begin to write at any time.
pub struct LiveDatabase {
    pub(super) db: Connection,
    path: std::path::PathBuf,
    /// The file's stamp, where it was opened as one that nobody changes.
    unchanged: Option<i64>,
}

impl LiveDatabase {
    /// # Errors
    /// When it cannot be opened, is no database, or was left with a log by a program that is gone.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // The log lies beside the file itself, and not beside a link to it.
        let path = path.canonicalize()?;
        let stamp_of = |path: &Path| Ok::<_, io::Error>(stamp(&path.metadata()?));
        let before = stamp_of(&path)?;
        let beside = Beside::of(&path);
        if beside == Beside::LogAlone {
            return Err(io::Error::other("its program was cut off while it wrote: start it once, so that it takes up its log"));
        }
        let db = connect(&path, beside).map_err(io::Error::other)?;
        Ok(Self { db, path, unchanged: (beside == Beside::Nothing).then_some(before) })
    }

    /// Asked behind every row: was the file the same all the time, or read so that it may change?
    ///
    /// # Errors
    /// When what was read may be of two states.
    pub(super) fn check(&self) -> io::Result<()> {
        let Some(before) = self.unchanged else { return Ok(()) };
        let is_same = Beside::of(&self.path) == Beside::Nothing && stamp(&self.path.metadata()?) == before;
        if is_same { Ok(()) } else { Err(io::Error::other("it changed while it was read: the next digest reads it again")) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_database_is_read_without_a_trace_and_a_change_meanwhile_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)").unwrap();
        let names = || {
            let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let count = |live: &LiveDatabase| live.db.query_row("SELECT count(*) FROM t", [], |r| r.get::<_, i64>(0)).unwrap();
        let open = names();
        let live = LiveDatabase::open(&path).unwrap();
        assert_eq!((count(&live), live.check().is_ok(), names()), (1, true, open));
        drop((live, writer));
        // Its program has closed it.
        assert_eq!(names(), ["a.db"]);
        let live = LiveDatabase::open(&path).unwrap();
        assert_eq!((count(&live), live.check().is_ok()), (1, true));
        let writer = Connection::open(&path).unwrap();
        writer.execute_batch("INSERT INTO t VALUES (2)").unwrap();
        assert!(live.check().is_err(), "a log is there");
        drop(writer);
        assert!(live.check().is_err(), "the log is gone, and the file is another");
        assert_eq!((count(&LiveDatabase::open(&path).unwrap()), names()), (2, vec!["a.db".into()]));
        // Of a program that was killed.
        fs::write(folder.path().join("a.db-wal"), "x").unwrap();
        assert!(LiveDatabase::open(&path).is_err());
    }
}
