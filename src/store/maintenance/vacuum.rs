//! Erases what was deleted from the files, and keeps the files as small as possible.

use std::time::Duration;

use anyhow::Result;
use rusqlite::Connection;

use super::Maintenance;
use crate::store::erasure::ERASE_DUE;
use crate::store::{Reader, lock_timeout};

/// How long a checkpoint waits for readers. Readers that take longer are not waited for.
const READER_TIMEOUT: Duration = Duration::from_secs(2);

impl Reader {
    /// Was something removed since the database was last rewritten?
    pub(crate) fn needs_secure_erase(&self) -> Result<bool> {
        Ok(self.db.query_row("SELECT EXISTS (SELECT 1 FROM fact WHERE name = ?1)", [ERASE_DUE], |r| r.get(0))?)
    }
}

impl Maintenance {
    /// Rewrites the database so that nothing of what was deleted is left, then vacuums. `secure_delete` alone overwrites deleted content,
    /// but not the copies left in the gaps of pages that were once split. Returns false as `vacuum` does; the erasure is then still due.
    pub(crate) fn secure_erase(&self) -> Result<bool> {
        self.drop_gone_vectors()?;
        // VACUUM writes the whole database to a temporary file: too much for memory. `optimize` is needed because FTS5 only marks the
        // words of deleted documents until it rewrites the segment they are in.
        self.db.execute_batch(
            "PRAGMA temp_store = FILE; INSERT INTO search(search) VALUES ('optimize'); VACUUM; PRAGMA temp_store = MEMORY",
        )?;
        let done = self.vacuum()?;
        if done && self.needs_secure_erase()? {
            self.db.execute("DELETE FROM fact WHERE name = ?1", [ERASE_DUE])?;
            self.vacuum()?;
        }
        Ok(done)
    }

    /// Releases free pages and folds the write-ahead log into the database. False when a reader still holds an older state: deleted
    /// content then stays in the files until the next time.
    pub(crate) fn vacuum(&self) -> Result<bool> {
        vacuum(&self.db)
    }
}

/// As [`Maintenance::vacuum`].
pub(in crate::store) fn vacuum(db: &Connection) -> Result<bool> {
    // No `PRAGMA optimize`: statistics of a small index make the planner scan a large one.
    // `incremental_vacuum` frees a page for each row that is fetched.
    let mut pages = db.prepare("PRAGMA incremental_vacuum")?;
    let mut freed = pages.query([])?;
    while freed.next()?.is_some() {}
    db.busy_timeout(READER_TIMEOUT)?;
    let busy: i64 = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |r| r.get(0))?;
    db.busy_timeout(lock_timeout())?;
    Ok(busy == 0)
}
