//! Near-duplicate sessions, such as those of sessions that run daily. Pure.
//!
//! Sessions are compared by the distinctive words that were said in them and claimed of them. MinHash with banding avoids comparing all pairs: the words are hashed with many
//! functions, the minimum of each is kept, and only digests that agree on a whole band of minimums are compared.

use std::cell::RefCell;

use hashbrown::HashMap;

use crate::analyze::account::SessionAccount;
use crate::model::digest::Digest;
use text::tokenize::each_distinctive_word;
use transcripts::session::hash_parts;

/// The least Jaccard similarity of near-duplicates (numerator, denominator): shared words out of all words of both.
const MIN_SIMILARITY: (usize, usize) = (85, 100);
/// Digests with fewer words are too short to compare.
const MIN_WORDS: usize = 12;
/// With these numbers, two digests that are just similar enough share a band with probability 0.9991; two that share a third of their
/// words, with probability 0.05.
const BANDS: usize = 12;
const HASHES_IN_BAND: usize = 5;

/// The words of a session as sorted hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionWordSet(Vec<u32>);

impl SessionWordSet {
    /// What was said in a session, and what a model claimed of it. A title is none of these: of two sessions that begin with the same
    /// command it says the same.
    pub(crate) fn of(digest: &Digest, account: Option<&SessionAccount>) -> Self {
        let compared = digest.told().filter(|(section, _)| section.spec().compares);
        let claims = compared.map(|(_, claim)| claim.text.as_str());
        let turns = account.iter().flat_map(|account| &account.turns);
        let words = turns.flat_map(|turn| {
            let reply = turn.reply.iter().map(|reply| reply.text.as_str());
            turn.words.iter().map(|word| word.text.as_str()).chain(reply)
        });
        let mut hashes: Vec<u32> = Vec::new();
        WORD_HASHES.with_borrow_mut(|known| {
            claims.chain(words).for_each(|text| each_distinctive_word(text, |word| hashes.push(known.of(word))));
        });
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes)
    }

    /// The stored format: little-endian 32-bit hashes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
    }

    fn is_near_duplicate(&self, other: &Self) -> bool {
        let (less, more) = (self.0.len().min(other.0.len()), self.0.len().max(other.0.len()));
        if less * MIN_SIMILARITY.1 < more * MIN_SIMILARITY.0 {
            return false;
        }
        let (mut a, mut b, mut shared) = (0, 0, 0);
        while let (Some(mine), Some(theirs)) = (self.0.get(a), other.0.get(b)) {
            a += usize::from(mine <= theirs);
            b += usize::from(theirs <= mine);
            shared += usize::from(mine == theirs);
        }
        let all = self.0.len() + other.0.len() - shared;
        shared * MIN_SIMILARITY.1 >= all * MIN_SIMILARITY.0
    }

    /// Are there enough words to compare?
    fn tells(&self) -> bool {
        self.0.len() >= MIN_WORDS
    }

    /// One number per band of minimum hashes.
    fn bands(&self) -> [u64; BANDS] {
        let mut least = [[u64::MAX; HASHES_IN_BAND]; BANDS];
        for word in &self.0 {
            let word = mixed(spread(u64::from(*word)));
            for (least, factor) in least.as_flattened_mut().iter_mut().zip(FACTORS) {
                *least = (*least).min(word.wrapping_mul(factor));
            }
        }
        std::array::from_fn(|band| least[band].iter().fold(band as u64, |sum, least| mixed(spread(sum) ^ seed(*least))))
    }
}

thread_local! {
    static WORD_HASHES: RefCell<WordHashes> = RefCell::default();
}

/// The hashes of words that sessions have said: most words of a session were said before.
#[derive(Default)]
struct WordHashes(HashMap<String, u32>);

impl WordHashes {
    /// With so many they are forgotten.
    const MOST: usize = 1 << 15;

    fn of(&mut self, word: &str) -> u32 {
        if let Some(known) = self.0.get(word) {
            return *known;
        }
        if self.0.len() >= Self::MOST {
            self.0.clear();
        }
        let hash = hash_parts(&[word.as_bytes()]);
        let hash = u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]]);
        self.0.insert(word.to_owned(), hash);
        hash
    }
}

/// Each hash function multiplies by one of these odd numbers, and the high bits of the product decide: there are sixty for each word.
const FACTORS: [u64; BANDS * HASHES_IN_BAND] = {
    let mut factors = [0; BANDS * HASHES_IN_BAND];
    let mut at = 0;
    while at < factors.len() {
        factors[at] = mixed(seed(at as u64)) | 1;
        at += 1;
    }
    factors
};

const fn spread(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

const fn seed(number: u64) -> u64 {
    number.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD1B5_4A32_D192_ED03)
}

/// The last steps of SplitMix64.
#[inline]
const fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// For each digest, in session order, the index of the next near-duplicate.
///
/// The next rather than the last, so that a new digest changes only the entry of the one before it.
pub(crate) fn next_near_duplicates(all: &[SessionWordSet]) -> Vec<Option<usize>> {
    let mut next = vec![None; all.len()];
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, one) in all.iter().enumerate().rev().filter(|(_, one)| one.tells()) {
        let bands = one.bands();
        next[at] = nearest(&bands, &seen, |other| one.is_near_duplicate(&all[other]));
        for band in bands {
            seen.entry(band).or_default().push(at);
        }
    }
    next
}

