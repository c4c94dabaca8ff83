//! What is told of a session without what the user said is not so.

use std::collections::HashSet;

use anyhow::{Context, Result};
use rusqlite::Connection;

use super::Reader;
use crate::analyze::denied::{DeniedStatement, reply_id, without_denied};
use crate::model::digest::{Digest, is_item_id};
use crate::model::session_head::SessionHead;
use transcripts::session::{Millis, RecordKey};

impl Reader {
    /// What is not so of a session.
    pub(crate) fn denied_of(&self, session: i64) -> Result<Vec<DeniedStatement>> {
        denied_of(&self.db, session)
    }

    /// What was taken out by the command that took out the statement with this id, each with its session: of an open item that several sessions
    /// left, what each of them says. An id that no statement has may be that by which such an item is told.
    pub(crate) fn denied_together(&self, id: &str) -> Result<Vec<(SessionHead, DeniedStatement)>> {
        let sql =
            "SELECT w.session, w.id, w.words, w.at FROM wrong w JOIN session s ON s.pk = w.session WHERE w.id NOT GLOB '[ru]*'
             ORDER BY w.at, s.started_at, s.id, w.id";
        let mut query = self.db.prepare_cached(sql)?;
        let all = query.query_map([], |r| {
            Ok((r.get::<_, i64>(0)?, DeniedStatement::from_bytes(r.get(1)?, r.get_ref(2)?.as_blob()?), r.get::<_, Millis>(3)?))
        })?;
        let mut all: Vec<(i64, DeniedStatement, Millis)> = all.collect::<rusqlite::Result<_>>()?;
        let named = all.iter().find(|(_, denied, _)| denied.id == id).map(|(_, denied, at)| (denied.clone(), Some(*at)));
        let named = match named {
            Some(named) => Some(named),
            None => self.open_item(id)?.map(|item| (DeniedStatement::new(item.id, &item.text), None)),
        };
        let Some((named, at)) = named else { return Ok(Vec::new()) };
        all.retain(|(_, denied, then)| {
            denied.id == id
                || is_item_id(id) && is_item_id(&denied.id) && at.is_none_or(|at| at == *then) && named.says_same(denied)
        });
        all.into_iter().map(|(session, denied, _)| Ok((self.session_head(session)?, denied))).collect()
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
    Ok(if_denied(db, session, &whole)?.unwrap_or(whole))
}

/// The same; `None` where nothing of it was taken out.
pub(super) fn if_denied(db: &Connection, session: i64, whole: &Digest) -> Result<Option<Digest>> {
    let denied = denied_of(db, session)?;
    if denied.is_empty() {
        return Ok(None);
    }
    let mut query = db.prepare_cached("SELECT id FROM session WHERE pk = ?1")?;
    let id: String = query.query_row([session], |r| r.get(0)).context("a digest belongs to no session")?;
    Ok(Some(without_denied(whole.clone(), &id, &denied)))
}
