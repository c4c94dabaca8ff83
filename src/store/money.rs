//! What the model costs: reserved before a call, settled after it. A call that was killed keeps its reservation.

use anyhow::Result;
use rusqlite::{OptionalExtension, params};

use super::Store;
use crate::session::Millis;

impl Store {
    /// Notes the worst case of a call that is about to start; the id settles it.
    pub fn reserve(&self, at: Millis, session: &str, model: &str, worst_usd: f64) -> Result<i64> {
        let sql = "INSERT INTO spend(at, session, model, reserved_usd) VALUES (?1, ?2, ?3, ?4) RETURNING pk";
        Ok(self.db.query_row(sql, params![at, session, model, worst_usd], |r| r.get(0))?)
    }

    /// Puts the real cost in the reservation's place and returns what was reserved.
    pub fn settle(&self, reservation: i64, actual_usd: f64) -> Result<f64> {
        let sql = "UPDATE spend SET actual_usd = ?2 WHERE pk = ?1 RETURNING reserved_usd";
        Ok(self.db.query_row(sql, params![reservation, actual_usd], |r| r.get(0))?)
    }

    /// The reservation of a call for this session that was never settled: the run that made it was killed.
    pub fn open_reservation(&self, session: &str) -> Result<Option<(i64, f64)>> {
        let sql = "SELECT pk, reserved_usd FROM spend WHERE session = ?1 AND actual_usd IS NULL ORDER BY pk DESC LIMIT 1";
        Ok(self.db.query_row(sql, [session], |r| Ok((r.get(0)?, r.get(1)?))).optional()?)
    }

    /// Money spent or reserved since a moment, in US dollars.
    pub fn spent_since(&self, since: Millis) -> Result<f64> {
        let sql = "SELECT coalesce(sum(coalesce(actual_usd, reserved_usd)), 0.0) FROM spend WHERE at >= ?1";
        Ok(self.db.query_row(sql, [since], |r| r.get(0))?)
    }
}
