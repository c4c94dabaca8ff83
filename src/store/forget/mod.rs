//! Taking things out for good: rows and whole sessions, with all that was made of them.
//!
//! What is taken out is overwritten (`secure_delete`, and FTS5's own). So that it does not come back from a transcript that still lies
//! there, the keys of rows and the ids of sessions are kept: never a text.

mod find;
pub(super) mod take;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use anyhow::Result;
use rusqlite::{Transaction, params};

use super::bundle;
use super::{Store, copy, notes};
use crate::phrase::Phrase;
use crate::session::{Millis, RowKey};

/// Whether nothing is left of a session.
pub(super) const EMPTY: &str =
    "NOT EXISTS (SELECT 1 FROM source WHERE session = session.pk) AND NOT EXISTS (SELECT 1 FROM digest WHERE session = session.pk)";

/// What is to go, by sessions' places in the index.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Doomed {
    /// Sessions that go whole.
    pub whole: BTreeSet<i64>,
    /// Rows of sessions that stay.
    pub rows: BTreeMap<i64, BTreeSet<RowKey>>,
    /// Sessions that stay and whose digest goes: because a row did, or because the text is the digest's own.
    pub digests: BTreeSet<i64>,
    /// Digests that others have replaced, with their sessions.
    pub replaced: BTreeMap<i64, i64>,
    /// Remembered notes, by their places in the index.
    pub notes: BTreeSet<i64>,
}

impl Doomed {
    pub fn is_empty(&self) -> bool {
        self.sessions().is_empty() && self.notes.is_empty()
    }

    /// All sessions that lose something.
    pub fn sessions(&self) -> BTreeSet<i64> {
        self.whole.iter().chain(self.rows.keys()).chain(&self.digests).chain(self.replaced.values()).copied().collect()
    }
}

/// How much there is of what is to go.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    pub rows: usize,
    pub digests: usize,
    /// Pages that are rewritten or go.
    pub pages: usize,
}

/// Does a session that was forgotten stay so when it goes on?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasting {
    /// Nothing of it is ever taken in again.
    ForGood,
    /// What is new in it is.
    UntilItGoesOn,
}

