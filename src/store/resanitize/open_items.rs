//! Resanitizes open items and what closes them.
//!
//! An item's id is derived from its words, so a changed item gets a new id everywhere. A closed item stays closed, and a shown one can
//! still be closed.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use rusqlite::{Transaction, params};

use crate::model::digest::{Digest, renamed_item_id};
use crate::store::codec::{pack, unpack};
use transcripts::privacy::Sanitizer;

/// Tables of open items and of their closings, with the column that holds the item's session.
const TABLES: [(&str, &str); 3] = [("open_item", "session"), ("closed_item", "of"), ("user_closed", "of")];

pub(super) fn clean(tx: &Transaction<'_>, sanitizer: &Sanitizer) -> Result<u64> {
    let mut names = HashMap::new();
    let mut of = BTreeSet::new();
    let mut all = Vec::new();
    for (table, owner) in TABLES {
        let sql = format!("SELECT DISTINCT i.id, i.text, s.pk, s.id FROM {table} i JOIN session s ON s.pk = i.{owner}");
        let mut query = tx.prepare(&sql)?;
        let mut rows = query.query([])?;
        while let Some(r) = rows.next()? {
            let (id, text, session): (String, String, String) = (r.get(0)?, r.get(1)?, r.get(3)?);
            let clean = sanitizer.clean(&text);
            if clean != text {
                of.insert(r.get::<_, i64>(2)?);
                let new = renamed_item_id(&id, &session, &text, &clean).filter(|new| *new != id && !clean.is_empty());
                names.extend(new.map(|new| (id.clone(), new)));
            }
            all.push((table, id, text, clean));
        }
    }
    let mut changed = 0;
    for (table, id, text, clean) in &all {
        changed += rewrite(tx, table, id, text, clean, &names)?;
    }
    for (id, new) in &names {
        tx.execute("UPDATE OR REPLACE closing SET id = ?2 WHERE id = ?1", [id, new])?;
    }
    rename_in_digests(tx, &names)?;
    for session in of {
        tx.prepare_cached("UPDATE session SET page_dirty = 1 WHERE pk = ?1")?.execute([session])?;
    }
    Ok(changed)
}

fn rewrite(tx: &Transaction<'_>, table: &str, id: &str, text: &str, clean: &str, names: &HashMap<String, String>) -> Result<u64> {
    let new = names.get(id).map_or(id, String::as_str);
    if clean == text && new == id {
        return Ok(0);
    }
    // The names come from the table above.
    if clean.is_empty() && !text.is_empty() {
        return Ok(tx.execute(&format!("DELETE FROM {table} WHERE id = ?1 AND text = ?2"), params![id, text])? as u64);
    }
    // What it says has changed: the next digest finds what says the same.
    let anew = if table == "open_item" { ", life = NULL" } else { "" };
    let sql = format!("UPDATE OR REPLACE {table} SET id = ?3, text = ?4{anew} WHERE id = ?1 AND text = ?2");
    Ok(tx.execute(&sql, params![id, text, new, clean])? as u64)
}

fn rename_in_digests(tx: &Transaction<'_>, names: &HashMap<String, String>) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let mut query = tx.prepare("SELECT pk, body FROM digest")?;
    let mut rows = query.query([])?;
    let mut changed = Vec::new();
    while let Some(r) = rows.next()? {
        let mut digest: Digest = unpack(r.get_ref(1)?.as_blob()?)?;
        if digest.closes.iter().any(|id| names.contains_key(id)) {
            digest.rename_closed(|id| names.get(id).cloned());
            changed.push((r.get::<_, i64>(0)?, pack(&digest)?));
        }
    }
    for (pk, body) in changed {
        tx.prepare_cached("UPDATE digest SET body = ?2 WHERE pk = ?1")?.execute(params![pk, body])?;
    }
    Ok(())
}
