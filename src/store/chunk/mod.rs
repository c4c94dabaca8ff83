//! Chunks: items of a session stored together, many to one row of the database. A single item is too short to compress well, and one row
//! with two index entries for each took most of the space and most of the writing time.
//!
//! A chunk holds items of one source, in file order. Its parts are stored separately: item headers, token usage, what was said, and what
//! was done, so that reading one part does not unpack the others.
//!
//! ## Invariants
//! A damaged chunk costs at most [`MAX_CHUNK_BYTES`] bytes of text.

pub(crate) mod buffer;
mod edit;
pub(crate) mod forks;
pub(crate) mod item_header;
mod packing;
mod usage;

use std::collections::{BTreeSet, VecDeque};

use anyhow::{Context, Result};
use rusqlite::{Connection, Rows, params};
use serde::Deserialize;
use serde::de::DeserializeOwned;

pub(crate) use self::edit::{remove_records, remove_usage, replace_items};
pub(crate) use self::usage::{MessageHash, StoredUsage};
pub(crate) use crate::store::chunk::buffer::{ItemBuffer, ItemLocation, PutOutcome, StoredKeys};
pub(crate) use crate::store::chunk::forks::{RecordIndex, earlier_forks, forks_of, later_forks};
pub(crate) use crate::store::chunk::item_header::{ItemHeader, ItemKind};
use crate::store::codec::{UnreadableBody, has_checksum, unpack, unpacked_len};
use transcripts::session::{Item, RecordKey};

/// Target size of a chunk's texts, in bytes of JSON. Longer chunks compress slightly better and lose more when one is damaged.
pub(crate) const MAX_CHUNK_BYTES: usize = 64 << 10;

/// Sessions with at most this many chunks are short enough that nothing depends on their exact size.
const MAX_UNSIZED_CHUNKS: usize = 64;

/// A stored item: where it is, and its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredItem {
    pub(crate) bundle: i64,
    /// Position among the chunk's items.
    pub(crate) nth: u32,
    /// Position among the chunk's texts of its part (said or done).
    text: u32,
    pub(crate) source: i64,
    pub(crate) line: ItemHeader,
    /// A reply that was taken out: nobody is told its text.
    pub(in crate::store) denied: bool,
}

/// The items of a session, ordered by source, offset and part.
pub(crate) fn items_of(db: &Connection, session: i64) -> Result<Vec<StoredItem>> {
    let mut all = Vec::new();
    each_item(db, session, |kept| {
        all.push(kept);
        Ok(())
    })?;
    all.sort_by_key(|kept| (kept.source, kept.line.offset, kept.line.part));
    Ok(all)
}

/// Calls `each` for every item of a session, in the order in which they were ingested.
pub(in crate::store) fn each_item(db: &Connection, session: i64, each: impl FnMut(StoredItem) -> Result<()>) -> Result<()> {
    let sql = "SELECT pk, source, moved, rows FROM bundle WHERE session = ?1 AND items > 0 ORDER BY pk";
    each_in(db.prepare_cached(sql)?.query([session])?, each)
}

/// The same for the items of one source in chunks from this one on.
pub(crate) fn each_of_source_from(
    db: &Connection,
    (session, source): (i64, i64),
    chunk: i64,
    each: impl FnMut(StoredItem) -> Result<()>,
) -> Result<()> {
    let sql =
        "SELECT pk, source, moved, rows FROM bundle WHERE session = ?1 AND source = ?2 AND items > 0 AND pk >= ?3 ORDER BY pk";
    each_in(db.prepare_cached(sql)?.query([session, source, chunk])?, each)
}

/// The same for all items of one source.
pub(crate) fn each_of_source(db: &Connection, session: i64, source: i64, each: impl FnMut(StoredItem) -> Result<()>) -> Result<()> {
    each_of_source_from(db, (session, source), i64::MIN, each)
}

