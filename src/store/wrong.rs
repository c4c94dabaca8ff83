//! What the user said is not so of what a model said of a session. A digest is stored whole; whoever is told of it is told the rest.

use anyhow::{Context, Result};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::Store;
use super::digests::retell;
use super::load::SessionHead;
use crate::analyze::denied::{DeniedStatement, without_denied};
use crate::model::digest::Digest;
use crate::model::session::Millis;

impl Store {
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

    /// Records that a statement is not so: it is told no more.
    pub(crate) fn deny(&mut self, head: &SessionHead, denied: &DeniedStatement, at: Millis) -> Result<()> {
        self.change_denied(head, |tx| put(tx, head.pk, denied, at).map(drop))
    }

    /// Takes that back: what is stored of it is told again.
    pub(crate) fn undeny(&mut self, head: &SessionHead, id: &str) -> Result<()> {
        self.change_denied(head, |tx| {
            tx.execute("DELETE FROM wrong WHERE session = ?1 AND id = ?2", params![head.pk, id])?;
            Ok(())
        })
    }

    /// Makes anew what follows from a digest of which other statements are not so now.
    pub(super) fn retell_digest(&mut self, head: &SessionHead) -> Result<()> {
        self.change_denied(head, |_| Ok(()))
    }

    fn change_denied(&mut self, head: &SessionHead, change: impl FnOnce(&Transaction<'_>) -> Result<()>) -> Result<()> {
        let stored = self.whole_digest_of(head.pk)?;
        let tx = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        change(&tx)?;
        stored.iter().try_for_each(|stored| retell(&tx, head, &stored.digest))?;
        Ok(tx.commit()?)
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
