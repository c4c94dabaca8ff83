//! The index: one SQLite database, and the only folder with SQL.
//!
//! Written by one run at a time (the run lock), by `remember` and `close` beside it in short transactions, read by any number. WAL, so
//! readers never wait for the writer. Deleted content is overwritten (`secure_delete`), its pages are given back by incremental vacuum;
//! words of documents that are gone are only marked so in the full-text index, until `scrub` has it written anew.

pub mod around;
pub mod basis;
mod bundle;
mod cleaning;
pub mod closings;
pub mod copy;
pub mod crew;
pub mod digests;
pub mod forget;
pub mod hold;
pub mod ingest;
pub mod interim;
pub mod load;
pub mod mend;
pub mod money;
pub mod notes;
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
mod titles;
pub mod transfer;
pub mod trouble;
pub mod unearth;
pub mod vectors;

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, InterruptHandle, OpenFlags, Transaction, TransactionBehavior};
use rustix::fs::{Access, access};

use self::bundle::{Known, Whereabouts};
use self::hold::Identity;
use crate::{fault, private};

/// How long a statement waits for another process's transaction. Ours take milliseconds.
const BUSY: Duration = Duration::from_secs(10);

/// How long folding the log into the database waits for readers. Those that take longer are not waited for.
const READERS: Duration = Duration::from_secs(2);

/// The name of the fact that something was taken out of which traces may be left in the file.
const SCRUB: &str = "scrub";

/// The index was written by another version of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OtherForm {
    #[error("the index was made by an older recall: run `recall digest` once to bring it up to date")]
    Older,
    #[error("the index was written by a newer recall: upgrade recall")]
    Newer,
}

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
}

impl Store {
    /// Opens the database for writing, creating it (0600) and bringing it to the newest form.
    ///
    /// # Errors
    /// When it cannot be opened, or was written by a newer program.
    pub fn open(path: &Path) -> Result<Self> {
        Self::is_there(path)?;
        make_if_missing(path).map_err(|e| match e.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => trouble::closed(path, &e).into(),
            _ => anyhow!(e).context(format!("cannot open {}", path.display())),
        })?;
        let file = Identity::of(path);
        let mut db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .with_context(|| format!("cannot open {}", path.display()))?;
        fault::statements(&mut db);
        let mut store = Self {
            db,
            counts: None,
            path: path.to_owned(),
            file,
            known: None,
            threads: cores(),
            another: Self::to_read,
            titled: None,
        };
        store.db.busy_timeout(BUSY)?;
        // Notes are written while a run is under way: who reads first and then writes must not find that somebody wrote in between.
        store.db.set_transaction_behavior(TransactionBehavior::Immediate);
        steady_plans(&store.db)?;
        copy::drop_with_what_is_taken_out(&store.db, path)?;
        // Before anything that writes: a newer program's database stays as it is.
        let version = store.version().with_context(|| format!("cannot read {}", path.display()))?;
        check_version(version, path)?;
        trouble::check_form(version, &store.db, path)?;
        store
            .configure(version == 0)
            .and_then(|()| store.migrate(version))
            .with_context(|| format!("cannot use {}", path.display()))?;
        Ok(store)
    }

    /// Opens the database for reading. One of an older program is brought up to date first.
    ///
    /// # Errors
    /// When there is none yet, it cannot be read, or it was written by a newer program.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        match Self::open_as_it_is(path, BUSY) {
            Err(e) if e.downcast_ref() == Some(&OtherForm::Older) => {
                drop(Self::open(path)?);
                Self::open_as_it_is(path, BUSY)
            }
            other => other,
        }
    }

    /// Opens the database for reading, when there is one.
    ///
    /// # Errors
    /// As `open_read_only`.
    pub fn open_if_there(path: &Path) -> Result<Option<Self>> {
        Self::is_there(path)?.then(|| Self::open_read_only(path)).transpose()
    }

    /// Is there an index?
    ///
    /// # Errors
    /// When there is something else in its place, it shows at once that it is damaged, or there was one and it is gone.
    pub fn is_there(path: &Path) -> Result<bool> {
        trouble::check_place(path)?;
        trouble::check_emptied(path)?;
        trouble::check_head(path)?;
        Ok(path.exists())
    }

    /// Opens the database for writing, when there is one.
    ///
    /// # Errors
    /// When there is none yet; else as `open`.
    pub fn open_existing(path: &Path) -> Result<Self> {
        must_exist(path)?;
        Self::open(path)
    }

    /// Opens the database for reading, with a patience of the caller's, and changes nothing.
    ///
    /// # Errors
    /// When there is none yet, it cannot be read, or its form is not this program's: an [`OtherForm`].
    pub fn open_as_it_is(path: &Path, patience: Duration) -> Result<Self> {
        must_exist(path)?;
        let opened =
            read_only(path, "", patience).or_else(|e| match e.downcast_ref().and_then(rusqlite::Error::sqlite_error_code) {
                // Readers share a file beside the index, which cannot be made on a full disk or in a folder that is not ours to write. Where
                // nobody is writing, the index alone is enough.
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::DiskFull) if copy::is_at_rest(path) => {
                    trouble::read_without_locks(path);
                    read_only(path, "?immutable=1", patience)
                }
                _ => Err(e),
            });
        let (store, version) = opened.with_context(|| format!("cannot read {}", path.display()))?;
        check_version(version, path)?;
        trouble::check_form(version, &store.db, path)?;
        if version == 0 {
            bail!("there is no index in {} yet: run `recall digest` first", path.display());
        }
        if version < schema::MIGRATIONS.len() {
            return Err(anyhow!(OtherForm::Older).context(path.display().to_string()));
        }
        Ok(store)
    }

    fn to_read(path: &Path) -> Result<Self> {
        Self::open_as_it_is(path, BUSY)
    }

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
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA cache_size = -16384;",
        )?;
        self.db.set_prepared_statement_cache_capacity(64);
        Ok(())
    }

    fn version(&self) -> Result<usize> {
        Ok(self.db.query_row("PRAGMA user_version", [], |r| r.get::<_, i64>(0))? as usize)
    }

    fn migrate(&mut self, version: usize) -> Result<()> {
        for (at, step) in schema::MIGRATIONS.iter().enumerate().skip(version) {
            let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have done this step while we waited for it.
            if tx.query_row("PRAGMA user_version", [], |r| r.get::<_, i64>(0))? as usize > at {
                continue;
            }
            step.take(&tx).with_context(|| format!("migration {at} failed"))?;
            tx.pragma_update(None, "user_version", at as i64 + 1)?;
            tx.commit()?;
        }
        if (1..schema::MIGRATIONS.len()).contains(&version) {
            // A step may have left more pages free than are in use.
            self.tidy()?;
        }
        Ok(())
    }

    /// Writes the database anew, so that nothing is left of what was deleted, and tidies up. `secure_delete` alone clears what is
    /// deleted, but not the copies that stay in the gaps of pages that were once split. False as `tidy`: then it is still to be done.
    pub fn scrub(&self) -> Result<bool> {
        self.drop_gone_vectors()?;
        // Words of documents that are gone are only marked so until their part of the index is written anew.
        self.db.execute_batch("INSERT INTO search(search) VALUES ('optimize'); VACUUM")?;
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

/// SQLite would create the file with the umask's permissions; its WAL takes over the database's. One that is there is not opened: closing it
/// again would give up the locks of this process's other connections to it.
fn make_if_missing(path: &Path) -> io::Result<()> {
    match OpenOptions::new().create_new(true).write(true).mode(0o600).open(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            access(path, Access::READ_OK | Access::WRITE_OK)?;
            open_logs(path)
        }
        other => other.map(drop),
    }
}

