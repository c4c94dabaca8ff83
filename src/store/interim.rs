//! What tells whether a session that goes on wants a digest so far.

use std::collections::BTreeSet;

use anyhow::Result;
use rusqlite::{OptionalExtension, params};

use super::Store;
use super::bundle;
use super::load::SessionHead;
use crate::session::Millis;

impl Store {
    /// Notes that a session's context is about to be compacted, where the session is known.
    pub fn note_compaction(&self, session: &str, at: Millis) -> Result<()> {
        self.db.prepare_cached("UPDATE session SET compacted_at = ?2 WHERE id = ?1")?.execute(params![session, at])?;
        Ok(())
    }

    /// Was it compacted since its last digest?
    pub fn was_compacted(&self, session: i64) -> Result<bool> {
        let sql = "SELECT compacted_at IS NOT NULL FROM session WHERE pk = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0))?)
    }

    /// Up to when a session is digested: of one that was thought to have ended, up to when that was.
    pub fn digested_so_far(&self, session: i64) -> Result<Option<Millis>> {
        let sql = "SELECT coalesce(interim_until, made_at) FROM digest WHERE session = ?1 AND superseded = 0";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0)).optional()?)
    }

    /// The times of a session's own rows behind a moment, in their order.
    pub fn times_since(&self, head: &SessionHead, moment: Option<Millis>) -> Result<Vec<Millis>> {
        let mut times: BTreeSet<Millis> = BTreeSet::new();
        bundle::each_owned(&self.db, head, |kept| {
            times.extend(kept.line.at.filter(|at| moment.is_none_or(|moment| *at > moment)));
            Ok(())
        })?;
        Ok(times.into_iter().collect())
    }
}
