//! Full-text queries.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;

use anyhow::Result;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use super::Reader;
use crate::model::search_column::SearchColumn;
use transcripts::client::Client;
use transcripts::session::Millis;

/// Cached counts, by expression and counting limit.
pub(crate) type CountCache = RefCell<HashMap<(String, u64), u64>>;

/// A query in FTS5 expressions.
#[derive(Debug, Clone, Default)]
pub(crate) struct FtsQuery {
    /// Expressions of which at least one must match.
    pub(crate) any: Vec<String>,
    /// Expressions that rank the matches, where they differ from `any`.
    pub(crate) rank: Vec<String>,
    /// Expressions that must all match.
    pub(crate) all: Vec<String>,
    /// Columns in which `any` and `rank` match; empty means all.
    pub(crate) columns: Vec<SearchColumn>,
    /// Only in these projects.
    pub(crate) projects: Option<Vec<i64>>,
    /// Only sessions of these clients; empty means of all.
    pub(crate) clients: Vec<Client>,
    /// Only documents last active at or after `since` and begun before `before`.
    pub(crate) since: Option<Millis>,
    pub(crate) before: Option<Millis>,
    /// Only documents of this.
    pub(crate) only: Option<DocumentOf>,
    /// Return the most recently written documents, unranked.
    pub(crate) newest: bool,
}

/// What is not a session and has documents of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentOf {
    Notes,
    MemoryFiles,
}

/// A matching document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DocumentHit {
    pub(crate) doc: i64,
    pub(crate) session: Option<i64>,
    pub(crate) note: Option<i64>,
    pub(crate) memory_file: Option<i64>,
    pub(crate) project: i64,
    pub(crate) last_at: Millis,
    /// Higher is better; 0 for a query without words.
    pub(crate) score: f64,
}

impl FtsQuery {
    /// The FTS5 expression; `None` for a query without words.
    fn expression(&self) -> Option<String> {
        let mut parts = self.all.clone();
        for any in [&self.any, &self.rank].into_iter().filter(|any| !any.is_empty()) {
            let any = any.join(" OR ");
            parts.push(if self.columns.is_empty() {
                any
            } else {
                format!("{{{}}} : ({any})", self.columns.iter().map(|column| column.name()).collect::<Vec<_>>().join(" "))
            });
        }
        (!parts.is_empty()).then(|| parts.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(" AND "))
    }

    /// SQL conditions on `doc d`, with their values.
    fn conditions(&self) -> (String, Vec<Value>) {
        let (mut sql, mut values) = (String::new(), Vec::new());
        if let Some(projects) = &self.projects {
            let list = projects.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            let _ = write!(sql, " AND d.project IN ({list})");
        }
        if !self.clients.is_empty() {
            let list = self.clients.iter().map(|client| format!("'{}'", client.key())).collect::<Vec<_>>().join(", ");
            let _ = write!(sql, " AND (SELECT client FROM session WHERE pk = d.session) IN ({list})");
        }
        for (condition, value) in [(" AND d.last_at >= ?", self.since), (" AND d.began_at < ?", self.before)] {
            if let Some(value) = value {
                sql.push_str(condition);
                values.push(Value::Integer(value));
            }
        }
        sql.push_str(match self.only {
            Some(DocumentOf::Notes) => " AND d.note IS NOT NULL",
            Some(DocumentOf::MemoryFiles) => " AND d.memory_file IS NOT NULL",
            None => "",
        });
        (sql, values)
    }
}

impl Reader {
    /// Number of documents that match an expression, counted up to `most`.
    pub(crate) fn count_documents(&self, expression: &str, most: u64) -> Result<u64> {
        let known = self.counts.as_ref().and_then(|counts| counts.borrow().get(&(expression.to_owned(), most)).copied());
        if let Some(count) = known {
            return Ok(count);
        }
        let sql = "SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ?1 LIMIT ?2)";
        let count = self.db.prepare_cached(sql)?.query_row(params![expression, most as i64], |r| r.get::<_, i64>(0))? as u64;
        if let Some(counts) = &self.counts {
            counts.borrow_mut().insert((expression.to_owned(), most), count);
        }
        Ok(count)
    }

    /// Passes each word of the index that begins so to `each`, as a stem, with the number of documents that hold it. Hidden documents count.
    pub(crate) fn each_word(&self, beginning: &str, mut each: impl FnMut(&str, u64)) -> Result<()> {
        list_words(&self.db)?;
        let sql = "SELECT term, doc FROM temp.search_word WHERE term >= ?1 AND term < ?2";
        let mut words = self.db.prepare_cached(sql)?;
        let mut rows = words.query(params![beginning, format!("{beginning}{}", char::MAX)])?;
        while let Some(row) = rows.next()? {
            each(row.get_ref(0)?.as_str()?, row.get::<_, i64>(1)? as u64);
        }
        Ok(())
    }

    /// Does a document that may be shown match an expression?
    pub(crate) fn shows_any(&self, expression: &str) -> Result<bool> {
        Ok(!self.ask(&FtsQuery { any: vec![expression.to_owned()], newest: true, ..FtsQuery::default() }, 1)?.is_empty())
    }

