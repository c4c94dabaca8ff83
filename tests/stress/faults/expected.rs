//! What a command has to end in where the way there may differ: an index that was damaged is whole and holds what could be had again.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// What the index has to hold, and what it must not.
pub struct Promised {
    pub rows: BTreeSet<String>,
    pub never: BTreeSet<String>,
}

impl Promised {
    /// What is not so in a data folder.
    pub fn broken(&self, folder: &Path) -> Option<String> {
        let database = folder.join("recall.db");
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let db = match Connection::open_with_flags(&database, flags) {
            Ok(db) => db,
            Err(e) => return Some(format!("{}: {e}", database.display())),
        };
        let health: String = db.query_row("PRAGMA integrity_check", [], |r| r.get(0)).expect("a check");
        if health != "ok" {
            return Some(health);
        }
        let there = named(&db);
        let missing: Vec<_> = self.rows.difference(&there).collect();
        let wrong: Vec<_> = self.never.intersection(&there).collect();
        let so = missing.is_empty() && wrong.is_empty();
        (!so).then(|| format!("missing: {missing:#?}\nthere, and should not be: {wrong:#?}"))
    }
}

/// Every session, digest and note of an index.
pub fn named(db: &Connection) -> BTreeSet<String> {
    let sql =
        "SELECT 'session ' || id FROM session UNION SELECT 'digest ' || id FROM digest UNION SELECT 'note ' || text FROM note";
    let mut query = db.prepare(sql).expect("the tables");
    query.query_map([], |r| r.get(0)).and_then(Iterator::collect).expect("rows")
}
