//! Open items and what closes them: the digest of a later session, or the user.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use rusqlite::params;

use super::Store;
use super::maintenance::FileIdentity;
use super::notes::{read_author, stored_author};
use crate::model::author::Author;
use crate::model::session::Millis;
use crate::text::tokenize::{covered_by, distinctive_words};

/// Two wordings mean the same open item when at least this share of the distinctive words of one is in the other.
const MIN_SHARED_WORDS: f64 = 0.6;
/// The share that is required in the other direction.
const MIN_SHARED_BACK: f64 = 0.5;

/// Shortest id prefix that is accepted, in characters.
const MIN_PREFIX: usize = 4;

/// A next step or a blocker, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedItem {
    pub(crate) id: String,
    pub(crate) session: i64,
    /// `next` or `blocker`.
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) verified: bool,
}

fn listed(r: &rusqlite::Row<'_>) -> rusqlite::Result<ListedItem> {
    Ok(ListedItem { id: r.get(0)?, session: r.get(1)?, kind: r.get(2)?, text: r.get(3)?, verified: r.get(4)? })
}

/// An open item that was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedItem {
    pub id: String,
    /// The agent that closed it on request, if it was one.
    pub by: Option<String>,
}

/// Wordings of open items, to tell which mean the same thing.
#[derive(Debug, Default)]
pub(crate) struct Wordings(Vec<BTreeSet<String>>);

impl Wordings {
    /// Does one of them mean the same as `text`? A short wording does not match every longer one that contains its words.
    pub(crate) fn has(&self, text: &str) -> bool {
        let one = distinctive_words(text);
        self.0.iter().any(|other| {
            let (mine, theirs) = (covered_by(&one, other), covered_by(other, &one));
            mine.max(theirs) >= MIN_SHARED_WORDS && mine.min(theirs) >= MIN_SHARED_BACK
        })
    }
}

impl<'a> Extend<&'a str> for Wordings {
    fn extend<T: IntoIterator<Item = &'a str>>(&mut self, texts: T) {
        self.0.extend(texts.into_iter().map(distinctive_words));
    }
}

