//! The projects that sessions and notes belong to.

use anyhow::Result;
use rusqlite::Transaction;

pub(super) fn project_pk(tx: &Transaction<'_>, key: &str) -> Result<i64> {
    tx.prepare_cached("INSERT INTO project(key) VALUES (?1) ON CONFLICT DO NOTHING")?.execute([key])?;
    Ok(tx.prepare_cached("SELECT pk FROM project WHERE key = ?1")?.query_row([key], |r| r.get(0))?)
}
