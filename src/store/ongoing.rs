//! Facts from which to decide whether an ongoing session needs an interim digest.

use std::collections::BTreeSet;

use anyhow::Result;
use rusqlite::{OptionalExtension, params};

use super::{Reader, Writer};
use crate::model::session_head::SessionHead;
use crate::store::owned;
use transcripts::session::Millis;

impl Reader {
    /// Was the session compacted since its last digest?
    pub(crate) fn was_compacted(&self, session: i64) -> Result<bool> {
        let sql = "SELECT compacted_at IS NOT NULL FROM session WHERE pk = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0))?)
    }

    /// Time up to which a session is digested. For a digest made when the session seemed to have ended, that is when it was made.
    pub(crate) fn digested_up_to(&self, session: i64) -> Result<Option<Millis>> {
        let sql = "SELECT coalesce(interim_until, made_at) FROM digest WHERE session = ?1 AND superseded = 0";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0)).optional()?)
    }

    /// Timestamps of a session's own items after `moment` (all when `None`), ascending.
    pub(crate) fn times_since(&self, head: &SessionHead, moment: Option<Millis>) -> Result<Vec<Millis>> {
        let mut times: BTreeSet<Millis> = BTreeSet::new();
        owned::each_owned_item(&self.db, head, |kept| {
            times.extend(kept.line.at.filter(|at| moment.is_none_or(|moment| *at > moment)));
            Ok(())
        })?;
        Ok(times.into_iter().collect())
    }
}

impl Writer {
    /// Records that a session's context is about to be compacted, if the session is known and did not go on where it is left out.
    pub(crate) fn record_compaction(&self, session: &str, at: Millis) -> Result<()> {
        let sql = "UPDATE session SET compacted_at = ?2
             WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM excluded_session e WHERE e.id = session.id)";
        self.db.prepare_cached(sql)?.execute(params![session, at])?;
        Ok(())
    }
}
