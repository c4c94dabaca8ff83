//! Private turns in the index: their rows by key, so that no copy of them comes in, and the time they took, because a subagent's
//! file does not say for which prompt it worked.

use anyhow::Result;
use rusqlite::params;

use super::Batch;
use super::writer::Writer;
use crate::session::{Millis, Row};

/// From a private prompt to the next one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    from: Millis,
    until: Option<Millis>,
}

impl Span {
    fn holds(self, at: Millis) -> bool {
        self.from <= at && self.until.is_none_or(|until| at < until)
    }
}

impl Writer<'_> {
    /// Writes down which turns are private.
    pub fn note_private(&mut self, batch: &Batch) -> Result<()> {
        for key in &batch.private_rows {
            self.tx.prepare_cached("INSERT INTO forgotten_row VALUES (?1) ON CONFLICT DO NOTHING")?.execute([key.0])?;
        }
        for boundary in &batch.boundaries {
            let sql = if boundary.begins {
                "INSERT INTO private_turn(session, from_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING"
            } else {
                "UPDATE private_turn SET until_at = ?2 WHERE session = ?1 AND until_at IS NULL AND from_at <= ?2"
            };
            self.tx.prepare_cached(sql)?.execute(params![boundary.session, boundary.at])?;
            self.private.remove(&boundary.session);
            self.newly_private.insert(boundary.session.clone());
        }
        Ok(())
    }

    /// Did a subagent do this for a private prompt, or while one was answered?
    pub fn is_private(&mut self, batch: &Batch, row: &Row) -> Result<bool> {
        if row.agent.is_none() {
            return Ok(false);
        }
        let spans = self.spans(&row.session)?;
        let within = |at: Option<Millis>| at.is_some_and(|at| spans.iter().any(|span| span.holds(at)));
        Ok(within(batch.agent_began) || within(row.at))
    }

    fn spans(&mut self, session: &str) -> Result<&[Span]> {
        if !self.private.contains_key(session) {
            let mut query = self.tx.prepare_cached("SELECT from_at, until_at FROM private_turn WHERE session = ?1")?;
            let spans = query.query_map([session], |r| Ok(Span { from: r.get(0)?, until: r.get(1)? }))?;
            self.private.insert(session.to_owned(), spans.collect::<rusqlite::Result<_>>()?);
        }
        Ok(&self.private[session])
    }

    /// What subagents are known to have done in turns that turned out to be private goes again, and with it what older clients summed
    /// up after such a turn.
    pub fn drop_private_agents(&mut self) -> Result<()> {
        for session in std::mem::take(&mut self.newly_private) {
            let sql = "DELETE FROM item WHERE session = (SELECT pk FROM session WHERE id = ?1) AND source IN (
                 SELECT f.pk FROM source f WHERE f.session = item.session AND f.agent <> '')
                 AND EXISTS (SELECT 1 FROM private_turn p, source f WHERE p.session = ?1 AND f.pk = item.source
                     AND (item.at >= p.from_at AND item.at < coalesce(p.until_at, item.at + 1)
                          OR f.first_at >= p.from_at AND f.first_at < coalesce(p.until_at, f.first_at + 1)))";
            let gone = self.tx.prepare_cached(sql)?.execute([&session])?;
            self.done.rows_taken_back += gone as u64;
            if gone > 0 {
                self.tx.prepare_cached("UPDATE session SET dirty = 1 WHERE id = ?1")?.execute([&session])?;
            }
        }
        let sql = "DELETE FROM leaf_title WHERE leaf IN (SELECT key FROM forgotten_row) OR leaf IN (
             SELECT i.key FROM private_turn p JOIN session s ON s.id = p.session JOIN item i ON i.session = s.pk AND i.at >= p.from_at)";
        self.tx.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}
