//! What the server finds among the records that the member may read.

use crate::client::{Client, Me};
use crate::error::Error;
use crate::pull::{Shared, shared};
use std::collections::{HashMap, HashSet};
use std::time::Instant;
use tokio_postgres::Row;

/// A record that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its project.
    pub project: String,
    /// The record.
    pub record: Shared,
    /// How well it fits. Comparable only among hits with the same `similar`.
    pub rank: f32,
    /// Whether it has not all the words but some that look alike.
    pub similar: bool,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Those with all the words first, then similar ones; each by rank.
    pub hits: Vec<Hit>,
    /// Whether there was time for all of it. If not, similar ones are missing.
    pub complete: bool,
}

const WORDS: &str = "SELECT f.member, m.login::text, f.author, f.kind, f.id, f.version, f.seq, f.body, f.project, f.rank
    FROM recall_team.search_words($1, $2, $3, $4) f LEFT JOIN recall_team.member m ON m.team = $1 AND m.id = f.member
    ORDER BY f.rank DESC, f.seq DESC";
const SIMILAR: &str = "SELECT f.member, m.login::text, f.author, f.kind, f.id, f.version, f.seq, f.body, f.project, f.rank
    FROM recall_team.search_similar($1, $2, $3, $4) f LEFT JOIN recall_team.member m ON m.team = $1 AND m.id = f.member
    ORDER BY f.rank DESC, f.seq DESC";

const NAMED: &str = "SELECT f.member, m.login::text, f.author, f.kind, f.id, f.version, f.seq, f.body, f.project, f.rank
    FROM recall_team.search_named($1, $2, $3, $4) f LEFT JOIN recall_team.member m ON m.team = $1 AND m.id = f.member
    ORDER BY f.seq DESC";

impl Client {
    /// The records of these projects that have all the words, and where those are fewer than `limit`, records with similar words. A project that the
    /// member may not read has none. Of words that are in thousands of records, only some of these are ranked. Ends at [`Deadlines::search`](crate::Deadlines), with what it has by then.
    ///
    /// # Errors
    /// [`Error::TooLate`] when there was no time for any of it.
    pub fn search(&mut self, projects: &[&str], words: &str, limit: usize) -> Result<Found, Error> {
        let end = Instant::now() + self.deadlines.search;
        let names: HashMap<i64, &str> = projects.iter().filter_map(|name| Some((*self.projects.get(*name)?, *name))).collect();
        let mut hits = Vec::new();
        if names.is_empty() || words.trim().is_empty() || words.contains('\0') {
            return Ok(Found { hits, complete: true });
        }
        hits.extend(self.ask(WORDS, &names, words, limit, end)?.iter().map(|row| hit(row, &names, false)));
        if hits.len() >= limit {
            return Ok(Found { hits, complete: true });
        }
        let similar = match self.ask(SIMILAR, &names, words, limit, end) {
            Ok(rows) => rows,
            Err(Error::TooLate { .. }) => return Ok(Found { hits, complete: false }),
            Err(error) => return Err(error),
        };
        let exact: HashSet<(String, i64)> = hits.iter().map(|hit| (hit.project.clone(), hit.record.seq)).collect();
        let others = similar.iter().map(|row| hit(row, &names, true));
        hits.extend(others.filter(|hit| !exact.contains(&(hit.project.clone(), hit.record.seq))));
        hits.truncate(limit);
        Ok(Found { hits, complete: true })
    }

    /// The records of these projects whose id begins with this, or ends with it if it has eight characters; those that changed last first. Ends at
    /// [`Deadlines::search`](crate::Deadlines), or at `until` if that is earlier.
    ///
    /// # Errors
    /// [`Error::TooLate`] when there was no time for it.
    pub fn named(&mut self, projects: &[&str], id: &str, limit: usize, until: Instant) -> Result<Vec<Hit>, Error> {
        let names: HashMap<i64, &str> = projects.iter().filter_map(|name| Some((*self.projects.get(*name)?, *name))).collect();
        if names.is_empty() || id.is_empty() || id.contains('\0') {
            return Ok(Vec::new());
        }
        let end = until.min(Instant::now() + self.deadlines.search);
        Ok(self.ask(NAMED, &names, id, limit, end)?.iter().map(|row| hit(row, &names, false)).collect())
    }

    fn ask(
        &mut self,
        sql: &'static str,
        names: &HashMap<i64, &str>,
        words: &str,
        limit: usize,
        end: Instant,
    ) -> Result<Vec<Row>, Error> {
        let Me { team, .. } = self.me;
        let numbers: Vec<i64> = names.keys().copied().collect();
        let most = i32::try_from(limit).unwrap_or(i32::MAX);
        self.link.call_until("search", self.deadlines.search, end, async |session| {
            let statement = session.statement(sql).await?;
            session.client.query(&statement, &[&team, &numbers, &words, &most]).await
        })
    }
}

pub(crate) fn hit(row: &Row, names: &HashMap<i64, &str>, similar: bool) -> Hit {
    let project = names.get(&row.get::<_, i64>(8)).copied().unwrap_or_default().to_owned();
    Hit { project, record: shared(row), rank: row.get(9), similar }
}
