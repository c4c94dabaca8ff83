//! The one door to stored memory, for everything that shows any of it: commands, hooks, the MCP server, the export.
//!
//! What the [`Policy`] hides does not exist behind it. The tables from which sessions, notes and facts about them are looked up are
//! restricted for the whole connection by views of the same names, so no query can forget to filter. Tables that are only reached through
//! a session's number, above all its chunks, are not restricted: which session owns a shared record also depends on hidden sessions.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use rusqlite::{Connection, TransactionBehavior, params};

use super::{Reader, folders, is_there, lock_timeout};
use crate::policy::Policy;
use transcripts::session::Millis;

/// A read-only index restricted to what the policy shows.
pub struct Memory {
    reader: Reader,
    /// The policy hides something of this index.
    hides: bool,
}

impl Memory {
    /// Opens it, migrating an index of an earlier program first.
    ///
    /// # Errors
    /// When there is none yet, or a newer program wrote it.
    pub(crate) fn open(path: &Path, policy: &Policy) -> Result<Self> {
        Self::of(Reader::open_read_only(path)?, policy)
    }

    /// Opens it if it exists.
    pub fn open_if_there(path: &Path, policy: &Policy) -> Result<Option<Self>> {
        is_there(path)?.then(|| Self::open(path, policy)).transpose()
    }

    /// Opens it without changing anything; `patience` is how long to wait for locks.
    ///
    /// # Errors
    /// When there is none yet, or its schema is not this program's: an [`super::OtherFormat`].
    pub(crate) fn open_unchanged(path: &Path, policy: &Policy, patience: Duration) -> Result<Self> {
        Self::of(Reader::open_as_it_is(path, patience)?, policy)
    }

    /// A restricted view of an index that is open for writing.
    pub fn beside_writer(writer: &Reader, policy: &Policy) -> Result<Self> {
        Self::of(Reader::open_as_it_is(&writer.path, lock_timeout())?, policy)
    }

    fn of(mut reader: Reader, policy: &Policy) -> Result<Self> {
        let mut hides = false;
        if !policy.hides_nothing() {
            let tx = reader.db.transaction_with_behavior(TransactionBehavior::Deferred)?;
            hides = restrict(&tx, policy)?;
            tx.commit()?;
            reader.narrowed = true;
        }
        Ok(Self { reader, hides })
    }

    /// Does a day's page, written from the whole index, show anything that is hidden here? Its notes are those from `from` up to `until`.
    pub(crate) fn hides_part_of_day(&self, day: &str, (from, until): (Millis, Millis)) -> Result<bool> {
        if !self.hides {
            return Ok(false);
        }
        let sql = "SELECT EXISTS (SELECT 1 FROM main.page p WHERE p.day = ?1 AND p.session IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM temp.session WHERE pk = p.session))
             OR EXISTS (SELECT 1 FROM main.later_day l WHERE l.day = ?1
                 AND NOT EXISTS (SELECT 1 FROM temp.session WHERE pk = l.session))
             OR EXISTS (SELECT 1 FROM main.note n WHERE n.at >= ?2 AND n.at < ?3 AND NOT EXISTS (SELECT 1 FROM temp.note WHERE pk = n.pk))";
        Ok(self.reader.db.query_row(sql, params![day, from, until], |r| r.get(0))?)
    }
}

