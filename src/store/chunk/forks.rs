//! Sessions that share records or messages: forks, and sessions that resumed another.
//!
//! Beside each chunk, four bytes are stored for each of its records and messages. When a record is stored, all these hashes are searched
//! for the same one in other sessions; if the full keys match, the two sessions are recorded as forks of each other. Reading a session
//! then only has to look at its forks.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use anyhow::Result;
use rusqlite::{Connection, params};

use super::usage::StoredUsage;
use super::{ItemHeader, items_of};
use crate::model::session_head::SessionHead;
use transcripts::session::RecordKey;

/// Which sessions may hold a record or message, by its four-byte hash. An entry has the hash in its upper half and the session in its
/// lower half.
#[derive(Debug, Default)]
pub(crate) struct RecordIndex {
    /// Sorted, without duplicates.
    sorted: Vec<u64>,
    /// For each value of the upper [`BUCKET_BITS`] bits, where its entries begin in `sorted`; the last element is the total. Empty until
    /// `sorted` is filled.
    begins: Vec<u32>,
    /// Unsorted tail of recent inserts; avoids a full sort for small ingests.
    recent: Vec<u64>,
    /// How many entries of `recent` were scanned since it was last merged.
    looked_at: usize,
}

/// Number of leading bits by which `sorted` is divided. The table takes 256 KB, and a lookup then reads one place in memory.
const BUCKET_BITS: u32 = 16;

/// `recent` is merged once this many of its entries were scanned per entry stored: sorting costs about as much.
const SCANS_BEFORE_MERGE: usize = 4;

/// Bits in the bitmap of wanted hashes: small enough for the L1 cache.
const BITMAP_BITS: usize = 1 << 17;