/// Whoever reads gives the files beside the index its permissions, also those that it had for a while: then it can be written again and
/// they cannot.
fn open_logs(path: &Path) -> io::Result<()> {
    let logs: Vec<PathBuf> = ["-wal", "-shm"].map(|end| copy::beside(path, end)).into_iter().filter(|log| log.exists()).collect();
    private::open_to_their_owner(&private::closed_among(logs))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn must_exist(path: &Path) -> Result<()> {
    if !Store::is_there(path)? {
        bail!("there is no index at {} yet: run `recall digest` first", path.display());
    }
    Ok(())
}

/// Opens the database to read it, and looks which form it has.
fn read_only(path: &Path, how: &str, patience: Duration) -> Result<(Store, usize)> {
    use std::os::unix::ffi::OsStrExt;
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"/._-".contains(b);
    let escaped =
        path.as_os_str().as_bytes().iter().map(|b| if plain(b) { char::from(*b).to_string() } else { format!("%{b:02X}") });
    let uri = format!("file:{}{how}", escaped.collect::<String>());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let mut db = Connection::open_with_flags(uri, flags)?;
    fault::statements(&mut db);
    db.busy_timeout(patience)?;
    steady_plans(&db)?;
    let store = Store {
        db,
        counts: Some(search::Counts::default()),
        path: path.to_owned(),
        file: None,
        known: None,
        threads: 1,
        another: Store::to_read,
        titled: None,
    };
    let version = store.version()?;
    Ok((store, version))
}

/// Without statistics in the index, values change no plan; SQLite would prepare every statement again to look at them.
fn steady_plans(db: &Connection) -> Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn check_version(version: usize, path: &Path) -> Result<()> {
    let known = schema::MIGRATIONS.len();
    if version > known {
        return Err(anyhow!(OtherForm::Newer).context(format!("{} (form {version}, this one knows {known})", path.display())));
    }
    Ok(())
}
