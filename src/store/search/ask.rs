//! What the full-text index answers to a query. Bounded: however common the words and however many the sessions, so many rows are
//! ranked and no more.

use std::fmt::Write;

use anyhow::Result;
use rusqlite::types::Value;
use rusqlite::{Row, params, params_from_iter};

use super::Store;
use crate::find::document::COLUMNS;
use crate::session::Millis;

/// How much a word counts in each of `COLUMNS`.
pub const WEIGHTS: [f64; COLUMNS.len()] = [4.0, 1.5, 2.0, 1.5, 1.0, 1.5, 1.0, 0.6, 0.3, 0.3];

/// Rows that are ranked at most, about: a microsecond each.
const RANKED: u64 = 20_000;

/// A query in the index's own words.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Expressions any of which is enough, the rarest first, with how many documents each is in.
    pub any: Vec<(String, u64)>,
    /// Expressions all of which must fit.
    pub all: Vec<String>,
    /// The columns in which words count; all when empty.
    pub columns: Vec<&'static str>,
    /// Only of these projects.
    pub projects: Option<Vec<i64>>,
    /// Only what began in this time: from the first, before the second.
    pub since: Option<Millis>,
    pub before: Option<Millis>,
    /// Only notes.
    pub notes_only: bool,
}

/// A document that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub doc: i64,
    pub session: Option<i64>,
    pub note: Option<i64>,
    pub project: i64,
    pub last_at: Millis,
    /// Higher is better; 0 where no words were asked for.
    pub score: f64,
}

impl Asked {
    /// The expression of FTS5, and whether only the newest documents are to be ranked. `None` when no words are asked for.
    ///
    /// Of many common words the rarer find and all rank.
    fn expression(&self) -> Option<(String, bool)> {
        let mut parts: Vec<String> = self.all.clone();
        let mut newest_only = false;
        if !self.any.is_empty() {
            let mut total = 0;
            let within = |(_, df): &&(String, u64)| {
                total += df;
                total <= RANKED
            };
            let finding = self.any.iter().take_while(within).count().max(1);
            newest_only = self.any[0].1 > RANKED;
            parts.push(self.any_of(&self.any[..finding]));
            if finding < self.any.len() {
                parts.push(self.any_of(&self.any));
            }
        }
        (!parts.is_empty()).then(|| (parts.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(" AND "), newest_only))
    }

    fn any_of(&self, terms: &[(String, u64)]) -> String {
        let any = terms.iter().map(|(expression, _)| expression.as_str()).collect::<Vec<_>>().join(" OR ");
        if self.columns.is_empty() { any } else { format!("{{{}}} : ({any})", self.columns.join(" ")) }
    }

    /// Conditions on `doc d`, with their values.
    fn conditions(&self) -> (String, Vec<Value>) {
        let (mut sql, mut values) = (String::new(), Vec::new());
        if let Some(projects) = &self.projects {
            let list = projects.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            let _ = write!(sql, " AND d.project IN ({list})");
        }
        for (condition, value) in [(" AND d.began_at >= ?", self.since), (" AND d.began_at < ?", self.before)] {
            if let Some(value) = value {
                sql.push_str(condition);
                values.push(Value::Integer(value));
            }
        }
        if self.notes_only {
            sql.push_str(" AND d.note IS NOT NULL");
        }
        (sql, values)
    }
}

impl Store {
    /// How many documents hold an expression; counted no further than what is more than is ranked anyway.
    pub fn count_documents(&self, expression: &str) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ?1 LIMIT {})", RANKED + 1);
        Ok(self.db.prepare_cached(&sql)?.query_row([expression], |r| r.get::<_, i64>(0))? as u64)
    }

    /// Does a document hold an expression?
    pub fn holds(&self, doc: i64, expression: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM search WHERE search MATCH ?1 AND rowid = ?2)";
        Ok(self.db.prepare_cached(sql)?.query_row(params![expression, doc], |r| r.get(0))?)
    }

    /// How many documents there are, about: numbers are given once.
    pub fn documents(&self) -> Result<u64> {
        Ok(self.db.prepare_cached("SELECT count(*) FROM doc")?.query_row([], |r| r.get::<_, i64>(0))? as u64)
    }

    /// Documents that fit, best first, the newer first of equals.
    pub fn ask(&self, asked: &Asked, most: usize) -> Result<Vec<Hit>> {
        let (conditions, mut values) = asked.conditions();
        let Some((expression, newest_only)) = asked.expression() else {
            let sql = format!(
                "SELECT d.pk, d.session, d.note, d.project, d.last_at, 0.0 FROM doc d WHERE TRUE{conditions} ORDER BY d.last_at DESC, d.pk DESC LIMIT {most}"
            );
            let mut query = self.db.prepare_cached(&sql)?;
            return Ok(query.query_map(params_from_iter(values), hit)?.collect::<rusqlite::Result<_>>()?);
        };
        let weights = WEIGHTS.map(|weight| weight.to_string()).join(", ");
        let newest = if newest_only { format!(" AND search.rowid > (SELECT max(pk) FROM doc) - {RANKED}") } else { String::new() };
        let sql = format!(
            "SELECT d.pk, d.session, d.note, d.project, d.last_at, -bm25(search, {weights}) AS score FROM search JOIN doc d ON d.pk = search.rowid
             WHERE search MATCH ?{newest}{conditions} ORDER BY score DESC, d.pk DESC LIMIT {most}"
        );
        values.insert(0, Value::Text(expression));
        let mut query = self.db.prepare_cached(&sql)?;
        Ok(query.query_map(params_from_iter(values), hit)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Documents by their numbers; those that are gone are left out.
    pub fn documents_by(&self, docs: &[i64]) -> Result<Vec<Hit>> {
        let mut query = self.db.prepare_cached("SELECT pk, session, note, project, last_at, 0.0 FROM doc WHERE pk = ?1")?;
        let mut all = Vec::new();
        for doc in docs {
            all.extend(query.query_map([doc], hit)?.collect::<rusqlite::Result<Vec<_>>>()?);
        }
        Ok(all)
    }

    /// All projects, by number and key.
    pub fn projects(&self) -> Result<Vec<(i64, String)>> {
        let mut query = self.db.prepare_cached("SELECT pk, key FROM project")?;
        Ok(query.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
    }
}

fn hit(r: &Row<'_>) -> rusqlite::Result<Hit> {
    Ok(Hit { doc: r.get(0)?, session: r.get(1)?, note: r.get(2)?, project: r.get(3)?, last_at: r.get(4)?, score: r.get(5)? })
}
