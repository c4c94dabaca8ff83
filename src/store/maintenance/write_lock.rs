//! Replacing the index under the eyes of writers.
//!
//! ## Locking
//! A repair locks the damaged index against writers, where the damage lets it be locked. `remember` and `close` may wait for that lock.
//! When they get it, they check whether the file they have open is still the index ([`FileIdentity`]): otherwise they would promise a note
//! and write it into the file that went into quarantine.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::store::files_beside;
use crate::store::lock_timeout;
use transcripts::sqlite_files::JOURNAL;

/// While it exists, no one else writes the index. It writes nothing either.
pub(crate) struct WriteLock {
    _db: Connection,
}

impl WriteLock {
    /// `None` if the damage does not let the index be locked; then no one can write it.
    pub(crate) fn acquire(index: &Path) -> Option<Self> {
        if files_beside::beside(index, JOURNAL).exists() {
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
