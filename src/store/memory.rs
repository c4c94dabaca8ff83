//! The one door to what is remembered, for whatever shows something of it: commands, hooks, the server of the protocol, the export.
//!
//! What the [`Policy`] hides is not there behind it. The tables from which sessions, notes and what is known of them are looked up are
//! narrowed for the connection as a whole, by views of the same names, so that no query, however it is written, can forget it. What only a
//! session's number leads to, its rows above all, is left as it is: whose a copied row is hangs on sessions that are not shown, too.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use rusqlite::{Connection, TransactionBehavior, params};

use super::{BUSY, Store};
use crate::privacy::Policy;
use crate::session::Millis;

/// An index that shows what the policy allows, and cannot be written.
pub struct Memory {
    store: Store,
    /// There is something that it does not show.
    hides: bool,
}

impl Memory {
    /// Opens it. One of an older program is brought up to date first.
    ///
    /// # Errors
    /// When there is none yet, it cannot be read, or it was written by a newer program.
    pub fn open(path: &Path, policy: &Policy) -> Result<Self> {
        Self::of(Store::open_read_only(path)?, policy)
    }

    /// Opens it, when there is one.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_if_there(path: &Path, policy: &Policy) -> Result<Option<Self>> {
        Store::is_there(path)?.then(|| Self::open(path, policy)).transpose()
    }

    /// Opens it with a patience of the caller's, and changes nothing.
    ///
    /// # Errors
    /// When there is none yet, it cannot be read, or its form is not this program's: an [`super::OtherForm`].
    pub fn open_as_it_is(path: &Path, policy: &Policy, patience: Duration) -> Result<Self> {
        Self::of(Store::open_as_it_is(path, patience)?, policy)
    }

    /// What somebody may see of an index that is open for writing.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn beside(store: &Store, policy: &Policy) -> Result<Self> {
        Self::of(Store::open_as_it_is(&store.path, BUSY)?, policy)
    }

    fn of(mut store: Store, policy: &Policy) -> Result<Self> {
        let mut hides = false;
        if !policy.hides_nothing() {
            let tx = store.db.transaction_with_behavior(TransactionBehavior::Deferred)?;
            hides = narrow(&tx, policy)?;
            tx.commit()?;
            store.narrowed = true;
        }
        Ok(Self { store, hides })
    }

    /// Does a day's page that was written from the whole index show something that this does not? Its notes are from a moment on, before
    /// another.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn hides_some_of(&self, day: &str, (from, until): (Millis, Millis)) -> Result<bool> {
        if !self.hides {
            return Ok(false);
        }
        let sql = "SELECT EXISTS (SELECT 1 FROM main.page p WHERE p.day = ?1 AND p.session IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM temp.session WHERE pk = p.session))
             OR EXISTS (SELECT 1 FROM main.note n WHERE n.at >= ?2 AND n.at < ?3 AND NOT EXISTS (SELECT 1 FROM temp.note WHERE pk = n.pk))";
        Ok(self.store.db.query_row(sql, params![day, from, until], |r| r.get(0))?)
    }
}

