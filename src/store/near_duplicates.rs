//! Near-duplicates: sessions that say nearly the same as a later one of their project. Computed from all digests, so the result does not
//! depend on the order in which they were made.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{Reader, Writer};
use crate::analyze::account::SessionAccount;
use crate::analyze::minhash::{SessionWordSet, next_near_duplicates, update_near_duplicates};
use crate::store::codec::unpack;
use crate::store::denied;

struct ComparedSession {
    session: i64,
    likeness: SessionWordSet,
    repeated_by: Option<i64>,
    /// Its digest may have changed since it was last compared.
    changed: bool,
}

/// Only changed sessions are compared again while they are fewer than one in this many.
const MAX_CHANGED_ONE_IN: usize = 8;

impl Reader {
    /// The next session that says nearly the same as this one.
    pub(crate) fn repeated_by(&self, session: i64) -> Result<Option<i64>> {
        let sql = "SELECT repeated_by FROM likeness WHERE session = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0)).optional()?.flatten())
    }
}

impl Writer {
    /// Updates which session repeats which, in projects where something changed, or in `all`. Pages that show the old result become out
    /// of date.
    pub(crate) fn find_near_duplicates(&mut self, all: bool) -> Result<()> {
        if !all && self.sessions_with_outdated_pages()?.is_empty() {
            return Ok(());
        }
        let changed = "SELECT project FROM session WHERE page_dirty UNION ALL
             SELECT s.project FROM session t JOIN likeness l ON l.repeated_by = t.pk JOIN session s ON s.pk = l.session WHERE t.page_dirty";
        let sql = if all { "SELECT pk FROM project" } else { changed };
        self.in_projects(sql, |tx, project| {
            let said = compared_sessions(tx, project)?;
            for (one, next) in said.iter().zip(repeaters_of(&said, all)) {
                let next = next.map(|at| said[at].session);
                if next != one.repeated_by {
                    tx.execute("UPDATE likeness SET repeated_by = ?2 WHERE session = ?1", params![one.session, next])?;
                    tx.execute("UPDATE session SET page_dirty = 1 WHERE pk = ?1", [one.session])?;
                }
            }
            Ok(())
        })
    }

    /// Does something once in each project whose number `which` selects, all of it or nothing.
    pub(super) fn in_projects(&mut self, which: &str, each: impl Fn(&Transaction<'_>, i64) -> Result<()>) -> Result<()> {
        // A `UNION` that drops what is there twice would be made by a look at all sessions, in order.
        let sql = format!("SELECT pk FROM project WHERE pk IN ({which})");
        let projects: Vec<i64> = self.db.prepare(&sql)?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        if projects.is_empty() {
            return Ok(());
        }
        let tx = self.reader.db.transaction()?;
        projects.into_iter().try_for_each(|project| each(&tx, project))?;
        Ok(tx.commit()?)
    }
}

/// For each session, the position of the one that repeats it. Compares only changed sessions with the others, unless too many changed or
/// `all` is set.
fn repeaters_of(said: &[ComparedSession], all: bool) -> Vec<Option<usize>> {
    let likeness: Vec<SessionWordSet> = said.iter().map(|one| one.likeness.clone()).collect();
    let changed: Vec<usize> = (0..said.len()).filter(|at| said[*at].changed).collect();
    if all || changed.len() * MAX_CHANGED_ONE_IN > said.len() {
        return next_near_duplicates(&likeness);
    }
    let places: HashMap<i64, usize> = said.iter().enumerate().map(|(at, one)| (one.session, at)).collect();
    // A reference to a session that is gone or changed says nothing any more.
    let known = |one: &ComparedSession| match one.repeated_by {
        _ if one.changed => None,
        None => Some(None),
        Some(next) => places.get(&next).filter(|at| !said[**at].changed).map(|at| Some(*at)),
    };
    update_near_duplicates(&likeness, &changed, &said.iter().map(known).collect::<Vec<_>>())
}

/// The digested sessions of a project, in order.
fn compared_sessions(tx: &Transaction<'_>, project: i64) -> Result<Vec<ComparedSession>> {
    // Digests without a stored signature: made before there were any, or by other rules, or sanitized since.
    let sql = "SELECT d.session, d.body, d.account FROM session s JOIN digest d ON d.session = s.pk AND d.superseded = 0 AND d.interim_until IS NULL
         WHERE s.project = ?1 AND NOT EXISTS (SELECT 1 FROM likeness WHERE session = s.pk)";
    let mut query = tx.prepare_cached(sql)?;
    let missing: Vec<(i64, Vec<u8>, Option<Vec<u8>>)> =
        query.query_map([project], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?.collect::<rusqlite::Result<_>>()?;
    for (session, body, account) in &missing {
        let account: Option<SessionAccount> = account.as_ref().map(|account| unpack(account)).transpose()?;
        let told = denied::not_denied(tx, *session, unpack(body)?)?;
        record_signature(tx, *session, &SessionWordSet::of(&told, account.as_ref()))?;
    }
    let missing: HashSet<i64> = missing.into_iter().map(|(session, ..)| session).collect();
    let sql = "SELECT l.session, l.words, l.repeated_by, s.page_dirty FROM session s JOIN likeness l ON l.session = s.pk
         WHERE s.project = ?1 ORDER BY s.started_at, s.id";
    let mut query = tx.prepare_cached(sql)?;
    let said = query.query_map([project], |r| {
        let (session, repeated_by) = (r.get(0)?, r.get(2)?);
        let likeness = SessionWordSet::from_bytes(r.get_ref(1)?.as_blob()?);
        Ok(ComparedSession { session, likeness, repeated_by, changed: r.get::<_, bool>(3)? || missing.contains(&session) })
    })?;
    Ok(said.collect::<rusqlite::Result<_>>()?)
}

/// Stores the near-duplicate signature of a digested session.
pub(super) fn record_signature(db: &Connection, session: i64, words: &SessionWordSet) -> Result<()> {
    let sql = "INSERT INTO likeness(session, words) VALUES (?1, ?2)";
    db.prepare_cached(sql)?.execute(params![session, words.to_bytes()])?;
    Ok(())
}

/// Drops the signature of a digest that was removed or changed; it is computed again when needed.
pub(super) fn drop_signature(db: &Connection, session: i64) -> Result<()> {
    db.prepare_cached("DELETE FROM likeness WHERE session = ?1")?.execute([session])?;
    Ok(())
}
