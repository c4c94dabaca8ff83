//! Titles from the summary records of older clients. Such a record names the last record (leaf) of the conversation it titles and may be
//! in any file.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use anyhow::Result;
use rusqlite::Connection;

use super::Reader;
use transcripts::session::RecordKey;

/// Sorted keys of the records that have a title. Valid for a connection that reads many sessions while no title is added or removed;
/// querying for each record of each session would take as long as unpacking them.
#[derive(Default)]
pub(super) struct TitleCache(OnceCell<Vec<RecordKey>>);

impl TitleCache {
    fn all(&self, db: &Connection) -> Result<&[RecordKey]> {
        if self.0.get().is_none() {
            let mut query = db.prepare("SELECT DISTINCT leaf FROM leaf_title ORDER BY leaf")?;
            let all = query.query_map([], |r| r.get(0).map(RecordKey))?.collect::<rusqlite::Result<_>>()?;
            _ = self.0.set(all);
        }
        Ok(self.0.get().map_or(&[], Vec::as_slice))
    }
}

impl Reader {
    /// Does any such title exist?
    pub(super) fn has_leaf_titles(&self) -> Result<bool> {
        if let Some(titled) = &*self.titles.borrow() {
            return Ok(!titled.all(&self.db)?.is_empty());
        }
        Ok(self.db.prepare_cached("SELECT EXISTS (SELECT 1 FROM leaf_title)")?.query_row([], |r| r.get(0))?)
    }

    /// Reads many sessions, and looks only once which records have a title: none is added or removed meanwhile.
    pub(super) fn with_titles_known<T>(&self, read: impl FnOnce() -> T) -> T {
        let before = self.titles.replace(Some(TitleCache::default()));
        let done = read();
        self.titles.replace(before);
        done
    }

    /// The titles for a record, sorted.
    pub(super) fn titles_of_row(&self, row: RecordKey) -> Result<Vec<String>> {
        if let Some(titled) = &*self.titles.borrow()
            && titled.all(&self.db)?.binary_search(&row).is_err()
        {
            return Ok(Vec::new());
        }
        let mut query = self.db.prepare_cached("SELECT text FROM leaf_title WHERE leaf = ?1 ORDER BY text")?;
        Ok(query.query_map([row.0], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// The titles for these records, sorted. `rows` is called only if any title exists.
    pub(super) fn titles_of(&self, rows: impl FnOnce() -> Result<Vec<RecordKey>>) -> Result<BTreeMap<RecordKey, Vec<String>>> {
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
