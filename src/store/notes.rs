//! Notes: what somebody wanted remembered, apart from any session.

use anyhow::{Context, Result};
use rusqlite::{Row, Transaction, params};

use super::{Store, search};
use crate::find::document::Document;
use crate::session::{Millis, Project};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub pk: i64,
    pub id: String,
    pub project: Project,
    pub kind: String,
    pub text: String,
    pub at: Millis,
    /// The session in which it was said, where that is known.
    pub session: Option<String>,
}

const NOTE: &str = "SELECT n.pk, n.id, p.key, n.kind, n.text, n.at, n.session FROM note n JOIN project p ON p.pk = n.project";

fn note(r: &Row<'_>) -> rusqlite::Result<Note> {
    Ok(Note {
        pk: r.get(0)?,
        id: r.get(1)?,
        project: Project { key: r.get(2)? },
        kind: r.get(3)?,
        text: r.get(4)?,
        at: r.get(5)?,
        session: r.get(6)?,
    })
}

impl Store {
    pub fn note(&self, pk: i64) -> Result<Note> {
        let mut query = self.db.prepare_cached(&format!("{NOTE} WHERE n.pk = ?1"))?;
        query.query_row([pk], note).context("the note is gone from the index")
    }
}

/// Puts a note where search finds it.
#[expect(dead_code, reason = "the seam for notes")]
pub(super) fn index(tx: &Transaction<'_>, pk: i64) -> Result<()> {
    let (project, text, at): (i64, String, Millis) = tx
        .prepare_cached("SELECT project, text, at FROM note WHERE pk = ?1")?
        .query_row([pk], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    tx.prepare_cached("DELETE FROM doc WHERE note = ?1")?.execute([pk])?;
    let sql = "INSERT INTO doc(note, project, began_at, last_at) VALUES (?1, ?2, ?3, ?3) RETURNING pk";
    let doc: i64 = tx.prepare_cached(sql)?.query_row(params![pk, project, at], |r| r.get(0))?;
    search::put(tx, doc, &Document::of_note(&text))
}
