//! The index: one SQLite database, and the only folder with SQL.
//!
//! Written by one process at a time (the run lock), read by any number. WAL, so readers never wait for the writer. Deleted content
//! is overwritten (`secure_delete`, and FTS5's own), and its pages are given back by incremental vacuum.

pub mod closings;
pub mod digests;
pub mod ingest;
pub mod load;
pub mod money;
pub mod pack;
pub mod pages;
pub mod recent;
mod schema;
pub mod search;
pub mod status;
pub mod transfer;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

/// How long a statement waits for another process's transaction. Ours take milliseconds.
const BUSY: Duration = Duration::from_secs(10);

pub struct Store {
    pub(crate) db: Connection,
}

impl Store {
    /// Opens the database for writing, creating it (0600) and bringing it to the newest form.
    ///
    /// # Errors
    /// When it cannot be opened, or was written by a newer program.
    pub fn open(path: &Path) -> Result<Self> {
        // SQLite would create the file with the umask's permissions; its WAL takes over the database's.
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .with_context(|| format!("cannot open {}", path.display()))?;
        let mut store = Self { db };
        store.db.busy_timeout(BUSY)?;
        steady_plans(&store.db)?;
        // Before anything that writes: a newer program's database stays as it is.
        let version = store.version().with_context(|| format!("cannot read {}", path.display()))?;
        check_version(version, path)?;
        store
            .configure(version == 0)
            .and_then(|()| store.migrate(version))
            .with_context(|| format!("cannot use {}", path.display()))?;
        Ok(store)
    }

    /// Opens the database for reading.
    ///
    /// # Errors
    /// When there is none yet, it cannot be read, or its form is not this program's.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        Self::open_read_only_within(path, BUSY)
    }

    /// Opens the database for reading, with a patience of the caller's.
    ///
    /// # Errors
    /// As `open_read_only`.
    pub fn open_read_only_within(path: &Path, patience: Duration) -> Result<Self> {
        if !path.exists() {
            bail!("there is no index at {} yet: run `recall digest` first", path.display());
        }
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .with_context(|| format!("cannot open {}", path.display()))?;
        db.busy_timeout(patience)?;
        steady_plans(&db)?;
        let store = Self { db };
        let version = store.version().with_context(|| format!("cannot read {}", path.display()))?;
        check_version(version, path)?;
        if version < schema::MIGRATIONS.len() {
            bail!("{} was made by an older recall: run `recall digest` once to bring it up to date", path.display());
        }
        Ok(store)
    }

    /// Reads in one transaction: one look at the locks, and one state of the index whatever a digest does meanwhile.
    ///
    /// # Errors
    /// What `read` returns, or that the index is locked.
    pub fn at_once<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let tx = self.db.unchecked_transaction()?;
        let done = read();
        tx.finish()?;
        done
    }

    fn configure(&self, new: bool) -> Result<()> {
        if new {
            // Without effect after the first table. Setting it again would write to the file.
            self.db.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        }
        let mode: String = self.db.query_row("PRAGMA journal_mode = WAL", [], |r| r.get(0))?;
        if mode != "wal" {
            bail!("the file system does not support write-ahead logging (journal mode {mode})");
        }
        self.db.execute_batch(
            "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA cache_size = -16384;",
        )?;
        self.db.set_prepared_statement_cache_capacity(64);
        Ok(())
    }

    fn version(&self) -> Result<usize> {
        Ok(self.db.query_row("PRAGMA user_version", [], |r| r.get::<_, i64>(0))? as usize)
    }

    fn migrate(&mut self, version: usize) -> Result<()> {
        for (at, step) in schema::MIGRATIONS.iter().enumerate().skip(version) {
            let tx = self.db.transaction()?;
            tx.execute_batch(step).with_context(|| format!("migration {at} failed"))?;
            tx.pragma_update(None, "user_version", at as i64 + 1)?;
            tx.commit()?;
        }
        Ok(())
    }

    /// Gives free pages back and folds the write-ahead log into the database.
    pub fn tidy(&self) -> Result<()> {
        // No `optimize`: statistics of a small index make the planner scan a large one.
        // It frees a page for every row that is fetched.
        let mut vacuum = self.db.prepare("PRAGMA incremental_vacuum")?;
        let mut freed = vacuum.query([])?;
        while freed.next()?.is_some() {}
        self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}

/// Without statistics in the index, values change no plan; SQLite would prepare every statement again to look at them.
fn steady_plans(db: &Connection) -> Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn check_version(version: usize, path: &Path) -> Result<()> {
    let known = schema::MIGRATIONS.len();
    if version > known {
        bail!("{} was written by a newer recall (form {version}, this one knows {known}): upgrade recall", path.display());
    }
    Ok(())
}