impl Deref for Memory {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

/// The restricted tables. A memory file is hidden where a session whose transcript lies in its folder is: Claude may have written in it what
/// that session saw. Rows added after the policy was consulted are not shown, because it was not asked about them.
const VIEWS: &str = "
CREATE TEMP VIEW project AS SELECT * FROM main.project
    WHERE pk <= (SELECT projects FROM temp.looked_at) AND pk NOT IN (SELECT pk FROM temp.hidden_project);
CREATE TEMP VIEW session AS SELECT * FROM main.session
    WHERE pk <= (SELECT sessions FROM temp.looked_at) AND pk NOT IN (SELECT pk FROM temp.hidden_session)
      AND project <= (SELECT projects FROM temp.looked_at) AND project NOT IN (SELECT pk FROM temp.hidden_project)
      AND coalesce(last_at, started_at, 0) < (SELECT until FROM temp.looked_at);
CREATE TEMP VIEW note AS SELECT * FROM main.note
    WHERE project <= (SELECT projects FROM temp.looked_at) AND project NOT IN (SELECT pk FROM temp.hidden_project)
      AND at < (SELECT until FROM temp.looked_at);
CREATE TEMP VIEW memory_file AS SELECT * FROM main.memory_file m
    WHERE project <= (SELECT projects FROM temp.looked_at) AND project NOT IN (SELECT pk FROM temp.hidden_project)
      AND at < (SELECT until FROM temp.looked_at)
      AND NOT EXISTS (SELECT 1 FROM temp.hidden_session h JOIN main.source s ON s.session = h.pk
          WHERE s.file > m.folder || '/' AND s.file < m.folder || '0');
CREATE TEMP VIEW doc AS SELECT * FROM main.doc d
    WHERE CASE WHEN d.session IS NOT NULL THEN EXISTS (SELECT 1 FROM temp.session WHERE pk = d.session)
      WHEN d.note IS NOT NULL THEN EXISTS (SELECT 1 FROM temp.note WHERE pk = d.note)
      ELSE EXISTS (SELECT 1 FROM temp.memory_file WHERE pk = d.memory_file) END;
CREATE TEMP VIEW likeness AS SELECT * FROM main.likeness l
    WHERE EXISTS (SELECT 1 FROM temp.session WHERE pk = l.session)
      AND (l.repeated_by IS NULL OR EXISTS (SELECT 1 FROM temp.session WHERE pk = l.repeated_by));
CREATE TEMP VIEW overtaken AS SELECT * FROM main.overtaken o
    WHERE (o.digest IS NULL OR EXISTS (SELECT 1 FROM temp.digest WHERE pk = o.digest))
      AND (o.later_digest IS NULL OR EXISTS (SELECT 1 FROM temp.digest WHERE pk = o.later_digest))
      AND (o.note IS NULL OR EXISTS (SELECT 1 FROM temp.note WHERE pk = o.note))
      AND (o.later_note IS NULL OR EXISTS (SELECT 1 FROM temp.note WHERE pk = o.later_note));
CREATE TEMP VIEW failure AS SELECT * FROM main.failure f
    WHERE EXISTS (SELECT 1 FROM temp.digest WHERE pk = f.digest);
CREATE TEMP VIEW command AS SELECT * FROM main.command c
    WHERE EXISTS (SELECT 1 FROM temp.digest WHERE pk = c.digest);
CREATE TEMP VIEW receipt AS SELECT * FROM main.receipt r
    WHERE EXISTS (SELECT 1 FROM temp.digest WHERE pk = r.digest);
CREATE TEMP VIEW observation AS SELECT * FROM main.observation o
    WHERE (o.digest IS NULL OR EXISTS (SELECT 1 FROM temp.digest WHERE pk = o.digest))
      AND (o.note IS NULL OR EXISTS (SELECT 1 FROM temp.note WHERE pk = o.note))
      AND seen_at < (SELECT until FROM temp.looked_at);
CREATE TEMP VIEW rule_mention AS SELECT * FROM main.rule_mention m
    WHERE EXISTS (SELECT 1 FROM temp.digest WHERE pk = m.digest);
CREATE TEMP VIEW session_folder AS SELECT * FROM main.session_folder f
    WHERE EXISTS (SELECT 1 FROM temp.session WHERE id = f.session);
CREATE TEMP VIEW bad_line AS SELECT * FROM main.bad_line b
    WHERE NOT EXISTS (SELECT 1 FROM main.file f JOIN main.source s ON s.file = f.path
        WHERE f.pk = b.file AND s.session NOT IN (SELECT pk FROM temp.session));
CREATE TEMP VIEW unknown_row AS SELECT * FROM main.unknown_row u
    WHERE NOT EXISTS (SELECT 1 FROM main.file f JOIN main.source s ON s.file = f.path
        WHERE f.pk = u.file AND s.session NOT IN (SELECT pk FROM temp.session));
";

/// Tables restricted to the rows of sessions that are shown.
const SESSION_TABLES: [&str; 7] = ["digest", "former_digest", "open_item", "page", "later_day", "attempt", "client_cost"];

/// Shadows tables with views, for this connection only. Returns whether anything is hidden.
fn restrict(db: &Connection, policy: &Policy) -> Result<bool> {
    // Keeps the list of what is hidden out of any file.
    let until = policy.known_at().unwrap_or(Millis::MAX);
    db.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY;
         CREATE TEMP TABLE hidden_project (pk INTEGER PRIMARY KEY);
         CREATE TEMP TABLE hidden_session (pk INTEGER PRIMARY KEY);
         CREATE TEMP TABLE looked_at AS SELECT (SELECT coalesce(max(pk), 0) FROM main.project) AS projects,
             (SELECT coalesce(max(pk), 0) FROM main.session) AS sessions, {until} AS until;",
    ))?;
    let mut hide = db.prepare("INSERT INTO temp.hidden_project VALUES (?1)")?;
    let mut query = db.prepare("SELECT pk, key FROM main.project")?;
    let mut rows = query.query([])?;
    while let Some(r) = rows.next()? {
        if !policy.shows_project(&r.get::<_, String>(1)?) {
            hide.execute([r.get::<_, i64>(0)?])?;
        }
    }
    db.execute_batch(VIEWS)?;
    for table in SESSION_TABLES {
        db.execute_batch(&format!(
            "CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} o WHERE EXISTS (SELECT 1 FROM temp.session WHERE pk = o.session)"
        ))?;
    }
    if policy.hides_folders() {
        hide_sessions(db, policy)?;
    }
    let hidden = "SELECT EXISTS (SELECT 1 FROM temp.hidden_project) OR EXISTS (SELECT 1 FROM temp.hidden_session)";
    Ok(db.query_row(hidden, [], |r| r.get(0))?)
}

