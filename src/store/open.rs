//! Opening the index: for writing, which creates and upgrades it; or for reading, which changes nothing if it has the current format.
//!
//! ## Checks before anything is written
//! The file is an index with a sound header, of a format that can be upgraded. If a log was left beside it, the full check passes with the
//! log. If it is to be upgraded, its structure is sound.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use rustix::fs::{Access, access};

use super::connect::{read_only, steady_plans};
use super::error::StoreError;
use super::files_beside::FileIdentity;
use super::maintenance::{self, orphaned_log};
use super::pages::{self, UnreadPages};
use super::{Reader, Writer, error, lock_timeout, schema};
use crate::store::erasure;
use crate::store::files_beside;
use crate::sys::{failpoints, private_files};
use transcripts::sqlite_files::{SHM, WAL};

/// The index was written by another version of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OtherFormat {
    #[error(
        "the index was made by a recall too old to be upgraded: 1. run `recall export > all.jsonl` with the version that wrote the index; \
         2. move the index to another folder; 3. run `recall import all.jsonl` with this version"
    )]
    TooOld,
    #[error("the index was made by an older recall: the next command that you run, such as `recall digest`, upgrades it")]
    Older,
    #[error("the index was written by a newer recall: upgrade recall")]
    Newer,
}

/// Does the index exist?
///
/// # Errors
/// When something else has its name, its header is damaged, or an index that was there is gone.
pub fn is_there(path: &Path) -> Result<bool> {
    error::check_kind(path)?;
    error::check_emptied(path)?;
    error::check_header(path)?;
    orphaned_log::check_journal(path)?;
    Ok(path.exists())
}

impl Reader {
    /// Opens the database for reading; upgrades it first if an older program wrote it.
    pub(super) fn open_read_only(path: &Path) -> Result<Self> {
        match Self::open_as_it_is(path, lock_timeout()) {
            Err(e) if e.downcast_ref() == Some(&OtherFormat::Older) => {
                drop(Writer::open(path)?);
                Self::open_as_it_is(path, lock_timeout())
            }
            other => other,
        }
    }

    /// Opens the database for reading and changes nothing. `patience`: how long to wait for locks.
    ///
    /// # Errors
    /// When there is none yet, it cannot be read, or its format is not the current one: an [`OtherFormat`].
    pub(super) fn open_as_it_is(path: &Path, patience: Duration) -> Result<Self> {
        must_exist(path)?;
        let opened =
            read_only(path, "", patience).or_else(|e| match e.downcast_ref().and_then(rusqlite::Error::sqlite_error_code) {
                // Readers share a file beside the index, which cannot be created on a full disk or in a read-only folder. While no process
                // writes, the index alone is enough.
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::DiskFull) if files_beside::is_at_rest(path) => {
                    error::read_without_locks(path);
                    read_only(path, "?immutable=1", patience)
                }
                _ => Err(e),
            });
        let (store, version) = opened.with_context(|| format!("cannot read {}", path.display()))?;
        store.check_format(version)?;
        if version == 0 {
            return Err(none_yet(path));
        }
        if version < schema::FORMAT {
            return Err(anyhow!(OtherFormat::Older).context(path.display().to_string()));
        }
        store.check_names().with_context(|| format!("cannot read {}", path.display()))?;
        Ok(store)
    }

    /// Everything of this format is in the list of tables. Costs a page or two, however much is stored: whoever opens a damaged index would
    /// else notice only what it touches.
    fn check_names(&self) -> Result<()> {
        let mut query = self.db.prepare("SELECT name FROM sqlite_schema")?;
        let names: HashSet<String> = query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        match schema::NAMES.into_iter().find(|name| !names.contains(*name)) {
            Some(missing) => {
                bail!(StoreError::Damaged { path: self.path.clone(), what: format!("there is no `{missing}` in it") })
            }
            None => Ok(()),
        }
    }

    pub(super) fn to_read(path: &Path) -> Result<Self> {
        Self::open_as_it_is(path, lock_timeout())
    }

    pub(super) fn version(&self) -> Result<usize> {
        Ok(self.db.query_row("PRAGMA user_version", [], |r| r.get::<_, i64>(0))? as usize)
    }

    /// Refuses formats that this program cannot use, and numbers that are damage.
    fn check_format(&self, version: usize) -> Result<()> {
        let (path, known) = (self.path.display(), schema::FORMAT);
        // One statement each, because another process may be creating or upgrading the index.
        let unlike = match version {
            0 => Some("SELECT user_version = 0 AND EXISTS (SELECT 1 FROM sqlite_master) FROM pragma_user_version"),
            // `digest.basis` came with format 8.
            1..schema::OLDEST => Some("SELECT EXISTS (SELECT 1 FROM pragma_table_info('digest') WHERE name = 'basis')"),
            _ => None,
        };
        let is_damage = unlike.map(|sql| self.db.query_row(sql, [], |r| r.get(0))).transpose()?.unwrap_or(version > schema::LAST);
        if is_damage {
            bail!(StoreError::Damaged { path: self.path.clone(), what: "its format number is not valid".into() });
        }
        match version {
            1..schema::OLDEST => {
                let formats = format!("{path} (format {version}, this one reads {} to {known})", schema::OLDEST);
                Err(anyhow!(OtherFormat::TooOld).context(formats))
            }
            _ if version > known => {
                Err(anyhow!(OtherFormat::Newer).context(format!("{path} (format {version}, this one reads up to {known})")))
            }
            _ => Ok(()),
        }
    }
}

