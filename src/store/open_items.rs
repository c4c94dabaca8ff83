//! Open items, and what closes them on request.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use rusqlite::{OptionalExtension, Transaction, params};

use super::files_beside::FileIdentity;
use super::notes::{read_author, stored_author};
use super::{Reader, Writer};
use crate::model::author::Author;
use text::tokenize::{covered_by, distinctive_words};
use transcripts::session::Millis;

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

pub(super) fn listed(r: &rusqlite::Row<'_>) -> rusqlite::Result<ListedItem> {
    Ok(ListedItem { id: r.get(0)?, session: r.get(1)?, kind: r.get(2)?, text: r.get(3)?, verified: r.get(4)? })
}

/// An open item in its life over sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenLife {
    /// The id of its first mention.
    pub(crate) id: String,
    /// The session of that.
    pub(crate) session: i64,
    /// The words of its last mention.
    pub(crate) text: String,
}

/// The ids of a life, by the id of one of its items.
const MENTIONS: &str = "(SELECT ?1 UNION ALL SELECT id FROM open_item WHERE life = (SELECT life FROM open_item WHERE id = ?1))";

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

impl Reader {
    /// Everything a session left open, closed or not, in the order of its digest.
    pub(crate) fn open_items_of(&self, session: i64) -> Result<Vec<ListedItem>> {
        let sql = "SELECT id, session, kind, text, verified FROM open_item WHERE session = ?1 ORDER BY place";
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query.query_map([session], listed)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Own ids of a session's open items that a later session or the user closed, in the order of its digest.
    pub(crate) fn closed_item_ids(&self, session: i64) -> Result<Vec<String>> {
        let states = self.item_states(session)?.0;
        Ok(states.into_iter().filter(|state| state.closed.is_some()).map(|state| state.own).collect())
    }

    /// The open item that an id means which starts with `prefix`: the last mention of its life, with the id of its first.
    ///
    /// # Errors
    /// When none or more than one matches, or the prefix is too short.
    pub(crate) fn find_open_item(&self, prefix: &str) -> Result<OpenLife> {
        if prefix.chars().count() < MIN_PREFIX {
            bail!("`{prefix}` is too short for an id: give at least {MIN_PREFIX} characters");
        }
        let sql = "SELECT id, session, kind, text, verified FROM open_item WHERE substr(id, 1, ?2) = ?1
             GROUP BY coalesce(life, id) ORDER BY id LIMIT 2";
        let mut query = self.db.prepare_cached(sql)?;
        let found: Vec<ListedItem> =
            query.query_map(params![prefix, prefix.chars().count() as i64], listed)?.collect::<rusqlite::Result<_>>()?;
        match found.as_slice() {
            [] => bail!("no open item with the id `{prefix}`: `recall close` lists those of this project"),
            [one] => self.life_of(one),
            _ => bail!("`{prefix}` fits more than one open item: give more of the id"),
        }
    }

    fn life_of(&self, item: &ListedItem) -> Result<OpenLife> {
        let mentions = self.mentions(item)?;
        let first = mentions.first().map_or((item.id.clone(), item.session), |first| (first.id.clone(), first.session));
        let last = mentions.last().map(|last| self.open_item(&last.id)).transpose()?.flatten();
        Ok(OpenLife { id: first.0, session: first.1, text: last.map_or_else(|| item.text.clone(), |last| last.text) })
    }

    /// The open item with this own id.
    pub(crate) fn open_item(&self, id: &str) -> Result<Option<ListedItem>> {
        let sql = "SELECT id, session, kind, text, verified FROM open_item WHERE id = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([id], listed).optional()?)
    }

    /// Who closed an item on request, if it was closed that way.
    pub(crate) fn closed_by(&self, item: &OpenLife) -> Result<Option<Author>> {
        let sql = format!("SELECT author FROM user_closed WHERE id IN {MENTIONS} ORDER BY at, id LIMIT 1");
        Ok(self.db.prepare_cached(&sql)?.query_row([&item.id], |r| Ok(read_author(r.get(0)?))).optional()?)
    }

    /// Which items of a session were closed on request, by item id, and by whom.
    pub(crate) fn closers_of(&self, session: i64) -> Result<Vec<(String, Author)>> {
        let mut query = self.db.prepare_cached("SELECT id, author FROM user_closed WHERE of = ?1 ORDER BY id")?;
        Ok(query.query_map([session], |r| Ok((r.get(0)?, read_author(r.get(1)?))))?.collect::<rusqlite::Result<_>>()?)
    }

    /// What the user closed of a session: item id, text, time.
    pub(super) fn user_closings(&self, session: i64) -> Result<Vec<(String, String, Millis)>> {
        let mut query = self.db.prepare_cached("SELECT id, text, at FROM user_closed WHERE of = ?1 ORDER BY id")?;
        Ok(query.query_map([session], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?.collect::<rusqlite::Result<_>>()?)
    }
}

impl Writer {
    /// Records that the user, or an agent on request, closed an item. False when that was on record already.
    pub(crate) fn close_item(&mut self, item: &OpenLife, at: Millis, by: &Author) -> Result<bool> {
        let tx = self.reader.db.transaction()?;
        FileIdentity::check(self.file, &self.reader.path)?;
        let sql = format!(
            "INSERT INTO user_closed(id, of, text, at, author) SELECT ?1, ?2, ?3, ?4, ?5
             WHERE NOT EXISTS (SELECT 1 FROM user_closed WHERE id IN {MENTIONS}) ON CONFLICT DO NOTHING"
        );
        let new = tx.execute(&sql, params![item.id, item.session, item.text, at, stored_author(by)])? > 0;
        if new {
            outdate_pages(&tx, item)?;
        }
        tx.commit()?;
        Ok(new)
    }

    /// Reopens an item. False when it was not closed.
    pub(crate) fn reopen_item(&mut self, item: &OpenLife) -> Result<bool> {
        let tx = self.reader.db.transaction()?;
        FileIdentity::check(self.file, &self.reader.path)?;
        let gone = tx.execute(&format!("DELETE FROM user_closed WHERE id IN {MENTIONS}"), [&item.id])? > 0;
        if gone {
            outdate_pages(&tx, item)?;
        }
        tx.commit()?;
        Ok(gone)
    }
}

/// All pages that list an item show how it stands.
fn outdate_pages(tx: &Transaction<'_>, item: &OpenLife) -> Result<()> {
    let sql = format!("UPDATE session SET page_dirty = 1 WHERE pk IN (SELECT session FROM open_item WHERE id IN {MENTIONS})");
    tx.execute(&sql, [&item.id])?;
    Ok(())
}
