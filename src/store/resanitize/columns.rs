//! Resanitizes texts that have a column of their own: titles, reasons, errors, names.

use anyhow::Result;
use rusqlite::{Transaction, params};

use crate::store::chunk::RecordIndex;
use crate::store::forget::removal;
use transcripts::privacy::Sanitizer;
use transcripts::session::RecordKey;

/// A text column, and the statement that changes it. A run report is deleted rather than changed: a report with a part missing is no
/// report.
const TEXTS: [(&str, &str, &str); 4] = [
    ("attempt", "error", "UPDATE OR REPLACE attempt SET error = ?2 WHERE error = ?1"),
    ("session", "skip", "UPDATE session SET skip = nullif(?2, '') WHERE skip = ?1"),
    ("session", "end_reason", "UPDATE session SET end_reason = nullif(?2, '') WHERE end_reason = ?1"),
    ("run", "report", "DELETE FROM run WHERE report = ?1 AND ?2 IS NOT ?1"),
];

pub(super) fn clean(tx: &Transaction<'_>, sanitizer: &Sanitizer) -> Result<u64> {
    let mut changed =
        clean_titles(tx, sanitizer)? + clean_list(tx, "branches", sanitizer)? + clean_list(tx, "versions", sanitizer)?;
    for (table, column, change) in TEXTS {
        // The names come from the table above.
        let texts: Vec<String> = tx
            .prepare(&format!("SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"))?
            .query_map([], |r| r.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for text in texts {
            let clean = sanitizer.clean(&text);
            if clean != text {
                changed += tx.execute(change, [&text, &clean])? as u64;
            }
        }
    }
    Ok(changed)
}

fn clean_titles(tx: &Transaction<'_>, sanitizer: &Sanitizer) -> Result<u64> {
    let titles: Vec<([u8; 16], String)> = tx
        .prepare("SELECT leaf, text FROM leaf_title")?
        .query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let cleaned = titles.into_iter().map(|(leaf, text)| (leaf, sanitizer.clean(&text), text));
    let unclean: Vec<_> = cleaned.filter(|(_, clean, text)| clean != text).collect();
    if unclean.is_empty() {
        return Ok(0);
    }
    let (changed, mut whereabouts) = (unclean.len() as u64, RecordIndex::load(tx)?);
    for (leaf, clean, text) in unclean {
        for session in whereabouts.sessions_with(tx, RecordKey(leaf))? {
            tx.execute("DELETE FROM doc WHERE session = ?1", [session])?;
        }
        if clean.is_empty() {
            tx.execute("DELETE FROM leaf_title WHERE leaf = ?1 AND text = ?2", params![leaf, text])?;
            removal::remove_derived_from_title(tx, &mut whereabouts, RecordKey(leaf))?;
        } else {
            let sql = "UPDATE OR REPLACE leaf_title SET text = ?3 WHERE leaf = ?1 AND text = ?2";
            tx.execute(sql, params![leaf, text, clean])?;
        }
    }
    Ok(changed)
}

/// A column of `source` that holds a JSON list of names.
fn clean_list(tx: &Transaction<'_>, column: &str, sanitizer: &Sanitizer) -> Result<u64> {
    let lists: Vec<String> = tx
        .prepare(&format!("SELECT DISTINCT {column} FROM source"))?
        .query_map([], |r| r.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut changed = 0;
    for list in lists {
        let names: Vec<String> = serde_json::from_str(&list)?;
        let clean: Vec<String> = names.iter().map(|name| sanitizer.clean(name)).filter(|name| !name.is_empty()).collect();
        if clean != names {
            let pages = format!("UPDATE session SET page_dirty = 1 WHERE pk IN (SELECT session FROM source WHERE {column} = ?1)");
            tx.execute(&pages, [&list])?;
            let found = format!("DELETE FROM doc WHERE session IN (SELECT session FROM source WHERE {column} = ?1)");
            tx.execute(&found, [&list])?;
            let sql = format!("UPDATE source SET {column} = ?2 WHERE {column} = ?1");
            changed += tx.execute(&sql, [&list, &serde_json::to_string(&clean)?])? as u64;
        }
    }
    Ok(changed)
}
