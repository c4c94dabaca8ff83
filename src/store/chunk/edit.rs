//! Edits to chunks. An edited chunk is rewritten as a whole, so nothing removed stays in it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use rusqlite::{Connection, params};

use super::packing::PackedChunk;
use super::usage::{self, MessageHash, StoredUsage};
use super::{ItemHeader, ItemKind, StoredItem, items_of, read_headers, texts};
use crate::store::codec::unpacked_len;
use transcripts::session::{Item, RecordKey};

/// The full contents of a chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkContents {
    pub(crate) items: Vec<(ItemHeader, Item)>,
    pub(crate) used: Vec<StoredUsage>,
}

impl ChunkContents {
    fn load(db: &Connection, pk: i64) -> Result<Self> {
        Ok(Self::load_below(db, pk, usize::MAX)?.unwrap_or_default())
    }

    /// Loads a chunk if its texts are shorter than `limit` bytes of JSON.
    pub(crate) fn load_below(db: &Connection, pk: i64, limit: usize) -> Result<Option<Self>> {
        let mut query = db.prepare_cached("SELECT moved, rows, used, said, done FROM bundle WHERE pk = ?1")?;
        let mut found = query.query([pk])?;
        let Some(r) = found.next()? else { return Ok(None) };
        let (said, done) = (r.get_ref(3)?.as_blob()?, r.get_ref(4)?.as_blob()?);
        if unpacked_len(said) + unpacked_len(done) >= limit {
            return Ok(None);
        }
        let (mut said, mut done) = (texts::<Item>(said)?.into_iter(), texts::<Item>(done)?.into_iter());
        let mut items = Vec::new();
        for line in read_headers(r.get_ref(1)?.as_blob()?, r.get(0)?)? {
            let item = if line.kind.is_done() { done.next() } else { said.next() };
            items.push((line, item.context("a stored record has no text")?));
        }
        Ok(Some(Self { items, used: usage::read(r.get_ref(2)?.as_blob()?)? }))
    }

    fn store(&self, db: &Connection, session: i64, pk: i64) -> Result<()> {
        if self.items.is_empty() && self.used.is_empty() {
            db.prepare_cached("DELETE FROM bundle WHERE pk = ?1")?.execute([pk])?;
            return Ok(());
        }
        PackedChunk::of(self)?.write(db, session, None, Some(pk))
    }
}

/// Replaces items of a session, or removes them (`None`).
pub(crate) fn replace_items(
    db: &Connection,
    session: i64,
    changes: impl Iterator<Item = (StoredItem, Option<Item>)>,
) -> Result<()> {
    let mut by_bundle: BTreeMap<i64, BTreeMap<u32, Option<Item>>> = BTreeMap::new();
    for (kept, item) in changes {
        by_bundle.entry(kept.bundle).or_default().insert(kept.nth, item);
    }
    for (pk, mut changes) in by_bundle {
        let mut whole = ChunkContents::load(db, pk)?;
        let changed = std::mem::take(&mut whole.items).into_iter().enumerate().filter_map(|(nth, (line, item))| {
            let item = changes.remove(&(nth as u32)).unwrap_or(Some(item))?;
            Some((ItemHeader { kind: ItemKind::of(&item), ..line }, item))
        });
        whole.items = changed.collect();
        whole.store(db, session, pk)?;
    }
    Ok(())
}

/// Removes records from a session, with all their items.
pub(crate) fn remove_records(db: &Connection, session: i64, keys: &BTreeSet<RecordKey>) -> Result<()> {
    let rows = items_of(db, session)?;
    replace_items(db, session, rows.into_iter().filter(|kept| keys.contains(&kept.line.key)).map(|kept| (kept, None)))
}

/// Removes the usage of these messages from a session.
pub(crate) fn remove_usage(db: &Connection, session: i64, messages: &BTreeSet<MessageHash>) -> Result<()> {
    let mut query = db.prepare_cached("SELECT pk FROM bundle WHERE session = ?1 AND used <> x''")?;
    let bundles: Vec<i64> = query.query_map(params![session], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
    for pk in bundles {
        let mut whole = ChunkContents::load(db, pk)?;
        let before = whole.used.len();
        whole.used.retain(|used| !messages.contains(&used.message));
        if whole.used.len() < before {
            whole.store(db, session, pk)?;
        }
    }
    Ok(())
}