impl Writer {
    /// Opens the database for writing; creates it (0600) and upgrades it as needed.
    ///
    /// # Errors
    /// When it cannot be opened or is damaged, or its format cannot be upgraded: an [`OtherFormat`].
    pub fn open(path: &Path) -> Result<Self> {
        is_there(path)?;
        make_if_missing(path).map_err(|e| match e.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => error::closed(path, &e).into(),
            _ => anyhow!(e).context(format!("cannot open {}", path.display())),
        })?;
        let (file, is_left) = (FileIdentity::of(path), orphaned_log::has_orphaned_log(path));
        let mut db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .with_context(|| format!("cannot open {}", path.display()))?;
        failpoints::statements(&mut db);
        let reader = Reader {
            db,
            counts: None,
            path: path.to_owned(),
            threads: cores(),
            reopen: Reader::to_read,
            titles: RefCell::default(),
            narrowed: false,
        };
        let mut writer = Self { reader, file, ingest_caches: None };
        writer.set_checkpoint_on_close(false)?;
        writer.db.busy_timeout(lock_timeout())?;
        // Notes are written during runs: a transaction that reads first and then writes must not fail because of a write in between.
        writer.reader.db.set_transaction_behavior(TransactionBehavior::Immediate);
        steady_plans(&writer.db)?;
        erasure::define_deletion_hook(&writer.db, path)?;
        // Before any write: a newer program's database stays as it is.
        let version = writer.version().with_context(|| format!("cannot read {}", path.display()))?;
        writer.check_format(version)?;
        if is_left {
            writer.check_with_log(version).with_context(|| format!("cannot read {}", path.display()))?;
        } else if (1..schema::FORMAT).contains(&version)
            && let Some(what) = writer.damage_before_upgrade().with_context(|| format!("cannot read {}", path.display()))?
        {
            // A damaged index is not upgraded: repair finds it as it was.
            bail!(StoreError::Damaged { path: path.to_owned(), what });
        }
        if version == schema::FORMAT {
            writer.check_names().with_context(|| format!("cannot read {}", path.display()))?;
        }
        writer.set_checkpoint_on_close(true)?;
        writer
            .configure(version == 0)
            .and_then(|()| writer.migrate(version))
            .with_context(|| format!("cannot use {}", path.display()))?;
        Ok(writer)
    }

    /// Opens the database for writing, and does not create it.
    pub(crate) fn open_existing(path: &Path) -> Result<Self> {
        must_exist(path)?;
        Self::open(path)
    }

    fn configure(&self, new: bool) -> Result<()> {
        if new {
            // Only works before the first table is created. Setting it again would write to the file.
            self.db.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        }
        let mode: String = self.db.query_row("PRAGMA journal_mode = WAL", [], |r| r.get(0))?;
        if mode != "wal" {
            bail!("the file system does not support write-ahead logging (journal mode {mode})");
        }
        // `temp_store`: a statement's rollback data is a few pages, and would otherwise go to a file for each of many statements.
        self.db.execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA cache_size = -8192;
             PRAGMA temp_store = MEMORY;",
        )?;
        self.db.set_prepared_statement_cache_capacity(super::connect::CACHED_STATEMENTS);
        Ok(())
    }

    /// What is damaged in the pages of an index that has to be upgraded. Holds the write lock: another process that upgrades it would change
    /// the schema under the check. `None` if one already did.
    fn damage_before_upgrade(&self) -> Result<Option<String>> {
        let _lock = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        if self.version()? == schema::FORMAT { Ok(None) } else { maintenance::damage_of_pages(self) }
    }

    /// An index that is there gets the steps that it lacks; a new one is made in one.
    fn migrate(&mut self, version: usize) -> Result<()> {
        let version = if version == 0 { self.make_new()? } else { version };
        for step in schema::MIGRATIONS.iter().filter(|step| step.format > version) {
            let tx = self.reader.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have done this step while this one waited for its lock.
            if tx.query_row("PRAGMA user_version", [], |r| r.get::<_, i64>(0))? as usize >= step.format {
                continue;
            }
            step.run(&tx).with_context(|| format!("migration {} failed", step.format))?;
            tx.pragma_update(None, "user_version", step.format as i64)?;
            tx.commit()?;
        }
        if (1..schema::FORMAT).contains(&version) {
            // A step may leave more pages free than in use.
            maintenance::vacuum(&self.db)?;
        }
        Ok(())
    }

    /// Returns the format that there is then.
    fn make_new(&mut self) -> Result<usize> {
        let tx = self.reader.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have made it, or an older program the first of the steps, while this one waited for its lock.
        let there = tx.query_row("PRAGMA user_version", [], |r| r.get::<_, i64>(0))? as usize;
        if there > 0 {
            return Ok(there);
        }
        schema::make_new(&tx).context("a new index cannot be made")?;
        pages::record_unread_pages(&tx, UnreadPages::OfAnother)?;
        tx.pragma_update(None, "user_version", schema::FORMAT as i64)?;
        tx.commit()?;
        Ok(schema::FORMAT)
    }
}

/// SQLite would create the file with the umask's permissions; its WAL gets the permissions of the database. An existing file is not opened:
/// closing it again would drop the locks of this process's other connections.
fn make_if_missing(path: &Path) -> io::Result<()> {
    match OpenOptions::new().create_new(true).write(true).mode(0o600).open(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            access(path, Access::READ_OK | Access::WRITE_OK)?;
            open_logs(path)
        }
        other => other.map(drop),
    }
}

/// Makes the files beside the index writable. A reader creates them with the index's permissions of that moment, which may since have
/// become wider.
fn open_logs(path: &Path) -> io::Result<()> {
    let logs: Vec<PathBuf> = [WAL, SHM].map(|end| files_beside::beside(path, end)).into_iter().filter(|log| log.exists()).collect();
    private_files::grant_owner_access(&private_files::inaccessible_among(logs))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn must_exist(path: &Path) -> Result<()> {
    if !is_there(path)? {
        return Err(none_yet(path));
    }
    Ok(())
}

/// There is no file, or one without a table: whoever creates it has not come further.
fn none_yet(path: &Path) -> anyhow::Error {
    anyhow!("there is no index at {} yet: run `recall digest` first", path.display())
}
