//! Open items and what closes them: a later session's digest, or the user.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use rusqlite::params;

use super::Store;
use super::hold::Identity;
use super::notes::{author, author_text};
use crate::author::Author;
use crate::session::Millis;
use crate::terms::{covered_by, words};

/// Two wordings of an open item are one when they share this much of their telling words.
const SAME_ITEM: f64 = 0.6;
/// And this much the other way round.
const SAME_AT_LEAST: f64 = 0.5;

/// How many characters of an id people type at least.
const MIN_PREFIX: usize = 4;

/// A next step or a blocker as the index holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedItem {
    pub id: String,
    pub session: i64,
    /// `next` or `blocker`.
    pub kind: String,
    pub text: String,
    pub verified: bool,
}

fn listed(r: &rusqlite::Row<'_>) -> rusqlite::Result<ListedItem> {
    Ok(ListedItem { id: r.get(0)?, session: r.get(1)?, kind: r.get(2)?, text: r.get(3)?, verified: r.get(4)? })
}

/// An open item that is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub id: String,
    /// Who closed it, where that was an agent on request.
    pub by: Option<String>,
}

/// Wordings of open items, to tell which speak of the same thing.
#[derive(Debug, Default)]
pub struct Wordings(Vec<BTreeSet<String>>);

impl Wordings {
    /// Is one of them this one, in other words? A short wording is not the same as every longer one that holds its words.
    pub fn has(&self, text: &str) -> bool {
        let one = words(text);
        self.0.iter().any(|other| {
            let (mine, theirs) = (covered_by(&one, other), covered_by(other, &one));
            mine.max(theirs) >= SAME_ITEM && mine.min(theirs) >= SAME_AT_LEAST
        })
    }
}

impl<'a> Extend<&'a str> for Wordings {
    fn extend<T: IntoIterator<Item = &'a str>>(&mut self, texts: T) {
        self.0.extend(texts.into_iter().map(words));
    }
}

impl Store {
    /// What a session left open, closed or not, in the order of its digest.
    pub fn items_of(&self, session: i64) -> Result<Vec<ListedItem>> {
        let sql = "SELECT id, session, kind, text, verified FROM open_item WHERE session = ?1 ORDER BY place";
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query.query_map([session], listed)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The ids of a session's open items that a later session or the user has closed: by id, or in other words.
    pub fn closed_of(&self, session: i64) -> Result<Vec<String>> {
        let sql = "SELECT id, text FROM closed_item WHERE of = ?1 UNION SELECT id, text FROM user_closed WHERE of = ?1 ORDER BY id";
        let mut query = self.db.prepare_cached(sql)?;
        let closed: Vec<(String, String)> =
            query.query_map([session], |r| Ok((r.get(0)?, r.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        if closed.is_empty() {
            return Ok(Vec::new());
        }
        let mut items = self.items_of(session)?;
        // An id that is still there means itself; what became of another is told by the words.
        let (by_id, by_words): (Vec<_>, Vec<_>) = closed.iter().partition(|(id, _)| items.iter().any(|item| item.id == *id));
        let mut wordings = Wordings::default();
        wordings.extend(by_words.iter().map(|(_, text)| text.as_str()));
        items.retain(|item| by_id.iter().any(|(id, _)| *id == item.id) || wordings.has(&item.text));
        Ok(items.into_iter().map(|item| item.id).collect())
    }

    /// The same, with the agents that closed them.
    pub fn closings_of(&self, session: i64) -> Result<Vec<Closed>> {
        let ids = self.closed_of(session)?;
        let closers = if ids.is_empty() { Vec::new() } else { self.closers_of(session)? };
        let by = |id: &str| {
            let (_, by) = closers.iter().find(|(of, by)| of == id && matches!(by, Author::Agent { .. }))?;
            Some(by.text())
        };
        Ok(ids.into_iter().map(|id| Closed { by: by(&id), id }).collect())
    }

    /// The open item whose id starts with `prefix`.
    ///
    /// # Errors
    /// When none fits, or more than one.
    pub fn find_item(&self, prefix: &str) -> Result<ListedItem> {
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

    /// Notes that somebody closed an item: the user, or an agent on request. False when that is on record already.
    pub fn close_item(&mut self, item: &ListedItem, at: Millis, by: &Author) -> Result<bool> {
        let tx = self.db.transaction()?;
        Identity::check(self.file, &self.path)?;
        let sql = "INSERT INTO user_closed(id, of, text, at, author) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
        let new = tx.execute(sql, params![item.id, item.session, item.text, at, author_text(by)])? > 0;
        // Its pages show it as done.
        tx.execute("UPDATE session SET page_dirty = 1 WHERE pk = ?1 AND ?2", params![item.session, new])?;
        tx.commit()?;
        Ok(new)
    }

    /// Who closed an item on request, if anybody did.
    pub fn closer_of(&self, item: &ListedItem) -> Result<Option<Author>> {
        Ok(self.closers_of(item.session)?.into_iter().find(|(id, _)| *id == item.id).map(|(_, by)| by))
    }

    /// Who closed what of a session on request, by the items' ids.
    pub fn closers_of(&self, session: i64) -> Result<Vec<(String, Author)>> {
        let mut query = self.db.prepare_cached("SELECT id, author FROM user_closed WHERE of = ?1 ORDER BY id")?;
        Ok(query.query_map([session], |r| Ok((r.get(0)?, author(r.get(1)?))))?.collect::<rusqlite::Result<_>>()?)
    }

    /// Takes a closing back. False when there was none.
    pub fn reopen_item(&mut self, item: &ListedItem) -> Result<bool> {
        let tx = self.db.transaction()?;
        Identity::check(self.file, &self.path)?;
        let gone = tx.execute("DELETE FROM user_closed WHERE id = ?1", [&item.id])? > 0;
        tx.execute("UPDATE session SET page_dirty = 1 WHERE pk = ?1 AND ?2", params![item.session, gone])?;
        tx.commit()?;
        Ok(gone)
    }

    /// What was closed of a session on request: id, text, when.
    pub(super) fn user_closings(&self, session: i64) -> Result<Vec<(String, String, Millis)>> {
        let mut query = self.db.prepare_cached("SELECT id, text, at FROM user_closed WHERE of = ?1 ORDER BY id")?;
        Ok(query.query_map([session], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?.collect::<rusqlite::Result<_>>()?)
    }
}
