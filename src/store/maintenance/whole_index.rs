//! The index to read with nothing hidden: for checks, repairs and counts, which show nothing of what they read.

use std::ops::Deref;
use std::path::Path;

use anyhow::Result;

use crate::store::connect::{connect_to_read, read_only};
use crate::store::files_beside;
use crate::store::{Reader, is_there, lock_timeout};

/// A read-only index of which no policy hides anything. What a person or a session is shown is read through [`crate::store::Memory`].
pub struct WholeIndex {
    reader: Reader,
}

impl Deref for WholeIndex {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl WholeIndex {
    /// Opens it, migrating an index of an earlier program first.
    ///
    /// # Errors
    /// When there is none yet, or a newer program wrote it.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { reader: Reader::open_read_only(path)? })
    }

    /// Opens it if it exists.
    pub fn open_if_there(path: &Path) -> Result<Option<Self>> {
        is_there(path)?.then(|| Self::open(path)).transpose()
    }

    /// Opens an index that no one writes, whatever its format and state.
    ///
    /// # Errors
    /// When nothing of it can be read.
    pub(crate) fn open_as_found(path: &Path) -> Result<Self> {
        Ok(Self { reader: as_found(path)? })
    }

    /// The same of an index that SQLite may take for damaged: it reads what it can, also of one that is shorter than its header says.
    pub(crate) fn open_damaged(path: &Path) -> Result<Self> {
        Ok(Self { reader: damaged(path)? })
    }

    /// Opens an index as if no log lay beside it.
    pub(crate) fn open_without_log(path: &Path) -> Result<Self> {
        Ok(Self { reader: without_log(path)? })
    }
}

pub(super) fn as_found(path: &Path) -> Result<Reader> {
    Ok(Reader { reopen: as_found, ..read_only(path, how_to_open(path), lock_timeout())?.0 })
}

fn damaged(path: &Path) -> Result<Reader> {
    let reader = connect_to_read(path, how_to_open(path), lock_timeout())?;
    // SQLite's own switch for recovery. Nothing is written: the connection is read-only.
    reader.db.pragma_update(None, "writable_schema", true)?;
    reader.version()?;
    Ok(Reader { reopen: damaged, ..reader })
}

fn without_log(path: &Path) -> Result<Reader> {
    Ok(Reader { reopen: without_log, ..read_only(path, "?immutable=1", lock_timeout())?.0 })
}

/// An index at rest needs no files beside it; a log is part of the index.
fn how_to_open(path: &Path) -> &'static str {
    if files_beside::is_at_rest(path) { "?immutable=1" } else { "" }
}
