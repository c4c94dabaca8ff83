//! What the user said is not so of what a model said of a session. Every digest that is stored loses it.

use anyhow::Result;
use rusqlite::{Transaction, params};

use super::Store;
use crate::analyze::denied::DeniedStatement;
use crate::model::session::Millis;

impl Store {
    /// What is not so of a session.
    pub(crate) fn denied_of(&self, session: i64) -> Result<Vec<DeniedStatement>> {
        let mut query = self.db.prepare_cached("SELECT id, words FROM wrong WHERE session = ?1 ORDER BY id")?;
        let all = query.query_map([session], |r| Ok(DeniedStatement::from_bytes(r.get(0)?, r.get_ref(1)?.as_blob()?)))?;
        Ok(all.collect::<rusqlite::Result<_>>()?)
    }

    /// Records that a statement is not so.
    pub(crate) fn deny(&mut self, session: i64, denied: &DeniedStatement, at: Millis) -> Result<()> {
        let tx = self.db.transaction()?;
        put(&tx, session, denied, at)?;
        tx.commit()?;
        Ok(())
    }
}

/// Records that a statement is not so. Returns whether that is new.
pub(super) fn put(tx: &Transaction<'_>, session: i64, denied: &DeniedStatement, at: Millis) -> Result<bool> {
    let sql = "INSERT INTO wrong(session, id, words, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    Ok(tx.prepare_cached(sql)?.execute(params![session, denied.id, denied.to_bytes(), at])? > 0)
}