/// Updates the result of [`next_near_duplicates`] after digests changed: `before` holds the old entries, with `None` for those to compute again,
/// which are the changed ones and those whose near-duplicate changed. `changed` is in ascending order.
pub(crate) fn update_near_duplicates(
    all: &[SessionWordSet],
    changed: &[usize],
    before: &[Option<Option<usize>>],
) -> Vec<Option<usize>> {
    let repeats = |one: &SessionWordSet, other: &SessionWordSet| {
        let share_band = || one.bands().iter().zip(other.bands()).any(|(mine, theirs)| *mine == theirs);
        one.tells() && other.tells() && one.is_near_duplicate(other) && share_band()
    };
    let next = |(at, before): (usize, &Option<Option<usize>>)| match *before {
        None => (at + 1..all.len()).find(|other| repeats(&all[at], &all[*other])),
        Some(next) => {
            let between = changed.iter().copied().filter(|other| at < *other && next.is_none_or(|next| *other < next));
            between.into_iter().find(|other| repeats(&all[at], &all[*other])).or(next)
        }
    };
    before.iter().enumerate().map(next).collect()
}

/// The nearest candidate that shares a band and satisfies `fits`. Each list of `seen` ends with its nearest.
fn nearest(bands: &[u64; BANDS], seen: &HashMap<u64, Vec<usize>>, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let mut lists: Vec<&[usize]> = bands.iter().filter_map(|band| seen.get(band).map(Vec::as_slice)).collect();
    loop {
        let candidate = *lists.iter().filter_map(|list| list.last()).min()?;
        if fits(candidate) {
            return Some(candidate);
        }
        for list in &mut lists {
            if let Some((last, rest)) = list.split_last().filter(|(last, _)| **last == candidate) {
                debug_assert_eq!(*last, candidate);
                *list = rest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::digest::Claim;
    use crate::model::section::Section;
    use proptest::prelude::*;
    use transcripts::session::RecordKey;

    fn digest(completed: &str) -> Digest {
        Digest { title: "Nightly report of the orders".into(), ..Digest::default() }
            .with(Section::Completed, [Claim::supported(completed, vec![RecordKey([7; 16])])])
    }

    const REPORT: &str = "Counted the open orders by country, wrote the table into reports/nightly.md, checked totals against the ledger, \
        mailed the summary to finance, archived yesterday's file, and verified that the export job had finished without warnings.";

    #[test]
    fn the_next_that_says_nearly_the_same_is_found_whatever_stands_between() {
        let all = [
            digest(&format!("{REPORT} 1204 orders.")),
            digest(
                "Moved the order list to keyset pagination, added an index on created_at and id, removed offsets from both queries.",
            ),
            digest(&format!("{REPORT} 1187 orders.")),
            digest("too short"),
            digest("too short"),
            digest(&format!("{REPORT} 998 orders.")),
        ];
        let all: Vec<SessionWordSet> = all.iter().map(|digest| SessionWordSet::of(digest, None)).collect();
        assert_eq!(next_near_duplicates(&all), [Some(2), None, Some(5), None, None, None]);
        assert!(all.iter().all(|one| SessionWordSet::from_bytes(&one.to_bytes()) == *one));
    }

    #[test]
    fn just_alike_enough_and_just_not() {
        let of = |from: u32, to: u32| SessionWordSet((from..to).collect());
        // 85 of 100 words in all, and 84 of 101.
        assert!(of(0, 92).is_near_duplicate(&of(7, 100)));
        assert!(!of(0, 92).is_near_duplicate(&of(8, 101)));
    }

    proptest! {
        #[test]
        fn what_changed_is_told_as_all_of_it_is(
            kinds in prop::collection::vec((0u32..4, 0u32..25), 1..24),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0u32..4, 0u32..25), 0..5),
        ) {
            // One kind holds near-duplicates, some too different after all; the other kind has too few words.
            let of = |(kind, from): (u32, u32)| SessionWordSet((kind * 1000 + from..kind * 1000 + if kind == 0 { 30 } else { 120 }).collect());
            let mut all: Vec<SessionWordSet> = kinds.into_iter().map(of).collect();
            let old = next_near_duplicates(&all);
            let mut changed = BTreeSet::new();
            for (at, kind, from) in changes {
                let at = at.index(all.len());
                all[at] = of((kind, from));
                changed.insert(at);
            }
            let known = |(at, next): (usize, &Option<usize>)| {
                let stands = !changed.contains(&at) && next.is_none_or(|next| !changed.contains(&next));
                stands.then_some(*next)
            };
            let before: Vec<_> = old.iter().enumerate().map(known).collect();
            let changed: Vec<usize> = changed.iter().copied().collect();
            prop_assert_eq!(update_near_duplicates(&all, &changed, &before), next_near_duplicates(&all));
        }

        #[test]
        fn hardly_any_pair_is_missed(base in prop::collection::btree_set(any::<u32>(), 60..90), changed in prop::collection::vec((0usize..60, any::<u32>()), 0..12)) {
            let one = SessionWordSet(base.iter().copied().collect());
            let mut other: BTreeSet<u32> = base.clone();
            for (at, word) in changed {
                let gone = *base.iter().nth(at).expect("a word");
                other.remove(&gone);
                other.insert(word);
            }
            let all = [one.clone(), SessionWordSet(other.into_iter().collect())];
            let found = next_near_duplicates(&all)[0].is_some();
            // What is found is a near-duplicate; near-duplicates with a margin are found.
            prop_assert!(!found || one.is_near_duplicate(&all[1]));
            let shared = all[1].0.iter().filter(|w| one.0.contains(w)).count();
            let share = shared as f64 / (one.0.len() + all[1].0.len() - shared) as f64;
            prop_assert!(found || share < 0.9, "{share}");
        }
    }
}