fn each_in(mut found: Rows<'_>, mut each: impl FnMut(StoredItem) -> Result<()>) -> Result<()> {
    while let Some(r) = found.next()? {
        let (bundle, source): (i64, i64) = (r.get(0)?, r.get(1)?);
        let (mut said, mut done) = (0, 0);
        for (nth, line) in (0..).zip(read_headers(r.get_ref(3)?.as_blob()?, r.get(2)?)?) {
            let texts = if line.kind.is_done() { &mut done } else { &mut said };
            each(StoredItem { bundle, nth, text: *texts, source, line, denied: false })?;
            *texts += 1;
        }
    }
    Ok(())
}

/// Bytes of JSON and number of the items of a session, independent of how they are divided into chunks; (0, 0) for a session with few
/// chunks.
pub(crate) fn text_size(db: &Connection, session: i64) -> Result<(usize, usize)> {
    let sql = "SELECT items, said, done FROM bundle
         WHERE session = ?1 AND items > 0 AND (SELECT count(*) FROM bundle WHERE session = ?1) > ?2";
    let mut query = db.prepare_cached(sql)?;
    let mut found = query.query(params![session, MAX_UNSIZED_CHUNKS as i64])?;
    let (mut bytes, mut items) = (0, 0);
    while let Some(r) = found.next()? {
        let parts = [r.get_ref(1)?.as_blob()?, r.get_ref(2)?.as_blob()?].map(|part| unpacked_len(part) as i64);
        items += r.get::<_, i64>(0)?;
        // Without the opening bracket of each part.
        bytes += parts.iter().filter(|part| **part > 0).map(|part| part - 1).sum::<i64>();
    }
    // Without the commas and the closing brackets: one of them for each item.
    Ok(((bytes - items).max(0) as usize, items as usize))
}

fn read_headers(rows: &[u8], moved: i64) -> Result<Vec<ItemHeader>> {
    let mut lines = crate::store::chunk::item_header::decode(rows).map_err(|e| UnreadableBody::because(&e))?;
    lines.iter_mut().for_each(|line| line.offset = line.offset.wrapping_add(moved));
    Ok(lines)
}

/// Identifies copies of an item. A copy has the same key and the same text; records that merely share a key, as in hand-made transcripts,
/// are not copies.
pub(crate) type CopyKey = (RecordKey, i64, u32);

pub(crate) fn copy_key(line: &ItemHeader) -> CopyKey {
    (line.key, line.part, line.sum)
}

/// Does a session hold any item of this record?
pub(crate) fn holds(db: &Connection, session: i64, key: RecordKey) -> Result<bool> {
    Ok(items_of(db, session)?.iter().any(|kept| kept.line.key == key))
}

/// Those of these records of which a session holds any item.
pub(crate) fn held_of(db: &Connection, session: i64, keys: &BTreeSet<RecordKey>) -> Result<BTreeSet<RecordKey>> {
    let mut held = BTreeSet::new();
    each_item(db, session, |kept| {
        held.extend(keys.get(&kept.line.key));
        Ok(())
    })?;
    Ok(held)
}

/// Reads the texts of items. Read in the session's order, every part of a chunk is unpacked once, and only a bounded number of parts is
/// held at a time.
pub(crate) struct TextReader<'a> {
    db: &'a Connection,
    /// Most recently unpacked last.
    held: VecDeque<UnpackedPart>,
}

/// How many unpacked parts are held: enough for both parts of the current chunk of each file of a session that continues over several
/// files.
const MAX_HELD_PARTS: usize = 24;

/// The unpacked texts of one part (said or done) of a chunk; `None` where a text was already taken.
struct UnpackedPart {
    bundle: i64,
    is_done: bool,
    items: Vec<Option<Item>>,
}

impl<'a> TextReader<'a> {
    pub(crate) fn new(db: &'a Connection) -> Self {
        Self { db, held: VecDeque::new() }
    }

