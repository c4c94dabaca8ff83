//! The full-text index: one document for each session, each note and each memory file.
//!
//! It stores no text, only words and their positions; what is shown of a session comes from its items and its digest. It is derived data,
//! as pages are: a session whose items or digest changed is marked and gets a new document at the end of a run. What is forgotten is
//! removed from it at once.

pub(crate) mod query;
mod texts;

use anyhow::Result;
use rusqlite::{Connection, ToSql, params, params_from_iter};

pub(crate) use self::texts::{SessionText, TextKind, TextScope};
use super::{Reader, Writer};
use crate::model::digest::Digest;
use crate::model::search_column::SearchColumn;
use crate::model::session_head::SessionHead;
use crate::store::document::{Document, DocumentBuilder};
pub(crate) use crate::store::search::query::{CountCache, DocumentHit, DocumentOf, FtsQuery};
use crate::store::worker_pool::BATCH_SESSIONS;
use crate::sys::shutdown;
use transcripts::session::{Millis, Session};

/// Limits of one transaction: documents, and roughly their text in bytes.
const BATCH_DOCUMENTS: usize = 200;
const BATCH_TEXT_BYTES: usize = 16 << 20;

/// The result of writing the documents of changed sessions.
#[derive(Debug, Default)]
pub struct WrittenDocuments {
    /// Number of documents written.
    pub made: u64,
    /// Sessions that could not be read, by id, with the reason. Their old documents stay, if they had any.
    pub failed: Vec<(String, anyhow::Error)>,
}

/// Marks a session's document as out of date.
pub(super) fn mark_outdated(db: &Connection, session: i64) -> Result<()> {
    db.prepare_cached("UPDATE session SET unindexed = 1 WHERE pk = ?1 AND NOT unindexed")?.execute([session])?;
    Ok(())
}

/// Removes a session's document until it is made again.
pub(super) fn remove_document(db: &Connection, session: i64) -> Result<()> {
    // A trigger removes its words.
    db.prepare_cached("DELETE FROM doc WHERE session = ?1")?.execute([session])?;
    mark_outdated(db, session)
}

/// Writes the words of a document under its number.
pub(super) fn insert_words(db: &Connection, doc: i64, document: &Document) -> Result<()> {
    let columns = SearchColumn::ALL.map(SearchColumn::name);
    let places = (2..columns.len() + 2).map(|n| format!("?{n}")).collect::<Vec<_>>().join(", ");
    let sql = format!("INSERT INTO search(rowid, {}) VALUES (?1, {places})", columns.join(", "));
    let values = std::iter::once::<&dyn ToSql>(&doc).chain(document.columns.iter().map(|column| column as &dyn ToSql));
    db.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    Ok(())
}

impl Reader {
    /// Number of sessions without a document of their latest state.
    pub(crate) fn unindexed_count(&self) -> Result<u64> {
        let sql = "SELECT count(*) FROM session WHERE unindexed AND EXISTS (SELECT 1 FROM bundle WHERE session = session.pk AND items > 0)";
        Ok(self.db.query_row(sql, [], |r| r.get::<_, i64>(0))? as u64)
    }

    /// A session's document, or why it has none.
    fn document(&self, pk: &i64) -> Result<(SessionHead, Result<MadeDocument>)> {
        let head = self.session_head(*pk)?;
        match self.document_of(&head) {
            Err(e) if concerns_whole_index(&e) => Err(e),
            made => Ok((head, made)),
        }
    }

    fn document_of(&self, head: &SessionHead) -> Result<MadeDocument> {
        let digest = self.digest_of(head.pk)?.map(|stored| stored.digest);
        if !self.is_long(head)? {
            return Ok(MadeDocument(Document::of_session(&self.load_session(head)?, digest.as_ref())));
        }
        let mut draft = DocumentBuilder::for_long_session(digest.as_ref());
        self.each_session_item(head, |item, main| draft.add(item, main))?;
        Ok(MadeDocument(draft.of_session(&head.project, &self.branches(head.pk)?)))
    }

    /// The document of a session whose items and new digest are at hand, so that it need not be loaded again for it. `None` where
    /// [`Writer::write_documents`] must make it: of a session that is too long to be loaded whole, or of which the user took something out.
    pub(crate) fn document_at_hand(&self, head: &SessionHead, session: &Session, digest: &Digest) -> Result<Option<MadeDocument>> {
        let is_as_stored = !self.is_long(head)? && self.denied_of(head.pk)?.is_empty();
        Ok(is_as_stored.then(|| MadeDocument(Document::of_session(session, Some(digest)))))
    }
}

