//! The statements that remove data, all within one transaction.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use anyhow::Result;
use rusqlite::{OptionalExtension, Transaction, params};

use super::{Permanence, folder_of};
use crate::model::session_head::SessionHead;
use crate::store::chunk;
use crate::store::chunk::{CopyKey, MessageHash, RecordIndex, StoredUsage, copy_key};
use crate::store::digests::outdate_pages_that_follow;
use crate::store::erasure;
use crate::store::owned;
use crate::store::search;
use text::phrase::PhraseMatcher;
use transcripts::session::{Millis, RecordKey};

/// What was closed stays closed where other sessions say it too: its closings become those of the next mention, in that one's words.
const KEEP_CLOSINGS: [&str; 3] = [
    "INSERT OR IGNORE INTO closing SELECT m.id, c.session FROM closed_item c JOIN open_item o ON o.id = c.id
         JOIN open_item m ON m.life = o.life WHERE o.session = ?1 AND m.session <> ?1 AND c.session <> ?1",
    "INSERT OR IGNORE INTO closing SELECT m.id, c.session FROM closing c JOIN open_item o ON o.id = c.id
         JOIN open_item m ON m.life = o.life WHERE o.session = ?1 AND m.session <> ?1 AND c.session <> ?1",
    "UPDATE OR IGNORE user_closed SET (id, of, text) = (
         SELECT m.id, m.session, m.text FROM open_item o JOIN open_item m ON m.life = o.life
         WHERE o.id = user_closed.id AND m.session <> ?1 ORDER BY m.at, m.id LIMIT 1)
     WHERE of = ?1 AND EXISTS (SELECT 1 FROM open_item o JOIN open_item m ON m.life = o.life
         WHERE o.id = user_closed.id AND m.session <> ?1)",
];

/// What is deleted with a session. The session row itself stays, with its name only.
const DELETE_SESSION_DATA: [&str; 12] = [
    "DELETE FROM closed_item WHERE session = ?1 OR of = ?1",
    "DELETE FROM closing WHERE session = ?1",
    "DELETE FROM user_closed WHERE of = ?1",
    "DELETE FROM open_item WHERE session = ?1",
    "DELETE FROM digest WHERE session = ?1",
    "DELETE FROM likeness WHERE session = ?1",
    "DELETE FROM wrong WHERE session = ?1",
    "DELETE FROM attempt WHERE session = ?1",
    "DELETE FROM bundle WHERE session = ?1",
    "DELETE FROM source WHERE session = ?1",
    "DELETE FROM origin WHERE session = ?1",
    "UPDATE session SET dirty = 0, unindexed = 0, page_dirty = 1, skip = NULL, end_reason = NULL, ended_at = NULL WHERE pk = ?1",
];

/// Removes a session with the copies of its records that forks hold. Its row stays until its pages are removed.
pub(super) fn remove_session(tx: &Transaction<'_>, head: &SessionHead, lasting: Permanence) -> Result<()> {
    let pk = head.pk;
    erasure::mark_erase_due(tx)?;
    let owned = owned_keys(tx, head)?;
    for (session, keys) in copies(tx, head)? {
        remove_records(tx, session, &keys)?;
    }
    forbid_records(tx, &forbidden_keys(tx, head, lasting)?, lasting)?;
    for key in &owned {
        tx.prepare_cached("DELETE FROM leaf_title WHERE leaf = ?1")?.execute([key.0])?;
    }
    search::remove_document(tx, pk)?;
    outdate_pages_that_follow(tx, pk)?;
    let files = files_of(tx, pk)?;
    // Usage that copies report was the session's own.
    let messages: BTreeSet<MessageHash> = StoredUsage::of_session(tx, pk)?.into_keys().collect();
    for session in chunk::later_forks(tx, head)? {
        chunk::remove_usage(tx, session, &messages)?;
    }
    for sql in KEEP_CLOSINGS {
        tx.prepare_cached(sql)?.execute([pk])?;
    }
    for sql in DELETE_SESSION_DATA {
        tx.prepare_cached(sql)?.execute([pk])?;
    }
    tx.execute("DELETE FROM start WHERE session = ?1", [&head.id])?;
    // An excluded session goes on being one when the part that is kept of it is too old.
    if lasting == Permanence::ForGood || !is_excluded(tx, &head.id)? {
        tx.execute("DELETE FROM session_folder WHERE session = ?1", [&head.id])?;
    }
    if lasting == Permanence::WhileExcluded {
        for file in &files {
            tx.execute("DELETE FROM unknown_row WHERE file = (SELECT pk FROM file WHERE path = ?1)", [file])?;
        }
    }
    if lasting == Permanence::ForGood {
        tx.execute("DELETE FROM private_turn WHERE session = ?1", [&head.id])?;
        tx.execute("DELETE FROM asked WHERE session = ?1", [&head.id])?;
        tx.execute("DELETE FROM private_word WHERE session = ?1", [&head.id])?;
        tx.execute("INSERT INTO forgotten_session VALUES (?1) ON CONFLICT DO NOTHING", [&head.id])?;
        // Its own transcripts are no longer opened. Other files may hold sessions that stay.
        for file in files.iter().filter(|file| file.contains(&head.id)) {
            tx.execute("DELETE FROM file WHERE path = ?1", [file])?;
        }
    }
    Ok(())
}

