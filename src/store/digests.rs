//! Digests, the open items they bring, and what still wants one.

use anyhow::Result;
use rusqlite::{OptionalExtension, Transaction, params};

use super::load::SessionHead;
use super::pack::{pack, unpack};
use super::{Store, search};
use crate::digest::{Digest, OpenItem};
use crate::session::{Millis, short_id};

/// How long an open item is worth showing to a later session, in milliseconds.
const OPEN_FOR: Millis = 14 * 24 * 3600 * 1000;
/// Open items a summarizer is shown at most.
const MAX_OPEN: i64 = 12;

/// A digest as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub id: String,
    pub summarizer: String,
    pub model: Option<String>,
    /// Of everything the summarizer was given.
    pub input_hash: [u8; 32],
    pub made_at: Millis,
    pub cost_usd: Option<f64>,
    /// The model is still wanted.
    pub queued: bool,
    pub digest: Digest,
}

/// A digest on its way in.
#[derive(Debug, Clone)]
pub struct NewDigest {
    pub summarizer: &'static str,
    pub model: Option<String>,
    pub input_hash: [u8; 32],
    pub made_at: Millis,
    pub cost_usd: Option<f64>,
    pub queued: bool,
    pub digest: Digest,
}

/// What is on record of a session's digest, without the digest.
#[derive(Debug, Clone, PartialEq)]
pub struct DigestState {
    pub summarizer: String,
    pub input_hash: [u8; 32],
    pub queued: bool,
    pub failures: u32,
    pub last_failure: Option<(Millis, String)>,
}

impl Store {
    pub fn digest_of(&self, session: i64) -> Result<Option<Stored>> {
        let sql = "SELECT id, summarizer, model, input_hash, made_at, cost_usd, queued, body FROM digest WHERE session = ?1 AND superseded = 0";
        let found = self.db.prepare_cached(sql)?.query_row([session], |r| Ok((stored(r)?, r.get::<_, Vec<u8>>(7)?))).optional()?;
        found.map(|(stored, body)| Ok(Stored { digest: unpack(&body)?, ..stored })).transpose()
    }

    pub fn digest_state(&self, session: i64) -> Result<Option<DigestState>> {
        let sql = "SELECT d.summarizer, d.input_hash, d.queued, coalesce(a.failures, 0), a.last_at, a.error
             FROM digest d LEFT JOIN attempt a ON a.session = d.session WHERE d.session = ?1 AND d.superseded = 0";
        let state = self.db.prepare_cached(sql)?.query_row([session], |r| {
            let last_at: Option<Millis> = r.get(4)?;
            Ok(DigestState {
                summarizer: r.get(0)?,
                input_hash: r.get(1)?,
                queued: r.get(2)?,
                failures: r.get(3)?,
                last_failure: last_at.zip(r.get(5)?),
            })
        });
        Ok(state.optional()?)
    }

    pub fn has_digests(&self) -> Result<bool> {
        Ok(self.db.query_row("SELECT EXISTS (SELECT 1 FROM digest)", [], |r| r.get(0))?)
    }

    /// Stores a session's digest in place of the one it had, with all that follows from it.
    pub fn save_digest(&mut self, head: &SessionHead, new: &NewDigest) -> Result<()> {
        let tx = self.db.transaction()?;
        let before = open_texts(&tx, head.pk)?;
        supersede(&tx, head.pk)?;
        let body = pack(&new.digest)?;
        let id = short_id("d", &[&head.id, new.summarizer, &serde_json::to_string(&new.digest)?]);
        tx.execute("DELETE FROM digest WHERE id = ?1", [&id])?;
        let sql = "INSERT INTO digest(id, session, summarizer, model, input_hash, made_at, cost_usd, queued, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        tx.execute(sql, params![id, head.pk, new.summarizer, new.model, new.input_hash, new.made_at, new.cost_usd, new.queued, body])?;
        search::add_digest(&tx, head.pk, &new.digest)?;
        save_open_items(&tx, head, &new.digest)?;
        if open_texts(&tx, head.pk)? != before {
            // Later sessions are shown what this one left open: theirs may have to be made again.
            let sql = "UPDATE session SET dirty = 1 WHERE project = (SELECT project FROM session WHERE pk = ?1) AND pk <> ?1
                 AND (coalesce(started_at, 0), id) > (?2, ?3) AND started_at <= ?2 + ?4 AND EXISTS (SELECT 1 FROM digest WHERE session = session.pk)";
            tx.execute(sql, params![head.pk, head.started_at, head.id, OPEN_FOR])?;
        }
        tx.execute("UPDATE session SET dirty = 0, page_dirty = 1, skip = NULL WHERE pk = ?1", [head.pk])?;
        if new.summarizer == "claude" {
            tx.execute("DELETE FROM attempt WHERE session = ?1", [head.pk])?;
        }
        tx.commit()?;
        Ok(())
    }

    /// The digest on record holds for what is stored now; the pages may still show less of the session.
    pub fn refresh_pages(&self, session: i64) -> Result<()> {
        self.db.execute("UPDATE session SET page_dirty = 1, dirty = 0 WHERE pk = ?1 AND dirty", [session])?;
        Ok(())
    }

