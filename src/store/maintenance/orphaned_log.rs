//! A write-ahead log or journal that lies beside the index although no process is writing: left by a process that was killed, or put
//! there with another index.
//!
//! SQLite trusts any log whose own checksums are right, and folds it into the database when the last connection closes. That would
//! destroy an index that is sound without it. So nothing is folded in before the index and the log together were checked.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use rusqlite::config::DbConfig;

use super::WholeIndex;
use crate::store::error::{self, StoreError};
use crate::store::files_beside;
use crate::store::{Reader, schema};
use transcripts::sqlite_files::{JOURNAL, WAL};

/// Page size of an index, in bytes. A file of at most one page is just being created, and SQLite uses a journal for that.
const PAGE: u64 = 4096;

/// Refuses an index with a journal beside it. An index has one only while it is created; opening it would roll that journal back over the
/// index.
///
/// # Errors
/// A [`StoreError`].
pub(crate) fn check_journal(index: &Path) -> Result<(), StoreError> {
    let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    if size(index) > PAGE && size(&files_beside::beside(index, JOURNAL)) > 0 {
        let what = "a journal lies beside it, which is not its own".to_owned();
        return Err(StoreError::Damaged { path: index.to_owned(), what });
    }
    Ok(())
}

/// Is there a log that no living process writes or reads?
pub(in crate::store) fn has_orphaned_log(index: &Path) -> bool {
    !files_beside::is_at_rest(index) && !error::is_open_elsewhere(index)
}

impl Reader {
    /// Allows or forbids folding the log into the index when this connection closes.
    pub(in crate::store) fn set_checkpoint_on_close(&self, may: bool) -> Result<()> {
        self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !may)?;
        Ok(())
    }

    /// Reads the whole of an index beside which a log was left.
    ///
    /// # Errors
    /// A [`StoreError`] when the two do not belong together, or that cannot be determined.
    pub(in crate::store) fn check_with_log(&self, version: usize) -> Result<()> {
        match self.damage_at_version(version)? {
            Some(what) => bail!(StoreError::Damaged {
                path: self.path.clone(),
                what: format!("{what}; the log next to it may belong to another index"),
            }),
            None => Ok(()),
        }
    }

    /// What is damaged in an index of this schema version. Of an older version only the pages are checked: its values are checked after
    /// migration.
    fn damage_at_version(&self, version: usize) -> Result<Option<String>> {
        if version == schema::FORMAT { super::any_damage(self) } else { super::damage_of_pages(self) }
    }
}

impl WholeIndex {
    /// Is an index with a log beside it sound without that log?
    pub(crate) fn is_sound_without_log(&self) -> bool {
        self.version().is_ok_and(|version| version > 0 && matches!(self.damage_at_version(version), Ok(None)))
    }
}

/// Is there a non-empty log or journal beside the index?
pub(crate) fn has_log(index: &Path) -> bool {
    [WAL, JOURNAL].iter().any(|end| fs::metadata(files_beside::beside(index, end)).is_ok_and(|found| found.len() > 0))
}
