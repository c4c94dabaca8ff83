//! The index: one SQLite database, and the only folder with SQL.
//!
//! Written by one run at a time (the run lock), by `remember` and `close` beside it in short transactions, read by any number. WAL, so
//! readers never wait for the writer. Deleted content is overwritten (`secure_delete`), its pages are given back by incremental vacuum;
//! words of documents that are gone are only marked so in the full-text index, until `scrub` has it written anew.

pub mod around;
pub mod basis;
mod bundle;
mod cleaning;
mod client_cost;
pub mod closings;
pub mod copy;
pub mod crew;
pub mod digests;
pub mod forget;
pub mod hold;
pub mod ingest;
pub mod interim;
pub mod left;
pub mod load;
mod memory;
pub mod mend;
pub mod money;
pub mod notes;
mod open;
pub mod pack;
pub mod pages;
pub mod recent;
mod repack;
pub mod repeats;
mod schema;
pub mod search;
mod sound;
pub mod status;
mod thinned;
mod tidy;
mod titles;
pub mod transfer;
pub mod trouble;
mod undone;
pub mod unearth;
pub mod vectors;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use rusqlite::{Connection, InterruptHandle, Transaction, TransactionBehavior};

use self::bundle::{Known, Whereabouts};
use self::hold::Identity;
pub use self::memory::Memory;
pub use self::open::OtherForm;

/// How long a statement waits for another process's transaction. Ours take milliseconds.
const BUSY: Duration = Duration::from_secs(10);

pub struct Store {
    pub(crate) db: Connection,
    /// How many documents hold a word, as `search` has counted them. Only of who reads: what is kept of others grows old.
    counts: Option<search::Counts>,
    path: PathBuf,
    /// Which file it was when it was opened.
    file: Option<Identity>,
    /// Where every row is, and what the last sessions hold: of who stores rows one transaction after the other.
    known: Option<(Whereabouts, Known)>,
    /// How many threads may read beside this one.
    threads: usize,
    /// How another connection to the same is opened, to read beside this one.
    another: fn(&Path) -> Result<Self>,
    /// Which rows have titles: of who reads many sessions at a stretch, while nobody stores any.
    titled: Option<titles::Titled>,
    /// Some of its tables are narrowed to what may be shown: see [`Memory`].
    narrowed: bool,
}

impl Store {
    /// How long a statement waits for another process's transaction.
    ///
    /// # Errors
    /// When SQLite does not want to.
    pub fn wait_for_locks(&self, patience: Duration) -> Result<()> {
        Ok(self.db.busy_timeout(patience)?)
    }

    /// An error of this index in words for the user.
    pub fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        trouble::explained(error, &self.path)
    }

    /// What stops a statement of this connection from another thread.
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.db.get_interrupt_handle()
    }

    /// Reads in one transaction: one look at the locks, and one state of the index whatever a digest does meanwhile.
    ///
    /// # Errors
    /// What `read` returns, or that the index is locked.
    pub fn at_once<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let tx = Transaction::new_unchecked(&self.db, TransactionBehavior::Deferred)?;
        let done = read();
        tx.finish()?;
        done
    }

    /// From here on a power failure may take the last transactions back: for what is made again from the transcripts, where syncing
    /// each would take long. `lasting` is for all else.
    ///
    /// # Errors
    /// When SQLite does not want to.
    pub fn sync_later(&self) -> Result<()> {
        Ok(self.db.pragma_update(None, "synchronous", "NORMAL")?)
    }

    /// What this writes outlives a power failure, and with it all that was written before.
    ///
    /// # Errors
    /// What `write` returns.
    pub fn lasting<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before: i64 = self.db.query_row("PRAGMA synchronous", [], |r| r.get(0))?;
        self.db.pragma_update(None, "synchronous", "FULL")?;
        let done = write(self);
        self.db.pragma_update(None, "synchronous", before)?;
        done
    }

    /// Writes in one transaction.
    ///
    /// # Errors
    /// What `write` returns; nothing is written then.
    pub fn together(&self, write: impl FnOnce() -> Result<()>) -> Result<()> {
        let tx = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        write()?;
        Ok(tx.commit()?)
    }
}
