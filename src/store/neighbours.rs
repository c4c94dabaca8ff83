//! The neighbours of a session: sessions before and after it in its project, and the transcript files it came from.

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};

use super::Reader;
use super::load::{self, SELECT_HEAD, head};
use super::private_words::{all_private_words_of, private_words_of};
use super::recent::NOT_REPEATED;
use crate::model::session_head::SessionHead;
use crate::store::chunk;
use transcripts::privacy::echo::PrivateWords;
use transcripts::session::{Millis, RecordKey};

/// True when `session s` has anything to show: a digest, or prompts that still wait for one.
const HAS_CONTENT: &str = "(EXISTS (SELECT 1 FROM digest WHERE session = s.pk AND superseded = 0)
     OR s.dirty AND s.skip IS NULL AND EXISTS (SELECT 1 FROM bundle WHERE session = s.pk AND prompts > 0))";

/// Direction from a position in a project's order of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// A position in a project's order of sessions: by start, then by id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderPosition<'a> {
    pub(crate) project: &'a str,
    pub(crate) began_at: Millis,
    pub(crate) id: &'a str,
}

/// A file that contains records of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFile {
    pub(crate) path: String,
    /// The subagent the file belongs to. In the oldest layouts a session's own file also contains records of its subagents.
    pub(crate) agent: Option<String>,
}

/// The span of time of a private prompt and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PrivateSpan {
    pub(crate) from: Millis,
    pub(crate) until: Option<Millis>,
    /// The client's id of the prompt.
    pub(crate) prompt: Option<String>,
}

impl PrivateSpan {
    pub(crate) fn holds(&self, at: Millis) -> bool {
        self.from <= at && self.until.is_none_or(|until| at < until)
    }
}

impl Reader {
    /// The `most` nearest sessions on one side of a position, nearest first, and how many there are in all.
    pub(crate) fn neighbours(&self, at: &OrderPosition<'_>, side: Side, most: usize) -> Result<(Vec<SessionHead>, usize)> {
        let (is, order) = match side {
            Side::Before => ("<", "DESC"),
            Side::After => (">", "ASC"),
        };
        // Sessions without a timestamp come last.
        let began = format!("coalesce(s.started_at, {})", Millis::MAX);
        let on_side = format!(
            "s.project = (SELECT pk FROM project WHERE key = ?1) AND ({began}, s.id) {is} (?2, ?3) AND {HAS_CONTENT} AND {NOT_REPEATED}"
        );
        let sql = format!("{SELECT_HEAD} WHERE {on_side} ORDER BY {began} {order}, s.id {order} LIMIT ?4");
        let mut query = self.db.prepare_cached(&sql)?;
        let found =
            query.query_map(params![at.project, at.began_at, at.id, most as i64], head)?.collect::<rusqlite::Result<_>>()?;
        let sql = format!("SELECT count(*) FROM session s WHERE {on_side}");
        let all: i64 = self.db.prepare_cached(&sql)?.query_row(params![at.project, at.began_at, at.id], |r| r.get(0))?;
        Ok((found, all as usize))
    }

    /// The transcript files of a session, each once: its own before those of its subagents.
    pub(crate) fn source_files(&self, session: i64) -> Result<Vec<SourceFile>> {
        let sql =
            "SELECT file, min(agent) FROM source WHERE session = ?1 GROUP BY file ORDER BY min(agent) <> '', min(first_at), file";
        let mut query = self.db.prepare_cached(sql)?;
        let files = query.query_map([session], |r| {
            Ok(SourceFile { path: r.get(0)?, agent: Some(r.get::<_, String>(1)?).filter(|agent| !agent.is_empty()) })
        })?;
        Ok(files.collect::<rusqlite::Result<_>>()?)
    }

    /// Is any item of this record stored with the session?
    pub(crate) fn holds_row(&self, session: i64, key: RecordKey) -> Result<bool> {
        chunk::holds(&self.db, session, key)
    }

    /// Is this title from a summary record stored?
    pub(crate) fn holds_title(&self, leaf: RecordKey, text: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM leaf_title WHERE leaf = ?1 AND text = ?2)";
        Ok(self.db.prepare_cached(sql)?.query_row(params![leaf.0, text], |r| r.get(0))?)
    }

    /// The private words of a session and of the earlier sessions it continues.
    pub(crate) fn private_words(&self, head: &SessionHead) -> Result<PrivateWords> {
        all_private_words_of(&self.db, head)
    }

    /// The same by session id, whether the session is stored or not.
    pub(crate) fn private_words_by_id(&self, session: &str) -> Result<PrivateWords> {
        if let Some(pk) = self.session_pk(session)? {
            return all_private_words_of(&self.db, &load::head_of(&self.db, pk)?);
        }
        let mut private_words = PrivateWords::default();
        private_words_of(&self.db, session, &mut private_words)?;
        Ok(private_words)
    }

    /// Offset up to which a transcript has been read, in bytes.
    pub(crate) fn read_offset(&self, file: &str) -> Result<u64> {
        let sql = "SELECT offset FROM file WHERE path = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([file], |r| r.get::<_, i64>(0)).optional()?.unwrap_or(0) as u64)
    }

    /// The private spans of a session, as far as it has been read.
    pub(crate) fn private_spans(&self, session: &str) -> Result<Vec<PrivateSpan>> {
        private_spans(&self.db, session)
    }
}

pub(super) fn private_spans(db: &Connection, session: &str) -> Result<Vec<PrivateSpan>> {
    let mut query = db.prepare_cached("SELECT from_at, until_at, prompt FROM private_turn WHERE session = ?1")?;
    let spans = query.query_map([session], |r| Ok(PrivateSpan { from: r.get(0)?, until: r.get(1)?, prompt: r.get(2)? }))?;
    Ok(spans.collect::<rusqlite::Result<_>>()?)
}
