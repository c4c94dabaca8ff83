//! What rows say, many of them in one row of the index: alone they are too short to be compressed well, and a row and two entries of
//! indexes for each of them took most of the room and of the writing.
//!
//! A bundle holds items of one source in the order of the file: beside each other what they are known by, what was used for them, what was
//! said and what was done, so that who wants one does not unpack the others. One that is damaged costs at most [`FULL`] of text.

mod edit;
mod form;
mod gather;
mod kin;
mod packing;
mod usage;

use std::collections::{HashSet, VecDeque};

use anyhow::{Context, Result};
use rusqlite::{Connection, Rows, params};

pub use self::edit::{change, drop_messages, take_out};
pub use self::form::{Kind, Line};
pub use self::gather::{Gathered, Known, Place, Put};
pub use self::kin::{Whereabouts, kin_earlier, kin_later, kin_of};
pub use self::usage::{Message, Used};
use super::load::{self, SessionHead};
use super::pack::{Unreadable, unpack, unpacked_len};
use super::undone::Undone;
use crate::session::{Item, RowKey};

/// How long the JSON of a bundle's texts gets, in bytes. Longer ones are a little smaller and cost more when one is damaged.
pub const FULL: usize = 64 << 10;

/// Nobody needs to know how long the texts of so few bundles are.
const FEW: usize = 64;

/// An item's place, and what it is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    pub bundle: i64,
    /// Which of the bundle's items it is.
    pub nth: u32,
    /// Which of the texts beside its own.
    text: u32,
    pub source: i64,
    pub line: Line,
}

/// The items of a session in the order of sources, offsets and parts.
///
/// # Errors
/// When they cannot be read.
pub fn rows_of(db: &Connection, session: i64) -> Result<Vec<Kept>> {
    let mut all = Vec::new();
    each_row(db, session, |kept| {
        all.push(kept);
        Ok(())
    })?;
    all.sort_by_key(|kept| (kept.source, kept.line.offset, kept.line.part));
    Ok(all)
}

/// The items of a session one after the other, as they came in.
fn each_row(db: &Connection, session: i64, each: impl FnMut(Kept) -> Result<()>) -> Result<()> {
    let sql = "SELECT pk, source, moved, rows FROM bundle WHERE session = ?1 AND items > 0 ORDER BY pk";
    each_in(db.prepare_cached(sql)?.query([session])?, each)
}

/// The same of those of one source.
///
/// # Errors
/// As `rows_of`, or what `each` returns.
pub fn each_of_source(db: &Connection, session: i64, source: i64, each: impl FnMut(Kept) -> Result<()>) -> Result<()> {
    let sql = "SELECT pk, source, moved, rows FROM bundle WHERE session = ?1 AND source = ?2 AND items > 0 ORDER BY pk";
    each_in(db.prepare_cached(sql)?.query([session, source])?, each)
}

fn each_in(mut found: Rows<'_>, mut each: impl FnMut(Kept) -> Result<()>) -> Result<()> {
    while let Some(r) = found.next()? {
        let (bundle, source): (i64, i64) = (r.get(0)?, r.get(1)?);
        let (mut said, mut done) = (0, 0);
        for (nth, line) in (0..).zip(lines(r.get_ref(3)?.as_blob()?, r.get(2)?)?) {
            let texts = if line.kind.is_done() { &mut done } else { &mut said };
            each(Kept { bundle, nth, text: *texts, source, line })?;
            *texts += 1;
        }
    }
    Ok(())
}

/// How long the texts of a session are, in bytes of JSON, however they came in, and how many; 0 and 0 of one that has few bundles.
///
/// # Errors
/// When that cannot be read.
pub fn size_of(db: &Connection, session: i64) -> Result<(usize, usize)> {
    let sql = "SELECT items, said, done FROM bundle
         WHERE session = ?1 AND items > 0 AND (SELECT count(*) FROM bundle WHERE session = ?1) > ?2";
    let mut query = db.prepare_cached(sql)?;
    let mut found = query.query(params![session, FEW as i64])?;
    let (mut bytes, mut items) = (0, 0);
    while let Some(r) = found.next()? {
        let parts = [r.get_ref(1)?.as_blob()?, r.get_ref(2)?.as_blob()?].map(|part| unpacked_len(part) as i64);
        items += r.get::<_, i64>(0)?;
        // Without the brackets around them.
        bytes += parts.iter().filter(|part| **part > 0).map(|part| part - 1).sum::<i64>();
    }
    // And without the commas and the other bracket.
    Ok(((bytes - items).max(0) as usize, items as usize))
}

