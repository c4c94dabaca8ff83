//! What every deletion does beside: no copy of the index keeps what is taken out of it, and the file is rewritten.
//!
//! ## Invariants
//! Copies are deleted before anything is deleted from the index, in the same step: what was forgotten is in no copy, even if the run is
//! interrupted. Damaged indexes in quarantine may hold it as well, and are deleted with them.

use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use super::files_beside::delete_all;

/// Name of the fact that something was removed whose traces may still be in the file.
pub(in crate::store) const ERASE_DUE: &str = "scrub";

/// The SQL function by which statements that delete something have the copies deleted.
const DROP: &str = "drop_copies";

/// Defines the SQL function that [`before_deletion`] calls.
pub(in crate::store) fn define_deletion_hook(db: &Connection, index: &Path) -> Result<()> {
    let index = index.to_owned();
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    db.create_scalar_function(DROP, 0, flags, move |_| {
        delete_all(&index).map_err(|e| rusqlite::Error::UserFunctionError(e.into()))?;
        Ok(0)
    })?;
    Ok(())
}

/// To be called before something is deleted from the index: deletes the files that also hold it.
pub(in crate::store) fn before_deletion(db: &Connection) -> Result<()> {
    let gone = db.prepare_cached("SELECT drop_copies()")?.query_row([], |r| r.get::<_, i64>(0));
    gone.context("the copy of the index may still contain what you want to delete")?;
    Ok(())
}

/// Records that the file must be rewritten, in the same transaction that removes something, so that this survives whatever happens to the
/// run. The backup copy of the index is deleted first.
pub(in crate::store) fn mark_erase_due(db: &Connection) -> Result<()> {
    before_deletion(db)?;
    db.prepare_cached("INSERT INTO fact VALUES (?1, '') ON CONFLICT DO NOTHING")?.execute([ERASE_DUE])?;
    Ok(())
}
