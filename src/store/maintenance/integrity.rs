//! The full check: is the index sound, as a file and in every value that is ever read from it?
//!
//! SQLite checks the structure of the file. A text that is not UTF-8, a body that cannot be unpacked or a missing table stops a reader all
//! the same. Whatever stops a digest must be found here: otherwise no repair would begin.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::analyze::denied::DeniedStatement;
use crate::model::digest::Digest;
use crate::store::codec::unpack;
use crate::store::{Reader, error, schema};

/// A part that is checked on its own.
enum CheckedPart {
    Structure,
    Values,
    /// By its number.
    Session(i64),
    Rest,
}

/// The first thing that is wrong with an index, if anything is: structure, indexes, values. Reads the whole of it; in one transaction
/// unless several threads read.
///
/// # Errors
/// When it cannot be checked: it is locked, or the system does not let it be read.
pub(crate) fn any_damage(index: &Reader) -> Result<Option<String>> {
    any_damage_with(index, || {})
}

/// The same; calls `step` after each of about as many parts as there are sessions.
pub(crate) fn any_damage_with(index: &Reader, step: impl FnMut()) -> Result<Option<String>> {
    index.in_snapshot(|| index.read_all(step)).map_or_else(|e| error::as_damage(e).map(Some), |()| Ok(None))
}

/// The first thing that is wrong with the structure of an index, of which the values are not read: for one that is so large that reading
/// them takes seconds.
///
/// # Errors
/// As [`any_damage`].
pub(crate) fn damage_of_structure(index: &Reader) -> Result<Option<String>> {
    let check = || {
        index.check_tables()?;
        index.check_names_and_indexes()
    };
    index.in_snapshot(check).map_or_else(|e| error::as_damage(e).map(Some), |()| Ok(None))
}

/// The same of the file's structure alone, for an index of any format.
pub(in crate::store) fn damage_of_pages(index: &Reader) -> Result<Option<String>> {
    index.check_pages().map_or_else(|e| error::as_damage(e).map(Some), |()| Ok(None))
}

impl Reader {
    fn read_all(&self, mut step: impl FnMut()) -> Result<()> {
        // If these cannot be read, the structure says best why.
        let sessions = self.session_pks();
        let each = sessions.iter().flatten().copied().map(CheckedPart::Session);
        let parts: Vec<CheckedPart> =
            [CheckedPart::Structure, CheckedPart::Values].into_iter().chain(each).chain([CheckedPart::Rest]).collect();
        self.map_in_order(
            || false,
            &parts,
            Self::read_part,
            |_, read| {
                step();
                read
            },
        )?;
        sessions.map(drop)
    }

    fn read_part(&self, part: &CheckedPart) -> Result<()> {
        match part {
            CheckedPart::Structure => self.check_structure(),
            CheckedPart::Values => self.read_values(),
            CheckedPart::Session(pk) => self.read_through(&self.session_head(*pk)?),
            CheckedPart::Rest => self.read_rest(),
        }
    }

    fn check_pages(&self) -> Result<()> {
        self.must_be_ok("PRAGMA integrity_check(1)")
    }

    /// The pages of each table, one after the other: a check of the whole file also reads every word of the full-text index.
    fn check_tables(&self) -> Result<()> {
        let mut query = self.db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")?;
        let tables: Vec<String> = query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        tables.iter().try_for_each(|table| self.must_be_ok(&format!("PRAGMA quick_check(\"{table}\")")))
    }

    fn must_be_ok(&self, check: &str) -> Result<()> {
        let found: String = self.db.query_row(check, [], |r| r.get(0))?;
        if found != "ok" {
            bail!(found);
        }
        Ok(())
    }

    fn check_structure(&self) -> Result<()> {
        self.check_pages()?;
        self.check_names_and_indexes()
    }

    fn check_names_and_indexes(&self) -> Result<()> {
        let there = names_in(&self.db)?;
        if let Some(missing) = schema::NAMES.iter().chain(&schema::NAMES_BY_SQLITE).filter(|name| !there.contains(**name)).min() {
            bail!("there is no `{missing}` in it");
        }
        self.check_partial_indexes()
    }

