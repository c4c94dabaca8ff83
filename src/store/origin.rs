//! Sessions of other machines: what came of them, and from which. Their records are not here, so what is stored of them is what that machine
//! told: neither a digest nor an account is made of them.
//!
//! ## Invariants
//! A session has an origin or records of its own, never both: whoever stores the first record of a session takes its origin away. One with
//! an origin is never dirty: a trigger of the schema sees to that.

use anyhow::Result;
use rusqlite::{OptionalExtension, Transaction, params};
use serde::{Deserialize, Serialize};

use super::digests::outdate_pages_that_follow;
use super::load::{self, SELECT_HEAD};
use super::projects::ensure_project;
use super::transfer::Exported;
use super::{Reader, Writer, near_duplicates, search};
use crate::model::session_head::SessionHead;
use crate::store::codec::{pack, unpack};
use crate::store::erasure;
use transcripts::session::ToldElsewhere;

/// The machine that a session came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Its id.
    pub(crate) machine: String,
    /// What its user calls it.
    pub(crate) name: String,
    /// Which version of what it told.
    pub(crate) version: u64,
}

/// Has session `s` an origin?
pub(super) const CAME_FROM_AFAR: &str = "EXISTS (SELECT 1 FROM origin WHERE session = s.pk)";

impl Reader {
    /// Where a session came from; `None` if its transcript was read here.
    pub(crate) fn origin_of(&self, session: i64) -> Result<Option<Origin>> {
        let sql = "SELECT machine, name, version FROM origin WHERE session = ?1";
        let origin = |r: &rusqlite::Row<'_>| {
            Ok(Origin { machine: r.get(0)?, name: r.get(1)?, version: r.get::<_, i64>(2)?.cast_unsigned() })
        };
        Ok(self.db.prepare_cached(sql)?.query_row([session], origin).optional()?)
    }

    /// The sessions that came from other machines: id, number.
    pub(crate) fn sessions_from_afar(&self) -> Result<Vec<(String, i64)>> {
        let mut query =
            self.db.prepare_cached("SELECT s.id, s.pk FROM session s JOIN origin o ON o.session = s.pk ORDER BY s.id")?;
        Ok(query.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
    }

    /// The machines that sessions came from: id, name.
    pub(crate) fn machines_from_afar(&self) -> Result<Vec<(String, String)>> {
        let mut query = self.db.prepare_cached("SELECT DISTINCT machine, name FROM origin ORDER BY machine, name")?;
        Ok(query.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Sessions of which something is stored and whose transcripts were read here.
    pub(crate) fn sessions_from_here(&self) -> Result<Vec<SessionHead>> {
        let sql = format!(
            "{SELECT_HEAD} WHERE NOT {CAME_FROM_AFAR}
             AND (EXISTS (SELECT 1 FROM source WHERE session = s.pk) OR EXISTS (SELECT 1 FROM digest WHERE session = s.pk)) ORDER BY s.pk"
        );
        Ok(self.db.prepare_cached(&sql)?.query_map([], load::head)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Changes with whatever another machine is told of a session.
    pub(crate) fn told_hash(&self, head: &SessionHead) -> Result<u64> {
        let mut hasher = blake3::Hasher::new();
        let mut put = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        put(head.project.key.as_bytes());
        put(format!("{} {} {:?} {:?} {:?}", head.started_at, head.grew_at, head.ended_at, head.end_reason, head.last_at).as_bytes());
        let sql = "SELECT id, summarizer, made_at, queued, interim_until, body, coalesce(account, x'') FROM digest
             WHERE session = ?1 AND superseded = 0";
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query([head.pk])?;
        while let Some(r) = rows.next()? {
            put(format!("{} {} {} {}", r.get::<_, String>(0)?, r.get::<_, String>(1)?, r.get::<_, i64>(2)?, r.get::<_, bool>(3)?)
                .as_bytes());
            put(format!("{:?}", r.get::<_, Option<i64>>(4)?).as_bytes());
            put(&r.get::<_, Vec<u8>>(5)?);
            put(&r.get::<_, Vec<u8>>(6)?);
        }
        let hash = hasher.finalize();
        let first = hash.as_bytes().first_chunk().copied().unwrap_or_default();
        Ok(u64::from_le_bytes(first))
    }

    /// What another machine told of a session; `None` if its transcript was read here.
    pub(crate) fn told_elsewhere(&self, session: i64) -> Result<Option<ToldElsewhere>> {
        let sql = "SELECT name, told FROM origin WHERE session = ?1";
        let told: Option<(String, Vec<u8>)> =
            self.db.prepare_cached(sql)?.query_row([session], |r| Ok((r.get(0)?, r.get(1)?))).optional()?;
        told.map(|(machine, told)| Ok(ToldElsewhere { machine, ..unpack(&told)? })).transpose()
    }

    /// Is nothing of it stored?
    pub(crate) fn is_empty_session(&self, session: i64) -> Result<bool> {
        let sql = format!("SELECT {} FROM session WHERE pk = ?1", super::pages::IS_EMPTY);
        Ok(self.db.prepare_cached(&sql)?.query_row([session], |r| r.get(0))?)
    }
}

impl Writer {
    /// Puts what another machine tells of a session in place of what was told of it before. Returns whether it was taken: a session whose
    /// transcript was read here stays as it is.
    pub(crate) fn take_from_afar(&mut self, exported: Exported) -> Result<bool> {
        let Some(origin) = exported.origin.clone() else { return Ok(false) };
        if let Some(session) = self.session_pk(&exported.session)? {
            if self.origin_of(session)?.is_none() && !self.is_empty_session(session)? {
                return Ok(false);
            }
            let tx = self.reader.db.transaction()?;
            remove_told(&tx, session)?;
            let project = ensure_project(&tx, &exported.project)?;
            tx.execute(
                "UPDATE session SET project = ?2, started_at = ?3, grew_at = ?4, ended_at = ?5, end_reason = ?6, last_at = NULL,
                 page_dirty = 1 WHERE pk = ?1",
                params![session, project, exported.started_at, exported.grew_at, exported.ended_at, exported.end_reason],
            )?;
            put_origin(&tx, session, &origin, exported.told.as_ref())?;
            tx.commit()?;
        }
        self.import_session(exported)?;
        Ok(true)
    }

    /// Calls a machine something else, on pages, too. Returns of how many sessions.
    pub(crate) fn rename_machine(&mut self, machine: &str, name: &str) -> Result<usize> {
        let tx = self.reader.db.transaction()?;
        let differs = "FROM origin WHERE machine = ?1 AND name <> ?2";
        tx.prepare_cached(&format!("UPDATE session SET page_dirty = 1 WHERE pk IN (SELECT session {differs})"))?
            .execute([machine, name])?;
        let renamed =
            tx.prepare_cached("UPDATE origin SET name = ?2 WHERE machine = ?1 AND name <> ?2")?.execute([machine, name])?;
        tx.commit()?;
        Ok(renamed)
    }

    /// Removes what came of a session from another machine, because that machine tells of it no more. Its pages go with the next ones that
    /// are written.
    pub(crate) fn remove_from_afar(&mut self, session: i64) -> Result<()> {
        let tx = self.reader.db.transaction()?;
        remove_told(&tx, session)?;
        tx.execute("DELETE FROM user_closed WHERE of = ?1", [session])?;
        tx.execute("DELETE FROM wrong WHERE session = ?1", [session])?;
        tx.execute("DELETE FROM origin WHERE session = ?1", [session])?;
        tx.execute("DELETE FROM session_folder WHERE session = (SELECT id FROM session WHERE pk = ?1)", [session])?;
        tx.execute("UPDATE session SET dirty = 0, unindexed = 0, page_dirty = 1, skip = NULL WHERE pk = ?1", [session])?;
        tx.commit()?;
        Ok(())
    }
}

/// Records where a session came from. It waits for no digest: there is nothing here to make one from.
pub(super) fn put_origin(tx: &Transaction<'_>, session: i64, origin: &Origin, told: Option<&ToldElsewhere>) -> Result<()> {
    let Some(told) = told else { return Ok(()) };
    let sql = "INSERT INTO origin(session, machine, name, version, told) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET machine = ?2, name = ?3, version = ?4, told = ?5";
    let Origin { machine, name, version } = origin;
    tx.prepare_cached(sql)?.execute(params![session, machine, name, version.cast_signed(), pack(told)?])?;
    tx.prepare_cached("UPDATE session SET dirty = 0 WHERE pk = ?1")?.execute([session])?;
    Ok(())
}

/// A transcript of a session is here after all: from now on it is one of this machine, and what another one told of it goes.
pub(super) fn came_here(tx: &Transaction<'_>, session: i64) -> Result<()> {
    if tx.prepare_cached("DELETE FROM origin WHERE session = ?1")?.execute([session])? > 0 {
        remove_told(tx, session)?;
    }
    Ok(())
}

/// Removes what another machine told of a session; what was said of it here stays.
fn remove_told(tx: &Transaction<'_>, session: i64) -> Result<()> {
    erasure::mark_erase_due(tx)?;
    search::remove_document(tx, session)?;
    near_duplicates::drop_signature(tx, session)?;
    outdate_pages_that_follow(tx, session)?;
    for sql in [
        "DELETE FROM closed_item WHERE session = ?1",
        "DELETE FROM closing WHERE session = ?1",
        "DELETE FROM open_item WHERE session = ?1",
        "DELETE FROM digest WHERE session = ?1",
        "DELETE FROM bundle WHERE session = ?1",
        "DELETE FROM source WHERE session = ?1",
    ] {
        tx.prepare_cached(sql)?.execute([session])?;
    }
    Ok(())
}

/// Passes what another machine told of a session through the sanitizer. Returns how many texts changed.
pub(super) fn resanitize(tx: &Transaction<'_>, session: i64, clean: impl Fn(&str) -> String) -> Result<u64> {
    let sql = "SELECT told FROM origin WHERE session = ?1";
    let Some(body) = tx.prepare_cached(sql)?.query_row([session], |r| r.get::<_, Vec<u8>>(0)).optional()? else { return Ok(0) };
    let before: ToldElsewhere = unpack(&body)?;
    let mut after = before.clone();
    after.pass(clean);
    if after == before {
        return Ok(0);
    }
    tx.execute("UPDATE origin SET told = ?2 WHERE session = ?1", params![session, pack(&after)?])?;
    Ok(1)
}
