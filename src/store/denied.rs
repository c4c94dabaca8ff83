//! What is told of a session without what the user said is not so.

use std::collections::HashSet;

use anyhow::{Context, Result};
use rusqlite::{Connection, OptionalExtension};

use super::Reader;
use crate::analyze::denied::{DeniedStatement, reply_id, without_denied};
use crate::model::digest::Digest;
use crate::model::session::RecordKey;
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
pub(super) fn not_denied(db: &Connection, session: i64, whole: Digest) -> Result<Digest> {
    let denied = denied_of(db, session)?;
    if denied.is_empty() {
        return Ok(whole);
    }
    let mut query = db.prepare_cached("SELECT id FROM session WHERE pk = ?1")?;
    let id: String = query.query_row([session], |r| r.get(0)).context("a digest belongs to no session")?;
    Ok(without_denied(whole, &id, &denied))
}
