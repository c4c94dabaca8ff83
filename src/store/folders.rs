//! The folders that sessions were in: by them the policy decides about whole sessions, also when their transcripts are gone.
//!
//! ## Invariants
//! `source.cwd` and `session_folder` together name every folder of a session whose sources are all `placed`, and none twice. Of a session
//! that the config excluded at the last digest, `session_folder` alone does, and `excluded_session` has its id.
//!
//! `since` is never later than the session's first record in the folder. Where `excluded_session.kept`, what is stored of a session is from
//! before `cut_at`, which is not later than the `since` of any folder that was excluded at the last digest.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use rusqlite::{Connection, Transaction, params};

use super::{Reader, Writer};
use crate::model::session_head::SessionHead;
use transcripts::session::Millis;

/// The folders that sessions went on in, each found in one step through the table: they are few, and sessions many.
pub(super) fn moved_to(db: &Connection) -> Result<Vec<String>> {
    let sql = "WITH RECURSIVE known(folder) AS (SELECT min(folder) FROM main.session_folder
             UNION ALL SELECT (SELECT min(folder) FROM main.session_folder f WHERE f.folder > known.folder) FROM known WHERE known.folder IS NOT NULL)
         SELECT folder FROM known WHERE folder IS NOT NULL";
    let mut query = db.prepare(sql)?;
    Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}

impl Reader {
    /// The folders in which a session went on besides the first of each of its sources.
    pub(super) fn folders_moved_to(&self, session: &str) -> Result<Vec<String>> {
        let sql = "SELECT folder FROM main.session_folder WHERE session = ?1 ORDER BY folder";
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query.query_map([session], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// The same of what is stored of it: where only a part is kept, without those that it came into later.
    pub(super) fn folders_stored(&self, head: &SessionHead) -> Result<Vec<String>> {
        let all = self.folders_moved_to(&head.id)?;
        if !self.is_part(head.pk)? {
            return Ok(all);
        }
        let sql = "SELECT EXISTS (SELECT 1 FROM session_folder f JOIN excluded_session e ON e.id = f.session
             WHERE f.folder = ?2 AND f.session = ?1 AND f.since < e.cut_at)
             AND NOT EXISTS (SELECT 1 FROM source WHERE session = ?3 AND cwd = ?2)";
        let mut query = self.db.prepare_cached(sql)?;
        let mut stored = Vec::new();
        for folder in all {
            if query.query_row(params![head.id, folder, head.pk], |r| r.get(0))? {
                stored.push(folder);
            }
        }
        Ok(stored)
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

    /// The same folders, each once.
    pub(crate) fn folders_of_sessions(&self) -> Result<Vec<String>> {
        let sql = "SELECT f.cwd FROM source f JOIN session s ON s.pk = f.session WHERE f.cwd IS NOT NULL
             UNION SELECT folder FROM session_folder";
        let mut query = self.db.prepare(sql)?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Ids of sessions of which a part was stored by a program that kept no folder but the first.
    pub(crate) fn sessions_not_placed(&self) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT s.id FROM source f JOIN session s ON s.pk = f.session WHERE NOT f.placed ORDER BY s.id";
        let mut query = self.db.prepare(sql)?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Was the session in a folder that was excluded at the last digest?
    pub(crate) fn is_excluded(&self, session: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM excluded_session WHERE id = ?1)";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0))?)
    }

    /// Is what is stored of the session the part that is kept of it?
    pub(crate) fn is_part(&self, session: i64) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM excluded_session e JOIN session s ON s.id = e.id WHERE s.pk = ?1 AND e.kept)";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0))?)
    }

