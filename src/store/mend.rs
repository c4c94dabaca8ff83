//! An index from what is left of a damaged one: its copy, and beside that whatever can still be read.
//!
//! Every row is asked for by itself, from both ends of its table: a page that cannot be read costs what lies on it. What the copy has
//! stays as it is there, unless the damaged index knew something later. Nothing is written to the damaged one.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use super::load::SessionHead;
use super::notes::NewNote;
use super::transfer::Exported;
use super::{BUSY, Store, copy, read_only};

/// What an index holds that a mended one should hold again, as far as it can be read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Held {
    pub sessions: BTreeSet<String>,
    /// Sessions that have a digest.
    pub digests: BTreeSet<String>,
    pub notes: BTreeSet<String>,
    /// Sessions of which no row is there, but what was made of them.
    pub bare: BTreeSet<String>,
    /// All of it could be read.
    pub whole: bool,
    /// What was forgotten is known to the last.
    pub knows_forgotten: bool,
}

/// How many sessions, digests and notes a damaged index gave.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Salvaged {
    pub sessions: usize,
    pub digests: usize,
    pub notes: usize,
}

/// A table whose rows are taken over as they are.
struct Table {
    name: &'static str,
    columns: &'static str,
    order: &'static str,
    insert: &'static str,
}

/// What is not to come back. Money that was spent: a budget holds also after a mending.
const FORGOTTEN: [Table; 4] = [
    Table { name: "forgotten_session", columns: "id", order: "id", insert: "INSERT OR IGNORE INTO forgotten_session VALUES (?1)" },
    Table {
        name: "forgotten_row",
        columns: "key, private",
        order: "key",
        insert: "INSERT OR IGNORE INTO forgotten_row VALUES (?1, ?2)",
    },
    Table { name: "excluded_session", columns: "id", order: "id", insert: "INSERT OR IGNORE INTO excluded_session VALUES (?1)" },
    Table {
        name: "private_turn",
        columns: "session, from_at, until_at, prompt",
        order: "session, from_at",
        insert: "INSERT OR REPLACE INTO private_turn VALUES (?1, ?2, ?3, ?4)",
    },
];
const MONEY: Table = Table {
    name: "spend",
    columns: "pk, at, session, model, reserved_usd, actual_usd",
    order: "pk",
    insert: "INSERT OR REPLACE INTO spend VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
};
const PAGES: Table = Table {
    name: "page p JOIN session s ON s.pk = p.session",
    columns: "p.path, s.id, p.day",
    order: "p.path",
    insert: "INSERT OR IGNORE INTO page SELECT ?1, pk, ?3 FROM session WHERE id = ?2",
};
const DAYS: Table = Table {
    name: "page",
    columns: "path, day",
    order: "path",
    insert: "INSERT OR IGNORE INTO page SELECT ?1, NULL, ?2 WHERE ?1 NOT LIKE '%/sessions/%'",
};
const FORMER: Table = Table {
    name: "former_digest f JOIN session s ON s.pk = f.session",
    columns: "f.id, s.id",
    order: "f.id",
    insert: "INSERT OR IGNORE INTO former_digest SELECT ?1, pk FROM session WHERE id = ?2",
};

impl Store {
    /// Opens an index that nobody writes, whatever its form and state.
    ///
    /// # Errors
    /// When nothing of it can be read.
    pub fn open_aside(path: &Path) -> Result<Self> {
        // One at rest needs no file beside it; a log that is there is part of it.
        let how = if copy::is_at_rest(path) { "?immutable=1" } else { "" };
        Ok(read_only(path, how, BUSY)?.0)
    }

    /// Is it of a form that this program reads as it is?
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn has_this_form(&self) -> Result<bool> {
        Ok(self.version()? == super::schema::MIGRATIONS.len())
    }

    /// What it holds, as far as that can be read.
    pub fn held(&self) -> Held {
        let mut held = Held { whole: true, knows_forgotten: true, ..Held::default() };
        let Held { sessions, digests, notes, bare, whole, .. } = &mut held;
        for (set, table, column) in [
            (sessions, "session s", "s.id"),
            (digests, "session s JOIN digest d ON d.session = s.pk AND NOT d.superseded", "s.id"),
            (notes, "note n", "n.id"),
            (bare, "session s WHERE NOT EXISTS (SELECT 1 FROM source f WHERE f.session = s.pk)", "s.id"),
        ] {
            let (ids, all) = self.rows_from_both_ends(column, table, column, |r| r.get::<_, String>(0));
            set.extend(ids);
            *whole &= all;
        }
        held.whole &= self.rows_from_both_ends(MONEY.columns, MONEY.name, MONEY.order, |r| r.get::<_, Value>(0)).1;
        for table in &FORGOTTEN {
            held.knows_forgotten &= self.rows_from_both_ends(table.columns, table.name, table.order, |r| r.get::<_, Value>(0)).1;
        }
        held
    }

