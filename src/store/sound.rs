//! Is the index sound: not only as a file, but in every value that is ever read from it?
//!
//! What SQLite checks is the form of the file. A text that is none, a body that cannot be unpacked or a table that is gone stops whoever
//! reads it all the same: so whatever stops a digest has to be found here, or nobody would ever mend it.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::load::SessionHead;
use super::{Store, schema, trouble};
use crate::model::digest::Digest;
use crate::store::codec::unpack;

/// What is looked through by itself.
enum Part<'h> {
    Form,
    Values,
    Session(&'h SessionHead),
    Rest,
}

impl Store {
    /// The first thing that is wrong with it, if anything is: of its form, of what is looked up by, and of what lies in it. Reads all of it,
    /// as of one moment unless several threads do.
    ///
    /// # Errors
    /// When that cannot be told: it is locked, or the system does not let it be read.
    pub fn any_damage(&self) -> Result<Option<String>> {
        self.at_once(|| self.read_all()).map_or_else(|e| trouble::as_damage(e).map(Some), |()| Ok(None))
    }

    /// The same, of its pages alone: for an index of any form.
    ///
    /// # Errors
    /// As `any_damage`.
    pub(super) fn damage_of_pages(&self) -> Result<Option<String>> {
        self.check_pages().map_or_else(|e| trouble::as_damage(e).map(Some), |()| Ok(None))
    }

    fn read_all(&self) -> Result<()> {
        // Where these cannot be read, the form says best why.
        let heads = self.session_heads();
        let sessions = heads.iter().flatten().map(Part::Session);
        let parts: Vec<Part<'_>> = [Part::Form, Part::Values].into_iter().chain(sessions).chain([Part::Rest]).collect();
        self.each_in_order(|| false, &parts, Self::read_part, |_, read| read)?;
        heads.map(drop)
    }

    fn read_part(&self, part: &Part<'_>) -> Result<()> {
        match part {
            Part::Form => self.check_form(),
            Part::Values => self.read_values(),
            Part::Session(head) => self.read_through(head),
            Part::Rest => self.read_rest(),
        }
    }

    fn check_pages(&self) -> Result<()> {
        let found: String = self.db.query_row("PRAGMA integrity_check(1)", [], |r| r.get(0))?;
        if found != "ok" {
            bail!(found);
        }
        Ok(())
    }

    fn check_form(&self) -> Result<()> {
        self.check_pages()?;
        if let Some(missing) = names_in(&fresh()?)?.difference(&names_in(&self.db)?).next() {
            bail!("there is no `{missing}` in it");
        }
        Ok(())
    }

    /// Every value of every table is of the kind that its column holds, and every text is one.
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
                        bail!("a value of `{table}.{column}` is none that is ever stored there");
                    }
                }
            }
        }
        Ok(())
    }

    /// What is read beside sessions is what it should be.
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
        self.known_files()?;
        self.notes()?;
        self.counts(1)?;
        Ok(())
    }
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

/// An index in which there is nothing.
fn fresh() -> Result<Connection> {
    let db = Connection::open_in_memory()?;
    schema::MIGRATIONS.iter().try_for_each(|step| step.run(&db))?;
    Ok(db)
}

/// Its tables and what hangs on them.
fn names_in(db: &Connection) -> Result<BTreeSet<String>> {
    let mut query = db.prepare("SELECT name FROM sqlite_master")?;
    Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}
