//! The sessions in OpenCode's database, and the lines that are made of one.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::made::{self, Head, NS};
use crate::source::delta::{LineNumbers, MAX_LINE_BYTES, MadeLine, MadeLines};
use crate::source::discover::TranscriptFile;
use crate::source::foreign_db::LiveDatabase;

/// A session as the table of sessions has it.
struct SessionRow {
    id: String,
    parent: Option<String>,
    updated: i64,
    /// Number of its last event, where events are kept.
    events: i64,
    /// To where the user went back, as it is written.
    revert: Option<String>,
}

impl SessionRow {
    /// How much was written in it, by its events; without them each session has the same.
    fn weight(&self) -> u64 {
        u64::try_from(self.events).unwrap_or(0) + 1
    }
}

/// Every session of a database, at a path below it.
pub(super) fn sessions(file: &TranscriptFile) -> io::Result<Vec<TranscriptFile>> {
    let live = LiveDatabase::open(&file.path)?;
    let all = session_rows(&live.db).map_err(io::Error::other)?;
    live.check()?;
    let parents: HashMap<&str, &str> = all.iter().filter_map(|row| Some((&*row.id, row.parent.as_deref()?))).collect();
    let written = all.iter().map(SessionRow::weight).sum::<u64>().max(1);
    let transcript = |row: &SessionRow| {
        // None of them changes without something having been written.
        let mut stamp = [row.updated.to_le_bytes(), row.events.to_le_bytes()].concat();
        stamp.extend_from_slice(row.revert.as_deref().unwrap_or_default().as_bytes());
        let mut hash = [0; 8];
        hash.copy_from_slice(&blake3::hash(&stamp).as_bytes()[..8]);
        TranscriptFile {
            path: file.path.join(&row.id),
            size: (u128::from(file.size) * u128::from(row.weight()) / u128::from(written)) as u64,
            is_share: true,
            mtime_ns: row.updated.saturating_mul(NS),
            stamp: i64::from_le_bytes(hash),
            place: made::place(&row.id, |id| parents.get(id).map(|&parent| parent.to_owned())),
        }
    };
    Ok(all.iter().map(transcript).collect())
}

fn session_rows(db: &Connection) -> rusqlite::Result<Vec<SessionRow>> {
    let has_events = db.query_row("SELECT count(*) FROM pragma_table_info('event_sequence')", [], |r| r.get::<_, i64>(0))? > 0;
    let events = if has_events { "(SELECT seq FROM event_sequence WHERE aggregate_id = s.id)" } else { "NULL" };
    let revert = revert_column(db)?;
    let sql = format!("SELECT id, parent_id, time_updated, coalesce({events}, 0), {revert} FROM session s ORDER BY id");
    let read = |r: &rusqlite::Row<'_>| {
        Ok(SessionRow { id: r.get(0)?, parent: r.get(1)?, updated: r.get(2)?, events: r.get(3)?, revert: r.get(4)? })
    };
    // An id is the name of a path.
    let is_id = |row: &SessionRow| !row.id.is_empty() && !row.id.contains('/');
    Ok(db.prepare(&sql)?.query_map([], read)?.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().filter(is_id).collect())
}

/// The column that says to where the user went back, or what stands for it where there is none.
fn revert_column(db: &Connection) -> rusqlite::Result<&'static str> {
    let sql = "SELECT count(*) FROM pragma_table_info('session') WHERE name = 'revert'";
    let has_one = db.query_row(sql, [], |r| r.get::<_, i64>(0))? > 0;
    Ok(if has_one { "revert" } else { "NULL" })
}

/// The lines of the session at a path below a database.
pub(super) fn lines(path: &Path) -> io::Result<MadeLines> {
    let (file, id) = path.parent().zip(path.file_name().and_then(|id| id.to_str())).ok_or(io::ErrorKind::NotFound)?;
    let live = LiveDatabase::open(file)?;
    let (head, revert) = head(&live.db, id).map_err(io::Error::other)?.ok_or(io::ErrorKind::NotFound)?;
    let pieces = pieces(&live.db, id, made::first_taken_back(&revert)).map_err(io::Error::other)?;
    live.check()?;
    let mut lines = SessionLines { live, session: head.session(), numbers: LineNumbers::default() };
    let ((began, first), (updated, last)) = (head.first(), head.last());
    let went_back = pieces.iter().any(Piece::is_taken_back).then(|| Piece::Made(None, head.went_back()));
    let all = [Piece::Made(Some(began), first)].into_iter().chain(pieces).chain(went_back);
    let all = all.chain([Piece::Made(Some(updated), last)]);
    Ok(MadeLines::new(all.filter_map(move |piece| lines.line(piece).transpose())))
}

