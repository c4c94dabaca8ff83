//! An index from what is left of a damaged one: its copy, and beside that whatever can still be read.
//!
//! Every row is asked for by itself, from both ends of its table: a page that cannot be read costs what lies on it. What the copy has
//! stays as it is there, unless the damaged index knew something later. Nothing is written to the damaged one.

mod tables;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use self::tables::{DAYS, FORGOTTEN, FORMER, MONEY, PAGES, Table};
use super::forget::{Doomed, Lasting};
use super::load::SessionHead;
use super::notes::NewNote;
use super::open::read_only;
use super::transfer::Exported;
use super::{BUSY, Store, copy, trouble};
use crate::model::session::RowKey;
use crate::store::chunk::Whereabouts;

/// What an index holds that a mended one should hold again, as far as it can be read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Held {
    pub sessions: BTreeSet<String>,
    /// Sessions that have a digest. Where those cannot be listed: that have a page of their own, or were paid for.
    pub digests: BTreeSet<String>,
    /// Sessions for which the model was paid.
    pub paid: BTreeSet<String>,
    pub notes: BTreeSet<String>,
    /// Sessions of which no row is there, but what was made of them.
    pub bare: BTreeSet<String>,
    /// All of it could be read.
    pub whole: bool,
    /// The digests could be listed to the last.
    pub lists_digests: bool,
    /// What was forgotten is known to the last.
    pub knows_forgotten: bool,
}

impl Held {
    /// Both together; about being whole and what is forgotten, as the first.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.sessions.extend(other.sessions);
        self.digests.extend(other.digests);
        self.paid.extend(other.paid);
        self.notes.extend(other.notes);
        self.bare.extend(other.bare);
        self
    }

    /// How much that is.
    pub fn salvaged(&self) -> Salvaged {
        Salvaged { sessions: self.sessions.len(), digests: self.digests.len(), notes: self.notes.len() }
    }
}

/// How many sessions, digests and notes a damaged index gave.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Salvaged {
    pub sessions: usize,
    pub digests: usize,
    pub notes: usize,
}

impl Store {
    /// Opens an index that nobody writes, whatever its form and state.
    ///
    /// # Errors
    /// When nothing of it can be read.
    pub fn open_aside(path: &Path) -> Result<Self> {
        // One at rest needs no file beside it; a log that is there is part of it.
        let how = if copy::is_at_rest(path) { "?immutable=1" } else { "" };
        Ok(Self { another: Self::open_aside, ..read_only(path, how, BUSY)?.0 })
    }

    /// Is it of a form that this program reads as it is? One of an older program is brought up to date before anybody looks at it; where
    /// that cannot be done, most of what is in it is out of reach.
    pub fn has_this_form(&self) -> bool {
        self.version().is_ok_and(|version| version == super::schema::FORMAT)
    }

    /// What it holds, as far as that can be read.
    pub fn held(&self) -> Held {
        let mut held = Held { knows_forgotten: true, ..Held::default() };
        held.lists_digests =
            self.add_ids(&mut held.digests, "session s JOIN digest d ON d.session = s.pk AND NOT d.superseded", "s.id");
        // Calls about a topic are of no session.
        self.add_ids(&mut held.paid, "spend WHERE actual_usd > 0 AND session <> '' AND session NOT GLOB 'topic-*'", "session");
        if !held.lists_digests {
            self.add_ids(&mut held.digests, "session s JOIN page p ON p.session = s.pk", "s.id");
            held.digests.extend(held.paid.iter().cloned());
        }
        held.whole = held.lists_digests;
        let Held { sessions, notes, bare, whole, .. } = &mut held;
        for (set, table, column) in [
            (sessions, "session s", "s.id"),
            (notes, "note n", "n.id"),
            (bare, "session s WHERE NOT EXISTS (SELECT 1 FROM source f WHERE f.session = s.pk)", "s.id"),
        ] {
            *whole &= self.add_ids(set, table, column);
        }
        held.whole &= self.rows_from_both_ends(MONEY.columns, MONEY.name, MONEY.order, |r| r.get::<_, Value>(0)).1;
        for table in &FORGOTTEN {
            held.knows_forgotten &= self.rows_from_both_ends(table.columns, table.name, table.order, |r| r.get::<_, Value>(0)).1;
        }
        // Of those a name may be left, until their pages are gone.
        for id in self.shut_out_sessions() {
            held.sessions.remove(&id);
            held.digests.remove(&id);
            held.paid.remove(&id);
            held.bare.remove(&id);
        }
        held
    }

