//! A log that lies beside the index though nobody writes: left by a process that ended in the middle, or put there with another's index.
//!
//! SQLite takes any log whose own sums are right for the index's own, and folds it in when the last one closes. An index that is sound
//! without it would be gone then. So nothing is folded in before the two together were found sound.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use rusqlite::config::DbConfig;

use super::open::read_only;
use super::trouble::{self, Trouble};
use super::{BUSY, Store, copy, schema};

/// The page size of an index. One with no more than a page is just being made, and for that SQLite has a journal.
const PAGE: u64 = 4096;

/// Looks for a journal, which an index has only while it is made: whoever opens it would have it written over the index.
///
/// # Errors
/// A [`Trouble`].
pub fn check_journal(index: &Path) -> Result<(), Trouble> {
    let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    if size(index) > PAGE && size(&copy::beside(index, "-journal")) > 0 {
        let what = "a journal lies beside it, which is not its own".to_owned();
        return Err(Trouble::Damaged { path: index.to_owned(), what });
    }
    Ok(())
}

/// Is there a log of changes that no living process writes or reads?
pub(super) fn is_left(index: &Path) -> bool {
    !copy::is_at_rest(index) && !trouble::is_open_elsewhere(index)
}

impl Store {
    /// Lets the log be folded into the index when this closes it, or keeps it from that.
    pub(super) fn fold_log(&self, may: bool) -> Result<()> {
        self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !may)?;
        Ok(())
    }

    /// Reads all of an index beside which a log was left.
    ///
    /// # Errors
    /// A [`Trouble`] when the two do not belong together; also when that cannot be told.
    pub(super) fn check_with_log(&self, version: usize) -> Result<()> {
        match self.damage_of_form(version)? {
            Some(what) => bail!(Trouble::Damaged {
                path: self.path.clone(),
                what: format!("{what}; the log of changes beside it may be another's"),
            }),
            None => Ok(()),
        }
    }

    /// What is wrong with an index of this form. One of an older program is brought up to date before its values are looked at.
    fn damage_of_form(&self, version: usize) -> Result<Option<String>> {
        if version == schema::MIGRATIONS.len() { self.any_damage() } else { self.damage_of_pages() }
    }

    /// Opens an index as if no log lay beside it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open_without_log(path: &Path) -> Result<Self> {
        Ok(Self { another: Self::open_without_log, ..read_only(path, "?immutable=1", BUSY)?.0 })
    }

    /// Is an index, beside which a log lies, whole without it?
    pub fn is_whole_without_log(&self) -> bool {
        self.version().is_ok_and(|version| version > 0 && matches!(self.damage_of_form(version), Ok(None)))
    }
}

/// Is there a log or a journal beside the index with anything in it?
pub fn has_log(index: &Path) -> bool {
    ["-wal", "-journal"].iter().any(|end| fs::metadata(copy::beside(index, end)).is_ok_and(|found| found.len() > 0))
}