/// What is said of a session as a whole, and to where the user went back in it.
fn head(db: &Connection, id: &str) -> rusqlite::Result<Option<(Head, Value)>> {
    let revert = revert_column(db)?;
    let sql = format!("SELECT directory, version, title, time_created, time_updated, {revert} FROM session WHERE id = ?1");
    let read = |r: &rusqlite::Row<'_>| {
        let revert: Option<String> = r.get(5)?;
        let revert = revert.and_then(|revert| serde_json::from_str(&revert).ok()).unwrap_or_default();
        Ok((Head::of([r.get(0)?, r.get(1)?, r.get(2)?], [r.get(3)?, r.get(4)?]), revert))
    };
    db.query_row(&sql, [id], read).optional()
}

/// What a line is made of.
enum Piece {
    /// A line as it is, and its time if it has one.
    Made(Option<i64>, String),
    /// A message of the user's with all its parts.
    Prompt { id: String, is_taken_back: bool },
    /// A part of a message of the assistant's; `is_last`: nothing follows it yet.
    Part { id: String, is_last: bool },
    /// The end of a message of the assistant's.
    End(String),
}

impl Piece {
    fn is_taken_back(&self) -> bool {
        matches!(self, Self::Prompt { is_taken_back: true, .. })
    }
}

/// What the lines of a session are made of, in order. Only ids are held. `back`: the first message that was taken back.
fn pieces(db: &Connection, id: &str, back: Option<&str>) -> rusqlite::Result<Vec<Piece>> {
    let sql = "SELECT m.id, json_extract(m.data, '$.role'), p.id FROM message m LEFT JOIN part p ON p.message_id = m.id
         WHERE m.session_id = ?1 AND json_valid(m.data) ORDER BY m.time_created, m.id, p.id";
    let mut query = db.prepare(sql)?;
    let mut rows = query.query([id])?;
    let (mut pieces, mut open, mut is_taken_back) = (Vec::new(), None::<String>, false);
    while let Some(row) = rows.next()? {
        let (message, role, part): (String, Option<String>, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let is_new = open.as_ref() != Some(&message) && !matches!(pieces.last(), Some(Piece::Prompt { id, .. }) if *id == message);
        is_taken_back |= back == Some(&message);
        if is_new {
            pieces.extend(open.take().map(Piece::End));
        }
        if role.as_deref() == Some("assistant") {
            pieces.extend(part.map(|id| Piece::Part { id, is_last: false }));
            open = Some(message);
        } else if is_new {
            pieces.push(Piece::Prompt { id: message, is_taken_back });
        }
    }
    if let Some(Piece::Part { is_last, .. }) = pieces.last_mut() {
        *is_last = true;
    }
    pieces.extend(open.map(Piece::End));
    Ok(pieces)
}

/// Makes the lines of a session.
struct SessionLines {
    live: LiveDatabase,
    session: String,
    numbers: LineNumbers,
}

impl SessionLines {
    /// `None` if there is nothing to be said yet, or not any more.
    fn line(&mut self, piece: Piece) -> io::Result<Option<MadeLine>> {
        let made = self.made(&piece).map_err(io::Error::other)?;
        self.live.check()?;
        Ok(made.map(|(at, text)| MadeLine { at: self.numbers.of(at), text }))
    }

    /// The time of a piece and its line.
    fn made(&self, piece: &Piece) -> rusqlite::Result<Option<(Option<i64>, String)>> {
        let (message, parts, is_last) = match piece {
            Piece::Made(at, line) => return Ok(Some((*at, line.clone()))),
            Piece::Prompt { id, .. } => (self.message(id)?, self.parts("message_id", id)?, false),
            Piece::Part { id, is_last } => {
                let sql = "SELECT m.data FROM part p JOIN message m ON m.id = p.message_id WHERE p.id = ?1";
                let message = self.live.db.prepare_cached(sql)?.query_row([id], |r| r.get::<_, String>(0)).optional()?;
                (message, self.parts("id", id)?, *is_last)
            }
            Piece::End(id) => (self.message(id)?, Vec::new(), false),
        };
        let Some(message) = message else { return Ok(None) };
        let known: Value = serde_json::from_str(&message).unwrap_or_default();
        // More of its text may come.
        if is_last && !made::is_done(&known) && parts.iter().any(|part| part.contains("\"type\":\"text\"")) {
            return Ok(None);
        }
        let created = known["time"]["created"].as_i64();
        let line = made::line(&self.session, &message, &parts);
        Ok(Some((created, if piece.is_taken_back() { made::taken_back(&line) } else { line })))
    }

    fn message(&self, id: &str) -> rusqlite::Result<Option<String>> {
        self.live.db.prepare_cached("SELECT data FROM message WHERE id = ?1")?.query_row([id], |r| r.get(0)).optional()
    }

    /// What the parts of this id or message hold. Of one that is too long only that it was there is told.
    fn parts(&self, column: &str, id: &str) -> rusqlite::Result<Vec<String>> {
        let sql = format!(
            "SELECT CASE WHEN octet_length(data) > {MAX_LINE_BYTES} OR NOT json_valid(data) THEN '{{\"type\":\"too long\"}}' ELSE data END
             FROM part WHERE {column} = ?1 ORDER BY id"
        );
        self.live.db.prepare_cached(&sql)?.query_map([id], |r| r.get(0))?.collect()
    }
}