    /// Partial indexes hold what they should. SQLite's own check lets one pass whose page is that of an earlier state; a digest stops at it.
    fn check_partial_indexes(&self) -> Result<()> {
        let sql = "SELECT name, tbl_name, substr(sql, instr(sql, ' WHERE ')) FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'";
        let mut query = self.db.prepare(sql)?;
        let partial = query.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
        for (index, table, which) in partial.collect::<rusqlite::Result<Vec<(String, String, String)>>>()? {
            let sql = |by: &str| format!("SELECT count(*) FROM \"{table}\" {by}{which}");
            let all: [i64; 2] = [
                self.db.query_row(&sql(&format!("INDEXED BY \"{index}\"")), [], |r| r.get(0))?,
                self.db.query_row(&sql("NOT INDEXED"), [], |r| r.get(0))?,
            ];
            if all[0] != all[1] {
                bail!("wrong # of entries in index {index}");
            }
        }
        Ok(())
    }

    /// Every value of every table is of its column's type, and every text is UTF-8.
    fn read_values(&self) -> Result<()> {
        let sql = "SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c
             WHERE m.type = 'table' AND m.rootpage > 0 ORDER BY m.name, c.cid";
        let mut query = self.db.prepare(sql)?;
        let columns: Vec<(String, String, String)> =
            query.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?.collect::<rusqlite::Result<_>>()?;
        for of_table in columns.chunk_by(|a, b| a.0 == b.0) {
            let names: Vec<String> = of_table.iter().map(|(_, name, _)| format!("\"{name}\"")).collect();
            let table = &of_table[0].0;
            let mut query = self.db.prepare(&format!("SELECT {} FROM \"{table}\"", names.join(", ")))?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                for (at, (_, column, kind)) in of_table.iter().enumerate() {
                    if !is_of_kind(row.get_ref(at)?, kind) {
                        bail!(never_stored(&format!("{table}.{column}")));
                    }
                }
            }
        }
        Ok(())
    }

    /// Ids and words of what is not so have the form in which they are stored.
    fn read_denied(&self) -> Result<()> {
        let mut query = self.db.prepare("SELECT id, words FROM wrong")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            if !DeniedStatement::is_id(row.get_ref(0)?.as_str()?) {
                bail!(never_stored("wrong.id"));
            }
            if !DeniedStatement::is_stored_form(row.get_ref(1)?.as_blob()?) {
                bail!(never_stored("wrong.words"));
            }
        }
        Ok(())
    }

    /// Reads everything that is read besides sessions.
    fn read_rest(&self) -> Result<()> {
        let mut query = self.db.prepare("SELECT body FROM digest")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            unpack::<Digest>(row.get_ref(0)?.as_blob()?)?;
        }
        self.db
            .prepare("SELECT leaf FROM leaf_title")?
            .query_map([], |r| r.get(0))?
            .try_for_each(|leaf| leaf.map(|_: [u8; 16]| ()))?;
        self.read_denied()?;
        self.known_files()?;
        self.notes()?;
        self.index_counts(1)?;
        Ok(())
    }
}

/// What is wrong with a value, in the words of all such findings.
fn never_stored(column: &str) -> String {
    format!("`{column}` contains a value that recall never writes")
}

fn is_of_kind(value: ValueRef<'_>, kind: &str) -> bool {
    match value {
        ValueRef::Null => true,
        ValueRef::Integer(_) => !["TEXT", "BLOB", "REAL"].contains(&kind),
        ValueRef::Real(_) => !["TEXT", "BLOB", "INTEGER"].contains(&kind),
        ValueRef::Text(text) => !["INTEGER", "REAL", "BLOB"].contains(&kind) && std::str::from_utf8(text).is_ok(),
        ValueRef::Blob(_) => !["INTEGER", "REAL", "TEXT"].contains(&kind),
    }
}

/// Names of everything in its schema.
fn names_in(db: &Connection) -> Result<BTreeSet<String>> {
    let mut query = db.prepare("SELECT name FROM sqlite_master")?;
    Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}
