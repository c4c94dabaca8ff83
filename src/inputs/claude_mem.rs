//! The database of claude-mem, another tool that remembers sessions: SQLite, `claude-mem.db`. The one door to it; it is never written.
//!
//! Its tables are `sdk_sessions`, `session_summaries`, `observations` and `user_prompts`. Columns came and were renamed over the years, so
//! each is looked for under the names it had, and what is not there reads as nothing ([`ClaudeMem::missing`] tells it). Times are
//! milliseconds since the Unix epoch, lists are JSON arrays in text.
//!
//! What is read is as the database has it: whoever stores or shows any of it passes it through the sanitizer first.
//!
//! ## Cost
//! One session is held at a time, of which at most [`MAX_SESSION_BYTES`] are read.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Rows};
use tempfile::TempDir;

use crate::sys::data_folder::CLAUDE_MEM_COPY;
use crate::sys::{failpoints, private_files};
use transcripts::session::Millis;
use transcripts::source::foreign_db::{self, Beside};
use transcripts::sqlite_files::{WAL, with_suffix};

/// How much of a session is read, in bytes. The longest have a few megabytes.
const MAX_SESSION_BYTES: usize = 64 << 20;
/// What a database of SQLite begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The client's id of a session, and claude-mem's own, each by its newest name first.
const CLIENT_ID: &[&str] = &["content_session_id", "claude_session_id"];
const OWN_ID: &[&str] = &["memory_session_id", "sdk_session_id"];

const SESSIONS: &[&[&str]] = &[
    CLIENT_ID,
    OWN_ID,
    &["project"],
    &["custom_title"],
    &["user_prompt"],
    &["started_at_epoch"],
    &["started_at"],
    &["completed_at_epoch"],
    &["completed_at"],
];
const SUMMARIES: &[&[&str]] = &[
    &["id"],
    &["request"],
    &["investigated"],
    &["learned"],
    &["completed"],
    &["next_steps"],
    &["notes"],
    &["files_read"],
    &["files_edited"],
    &["created_at_epoch"],
    &["created_at"],
];
const OBSERVATIONS: &[&[&str]] = &[
    &["id"],
    &["type"],
    &["title"],
    &["subtitle"],
    &["narrative"],
    &["text"],
    &["files_read"],
    &["files_modified"],
    &["generated_by_model"],
    &["created_at_epoch"],
    &["created_at"],
];
const PROMPTS: &[&[&str]] = &[&["prompt_number"], &["prompt_text"], &["created_at_epoch"], &["created_at"]];

/// What an older database lacks and a reader would miss.
const TOLD: [(&str, &[&str]); 3] = [
    ("session_summaries", &["request", "learned", "completed", "next_steps"]),
    ("observations", &["title", "narrative"]),
    ("user_prompts", &["prompt_text"]),
];

/// A session as claude-mem knows it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ClaudeMemSession {
    /// The client's id.
    pub(crate) id: String,
    /// The name of a folder, `parent/worktree`, or a path.
    pub(crate) project: String,
    pub(crate) title: Option<String>,
    pub(crate) started_at: Option<Millis>,
    pub(crate) ended_at: Option<Millis>,
    /// The model that wrote the last observation that names one.
    pub(crate) model: Option<String>,
    /// In their order; without a table of prompts, the first one alone.
    pub(crate) prompts: Vec<ClaudeMemPrompt>,
    pub(crate) summaries: Vec<ClaudeMemSummary>,
    pub(crate) observations: Vec<ClaudeMemObservation>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ClaudeMemPrompt {
    pub(crate) number: i64,
    pub(crate) text: String,
    pub(crate) at: Option<Millis>,
}

/// What its model said where the client stopped.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ClaudeMemSummary {
    pub(crate) row: i64,
    pub(crate) request: Option<String>,
    pub(crate) investigated: Option<String>,
    pub(crate) learned: Option<String>,
    pub(crate) completed: Option<String>,
    pub(crate) next_steps: Option<String>,
    pub(crate) notes: Option<String>,
    pub(crate) files_read: Vec<String>,
    pub(crate) files_edited: Vec<String>,
    pub(crate) at: Option<Millis>,
}

/// What its model said of a tool use.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ClaudeMemObservation {
    pub(crate) row: i64,
    /// `decision`, `bugfix`, `feature`, `refactor`, `discovery`, `change`, or a name of the user's.
    pub(crate) kind: String,
    pub(crate) title: Option<String>,
    pub(crate) subtitle: Option<String>,
    /// The text itself; of older databases the only one.
    pub(crate) narrative: Option<String>,
    pub(crate) files_read: Vec<String>,
    pub(crate) files_modified: Vec<String>,
    pub(crate) at: Option<Millis>,
}