/// Hides whole sessions of which a part took place in a hidden folder, be it a record or a subagent. One of which only what it said before it
/// came into an excluded folder is stored is shown.
fn hide_sessions(db: &Connection, policy: &Policy) -> Result<()> {
    let mut hide = db.prepare("INSERT OR IGNORE INTO temp.hidden_session VALUES (?1)")?;
    let mut query = db.prepare(
        "SELECT s.pk, f.cwd FROM main.source f JOIN main.session s ON s.pk = f.session JOIN main.project p ON p.pk = s.project
         WHERE f.cwd IS NOT NULL AND f.cwd <> p.key AND s.project NOT IN (SELECT pk FROM temp.hidden_project)",
    )?;
    let mut rows = query.query([])?;
    let mut shown: HashMap<String, bool> = HashMap::new();
    while let Some(r) = rows.next()? {
        let shows = *shown.entry(r.get(1)?).or_insert_with_key(|folder| policy.shows_folder(folder));
        if !shows {
            hide.execute([r.get::<_, i64>(0)?])?;
        }
    }
    let moved =
        "INSERT OR IGNORE INTO temp.hidden_session SELECT s.pk FROM main.session_folder f JOIN main.session s ON s.id = f.session
         WHERE f.folder = ?1
         AND NOT (?2 AND EXISTS (SELECT 1 FROM main.excluded_session e WHERE e.id = f.session AND e.kept AND f.since >= e.cut_at))";
    let mut hide = db.prepare(moved)?;
    for folder in folders::moved_to(db)? {
        if !*shown.entry(folder.clone()).or_insert_with_key(|folder| policy.shows_folder(folder)) {
            hide.execute(params![folder, !policy.isolates_folder(&folder)])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::Writer;

    /// Tables that reveal no project by themselves, or only under a number from a restricted table.
    const HARMLESS: [&str; 25] = [
        "answered", "asked", "bundle", "bundle_hash", "closed_item", "closing", "embedded", "excluded_session", "fact", "file",
        "forgotten_row", "forgotten_session", "kin", "leaf_title", "origin", "private_turn", "private_word", "run", "source",
        "spend", "start", "user_closed", "vector_chunk", "vector_space", "wrong",
    ];

    /// A new table must be restricted or listed as harmless.
    #[test]
    fn every_table_is_narrowed_or_known_to_be_harmless() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Writer::open(&folder.path().join("recall.db")).expect("an index");
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'search*' AND name NOT GLOB 'sqlite_*'";
        let mut query = store.db.prepare(sql).expect("the tables");
        let all: BTreeSet<String> = query.query_map([], |r| r.get(0)).and_then(Iterator::collect).expect("the tables");
        let mut known: BTreeSet<String> = SESSION_TABLES.into_iter().chain(HARMLESS).map(str::to_owned).collect();
        known.extend(VIEWS.lines().filter_map(|line| line.strip_prefix("CREATE TEMP VIEW ")?.split(' ').next()).map(str::to_owned));
        assert_eq!(all, known);
    }
}
