//! Connections that read the index, before anything of it is read.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::Reader;
use super::search::CountCache;
use crate::sys::failpoints;
use transcripts::sqlite_files::sqlite_uri;

/// More than there are different statements: one that is dropped is parsed again for each session.
pub(super) const CACHED_STATEMENTS: usize = 256;

/// Opens the database for reading and returns its format.
pub(super) fn read_only(path: &Path, how: &str, patience: Duration) -> Result<(Reader, usize)> {
    let store = connect_to_read(path, how, patience)?;
    let version = store.version()?;
    Ok((store, version))
}

/// Opens the database for reading, before anything of it is read.
pub(super) fn connect_to_read(path: &Path, how: &str, patience: Duration) -> Result<Reader> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let mut db = Connection::open_with_flags(sqlite_uri(path, how), flags)?;
    db.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    failpoints::statements(&mut db);
    db.busy_timeout(patience)?;
    steady_plans(&db)?;
    Ok(Reader {
        db,
        counts: Some(CountCache::default()),
        path: path.to_owned(),
        threads: 1,
        reopen: Reader::to_read,
        titles: RefCell::default(),
        narrowed: false,
    })
}

/// Turns off replanning by bound values: without statistics in the index they change no plan, and SQLite would prepare every statement
/// again.
pub(super) fn steady_plans(db: &Connection) -> Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}
