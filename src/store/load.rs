//! Sessions as the index holds them, whole.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use rusqlite::{OptionalExtension, params};

use super::Store;
use super::pack::{list, unpack};
use crate::rows::Entries;
use crate::session::{Entry, Item, Millis, Project, RowKey, Session, Title, TitleBy, Tokens};

/// A row that several sessions hold belongs to the one that started first, then to the smaller id. A copy says the same under the
/// same key: rows that merely share one, as hand-made transcripts do, are no copies.
///
/// Joins `item i` of a session against the sessions that hold a copy; `?2` and `?3` are that session's start and id.
pub(super) const NOT_OWNED_EARLIER: &str = "NOT EXISTS (SELECT 1 FROM item o JOIN session s ON s.pk = o.session
     WHERE o.key = i.key AND o.session <> i.session AND o.part = i.part AND o.body = i.body
     AND (coalesce(s.started_at, 9223372036854775807), s.id) < (?2, ?3))";

/// How many earlier sessions' open items a session is shown, and how old they may be, in milliseconds.
pub(super) const EARLIER: usize = 3;
const OPEN_FOR: Millis = 14 * 24 * 3600 * 1000;

/// How many characters of an id people type at least.
const MIN_PREFIX: usize = 4;

/// What a session is, without its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHead {
    pub pk: i64,
    pub id: String,
    pub project: Project,
    pub started_at: Millis,
    /// The last time its rows tell.
    pub last_at: Option<Millis>,
    pub grew_at: Millis,
    pub ended_at: Option<Millis>,
    pub end_reason: Option<String>,
    pub dirty: bool,
}

/// Selects the columns of a [`SessionHead`] from `session s`; `WHERE` and what follows is the caller's.
pub(super) const HEAD: &str =
    "SELECT s.pk, s.id, p.key, coalesce(s.started_at, 9223372036854775807), s.grew_at, s.ended_at, s.end_reason, s.dirty,
     s.last_at
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
    })
}

