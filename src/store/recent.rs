//! Queries for session start: the sessions of one project, newest first. A few statements, each served by an index.

use anyhow::Result;
use rusqlite::{OptionalExtension, params};

use super::Reader;
use transcripts::session::Millis;

/// How many sessions of a project that have no digest, or an older one, are scanned for those that ended, so that session start does not slow
/// down as a backlog grows.
const MAX_SCANNED: usize = 500;

/// True when no later session is a near-duplicate of `session s`.
pub(super) const NOT_REPEATED: &str = "NOT EXISTS (SELECT 1 FROM likeness WHERE session = s.pk AND repeated_by IS NOT NULL)";

/// A session that has a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecentSession {
    pub(crate) pk: i64,
    pub(crate) id: String,
    /// Latest timestamp of its records.
    pub(crate) last_at: Millis,
    /// It was ongoing when it was digested.
    pub(crate) goes_on: bool,
    /// Title of its digest; `None` for digests made before titles had a column of their own.
    pub(crate) title: Option<String>,
    /// A model made its digest.
    pub(crate) by_model: bool,
}

/// An ended session that no digest covers completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Undigested {
    pub(crate) id: String,
    pub(crate) transcript: String,
}

impl Reader {
    /// The `most` most recently active digested sessions of a project, starting after `behind`.
    pub(crate) fn recent_sessions(&self, project: i64, behind: Option<&RecentSession>, most: usize) -> Result<Vec<RecentSession>> {
        let sql = format!(
            "SELECT s.pk, s.id, coalesce(s.last_at, 0), d.interim_until IS NOT NULL, d.title,
                 d.summarizer <> 'extract'
             FROM session s CROSS JOIN digest d ON d.session = s.pk AND d.superseded = 0
             WHERE s.project = ?1 AND {NOT_REPEATED}
               AND (coalesce(s.last_at, 0), s.pk) < (?2, ?3) AND coalesce(s.last_at, 0) <= ?2
             ORDER BY s.last_at DESC, s.pk DESC LIMIT ?4"
        );
        let (last_at, pk) = behind.map_or((Millis::MAX, i64::MAX), |one| (one.last_at, one.pk));
        let mut query = self.db.prepare_cached(&sql)?;
        let found = query.query_map(params![project, last_at, pk, most as i64], |r| {
            Ok(RecentSession {
                pk: r.get(0)?,
                id: r.get(1)?,
                last_at: r.get(2)?,
                goes_on: r.get(3)?,
                title: r.get(4)?,
                by_model: r.get(5)?,
            })
        })?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// Latest timestamp that a session's digest covers; `None` when stored records are newer than the digest.
    pub(crate) fn digested_until(&self, session: &str) -> Result<Option<Millis>> {
        let sql = "SELECT s.last_at FROM session s JOIN digest d ON d.session = s.pk AND d.superseded = 0 WHERE s.id = ?1 AND NOT s.dirty";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0)).optional()?.flatten())
    }

    /// Number of sessions of a project with a digest, near-duplicates of later ones not counted.
    pub(crate) fn digested_count(&self, project: i64) -> Result<usize> {
        // Not `NOT_REPEATED`, which reads a row for each session: those that are repeated have an index of their own, and are few.
        let sql = "SELECT count(*) FROM session s CROSS JOIN digest d ON d.session = s.pk AND d.superseded = 0
             WHERE s.project = ?1 AND s.pk NOT IN (SELECT session FROM likeness WHERE repeated_by IS NOT NULL)";
        Ok(self.db.prepare_cached(sql)?.query_row([project], |r| r.get::<_, i64>(0))? as usize)
    }

    /// Ended sessions of a project whose newest records no digest covers: at most `most`, last ended first. Only the most recently active of
    /// these sessions are considered.
    pub(crate) fn undigested_sessions(&self, project: i64, most: usize) -> Result<Vec<Undigested>> {
        let sql = format!(
            "SELECT s.id, f.file FROM (SELECT pk, id, ended_at FROM session WHERE project = ?1 AND dirty ORDER BY last_at DESC LIMIT {MAX_SCANNED}) s
                 JOIN source f ON f.session = s.pk AND f.agent = ''
             WHERE s.ended_at IS NOT NULL GROUP BY s.pk ORDER BY s.ended_at DESC LIMIT ?2"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let found = query.query_map(params![project, most as i64], |r| Ok(Undigested { id: r.get(0)?, transcript: r.get(1)? }))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// When a session ended, if its end was marked.
    pub(crate) fn session_end(&self, session: &str) -> Result<Option<Millis>> {
        let sql = "SELECT ended_at FROM session WHERE id = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0)).optional()?.flatten())
    }

    /// When a session was last active, by its records.
    pub(crate) fn last_active(&self, session: &str) -> Result<Option<Millis>> {
        let sql = "SELECT last_at FROM session WHERE id = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0)).optional()?.flatten())
    }
}
