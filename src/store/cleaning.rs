//! Stored texts pass the gate again when its rules have changed.
//!
//! Session by session, each in a transaction: a run that is cut short begins again where texts still differ.

use anyhow::Result;
use rusqlite::{OptionalExtension, Transaction, params};

use super::pack::{pack, unpack};
use super::{Store, repeats, search};
use crate::digest::Digest;
use crate::privacy::{Conversation, Gate};
use crate::session::{Item, RowKey};

/// The name of the fact by which rules stored texts were cleaned.
const RULES: &str = "rules";

/// Columns that hold texts of their own, by table and key.
const TEXTS: &[(&str, &str)] = &[
    ("open_item", "text"),
    ("closed_item", "text"),
    ("user_closed", "text"),
    ("leaf_title", "text"),
    ("attempt", "error"),
    ("session", "skip"),
    ("source", "branches"),
    ("source", "versions"),
    ("run", "report"),
];

impl Store {
    /// Has all that is stored passed these rules?
    pub fn is_cleaned_by(&self, rules: &str) -> Result<bool> {
        let sql = "SELECT value FROM fact WHERE name = ?1";
        let known: Option<String> = self.db.query_row(sql, [RULES], |r| r.get(0)).optional()?;
        Ok(known.as_deref() == Some(rules))
    }

    /// Lets all that is stored pass the gate, which goes by these rules. Returns how many texts changed.
    pub fn clean(&mut self, gate: &Gate, rules: &str) -> Result<u64> {
        let sessions: Vec<i64> =
            self.db.prepare("SELECT pk FROM session")?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut changed = 0;
        for session in sessions {
            let tx = self.db.transaction()?;
            let of_session = clean_items(&tx, session, gate)? + clean_digests(&tx, session, gate)?;
            if of_session > 0 {
                tx.execute("UPDATE session SET page_dirty = 1 WHERE pk = ?1", [session])?;
            }
            tx.commit()?;
            changed += of_session;
        }
        let tx = self.db.transaction()?;
        for (table, column) in TEXTS {
            changed += clean_column(&tx, table, column, gate)?;
        }
        tx.execute("INSERT INTO fact VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2", [RULES, rules])?;
        tx.commit()?;
        Ok(changed)
    }
}

struct Stored {
    source: i64,
    offset: i64,
    part: i64,
    key: RowKey,
    body: Vec<u8>,
    main: bool,
}

fn clean_items(tx: &Transaction<'_>, session: i64, gate: &Gate) -> Result<u64> {
    let sql = "SELECT i.source, i.offset, i.part, i.key, i.body, f.agent = '' FROM item i JOIN source f ON f.pk = i.source
         WHERE i.session = ?1 ORDER BY i.source, i.offset, i.part";
    let mut query = tx.prepare_cached(sql)?;
    let items = query.query_map([session], |r| {
        Ok(Stored {
            source: r.get(0)?,
            offset: r.get(1)?,
            part: r.get(2)?,
            key: RowKey(r.get(3)?),
            body: r.get(4)?,
            main: r.get(5)?,
        })
    })?;
    let items: Vec<Stored> = items.collect::<rusqlite::Result<_>>()?;
    let mut conversation = Conversation::default();
    let mut source = None;
    let mut changed = 0;
    for stored in items {
        if source.replace(stored.source) != Some(stored.source) {
            conversation = Conversation::default();
        }
        let before: Item = unpack(&stored.body)?;
        let after = gate.pass_item(stored.key, before.clone(), &mut conversation);
        if after.as_ref() != Some(&before) {
            replace_item(tx, session, &stored, &before, after.as_ref())?;
            changed += 1;
        }
    }
    Ok(changed)
}

fn replace_item(tx: &Transaction<'_>, session: i64, stored: &Stored, before: &Item, after: Option<&Item>) -> Result<()> {
    if let Item::Prompt(text) = before {
        search::remove_prompt(tx, session, stored.key, stored.part, text)?;
    }
    let place = params![session, stored.source, stored.offset, stored.part];
    let Some(after) = after else {
        tx.prepare_cached("DELETE FROM item WHERE session = ?1 AND source = ?2 AND offset = ?3 AND part = ?4")?.execute(place)?;
        // What was said of it has to be said anew.
        tx.prepare_cached("UPDATE session SET dirty = 1 WHERE pk = ?1")?.execute([session])?;
        return Ok(());
    };
    let sql = "UPDATE item SET body = ?5 WHERE session = ?1 AND source = ?2 AND offset = ?3 AND part = ?4";
    tx.prepare_cached(sql)?.execute(params![session, stored.source, stored.offset, stored.part, pack(after)?])?;
    match after {
        Item::Prompt(text) if stored.main => search::add_prompt(tx, session, stored.key, stored.part, text),
        _ => Ok(()),
    }
}

fn clean_digests(tx: &Transaction<'_>, session: i64, gate: &Gate) -> Result<u64> {
    let mut query = tx.prepare_cached("SELECT pk, superseded, body FROM digest WHERE session = ?1")?;
    let digests = query.query_map([session], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    let digests: Vec<(i64, bool, Vec<u8>)> = digests.collect::<rusqlite::Result<_>>()?;
    let mut changed = 0;
    for (pk, superseded, body) in digests {
        let before: Digest = unpack(&body)?;
        let mut after = before.clone();
        after.pass(|text| gate.clean(text));
        if after == before {
            continue;
        }
        changed += 1;
        if !superseded {
            search::remove_digest(tx, session)?;
            repeats::drop_note(tx, session)?;
        }
        tx.prepare_cached("UPDATE digest SET body = ?2, title = ?3 WHERE pk = ?1")?.execute(params![
            pk,
            pack(&after)?,
            after.title
        ])?;
        if !superseded {
            search::add_digest(tx, session, &after)?;
        }
    }
    Ok(changed)
}

fn clean_column(tx: &Transaction<'_>, table: &str, column: &str, gate: &Gate) -> Result<u64> {
    // Names from the table above, not from anybody else.
    let texts: Vec<String> = tx
        .prepare(&format!("SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"))?
        .query_map([], |r| r.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut changed = 0;
    for text in texts {
        let clean = gate.redact(&text);
        if clean != text {
            changed +=
                tx.execute(&format!("UPDATE OR REPLACE {table} SET {column} = ?2 WHERE {column} = ?1"), [&text, &clean])? as u64;
        }
    }
    Ok(changed)
}
