//! Spending on the model: reserved before a call, settled after it. A call that was killed keeps its reservation.
//!
//! ## Invariants
//! The caps hold for all processes together: what is left is looked up and reserved in one transaction. They also hold whatever the clock
//! does: see `COUNTS_FOR_DAY`.

use std::ops::Range;

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};

use super::{Reader, Writer};
use crate::analyze::eligibility::{Budget, SkipReason, check_budget};
use transcripts::session::Millis;

/// Which rows count as spent on the day from ?1 to ?2. Rows are numbered in the order they were written, but their times may be out of
/// order, because a clock can be set.
/// - A row in the future counts, unless a row of an earlier day was written after it: then it does not belong to today, and a clock that
///   was once wrong does not block the model for ever.
/// - A row written after one of today belongs to today or later, whatever its time: setting the clock back does not give a day a second
///   budget.
const COUNTS_FOR_DAY: &str = "(at >= ?1 AND at < ?2)
    OR (at >= ?2 AND pk > (SELECT coalesce(max(pk), 0) FROM spend WHERE at < ?1))
    OR (at < ?1 AND pk > (SELECT min(pk) FROM spend WHERE at >= ?1 AND at < ?2))";

/// A call that is about to start.
#[derive(Debug, Clone)]
pub(crate) struct PlannedCall<'a> {
    pub(crate) at: Millis,
    /// The day whose budget it counts against.
    pub(crate) day: Range<Millis>,
    /// Session id, or the name of another kind of request.
    pub(crate) name: &'a str,
    pub(crate) model: &'a str,
    pub(crate) worst_usd: f64,
    /// What the current run has spent or reserved so far.
    pub(crate) spent_run: f64,
}

/// Money reserved for one call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reservation {
    pub(crate) pk: i64,
    pub(crate) usd: f64,
}

impl Reader {
    /// The reservation of the last call with this name, if it was never settled because its run was killed. Unsettled reservations before
    /// a settled one belong to calls whose cost was never reported.
    pub(crate) fn open_reservation(&self, name: &str) -> Result<Option<Reservation>> {
        let sql = "SELECT pk, reserved_usd, actual_usd IS NULL FROM spend WHERE session = ?1 ORDER BY pk DESC LIMIT 1";
        let last = self.db.query_row(sql, [name], |r| Ok((Reservation { pk: r.get(0)?, usd: r.get(1)? }, r.get(2)?)));
        Ok(last.optional()?.and_then(|(reservation, open)| Some(reservation).filter(|_| open)))
    }

    /// The model that last answered to a name.
    pub(crate) fn answered_by(&self, asked: &str) -> Result<Option<String>> {
        Ok(self.db.query_row("SELECT model FROM answered WHERE asked = ?1", [asked], |r| r.get(0)).optional()?)
    }

    /// Spent or reserved on a day, in US dollars.
    pub(crate) fn spent_on(&self, day: &Range<Millis>) -> Result<f64> {
        spent_on(&self.db, day)
    }

    /// Spent or reserved in total, in US dollars.
    pub(crate) fn spent(&self) -> Result<f64> {
        Ok(self.db.query_row("SELECT coalesce(sum(coalesce(actual_usd, reserved_usd)), 0.0) FROM spend", [], |r| r.get(0))?)
    }
}

impl Reader {
    /// Calls since then, and what they cost, in US dollars.
    pub(crate) fn calls_since(&self, since: Millis) -> Result<(i64, f64)> {
        let sql = "SELECT count(*), coalesce(sum(coalesce(actual_usd, reserved_usd)), 0.0) FROM spend WHERE at >= ?1";
        Ok(self.db.query_row(sql, [since], |r| Ok((r.get(0)?, r.get(1)?)))?)
    }
}

