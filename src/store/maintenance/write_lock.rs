//! Replacing the index under the eyes of writers.
//!
//! ## Locking
//! A repair locks the damaged index against writers, where the damage lets it be locked. `remember` and `close` may wait for that lock.
//! When they get it, they check whether the file they have open is still the index ([`FileIdentity`]): otherwise they would promise a note
//! and write it into the file that went into quarantine.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Result, bail};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::backup;
use crate::store::lock_timeout;

/// While it exists, no one else writes the index. It writes nothing either.
pub(crate) struct WriteLock {
    _db: Connection,
}

impl WriteLock {
    /// `None` if the damage does not let the index be locked; then no one can write it.
    pub(crate) fn acquire(index: &Path) -> Option<Self> {
        if backup::beside(index, "-journal").exists() {
            // Opening the index would play the journal back.
            return None;
        }
        let db = Connection::open_with_flags(index, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX).ok()?;
        // The log must not be folded into a damaged index.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).ok()?;
        db.busy_timeout(lock_timeout()).ok()?;
        // In any other mode it is not an index of ours, and locking it would write beside it.
        let mode: String = db.query_row("PRAGMA journal_mode", [], |r| r.get(0)).ok()?;
        (mode == "wal").then(|| db.execute_batch("BEGIN IMMEDIATE").ok()).flatten()?;
        Some(Self { _db: db })
    }
}

/// Device and inode: which file it is, whatever its name becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileIdentity(u64, u64);

impl FileIdentity {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|found| Self(found.dev(), found.ino()))
    }

    /// For a writer, within its transaction.
    ///
    /// # Errors
    /// When another file has the name by now.
    pub(crate) fn check(was: Option<Self>, path: &Path) -> Result<()> {
        if was != Self::of(path) {
            bail!("the index {} was mended meanwhile: try again", path.display());
        }
        Ok(())
    }
}
