//! What tells whether a session that goes on wants a digest so far.

use anyhow::Result;
use rusqlite::{OptionalExtension, params};

use super::Store;
use super::load::{NOT_OWNED_EARLIER, SessionHead};
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
        let sql = format!(
            "SELECT DISTINCT i.at FROM item i WHERE i.session = ?1 AND i.at > coalesce(?4, i.at - 1) AND {NOT_OWNED_EARLIER} ORDER BY i.at"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let times = query.query_map(params![head.pk, head.started_at, head.id, moment], |r| r.get(0))?;
        Ok(times.collect::<rusqlite::Result<_>>()?)
    }
}
