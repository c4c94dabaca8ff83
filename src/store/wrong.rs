//! What the user said is not so: of what a model said of a session, and of Claude's replies in it. Both are stored whole; whoever is told of
//! them is told the rest.

use std::collections::HashSet;

use anyhow::{Context, Result};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::digests::{outdate, retell};
use super::{Reader, Writer};
use crate::analyze::denied::{DeniedStatement, is_reply_id, reply_id, without_denied};
use crate::model::digest::Digest;
use crate::model::session::{Millis, RecordKey};
use crate::model::session_head::SessionHead;

impl Reader {
    /// What is not so of a session.
    pub(crate) fn denied_of(&self, session: i64) -> Result<Vec<DeniedStatement>> {
        denied_of(&self.db, session)
    }

    /// The session of which it was said that the statement with this id is not so.
    pub(crate) fn session_denying(&self, id: &str) -> Result<Option<SessionHead>> {
        let sql = "SELECT s.pk FROM wrong w JOIN session s ON s.pk = w.session WHERE w.id = ?1 ORDER BY s.pk LIMIT 1";
        let pk: Option<i64> = self.db.prepare_cached(sql)?.query_row([id], |r| r.get(0)).optional()?;
        pk.map(|pk| self.session_head(pk)).transpose()
    }

    /// Replies that were taken out, in all sessions: copies of a session hold them as well.
    pub(crate) fn denied_replies(&self) -> Result<DeniedReplies> {
        DeniedReplies::all(&self.db)
    }
}

impl Writer {
    /// Records that these are not so: they are told no more.
    pub(crate) fn deny(&mut self, head: &SessionHead, denied: &[DeniedStatement], at: Millis) -> Result<()> {
        let ids: Vec<&str> = denied.iter().map(|one| one.id.as_str()).collect();
        self.change_denied(head, &ids, |tx| denied.iter().try_for_each(|one| put(tx, head.pk, one, at).map(drop)))
    }

    /// Takes that back: what is stored of them is told again.
    pub(crate) fn undeny(&mut self, head: &SessionHead, ids: &[&str]) -> Result<()> {
        self.change_denied(head, ids, |tx| {
            let mut delete = tx.prepare_cached("DELETE FROM wrong WHERE session = ?1 AND id = ?2")?;
            ids.iter().try_for_each(|id| delete.execute(params![head.pk, id]).map(drop))?;
            Ok(())
        })
    }

    /// Makes anew what follows from a session of which these are not so now.
    pub(super) fn retell_without(&mut self, head: &SessionHead, ids: &[&str]) -> Result<()> {
        self.change_denied(head, ids, |_| Ok(()))
    }

    fn change_denied(
        &mut self,
        head: &SessionHead,
        ids: &[&str],
        change: impl FnOnce(&Transaction<'_>) -> Result<()>,
    ) -> Result<()> {
        let stored = self.whole_digest_of(head.pk)?;
        let tx = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        change(&tx)?;
        match stored {
            Some(stored) => retell(&tx, head, &stored.digest)?,
            None => outdate(&tx, head.pk)?,
        }
        if ids.iter().any(|id| is_reply_id(id)) {
            // The account quotes it.
            tx.execute("UPDATE digest SET account = NULL, account_rules = NULL WHERE session = ?1 AND superseded = 0", [head.pk])?;
        }
        Ok(tx.commit()?)
    }
}

/// Replies that are told no more.
#[derive(Debug, Default)]
pub(crate) struct DeniedReplies(HashSet<String>);

impl DeniedReplies {
    pub(super) fn all(db: &Connection) -> Result<Self> {
        let mut query = db.prepare_cached("SELECT id FROM wrong WHERE id GLOB 'r*'")?;
        Ok(Self(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?))
    }

    /// Are the replies of this record taken out?
    pub(crate) fn has(&self, row: RecordKey) -> bool {
        !self.0.is_empty() && self.0.contains(&reply_id(row))
    }
}

fn denied_of(db: &Connection, session: i64) -> Result<Vec<DeniedStatement>> {
    let mut query = db.prepare_cached("SELECT id, words FROM wrong WHERE session = ?1 ORDER BY id")?;
    let all = query.query_map([session], |r| Ok(DeniedStatement::from_bytes(r.get(0)?, r.get_ref(1)?.as_blob()?)))?;
    Ok(all.collect::<rusqlite::Result<_>>()?)
}

/// A session's digest without what is not so.
pub(super) fn told(db: &Connection, session: i64, whole: Digest) -> Result<Digest> {
    let denied = denied_of(db, session)?;
    if denied.is_empty() {
        return Ok(whole);
    }
    let mut query = db.prepare_cached("SELECT id FROM session WHERE pk = ?1")?;
    let id: String = query.query_row([session], |r| r.get(0)).context("a digest belongs to no session")?;
    Ok(without_denied(whole, &id, &denied))
}

/// Records that a statement is not so. Returns whether that is new.
pub(super) fn put(tx: &Transaction<'_>, session: i64, denied: &DeniedStatement, at: Millis) -> Result<bool> {
    let sql = "INSERT INTO wrong(session, id, words, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    Ok(tx.prepare_cached(sql)?.execute(params![session, denied.id, denied.to_bytes(), at])? > 0)
}
