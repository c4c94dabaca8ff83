//! Sessions come into the index, are found in it and leave it here: the pages of others are named by which sessions are shown alike.

use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, params};

use crate::store::load::BEGINS_WITH_TIME;
use text::clean::id8;
use transcripts::client::Client;
use transcripts::session::Millis;

/// The number of a session in the index, if it is there.
pub(super) fn find(db: &Connection, id: &str) -> Result<Option<i64>> {
    Ok(db.prepare_cached("SELECT pk FROM session WHERE id = ?1")?.query_row([id], |r| r.get(0)).optional()?)
}

/// A new session of a project, by its number.
pub(super) fn add(db: &Connection, id: &str, project: i64, client: Client, grew_at: Millis) -> Result<i64> {
    // `RETURNING` would make a table for the answer, for every session.
    let sql = "INSERT INTO session(id, project, client, grew_at) VALUES (?1, ?2, ?3, ?4)";
    let pk = db.prepare_cached(sql)?.insert(params![id, project, client.key(), grew_at])?;
    outdate_pages_of_alike(db, id)?;
    Ok(pk)
}

/// Deletes a session, and what refers to it.
pub(super) fn remove(db: &Connection, pk: i64) -> Result<()> {
    let found: Option<String> =
        db.prepare_cached("SELECT id FROM session WHERE pk = ?1")?.query_row([pk], |r| r.get(0)).optional()?;
    let Some(id) = found else { return Ok(()) };
    db.prepare_cached("DELETE FROM session WHERE pk = ?1")?.execute([pk])?;
    outdate_pages_of_alike(db, &id)
}

/// The name of a page has more than eight characters of an id if another session is shown by the same: see
/// [`Reader::shares_id8`](super::Reader::shares_id8). A few pages too many are made again.
fn outdate_pages_of_alike(db: &Connection, id: &str) -> Result<()> {
    let any: bool = db.prepare_cached("SELECT EXISTS (SELECT 1 FROM page)")?.query_row([], |r| r.get(0))?;
    if !any {
        return Ok(());
    }
    let (start, shown) = (id.chars().take(8).collect::<String>(), id8(id));
    let sql = format!(
        "UPDATE session SET page_dirty = 1 WHERE id <> ?2 AND EXISTS (SELECT 1 FROM page WHERE session = session.pk) AND pk IN (
             SELECT pk FROM session WHERE id >= ?1 AND id < ?1 || char(1114111)
             UNION ALL SELECT s.pk FROM session s WHERE {BEGINS_WITH_TIME} AND substr(s.id, -8) = ?1)"
    );
    let mut outdate = db.prepare_cached(&sql)?;
    outdate.execute([&start, id])?;
    if shown != start {
        outdate.execute([&*shown, id])?;
    }
    Ok(())
}
