//! Private turns in the index: the keys of their records, so that no copy is stored, and the time they took, because a subagent's file
//! does not say for which prompt it worked.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use rusqlite::params;

use super::IngestBatch;
use super::writer::IngestWriter;
use crate::store::chunk;
use crate::store::forget::removal;
use crate::store::neighbours::{PrivateSpan, private_spans};
use transcripts::session::{Millis, Record, RecordKey};

impl IngestWriter<'_, '_> {
    /// Records which turns are private.
    pub(crate) fn note_private(&mut self, batch: &IngestBatch) -> Result<()> {
        let mut copies: BTreeMap<i64, BTreeSet<RecordKey>> = BTreeMap::new();
        if !batch.private_rows.is_empty() {
            self.forgets = true;
            // Records buffered earlier in this transaction may be copies.
            self.flush_items()?;
        }
        for key in &batch.private_rows {
            let sql = "INSERT INTO forgotten_row(key, private) VALUES (?1, 1) ON CONFLICT DO UPDATE SET private = 1";
            self.tx.prepare_cached(sql)?.execute([key.0])?;
            for session in self.whereabouts.sessions_with(self.tx, *key)? {
                copies.entry(session).or_default().insert(*key);
            }
        }
        // Forks that were read first, and records stored by a program that did not know private turns.
        self.remove_records(&copies)?;
        for boundary in &batch.boundaries {
            if boundary.begins {
                let sql = "INSERT INTO private_turn(session, from_at, prompt) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
                self.tx.prepare_cached(sql)?.execute(params![boundary.session, boundary.at, boundary.prompt])?;
            } else {
                // Left to itself, SQLite looks through all turns of the session: it takes the primary key for as good.
                let sql = "UPDATE private_turn INDEXED BY private_turn_open SET until_at = ?2
                     WHERE session = ?1 AND until_at IS NULL AND from_at <= ?2";
                self.tx.prepare_cached(sql)?.execute(params![boundary.session, boundary.at])?;
            }
            self.private.remove(&boundary.session);
            self.newly_private.insert(boundary.session.clone());
        }
        Ok(())
    }

    /// Removes titles that earlier programs stored with a session in which they were not given.
    pub(crate) fn drop_brought(&mut self, batch: &IngestBatch) -> Result<()> {
        let mut brought: BTreeMap<&str, BTreeSet<RecordKey>> = BTreeMap::new();
        for (session, key) in &batch.brought {
            brought.entry(session).or_default().insert(*key);
        }
        let mut stored = BTreeMap::new();
        for (session, keys) in brought {
            if let Some(pk) = self.stored_session(session)? {
                // Clients repeat a title at every turn: the session is looked through once for all of them.
                let held = chunk::held_of(self.tx, pk, &keys)?;
                stored.extend((!held.is_empty()).then_some((pk, held)));
            }
        }
        if !stored.is_empty() {
            self.flush_items()?;
            self.remove_records(&stored)?;
        }
        Ok(())
    }

    /// Did a subagent do this for a private prompt, or while one was being answered?
    pub(crate) fn is_private(&mut self, batch: &IngestBatch, row: &Record) -> Result<bool> {
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

    /// Removes what subagents did in turns that turned out to be private, and titles that older clients derived from such turns.
    pub(crate) fn drop_private_agents(&mut self) -> Result<()> {
        for session in std::mem::take(&mut self.newly_private) {
            let sql =
                "SELECT s.pk, f.pk, f.first_at FROM session s JOIN source f ON f.session = s.pk AND f.agent <> '' WHERE s.id = ?1";
            let mut query = self.tx.prepare_cached(sql)?;
            let of_agents: Vec<(i64, i64, Option<Millis>)> =
                query.query_map([&session], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?.collect::<rusqlite::Result<_>>()?;
            let Some((pk, ..)) = of_agents.first() else { continue };
            let spans = private_spans(self.tx, &session)?;
            let within = |at: Option<Millis>| at.is_some_and(|at| spans.iter().any(|span| span.holds(at)));
            let began: BTreeMap<i64, bool> = of_agents.iter().map(|(_, source, first)| (*source, within(*first))).collect();
            let rows = chunk::items_of(self.tx, *pk)?;
            let private = rows.iter().filter(|kept| began.get(&kept.source).is_some_and(|began| *began || within(kept.line.at)));
            let keys: BTreeSet<RecordKey> = private.map(|kept| kept.line.key).collect();
            if !keys.is_empty() {
                self.remove_records(&BTreeMap::from([(*pk, keys)]))?;
            }
        }
        self.drop_private_titles()
    }

    /// Removes titles that older clients gave to private records, or to a whole conversation after a private turn.
    fn drop_private_titles(&mut self) -> Result<()> {
        // Nearly every index has titles and no private turns: skip looking at each title.
        let sql = "SELECT EXISTS (SELECT 1 FROM private_turn) OR EXISTS (SELECT 1 FROM forgotten_row)";
        if !self.tx.prepare_cached(sql)?.query_row([], |r| r.get(0))? {
            return Ok(());
        }
        let sql = "SELECT leaf, EXISTS (SELECT 1 FROM forgotten_row WHERE key = leaf) FROM leaf_title GROUP BY leaf";
        let mut query = self.tx.prepare_cached(sql)?;
        let leaves = query
            .query_map([], |r| Ok((RecordKey(r.get(0)?), r.get(1)?)))?
            .collect::<rusqlite::Result<BTreeMap<RecordKey, bool>>>()?;
        let behind = self.behind_private_turns(&leaves)?;
        for (leaf, _) in leaves.into_iter().filter(|(leaf, forgotten)| *forgotten || behind.contains(leaf)) {
            self.tx.prepare_cached("DELETE FROM leaf_title WHERE leaf = ?1")?.execute([leaf.0])?;
            removal::remove_derived_from_title(self.tx, &mut self.whereabouts, leaf)?;
        }
        Ok(())
    }

    /// Which of these records lie in or after the first private turn of a session that holds them.
    fn behind_private_turns(&self, rows: &BTreeMap<RecordKey, bool>) -> Result<BTreeSet<RecordKey>> {
        let mut behind = BTreeSet::new();
        if rows.is_empty() {
            return Ok(behind);
        }
        let sql = "SELECT s.pk, min(t.from_at) FROM private_turn t JOIN session s ON s.id = t.session GROUP BY s.pk";
        let mut query = self.tx.prepare_cached(sql)?;
        let private =
            query.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<Vec<(i64, Option<Millis>)>>>()?;
        for (session, first) in private {
            let kept = chunk::items_of(self.tx, session)?;
            let after = kept.iter().filter(|kept| kept.line.at.zip(first).is_some_and(|(at, first)| at >= first));
            behind.extend(after.map(|kept| kept.line.key).filter(|key| rows.contains_key(key)));
        }
        Ok(behind)
    }

    /// Removes stored records and everything derived from them.
    fn remove_records(&mut self, rows: &BTreeMap<i64, BTreeSet<RecordKey>>) -> Result<()> {
        if !rows.is_empty() {
            self.forget_public_names();
        }
        for (session, keys) in rows {
            self.gathered.drop_session(*session);
            removal::remove_records(self.tx, *session, keys)?;
            removal::remove_derived(self.tx, *session)?;
        }
        Ok(())
    }
}