impl Store {
    pub fn session_heads(&self) -> Result<Vec<SessionHead>> {
        let mut query = self.db.prepare(&format!("{HEAD} ORDER BY s.started_at, s.id"))?;
        Ok(query.query_map([], head)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The sessions that may want a digest: whose rows are newer than theirs, or for whose digest the model is still wanted; with
    /// `extracts` also all whose digest was made without it. In the order of `session_heads`.
    pub fn waiting_heads(&self, extracts: bool) -> Result<Vec<SessionHead>> {
        let sql = format!(
            "{HEAD} WHERE s.pk IN (SELECT pk FROM session WHERE dirty
                 UNION SELECT session FROM digest WHERE queued AND superseded = 0
                 UNION SELECT session FROM digest WHERE ?1 AND summarizer = 'extract' AND superseded = 0)
             ORDER BY s.started_at, s.id"
        );
        Ok(self.db.prepare(&sql)?.query_map([extracts], head)?.collect::<rusqlite::Result<_>>()?)
    }

    pub fn session_head(&self, pk: i64) -> Result<SessionHead> {
        let mut query = self.db.prepare_cached(&format!("{HEAD} WHERE s.pk = ?1"))?;
        query.query_row([pk], head).context("the session is gone from the index")
    }

    /// The sessions of the project that began last before this one and not long before it, newest first.
    pub fn earlier_sessions(&self, of: &SessionHead) -> Result<Vec<SessionHead>> {
        let sql = format!(
            "{HEAD} WHERE s.project = (SELECT project FROM session WHERE pk = ?1) AND (s.started_at, s.id) < (?2, ?3) AND s.started_at >= ?2 - ?4
             ORDER BY s.started_at DESC, s.id DESC LIMIT {EARLIER}"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        Ok(query.query_map(params![of.pk, of.started_at, of.id, OPEN_FOR], head)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The session whose id starts with `prefix`, or that a digest id belongs to.
    ///
    /// # Errors
    /// When none fits, or more than one.
    pub fn find_session(&self, prefix: &str) -> Result<SessionHead> {
        if let Some(head) = self.look_up_session(prefix)? {
            return Ok(head);
        }
        let forgotten = self.is_shut_out(prefix)?;
        bail!("{}`{prefix}`", if forgotten { "you had recall forget the session " } else { "no session or digest with the id " })
    }

    /// The same, if there is one.
    ///
    /// # Errors
    /// When more than one fits, or the prefix is too short to tell.
    pub fn look_up_session(&self, prefix: &str) -> Result<Option<SessionHead>> {
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
        let sql = format!("{HEAD} WHERE substr(s.id, 1, ?2) = ?1 ORDER BY s.id LIMIT 6");
        let mut query = self.db.prepare(&sql)?;
        let found: Vec<SessionHead> =
            query.query_map(params![prefix, prefix.chars().count() as i64], head)?.collect::<rusqlite::Result<_>>()?;
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            many => {
                let ids: Vec<_> = many.iter().map(|s| s.id.as_str()).collect();
                bail!("`{prefix}` fits more than one session: {}", ids.join(", "))
            }
        }
    }

    /// Does the session hold a prompt of the user's, and anything that answered it?
    pub fn has_prompt_and_work(&self, head: &SessionHead) -> Result<(bool, bool)> {
        let exists = |fits: &str| {
            format!(
                "EXISTS (SELECT 1 FROM item i JOIN source f ON f.pk = i.source WHERE i.session = ?1 AND {fits} AND {NOT_OWNED_EARLIER})"
            )
        };
        let sql =
            format!("SELECT {}, {}", exists("i.kind = 'prompt' AND f.agent = ''"), exists("i.kind IN ('reply', 'tool', 'plan')"));
        let mut query = self.db.prepare_cached(&sql)?;
        Ok(query.query_row(params![head.pk, head.started_at, head.id], |r| Ok((r.get(0)?, r.get(1)?)))?)
    }

    /// Everything a session owns, in order.
    pub fn load_session(&self, head: &SessionHead) -> Result<Session> {
        let (entries, agents) = self.entries(head)?;
        let sources = self.sources(head.pk)?;
        Ok(Session {
            id: head.id.clone(),
            project: head.project.clone(),
            cwd: sources.cwd,
            branches: sources.branches,
            versions: sources.versions,
            end_reason: head.end_reason.clone(),
            entries,
            usage: self.usage(head)?,
            agents,
        })
    }

    fn entries(&self, head: &SessionHead) -> Result<(Vec<Entry>, usize)> {
        let sql = format!(
            "SELECT i.key, i.at, f.agent, i.body FROM item i JOIN source f ON f.pk = i.source
             WHERE i.session = ?1 AND {NOT_OWNED_EARLIER}
             ORDER BY f.agent <> '', f.first_at, f.agent, i.offset, f.file, i.part"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let mut rows = query.query(params![head.pk, head.started_at, head.id])?;
        let mut entries = Entries::default();
        let mut agents = std::collections::HashSet::new();
        while let Some(row) = rows.next()? {
            let agent: Option<String> = Some(row.get(2)?).filter(|a: &String| !a.is_empty());
            agents.extend(agent.clone());
            let item: Item = unpack(row.get_ref(3)?.as_blob()?).with_context(|| format!("session {} cannot be read", head.id))?;
            entries.push(Entry { key: RowKey(row.get(0)?), at: row.get(1)?, agent, item, outcome: None });
        }
        let mut entries = entries.finish();
        entries.extend(self.leaf_titles(head)?);
        Ok((entries, agents.len()))
    }

    /// Titles that summary rows, in whatever file, give to a conversation of this session.
    fn leaf_titles(&self, head: &SessionHead) -> Result<Vec<Entry>> {
        let sql = format!(
            "SELECT DISTINCT t.leaf, t.text FROM leaf_title t JOIN item i ON i.key = t.leaf
             WHERE i.session = ?1 AND {NOT_OWNED_EARLIER} ORDER BY i.offset, t.text"
        );
        let mut query = self.db.prepare_cached(&sql)?;
        let rows = query.query_map(params![head.pk, head.started_at, head.id], |r| {
            let key = RowKey(r.get(0)?);
            let title = Title { text: r.get(1)?, by: TitleBy::Summary, leaf: Some(key) };
            Ok(Entry { key, at: None, agent: None, item: Item::Title(title), outcome: None })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn sources(&self, session: i64) -> Result<Sources> {
        let sql = "SELECT agent, cwd, branches, versions FROM source WHERE session = ?1 ORDER BY agent <> '', first_at, file";
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query([session])?;
        let mut all = Sources::default();
        while let Some(row) = rows.next()? {
            if all.cwd.is_none() {
                all.cwd = row.get(1)?;
            }
            add_new(&mut all.versions, list(&row.get::<_, String>(3)?)?);
            // A subagent's worktree branch is not the session's.
            if row.get::<_, String>(0)?.is_empty() {
                add_new(&mut all.branches, list(&row.get::<_, String>(2)?)?);
            }
        }
        Ok(all)
    }

    /// Tokens by model. A message that several sessions hold counts, with its largest figures, for the one that started first.
    fn usage(&self, head: &SessionHead) -> Result<BTreeMap<String, Tokens>> {
        let sql = "SELECT i.model, max(a.input), max(a.output), max(a.cache_write), max(a.cache_write_hour), max(a.cache_read)
             FROM usage i JOIN usage a ON a.message = i.message
             WHERE i.session = ?1 AND NOT EXISTS (SELECT 1 FROM usage o JOIN session s ON s.pk = o.session
                 WHERE o.message = i.message AND o.session <> i.session AND (coalesce(s.started_at, 9223372036854775807), s.id) < (?2, ?3))
             GROUP BY i.message";
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query(params![head.pk, head.started_at, head.id])?;
        let mut usage: BTreeMap<String, Tokens> = BTreeMap::new();
        while let Some(r) = rows.next()? {
            let count = |at| r.get::<_, i64>(at).map(|n| n as u64);
            *usage.entry(r.get(0)?).or_default() += Tokens {
                input: count(1)?,
                output: count(2)?,
                cache_write: count(3)?,
                cache_write_hour: count(4)?,
                cache_read: count(5)?,
            };
        }
        Ok(usage)
    }
}

#[derive(Debug, Default)]
struct Sources {
    cwd: Option<String>,
    branches: Vec<String>,
    versions: Vec<String>,
}

fn add_new(list: &mut Vec<String>, more: Vec<String>) {
    for value in more {
        if !list.contains(&value) {
            list.push(value);
        }
    }
}