fn owned_keys(tx: &Transaction<'_>, head: &SessionHead) -> Result<BTreeSet<RecordKey>> {
    Ok(owned::owned_items_with_undone(tx, head)?.iter().map(|kept| kept.line.key).collect())
}

/// The records that are not ingested again: all of a session's own, but those from before it came into an excluded folder.
fn forbidden_keys(tx: &Transaction<'_>, head: &SessionHead, lasting: Permanence) -> Result<BTreeSet<RecordKey>> {
    let sql = "SELECT cut_at FROM excluded_session WHERE id = ?1";
    let cut: Option<Millis> = tx.prepare_cached(sql)?.query_row([&head.id], |r| r.get(0)).optional()?;
    let cut = cut.filter(|_| lasting == Permanence::WhileExcluded).unwrap_or(0);
    let owned = owned::owned_items_with_undone(tx, head)?;
    Ok(owned.iter().filter(|kept| kept.line.at.is_none_or(|at| at >= cut)).map(|kept| kept.line.key).collect())
}

fn is_excluded(tx: &Transaction<'_>, session: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM excluded_session WHERE id = ?1)";
    Ok(tx.prepare_cached(sql)?.query_row([session], |r| r.get(0))?)
}

/// Records of other sessions that are copies of a session's own.
fn copies(tx: &Transaction<'_>, head: &SessionHead) -> Result<BTreeMap<i64, BTreeSet<RecordKey>>> {
    let own: HashSet<CopyKey> = owned::owned_items_with_undone(tx, head)?.iter().map(|kept| copy_key(&kept.line)).collect();
    let mut copies: BTreeMap<i64, BTreeSet<RecordKey>> = BTreeMap::new();
    for kin in chunk::forks_of(tx, head.pk)? {
        let rows = chunk::items_of(tx, kin)?;
        let keys: BTreeSet<RecordKey> =
            rows.iter().filter(|kept| own.contains(&copy_key(&kept.line))).map(|kept| kept.line.key).collect();
        if !keys.is_empty() {
            copies.insert(kin, keys);
        }
    }
    Ok(copies)
}

