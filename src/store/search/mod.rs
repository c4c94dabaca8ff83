//! The full-text index: one document for each session and note.
//!
//! It holds no text of its own, only words and where they stand; what is shown of a session comes from its rows and its digest. It is
//! derived, as pages are: a session whose rows or digest changed is marked, and gets a new document at the end of a run. What is
//! forgotten is out of it at once.

mod ask;
mod texts;

use anyhow::Result;
use rusqlite::{Connection, Transaction, params, params_from_iter};

pub use self::ask::{Asked, Counts, Hit};
pub use self::texts::{Extent, Text};
use super::Store;
use super::load::SessionHead;
use crate::find::document::{COLUMNS, Document};
use crate::session::Millis;
use crate::stop;

/// Documents of one transaction, and how much text they have at most, about, in bytes: all of it is held at once.
const BATCH: usize = 200;
const BATCH_TEXT: usize = 16 << 20;

/// What became of the sessions that had changed.
#[derive(Debug, Default)]
pub struct Written {
    /// How many documents were made.
    pub made: u64,
    /// Sessions whose rows cannot be read, by id, with the reason: they are found as they were before, or not at all.
    pub failed: Vec<(String, anyhow::Error)>,
}

/// The session's document is to be made anew.
pub(super) fn outdate(db: &Connection, session: i64) -> Result<()> {
    db.prepare_cached("UPDATE session SET unindexed = 1 WHERE pk = ?1 AND NOT unindexed")?.execute([session])?;
    Ok(())
}

/// Takes a session's document out, until it is made anew.
pub(super) fn take_out(db: &Connection, session: i64) -> Result<()> {
    // A trigger takes its words out.
    db.prepare_cached("DELETE FROM doc WHERE session = ?1")?.execute([session])?;
    outdate(db, session)
}

/// Writes the words of a document that is entered already.
pub(super) fn put(tx: &Transaction<'_>, doc: i64, document: &Document) -> Result<()> {
    let places = (2..COLUMNS.len() + 2).map(|n| format!("?{n}")).collect::<Vec<_>>().join(", ");
    let sql = format!("INSERT INTO search(rowid, {}) VALUES (?1, {places})", COLUMNS.join(", "));
    let values = std::iter::once(doc.to_string()).chain(document.columns.iter().cloned());
    tx.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    Ok(())
}

impl Store {
    /// How many sessions have no document of their newest state.
    pub fn unindexed(&self) -> Result<u64> {
        let sql = "SELECT count(*) FROM session WHERE unindexed AND EXISTS (SELECT 1 FROM bundle WHERE session = session.pk AND items > 0)";
        Ok(self.db.query_row(sql, [], |r| r.get::<_, i64>(0))? as u64)
    }

    /// Makes the documents of sessions that changed, the one that was active last at the end. One that cannot be read keeps no other from
    /// its document.
    ///
    /// # Errors
    /// When the index cannot be read or written. What was done is done.
    pub fn write_documents(&mut self) -> Result<Written> {
        let sql = "SELECT pk FROM session WHERE unindexed ORDER BY coalesce(last_at, started_at, 0), id";
        let all: Vec<i64> = self.db.prepare(sql)?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut written = Written::default();
        let mut waiting = all.into_iter().peekable();
        while waiting.peek().is_some() && !stop::asked() {
            let (mut documents, mut bytes) = (Vec::new(), 0);
            while let Some(pk) = waiting.next_if(|_| documents.len() < BATCH && bytes < BATCH_TEXT) {
                let head = self.session_head(pk)?;
                match self.document(&head) {
                    Ok(document) => {
                        bytes += document.iter().flat_map(|document| &document.columns).map(String::len).sum::<usize>();
                        documents.push((head, document));
                    }
                    Err(e) if is_of_the_index(&e) => return Err(e),
                    Err(e) => written.failed.push((head.id, e)),
                }
            }
            let tx = self.db.transaction()?;
            for (head, document) in &documents {
                written.made += u64::from(document.is_some());
                replace(&tx, head, document.as_ref())?;
            }
            tx.commit()?;
        }
        Ok(written)
    }

    fn document(&self, head: &SessionHead) -> Result<Option<Document>> {
        let digest = self.digest_of(head.pk)?.map(|stored| stored.digest);
        Ok(Document::of_session(&self.load_session(head)?, digest.as_ref()))
    }
}

/// Does it concern the whole index, and not what is stored of one session?
fn is_of_the_index(e: &anyhow::Error) -> bool {
    matches!(e.downcast_ref(), Some(rusqlite::Error::SqliteFailure(..)))
}

fn replace(tx: &Transaction<'_>, head: &SessionHead, document: Option<&Document>) -> Result<()> {
    tx.prepare_cached("DELETE FROM doc WHERE session = ?1")?.execute([head.pk])?;
    if let Some(document) = document {
        let began: Millis = if head.started_at == Millis::MAX { 0 } else { head.started_at };
        let sql = "INSERT INTO doc(session, project, began_at, last_at) SELECT ?1, project, ?2, ?3 FROM session WHERE pk = ?1 RETURNING pk";
        let values = params![head.pk, began, head.last_at.unwrap_or(began)];
        let doc: i64 = tx.prepare_cached(sql)?.query_row(values, |r| r.get(0))?;
        put(tx, doc, document)?;
    }
    tx.prepare_cached("UPDATE session SET unindexed = 0 WHERE pk = ?1")?.execute([head.pk])?;
    Ok(())
}
