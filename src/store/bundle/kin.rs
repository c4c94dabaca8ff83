//! Sessions that hold copies of the same rows, or tell of the same messages: forks, and what resumed another.
//!
//! Beside each bundle lie four bytes for every row and message in it. Who stores a row looks through all of them for others' and notes, once
//! it has seen the whole keys, that the two sessions are kin. Reading a session then asks for nothing but its kin.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use anyhow::Result;
use rusqlite::{Connection, params};

use super::usage::Used;
use super::{Line, rows_of};
use crate::session::RowKey;
use crate::store::load::SessionHead;

/// Where every row and message is, as far as four bytes tell: its hash above, the session below.
#[derive(Debug, Default)]
pub struct Whereabouts(Vec<u64>);

/// How many bits tell which hashes are looked for: few enough for the processor's nearest memory.
const SIEVE: usize = 1 << 17;

pub(super) fn hash(key: RowKey) -> u32 {
    // Ids that people count up differ in the end, those of newer clients in the end and the middle.
    let folded = u128::from_le_bytes(key.0);
    let folded = (folded >> 64) as u64 ^ (folded as u64).rotate_left(29);
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// Of what stands in a bundle, each once.
pub(super) fn hashes(lines: &[Line], used: &[Used]) -> Vec<u32> {
    let mut all: Vec<u32> = lines.iter().map(|line| hash(line.key)).collect();
    all.dedup();
    all.extend(used.iter().map(|used| used.message.hash()));
    all
}

pub(super) fn to_bytes(hashes: &[u32]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect()
}

impl Whereabouts {
    /// # Errors
    /// When the index cannot be read.
    pub fn load(db: &Connection) -> Result<Self> {
        let mut query = db.prepare_cached("SELECT session, hashes FROM bundle_hash")?;
        let mut found = query.query([])?;
        let mut all = Self::default();
        while let Some(r) = found.next()? {
            let session: i64 = r.get(0)?;
            let (hashes, _) = r.get_ref(1)?.as_blob()?.as_chunks::<4>();
            all.add(session, hashes.iter().map(|hash| u32::from_le_bytes(*hash)));
        }
        Ok(all)
    }

    pub(super) fn add(&mut self, session: i64, hashes: impl Iterator<Item = u32>) {
        self.0.extend(hashes.map(|hash| u64::from(hash) << 32 | u64::from(session as u32)));
    }

    /// Pairs of one of these sessions and another that may hold the same row. `new` are hashes of what was added last.
    pub(super) fn pairs(&self, new: &[(u32, i64)]) -> BTreeSet<(i64, i64)> {
        let mut sorted = new.to_vec();
        sorted.sort_unstable();
        let mut sieve = vec![0_u64; SIEVE / 64];
        let place = |hash: u32| (hash as usize % SIEVE / 64, 1_u64 << (hash % 64));
        for (hash, _) in &sorted {
            let (word, bit) = place(*hash);
            sieve[word] |= bit;
        }
        let mut pairs = BTreeSet::new();
        for entry in &self.0 {
            let (hash, other) = ((entry >> 32) as u32, i64::from(*entry as u32));
            let (word, bit) = place(hash);
            if sieve[word] & bit == 0 {
                continue;
            }
            let from = sorted.partition_point(|(known, _)| *known < hash);
            for (_, session) in sorted[from..].iter().take_while(|(known, _)| *known == hash) {
                if *session as u32 != other as u32 {
                    pairs.insert((*session, other));
                }
            }
        }
        pairs
    }

    /// The sessions that hold a row.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn sessions_with(&self, db: &Connection, key: RowKey) -> Result<BTreeSet<i64>> {
        let wanted = hash(key);
        let mut maybe: Vec<i64> =
            self.0.iter().filter(|entry| (*entry >> 32) as u32 == wanted).map(|entry| i64::from(*entry as u32)).collect();
        maybe.sort_unstable();
        maybe.dedup();
        let mut sessions = BTreeSet::new();
        for session in maybe {
            if super::holds(db, session, key)? {
                sessions.insert(session);
            }
        }
        Ok(sessions)
    }
}

/// Notes which of these pairs do hold the same.
pub(super) fn note(db: &Connection, pairs: &BTreeSet<(i64, i64)>) -> Result<()> {
    let mut known: BTreeMap<i64, HashSet<Vec<u8>>> = BTreeMap::new();
    for &(a, b) in pairs {
        let is_known = "SELECT EXISTS (SELECT 1 FROM kin WHERE session = ?1 AND other = ?2)";
        if db.prepare_cached(is_known)?.query_row([a, b], |r| r.get(0))? {
            continue;
        }
        for session in [a, b] {
            if let Entry::Vacant(place) = known.entry(session) {
                place.insert(all_of(db, session)?);
            }
        }
        if !known[&a].is_disjoint(&known[&b]) {
            db.prepare_cached("INSERT OR IGNORE INTO kin VALUES (?1, ?2), (?2, ?1)")?.execute([a, b])?;
        }
    }
    Ok(())
}

fn all_of(db: &Connection, session: i64) -> Result<HashSet<Vec<u8>>> {
    let messages = Used::of_session(db, session)?.into_keys().map(|message| message.to_string().into_bytes());
    Ok(rows_of(db, session)?.iter().map(|kept| kept.line.key.0.to_vec()).chain(messages).collect())
}

/// The sessions that hold some of the same.
///
/// # Errors
/// When the index cannot be read.
pub fn kin_of(db: &Connection, session: i64) -> Result<Vec<i64>> {
    let mut query = db.prepare_cached("SELECT other FROM kin WHERE session = ?1 ORDER BY other")?;
    Ok(query.query_map([session], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}

/// Those of them that began earlier, or have the smaller id.
pub(super) fn earlier(db: &Connection, head: &SessionHead) -> Result<Vec<i64>> {
    beside(db, head, "<")
}

/// Those of them that began later, or have the greater id.
///
/// # Errors
/// When the index cannot be read.
pub fn kin_later(db: &Connection, head: &SessionHead) -> Result<Vec<i64>> {
    beside(db, head, ">")
}

fn beside(db: &Connection, head: &SessionHead, is: &str) -> Result<Vec<i64>> {
    let sql = format!(
        "SELECT s.pk FROM kin k JOIN session s ON s.pk = k.other
         WHERE k.session = ?1 AND (coalesce(s.started_at, 9223372036854775807), s.id) {is} (?2, ?3) ORDER BY s.pk"
    );
    let mut query = db.prepare_cached(&sql)?;
    Ok(query.query_map(params![head.pk, head.started_at, head.id], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}
