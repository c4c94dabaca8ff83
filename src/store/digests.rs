//! Digests, their open items, and which sessions still need one.

use std::collections::{BTreeSet, HashSet};

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::{Reader, Writer, notes, rules, search};
use crate::analyze::account::ACCOUNT_RULES;
use crate::analyze::eligibility::{ModelFailures, SkipReason};
use crate::analyze::minhash::SessionWordSet;
use crate::model::digest::{CLAUDE_MEM, Digest, OpenItem, WITHOUT_MODEL, is_by_model};
use crate::model::section::Section;
use crate::model::session_head::SessionHead;
use crate::model::stored_digest::StoredDigest;
use crate::store::codec::{pack, unpack};
use crate::store::denied;
use crate::store::digest_inputs::DigestInputs;
use crate::store::near_duplicates;
use crate::store::overtaken;
use crate::store::packed::{PackedAccount, PackedDigest};
use transcripts::session::{Millis, unused_id};

/// Prefix of facts that record used replies; the input hash follows it.
const USED_REPLY: &str = "used reply:";

/// A digest to be stored.
#[derive(Debug, Clone)]
pub(crate) struct NewDigest<'a> {
    pub(crate) summarizer: &'static str,
    pub(crate) model: Option<String>,
    pub(crate) input_hash: [u8; 32],
    pub(crate) made_at: Millis,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) queued: bool,
    /// While the session is ongoing: the latest timestamp of its records.
    pub(crate) interim_until: Option<Millis>,
    /// The open items its summarizer was shown; it may close some of them.
    pub(crate) open: &'a [OpenItem],
    /// Only for a digest made without the model.
    pub(crate) basis: Option<DigestInputs>,
    pub(crate) digest: PackedDigest,
    /// `None` where the session's rows are not at hand; the next digest makes it from them.
    pub(crate) account: Option<&'a PackedAccount>,
}

/// What is recorded about a session's digest, without its content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DigestState {
    pub(crate) summarizer: String,
    pub(crate) input_hash: [u8; 32],
    pub(crate) queued: bool,
    /// The session was ongoing when it was made.
    pub(crate) interim: bool,
}

impl Reader {
    /// A session's digest as it is told: without what the user said is not so.
    pub fn digest_of(&self, session: i64) -> Result<Option<StoredDigest>> {
        let whole = self.whole_digest_of(session)?;
        whole.map(|whole| Ok(StoredDigest { digest: denied::not_denied(&self.db, session, whole.digest)?, ..whole })).transpose()
    }

    /// A session's digest as it is stored. Only what changes it may read it so.
    pub(crate) fn whole_digest_of(&self, session: i64) -> Result<Option<StoredDigest>> {
        let sql = "SELECT id, summarizer, model, input_hash, made_at, cost_usd, queued, interim_until, body FROM digest WHERE session = ?1 AND superseded = 0";
        let found = self.db.prepare_cached(sql)?.query_row([session], |r| Ok((stored(r)?, r.get::<_, Vec<u8>>(8)?))).optional()?;
        found.map(|(stored, body)| Ok(StoredDigest { digest: unpack(&body)?, ..stored })).transpose()
    }

    /// Title of a session's digest.
    pub(crate) fn title_of(&self, session: i64) -> Result<Option<String>> {
        let sql = "SELECT title FROM digest WHERE session = ?1 AND superseded = 0";
        match self.db.prepare_cached(sql)?.query_row([session], |r| r.get::<_, Option<String>>(0)).optional()? {
            // Made before titles had a column of their own.
            Some(None) => Ok(self.digest_of(session)?.map(|stored| stored.digest.title)),
            title => Ok(title.flatten()),
        }
    }