fn lines(rows: &[u8], moved: i64) -> Result<Vec<Line>> {
    let mut lines = form::read(rows).map_err(|e| Unreadable::because(&e))?;
    lines.iter_mut().for_each(|line| line.offset = line.offset.wrapping_add(moved));
    Ok(lines)
}

/// The same without what belongs to a session that began earlier, and what the user took back.
///
/// # Errors
/// As `rows_of`.
pub fn owned_rows(db: &Connection, head: &SessionHead) -> Result<Vec<Kept>> {
    let undone = Undone::of(db, head)?;
    let mut rows = all_owned_rows(db, head)?;
    if !undone.is_empty() {
        rows.retain(|kept| !undone.holds(kept));
    }
    Ok(rows)
}

/// The same with what the user took back: for who forgets it.
///
/// # Errors
/// As `rows_of`.
pub fn all_owned_rows(db: &Connection, head: &SessionHead) -> Result<Vec<Kept>> {
    let mut rows = rows_of(db, head.pk)?;
    let elsewhere = held_earlier(db, head)?;
    if !elsewhere.is_empty() {
        rows.retain(|kept| !elsewhere.contains(&copy_of(&kept.line)));
    }
    Ok(rows)
}

/// What `owned_rows` returns one after the other, as they came in: a list of them takes room for a session that is long.
///
/// # Errors
/// As `rows_of`, or what `each` returns.
pub fn each_owned(db: &Connection, head: &SessionHead, mut each: impl FnMut(Kept) -> Result<()>) -> Result<()> {
    let (elsewhere, undone) = (held_earlier(db, head)?, Undone::of(db, head)?);
    each_row(db, head.pk, |kept| if undone.holds(&kept) || elsewhere.contains(&copy_of(&kept.line)) { Ok(()) } else { each(kept) })
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
    for kin in kin_earlier(db, head)? {
        // What was taken back there and goes on here is this session's.
        let undone = Undone::of(db, &load::head_of(db, kin)?)?;
        all.extend(rows_of(db, kin)?.iter().filter(|kept| !undone.holds(kept)).map(|kept| copy_of(&kept.line)));
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

/// Texts of items. Who takes them in the order of a session has every part of a bundle unpacked once, and no more than some of them at a
/// time, however many the session has.
pub struct Texts<'a> {
    db: &'a Connection,
    /// The one that was unpacked last is the last.
    held: VecDeque<Part>,
}

/// So many are held: of each file that goes on with another the two that its next rows are in.
const HELD: usize = 24;

/// What was said, or what was done, of a bundle. What was taken is `None`.
struct Part {
    bundle: i64,
    is_done: bool,
    items: Vec<Option<Item>>,
}

impl<'a> Texts<'a> {
    pub fn new(db: &'a Connection) -> Self {
        Self { db, held: VecDeque::new() }
    }

    /// The text of an item, once.
    ///
    /// # Errors
    /// When it cannot be read, or is not there.
    pub fn take(&mut self, kept: &Kept) -> Result<Item> {
        let is_done = kept.line.kind.is_done();
        let fits = |part: &Part| part.bundle == kept.bundle && part.is_done == is_done;
        let at = match self.held.iter().rposition(fits) {
            Some(at) => at,
            None => self.unpack(kept.bundle, is_done)?,
        };
        let item =
            self.held[at].items.get_mut(kept.text as usize).and_then(Option::take).filter(|item| Kind::of(item) == kept.line.kind);
        item.with_context(|| format!("no text for a row (bundle {})", kept.bundle)).map_err(|e| Unreadable::because(&e).into())
    }

    /// Returns where it is held.
    fn unpack(&mut self, bundle: i64, is_done: bool) -> Result<usize> {
        let sql = format!("SELECT {} FROM bundle WHERE pk = ?1", if is_done { "done" } else { "said" });
        let mut query = self.db.prepare_cached(&sql)?;
        let mut found = query.query(params![bundle])?;
        let row = found.next()?.with_context(|| format!("no bundle {bundle}"))?;
        let items = texts(row.get_ref(0)?.as_blob()?)?;
        if self.held.len() >= HELD {
            self.held.pop_front();
        }
        self.held.push_back(Part { bundle, is_done, items });
        Ok(self.held.len() - 1)
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
