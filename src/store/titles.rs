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
    /// The titles for some of these rows, in order. The rows are asked for where there is any title.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(super) fn titles_of(&self, rows: impl FnOnce() -> Result<Vec<RowKey>>) -> Result<BTreeMap<RowKey, Vec<String>>> {
        let mut titles = BTreeMap::new();
        let titled = self.titled.as_ref().map(|titled| titled.all(&self.db)).transpose()?;
        let any = match titled {
            Some(titled) => !titled.is_empty(),
            None => self.db.prepare_cached("SELECT EXISTS (SELECT 1 FROM leaf_title)")?.query_row([], |r| r.get(0))?,
        };
        if !any {
            return Ok(titles);
        }
        let mut rows = rows()?;
        rows.retain(|row| titled.is_none_or(|titled| titled.binary_search(row).is_ok()));
        rows.sort_unstable();
        rows.dedup();
        let mut query = self.db.prepare_cached("SELECT text FROM leaf_title WHERE leaf = ?1 ORDER BY text")?;
        for row in rows {
            let texts = query.query_map([row.0], |r| r.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
            if !texts.is_empty() {
                titles.insert(row, texts);
            }
        }
        Ok(titles)
    }
}