impl ClaudeMemSession {
    /// When anything of it was written.
    pub(crate) fn times(&self) -> impl Iterator<Item = Millis> {
        let prompts = self.prompts.iter().map(|prompt| prompt.at);
        let summaries = self.summaries.iter().map(|summary| summary.at);
        let observations = self.observations.iter().map(|observation| observation.at);
        [self.started_at, self.ended_at].into_iter().chain(prompts).chain(summaries).chain(observations).flatten()
    }

    /// The files that were read or changed, as they are written there.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        let summaries = self.summaries.iter().flat_map(|summary| summary.files_read.iter().chain(&summary.files_edited));
        let observations = self.observations.iter().flat_map(|one| one.files_read.iter().chain(&one.files_modified));
        summaries.chain(observations).map(String::as_str)
    }
}

/// An open database.
pub(crate) struct ClaudeMem {
    db: Connection,
    path: PathBuf,
    /// What was copied to be read, until it was.
    _copy: Option<TempDir>,
}

/// Rows that could not be read, by table.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadRows {
    pub(crate) sessions: usize,
    pub(crate) summaries: usize,
    pub(crate) observations: usize,
    pub(crate) prompts: usize,
}

/// A value of another kind than its column holds, or more than is read of a session.
struct BadRow;

fn is_none(path: &Path) -> String {
    format!("{} is not a claude-mem database", path.display())
}

/// Looks at the head of a file, before anything is made ready to read it.
///
/// # Errors
/// When it is not there, cannot be read, or is no database.
pub(crate) fn check(path: &Path) -> Result<()> {
    let file = path.metadata().with_context(|| format!("cannot open {}", path.display()))?;
    // Whoever opens a pipe waits for its writer.
    ensure!(file.is_file(), is_none(path));
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut head));
    read.with_context(|| format!("cannot open {}", path.display()))?;
    ensure!(head == MAGIC, is_none(path));
    Ok(())
}

impl ClaudeMem {
    /// Opens the database at a path. Nothing beside it is written: where SQLite would have to, what lies there is copied into `scratch`.
    ///
    /// # Errors
    /// When it is not there, cannot be read, or is no database of claude-mem.
    pub(crate) fn open(path: &Path, scratch: &Path) -> Result<Self> {
        check(path)?;
        // The log lies beside the file itself, and not beside a link to it.
        let (db, copy) = connect(&path.canonicalize()?, scratch)?;
        let opened = Self { db, path: path.to_owned(), _copy: copy };
        if opened.named("sdk_sessions", CLIENT_ID)?.is_none() {
            bail!(is_none(path));
        }
        Ok(opened)
    }