    /// Was the session ongoing when it was digested?
    pub(crate) fn goes_on(&self, session: i64) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM digest WHERE session = ?1 AND superseded = 0 AND interim_until IS NOT NULL)";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0))?)
    }

    /// Did a model digest the session?
    pub(crate) fn has_claims(&self, session: i64) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM digest WHERE session = ?1 AND superseded = 0 AND summarizer <> ?2)";
        Ok(self.db.prepare_cached(sql)?.query_row(params![session, WITHOUT_MODEL], |r| r.get(0))?)
    }

    pub(crate) fn digest_state(&self, session: i64) -> Result<Option<DigestState>> {
        let sql =
            "SELECT summarizer, input_hash, queued, interim_until IS NOT NULL FROM digest WHERE session = ?1 AND superseded = 0";
        let state = |r: &rusqlite::Row<'_>| {
            Ok(DigestState { summarizer: r.get(0)?, input_hash: r.get(1)?, queued: r.get(2)?, interim: r.get(3)? })
        };
        Ok(self.db.prepare_cached(sql)?.query_row([session], state).optional()?)
    }

    /// Why a session has no digest of its latest state, if that is recorded.
    pub(crate) fn skip_of(&self, session: i64) -> Result<Option<String>> {
        Ok(self.db.prepare_cached("SELECT skip FROM session WHERE pk = ?1")?.query_row([session], |r| r.get(0))?)
    }

    /// Sessions that no digest tells, because there is nothing to tell. One that is skipped for now is none of them.
    pub(crate) fn sessions_of_nobody(&self) -> Result<HashSet<i64>> {
        let sql = "SELECT s.pk FROM session s WHERE s.skip IN (?1, ?2)
             AND NOT EXISTS (SELECT 1 FROM digest d WHERE d.session = s.pk AND d.superseded = 0)";
        let nothing = [SkipReason::NoPrompt, SkipReason::NoWork].map(|reason| reason.to_string());
        Ok(self.db.prepare_cached(sql)?.query_map(nothing, |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Sessions whose last model call failed.
    pub(crate) fn unanswered_sessions(&self) -> Result<HashSet<i64>> {
        let mut query = self.db.prepare("SELECT session FROM attempt")?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// How the model failed on a session.
    pub(crate) fn failures_of(&self, session: i64) -> Result<Option<ModelFailures>> {
        let sql = "SELECT failures, last_at, declined FROM attempt WHERE session = ?1";
        let failures = |r: &rusqlite::Row<'_>| Ok(ModelFailures { times: r.get(0)?, last: r.get(1)?, declined: r.get(2)? });
        Ok(self.db.prepare_cached(sql)?.query_row([session], failures).optional()?)
    }

    /// Input hashes (hexadecimal) of replies that became digests and may still be on disk.
    pub(crate) fn used_replies(&self) -> Result<Vec<String>> {
        let mut query = self.db.prepare("SELECT substr(name, ?2) FROM fact WHERE name GLOB ?1 || '*'")?;
        let names = query.query_map(params![USED_REPLY, USED_REPLY.len() as i64 + 1], |r| r.get(0))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    }

    /// Does any digest wait for the model, or did the model fail on any session?
    pub(crate) fn waits_for_model(&self) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM digest WHERE queued AND superseded = 0) OR EXISTS (SELECT 1 FROM attempt)";
        Ok(self.db.query_row(sql, [], |r| r.get(0))?)
    }

    pub(crate) fn last_run(&self) -> Result<Option<(Millis, String)>> {
        Ok(self.last_runs(1)?.pop())
    }

    /// When the last runs that did something were, and their reports, newest first.
    pub(crate) fn last_runs(&self, limit: usize) -> Result<Vec<(Millis, String)>> {
        let mut of_log = self.db.prepare_cached("SELECT at, report FROM run ORDER BY pk DESC LIMIT ?1")?;
        let runs = of_log.query_map([limit as i64], |r| Ok((r.get(0)?, r.get(1)?)))?;
        Ok(runs.collect::<rusqlite::Result<_>>()?)
    }
}

impl Writer {
    /// Stores a session's digest in place of its previous one, with everything that follows from it. After an interim digest the session
    /// still needs its final one.
    pub(crate) fn save_digest(&self, head: &SessionHead, new: &NewDigest<'_>) -> Result<()> {
        self.in_transaction(|| self.put_digest(head, new))
    }

    /// The same within a transaction of the caller's: for digests that are made again from the transcripts where they are lost.
    pub(crate) fn put_digest(&self, head: &SessionHead, new: &NewDigest<'_>) -> Result<()> {
        self.put(head, new, None, new.interim_until.is_some())
    }

    fn put(&self, head: &SessionHead, new: &NewDigest<'_>, id: Option<&str>, dirty: bool) -> Result<()> {
        let db = &self.db;
        let had_one = has_left_something(db, head.pk)?;
        let closed_before = if had_one { closed_by(db, head.pk)? } else { BTreeSet::new() };
        if had_one {
            supersede(db, head.pk)?;
        } else {
            search::mark_outdated(db, head.pk)?;
        }
        let denied = denied::if_denied(db, head.pk, &new.digest)?;
        let told: &Digest = denied.as_ref().unwrap_or(&new.digest);
        let id = match id {
            Some(id) if !is_of_another(db, head, id)? => id.to_owned(),
            _ => id_of(db, head, new)?,
        };
        db.prepare_cached("DELETE FROM digest WHERE id = ?1")?.execute([&id])?;
        let basis = new.basis.as_ref().map(serde_json::to_string).transpose()?;
        let sql =
            "INSERT INTO digest(id, session, summarizer, model, input_hash, made_at, cost_usd, queued, body, title, interim_until, basis,
             account, account_rules) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
        db.prepare_cached(sql)?.execute(params![
            id,
            head.pk,
            new.summarizer,
            new.model,
            new.input_hash,
            new.made_at,
            new.cost_usd,
            new.queued,
            new.digest.body,
            told.title,
            new.interim_until,
            basis,
            new.account.map(|account| &account.body),
            new.account.map(|_| ACCOUNT_RULES)
        ])?;
        let digest = db.last_insert_rowid();
        if let Some(account) = new.account {
            self.save_beside_account(digest, account)?;
        }
        if new.interim_until.is_none() {
            let words = denied.as_ref().map(|told| SessionWordSet::of(told, new.account.map(|account| &account.stored.account)));
            near_duplicates::record_signature(db, head.pk, words.as_ref().unwrap_or(&new.digest.words))?;
        }
        put_open_items(db, head, told)?;
        if had_one || !new.digest.closes.is_empty() {
            save_closings(db, head, new)?;
        }
        // Who opened a note again need not do so after each digest.
        for id in new.digest.closes.iter().filter(|id| !closed_before.contains(*id)) {
            notes::close_named(db, id, head)?;
        }
        let sql = "UPDATE session SET dirty = ?2, page_dirty = 1, skip = NULL, compacted_at = NULL WHERE pk = ?1";
        db.prepare_cached(sql)?.execute(params![head.pk, dirty])?;
        if is_by_model(new.summarizer) {
            db.execute("DELETE FROM attempt WHERE session = ?1", [head.pk])?;
            // Without this, the reply file could not be told from a reply to the same question asked again.
            let sql = "INSERT INTO fact VALUES (?1 || lower(hex(?2)), '') ON CONFLICT DO NOTHING";
            db.execute(sql, params![USED_REPLY, new.input_hash])?;
        }
        Ok(())
    }

    /// Stores a digest that its page gave back, under the id that it had there if no other session's has it. `lacks`: the session has grown
    /// since.
    pub(crate) fn save_digest_again(&self, head: &SessionHead, new: &NewDigest<'_>, id: Option<&str>, lacks: bool) -> Result<()> {
        let is_id = |id: &&str| id.len() == 9 && id.starts_with('d') && id[1..].bytes().all(|b| b.is_ascii_hexdigit());
        self.in_transaction(|| self.put(head, new, id.filter(is_id), lacks))
    }

    /// Puts another text in place of a digest, made by other rules. What it closes stays.
    pub(crate) fn remake_digest(&self, head: &SessionHead, digest: &Digest) -> Result<()> {
        let tx = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        tx.execute("UPDATE digest SET body = ?2 WHERE session = ?1 AND superseded = 0", params![head.pk, pack(digest)?])?;
        retell(&tx, head, digest)?;
        Ok(tx.commit()?)
    }

    /// Records that the stored digest still holds. If the session itself changed, its page and its account may be out of date.
    pub(crate) fn refresh_pages(&self, session: i64) -> Result<()> {
        let sql = "UPDATE digest SET account_rules = NULL WHERE session = ?1 AND superseded = 0
             AND EXISTS (SELECT 1 FROM session WHERE pk = ?1 AND dirty = 1)";
        self.db.prepare_cached(sql)?.execute([session])?;
        let sql = "UPDATE session SET page_dirty = page_dirty OR dirty = 1, dirty = 0 WHERE pk = ?1 AND dirty";
        self.db.prepare_cached(sql)?.execute([session])?;
        Ok(())
    }

    /// Removes a session's digest because nothing that is stored now is worth one: it dates from when copied records still counted as the
    /// session's own. It stays when there are no records of a transcript: when damage left none, or another tool told of the session. Then it
    /// is all there is. The caller holds the transaction.
    pub(crate) fn drop_digest(&self, session: i64) -> Result<()> {
        let db = &self.db;
        let of_transcript = "SELECT EXISTS (SELECT 1 FROM source WHERE session = ?1 AND file <> ?2)";
        if !db.prepare_cached(of_transcript)?.query_row(params![session, CLAUDE_MEM], |r| r.get(0))? {
            db.prepare_cached("UPDATE session SET dirty = 0 WHERE pk = ?1")?.execute([session])?;
            return Ok(());
        }
        if has_left_something(db, session)? {
            supersede(db, session)?;
        }
        let sql = "UPDATE session SET dirty = 0, page_dirty = page_dirty OR EXISTS (SELECT 1 FROM page WHERE session = session.pk)
             WHERE pk = ?1 AND dirty";
        db.prepare_cached(sql)?.execute([session])?;
        Ok(())
    }

    /// Records why a session has no digest of its latest state; `status` shows it.
    pub(crate) fn record_skip(&self, session: i64, why: &str) -> Result<()> {
        let sql = "UPDATE session SET skip = ?2 WHERE pk = ?1 AND skip IS NOT ?2";
        self.db.prepare_cached(sql)?.execute(params![session, why])?;
        Ok(())
    }

    /// Notes that the model failed on a session; `declined` if the same request would fail the same way.
    pub(crate) fn note_failure(&self, session: i64, at: Millis, error: &str, declined: bool) -> Result<()> {
        let sql = "INSERT INTO attempt(session, failures, last_at, error, declined) VALUES (?1, 1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET failures = failures + 1, last_at = ?2, error = ?3, declined = ?4";
        self.db.execute(sql, params![session, at, error, declined])?;
        Ok(())
    }

    /// Records that the model was unavailable when asked about this session. Not counted as a failure of the session.
    pub(crate) fn record_model_unavailable(&self, session: i64, at: Millis, error: &str) -> Result<()> {
        self.db.execute(
            "INSERT INTO attempt(session, failures, last_at, error) VALUES (?1, 0, ?2, ?3) ON CONFLICT DO NOTHING",
            params![session, at, error],
        )?;
        Ok(())
    }

    /// Forgets the used replies: none of their files is left.
    pub(crate) fn drop_used_replies(&self) -> Result<()> {
        self.db.execute("DELETE FROM fact WHERE name GLOB ?1 || '*'", [USED_REPLY])?;
        Ok(())
    }

    pub(crate) fn log_run(&self, at: Millis, report: &str) -> Result<()> {
        self.db.execute("INSERT INTO run(at, report) VALUES (?1, ?2)", params![at, report])?;
        // A log, not an archive: only the last 500 runs are kept.
        self.db.execute("DELETE FROM run WHERE pk <= (SELECT max(pk) FROM run) - 500", [])?;
        Ok(())
    }
}

