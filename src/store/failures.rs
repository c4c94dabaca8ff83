//! Errors that commands printed, as rows of their own beside the account of their session: each is found by its signature. They go when the
//! account does.

use anyhow::Result;
use rusqlite::{Connection, Row, params};

use super::Reader;
use crate::analyze::failures::{Between, Failure, PassedRun};
use transcripts::session::Project;

/// An error with where it was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MetFailure {
    pub(crate) project: Project,
    /// The whole id.
    pub(crate) session: String,
    pub(crate) failure: Failure,
}

const SELECT: &str =
    "SELECT p.key, s.id, f.signature, f.line, f.command, f.at, f.turn, f.passed, f.passed_at, f.passed_turn, f.changed, f.ran, f.aside
     FROM failure f JOIN digest d ON d.pk = f.digest AND d.superseded = 0 JOIN session s ON s.pk = d.session
     JOIN project p ON p.pk = s.project";

impl Reader {
    /// All errors with this signature, in order.
    pub(crate) fn failures_with(&self, signature: &str) -> Result<Vec<MetFailure>> {
        let sql = format!("{SELECT} WHERE f.signature = ?1 ORDER BY f.at, f.digest, f.place");
        let mut query = self.db.prepare_cached(&sql)?;
        Ok(query.query_map([signature], met)?.collect::<rusqlite::Result<_>>()?)
    }

    /// All errors, in order, each by the lines that say most about it.
    pub(crate) fn all_failures(&self) -> Result<Vec<MetFailure>> {
        let mut query = self.db.prepare_cached(&format!("{SELECT} WHERE f.aside = 0 ORDER BY f.at, f.digest, f.place"))?;
        Ok(query.query_map([], met)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The signatures of all errors, each once.
    pub(crate) fn failure_signatures(&self) -> Result<Vec<String>> {
        let mut query = self.db.prepare_cached("SELECT DISTINCT signature FROM failure ORDER BY signature")?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }
}

fn met(r: &Row<'_>) -> rusqlite::Result<MetFailure> {
    let passed = r.get::<_, Option<String>>(7)?.map(|command| {
        let between = Between { changed: r.get(10)?, ran: r.get(11)? };
        Ok::<_, rusqlite::Error>(PassedRun { command, at: r.get(8)?, turn: r.get::<_, i64>(9)? as usize, between })
    });
    Ok(MetFailure {
        project: Project { key: r.get(0)? },
        session: r.get(1)?,
        failure: Failure {
            signature: r.get(2)?,
            line: r.get(3)?,
            command: r.get(4)?,
            at: r.get(5)?,
            turn: r.get::<_, i64>(6)? as usize,
            passed: passed.transpose()?,
            aside: r.get(12)?,
        },
    })
}

/// Stores the errors of a session in place of those that its digest has.
pub(super) fn save(db: &Connection, digest: i64, failures: &[Failure]) -> Result<()> {
    db.prepare_cached("DELETE FROM failure WHERE digest = ?1")?.execute([digest])?;
    let mut insert = db.prepare_cached("INSERT INTO failure VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)")?;
    for (place, failure) in failures.iter().enumerate() {
        let passed = failure.passed.as_ref();
        insert.execute(params![
            digest,
            place as i64,
            failure.signature,
            failure.line,
            failure.command,
            failure.at,
            failure.turn as i64,
            passed.map(|run| &run.command),
            passed.and_then(|run| run.at),
            passed.map(|run| run.turn as i64),
            passed.map(|run| &run.between.changed),
            passed.map(|run| &run.between.ran),
            failure.aside
        ])?;
    }
    Ok(())
}