    /// The rows of a table as far as they can be read, and whether that is all of them. What is read twice is there twice.
    pub(super) fn rows_from_both_ends<T>(
        &self,
        columns: &str,
        table: &str,
        order: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> (Vec<T>, bool) {
        let mut all = Vec::new();
        let backwards = order.split(", ").map(|column| format!("{column} DESC")).collect::<Vec<_>>().join(", ");
        let whole = self.read_on(&format!("SELECT {columns} FROM {table} ORDER BY {order}"), &read, &mut all);
        if !whole {
            self.read_on(&format!("SELECT {columns} FROM {table} ORDER BY {backwards}"), &read, &mut all);
        }
        (all, whole)
    }

    /// Reads rows until one cannot be read: then it is false.
    fn read_on<T>(&self, sql: &str, read: &impl Fn(&Row<'_>) -> rusqlite::Result<T>, all: &mut Vec<T>) -> bool {
        let Ok(mut query) = self.db.prepare(sql) else { return false };
        let Ok(mut rows) = query.query([]) else { return false };
        loop {
            match rows.next() {
                Ok(Some(row)) => match read(row) {
                    Ok(value) => all.push(value),
                    Err(_) => return false,
                },
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Takes over from a damaged index what it gives. What cannot be read is passed over; `held` of both says what is missing.
    ///
    /// # Errors
    /// When this index cannot be written.
    pub fn salvage(&mut self, damaged: &Store) -> Result<Salvaged> {
        let mut salvaged = Salvaged::default();
        let (shut_out, _) = damaged.rows_from_both_ends("id", "forgotten_session", "id", |r| r.get::<_, String>(0));
        let shut_out: BTreeSet<String> = shut_out.into_iter().collect();
        let (sessions, _) = damaged.rows_from_both_ends("pk", "session", "pk", |r| r.get::<_, i64>(0));
        for pk in BTreeSet::from_iter(sessions) {
            let Some(exported) = damaged.what_is_left(pk).filter(|exported| !shut_out.contains(&exported.session)) else {
                continue;
            };
            self.take_over(exported, &mut salvaged)?;
        }
        let (notes, _) = damaged.rows_from_both_ends("pk", "note", "pk", |r| r.get::<_, i64>(0));
        for pk in BTreeSet::from_iter(notes) {
            let Ok(note) = damaged.note(pk) else { continue };
            let new = NewNote { project: note.project.key, kind: note.kind, text: note.text, at: note.at };
            salvaged.notes += usize::from(self.import_note(&note.id, &new)?);
        }
        // Behind the sessions: to import one is to want it back.
        for table in FORGOTTEN.iter().chain([&MONEY, &PAGES, &DAYS, &FORMER]) {
            self.take_rows(damaged, table)?;
        }
        Ok(salvaged)
    }

    /// A session with all that can be read of it; where rows cannot, with its digest alone.
    fn what_is_left(&self, pk: i64) -> Option<Exported> {
        let head = self.session_head(pk).ok().filter(|head| self.is_named_so(head))?;
        self.export_session(&head).or_else(|_| self.export_digest_alone(&head)).ok()
    }

    /// Is the session's name the one it always had? A byte of it may be another: then it is not found by it, and looks like none.
    fn is_named_so(&self, head: &SessionHead) -> bool {
        let looks_so = head.id.len() == 36 && head.id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        looks_so || self.looked_up(&head.id).is_ok_and(|found| found == Some(head.pk))
    }

    fn take_over(&mut self, exported: Exported, salvaged: &mut Salvaged) -> Result<()> {
        let known = self.looked_up(&exported.session)?;
        let had = known.map(|pk| self.digest_of(pk)).transpose()?.flatten().map(|digest| digest.made_at);
        let later = exported.digest.clone().filter(|digest| had.is_none_or(|at| at < digest.made_at));
        let (id, dirty) = (exported.session.clone(), exported.dirty);
        self.import_session(exported)?;
        salvaged.sessions += usize::from(known.is_none());
        if let Some(digest) = later {
            salvaged.digests += 1;
            if let Some(pk) = self.looked_up(&id)?.filter(|_| had.is_some()) {
                self.put_in_place(pk, &digest, dirty)?;
            }
        }
        Ok(())
    }

    fn looked_up(&self, id: &str) -> Result<Option<i64>> {
        let mut query = self.db.prepare_cached("SELECT pk FROM session WHERE id = ?1")?;
        let mut rows = query.query([id])?;
        Ok(rows.next()?.map(|r| r.get(0)).transpose()?)
    }

    fn take_rows(&mut self, damaged: &Store, table: &Table) -> Result<()> {
        let columns = table.columns.split(", ").count();
        let values = |r: &Row<'_>| (0..columns).map(|at| r.get(at)).collect::<rusqlite::Result<Vec<Value>>>();
        let (rows, _) = damaged.rows_from_both_ends(table.columns, table.name, table.order, values);
        let tx = self.db.transaction()?;
        for row in rows {
            // A value of another kind than the column's was never stored: it is a piece of the damage.
            let taken = tx.prepare_cached(table.insert)?.execute(params_from_iter(row));
            if let Err(e) = taken
                && e.sqlite_error_code() != Some(rusqlite::ErrorCode::ConstraintViolation)
            {
                return Err(e.into());
            }
        }
        Ok(tx.commit()?)
    }
}
