//! Sessions as stored: the head of one here, the whole of one in `session`.

mod order;
mod session;

pub(in crate::store) use self::session::move_to_end;

use anyhow::{Context, Result, bail};
use rusqlite::{Connection, OptionalExtension, params};

use super::Reader;
use crate::model::session_head::SessionHead;
use crate::store::chunk::ItemKind;
use crate::store::owned;
use transcripts::client::Client;
use transcripts::session::{Millis, Project};

/// How many earlier sessions contribute the open items a session is shown, and the maximum age of those sessions in milliseconds.
pub(super) const SHOWN_EARLIER_SESSIONS: usize = 3;
const MAX_OPEN_AGE: Millis = 14 * 24 * 3600 * 1000;

/// Shortest id prefix that is accepted, in characters.
const MIN_PREFIX: usize = 4;
/// Does the id of `session s` begin with the time? Then [`id8`](text::clean::id8) shows its end, of which such have an index (`session_end`).
pub(super) const BEGINS_WITH_TIME: &str = "(substr(s.id, 15, 1) = '7' OR substr(s.id, 1, 4) = 'ses_' OR substr(s.id, 14, 1) = '_' OR length(s.id) = 13 AND s.id NOT GLOB '*[^0-9]*')";

/// Selects the columns of a [`SessionHead`] from `session s`; the caller appends `WHERE` and the rest.
pub(super) const SELECT_HEAD: &str =
    "SELECT s.pk, s.id, p.key, coalesce(s.started_at, 9223372036854775807), s.grew_at, s.ended_at, s.end_reason, s.dirty,
     s.last_at, s.dirty = 2, s.client
     FROM session s JOIN project p ON p.pk = s.project";

pub(super) fn head(r: &rusqlite::Row<'_>) -> rusqlite::Result<SessionHead> {
    Ok(SessionHead {
        pk: r.get(0)?,
        id: r.get(1)?,
        project: Project { key: r.get(2)? },
        started_at: r.get(3)?,
        grew_at: r.get(4)?,
        ended_at: r.get(5)?,
        end_reason: r.get(6)?,
        dirty: r.get(7)?,
        last_at: r.get(8)?,
        only_shown: r.get(9)?,
        client: Client::named(r.get_ref(10)?.as_str()?).unwrap_or_default(),
    })
}

/// # Errors
/// When there is no such session.
pub(super) fn head_of(db: &Connection, pk: i64) -> Result<SessionHead> {
    let mut query = db.prepare_cached(&format!("{SELECT_HEAD} WHERE s.pk = ?1"))?;
    query.query_row([pk], head).context("the session is gone from the index")
}

/// The same of a session that may be hidden, as an earlier fork of one that is shown: what both hold is the earlier one's all the same.
pub(super) fn head_of_fork(db: &Connection, pk: i64) -> Result<SessionHead> {
    let whole = SELECT_HEAD.replace("FROM session s JOIN project p", "FROM main.session s JOIN main.project p");
    let mut query = db.prepare_cached(&format!("{whole} WHERE s.pk = ?1"))?;
    query.query_row([pk], head).context("the session is gone from the index")
}

