//! The projects that sessions and notes belong to.

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::Reader;
use transcripts::session::Project;

impl Reader {
    /// The number of the project with this key, if anything belongs to it.
    pub(crate) fn project_pk(&self, key: &str) -> Result<Option<i64>> {
        find(&self.db, key)
    }

    /// All projects, by number and key.
    pub(crate) fn projects(&self) -> Result<Vec<(i64, Project)>> {
        let mut query = self.db.prepare_cached("SELECT pk, key FROM project")?;
        Ok(query.query_map([], |r| Ok((r.get(0)?, Project { key: r.get(1)? })))?.collect::<rusqlite::Result<_>>()?)
    }
}

/// The number of the project with this key, which is added if it is new.
pub(super) fn ensure_project(tx: &Transaction<'_>, key: &str) -> Result<i64> {
    let found = find(tx, key)?;
    found.map_or_else(|| Ok(tx.prepare_cached("INSERT INTO project(key) VALUES (?1)")?.insert([key])?), Ok)
}

fn find(db: &Connection, key: &str) -> Result<Option<i64>> {
    Ok(db.prepare_cached("SELECT pk FROM project WHERE key = ?1")?.query_row([key], |r| r.get(0)).optional()?)
}
