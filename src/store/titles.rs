//! Titles that older clients' summary rows give to a conversation, by its last row, from whatever file.

use std::collections::BTreeMap;

use anyhow::Result;

use super::Store;
use crate::session::RowKey;

impl Store {
    /// The titles for some of these rows, in order. The rows are asked for where there is any title.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(super) fn titles_of(&self, rows: impl FnOnce() -> Result<Vec<RowKey>>) -> Result<BTreeMap<RowKey, Vec<String>>> {
        let mut titles: BTreeMap<RowKey, Vec<String>> = BTreeMap::new();
        if !self.db.prepare_cached("SELECT EXISTS (SELECT 1 FROM leaf_title)")?.query_row([], |r| r.get(0))? {
            return Ok(titles);
        }
        let mut rows = rows()?;
        rows.sort_unstable();
        // From a row on to the first title for another one, and on from there: there may be many of either, and few in common.
        let mut query = self.db.prepare_cached("SELECT leaf, text FROM leaf_title WHERE leaf >= ?1 ORDER BY leaf, text")?;
        let mut left = &rows[..];
        while let Some(first) = left.first() {
            let mut found = query.query([first.0])?;
            left = &[];
            while let Some(r) = found.next()? {
                let leaf = RowKey(r.get(0)?);
                if rows.binary_search(&leaf).is_err() {
                    left = &rows[rows.partition_point(|row| *row < leaf)..];
                    break;
                }
                titles.entry(leaf).or_default().push(r.get(1)?);
            }
        }
        Ok(titles)
    }
}
