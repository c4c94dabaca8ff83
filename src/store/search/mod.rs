//! The full-text index: one document for each session and note.
//!
//! It holds no text of its own, only words and where they stand; what is shown of a session comes from its rows and its digest. It is
//! derived, as pages are: a session whose rows or digest changed is marked, and gets a new document at the end of a run. What is
//! forgotten is out of it at once.

mod ask;
mod texts;

use anyhow::Result;
use rusqlite::{Connection, ToSql, Transaction, TransactionBehavior, params, params_from_iter};

pub use self::ask::{Asked, Counts, Hit};
pub use self::texts::{Extent, Text};
use super::Store;
use super::crew::PART;
use super::load::SessionHead;
use crate::find::document::{COLUMNS, Document, Draft};
use crate::session::Millis;
use crate::stop;

/// Documents of one transaction, and how much text they have at most, about, in bytes.
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
    let values = std::iter::once::<&dyn ToSql>(&doc).chain(document.columns.iter().map(|column| column as &dyn ToSql));
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
        for part in all.chunks(PART) {
            let mut batch = Batch::default();
            self.each_in_order(stop::asked, part, Self::document, |_, made| {
                let (head, document) = made?;
                let document = match document {
                    Ok(document) => document,
                    Err(e) => {
                        written.failed.push((head.id, e));
                        return Ok(());
                    }
                };
                written.made += u64::from(document.is_some());
                batch.add(head, document);
                if batch.is_full() { std::mem::take(&mut batch).enter(&self.db) } else { Ok(()) }
            })?;
            batch.enter(&self.db)?;
        }
        Ok(written)
    }

    /// A session's document, or why there is none.
    fn document(&self, pk: &i64) -> Result<(SessionHead, Result<Option<Document>>)> {
        let head = self.session_head(*pk)?;
        match self.document_of(&head) {
            Err(e) if is_of_the_index(&e) => Err(e),
            made => Ok((head, made)),
        }
    }

    fn document_of(&self, head: &SessionHead) -> Result<Option<Document>> {
        let digest = self.digest_of(head.pk)?.map(|stored| stored.digest);
        if !self.is_long(head)? {
            return Ok(Document::of_session(&self.load_session(head)?, digest.as_ref()));
        }
        let mut draft = Draft::of_long(digest.as_ref());
        self.each_item(head, |item, main| draft.add(item, main))?;
        Ok(draft.of_session(&head.project, &self.branches(head.pk)?))
    }
}

/// Does it concern the whole index, and not what is stored of one session?
fn is_of_the_index(e: &anyhow::Error) -> bool {
    matches!(e.downcast_ref(), Some(rusqlite::Error::SqliteFailure(..)))
}

/// Documents that are entered in one transaction, with their sessions.
#[derive(Default)]
struct Batch {
    made: Vec<(SessionHead, Option<Document>)>,
    bytes: usize,
}

impl Batch {
    fn add(&mut self, head: SessionHead, document: Option<Document>) {
        self.bytes += document.iter().flat_map(|document| &document.columns).map(String::len).sum::<usize>();
        self.made.push((head, document));
    }

    fn is_full(&self) -> bool {
        self.made.len() >= BATCH || self.bytes >= BATCH_TEXT
    }

    /// The words of all go in first, one document after the other: whatever else is written between them has FTS5 lay down what it
    /// holds, a part of the index for every document, and these are to be merged again.
    fn enter(self, db: &Connection) -> Result<()> {
        let tx = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
        // As SQLite numbers them itself: no number is used twice.
        let sql = "SELECT max((SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'doc'), (SELECT coalesce(max(pk), 0) FROM doc))";
        let last: i64 = tx.query_row(sql, [], |r| r.get(0))?;
        let mut numbers = last + 1..;
        let mut entered = Vec::with_capacity(self.made.len());
        for (head, document) in self.made {
            let number = document.and_then(|document| Some((numbers.next()?, document)));
            if let Some((number, document)) = &number {
                put(&tx, *number, document)?;
            }
            entered.push((head, number.map(|(number, _)| number)));
        }
        entered.iter().try_for_each(|(head, number)| note(&tx, head, *number))?;
        Ok(tx.commit()?)
    }
}

/// Which document is a session's, if any.
fn note(tx: &Transaction<'_>, head: &SessionHead, number: Option<i64>) -> Result<()> {
    tx.prepare_cached("DELETE FROM doc WHERE session = ?1")?.execute([head.pk])?;
    let began: Millis = if head.started_at == Millis::MAX { 0 } else { head.started_at };
    if let Some(number) = number {
        let sql =
            "INSERT INTO doc(pk, session, project, began_at, last_at) SELECT ?1, ?2, project, ?3, ?4 FROM session WHERE pk = ?2";
        tx.prepare_cached(sql)?.execute(params![number, head.pk, began, head.last_at.unwrap_or(began)])?;
    }
    tx.prepare_cached("UPDATE session SET unindexed = 0 WHERE pk = ?1")?.execute([head.pk])?;
    Ok(())
}
