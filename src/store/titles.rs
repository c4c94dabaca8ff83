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
    /// Is there any such title?
    pub(super) fn has_leaf_titles(&self) -> Result<bool> {
        Ok(self.db.prepare_cached("SELECT EXISTS (SELECT 1 FROM leaf_title)")?.query_row([], |r| r.get(0))?)
    }

    /// The titles for a row, in order.
    pub(super) fn titles_of_row(&self, row: RowKey) -> Result<Vec<String>> {
        if let Some(titled) = &self.titled
            && titled.all(&self.db)?.binary_search(&row).is_err()
        {
            return Ok(Vec::new());
        }
        let mut query = self.db.prepare_cached("SELECT text FROM leaf_title WHERE leaf = ?1 ORDER BY text")?;
        Ok(query.query_map([row.0], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// The titles for some of these rows, in order. The rows are asked for where there is any title.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(super) fn titles_of(&self, rows: impl FnOnce() -> Result<Vec<RowKey>>) -> Result<BTreeMap<RowKey, Vec<String>>> {
        let mut titles = BTreeMap::new();
        if !self.has_leaf_titles()? {
            return Ok(titles);
        }
        let mut rows = rows()?;
        rows.dedup();
        for row in rows {
            if titles.contains_key(&row) {
                continue;
            }
            let texts = self.titles_of_row(row)?;
            if !texts.is_empty() {
                titles.insert(row, texts);
            }
        }
        Ok(titles)
    }
}