    /// Adds the ids of a table, as far as they can be read. Is that all of them?
    fn add_ids(&self, to: &mut BTreeSet<String>, table: &str, column: &str) -> bool {
        let (ids, all) = self.rows_from_both_ends(column, table, column, |r| r.get::<_, String>(0));
        to.extend(ids);
        all
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

    /// Takes out what a damaged index knows to be forgotten: a copy of it may be older than that. Returns whether there was any.
    ///
    /// # Errors
    /// When this index cannot be written.
    pub fn forget_as(&mut self, damaged: &Store) -> Result<bool> {
        let mut doomed = Doomed::default();
        for id in damaged.shut_out_sessions() {
            if !self.is_shut_out(&id)? {
                doomed.whole.extend(self.looked_up(&id)?);
            }
        }
        let (keys, _) = damaged.rows_from_both_ends("key", "forgotten_row", "key", |r| r.get(0).map(RowKey));
        let mut whereabouts = Whereabouts::load(&self.db)?;
        for key in keys {
            // Known here and stored all the same: a hand-made one that shares its key with another.
            if self.is_forgotten_row(key)? {
                continue;
            }
            for session in whereabouts.sessions_with(&self.db, key)? {
                doomed.rows.entry(session).or_default().insert(key);
            }
        }
        doomed.rows.retain(|session, _| !doomed.whole.contains(session));
        // What was made of such a row.
        doomed.digests = doomed.rows.keys().copied().collect();
        let any = !doomed.is_empty();
        if any {
            self.take_out(&doomed, Lasting::ForGood)?;
        }
        Ok(any)
    }

    fn shut_out_sessions(&self) -> BTreeSet<String> {
        self.rows_from_both_ends("id", "forgotten_session", "id", |r| r.get(0)).0.into_iter().collect()
    }

    /// Takes over from a damaged index what it gives. What cannot be read is passed over; `held` of both says what is missing.
    ///
    /// # Errors
    /// When this index cannot be written.
    pub fn salvage(&mut self, damaged: &Store) -> Result<Salvaged> {
        let mut salvaged = Salvaged::default();
        let shut_out = damaged.shut_out_sessions();
        let (sessions, _) = damaged.rows_from_both_ends("pk", "session", "pk", |r| r.get::<_, i64>(0));
        for pk in BTreeSet::from_iter(sessions) {
            let Some(exported) = damaged.what_is_left(pk).filter(|exported| !shut_out.contains(&exported.session)) else {
                continue;
            };
            passed_over(self.take_over(exported, &mut salvaged))?;
        }
        let (notes, _) = damaged.rows_from_both_ends("pk", "note", "pk", |r| r.get::<_, i64>(0));
        for pk in BTreeSet::from_iter(notes) {
            let Ok(note) = damaged.note(pk) else { continue };
            let (project, author, closed) = (note.project.key, note.author, note.closed);
            let new = NewNote { project, kind: note.kind, text: note.text, at: note.at, author, closed };
            let taken = self.import_note(&note.id, &new).map(|new| salvaged.notes += usize::from(new));
            passed_over(taken)?;
        }
        // Behind the sessions: to import one is to want it back.
        for table in FORGOTTEN.iter().chain([&MONEY, &PAGES, &DAYS, &FORMER]) {
            self.take_rows(damaged, table)?;
        }
        Ok(salvaged)
    }

    /// A session with all that can be read of it; where its digest cannot, without; where rows cannot, with its digest alone.
    fn what_is_left(&self, pk: i64) -> Option<Exported> {
        let head = self.session_head(pk).ok().filter(|head| self.is_named_so(head))?;
        let whole = self.export_session(&head).or_else(|_| self.export_without_digest(&head));
        whole.or_else(|_| self.export_digest_alone(&head)).ok()
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

/// What cannot be stored is a piece of the damage, and no reason to give the rest up, unless nothing can be stored any more.
fn passed_over(taken: Result<()>) -> Result<()> {
    taken.or_else(|e| if trouble::is_trouble(&e) { Err(e) } else { Ok(()) })
}
