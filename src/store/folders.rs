//! The folders that sessions were in: by them the policy decides about whole sessions, also when their transcripts are gone.
//!
//! ## Invariants
//! `source.cwd` and `session_folder` together name every folder of a session whose sources are all `placed`, and none twice. Of a session
//! that the config excluded at the last digest, `session_folder` alone does, and `excluded_session` has its id.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use rusqlite::{Connection, params};

use super::{Reader, Writer};
use crate::model::session_head::SessionHead;

/// Each folder once, found in as many steps through the table as there are folders: they are few, and sessions many.
const KNOWN: &str = "WITH RECURSIVE known(folder) AS (SELECT min(folder) FROM main.session_folder
         UNION ALL SELECT (SELECT min(folder) FROM main.session_folder f WHERE f.folder > known.folder) FROM known WHERE known.folder IS NOT NULL)
     SELECT folder FROM known WHERE folder IS NOT NULL";

/// The folders that sessions went on in.
pub(super) fn moved_to(db: &Connection) -> Result<Vec<String>> {
    let mut query = db.prepare(KNOWN)?;
    Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}

impl Reader {
    /// The folders in which a session went on besides the first of each of its sources.
    pub(super) fn folders_moved_to(&self, session: &str) -> Result<Vec<String>> {
        let sql =
            format!("{KNOWN} AND EXISTS (SELECT 1 FROM main.session_folder f WHERE f.folder = known.folder AND f.session = ?1)");
        let mut query = self.db.prepare_cached(&sql)?;
        Ok(query.query_map([session], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// All folders that are known of a session.
    pub(crate) fn folders_of(&self, head: &SessionHead) -> Result<BTreeSet<String>> {
        let sql = "SELECT cwd FROM source WHERE session = ?1 AND cwd IS NOT NULL";
        let mut query = self.db.prepare_cached(sql)?;
        let mut all: BTreeSet<String> = query.query_map([head.pk], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        all.extend(self.folders_moved_to(&head.id)?);
        Ok(all)
    }

    /// The known folders of all sessions by id, of excluded ones too.
    pub(crate) fn folders_by_session(&self) -> Result<BTreeMap<String, BTreeSet<String>>> {
        let sql = "SELECT s.id, f.cwd FROM source f JOIN session s ON s.pk = f.session WHERE f.cwd IS NOT NULL
             UNION ALL SELECT session, folder FROM session_folder";
        let mut query = self.db.prepare(sql)?;
        let mut rows = query.query([])?;
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        while let Some(r) = rows.next()? {
            all.entry(r.get(0)?).or_default().insert(r.get(1)?);
        }
        Ok(all)
    }

    /// Ids of sessions of which a part was stored by a program that kept no folder but the first.
    pub(crate) fn sessions_not_placed(&self) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT s.id FROM source f JOIN session s ON s.pk = f.session WHERE NOT f.placed ORDER BY s.id";
        let mut query = self.db.prepare(sql)?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }
}

impl Writer {
    /// Keeps the folders of a session that is about to be deleted because one of them is excluded.
    pub(crate) fn keep_folders(&self, session: i64) -> Result<()> {
        let sql = "INSERT INTO session_folder(session, folder) SELECT s.id, coalesce(f.cwd, p.key)
             FROM session s JOIN project p ON p.pk = s.project JOIN source f ON f.session = s.pk WHERE s.pk = ?1 ON CONFLICT DO NOTHING";
        self.db.prepare_cached(sql)?.execute([session])?;
        Ok(())
    }

    /// Makes the sessions that were in a folder that is out, and no others, those of which nothing is ingested. Writes only a change.
    pub(crate) fn exclude_by_folder(&mut self, is_out: impl Fn(&str) -> bool) -> Result<()> {
        let ids = |sql: &str, folder: &[&str]| -> Result<BTreeSet<String>> {
            let mut query = self.db.prepare_cached(sql)?;
            Ok(query.query_map(rusqlite::params_from_iter(folder), |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
        };
        let mut out = BTreeSet::new();
        for folder in moved_to(&self.db)?.iter().filter(|folder| is_out(folder)) {
            out.extend(ids("SELECT session FROM session_folder WHERE folder = ?1", &[folder])?);
        }
        let before = ids("SELECT id FROM excluded_session", &[])?;
        if out == before {
            return Ok(());
        }
        let tx = self.reader.db.transaction()?;
        for id in before.difference(&out) {
            tx.execute("DELETE FROM excluded_session WHERE id = ?1", params![id])?;
        }
        for id in out.difference(&before) {
            tx.execute("INSERT INTO excluded_session VALUES (?1)", params![id])?;
        }
        tx.commit()?;
        Ok(())
    }
}
