//! What the user said is not so: of what a model said of a session, and of Claude's replies in it. Both are stored whole; whoever is told of
//! them is told the rest.

use anyhow::Result;
use rusqlite::{Transaction, TransactionBehavior, params};

use super::Writer;
use super::digests::{outdate, retell};
use crate::analyze::denied::{DeniedStatement, is_reply_id};
use crate::model::session_head::SessionHead;
use transcripts::session::Millis;

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

/// Records that a statement is not so. Returns whether that is new.
pub(super) fn put(tx: &Transaction<'_>, session: i64, denied: &DeniedStatement, at: Millis) -> Result<bool> {
    let sql = "INSERT INTO wrong(session, id, words, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    Ok(tx.prepare_cached(sql)?.execute(params![session, denied.id, denied.to_bytes(), at])? > 0)
}
