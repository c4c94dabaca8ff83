//! Private turns in the index: their rows by key, so that no copy of them comes in, and the time they took, because a subagent's
//! file does not say for which prompt it worked.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use rusqlite::params;

use super::Batch;
use super::writer::Writer;
use crate::session::{Millis, Row, RowKey};
use crate::store::around::{PrivateSpan, private_spans};
use crate::store::forget::take;

impl Writer<'_> {
    /// Writes down which turns are private.
    pub fn note_private(&mut self, batch: &Batch) -> Result<()> {
        let mut copies: BTreeMap<i64, BTreeSet<RowKey>> = BTreeMap::new();
        for key in &batch.private_rows {
            let sql = "INSERT INTO forgotten_row(key, private) VALUES (?1, 1) ON CONFLICT DO UPDATE SET private = 1";
            self.tx.prepare_cached(sql)?.execute([key.0])?;
            let mut holders = self.tx.prepare_cached("SELECT DISTINCT session FROM item WHERE key = ?1")?;
            for session in holders.query_map([key.0], |r| r.get(0))? {
                copies.entry(session?).or_default().insert(*key);
            }
        }
        // Forks that were read first, and what a program stored that knew of no private turns.
        self.take_back(&copies)?;
        for boundary in &batch.boundaries {
            if boundary.begins {
                let sql = "INSERT INTO private_turn(session, from_at, prompt) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
                self.tx.prepare_cached(sql)?.execute(params![boundary.session, boundary.at, boundary.prompt])?;
            } else {
                let sql = "UPDATE private_turn SET until_at = ?2 WHERE session = ?1 AND until_at IS NULL AND from_at <= ?2";
                self.tx.prepare_cached(sql)?.execute(params![boundary.session, boundary.at])?;
            }
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
        let asked_in = |prompt: &String| spans.iter().any(|span| span.prompt.as_ref() == Some(prompt));
        let began = batch.agent.as_ref();
        Ok(within(row.at) || began.is_some_and(|b| within(b.at) || b.prompt.as_ref().is_some_and(asked_in)))
    }

    fn spans(&mut self, session: &str) -> Result<&[PrivateSpan]> {
        if !self.private.contains_key(session) {
            self.private.insert(session.to_owned(), private_spans(self.tx, session)?);
        }
        Ok(&self.private[session])
    }

    /// What subagents are known to have done in turns that turned out to be private goes again, and with it what older clients summed
    /// up after such a turn.
    pub fn drop_private_agents(&mut self) -> Result<()> {
        for session in std::mem::take(&mut self.newly_private) {
            let sql = "SELECT i.session, i.key FROM session s JOIN source f ON f.session = s.pk AND f.agent <> ''
                 JOIN item i ON i.session = s.pk AND i.source = f.pk
                 WHERE s.id = ?1 AND EXISTS (SELECT 1 FROM private_turn p WHERE p.session = ?1
                     AND (i.at >= p.from_at AND i.at < coalesce(p.until_at, i.at + 1)
                          OR f.first_at >= p.from_at AND f.first_at < coalesce(p.until_at, f.first_at + 1)))";
            let mut query = self.tx.prepare_cached(sql)?;
            let mut found = query.query([&session])?;
            let mut rows: BTreeMap<i64, BTreeSet<RowKey>> = BTreeMap::new();
            while let Some(r) = found.next()? {
                rows.entry(r.get(0)?).or_default().insert(RowKey(r.get(1)?));
            }
            self.take_back(&rows)?;
        }
        self.drop_private_titles()
    }

    /// Titles that older clients gave to private rows, or after a private turn to the whole conversation.
    fn drop_private_titles(&self) -> Result<()> {
        // In this order, whatever is guessed about the tables: there are few titles and many items.
        let sql = "DELETE FROM leaf_title WHERE EXISTS (SELECT 1 FROM forgotten_row WHERE key = leaf)
             OR EXISTS (SELECT 1 FROM item i CROSS JOIN session s ON s.pk = i.session CROSS JOIN private_turn p ON p.session = s.id
                 WHERE i.key = leaf AND i.at >= p.from_at)
             RETURNING leaf";
        let leaves = self.tx.prepare_cached(sql)?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<Vec<[u8; 16]>>>()?;
        for leaf in leaves {
            take::title_of(self.tx, RowKey(leaf))?;
        }
        Ok(())
    }

    /// Takes out rows that are stored, with whatever was made of them.
    fn take_back(&self, rows: &BTreeMap<i64, BTreeSet<RowKey>>) -> Result<()> {
        for (session, keys) in rows {
            take::rows(self.tx, *session, keys)?;
            take::derived(self.tx, *session)?;
        }
        Ok(())
    }
}
