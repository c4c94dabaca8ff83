//! What of the index only reads. Its functions stand beside the subjects that they read; none of them writes, whatever connection it has.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use rusqlite::{Connection, InterruptHandle, Transaction, TransactionBehavior};

use super::error;
use super::legacy_titles::TitleCache;
use super::search::CountCache;

/// An open index to read.
pub struct Reader {
    pub(super) db: Connection,
    /// Cached document counts per search expression. Only on read-only connections: on others the counts would go stale.
    pub(super) counts: Option<CountCache>,
    pub(super) path: PathBuf,
    /// How many threads may read beside this connection.
    pub(super) threads: usize,
    /// Opens another connection to the same index, for parallel reads.
    pub(super) reopen: fn(&Path) -> Result<Self>,
    /// Title lookup cache, for bulk reads. Only valid while no writer is active.
    pub(super) titles: RefCell<Option<TitleCache>>,
    /// Some tables are restricted to what may be shown: see [`super::Memory`].
    pub(super) narrowed: bool,
}

impl Reader {
    /// Sets how long a statement waits for another process's transaction.
    pub(crate) fn set_lock_timeout(&self, patience: Duration) -> Result<()> {
        Ok(self.db.busy_timeout(patience)?)
    }

    /// Turns an error of this index into a message for the user.
    pub(crate) fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        error::explained(error, &self.path)
    }

    /// A handle with which another thread can interrupt a statement of this connection.
    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        self.db.get_interrupt_handle()
    }

    /// A number that changes when anybody but this connection stores something.
    pub(crate) fn others_version(&self) -> Result<i64> {
        Ok(self.db.prepare_cached("PRAGMA data_version")?.query_row([], |r| r.get(0))?)
    }

    /// Runs `read` in one transaction: locks are taken once, and it sees one state of the index whatever is written meanwhile. Inside another
    /// transaction it is a part of that one.
    pub(crate) fn in_snapshot<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        if !self.db.is_autocommit() {
            return read();
        }
        let tx = Transaction::new_unchecked(&self.db, TransactionBehavior::Deferred)?;
        let done = read();
        tx.finish()?;
        done
    }
}
