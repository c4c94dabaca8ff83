//! What changes the index, beside the subjects that it changes. Whoever may write may read.

use std::ops::Deref;

use anyhow::Result;
use rusqlite::{Transaction, TransactionBehavior};

use super::Reader;
use super::chunk::{RecordIndex, StoredKeys};
use super::files_beside::FileIdentity;

/// An open index to write.
pub struct Writer {
    pub(super) reader: Reader,
    /// Identity of the file when it was opened.
    pub(super) file: Option<FileIdentity>,
    /// Ingest caches, kept from one transaction to the next: which session holds which record, and what the last sessions hold.
    pub(super) ingest_caches: Option<(RecordIndex, StoredKeys)>,
}

impl Deref for Writer {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl Writer {
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