impl Deref for Memory {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

/// What is narrowed, and to what. Whatever came after the look at the projects is not shown: nobody has asked the policy about it.
const VIEWS: &str = "
CREATE TEMP VIEW project AS SELECT * FROM main.project
    WHERE pk <= (SELECT projects FROM temp.looked_at) AND pk NOT IN (SELECT pk FROM temp.hidden_project);
CREATE TEMP VIEW session AS SELECT * FROM main.session
    WHERE pk <= (SELECT sessions FROM temp.looked_at) AND pk NOT IN (SELECT pk FROM temp.hidden_session)
      AND project <= (SELECT projects FROM temp.looked_at) AND project NOT IN (SELECT pk FROM temp.hidden_project);
CREATE TEMP VIEW note AS SELECT * FROM main.note
    WHERE project <= (SELECT projects FROM temp.looked_at) AND project NOT IN (SELECT pk FROM temp.hidden_project);
CREATE TEMP VIEW doc AS SELECT * FROM main.doc d
    WHERE CASE WHEN d.session IS NULL THEN EXISTS (SELECT 1 FROM temp.note WHERE pk = d.note)
      ELSE EXISTS (SELECT 1 FROM temp.session WHERE pk = d.session) END;
CREATE TEMP VIEW likeness AS SELECT * FROM main.likeness l
    WHERE EXISTS (SELECT 1 FROM temp.session WHERE pk = l.session)
      AND (l.repeated_by IS NULL OR EXISTS (SELECT 1 FROM temp.session WHERE pk = l.repeated_by));
CREATE TEMP VIEW bad_line AS SELECT * FROM main.bad_line b
    WHERE NOT EXISTS (SELECT 1 FROM main.file f JOIN main.source s ON s.file = f.path
        WHERE f.pk = b.file AND s.session NOT IN (SELECT pk FROM temp.session));
";

/// Tables of which only what belongs to sessions that are shown is there.
const OF_SESSIONS: [&str; 6] = ["digest", "former_digest", "open_item", "page", "attempt", "client_cost"];

/// Puts views in the place of tables, for this connection alone. Is anything hidden by them?
fn narrow(db: &Connection, policy: &Policy) -> Result<bool> {
    // What is hidden is written to no file.
    db.execute_batch(
        "PRAGMA temp_store = MEMORY;
         CREATE TEMP TABLE hidden_project (pk INTEGER PRIMARY KEY);
         CREATE TEMP TABLE hidden_session (pk INTEGER PRIMARY KEY);
         CREATE TEMP TABLE looked_at AS SELECT (SELECT coalesce(max(pk), 0) FROM main.project) AS projects,
             (SELECT coalesce(max(pk), 0) FROM main.session) AS sessions;",
    )?;
    let mut hide = db.prepare("INSERT INTO temp.hidden_project VALUES (?1)")?;
    let mut query = db.prepare("SELECT pk, key FROM main.project")?;
    let mut rows = query.query([])?;
    while let Some(r) = rows.next()? {
        if !policy.shows_project(&r.get::<_, String>(1)?) {
            hide.execute([r.get::<_, i64>(0)?])?;
        }
    }
    db.execute_batch(VIEWS)?;
    for table in OF_SESSIONS {
        db.execute_batch(&format!(
            "CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} o WHERE EXISTS (SELECT 1 FROM temp.session WHERE pk = o.session)"
        ))?;
    }
    if policy.hides_folders() {
        hide_parts(db, policy)?;
    }
    let hidden = "SELECT EXISTS (SELECT 1 FROM temp.hidden_project) OR EXISTS (SELECT 1 FROM temp.hidden_session)";
    Ok(db.query_row(hidden, [], |r| r.get(0))?)
}

/// Hides sessions as a whole of which a part took place in a folder that is hidden.
fn hide_parts(db: &Connection, policy: &Policy) -> Result<()> {
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
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Tables that tell of no project by themselves, or only under a number that a narrowed table gives.
    const HARMLESS: [&str; 23] = [
        "answered", "asked", "bundle", "bundle_hash", "closed_item", "embedded", "excluded_session", "fact", "file",
        "forgotten_row", "forgotten_session", "kin", "leaf_title", "private_turn", "private_word", "run", "source", "spend",
        "start", "unknown_row", "user_closed", "vector_chunk", "vector_space",
    ];

    /// A new table is narrowed, or somebody has thought about it.
    #[test]
    fn every_table_is_narrowed_or_known_to_be_harmless() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("recall.db")).expect("an index");
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'search*' AND name NOT GLOB 'sqlite_*'";
        let mut query = store.db.prepare(sql).expect("the tables");
        let all: BTreeSet<String> = query.query_map([], |r| r.get(0)).and_then(Iterator::collect).expect("the tables");
        let mut known: BTreeSet<String> = OF_SESSIONS.into_iter().chain(HARMLESS).map(str::to_owned).collect();
        known.extend(VIEWS.lines().filter_map(|line| line.strip_prefix("CREATE TEMP VIEW ")?.split(' ').next()).map(str::to_owned));
        assert_eq!(all, known);
    }
}
