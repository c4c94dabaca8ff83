//! Two that meet at an index which is about to be replaced: who mends it, and who remembers or closes something meanwhile.
//!
//! The one who mends holds the damaged index against writers, where it can be held at all. Who waited for it then looks whether what is
//! open is still the index: else a note would be promised and written into the file that was set aside.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Result, bail};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{BUSY, copy};

/// Nobody else writes the index while this is there, and it writes nothing either.
pub struct Hold {
    _db: Connection,
}

impl Hold {
    /// None where the damage does not let it be held; then nobody can write it.
    pub fn take(index: &Path) -> Option<Self> {
        if copy::beside(index, "-journal").exists() {
            // To open it would play that back.
            return None;
        }
        let db = Connection::open_with_flags(index, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX).ok()?;
        // The log is not folded into what is damaged.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).ok()?;
        db.busy_timeout(BUSY).ok()?;
        // In every other mode it is no index of ours, and holding it would write beside it.
        let mode: String = db.query_row("PRAGMA journal_mode", [], |r| r.get(0)).ok()?;
        (mode == "wal").then(|| db.execute_batch("BEGIN IMMEDIATE").ok()).flatten()?;
        Some(Self { _db: db })
    }
}

/// Which file it is, whatever its name is later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity(u64, u64);

impl Identity {
    pub fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|found| Self(found.dev(), found.ino()))
    }

    /// For a writer, within its transaction.
    ///
    /// # Errors
    /// When another file has the name by now.
    pub fn check(was: Option<Self>, path: &Path) -> Result<()> {
        if was != Self::of(path) {
            bail!("the index {} was mended meanwhile: try again", path.display());
        }
        Ok(())
    }
}
