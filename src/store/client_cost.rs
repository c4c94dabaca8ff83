//! What the client itself says each session cost: a check on our own sums and on the prices behind them.

use std::collections::BTreeMap;

use anyhow::Result;
use rusqlite::{Connection, params};

use super::Reader;
use crate::store::chunk::StoredUsage;
use crate::store::session_row;
use transcripts::session::Tokens;

/// A session's cost as the client reports it, and the token usage its messages report.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CostReport {
    pub(crate) id: String,
    /// In US dollars, by model.
    pub(crate) client: BTreeMap<String, f64>,
    pub(crate) usage: BTreeMap<String, Tokens>,
}

/// Stores the last cost the client reported for a session, if that session is stored; `None` removes it.
pub(super) fn record(db: &Connection, session: &str, by_model: Option<&BTreeMap<String, f64>>) -> Result<()> {
    let Some(pk) = session_row::find(db, session)? else { return Ok(()) };
    db.prepare_cached("DELETE FROM client_cost WHERE session = ?1")?.execute([pk])?;
    let mut insert = db.prepare_cached("INSERT INTO client_cost VALUES (?1, ?2, ?3)")?;
    for (model, usd) in by_model.into_iter().flatten() {
        insert.execute(params![pk, model, usd])?;
    }
    Ok(())
}

impl Reader {
    /// The newest sessions for which the client reported a cost. Excludes sessions that share messages with others, which would count
    /// them too, and sessions with private parts, which are not stored.
    pub(crate) fn client_cost_reports(&self, most: usize) -> Result<Vec<CostReport>> {
        let sql = "SELECT s.pk FROM session s WHERE EXISTS (SELECT 1 FROM client_cost WHERE session = s.pk)
              AND NOT EXISTS (SELECT 1 FROM kin WHERE session = s.pk) AND NOT EXISTS (SELECT 1 FROM private_turn WHERE session = s.id)
            ORDER BY s.started_at DESC, s.id LIMIT ?1";
        let mut query = self.db.prepare(sql)?;
        let sessions: Vec<i64> = query.query_map([most as i64], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        sessions.into_iter().map(|pk| self.cost_report(pk)).collect()
    }

    fn cost_report(&self, pk: i64) -> Result<CostReport> {
        let head = self.session_head(pk)?;
        let mut query = self.db.prepare_cached("SELECT model, usd FROM client_cost WHERE session = ?1")?;
        let client = query.query_map([pk], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        let usage = StoredUsage::owned_by(&self.db, &head)?;
        Ok(CostReport { id: head.id, client, usage })
    }
}