impl Writer {
    /// Writes the documents of changed sessions, most recently active last. A session that cannot be read does not stop the others.
    ///
    /// # Errors
    /// When the index itself cannot be read or written. Batches committed before stay.
    pub fn write_documents(&mut self) -> Result<WrittenDocuments> {
        let sql = "SELECT pk FROM session WHERE unindexed ORDER BY coalesce(last_at, started_at, 0), id";
        let all: Vec<i64> = self.db.prepare(sql)?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut written = WrittenDocuments::default();
        for part in all.chunks(BATCH_SESSIONS) {
            let mut batch = DocumentBatch::default();
            self.map_in_order(shutdown::requested, part, Reader::document, |_, made| {
                let (head, document) = made?;
                let document = match document {
                    Ok(document) => document,
                    Err(e) => {
                        written.failed.push((head.id, e));
                        return Ok(());
                    }
                };
                written.made += u64::from(document.0.is_some());
                batch.add(head, document);
                if batch.is_full() { self.enter_documents(std::mem::take(&mut batch)) } else { Ok(()) }
            })?;
            self.enter_documents(batch)?;
        }
        Ok(written)
    }

    fn enter_documents(&self, batch: DocumentBatch) -> Result<()> {
        if batch.made.is_empty() { Ok(()) } else { self.in_transaction(|| batch.enter(self)) }
    }
}

/// Does the error concern the whole index rather than one session's data?
fn concerns_whole_index(e: &anyhow::Error) -> bool {
    matches!(e.downcast_ref(), Some(rusqlite::Error::SqliteFailure(..)))
}

/// The document of a session as it is stored now; none if nothing was said in it.
pub(crate) struct MadeDocument(Option<Document>);

/// Documents written in one transaction, with their sessions.
#[derive(Default)]
pub(crate) struct DocumentBatch {
    made: Vec<(SessionHead, MadeDocument)>,
    bytes: usize,
}

impl DocumentBatch {
    pub(crate) fn add(&mut self, head: SessionHead, document: MadeDocument) {
        self.bytes += document.0.iter().flat_map(|document| &document.columns).map(String::len).sum::<usize>();
        self.made.push((head, document));
    }

    pub(crate) fn is_full(&self) -> bool {
        self.made.len() >= BATCH_DOCUMENTS || self.bytes >= BATCH_TEXT_BYTES
    }

    /// Within a transaction of the caller's. Writes the words of all documents first, one after the other: any other write in between makes
    /// FTS5 flush a segment for every document, and those would have to be merged again.
    pub(crate) fn enter(self, store: &Writer) -> Result<()> {
        let db = &store.db;
        // Continues SQLite's own AUTOINCREMENT sequence, so that no number is used twice.
        let sql = "SELECT max((SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'doc'), (SELECT coalesce(max(pk), 0) FROM doc))";
        let last: i64 = db.query_row(sql, [], |r| r.get(0))?;
        let mut numbers = last + 1..;
        let mut entered = Vec::with_capacity(self.made.len());
        for (head, document) in self.made {
            let number = document.0.and_then(|document| Some((numbers.next()?, document)));
            if let Some((number, document)) = &number {
                insert_words(db, *number, document)?;
            }
            entered.push((head, number.map(|(number, _)| number)));
        }
        entered.iter().try_for_each(|(head, number)| link_document(db, head, *number))
    }
}

/// Links a session to its document, if it has one.
fn link_document(db: &Connection, head: &SessionHead, number: Option<i64>) -> Result<()> {
    db.prepare_cached("DELETE FROM doc WHERE session = ?1")?.execute([head.pk])?;
    if let Some(number) = number {
        // Where no record of the conversation itself has a time, that of a subagent's has. One of an unknown time lies in no span.
        let sql = "INSERT INTO doc(pk, session, project, began_at, last_at) SELECT ?1, ?2, project,
             coalesce(started_at, (SELECT min(first_at) FROM source WHERE session = ?2), last_at, ?3), coalesce(last_at, started_at, 0)
             FROM session WHERE pk = ?2";
        db.prepare_cached(sql)?.execute(params![number, head.pk, Millis::MAX])?;
    }
    db.prepare_cached("UPDATE session SET unindexed = 0 WHERE pk = ?1")?.execute([head.pk])?;
    Ok(())
}
