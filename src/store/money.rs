//! What the model costs: reserved before a call, settled after it. A call that was killed keeps its reservation.
//!
//! The caps hold for all processes together: what is left of them is looked up and reserved in one transaction. They hold
//! whatever the clock does: see `COUNTED`.

use std::ops::Range;

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};

use super::Store;
use crate::select::{Budget, Skip, affordable};
use crate::session::Millis;

/// What counts as spent on the day from ?1 to ?2. Rows are in the order in which they were made; their times may not be, because
/// a clock can be set. What lies in the future counts, unless something was written after it on an earlier day: then it is not of
/// today, and no clock that was once wrong holds the model up for ever. What was written after something of today is of today or
/// later, whatever time it bears: setting the clock back gives no day a second budget.
const COUNTED: &str = "(at >= ?1 AND at < ?2)
    OR (at >= ?2 AND pk > (SELECT coalesce(max(pk), 0) FROM spend WHERE at < ?1))
    OR (at < ?1 AND pk > (SELECT min(pk) FROM spend WHERE at >= ?1 AND at < ?2))";

/// A call that is about to start.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    pub at: Millis,
    /// The day it counts for.
    pub day: Range<Millis>,
    /// Of the session, or of what else is asked.
    pub name: &'a str,
    pub model: &'a str,
    pub worst_usd: f64,
    /// What its run has spent or reserved before it.
    pub spent_run: f64,
}

/// Money that nobody else may spend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reservation {
    pub pk: i64,
    pub usd: f64,
}

impl Store {
    /// Reserves the worst case of a call if the budget has room for it. Where a call of the same day cost more than its worst case, the
    /// estimate is too low here, and as many times as much is reserved.
    pub fn reserve(&mut self, call: &Call<'_>, budget: &Budget) -> Result<Result<Reservation, Skip>> {
        let tx = self.db.transaction()?;
        let usd = call.worst_usd * excess(&tx, call)?;
        let today = spent_on(&tx, &call.day)?;
        let pk = match affordable(usd, call.spent_run, today, budget) {
            Ok(()) => insert(&tx, call, usd)?,
            Err(skip) => {
                note_day(&tx, call)?;
                tx.commit()?;
                return Ok(Err(skip));
            }
        };
        tx.commit()?;
        Ok(Ok(Reservation { pk, usd }))
    }

    /// Puts the real cost in the reservation's place and returns what was reserved.
    pub fn settle(&self, reservation: i64, actual_usd: f64) -> Result<f64> {
        let sql = "UPDATE spend SET actual_usd = ?2 WHERE pk = ?1 RETURNING reserved_usd";
        Ok(self.db.query_row(sql, params![reservation, actual_usd], |r| r.get(0))?)
    }

    /// The reservation of the last call of this name, if it was never settled: the run that made it was killed. One that was settled
    /// since is over, and those before it were calls whose cost nobody told.
    pub fn open_reservation(&self, name: &str) -> Result<Option<Reservation>> {
        let sql = "SELECT pk, reserved_usd, actual_usd IS NULL FROM spend WHERE session = ?1 ORDER BY pk DESC LIMIT 1";
        let last = self.db.query_row(sql, [name], |r| Ok((Reservation { pk: r.get(0)?, usd: r.get(1)? }, r.get(2)?)));
        Ok(last.optional()?.and_then(|(reservation, open)| Some(reservation).filter(|_| open)))
    }

    /// Notes which model answered to a name.
    pub fn note_answered(&self, asked: &str, model: &str) -> Result<()> {
        let sql = "INSERT INTO answered(asked, model) VALUES (?1, ?2)
            ON CONFLICT(asked) DO UPDATE SET model = excluded.model WHERE model <> excluded.model";
        self.db.prepare_cached(sql)?.execute([asked, model])?;
        Ok(())
    }

    /// The model that answered last to a name.
    pub fn answered_by(&self, asked: &str) -> Result<Option<String>> {
        Ok(self.db.query_row("SELECT model FROM answered WHERE asked = ?1", [asked], |r| r.get(0)).optional()?)
    }

    /// Money spent or reserved, ever, in US dollars.
    pub fn spent(&self) -> Result<f64> {
        Ok(self.db.query_row("SELECT coalesce(sum(coalesce(actual_usd, reserved_usd)), 0.0) FROM spend", [], |r| r.get(0))?)
    }
}

fn insert(db: &Connection, call: &Call<'_>, usd: f64) -> Result<i64> {
    let sql = "INSERT INTO spend(at, session, model, reserved_usd) VALUES (?1, ?2, ?3, ?4) RETURNING pk";
    Ok(db.query_row(sql, params![call.at, call.name, call.model, usd], |r| r.get(0))?)
}

fn spent_on(db: &Connection, day: &Range<Millis>) -> Result<f64> {
    let sql = format!("SELECT coalesce(sum(coalesce(actual_usd, reserved_usd)), 0.0) FROM spend WHERE {COUNTED}");
    Ok(db.query_row(&sql, [day.start, day.end], |r| r.get(0))?)
}

/// How many times its reservation a call of this model cost today at most; never less than once.
fn excess(db: &Connection, call: &Call<'_>) -> Result<f64> {
    let sql = format!(
        "SELECT coalesce(max(actual_usd / reserved_usd), 1.0) FROM spend
         WHERE model = ?3 AND reserved_usd > 0 AND actual_usd > reserved_usd AND ({COUNTED})"
    );
    Ok(db.query_row(&sql, params![call.day.start, call.day.end, call.model], |r| r.get(0))?)
}

/// Where money lies in the future, a day that spends none leaves a trace as well, so that the next one knows it for another day.
fn note_day(db: &Connection, call: &Call<'_>) -> Result<()> {
    let sql = "INSERT INTO spend(at, session, model, reserved_usd, actual_usd) SELECT ?1, '', '', 0, 0
        WHERE EXISTS (SELECT 1 FROM spend WHERE at >= ?3)
          AND NOT EXISTS (SELECT 1 FROM spend WHERE pk = (SELECT max(pk) FROM spend) AND at >= ?2 AND at < ?3)";
    db.execute(sql, params![call.at, call.day.start, call.day.end])?;
    Ok(())
}

#[cfg(test)]
mod tests;
