//! The items that a session owns: of records that several sessions hold, the first one owns them.

use std::collections::HashSet;

use anyhow::Result;
use rusqlite::Connection;

use super::chunk::{CopyKey, StoredItem, copy_key, each_item, earlier_forks, items_of};
use super::denied::DeniedReplies;
use super::load;
use super::undone::Undone;
use crate::model::session_head::SessionHead;

/// The items a session owns: without those that belong to an earlier session and without undone turns. Replies that were taken out have no
/// text.
pub(crate) fn owned_items(db: &Connection, head: &SessionHead) -> Result<Vec<StoredItem>> {
    let undone = Undone::of(db, head)?;
    let mut rows = owned_items_with_undone(db, head)?;
    if !undone.is_empty() {
        rows.retain(|kept| !undone.holds(kept));
    }
    let denied = DeniedReplies::all(db)?;
    rows.iter_mut().for_each(|kept| kept.denied = denied.has(kept.line.key));
    Ok(rows)
}

/// The same including undone turns and replies that were taken out: forgetting must find those too.
pub(crate) fn owned_items_with_undone(db: &Connection, head: &SessionHead) -> Result<Vec<StoredItem>> {
    let mut rows = items_of(db, head.pk)?;
    let elsewhere = items_of_earlier_forks(db, head)?;
    if !elsewhere.is_empty() {
        rows.retain(|kept| !elsewhere.contains(&copy_key(&kept.line)));
    }
    Ok(rows)
}

/// Streams what `owned_items` returns, in the order of ingest: for a long session the list itself would take too much memory.
pub(crate) fn each_owned_item(db: &Connection, head: &SessionHead, mut each: impl FnMut(StoredItem) -> Result<()>) -> Result<()> {
    let (elsewhere, undone) = (items_of_earlier_forks(db, head)?, Undone::of(db, head)?);
    let denied = DeniedReplies::all(db)?;
    each_item(db, head.pk, |mut kept| {
        kept.denied = denied.has(kept.line.key);
        if undone.holds(&kept) || elsewhere.contains(&copy_key(&kept.line)) { Ok(()) } else { each(kept) }
    })
}

/// Items that earlier sessions hold (by start, then by id). A record that several sessions hold belongs to the first of them.
fn items_of_earlier_forks(db: &Connection, head: &SessionHead) -> Result<HashSet<CopyKey>> {
    let mut all = HashSet::new();
    for kin in earlier_forks(db, head)? {
        // What was undone there but continues here belongs to this session.
        let undone = Undone::of(db, &load::head_of_fork(db, kin)?)?;
        all.extend(items_of(db, kin)?.iter().filter(|kept| !undone.holds(kept)).map(|kept| copy_key(&kept.line)));
    }
    Ok(all)
}
