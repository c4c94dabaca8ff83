//! What sessions were told and what of that was used, as rows beside the account of their session: they are counted, and what was looked up
//! ranks higher. They go when the account does.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};

use super::Reader;
use crate::analyze::use_of_told::Receipt;

const SESSION: &str = "session";
const STATEMENT: &str = "statement";
const FILE: &str = "file";
const CHECK: &str = "check";

/// How many of what sessions were told were used.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReceiptCounts {
    /// Sessions that were told something, and those of them that used something of it.
    pub(crate) sessions: i64,
    pub(crate) used_by: i64,
    /// Files that were named to them, and those that they then read or changed.
    pub(crate) files: i64,
    pub(crate) files_used: i64,
    /// Checks that were named to them, and those that they then ran.
    pub(crate) checks: i64,
    pub(crate) checks_used: i64,
    /// Sessions and statements that they looked up.
    pub(crate) looked_up: i64,
}

impl Reader {
    pub(crate) fn receipt_counts(&self) -> Result<ReceiptCounts> {
        let sql = "SELECT count(DISTINCT r.digest) FILTER (WHERE r.used < 2), count(DISTINCT r.digest) FILTER (WHERE r.used = 1),
             count(*) FILTER (WHERE r.kind = 'file'), count(*) FILTER (WHERE r.kind = 'file' AND r.used),
             count(*) FILTER (WHERE r.kind = 'check'), count(*) FILTER (WHERE r.kind = 'check' AND r.used),
             count(*) FILTER (WHERE r.kind IN ('session', 'statement') AND r.used)
             FROM receipt r JOIN digest d ON d.pk = r.digest AND d.superseded = 0";
        Ok(self.db.query_row(sql, [], |r| {
            Ok(ReceiptCounts {
                sessions: r.get(0)?,
                used_by: r.get(1)?,
                files: r.get(2)?,
                files_used: r.get(3)?,
                checks: r.get(4)?,
                checks_used: r.get(5)?,
                looked_up: r.get(6)?,
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

/// Stores the receipt of a session's digest in place of the one that it has.
pub(super) fn save(db: &Connection, session: i64, receipt: Option<&Receipt>) -> Result<()> {
    let sql = "DELETE FROM receipt WHERE digest IN (SELECT pk FROM digest WHERE session = ?1 AND superseded = 0)";
    db.prepare_cached(sql)?.execute([session])?;
    let Some(receipt) = receipt else { return Ok(()) };
    let sql = "INSERT INTO receipt SELECT pk, ?2, ?3, ?4 FROM digest WHERE session = ?1 AND superseded = 0 ON CONFLICT DO NOTHING";
    let mut insert = db.prepare_cached(sql)?;
    let mut put = |kind: &str, name: &str, used: u8| insert.execute(params![session, kind, name, used]);
    let whole = |id: &str| -> Result<Option<String>> {
        // Ids are looked up by how they begin; what more than one session begins with names none.
        let sql = "SELECT min(id) FROM session WHERE id >= ?1 AND id < ?1 || '~' HAVING count(*) = 1";
        Ok(db.prepare_cached(sql)?.query_row([id], |r| r.get::<_, Option<String>>(0)).optional()?.flatten())
    };
    let Receipt { told, files, checks, looked_up } = receipt;
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
    Ok(())
}
