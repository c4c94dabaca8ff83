//! What rows say, many of them in one row of the index: alone they are too short to be compressed well, and a row and two entries of
//! indexes for each of them took most of the room and of the writing.
//!
//! A bundle holds items of one source in the order of the file: beside each other what they are known by, what was used for them, what was
//! said and what was done, so that who wants one does not unpack the others. One that is damaged costs at most [`FULL`] of text.

mod edit;
mod form;
mod gather;
mod kin;
mod usage;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result};
use rusqlite::{Connection, params};

pub use self::edit::{change, drop_messages, take_out};
pub use self::form::{Kind, Line};
pub use self::gather::{Gathered, Known, Place, Put};
pub use self::kin::{Whereabouts, kin_later, kin_of};
pub use self::usage::{Message, Used};
use super::load::SessionHead;
use super::pack::{Unreadable, unpack};
use crate::session::{Item, RowKey};

/// How long the JSON of a bundle's texts gets, in bytes. Longer ones are a little smaller and cost more when one is damaged.
pub const FULL: usize = 64 << 10;

/// An item's place, and what it is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    pub bundle: i64,
    /// Which of the bundle's items it is.
    pub nth: usize,
    /// Which of the texts beside its own.
    text: usize,
    pub source: i64,
    pub line: Line,
}

/// The items of a session in the order of sources, offsets and parts.
///
/// # Errors
/// When they cannot be read.
pub fn rows_of(db: &Connection, session: i64) -> Result<Vec<Kept>> {
    let sql = "SELECT pk, source, moved, rows FROM bundle WHERE session = ?1 AND items > 0 ORDER BY pk";
    let mut query = db.prepare_cached(sql)?;
    let mut found = query.query([session])?;
    let mut all = Vec::new();
    while let Some(r) = found.next()? {
        let (bundle, source): (i64, i64) = (r.get(0)?, r.get(1)?);
        let (mut said, mut done) = (0, 0);
        for (nth, line) in lines(r.get_ref(3)?.as_blob()?, r.get(2)?)?.into_iter().enumerate() {
            let texts = if line.kind.is_done() { &mut done } else { &mut said };
            all.push(Kept { bundle, nth, text: *texts, source, line });
            *texts += 1;
        }
    }
    all.sort_by_key(|kept| (kept.source, kept.line.offset, kept.line.part));
    Ok(all)
}

fn lines(rows: &[u8], moved: i64) -> Result<Vec<Line>> {
    let mut lines = form::read(rows).map_err(|e| Unreadable::because(&e))?;
    lines.iter_mut().for_each(|line| line.offset = line.offset.wrapping_add(moved));
    Ok(lines)
}

/// The same without what belongs to a session that began earlier.
///
/// # Errors
/// As `rows_of`.
pub fn owned_rows(db: &Connection, head: &SessionHead) -> Result<Vec<Kept>> {
    let mut rows = rows_of(db, head.pk)?;
    let elsewhere = held_earlier(db, head)?;
    if !elsewhere.is_empty() {
        rows.retain(|kept| !elsewhere.contains(&copy_of(&kept.line)));
    }
    Ok(rows)
}

/// By what a copy of an item is known. A copy says the same under the same key: rows that merely share one, as hand-made transcripts do,
/// are no copies.
pub type CopyOf = (RowKey, i64, u32);

pub fn copy_of(line: &Line) -> CopyOf {
    (line.key, line.part, line.sum)
}

/// What sessions hold that began earlier, or have the smaller id: a row that several hold belongs to the first of them.
fn held_earlier(db: &Connection, head: &SessionHead) -> Result<HashSet<CopyOf>> {
    let mut all = HashSet::new();
    for kin in kin::earlier(db, head)? {
        all.extend(rows_of(db, kin)?.iter().map(|kept| copy_of(&kept.line)));
    }
    Ok(all)
}

/// Does a session hold anything of a row?
///
/// # Errors
/// As `rows_of`.
pub fn holds(db: &Connection, session: i64, key: RowKey) -> Result<bool> {
    Ok(rows_of(db, session)?.iter().any(|kept| kept.line.key == key))
}

/// Texts of items. Every part of a bundle is unpacked once.
pub struct Texts<'a> {
    db: &'a Connection,
    said: HashMap<i64, Vec<Option<Item>>>,
    done: HashMap<i64, Vec<Option<Item>>>,
}

impl<'a> Texts<'a> {
    pub fn new(db: &'a Connection) -> Self {
        Self { db, said: HashMap::new(), done: HashMap::new() }
    }

    /// The text of an item, once.
    ///
    /// # Errors
    /// When it cannot be read, or is not there.
    pub fn take(&mut self, kept: &Kept) -> Result<Item> {
        let (unpacked, column) = match kept.line.kind.is_done() {
            true => (&mut self.done, "done"),
            false => (&mut self.said, "said"),
        };
        let items = match unpacked.entry(kept.bundle) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let sql = format!("SELECT {column} FROM bundle WHERE pk = ?1");
                let mut query = self.db.prepare_cached(&sql)?;
                let mut found = query.query(params![kept.bundle])?;
                let row = found.next()?.with_context(|| format!("no bundle {}", kept.bundle))?;
                place.insert(texts(row.get_ref(0)?.as_blob()?)?)
            }
        };
        let item = items.get_mut(kept.text).and_then(Option::take).filter(|item| Kind::of(item) == kept.line.kind);
        item.with_context(|| format!("no text for a row (bundle {})", kept.bundle)).map_err(|e| Unreadable::because(&e).into())
    }
}

fn texts<T: serde::de::DeserializeOwned>(packed: &[u8]) -> Result<Vec<T>> {
    if packed.is_empty() { Ok(Vec::new()) } else { unpack(packed) }
}

/// Every item of every session, with the session's number.
///
/// # Errors
/// What `each` returns, or when one cannot be read.
pub fn for_each(db: &Connection, mut each: impl FnMut(i64, RowKey, &Item) -> Result<()>) -> Result<()> {
    let mut query = db.prepare("SELECT session, rows, said, done FROM bundle WHERE items > 0")?;
    let mut found = query.query([])?;
    while let Some(r) = found.next()? {
        let lines = lines(r.get_ref(1)?.as_blob()?, 0)?;
        let said = texts::<Item>(r.get_ref(2)?.as_blob()?).context("a stored row cannot be read")?;
        let done = texts::<Item>(r.get_ref(3)?.as_blob()?).context("a stored row cannot be read")?;
        let (mut said, mut done) = (said.iter(), done.iter());
        for line in lines {
            let next = if line.kind.is_done() { done.next() } else { said.next() };
            each(r.get(0)?, line.key, next.context("a stored row has no text")?)?;
        }
    }
    Ok(())
}
