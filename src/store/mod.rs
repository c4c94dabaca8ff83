//! The index: one SQLite database. No SQL is written outside this folder.
//!
//! ## Locking
//! One run at a time writes (it holds the run lock); `remember` and `close` write beside it in short transactions; any number of
//! processes read. WAL mode, so readers never wait for the writer.
//!
//! ## Deletion
//! Deleted content is overwritten (`secure_delete`) and its pages are released by incremental vacuum. The full-text index only marks the
//! words of deleted documents as deleted until `scrub` rewrites it.

mod accounts;
pub(crate) mod chunk;
mod client_cost;
pub(crate) mod codec;
pub(crate) mod digest_inputs;
pub(crate) mod digests;
pub(crate) mod document;
pub(crate) mod error;
mod folders;
pub(crate) mod forget;
pub(crate) mod ingest;
pub(crate) mod last_run;
pub(crate) mod leftovers;
pub(crate) mod legacy_titles;
pub(crate) mod lives;
pub(crate) mod load;
pub(crate) mod maintenance;
mod memory;
pub(crate) mod near_duplicates;
pub(crate) mod neighbours;
pub(crate) mod notes;
pub(crate) mod ongoing;
mod open;
pub(crate) mod open_items;
pub(crate) mod pages;
pub(crate) mod recent;
pub(crate) mod resanitize;
pub(crate) mod sample;
mod schema;
pub(crate) mod search;
pub(crate) mod spend;
pub(crate) mod status;
pub(crate) mod transfer;
mod undone;
pub(crate) mod vacuum;
pub(crate) mod vectors;
pub(crate) mod worker_pool;
mod wrong;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use rusqlite::{Connection, InterruptHandle, Transaction, TransactionBehavior};

use self::maintenance::FileIdentity;
pub use self::memory::Memory;
pub use self::open::OtherFormat;
use crate::store::chunk::{RecordIndex, StoredKeys};
use crate::sys::failpoints;

/// How long a statement waits for another process's transaction. Our own transactions take milliseconds.
fn lock_timeout() -> Duration {
    failpoints::patience(Duration::from_secs(10))
}

pub struct Store {
    pub(crate) db: Connection,
    /// Cached document counts per search expression. Only on read-only connections: on others the counts would go stale.
    counts: Option<search::CountCache>,
    path: PathBuf,
    /// Identity of the file when it was opened.
    file: Option<FileIdentity>,
    /// Ingest caches, kept from one transaction to the next: which session holds which record, and what the last sessions hold.
    known: Option<(RecordIndex, StoredKeys)>,
    /// How many threads may read beside this connection.
    threads: usize,
    /// Opens another connection to the same index, for parallel reads.
    another: fn(&Path) -> Result<Self>,
    /// Title lookup cache, for bulk reads. Only valid while no writer is active.
    titled: Option<crate::store::legacy_titles::TitleCache>,
    /// Some tables are restricted to what may be shown: see [`Memory`].
    narrowed: bool,
}

impl Store {
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

    /// Runs `read` in one transaction: locks are taken once, and it sees one state of the index whatever is written meanwhile.
    pub(crate) fn in_snapshot<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let tx = Transaction::new_unchecked(&self.db, TransactionBehavior::Deferred)?;
        let done = read();
        tx.finish()?;
        done
    }

    /// From here on a power failure may lose the last transactions. For data that can be read again from the transcripts, where a sync
    /// after each transaction would take too long; everything else goes through `lasting`.
    pub(crate) fn relax_durability(&self) -> Result<()> {
        Ok(self.db.pragma_update(None, "synchronous", "NORMAL")?)
    }

    /// Runs `write` with full syncing: what it writes, and everything written before it, survives a power failure.
    pub(crate) fn lasting<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before: i64 = self.db.query_row("PRAGMA synchronous", [], |r| r.get(0))?;
        self.db.pragma_update(None, "synchronous", "FULL")?;
        let done = write(self);
        self.db.pragma_update(None, "synchronous", before)?;
        done
    }

    /// Runs `write` in one transaction. Nothing is written when it fails.
    pub(crate) fn in_transaction(&self, write: impl FnOnce() -> Result<()>) -> Result<()> {
        let tx = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        write()?;
        Ok(tx.commit()?)
    }
}