    /// The tables and columns that this reader knows and the database lacks, each as words.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn missing(&self) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for (table, columns) in TOLD {
            let there = self.columns(table)?;
            if there.is_empty() {
                all.push(format!("no table {table}"));
            } else {
                all.extend(columns.iter().filter(|name| !there.contains(**name)).map(|name| format!("no {name} in {table}")));
            }
        }
        Ok(all)
    }

    /// Calls `each` with one session after the other. Rows that cannot be read are counted and left out.
    ///
    /// # Errors
    /// When the sessions cannot be read, and when `each` fails.
    pub(crate) fn each_session(&self, mut each: impl FnMut(ClaudeMemSession) -> Result<()>) -> Result<BadRows> {
        let mut bad = BadRows::default();
        let sql = format!("SELECT {} FROM sdk_sessions ORDER BY rowid", self.selected("sdk_sessions", SESSIONS)?);
        let details = Details::of(self)?;
        let mut query = self.db.prepare(&sql).map_err(|e| self.unreadable(&e))?;
        let mut rows = query.query([]).map_err(|e| self.unreadable(&e))?;
        while let Some(row) = rows.next().map_err(|e| self.unreadable(&e))? {
            match session_of(row) {
                Ok((own, first, mut session)) => {
                    details.fill(&mut session, own.as_deref(), &mut bad);
                    if session.prompts.is_empty() {
                        session.prompts.extend(first.map(|text| ClaudeMemPrompt { number: 0, text, at: session.started_at }));
                    }
                    each(session)?;
                }
                Err(BadRow) => bad.sessions += 1,
            }
        }
        Ok(bad)
    }

    /// Not the error of SQLite itself: that would be taken for one of the index.
    fn unreadable(&self, error: &rusqlite::Error) -> anyhow::Error {
        anyhow!("cannot read {}: {error}", self.path.display())
    }

    fn columns(&self, table: &str) -> Result<BTreeSet<String>> {
        let read = || -> rusqlite::Result<BTreeSet<String>> {
            self.db.prepare_cached("SELECT name FROM pragma_table_info(?1)")?.query_map([table], |r| r.get(0))?.collect()
        };
        read().map_err(|e| self.unreadable(&e))
    }

    /// The name under which a table has a column.
    fn named(&self, table: &str, names: &[&'static str]) -> Result<Option<&'static str>> {
        let there = self.columns(table)?;
        Ok(names.iter().copied().find(|name| there.contains(*name)))
    }

    /// The columns to select: those that are not there are null.
    fn selected(&self, table: &str, wanted: &[&[&'static str]]) -> Result<String> {
        let there = self.columns(table)?;
        let one = |names: &&[&'static str]| names.iter().copied().find(|name| there.contains(*name)).unwrap_or("NULL");
        Ok(wanted.iter().map(one).collect::<Vec<_>>().join(", "))
    }
}

/// Connects without leaving a trace: with a log that another process has open, beside it; with one that none has, to a copy; without one, as a
/// file that nobody changes.
fn connect(path: &Path, scratch: &Path) -> Result<(Connection, Option<TempDir>)> {
    let beside = Beside::of(path);
    let mut copied = None;
    let opened = match beside {
        Beside::LogAlone => {
            let files = [(path, "claude-mem.db"), (&*with_suffix(path, WAL), "claude-mem.db-wal")];
            let folder =
                copy(&files, scratch).with_context(|| format!("cannot copy {} into {}", path.display(), scratch.display()))?;
            let file = folder.path().join("claude-mem.db");
            copied = Some(folder);
            file
        }
        _ => path.to_owned(),
    };
    let db = foreign_db::connect(&opened, beside).map_err(|e| anyhow!("cannot read {}: {e}", path.display()))?;
    Ok((db, copied))
}

/// Removes copies that runs left which were killed. The caller must hold the run lock, as whoever copies does.
pub(crate) fn remove_copies(scratch: &Path) -> io::Result<()> {
    private_files::remove_folders(scratch, CLAUDE_MEM_COPY)
}

fn copy(files: &[(&Path, &str)], scratch: &Path) -> io::Result<TempDir> {
    remove_copies(scratch)?;
    let folder = private_files::temporary_folder(scratch, CLAUDE_MEM_COPY)?;
    for (file, name) in files {
        private_files::copy(file, &folder.path().join(name))?;
    }
    failpoints::point("database copied");
    Ok(folder)
}

/// A row of `sdk_sessions`: claude-mem's own id, the first prompt, and the session without what other tables say of it.
fn session_of(row: &Row<'_>) -> Result<(Option<String>, Option<String>, ClaudeMemSession), BadRow> {
    let id = text(row, 0)?.ok_or(BadRow)?;
    let session = ClaudeMemSession {
        id,
        project: text(row, 2)?.unwrap_or_default(),
        title: text(row, 3)?,
        started_at: time(row, 5)?,
        ended_at: time(row, 7)?,
        ..ClaudeMemSession::default()
    };
    Ok((text(row, 1)?, text(row, 4)?, session))
}

/// The queries for what belongs to a session; `None` where there is no such table.
struct Details<'d> {
    db: &'d Connection,
    summaries: Option<DetailQuery>,
    observations: Option<DetailQuery>,
    prompts: Option<DetailQuery>,
}

struct DetailQuery {
    sql: String,
    /// Is it asked by the client's id, or by claude-mem's own?
    by_client_id: bool,
}

impl<'d> Details<'d> {
    fn of(of: &'d ClaudeMem) -> Result<Self> {
        let query = |table: &str, wanted: &[&[&'static str]], by_client_id: bool| -> Result<Option<DetailQuery>> {
            let Some(key) = of.named(table, if by_client_id { CLIENT_ID } else { OWN_ID })? else { return Ok(None) };
            let sql = format!("SELECT {} FROM {table} WHERE {key} = ?1 ORDER BY rowid", of.selected(table, wanted)?);
            Ok(Some(DetailQuery { sql, by_client_id }))
        };
        Ok(Self {
            db: &of.db,
            summaries: query("session_summaries", SUMMARIES, false)?,
            observations: query("observations", OBSERVATIONS, false)?,
            prompts: query("user_prompts", PROMPTS, true)?,
        })
    }

    /// Adds what belongs to a session.
    fn fill(&self, session: &mut ClaudeMemSession, own: Option<&str>, bad: &mut BadRows) {
        let mut room = MAX_SESSION_BYTES;
        let id = session.id.clone();
        let key = |query: &DetailQuery| if query.by_client_id { Some(id.as_str()) } else { own };
        let (mut prompts, mut summaries, mut observations) = (Vec::new(), Vec::new(), Vec::new());
        bad.prompts += self.each(self.prompts.as_ref(), key, &mut room, |row| {
            // A row without a text says nothing.
            let Some(text) = text(row, 1)? else { return Ok(()) };
            prompts.push(ClaudeMemPrompt { number: number(row, 0)?, text, at: time(row, 2)? });
            Ok(())
        });
        bad.summaries += self.each(self.summaries.as_ref(), key, &mut room, |row| {
            summaries.push(summary_of(row)?);
            Ok(())
        });
        let mut model = None;
        bad.observations += self.each(self.observations.as_ref(), key, &mut room, |row| {
            observations.push(observation_of(row)?);
            model = text(row, 8)?.or(model.take());
            Ok(())
        });
        (session.prompts, session.summaries, session.observations, session.model) = (prompts, summaries, observations, model);
    }

    /// Reads the rows of a query. Returns how many could not be.
    fn each<'k>(
        &self,
        query: Option<&DetailQuery>,
        key: impl Fn(&DetailQuery) -> Option<&'k str>,
        room: &mut usize,
        mut read: impl FnMut(&Row<'_>) -> Result<(), BadRow>,
    ) -> usize {
        let Some((query, key)) = query.and_then(|query| Some((query, key(query)?))) else { return 0 };
        let mut bad = 0;
        let mut all = |mut rows: Rows<'_>| -> rusqlite::Result<()> {
            while let Some(row) = rows.next()? {
                let size = size_of_row(row);
                bad += usize::from(size > *room || read(row).is_err());
                *room = room.saturating_sub(size);
            }
            Ok(())
        };
        let ended = self.db.prepare_cached(&query.sql).and_then(|mut query| all(query.query([key])?));
        // Where a page is damaged, the rest of the session's rows cannot be reached.
        bad + usize::from(ended.is_err())
    }
}

fn summary_of(row: &Row<'_>) -> Result<ClaudeMemSummary, BadRow> {
    Ok(ClaudeMemSummary {
        row: number(row, 0)?,
        request: text(row, 1)?,
        investigated: text(row, 2)?,
        learned: text(row, 3)?,
        completed: text(row, 4)?,
        next_steps: text(row, 5)?,
        notes: text(row, 6)?,
        files_read: list(row, 7)?,
        files_edited: list(row, 8)?,
        at: time(row, 9)?,
    })
}

fn observation_of(row: &Row<'_>) -> Result<ClaudeMemObservation, BadRow> {
    Ok(ClaudeMemObservation {
        row: number(row, 0)?,
        kind: text(row, 1)?.unwrap_or_default(),
        title: text(row, 2)?,
        subtitle: text(row, 3)?,
        narrative: text(row, 4)?.or(text(row, 5)?),
        files_read: list(row, 6)?,
        files_modified: list(row, 7)?,
        at: time(row, 9)?,
    })
}

fn value<'r>(row: &'r Row<'_>, column: usize) -> Result<ValueRef<'r>, BadRow> {
    row.get_ref(column).map_err(|_| BadRow)
}

fn size_of_row(row: &Row<'_>) -> usize {
    let size = |column| match row.get_ref(column) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => bytes.len(),
        _ => 8,
    };
    (0..row.as_ref().column_count()).map(size).sum()
}

/// A text; none where it is empty.
fn text(row: &Row<'_>, column: usize) -> Result<Option<String>, BadRow> {
    match value(row, column)? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|_| BadRow)?.trim();
            Ok((!text.is_empty()).then(|| text.to_owned()))
        }
        ValueRef::Integer(number) => Ok(Some(number.to_string())),
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(BadRow),
    }
}

