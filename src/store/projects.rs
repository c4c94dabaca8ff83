//! The projects that sessions and notes belong to.

use anyhow::Result;
use rusqlite::{OptionalExtension, Transaction};

use super::Reader;
use transcripts::session::Project;

impl Reader {
    /// The number of the project with this key, if anything belongs to it.
    pub(crate) fn project_pk(&self, key: &str) -> Result<Option<i64>> {
        Ok(self.db.prepare_cached("SELECT pk FROM project WHERE key = ?1")?.query_row([key], |r| r.get(0)).optional()?)
    }

    /// All projects, by number and key.
    pub(crate) fn projects(&self) -> Result<Vec<(i64, Project)>> {
        let mut query = self.db.prepare_cached("SELECT pk, key FROM project")?;
        Ok(query.query_map([], |r| Ok((r.get(0)?, Project { key: r.get(1)? })))?.collect::<rusqlite::Result<_>>()?)
    }
}

/// The number of the project with this key, which is added if it is new.
pub(super) fn ensure_project(tx: &Transaction<'_>, key: &str) -> Result<i64> {
    tx.prepare_cached("INSERT INTO project(key) VALUES (?1) ON CONFLICT DO NOTHING")?.execute([key])?;
    Ok(tx.prepare_cached("SELECT pk FROM project WHERE key = ?1")?.query_row([key], |r| r.get(0))?)
}
