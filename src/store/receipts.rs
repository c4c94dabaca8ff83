//! What sessions were told and what came of it, as rows beside the account of their session: they are counted, and what was looked up ranks
//! higher. They go when the account does.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use super::Reader;
use crate::analyze::use_of_told::Receipt;

const SESSION: &str = "session";
const STATEMENT: &str = "statement";
const FILE: &str = "file";
const CHECK: &str = "check";
/// A command that it was told not to run.
const WARNING: &str = "warning";
/// A note or a rule that the user said once more.
const CORRECTION: &str = "correction";

/// Of a warning: the command was run all the same. Of a correction: always. Neither is a use of what was told.
const PASSED_OVER: u8 = 3;

/// What came of what sessions were told by hooks, as their own transcripts show it: counts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct ReceiptCounts {
    /// Sessions that were told something.
    pub(crate) told: i64,
    /// Those that used something of it.
    pub(crate) used: i64,
    /// Files named to them, and those that they then read or changed.
    pub(crate) files_told: i64,
    pub(crate) files_used: i64,
    /// Checks named to them, and those that they then ran.
    pub(crate) checks_told: i64,
    pub(crate) checks_used: i64,
    /// Sessions and notes that their agents looked up.
    pub(crate) looked_up: i64,
    /// All names told, of sessions, statements, files and checks, and those that were used.
    pub(crate) names_told: i64,
    pub(crate) names_used: i64,
    /// Commands that they were told not to run, and those that they ran all the same.
    pub(crate) warnings_told: i64,
    pub(crate) warnings_passed_over: i64,
    /// Notes and rules that they were told and the user then said once more.
    pub(crate) corrections_repeated: i64,
}

impl Reader {
    pub(crate) fn receipt_counts(&self) -> Result<ReceiptCounts> {
        let sql = "SELECT count(DISTINCT r.digest) FILTER (WHERE r.used < 2), count(DISTINCT r.digest) FILTER (WHERE r.used = 1),
             count(*) FILTER (WHERE r.kind = 'file'), count(*) FILTER (WHERE r.kind = 'file' AND r.used),
             count(*) FILTER (WHERE r.kind = 'check'), count(*) FILTER (WHERE r.kind = 'check' AND r.used),
             count(*) FILTER (WHERE r.kind IN ('session', 'statement') AND r.used),
             count(*) FILTER (WHERE r.kind IN ('session', 'statement', 'file', 'check') AND r.used < 2),
             count(*) FILTER (WHERE r.kind IN ('session', 'statement', 'file', 'check') AND r.used = 1),
             count(*) FILTER (WHERE r.kind = 'warning'), count(*) FILTER (WHERE r.kind = 'warning' AND r.used),
             count(*) FILTER (WHERE r.kind = 'correction')
             FROM receipt r JOIN digest d ON d.pk = r.digest AND d.superseded = 0";
        Ok(self.db.query_row(sql, [], |r| {
            Ok(ReceiptCounts {
                told: r.get(0)?,
                used: r.get(1)?,
                files_told: r.get(2)?,
                files_used: r.get(3)?,
                checks_told: r.get(4)?,
                checks_used: r.get(5)?,
                looked_up: r.get(6)?,
                names_told: r.get(7)?,
                names_used: r.get(8)?,
                warnings_told: r.get(9)?,
                warnings_passed_over: r.get(10)?,
                corrections_repeated: r.get(11)?,
            })
        })?)
    }

    /// In how many other sessions each session was looked up, by their keys.
    pub(crate) fn lookups(&self) -> Result<HashMap<i64, u32>> {
        let sql = "SELECT s.pk, count(*) FROM receipt r JOIN session s ON s.id = r.name
             JOIN digest d ON d.pk = r.digest AND d.superseded = 0 AND d.session <> s.pk
             WHERE r.used AND r.kind = 'session' GROUP BY s.pk";
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
    }
}

/// Stores the receipt of a session in place of the one that its digest has.
pub(super) fn save(db: &Connection, digest: i64, receipt: Option<&Receipt>) -> Result<()> {
    db.prepare_cached("DELETE FROM receipt WHERE digest = ?1")?.execute([digest])?;
    let Some(receipt) = receipt else { return Ok(()) };
    let mut insert = db.prepare_cached("INSERT INTO receipt VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING")?;
    let mut put = |kind: &str, name: &str, used: u8| insert.execute(params![digest, kind, name, used]);
    let whole = |id: &str| -> Result<Option<String>> {
        // Ids are looked up by how they begin; what more than one session begins with names none.
        let sql = "SELECT min(id) FROM session WHERE id >= ?1 AND id < ?1 || '~' HAVING count(*) = 1";
        Ok(db.prepare_cached(sql)?.query_row([id], |r| r.get::<_, Option<String>>(0)).optional()?.flatten())
    };
    let Receipt { told, files, checks, looked_up, passed_over, repeated } = receipt;
    let looked_up_sessions = looked_up.iter().filter_map(|id| whole(id).transpose()).collect::<Result<BTreeSet<String>>>()?;
    for id in &told.sessions {
        if let Some(id) = whole(id)? {
            put(SESSION, &id, looked_up_sessions.contains(&id).into())?;
        }
    }
    for id in &looked_up_sessions {
        put(SESSION, id, 2)?;
    }
    for id in &told.statements {
        put(STATEMENT, id, looked_up.contains(id).into())?;
    }
    for (kind, all, used) in [(FILE, &told.files, files), (CHECK, &told.checks, checks)] {
        for name in all {
            put(kind, name, used.contains(name).into())?;
        }
    }
    for command in &told.warned {
        put(WARNING, command, if passed_over.contains(command) { PASSED_OVER } else { 0 })?;
    }
    for correction in repeated {
        put(CORRECTION, &correction.id, PASSED_OVER)?;
    }
    Ok(())
}