    /// Nothing is to be made of what is stored now.
    pub fn mark_clean(&self, session: i64) -> Result<()> {
        self.db.execute("UPDATE session SET dirty = 0 WHERE pk = ?1 AND dirty", [session])?;
        Ok(())
    }

    /// Why a session has no digest of its newest state; shown by `status`.
    pub fn note_skip(&self, session: i64, why: &str) -> Result<()> {
        self.db.execute("UPDATE session SET skip = ?2 WHERE pk = ?1 AND skip IS NOT ?2", params![session, why])?;
        Ok(())
    }

    pub fn note_failure(&self, session: i64, at: Millis, error: &str) -> Result<()> {
        let sql = "INSERT INTO attempt VALUES (?1, 1, ?2, ?3) ON CONFLICT DO UPDATE SET failures = failures + 1, last_at = ?2, error = ?3";
        self.db.execute(sql, params![session, at, error])?;
        Ok(())
    }

    /// What earlier sessions of the project left open when this one began, newest first.
    pub fn open_before(&self, head: &SessionHead) -> Result<Vec<OpenItem>> {
        let sql = "SELECT o.id, o.text FROM open_item o JOIN session s ON s.pk = o.session
             WHERE s.project = (SELECT project FROM session WHERE pk = ?1) AND (s.started_at, s.id) < (?2, ?3) AND s.started_at >= ?2 - ?4
             AND NOT EXISTS (SELECT 1 FROM closed_item c JOIN session b ON b.pk = c.session
                 WHERE c.id = o.id AND b.pk <> ?1 AND (b.started_at, b.id) < (?2, ?3))
             ORDER BY s.started_at DESC, s.id, o.kind, o.place LIMIT ?5";
        let mut query = self.db.prepare_cached(sql)?;
        let rows = query.query_map(params![head.pk, head.started_at, head.id, OPEN_FOR, MAX_OPEN], |r| Ok(OpenItem { id: r.get(0)?, text: r.get(1)? }))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The ids of a session's open items that a later session has closed.
    pub fn closed_of(&self, session: i64) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT c.id FROM closed_item c JOIN open_item o ON o.id = c.id WHERE o.session = ?1";
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query.query_map([session], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    pub fn log_run(&self, at: Millis, report: &str) -> Result<()> {
        self.db.execute("INSERT INTO run(at, report) VALUES (?1, ?2)", params![at, report])?;
        // A log, no archive.
        self.db.execute("DELETE FROM run WHERE pk <= (SELECT max(pk) FROM run) - 500", [])?;
        Ok(())
    }

    pub fn last_run(&self) -> Result<Option<(Millis, String)>> {
        Ok(self.db.query_row("SELECT at, report FROM run ORDER BY pk DESC LIMIT 1", [], |r| Ok((r.get(0)?, r.get(1)?))).optional()?)
    }
}

fn stored(r: &rusqlite::Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        id: r.get(0)?,
        summarizer: r.get(1)?,
        model: r.get(2)?,
        input_hash: r.get(3)?,
        made_at: r.get(4)?,
        cost_usd: r.get(5)?,
        queued: r.get(6)?,
        digest: Digest::default(),
    })
}

fn open_texts(tx: &Transaction<'_>, session: i64) -> Result<Vec<String>> {
    let sql = "SELECT id || ' ' || place FROM open_item WHERE session = ?1 UNION ALL SELECT 'closed ' || id FROM closed_item WHERE session = ?1 ORDER BY 1";
    Ok(tx.prepare_cached(sql)?.query_map([session], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}

/// Takes back what the current digest brought. One that was paid for is kept; one without a model can be made again.
fn supersede(tx: &Transaction<'_>, session: i64) -> Result<()> {
    search::remove_digest(tx, session)?;
    mark_closed_pages(tx, session)?;
    tx.execute("DELETE FROM open_item WHERE session = ?1", [session])?;
    tx.execute("DELETE FROM closed_item WHERE session = ?1", [session])?;
    tx.execute("DELETE FROM digest WHERE session = ?1 AND superseded = 0 AND summarizer = 'extract'", [session])?;
    tx.execute("UPDATE digest SET superseded = 1 WHERE session = ?1", [session])?;
    Ok(())
}

fn save_open_items(tx: &Transaction<'_>, head: &SessionHead, digest: &Digest) -> Result<()> {
    for (place, (id, kind, claim)) in digest.open_items(&head.id).enumerate() {
        let at = (head.started_at != Millis::MAX).then_some(head.started_at);
        let sql = "INSERT INTO open_item VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
        tx.execute(sql, params![id, head.pk, kind, claim.text, at, claim.is_verified(), place as i64])?;
    }
    for id in &digest.closes {
        tx.execute("INSERT INTO closed_item VALUES (?1, ?2) ON CONFLICT DO NOTHING", params![id, head.pk])?;
    }
    mark_closed_pages(tx, head.pk)
}

/// Pages of sessions whose open items this one closes show them as done.
fn mark_closed_pages(tx: &Transaction<'_>, session: i64) -> Result<()> {
    let sql = "UPDATE session SET page_dirty = 1 WHERE pk IN
         (SELECT o.session FROM closed_item c JOIN open_item o ON o.id = c.id WHERE c.session = ?1)";
    tx.execute(sql, [session])?;
    Ok(())
}