impl Reader {
    /// All sessions, in the order in which they began.
    pub(crate) fn session_heads(&self) -> Result<Vec<SessionHead>> {
        let mut query = self.db.prepare(&format!("{SELECT_HEAD} ORDER BY s.started_at, s.id"))?;
        Ok(query.query_map([], head)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The same, by their numbers.
    pub(crate) fn session_pks(&self) -> Result<Vec<i64>> {
        let sql = "SELECT s.pk FROM session s JOIN project p ON p.pk = s.project ORDER BY s.started_at, s.id";
        Ok(self.db.prepare(sql)?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Those that were active since then, in the same order. One that was active at no known time counts when it was read last.
    pub(crate) fn session_heads_since(&self, since: Millis) -> Result<Vec<SessionHead>> {
        let sql = format!(
            "{SELECT_HEAD} WHERE coalesce(s.last_at, s.started_at) >= ?1 OR coalesce(s.last_at, s.started_at) IS NULL AND s.grew_at >= ?1
             ORDER BY s.started_at, s.id"
        );
        Ok(self.db.prepare(&sql)?.query_map([since], head)?.collect::<rusqlite::Result<_>>()?)
    }

    /// At most so many, those active last first.
    pub(crate) fn newest_session_heads(&self, most: usize) -> Result<Vec<SessionHead>> {
        let sql = format!("{SELECT_HEAD} ORDER BY coalesce(s.last_at, s.started_at) DESC NULLS LAST, s.started_at, s.id LIMIT ?1");
        Ok(self.db.prepare(&sql)?.query_map([most as i64], head)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The sessions of a project, in the same order.
    #[cfg(feature = "web")]
    pub(crate) fn session_heads_in(&self, project: i64) -> Result<Vec<SessionHead>> {
        let mut query = self.db.prepare(&format!("{SELECT_HEAD} WHERE s.project = ?1 ORDER BY s.started_at, s.id"))?;
        Ok(query.query_map([project], head)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Sessions that may need a digest: their records are newer than their digest, or their digest is still waiting for the model; with
    /// `extracts` also every session digested without the model. In the order of `session_heads`.
    pub(crate) fn waiting_heads(&self, extracts: bool) -> Result<Vec<SessionHead>> {
        let sql = format!(
            "{SELECT_HEAD} WHERE s.pk IN (SELECT pk FROM session WHERE dirty
                 UNION ALL SELECT session FROM digest WHERE queued AND superseded = 0
                 UNION ALL SELECT session FROM digest WHERE ?1 AND summarizer = 'extract' AND superseded = 0)
             ORDER BY s.started_at, s.id"
        );
        Ok(self.db.prepare(&sql)?.query_map([extracts], head)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Sessions whose digest was made without the model and waits for it, newest first.
    pub(crate) fn heads_for_model(&self) -> Result<Vec<SessionHead>> {
        let sql = format!(
            "{SELECT_HEAD} WHERE s.pk IN (SELECT session FROM digest WHERE queued AND superseded = 0) ORDER BY s.started_at DESC, s.id DESC"
        );
        Ok(self.db.prepare(&sql)?.query_map([], head)?.collect::<rusqlite::Result<_>>()?)
    }

    pub fn session_head(&self, pk: i64) -> Result<SessionHead> {
        head_of(&self.db, pk)
    }

    /// The most recent earlier sessions of the project that are not too old, newest first.
    pub(crate) fn earlier_sessions(&self, of: &SessionHead) -> Result<Vec<SessionHead>> {
        let sql = format!(
            "{SELECT_HEAD} WHERE s.project = (SELECT project FROM session WHERE pk = ?1) AND (s.started_at, s.id) < (?2, ?3) AND s.started_at >= ?2 - ?4
             ORDER BY s.started_at DESC, s.id DESC LIMIT {SHOWN_EARLIER_SESSIONS}"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        Ok(query.query_map(params![of.pk, of.started_at, of.id, MAX_OPEN_AGE], head)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The session whose id starts with `prefix`, or ends with its eight characters, or to which the digest with that id belongs.
    ///
    /// # Errors
    /// When none or more than one matches.
    pub(crate) fn find_session(&self, prefix: &str) -> Result<SessionHead> {
        if let Some(head) = self.look_up_session(prefix)? {
            return Ok(head);
        }
        let forgotten = self.is_shut_out(prefix)?;
        let hint = if self.narrowed { ": what `[privacy]` in the config excludes or isolates is not looked through" } else { "" };
        match forgotten {
            true => bail!("you deleted the session `{prefix}` with `recall forget`"),
            false => bail!("nothing has the id `{prefix}`{hint}: `recall list` shows sessions, `recall remember` notes"),
        }
    }

    /// The same, `None` when nothing matches.
    ///
    /// # Errors
    /// When more than one matches, or the prefix is too short.
    pub(crate) fn look_up_session(&self, prefix: &str) -> Result<Option<SessionHead>> {
        if let Some(pk) = self.session_pk(prefix)? {
            return self.session_head(pk).map(Some);
        }
        if prefix.len() < MIN_PREFIX {
            bail!("`{prefix}` is too short for an id: give at least {MIN_PREFIX} characters");
        }
        let sql = "SELECT session FROM digest WHERE id = ?1 UNION ALL SELECT session FROM former_digest WHERE id = ?1 LIMIT 1";
        let by_digest: Option<i64> = self.db.query_row(sql, [prefix], |r| r.get(0)).optional()?;
        if let Some(pk) = by_digest {
            return self.session_head(pk).map(Some);
        }
        let sql = format!(
            "{SELECT_HEAD} WHERE s.id >= ?1 AND s.id < ?1 || char(1114111) OR ?2 = 8 AND {BEGINS_WITH_TIME} AND substr(s.id, -8) = ?1
             ORDER BY s.id LIMIT 6"
        );
        let mut query = self.db.prepare(&sql)?;
        let found: Vec<SessionHead> =
            query.query_map(params![prefix, prefix.chars().count() as i64], head)?.collect::<rusqlite::Result<_>>()?;
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            many => {
                let ids: Vec<_> = many.iter().map(|s| s.id.as_str()).collect();
                bail!("`{prefix}` matches more than one session: {}", ids.join(", "))
            }
        }
    }

    /// Does the session hold a prompt of the user, and any work that answers one?
    pub(crate) fn has_prompt_and_work(&self, head: &SessionHead) -> Result<(bool, bool)> {
        let mut query = self.db.prepare_cached("SELECT pk FROM source WHERE session = ?1 AND agent = ''")?;
        let main: Vec<i64> = query.query_map([head.pk], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        let (mut prompt, mut work) = (false, false);
        owned::each_owned_item(&self.db, head, |kept| {
            prompt |= kept.line.kind == ItemKind::Prompt && main.contains(&kept.source);
            work |= matches!(kept.line.kind, ItemKind::Reply | ItemKind::Tool | ItemKind::Plan);
            Ok(())
        })?;
        Ok((prompt, work))
    }
}
