//! What stands around a session: those before and after it in its project, and the transcripts that its rows came from.

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};

use super::ingest::{all_words_of, words_of};
use super::load::{HEAD, SessionHead, head};
use super::recent::NOT_REPEATED;
use super::{Store, bundle};
use crate::privacy::echo::Hushed;
use crate::session::{Millis, RowKey};

/// Is there anything to tell of `session s`: a digest, or prompts that wait for one? Of nightly ones that say the same, the last.
const TELLS: &str = "(EXISTS (SELECT 1 FROM digest WHERE session = s.pk AND superseded = 0)
     OR s.dirty AND s.skip IS NULL AND EXISTS (SELECT 1 FROM bundle WHERE session = s.pk AND prompts > 0))";

/// On which side of a place in a project's course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
}

/// A place in a project's course: sessions stand in it by when they began, then by id.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    pub project: &'a str,
    pub began_at: Millis,
    pub id: &'a str,
}

/// A file that rows of a session came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    pub path: String,
    /// The subagent whose file it is; in the oldest layouts a session's own file holds rows of its subagents too.
    pub agent: Option<String>,
}

/// The time that a private prompt and its answer took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateSpan {
    pub from: Millis,
    pub until: Option<Millis>,
    /// The client's id of the prompt.
    pub prompt: Option<String>,
}

impl PrivateSpan {
    pub fn holds(&self, at: Millis) -> bool {
        self.from <= at && self.until.is_none_or(|until| at < until)
    }
}

impl Store {
    /// The sessions on one side of a place, the nearest first, and how many there are in all.
    pub fn neighbours(&self, at: &At<'_>, side: Side, most: usize) -> Result<(Vec<SessionHead>, usize)> {
        let (is, order) = match side {
            Side::Before => ("<", "DESC"),
            Side::After => (">", "ASC"),
        };
        // A session that tells no time stands behind all others.
        let began = format!("coalesce(s.started_at, {})", Millis::MAX);
        let on_side = format!(
            "s.project = (SELECT pk FROM project WHERE key = ?1) AND ({began}, s.id) {is} (?2, ?3) AND {TELLS} AND {NOT_REPEATED}"
        );
        let sql = format!("{HEAD} WHERE {on_side} ORDER BY {began} {order}, s.id {order} LIMIT ?4");
        let mut query = self.db.prepare_cached(&sql)?;
        let found =
            query.query_map(params![at.project, at.began_at, at.id, most as i64], head)?.collect::<rusqlite::Result<_>>()?;
        let sql = format!("SELECT count(*) FROM session s WHERE {on_side}");
        let all: i64 = self.db.prepare_cached(&sql)?.query_row(params![at.project, at.began_at, at.id], |r| r.get(0))?;
        Ok((found, all as usize))
    }

    /// The transcripts of a session: its own before those of its subagents, each once.
    pub fn source_files(&self, session: i64) -> Result<Vec<SourceFile>> {
        let sql =
            "SELECT file, min(agent) FROM source WHERE session = ?1 GROUP BY file ORDER BY min(agent) <> '', min(first_at), file";
        let mut query = self.db.prepare_cached(sql)?;
        let files = query.query_map([session], |r| {
            Ok(SourceFile { path: r.get(0)?, agent: Some(r.get::<_, String>(1)?).filter(|agent| !agent.is_empty()) })
        })?;
        Ok(files.collect::<rusqlite::Result<_>>()?)
    }

    /// Does the index keep something of a session's row?
    pub fn holds_row(&self, session: i64, key: RowKey) -> Result<bool> {
        bundle::holds(&self.db, session, key)
    }

    /// Does it keep a title that a summary row gave to a conversation?
    pub fn holds_title(&self, leaf: RowKey, text: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM leaf_title WHERE leaf = ?1 AND text = ?2)";
        Ok(self.db.prepare_cached(sql)?.query_row(params![leaf.0, text], |r| r.get(0))?)
    }

    /// Was a session in an excluded project, be it for a while? Its rows that name no folder are not kept.
    pub fn is_excluded_session(&self, session: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM excluded_session WHERE id = ?1)";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0))?)
    }

    /// What is remembered of the private words of a session, and of those it goes on from.
    pub fn hushed(&self, head: &SessionHead) -> Result<Hushed> {
        all_words_of(&self.db, head.pk)
    }

    /// The same of a session by its id, known or not.
    pub fn hushed_of(&self, session: &str) -> Result<Hushed> {
        if let Some(pk) = self.session_pk(session)? {
            return all_words_of(&self.db, pk);
        }
        let mut hushed = Hushed::default();
        words_of(&self.db, session, &mut hushed)?;
        Ok(hushed)
    }

    /// How far a transcript is read.
    pub fn read_up_to(&self, file: &str) -> Result<u64> {
        let sql = "SELECT offset FROM file WHERE path = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([file], |r| r.get::<_, i64>(0)).optional()?.unwrap_or(0) as u64)
    }

    /// When a session was private, as far as the digest has read.
    pub fn private_spans(&self, session: &str) -> Result<Vec<PrivateSpan>> {
        private_spans(&self.db, session)
    }
}

pub(super) fn private_spans(db: &Connection, session: &str) -> Result<Vec<PrivateSpan>> {
    let mut query = db.prepare_cached("SELECT from_at, until_at, prompt FROM private_turn WHERE session = ?1")?;
    let spans = query.query_map([session], |r| Ok(PrivateSpan { from: r.get(0)?, until: r.get(1)?, prompt: r.get(2)? }))?;
    Ok(spans.collect::<rusqlite::Result<_>>()?)
}
