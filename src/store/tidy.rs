//! Leaving nothing behind: what was deleted is gone from the files, and they are no larger than they have to be.

use std::time::Duration;

use anyhow::Result;

use super::{BUSY, Store};

/// How long folding the log into the database waits for readers. Those that take longer are not waited for.
const READERS: Duration = Duration::from_secs(2);

/// The name of the fact that something was taken out of which traces may be left in the file.
pub(super) const SCRUB: &str = "scrub";

impl Store {
    /// Writes the database anew, so that nothing is left of what was deleted, and tidies up. `secure_delete` alone clears what is
    /// deleted, but not the copies that stay in the gaps of pages that were once split. False as `tidy`: then it is still to be done.
    pub fn scrub(&self) -> Result<bool> {
        self.drop_gone_vectors()?;
        // All of the index is written beside it on the way: that is too much for memory. Words of documents that are gone are only marked
        // so until their part of the index is written anew.
        self.db.execute_batch(
            "PRAGMA temp_store = FILE; INSERT INTO search(search) VALUES ('optimize'); VACUUM; PRAGMA temp_store = MEMORY",
        )?;
        let done = self.tidy()?;
        if done && self.wants_scrub()? {
            self.db.execute("DELETE FROM fact WHERE name = ?1", [SCRUB])?;
            self.tidy()?;
        }
        Ok(done)
    }

    /// Was something taken out since the database was last written anew?
    pub fn wants_scrub(&self) -> Result<bool> {
        Ok(self.db.query_row("SELECT EXISTS (SELECT 1 FROM fact WHERE name = ?1)", [SCRUB], |r| r.get(0))?)
    }

    /// Gives free pages back and folds the write-ahead log into the database. False when a reader holds on to an older state: then
    /// what was deleted is still in the files, until the next time.
    pub fn tidy(&self) -> Result<bool> {
        // No `optimize`: statistics of a small index make the planner scan a large one.
        // It frees a page for every row that is fetched.
        let mut vacuum = self.db.prepare("PRAGMA incremental_vacuum")?;
        let mut freed = vacuum.query([])?;
        while freed.next()?.is_some() {}
        self.db.busy_timeout(READERS)?;
        let busy: i64 = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |r| r.get(0))?;
        self.db.busy_timeout(BUSY)?;
        Ok(busy == 0)
    }
}