impl Store {
    /// Everything a session left open, closed or not, in the order of its digest.
    pub(crate) fn open_items_of(&self, session: i64) -> Result<Vec<ListedItem>> {
        let sql = "SELECT id, session, kind, text, verified FROM open_item WHERE session = ?1 ORDER BY place";
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query.query_map([session], listed)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Ids of a session's open items that a later session or the user closed, matched by id or by wording.
    pub(crate) fn closed_item_ids(&self, session: i64) -> Result<Vec<String>> {
        let sql = "SELECT id, text FROM closed_item WHERE of = ?1 UNION SELECT id, text FROM user_closed WHERE of = ?1 ORDER BY id";
        let mut query = self.db.prepare_cached(sql)?;
        let closed: Vec<(String, String)> =
            query.query_map([session], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        if closed.is_empty() {
            return Ok(Vec::new());
        }
        let mut items = self.open_items_of(session)?;
        // An id that still exists stands for its item; the others are matched by their words.
        let (by_id, by_words): (Vec<_>, Vec<_>) = closed.iter().partition(|(id, _)| items.iter().any(|item| item.id == *id));
        let mut wordings = Wordings::default();
        wordings.extend(by_words.iter().map(|(_, text)| text.as_str()));
        items.retain(|item| by_id.iter().any(|(id, _)| *id == item.id) || wordings.has(&item.text));
        Ok(items.into_iter().map(|item| item.id).collect())
    }

    /// The same, with the agents that closed them.
    pub(crate) fn closed_items_of(&self, session: i64) -> Result<Vec<ClosedItem>> {
        let ids = self.closed_item_ids(session)?;
        let closers = if ids.is_empty() { Vec::new() } else { self.closers_of(session)? };
        let by = |id: &str| {
            let (_, by) = closers.iter().find(|(of, by)| of == id && matches!(by, Author::Agent { .. }))?;
            Some(by.text())
        };
        Ok(ids.into_iter().map(|id| ClosedItem { by: by(&id), id }).collect())
    }

    /// The open item whose id starts with `prefix`.
    ///
    /// # Errors
    /// When none or more than one matches, or the prefix is too short.
    pub(crate) fn find_open_item(&self, prefix: &str) -> Result<ListedItem> {
        if prefix.chars().count() < MIN_PREFIX {
            bail!("`{prefix}` is too short for an id: give at least {MIN_PREFIX} characters");
        }
        let sql = "SELECT id, session, kind, text, verified FROM open_item WHERE substr(id, 1, ?2) = ?1 ORDER BY id LIMIT 2";
        let mut query = self.db.prepare_cached(sql)?;
        let found: Vec<ListedItem> =
            query.query_map(params![prefix, prefix.chars().count() as i64], listed)?.collect::<rusqlite::Result<_>>()?;
        match found.as_slice() {
            [] => bail!("no open item with the id `{prefix}`: `recall context` lists them"),
            [one] => Ok(one.clone()),
            _ => bail!("`{prefix}` fits more than one open item: give more of the id"),
        }
    }

    /// Records that the user, or an agent on request, closed an item. False when that was on record already.
    pub(crate) fn close_item(&mut self, item: &ListedItem, at: Millis, by: &Author) -> Result<bool> {
        let tx = self.db.transaction()?;
        FileIdentity::check(self.file, &self.path)?;
        let sql = "INSERT INTO user_closed(id, of, text, at, author) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
        let new = tx.execute(sql, params![item.id, item.session, item.text, at, stored_author(by)])? > 0;
        // Its pages show it as done.
        tx.execute("UPDATE session SET page_dirty = 1 WHERE pk = ?1 AND ?2", params![item.session, new])?;
        tx.commit()?;
        Ok(new)
    }

    /// Who closed an item on request, if it was closed that way.
    pub(crate) fn closed_by(&self, item: &ListedItem) -> Result<Option<Author>> {
        Ok(self.closers_of(item.session)?.into_iter().find(|(id, _)| *id == item.id).map(|(_, by)| by))
    }

    /// Which items of a session were closed on request, by item id, and by whom.
    pub(crate) fn closers_of(&self, session: i64) -> Result<Vec<(String, Author)>> {
        let mut query = self.db.prepare_cached("SELECT id, author FROM user_closed WHERE of = ?1 ORDER BY id")?;
        Ok(query.query_map([session], |r| Ok((r.get(0)?, read_author(r.get(1)?))))?.collect::<rusqlite::Result<_>>()?)
    }

    /// What was closed of a session on request, in the order of its closing: words, time, by whom.
    pub(crate) fn closings_on_request(&self, session: i64) -> Result<Vec<(String, Millis, Author)>> {
        let mut query = self.db.prepare_cached("SELECT text, at, author FROM user_closed WHERE of = ?1 ORDER BY at, id")?;
        let closed = query.query_map([session], |r| Ok((r.get(0)?, r.get(1)?, read_author(r.get(2)?))))?;
        Ok(closed.collect::<rusqlite::Result<_>>()?)
    }

    /// Reopens an item. False when it was not closed.
    pub(crate) fn reopen_item(&mut self, item: &ListedItem) -> Result<bool> {
        let tx = self.db.transaction()?;
        FileIdentity::check(self.file, &self.path)?;
        let gone = tx.execute("DELETE FROM user_closed WHERE id = ?1", [&item.id])? > 0;
        tx.execute("UPDATE session SET page_dirty = 1 WHERE pk = ?1 AND ?2", params![item.session, gone])?;
        tx.commit()?;
        Ok(gone)
    }

    /// What the user closed of a session: item id, text, time.
    pub(super) fn user_closings(&self, session: i64) -> Result<Vec<(String, String, Millis)>> {
        let mut query = self.db.prepare_cached("SELECT id, text, at FROM user_closed WHERE of = ?1 ORDER BY id")?;
        Ok(query.query_map([session], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?.collect::<rusqlite::Result<_>>()?)
    }
}