    /// Up to when sessions are stored of which a part is kept, by id.
    pub(crate) fn parts(&self) -> Result<BTreeMap<String, Millis>> {
        let sql = "SELECT s.id, s.last_at FROM excluded_session e JOIN session s ON s.id = e.id
             WHERE e.kept AND s.last_at IS NOT NULL AND EXISTS (SELECT 1 FROM source WHERE session = s.pk)";
        let mut query = self.db.prepare(sql)?;
        Ok(query.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Excluded sessions of which a part is still to be read, each with when that ends, and the files that are named after it.
    pub(crate) fn parts_due(&self) -> Result<Vec<(String, Millis, Vec<String>)>> {
        let sql = "SELECT DISTINCT e.id, e.cut_at FROM session_folder f JOIN excluded_session e ON e.id = f.session
             WHERE NOT e.kept AND f.since < e.cut_at ORDER BY e.id";
        let mut query = self.db.prepare(sql)?;
        let due: Vec<(String, Millis)> = query.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        let mut files = self.db.prepare("SELECT path FROM file WHERE instr(path, ?1)")?;
        let with_files = due.into_iter().map(|(id, cut)| {
            let paths = files.query_map([&id], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
            Ok((id, cut, paths))
        });
        with_files.collect()
    }
}

impl Writer {
    /// Keeps the folders of a session that is about to be deleted because one of them is excluded.
    pub(crate) fn keep_folders(&self, session: i64) -> Result<()> {
        let sql = "INSERT INTO session_folder(session, folder, since)
             SELECT s.id, coalesce(f.cwd, p.key) AS folder, min(CASE WHEN f.cwd IS NULL THEN 0 ELSE f.since END)
             FROM session s JOIN project p ON p.pk = s.project JOIN source f ON f.session = s.pk WHERE s.pk = ?1 GROUP BY folder
             ON CONFLICT DO UPDATE SET since = excluded.since WHERE since > excluded.since";
        self.db.prepare_cached(sql)?.execute([session])?;
        // Part of it was read without its folders: it may have been in each of them before.
        let sql = "UPDATE session_folder SET since = 0 WHERE since > 0 AND session = (SELECT id FROM session WHERE pk = ?1)
             AND EXISTS (SELECT 1 FROM source WHERE session = ?1 AND NOT placed)";
        self.db.prepare_cached(sql)?.execute([session])?;
        Ok(())
    }

    /// Makes the sessions that were in a folder that is out, and no others, those of which nothing is ingested, but what they said before they
    /// came there. Writes only a change.
    pub(crate) fn exclude_by_folder(&mut self, is_out: impl Fn(&str) -> bool) -> Result<()> {
        let times = |sql: &str, folder: &[&str]| -> Result<Vec<(String, Millis)>> {
            let mut query = self.db.prepare_cached(sql)?;
            let rows = query.query_map(rusqlite::params_from_iter(folder), |r| Ok((r.get(0)?, r.get(1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        };
        let mut out: BTreeMap<String, Millis> = BTreeMap::new();
        for folder in moved_to(&self.db)?.iter().filter(|folder| is_out(folder)) {
            for (id, since) in times("SELECT session, since FROM session_folder WHERE folder = ?1", &[folder])? {
                let cut = out.entry(id).or_insert(since);
                *cut = since.min(*cut);
            }
        }
        let before: BTreeMap<String, Millis> = times("SELECT id, cut_at FROM excluded_session", &[])?.into_iter().collect();
        if out == before {
            return Ok(());
        }
        let tx = self.reader.db.transaction()?;
        for id in before.keys().filter(|id| !out.contains_key(*id)) {
            admit(&tx, id)?;
        }
        for (id, cut) in out.iter().filter(|(id, cut)| before.get(*id) != Some(cut)) {
            let sql = "INSERT INTO excluded_session(id, cut_at) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET cut_at = ?2, kept = 0";
            tx.execute(sql, params![id, cut])?;
        }
        tx.commit()?;
        Ok(())
    }

    /// Makes room for the part of an excluded session that is kept: nothing stays of what was known of all of it.
    pub(crate) fn begin_part(&mut self, session: &str) -> Result<()> {
        let tx = self.reader.db.transaction()?;
        for sql in [
            "DELETE FROM start WHERE session = ?1",
            "DELETE FROM asked WHERE session = ?1",
            "DELETE FROM client_cost WHERE session = (SELECT pk FROM session WHERE id = ?1)",
            "UPDATE session SET started_at = NULL, last_at = NULL, grew_at = 0, compacted_at = NULL WHERE id = ?1",
        ] {
            tx.execute(sql, [session])?;
        }
        tx.commit()?;
        Ok(())
    }

    /// The part of an excluded session that is kept is stored, up to this time.
    pub(crate) fn end_part(&self, session: &str, cut: Millis) -> Result<()> {
        self.db.execute("UPDATE excluded_session SET kept = 1 WHERE id = ?1 AND cut_at = ?2", params![session, cut])?;
        Ok(())
    }
}

/// Ingests a session again that was excluded. One of which a part was kept is read again from its beginning: the rest was never stored.
fn admit(tx: &Transaction<'_>, session: &str) -> Result<()> {
    let part = "EXISTS (SELECT 1 FROM excluded_session WHERE id = ?1 AND kept)";
    tx.execute(&format!("UPDATE file SET size = -1, offset = 0 WHERE instr(path, ?1) AND {part}"), [session])?;
    tx.execute("DELETE FROM excluded_session WHERE id = ?1", [session])?;
    // No folder is named twice any more.
    let sql = "DELETE FROM session_folder WHERE session = ?1
         AND folder IN (SELECT f.cwd FROM source f JOIN session s ON s.pk = f.session WHERE s.id = ?1 AND f.cwd IS NOT NULL)";
    tx.execute(sql, [session])?;
    Ok(())
}