fn stored(r: &rusqlite::Row<'_>) -> rusqlite::Result<StoredDigest> {
    Ok(StoredDigest {
        id: r.get(0)?,
        summarizer: r.get(1)?,
        model: r.get(2)?,
        input_hash: r.get(3)?,
        made_at: r.get(4)?,
        cost_usd: r.get(5)?,
        queued: r.get(6)?,
        interim_until: r.get(7)?,
        digest: Digest::default(),
    })
}

/// A digest id derived from the session and the digest's content, unique across sessions. The same digest of the same session gets the
/// same id again.
fn id_of(db: &Connection, head: &SessionHead, new: &NewDigest<'_>) -> Result<String> {
    unused_id("d", &[&head.id, new.summarizer, &new.digest.json], |id| is_of_another(db, head, id))
}

fn is_of_another(db: &Connection, head: &SessionHead, id: &str) -> Result<bool> {
    let mut others = db.prepare_cached("SELECT EXISTS (SELECT 1 FROM digest WHERE id = ?1 AND session <> ?2)")?;
    Ok(others.query_row(params![id, head.pk], |r| r.get(0))?)
}

/// Does a session have a digest, or anything that one left? Most sessions get their first one.
fn has_left_something(db: &Connection, session: i64) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM digest WHERE session = ?1) OR EXISTS (SELECT 1 FROM open_item WHERE session = ?1)
         OR EXISTS (SELECT 1 FROM closed_item WHERE session = ?1) OR EXISTS (SELECT 1 FROM closing WHERE session = ?1)
         OR EXISTS (SELECT 1 FROM likeness WHERE session = ?1)";
    Ok(db.prepare_cached(sql)?.query_row([session], |r| r.get(0))?)
}