    /// The text of an item; an empty one of a reply that was taken out. Can be taken only once.
    ///
    /// # Errors
    /// When it cannot be read or does not exist.
    pub(crate) fn take(&mut self, kept: &StoredItem) -> Result<Item> {
        let is_done = kept.line.kind.is_done();
        let fits = |part: &UnpackedPart| part.bundle == kept.bundle && part.is_done == is_done;
        let at = match self.held.iter().rposition(fits) {
            Some(at) => at,
            None => self.unpack(kept.bundle, is_done)?,
        };
        let item = self.held[at]
            .items
            .get_mut(kept.text as usize)
            .and_then(Option::take)
            .filter(|item| ItemKind::of(item) == kept.line.kind);
        let item = item.with_context(|| format!("no text for a record (chunk {})", kept.bundle));
        let item = item.map_err(|e| UnreadableBody::because(&e))?;
        Ok(if kept.denied && kept.line.kind == ItemKind::Reply { Item::Reply(String::new()) } else { item })
    }

    /// Returns its position in `held`.
    fn unpack(&mut self, bundle: i64, is_done: bool) -> Result<usize> {
        let sql = format!("SELECT {} FROM bundle WHERE pk = ?1", if is_done { "done" } else { "said" });
        let mut query = self.db.prepare_cached(&sql)?;
        let mut found = query.query(params![bundle])?;
        let row = found.next()?.with_context(|| format!("no chunk {bundle}"))?;
        let items = texts(row.get_ref(0)?.as_blob()?)?;
        if self.held.len() >= MAX_HELD_PARTS {
            self.held.pop_front();
        }
        self.held.push_back(UnpackedPart { bundle, is_done, items });
        Ok(self.held.len() - 1)
    }
}

fn texts<T: DeserializeOwned>(packed: &[u8]) -> Result<Vec<T>> {
    if packed.is_empty() { Ok(Vec::new()) } else { unpack(packed) }
}

/// A stored text of which only the kind is read.
#[derive(Deserialize)]
struct TextKind {
    kind: ItemKind,
}

/// Can all texts of a session be read, and are they of the kinds that their headers name? One whose checksum is right is what was stored:
/// that it was an item is not asked again.
///
/// # Errors
/// When one cannot be read, lacks or is another one.
pub(in crate::store) fn check_texts(db: &Connection, session: i64) -> Result<()> {
    let mut query = db.prepare_cached("SELECT pk, rows, said, done FROM bundle WHERE session = ?1 AND items > 0")?;
    let mut found = query.query([session])?;
    while let Some(r) = found.next()? {
        let headers = read_headers(r.get_ref(1)?.as_blob()?, 0)?;
        for (column, is_done) in [(2, false), (3, true)] {
            let kinds = kinds_of(r.get_ref(column)?.as_blob()?)?;
            let named = headers.iter().map(|line| line.kind).filter(|kind| kind.is_done() == is_done);
            if kinds.len() != named.clone().count() || !named.zip(kinds).all(|(named, kind)| named.is_named_as(kind)) {
                let lacks = anyhow::anyhow!("not the texts of its records (chunk {})", r.get::<_, i64>(0)?);
                return Err(UnreadableBody::because(&lacks).into());
            }
        }
    }
    Ok(())
}

/// The kinds of the texts of one part.
fn kinds_of(packed: &[u8]) -> Result<Vec<ItemKind>> {
    if has_checksum(packed) {
        return Ok(texts::<TextKind>(packed)?.into_iter().map(|text| text.kind).collect());
    }
    Ok(texts::<Item>(packed)?.iter().map(ItemKind::of).collect())
}

/// Calls `each` with every item of every session and the session's number.
pub(crate) fn for_each_stored_item(db: &Connection, mut each: impl FnMut(i64, RecordKey, &Item) -> Result<()>) -> Result<()> {
    let mut query = db.prepare("SELECT session, rows, said, done FROM bundle WHERE items > 0")?;
    let mut found = query.query([])?;
    while let Some(r) = found.next()? {
        let lines = read_headers(r.get_ref(1)?.as_blob()?, 0)?;
        let said = texts::<Item>(r.get_ref(2)?.as_blob()?).context("a stored record cannot be read")?;
        let done = texts::<Item>(r.get_ref(3)?.as_blob()?).context("a stored record cannot be read")?;
        let (mut said, mut done) = (said.iter(), done.iter());
        for line in lines {
            let next = if line.kind.is_done() { done.next() } else { said.next() };
            each(r.get(0)?, line.key, next.context("a stored record has no text")?)?;
        }
    }
    Ok(())
}