impl Store {
    /// Sessions of which nothing is taken in any more.
    pub fn forgotten_sessions(&self) -> Result<HashSet<String>> {
        let mut query = self.db.prepare("SELECT id FROM forgotten_session")?;
        Ok(query.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }

    pub fn is_shut_out(&self, session: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM forgotten_session WHERE id = ?1)";
        Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0))?)
    }

    pub fn is_forgotten_row(&self, key: RowKey) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM forgotten_row WHERE key = ?1)";
        Ok(self.db.prepare_cached(sql)?.query_row([key.0], |r| r.get(0))?)
    }

    /// Notes that nothing of a session is to be taken in, known or not.
    pub fn shut_out(&self, session: &str) -> Result<()> {
        // A copy would not know of it.
        copy::taken_out(&self.db)?;
        self.db.execute("INSERT INTO forgotten_session VALUES (?1) ON CONFLICT DO NOTHING", [session])?;
        Ok(())
    }

    /// Takes out what is doomed, in one transaction. Pages are out of date afterwards; once they are written, `drop_emptied` ends it.
    pub fn take_out(&mut self, doomed: &Doomed, lasting: Lasting) -> Result<()> {
        let heads: Vec<_> = doomed.whole.iter().map(|pk| self.session_head(*pk)).collect::<Result<_>>()?;
        let notes: Vec<_> = doomed.notes.iter().map(|pk| self.note(*pk)).collect::<Result<_>>()?;
        let tx = self.db.transaction()?;
        for head in &heads {
            take::session(&tx, head, lasting)?;
        }
        if !heads.is_empty() {
            // Titles for conversations that are not known: whose they are cannot be told.
            take::lost_titles(&tx)?;
        }
        for (session, keys) in &doomed.rows {
            take::rows(&tx, *session, keys)?;
            take::never_again(&tx, keys)?;
        }
        for session in &doomed.digests {
            take::derived(&tx, *session)?;
        }
        for note in &notes {
            notes::remove(&tx, note)?;
        }
        for digest in doomed.replaced.keys() {
            take::leaves_traces(&tx)?;
            tx.execute("DELETE FROM digest WHERE pk = ?1", [digest])?;
        }
        tx.commit()?;
        Ok(())
    }

    /// Notes that nothing is taken in of what a session says where it tells no folder: those it tells are left out by themselves.
    pub fn exclude_session(&self, pk: i64) -> Result<()> {
        let sql = "INSERT INTO excluded_session SELECT id FROM session WHERE pk = ?1 ON CONFLICT DO NOTHING";
        self.db.execute(sql, [pk])?;
        Ok(())
    }

    /// Takes a text out of the places where it stands for no row and no digest.
    pub fn take_out_text(&mut self, phrase: &Phrase) -> Result<()> {
        let tx = self.db.transaction()?;
        take::titles(&tx, phrase)?;
        take::leftovers(&tx, phrase)?;
        notes::take_names(&tx, phrase)?;
        take::leaves_traces(&tx)?;
        tx.commit()?;
        Ok(())
    }

    /// Ends what `take_out` began: sessions of which nothing is left, once their pages are gone, and projects without any.
    pub fn drop_emptied(&mut self) -> Result<()> {
        let unused = "NOT EXISTS (SELECT 1 FROM session WHERE project = project.pk) AND NOT EXISTS (SELECT 1 FROM note WHERE project = project.pk)";
        // Mostly there is nothing, and to find that out takes no lock and looks at no session but those whose pages were to be written.
        let any = format!(
            "SELECT EXISTS (SELECT 1 FROM session WHERE page_dirty AND {EMPTY}) OR EXISTS (SELECT 1 FROM project WHERE {unused})"
        );
        if !self.db.query_row(&any, [], |r| r.get(0))? {
            return Ok(());
        }
        let tx = self.db.transaction()?;
        let with_page = "EXISTS (SELECT 1 FROM page WHERE session = session.pk)";
        // A page that could not be removed is tried again.
        tx.execute(&format!("UPDATE session SET page_dirty = 1 WHERE {EMPTY} AND {with_page}"), [])?;
        let dropped = tx.execute(&format!("DELETE FROM session WHERE {EMPTY} AND NOT {with_page}"), [])?;
        tx.execute(&format!("DELETE FROM project WHERE {unused}"), [])?;
        if dropped > 0 {
            take::leaves_traces(&tx)?;
        }
        tx.commit()?;
        Ok(())
    }

    /// How much would go.
    pub fn extent(&self, doomed: &Doomed) -> Result<Extent> {
        let one = |sql: &str, session: i64| -> Result<i64> { Ok(self.db.prepare_cached(sql)?.query_row([session], |r| r.get(0))?) };
        let mut extent = Extent { rows: doomed.rows.values().map(BTreeSet::len).sum(), ..Extent::default() };
        let mut days = BTreeSet::new();
        for session in doomed.sessions() {
            if doomed.whole.contains(&session) {
                extent.rows += self.rows_of(session)?;
            }
            extent.digests += match doomed.whole.contains(&session) || doomed.digests.contains(&session) {
                true => one("SELECT count(*) FROM digest WHERE session = ?1", session)? as usize,
                false => doomed.replaced.values().filter(|of| **of == session).count(),
            };
            let pages = self.pages_of(session)?;
            extent.pages += pages.len();
            days.extend(pages.into_iter().map(|page| page.day));
        }
        extent.pages += days.len();
        Ok(extent)
    }

    /// Rows that a session has in the index.
    pub fn rows_of(&self, session: i64) -> Result<usize> {
        let keys: BTreeSet<RowKey> = bundle::rows_of(&self.db, session)?.iter().map(|kept| kept.line.key).collect();
        Ok(keys.len())
    }

    /// Where in the index the text still stands, by table.
    pub fn still_in(&self, phrase: &Phrase) -> Result<Vec<String>> {
        find::tables_with(&self.db, phrase)
    }

    /// Sessions whose last activity was before a moment.
    pub fn inactive_since(&self, moment: Millis) -> Result<BTreeSet<i64>> {
        // Some transcripts tell no times: then it is when the file grew.
        let mut query = self.db.prepare("SELECT pk FROM session WHERE coalesce(last_at, grew_at) < ?1")?;
        Ok(query.query_map([moment], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
    }
}

/// Takes back what was forgotten of a session: somebody wants it in again. What is private stays out.
pub(super) fn readmit(tx: &Transaction<'_>, session: &str, keys: impl Iterator<Item = RowKey>) -> Result<()> {
    tx.prepare_cached("DELETE FROM forgotten_session WHERE id = ?1")?.execute([session])?;
    let mut row = tx.prepare_cached("DELETE FROM forgotten_row WHERE key = ?1 AND NOT private")?;
    for key in keys {
        row.execute(params![key.0])?;
    }
    Ok(())
}

/// The folder of a transcript, without the session's own name in it: what people named.
pub fn folder_of(path: &str, session: &str) -> String {
    Path::new(path).parent().map_or_else(String::new, |dir| dir.to_string_lossy().replace(session, ""))
}