/// Retires the current digest with what it brought. One made by the model was paid for and is kept; one made without it can be made again
/// and is deleted.
fn supersede(db: &Connection, session: i64) -> Result<()> {
    search::mark_outdated(db, session)?;
    near_duplicates::drop_signature(db, session)?;
    outdate_pages_that_follow(db, session)?;
    db.prepare_cached("DELETE FROM open_item WHERE session = ?1")?.execute([session])?;
    db.prepare_cached("DELETE FROM closed_item WHERE session = ?1")?.execute([session])?;
    db.prepare_cached("DELETE FROM closing WHERE session = ?1")?.execute([session])?;
    let gone = "session = ?1 AND superseded = 0 AND summarizer = 'extract'";
    let sql =
        format!("INSERT INTO former_digest SELECT id, session FROM digest WHERE {gone} ON CONFLICT DO UPDATE SET session = ?1");
    db.prepare_cached(&sql)?.execute([session])?;
    db.prepare_cached(&format!("DELETE FROM digest WHERE {gone}"))?.execute([session])?;
    let sql = "UPDATE digest SET superseded = 1, account = NULL, account_rules = NULL WHERE session = ?1 AND superseded = 0";
    db.prepare_cached(sql)?.execute([session])?;
    Ok(())
}

fn put_open_items(db: &Connection, head: &SessionHead, digest: &Digest) -> Result<()> {
    db.prepare_cached("DELETE FROM open_item WHERE session = ?1")?.execute([head.pk])?;
    for (place, (id, kind, claim)) in digest.open_items(&head.id).enumerate() {
        let at = (head.started_at != Millis::MAX).then_some(head.started_at);
        let sql = "INSERT INTO open_item(id, session, kind, text, at, verified, place) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT DO NOTHING";
        db.prepare_cached(sql)?.execute(params![id, head.pk, kind, claim.text, at, true, place as i64])?;
    }
    Ok(())
}