pub(super) fn hash(key: RecordKey) -> u32 {
    // Ids that people count up differ at the end; those of newer clients differ in the middle and at the end.
    let folded = u128::from_le_bytes(key.0);
    let folded = (folded >> 64) as u64 ^ (folded as u64).rotate_left(29);
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// Hashes of everything in a chunk, consecutive duplicates removed.
pub(super) fn hashes(lines: &[ItemHeader], used: &[StoredUsage]) -> Vec<u32> {
    let mut all: Vec<u32> = lines.iter().map(|line| hash(line.key)).collect();
    all.dedup();
    all.extend(used.iter().map(|used| used.message.hash()));
    all
}

pub(super) fn to_bytes(hashes: &[u32]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect()
}

impl RecordIndex {
    /// Loads the hashes of all chunks.
    pub(crate) fn load(db: &Connection) -> Result<Self> {
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
        self.recent.extend(hashes.map(|hash| u64::from(hash) << 32 | u64::from(session as u32)));
    }

    /// Pairs of a session in `new` and another that may hold the same record. `new` holds the hashes that were added last.
    pub(super) fn pairs(&mut self, new: &[(u32, i64)]) -> BTreeSet<(i64, i64)> {
        self.merge_if_due();
        let mut wanted = new.to_vec();
        wanted.sort_unstable();
        let mut pairs = BTreeSet::new();
        let mut meet = |hash: u32, other: i64| {
            let from = wanted.partition_point(|(known, _)| *known < hash);
            let met = wanted[from..].iter().take_while(|(known, _)| *known == hash).map(|(_, session)| *session);
            pairs.extend(met.filter(|session| *session != other).map(|session| (session, other)));
        };
        for same in wanted.chunk_by(|a, b| a.0 == b.0) {
            let hash = same[0].0;
            self.settled(hash).for_each(|other| meet(hash, other));
        }
        let mut sieve = vec![0_u64; BITMAP_BITS / 64];
        let place = |hash: u32| (hash as usize % BITMAP_BITS / 64, 1_u64 << (hash % 64));
        for (word, bit) in wanted.iter().map(|(hash, _)| place(*hash)) {
            sieve[word] |= bit;
        }
        for (hash, other) in self.recent.iter().copied().map(parts) {
            let (word, bit) = place(hash);
            if sieve[word] & bit != 0 {
                meet(hash, other);
            }
        }
        pairs
    }

    /// The sessions that hold a record.
    pub(crate) fn sessions_with(&mut self, db: &Connection, key: RecordKey) -> Result<BTreeSet<i64>> {
        self.merge_if_due();
        let wanted = hash(key);
        let recent = self.recent.iter().copied().map(parts).filter(|(hash, _)| *hash == wanted).map(|(_, session)| session);
        let maybe: BTreeSet<i64> = self.settled(wanted).chain(recent).collect();
        let mut sessions = BTreeSet::new();
        for session in maybe {
            if super::holds(db, session, key)? {
                sessions.insert(session);
            }
        }
        Ok(sessions)
    }

    /// The sessions that `sorted` lists for a hash.
    fn settled(&self, hash: u32) -> impl Iterator<Item = i64> {
        let near = (hash >> (32 - BUCKET_BITS)) as usize;
        let begins = |at: usize| self.begins.get(at).map_or(0, |begin| *begin as usize);
        let near = &self.sorted[begins(near)..begins(near + 1)];
        let from = near.partition_point(|entry| parts(*entry).0 < hash);
        near[from..].iter().copied().map(parts).take_while(move |(other, _)| *other == hash).map(|(_, session)| session)
    }

    /// Merges `recent` when due: scanning all of it in every transaction would take time quadratic in the size of the index.
    fn merge_if_due(&mut self) {
        self.looked_at += self.recent.len();
        if self.looked_at > SCANS_BEFORE_MERGE * (self.sorted.len() + self.recent.len()) {
            self.recent.sort_unstable();
            merge(&mut self.sorted, &mut self.recent);
            self.sorted.dedup();
            self.begins = begins(&self.sorted);
            self.looked_at = 0;
        }
    }
}

fn parts(entry: u64) -> (u32, i64) {
    ((entry >> 32) as u32, i64::from(entry as u32))
}

fn begins(sorted: &[u64]) -> Vec<u32> {
    let mut begins = vec![0; (1 << BUCKET_BITS) + 1];
    sorted.iter().for_each(|entry| begins[(entry >> (64 - BUCKET_BITS)) as usize + 1] += 1);
    let mut before = 0;
    for begin in &mut begins {
        before += *begin;
        *begin = before;
    }
    begins
}

/// Merges one sorted list into another from the end, so it needs no third buffer.
fn merge(into: &mut Vec<u64>, from: &mut Vec<u64>) {
    let mut left = into.len();
    into.resize(left + from.len(), 0);
    for to in (0..into.len()).rev() {
        let Some(last) = from.last() else { break };
        if left > 0 && into[left - 1] > *last {
            left -= 1;
            into[to] = into[left];
        } else {
            into[to] = *last;
            from.pop();
        }
    }
}

/// Records which of these pairs do share a record or message.
pub(super) fn record_forks(db: &Connection, pairs: &BTreeSet<(i64, i64)>) -> Result<()> {
    let mut known: BTreeMap<i64, HashSet<Vec<u8>>> = BTreeMap::new();
    for &(a, b) in pairs {
        let is_known = "SELECT EXISTS (SELECT 1 FROM kin WHERE session = ?1 AND other = ?2)";
        if db.prepare_cached(is_known)?.query_row([a, b], |r| r.get(0))? {
            continue;
        }
        for session in [a, b] {
            if let Entry::Vacant(place) = known.entry(session) {
                place.insert(keys_of(db, session)?);
            }
        }
        if !known[&a].is_disjoint(&known[&b]) {
            db.prepare_cached("INSERT OR IGNORE INTO kin VALUES (?1, ?2), (?2, ?1)")?.execute([a, b])?;
        }
    }
    Ok(())
}

fn keys_of(db: &Connection, session: i64) -> Result<HashSet<Vec<u8>>> {
    let messages = StoredUsage::of_session(db, session)?.into_keys().map(|message| message.to_string().into_bytes());
    Ok(items_of(db, session)?.iter().map(|kept| kept.line.key.0.to_vec()).chain(messages).collect())
}

/// The forks of a session: all that share records or messages with it.
pub(crate) fn forks_of(db: &Connection, session: i64) -> Result<Vec<i64>> {
    let mut query = db.prepare_cached("SELECT other FROM kin WHERE session = ?1 ORDER BY other")?;
    Ok(query.query_map([session], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}

/// The forks of a session that began earlier (ties: smaller id).
pub(crate) fn earlier_forks(db: &Connection, head: &SessionHead) -> Result<Vec<i64>> {
    forks_ordered(db, head, "<")
}

/// The forks of a session that began later (ties: greater id).
pub(crate) fn later_forks(db: &Connection, head: &SessionHead) -> Result<Vec<i64>> {
    forks_ordered(db, head, ">")
}

fn forks_ordered(db: &Connection, head: &SessionHead, is: &str) -> Result<Vec<i64>> {
    let sql = format!(
        "SELECT s.pk FROM kin k JOIN main.session s ON s.pk = k.other
         WHERE k.session = ?1 AND (coalesce(s.started_at, 9223372036854775807), s.id) {is} (?2, ?3) ORDER BY k.other"
    );
    let mut query = db.prepare_cached(&sql)?;
    Ok(query.query_map(params![head.pk, head.started_at, head.id], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However the entries are divided between `sorted` and `recent`.
        #[test]
        fn who_holds_the_same_is_found_however_it_came(
            steps in prop::collection::vec(prop::collection::vec((0u32..40, 1i64..9), 0..12), 1..40),
        ) {
            let (mut whereabouts, mut all) = (RecordIndex::default(), Vec::new());
            for new in steps {
                for (hash, session) in &new {
                    // Spread over the whole range, as real hashes are.
                    whereabouts.add(*session, std::iter::once(hash.wrapping_mul(0x9e37_79b9)));
                }
                all.extend(new.clone());
                let same = |session: i64| move |other: &&(u32, i64)| other.1 != session;
                let expected: BTreeSet<(i64, i64)> = new
                    .iter()
                    .flat_map(|(hash, session)| {
                        all.iter().filter(move |other| other.0 == *hash).filter(same(*session)).map(move |other| (*session, other.1))
                    })
                    .collect();
                let new: Vec<_> = new.iter().map(|(hash, session)| (hash.wrapping_mul(0x9e37_79b9), *session)).collect();
                prop_assert_eq!(whereabouts.pairs(&new), expected);
            }
        }
    }

    #[test]
    fn what_is_looked_through_does_not_grow_with_the_square_of_what_there_is() {
        let (mut whereabouts, mut looked_at, mut all) = (RecordIndex::default(), 0, 0);
        for session in 1..=400 {
            let new: Vec<(u32, i64)> =
                (0..50).map(|row| (hash(RecordKey::from_line(&session.to_string(), &[row])), session)).collect();
            whereabouts.add(session, new.iter().map(|(hash, _)| *hash));
            assert!(whereabouts.pairs(&new).is_empty());
            looked_at += whereabouts.recent.len();
            all += whereabouts.recent.len() + whereabouts.sorted.len();
        }
        assert!(looked_at < all / 5, "{looked_at} of {all}");
    }
}
