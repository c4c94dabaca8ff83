//! What people said beside sessions: notes, what they closed, what they took out, what they forgot. Listed whole and put in place one by one,
//! for an exchange with other machines.

use std::collections::BTreeSet;

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};

use super::notes::{self, NewNote, read_author, stored_author};
use super::{Reader, Writer, lives};
use crate::analyze::denied::DeniedStatement;
use crate::model::author::Author;
use crate::store::chunk::RecordIndex;
use crate::store::erasure;
use crate::store::forget::{Permanence, RemovalPlan, removal};
use transcripts::session::{Millis, RecordKey};

/// Name of the fact that counts exchanges with other machines.
const EXCHANGES: &str = "exchanges";
/// Prefix of facts that name words of other machines which an exchange put into the index.
const HEARD: &str = "heard:";

/// An open item of a session that somebody closed on request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClosedItem {
    pub(crate) id: String,
    /// The session's whole id.
    pub(crate) session: String,
    pub(crate) text: String,
    pub(crate) at: Millis,
    pub(crate) by: Author,
}

/// A statement of a session that the user took out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Denial {
    /// The session's whole id.
    pub(crate) session: String,
    pub(crate) statement: DeniedStatement,
    pub(crate) at: Millis,
}

impl Reader {
    /// All items that were closed on request.
    pub(crate) fn items_closed_on_request(&self) -> Result<Vec<ClosedItem>> {
        let sql = "SELECT c.id, s.id, c.text, c.at, c.author FROM user_closed c JOIN session s ON s.pk = c.of ORDER BY s.id, c.id";
        let mut query = self.db.prepare_cached(sql)?;
        let item = |r: &rusqlite::Row<'_>| {
            Ok(ClosedItem { id: r.get(0)?, session: r.get(1)?, text: r.get(2)?, at: r.get(3)?, by: read_author(r.get(4)?) })
        };
        Ok(query.query_map([], item)?.collect::<rusqlite::Result<_>>()?)
    }

    /// All that the user took out because it is not so.
    pub(crate) fn denials(&self) -> Result<Vec<Denial>> {
        let sql = "SELECT s.id, w.id, w.words, w.at FROM wrong w JOIN session s ON s.pk = w.session ORDER BY s.id, w.id";
        let mut query = self.db.prepare_cached(sql)?;
        let denial = |r: &rusqlite::Row<'_>| {
            let statement = DeniedStatement::from_bytes(r.get(1)?, &r.get::<_, Vec<u8>>(2)?);
            Ok(Denial { session: r.get(0)?, statement, at: r.get(3)? })
        };
        Ok(query.query_map([], denial)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Keys of the records that the user forgot.
    pub(crate) fn rows_forgotten_everywhere(&self) -> Result<Vec<RecordKey>> {
        let mut query = self.db.prepare_cached("SELECT key FROM forgotten_row WHERE everywhere ORDER BY key")?;
        Ok(query.query_map([], |r| r.get(0).map(RecordKey))?.collect::<rusqlite::Result<_>>()?)
    }

    /// What an exchange that did not end put into the index: id and note of each word, as [`Writer::note_heard`] was given them.
    pub(crate) fn heard_in_part(&self) -> Result<Vec<(String, String)>> {
        let mut query = self.db.prepare_cached("SELECT substr(name, ?2), value FROM fact WHERE name GLOB ?1 || '*'")?;
        let rows = query.query_map(params![HEARD, HEARD.len() as i64 + 1], |r| Ok((r.get(0)?, r.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// How many exchanges with other machines this index has seen.
    pub(crate) fn exchanges(&self) -> Result<u64> {
        let sql = "SELECT value FROM fact WHERE name = ?1";
        let value: Option<String> = self.db.prepare_cached(sql)?.query_row([EXCHANGES], |r| r.get(0)).optional()?;
        Ok(value.and_then(|value| value.parse().ok()).unwrap_or_default())
    }
}

impl Writer {
    /// Puts a note in place of the one with this id, or adds it. Whether it is done stays as it is.
    ///
    /// Where a note of the project says the same under another id, the smaller id stays: whoever hears of both keeps the same one. Returns
    /// whether the note is stored now.
    pub(crate) fn put_note(&mut self, id: &str, new: &NewNote) -> Result<bool> {
        let same = self
            .notes_for(&new.project)?
            .into_iter()
            .find(|note| note.id != id && note.project.key == new.project && note.text == new.text);
        let known = self.note_with_id(id)?;
        let tx = self.reader.db.transaction()?;
        if let Some(same) = same {
            if same.id.as_str() < id {
                return Ok(false);
            }
            notes::remove(&tx, &same)?;
        }
        let closed = known.as_ref().and_then(|note| note.closed.clone());
        if let Some(note) = &known {
            notes::remove(&tx, note)?;
        }
        notes::insert(&tx, id, &NewNote { closed, ..new.clone() })?;
        notes::find_lives(&tx, &new.project, [&new.kind])?;
        tx.commit()?;
        Ok(true)
    }

    /// Removes the note with this id.
    pub(crate) fn remove_note(&mut self, id: &str) -> Result<()> {
        let Some(note) = self.note_with_id(id)? else { return Ok(()) };
        let tx = self.reader.db.transaction()?;
        notes::remove(&tx, &note)?;
        Ok(tx.commit()?)
    }

    /// Marks an item of a session as closed. Its text is kept where the session has such an item here: else it may say what was forgotten here
    /// since. Where it comes without one, that of the open item is taken. False if the session is not known.
    pub(crate) fn put_closed_item(&mut self, item: &ClosedItem) -> Result<bool> {
        let Some(of) = self.session_pk(&item.session)? else { return Ok(false) };
        let items = self.open_items_of(of)?;
        let found = lives::resolved(&items, &item.id, &item.text);
        let text = match found.first() {
            Some(open) if item.text.is_empty() => open.text.clone(),
            Some(_) => item.text.clone(),
            None => String::new(),
        };
        let tx = self.reader.db.transaction()?;
        let sql = "INSERT INTO user_closed(id, of, text, at, author) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET of = ?2, text = ?3, at = ?4, author = ?5";
        tx.execute(sql, params![item.id, of, text, item.at, stored_author(&item.by)])?;
        outdate_pages(&tx, of, &item.id)?;
        tx.commit()?;
        Ok(true)
    }

    /// Opens an item again.
    pub(crate) fn remove_closed_item(&mut self, session: &str, id: &str) -> Result<()> {
        let Some(of) = self.session_pk(session)? else { return Ok(()) };
        let tx = self.reader.db.transaction()?;
        erasure::mark_erase_due(&tx)?;
        tx.execute("DELETE FROM user_closed WHERE id = ?1", [id])?;
        outdate_pages(&tx, of, id)?;
        Ok(tx.commit()?)
    }

    /// Forgets records that were forgotten on another machine, wherever they are here. Returns how many sessions lose one.
    pub(crate) fn forget_rows(&mut self, keys: &BTreeSet<RecordKey>) -> Result<usize> {
        let known: BTreeSet<RecordKey> = self.rows_forgotten_everywhere()?.into_iter().collect();
        let new: BTreeSet<RecordKey> = keys.difference(&known).copied().collect();
        if new.is_empty() {
            return Ok(0);
        }
        let mut doomed = RemovalPlan::default();
        let mut whereabouts = RecordIndex::load(&self.db)?;
        for key in &new {
            for session in whereabouts.sessions_with(&self.db, *key)? {
                doomed.rows.entry(session).or_default().insert(*key);
            }
        }
        doomed.digests = doomed.rows.keys().copied().collect();
        self.take_out(&doomed, Permanence::ForGood)?;
        let tx = self.reader.db.transaction()?;
        removal::forbid_records(&tx, &new, Permanence::ForGood)?;
        tx.commit()?;
        Ok(doomed.digests.len())
    }

    /// Notes that a word of another machine is in the index, until the exchange ends.
    pub(crate) fn note_heard(&self, id: &str, note: &str) -> Result<()> {
        let sql = "INSERT INTO fact VALUES (?1 || ?2, ?3) ON CONFLICT DO UPDATE SET value = ?3";
        self.db.prepare_cached(sql)?.execute(params![HEARD, id, note])?;
        Ok(())
    }

    /// What is noted as heard is known elsewhere now.
    pub(crate) fn end_hearing(&self) -> Result<()> {
        self.db.execute("DELETE FROM fact WHERE name GLOB ?1 || '*'", [HEARD])?;
        Ok(())
    }

    /// All of the exchange that has this number is in the index.
    pub(crate) fn set_exchanges(&self, count: u64) -> Result<()> {
        let sql = "INSERT INTO fact VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2";
        self.db.execute(sql, params![EXCHANGES, count.to_string()])?;
        Ok(())
    }

    /// Lets a session that was forgotten be stored again.
    pub(crate) fn readmit_session(&mut self, session: &str) -> Result<()> {
        let tx = self.reader.db.transaction()?;
        super::forget::readmit(&tx, session, std::iter::empty())?;
        Ok(tx.commit()?)
    }
}

/// The pages that list an item show how it stands.
fn outdate_pages(db: &Connection, session: i64, item: &str) -> Result<()> {
    db.execute("UPDATE session SET page_dirty = 1 WHERE pk = ?1", [session])?;
    let life: Option<Option<String>> = db.query_row("SELECT life FROM open_item WHERE id = ?1", [item], |r| r.get(0)).optional()?;
    life.flatten().map_or(Ok(()), |life| lives::outdate_pages_of(db, &life))
}