fn files_of(tx: &Transaction<'_>, session: i64) -> Result<Vec<String>> {
    let mut query = tx.prepare_cached("SELECT DISTINCT file FROM source WHERE session = ?1")?;
    Ok(query.query_map([session], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}

/// Removes records of one session, with all their items and the session's search document.
pub(in crate::store) fn remove_records(tx: &Transaction<'_>, session: i64, keys: &BTreeSet<RecordKey>) -> Result<()> {
    erasure::mark_erase_due(tx)?;
    search::remove_document(tx, session)?;
    chunk::remove_records(tx, session, keys)
}

/// Forbids ingesting records with these keys.
pub(in crate::store) fn forbid_records(tx: &Transaction<'_>, keys: &BTreeSet<RecordKey>, lasting: Permanence) -> Result<()> {
    let sql = "INSERT INTO forgotten_row(key, everywhere) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET everywhere = everywhere OR ?2";
    let mut insert = tx.prepare_cached(sql)?;
    for key in keys {
        insert.execute(params![key.0, lasting == Permanence::ForGood])?;
    }
    Ok(())
}

/// Removes everything derived from a session's records; it then needs a new digest.
pub(in crate::store) fn remove_derived(tx: &Transaction<'_>, session: i64) -> Result<()> {
    erasure::mark_erase_due(tx)?;
    search::remove_document(tx, session)?;
    outdate_pages_that_follow(tx, session)?;
    for sql in [
        "DELETE FROM open_item WHERE session = ?1",
        "DELETE FROM closed_item WHERE session = ?1",
        "DELETE FROM closing WHERE session = ?1",
        // A closed item stays closed, by its id; its words may be what is to be removed.
        "UPDATE closed_item SET text = '' WHERE of = ?1",
        "UPDATE user_closed SET text = '' WHERE of = ?1",
        "DELETE FROM digest WHERE session = ?1",
        "DELETE FROM likeness WHERE session = ?1",
        "DELETE FROM attempt WHERE session = ?1",
        "UPDATE session SET dirty = 1, page_dirty = 1, skip = NULL WHERE pk = ?1",
    ] {
        tx.prepare_cached(sql)?.execute([session])?;
    }
    Ok(())
}

/// Removes what was derived from a title, in all sessions that hold the record it belongs to.
pub(in crate::store) fn remove_derived_from_title(
    tx: &Transaction<'_>,
    whereabouts: &mut RecordIndex,
    leaf: RecordKey,
) -> Result<()> {
    erasure::mark_erase_due(tx)?;
    for session in whereabouts.sessions_with(tx, leaf)? {
        remove_derived(tx, session)?;
    }
    Ok(())
}

/// Removes titles for unknown conversations: they cannot be attributed to a session.
pub(super) fn remove_unattributed_titles(tx: &Transaction<'_>) -> Result<()> {
    let mut query = tx.prepare("SELECT DISTINCT leaf FROM leaf_title")?;
    let leaves: Vec<RecordKey> = query.query_map([], |r| r.get(0).map(RecordKey))?.collect::<rusqlite::Result<_>>()?;
    let mut whereabouts = RecordIndex::load(tx)?;
    for leaf in leaves {
        if whereabouts.sessions_with(tx, leaf)?.is_empty() {
            tx.prepare_cached("DELETE FROM leaf_title WHERE leaf = ?1")?.execute([leaf.0])?;
        }
    }
    Ok(())
}

/// Removes titles that contain a text; their summary records have no item of their own.
pub(super) fn remove_titles(tx: &Transaction<'_>, phrase: &PhraseMatcher) -> Result<()> {
    let mut query = tx.prepare("SELECT leaf, text FROM leaf_title")?;
    let all: Vec<(RecordKey, String)> =
        query.query_map([], |r| Ok((RecordKey(r.get(0)?), r.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    for (leaf, text) in all.into_iter().filter(|(_, text)| phrase.is_in(text)) {
        tx.execute("DELETE FROM leaf_title WHERE leaf = ?1 AND text = ?2", params![leaf.0, text])?;
        forbid_records(tx, &BTreeSet::from([RecordKey::of_title(leaf, &text)]), Permanence::ForGood)?;
    }
    Ok(())
}

/// A text column, and what to do when it contains a forgotten text.
const LEFTOVERS: [(&str, &str, &str); 7] = [
    ("closed_item", "text", "UPDATE closed_item SET text = '' WHERE text = ?1"),
    ("user_closed", "text", "UPDATE user_closed SET text = '' WHERE text = ?1"),
    ("attempt", "error", "DELETE FROM attempt WHERE error = ?1"),
    ("session", "skip", "UPDATE session SET skip = NULL WHERE skip = ?1"),
    ("session", "end_reason", "UPDATE session SET end_reason = NULL WHERE end_reason = ?1"),
    ("run", "report", "DELETE FROM run WHERE report = ?1"),
    ("unknown_row", "type", "DELETE FROM unknown_row WHERE type = ?1"),
];

/// Removes a text from data beside the records: errors, reasons, and paths of transcripts that are no longer read.
pub(super) fn remove_leftovers(tx: &Transaction<'_>, phrase: &PhraseMatcher) -> Result<()> {
    for (table, column, change) in LEFTOVERS {
        let sql = format!("SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL");
        for text in texts(tx, &sql)?.iter().filter(|text| phrase.is_in(text)) {
            tx.execute(change, [text])?;
        }
    }
    for folder in texts(tx, "SELECT DISTINCT folder FROM session_folder")?.iter().filter(|folder| phrase.is_in(folder)) {
        // Excluded sessions, of which nothing else is stored. Without their folder they would no longer be known for what they are.
        tx.execute("INSERT OR IGNORE INTO forgotten_session SELECT session FROM session_folder WHERE folder = ?1", [folder])?;
        let sql = "DELETE FROM session_folder WHERE session IN (SELECT session FROM session_folder WHERE folder = ?1)";
        tx.execute(sql, [folder])?;
    }
    for path in texts(tx, "SELECT path FROM file")?.iter().filter(|path| phrase.is_in(&folder_of(path, ""))) {
        tx.execute("DELETE FROM file WHERE path = ?1", [path])?;
    }
    for path in texts(tx, "SELECT DISTINCT file FROM start")?.iter().filter(|path| phrase.is_in(&folder_of(path, ""))) {
        tx.execute("DELETE FROM start WHERE file = ?1", [path])?;
    }
    Ok(())
}

fn texts(tx: &Transaction<'_>, sql: &str) -> Result<Vec<String>> {
    Ok(tx.prepare(sql)?.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}