/// Makes what follows from a digest as it is stored: title, open items, and what later runs make anew.
pub(super) fn retell(db: &Connection, head: &SessionHead, whole: &Digest) -> Result<()> {
    let told = denied::not_denied(db, head.pk, whole.clone())?;
    db.prepare_cached("UPDATE digest SET title = ?2, basis = NULL WHERE session = ?1 AND superseded = 0")?
        .execute(params![head.pk, told.title])?;
    put_open_items(db, head, &told)?;
    if !whole[Section::Instructions].is_empty() {
        rules::find_in(db, head.pk)?;
    }
    outdate(db, head.pk)
}

/// Marks what is made of a session's digest and rows: its page, its document, its signature.
pub(super) fn outdate(db: &Connection, session: i64) -> Result<()> {
    near_duplicates::drop_signature(db, session)?;
    search::mark_outdated(db, session)?;
    db.prepare_cached("UPDATE session SET page_dirty = 1 WHERE pk = ?1")?.execute([session])?;
    Ok(())
}

/// The ids that a session's digest closes as it is stored now.
fn closed_by(db: &Connection, session: i64) -> Result<BTreeSet<String>> {
    let mut query = db.prepare_cached("SELECT id FROM closing WHERE session = ?1")?;
    Ok(query.query_map([session], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}

fn save_closings(db: &Connection, head: &SessionHead, new: &NewDigest<'_>) -> Result<()> {
    for item in new.open.iter().filter(|item| new.digest.closes.contains(&item.id)) {
        let sql = "INSERT INTO closed_item VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
        db.prepare_cached(sql)?.execute(params![item.id, head.pk, item.session, item.text])?;
    }
    for id in &new.digest.closes {
        db.prepare_cached("INSERT INTO closing VALUES (?1, ?2) ON CONFLICT DO NOTHING")?.execute(params![id, head.pk])?;
    }
    outdate_pages_that_follow(db, head.pk)
}

/// Pages of sessions whose open items this one closes show them as done, and so do those of sessions that say the same; pages of sessions of
/// which it overtakes something quote it.
pub(super) fn outdate_pages_that_follow(db: &Connection, session: i64) -> Result<()> {
    let sql = "UPDATE session SET page_dirty = 1 WHERE pk IN (
         SELECT of FROM closed_item WHERE session = ?1
         UNION ALL SELECT o.session FROM closing c JOIN open_item o ON o.id = c.id WHERE c.session = ?1
         UNION ALL SELECT m.session FROM closed_item c JOIN open_item o ON o.session = c.of JOIN open_item m ON m.life = o.life
             WHERE c.session = ?1
         UNION ALL SELECT m.session FROM closing c JOIN open_item o ON o.id = c.id JOIN open_item m ON m.life = o.life
             WHERE c.session = ?1)";
    db.prepare_cached(sql)?.execute([session])?;
    overtaken::outdate_pages(db, overtaken::Later::Session(session))
}