fn number(row: &Row<'_>, column: usize) -> Result<i64, BadRow> {
    match value(row, column)? {
        ValueRef::Integer(number) => Ok(number),
        ValueRef::Null => Ok(0),
        _ => Err(BadRow),
    }
}

/// A time: in milliseconds, else as the text in the column behind that says.
fn time(row: &Row<'_>, column: usize) -> Result<Option<Millis>, BadRow> {
    match value(row, column)? {
        ValueRef::Integer(at) if Timestamp::from_millisecond(at).is_ok() => Ok(Some(at)),
        ValueRef::Null => {
            let written = text(row, column + 1)?;
            Ok(written.and_then(|text| text.parse::<Timestamp>().ok()).map(|at| at.as_millisecond()))
        }
        _ => Err(BadRow),
    }
}

/// A JSON array of texts. What is none is a list by commas or lines, as a model may write it.
fn list(row: &Row<'_>, column: usize) -> Result<Vec<String>, BadRow> {
    let Some(text) = text(row, column)? else { return Ok(Vec::new()) };
    if let Ok(values) = serde_json::from_str::<Vec<serde_json::Value>>(&text) {
        return Ok(values.into_iter().filter_map(|value| value.as_str().map(str::to_owned)).collect());
    }
    let parts = text.split(['\n', ',']).map(|part| part.trim().trim_matches(['[', ']', '"', '`']).to_owned());
    Ok(parts.filter(|part| !part.is_empty()).collect())
}