    /// Does a document match an expression?
    pub(crate) fn holds(&self, doc: i64, expression: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM search WHERE search MATCH ?1 AND rowid = ?2)";
        Ok(self.db.prepare_cached(sql)?.query_row(params![expression, doc], |r| r.get(0))?)
    }

    /// Those of the documents whose user said two words with at most `apart` others between them. The words are FTS5 phrases.
    pub(crate) fn said_together(&self, docs: &[i64], [one, other]: [&str; 2], apart: usize) -> Result<Vec<i64>> {
        self.matching_of(docs, &format!("{{{}}} : NEAR({one} {other}, {apart})", SearchColumn::Asked.name()))
    }

    /// Those of the documents that match an expression.
    ///
    /// Goes through all that match: to look for one document, FTS5 reads the list of each word from its beginning, so that twenty looks cost
    /// ten times as much.
    pub(crate) fn matching_of(&self, docs: &[i64], expression: &str) -> Result<Vec<i64>> {
        let mut query = self.db.prepare_cached("SELECT rowid FROM search WHERE search MATCH ?1")?;
        let mut rows = query.query([expression])?;
        let mut matching = Vec::new();
        while let Some(row) = rows.next()? {
            matching.extend(Some(row.get(0)?).filter(|doc| docs.contains(doc)));
        }
        Ok(matching)
    }

    /// Number of all documents, hidden ones included: a word's weight depends on everything FTS5 counts it in.
    pub(crate) fn document_count(&self) -> Result<u64> {
        Ok(self.db.prepare_cached("SELECT count(*) FROM main.doc")?.query_row([], |r| r.get::<_, i64>(0))? as u64)
    }

    /// Matching documents, best first; of equals the newer first.
    pub(crate) fn ask(&self, asked: &FtsQuery, most: usize) -> Result<Vec<DocumentHit>> {
        let (conditions, mut values) = asked.conditions();
        let Some(expression) = asked.expression() else {
            let sql = format!(
                "SELECT d.pk, d.session, d.note, d.memory_file, d.project, d.last_at, 0.0 FROM doc d WHERE TRUE{conditions} ORDER BY d.last_at DESC, d.pk DESC LIMIT {most}"
            );
            let mut query = self.db.prepare_cached(&sql)?;
            return Ok(query.query_map(params_from_iter(values), hit)?.collect::<rusqlite::Result<_>>()?);
        };
        let weights = SearchColumn::ALL.map(|column| column.weight().to_string()).join(", ");
        let (score, order) = match !asked.newest {
            true => (format!("-bm25(search, {weights})"), "score DESC, search.rowid DESC"),
            // The index is in this order, so reading stops at the last hit that is wanted.
            false => ("0.0".to_owned(), "search.rowid DESC"),
        };
        let sql = if conditions.is_empty() && !self.narrowed {
            // Only the first hits are looked up in `doc`.
            format!(
                "SELECT d.pk, d.session, d.note, d.memory_file, d.project, d.last_at, f.score FROM
                     (SELECT rowid AS pk, {score} AS score FROM search WHERE search MATCH ? ORDER BY {order} LIMIT {most}) f
                 CROSS JOIN doc d ON d.pk = f.pk ORDER BY f.score DESC, f.pk DESC"
            )
        } else {
            format!(
                "SELECT d.pk, d.session, d.note, d.memory_file, d.project, d.last_at, {score} AS score FROM search CROSS JOIN doc d ON d.pk = search.rowid
                 WHERE search MATCH ?{conditions} ORDER BY {order} LIMIT {most}"
            )
        };
        values.insert(0, Value::Text(expression));
        let mut query = self.db.prepare_cached(&sql)?;
        Ok(query.query_map(params_from_iter(values), hit)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The document with this number, unless it is gone or does not meet the query's conditions.
    pub(crate) fn matching_document(&self, asked: &FtsQuery, doc: i64) -> Result<Option<DocumentHit>> {
        let (conditions, mut values) = asked.conditions();
        let sql = format!(
            "SELECT d.pk, d.session, d.note, d.memory_file, d.project, d.last_at, 0.0 FROM doc d WHERE d.pk = ?{conditions}"
        );
        values.insert(0, Value::Integer(doc));
        Ok(self.db.prepare_cached(&sql)?.query_row(params_from_iter(values), hit).optional()?)
    }
}

/// Makes the words of the index readable as a table. It is a view of this connection alone: nothing of the index changes.
fn list_words(db: &Connection) -> Result<()> {
    Ok(db.execute_batch("CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_word USING fts5vocab('main', 'search', 'row')")?)
}

fn hit(r: &Row<'_>) -> rusqlite::Result<DocumentHit> {
    Ok(DocumentHit {
        doc: r.get(0)?,
        session: r.get(1)?,
        note: r.get(2)?,
        memory_file: r.get(3)?,
        project: r.get(4)?,
        last_at: r.get(5)?,
        score: r.get(6)?,
    })
}
