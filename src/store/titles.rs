//! Titles that older clients' summary rows give to a conversation, by its last row, from whatever file.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use anyhow::Result;
use rusqlite::Connection;

use super::Store;
use crate::session::RowKey;

/// Which rows have a title, in order: of a connection that reads many sessions while no title comes or goes. Asking for each row of each
/// session takes as long as unpacking them.
#[derive(Default)]
pub(super) struct Titled(OnceCell<Vec<RowKey>>);

impl Titled {
    fn all(&self, db: &Connection) -> Result<&[RowKey]> {
        if self.0.get().is_none() {
            let mut query = db.prepare("SELECT DISTINCT leaf FROM leaf_title ORDER BY leaf")?;
            let all = query.query_map([], |r| r.get(0).map(RowKey))?.collect::<rusqlite::Result<_>>()?;
            _ = self.0.set(all);
        }
        Ok(self.0.get().map_or(&[], Vec::as_slice))
    }
}

impl Store {
    /// False where it surely has none; who does not know says that it may.
    pub(super) fn may_have_title(&self, row: RowKey) -> Result<bool> {
        self.titled.as_ref().map_or(Ok(true), |titled| Ok(titled.all(&self.db)?.binary_search(&row).is_ok()))
    }

    /// The titles for some of these rows, in order. The rows are asked for where there is any title.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(super) fn titles_of(&self, rows: impl FnOnce() -> Result<Vec<RowKey>>) -> Result<BTreeMap<RowKey, Vec<String>>> {
        let mut titles = BTreeMap::new();
        if !self.db.prepare_cached("SELECT EXISTS (SELECT 1 FROM leaf_title)")?.query_row([], |r| r.get(0))? {
            return Ok(titles);
        }
        let mut query = self.db.prepare_cached("SELECT text FROM leaf_title WHERE leaf = ?1 ORDER BY text")?;
        let mut rows = rows()?;
        rows.dedup();
        for row in rows {
            if !self.may_have_title(row)? || titles.contains_key(&row) {
                continue;
            }
            let texts = query.query_map([row.0], |r| r.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
            if !texts.is_empty() {
                titles.insert(row, texts);
            }
        }
        Ok(titles)
    }
}