impl Writer {
    /// Reserves the worst case of a call if the budget has room for it. If an earlier call of this model cost more on the same day than
    /// its worst case, the estimate is too low here, and the reservation is scaled up by the same factor.
    pub(crate) fn reserve(&mut self, call: &PlannedCall<'_>, budget: &Budget) -> Result<Result<Reservation, SkipReason>> {
        let tx = self.reader.db.transaction()?;
        let usd = call.worst_usd * worst_overrun(&tx, call)?;
        let today = spent_on(&tx, &call.day)?;
        let pk = match check_budget(usd, call.spent_run, today, budget) {
            Ok(()) => insert(&tx, call, usd)?,
            Err(skip) => {
                record_day(&tx, call.at, &call.day)?;
                tx.commit()?;
                return Ok(Err(skip));
            }
        };
        tx.commit()?;
        Ok(Ok(Reservation { pk, usd }))
    }

    /// Records the actual cost and returns what was reserved.
    pub(crate) fn settle(&self, reservation: i64, actual_usd: f64) -> Result<f64> {
        let sql = "UPDATE spend SET actual_usd = ?2 WHERE pk = ?1 RETURNING reserved_usd";
        Ok(self.db.query_row(sql, params![reservation, actual_usd], |r| r.get(0))?)
    }

    /// Books what a digest cost that came back from its page, unless that is known.
    pub(crate) fn book_again(&self, at: Millis, session: &str, model: &str, usd: f64) -> Result<()> {
        let sql = "INSERT INTO spend(at, session, model, reserved_usd, actual_usd) SELECT ?1, ?2, ?3, ?4, ?4
            WHERE NOT EXISTS (SELECT 1 FROM spend WHERE session = ?2 AND actual_usd = ?4)";
        self.db.prepare_cached(sql)?.execute(params![at, session, model, usd])?;
        Ok(())
    }

    /// Records which model answered when `asked` was requested.
    pub(crate) fn record_answering_model(&self, asked: &str, model: &str) -> Result<()> {
        let sql = "INSERT INTO answered(asked, model) VALUES (?1, ?2)
            ON CONFLICT(asked) DO UPDATE SET model = excluded.model WHERE model <> excluded.model";
        self.db.prepare_cached(sql)?.execute([asked, model])?;
        Ok(())
    }

    /// Notes that a day passed without a call, for a clock that was ahead.
    pub(crate) fn record_day(&self, at: Millis, day: &Range<Millis>) -> Result<()> {
        record_day(&self.db, at, day)
    }
}

fn insert(db: &Connection, call: &PlannedCall<'_>, usd: f64) -> Result<i64> {
    let sql = "INSERT INTO spend(at, session, model, reserved_usd) VALUES (?1, ?2, ?3, ?4) RETURNING pk";
    Ok(db.query_row(sql, params![call.at, call.name, call.model, usd], |r| r.get(0))?)
}

fn spent_on(db: &Connection, day: &Range<Millis>) -> Result<f64> {
    let sql = format!("SELECT coalesce(sum(coalesce(actual_usd, reserved_usd)), 0.0) FROM spend WHERE {COUNTS_FOR_DAY}");
    Ok(db.query_row(&sql, [day.start, day.end], |r| r.get(0))?)
}

/// Largest ratio of actual to reserved cost among this model's calls of the day; at least 1.
fn worst_overrun(db: &Connection, call: &PlannedCall<'_>) -> Result<f64> {
    let sql = format!(
        "SELECT coalesce(max(actual_usd / reserved_usd), 1.0) FROM spend
         WHERE model = ?3 AND reserved_usd > 0 AND actual_usd > reserved_usd AND ({COUNTS_FOR_DAY})"
    );
    Ok(db.query_row(&sql, params![call.day.start, call.day.end, call.model], |r| r.get(0))?)
}

/// When rows lie in the future, a day without spending writes an empty row too, so that the following day can be told from it.
fn record_day(db: &Connection, at: Millis, day: &Range<Millis>) -> Result<()> {
    let sql = "INSERT INTO spend(at, session, model, reserved_usd, actual_usd) SELECT ?1, '', '', 0, 0
        WHERE EXISTS (SELECT 1 FROM spend WHERE at >= ?3)
          AND NOT EXISTS (SELECT 1 FROM spend WHERE pk = (SELECT max(pk) FROM spend) AND at >= ?2 AND at < ?3)";
    db.execute(sql, params![at, day.start, day.end])?;
    Ok(())
}

#[cfg(test)]
mod tests;
