//! What a statement says, apart from the words it is said in: by which words another one says the same. Pure.

use std::collections::BTreeSet;

use crate::analyze::verify::denies;
use text::tokenize::distinctive_words;
use transcripts::session::hash_parts;

/// Two wordings say the same if they share this part of the words of each (numerator, denominator), and both deny it or neither does.
const MIN_SHARED: (usize, usize) = (4, 5);
/// Fewer words hardly tell what a statement is about: only the same ones say the same.
const MIN_WORDS: usize = 3;

/// The distinctive words of a statement, as hashes, and whether it denies what they are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wording {
    words: BTreeSet<u32>,
    negated: bool,
}

impl Wording {
    pub(crate) fn of(text: &str) -> Self {
        Self { words: distinctive_words(text).iter().map(|word| hash(word)).collect(), negated: denies(text) }
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = u32> {
        self.words.iter().copied()
    }

    pub(crate) fn says_same(&self, other: &Self) -> bool {
        let shared = self.words.intersection(&other.words).count() * MIN_SHARED.1;
        let is_enough = |words: &BTreeSet<u32>| words.len() >= MIN_WORDS && shared >= words.len() * MIN_SHARED.0;
        self.negated == other.negated && is_enough(&self.words) && is_enough(&other.words)
    }

    /// The stored format: whether it is negated, then the hashes of its words, little-endian.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let words = self.words.iter().flat_map(|word| word.to_le_bytes());
        std::iter::once(u8::from(self.negated)).chain(words).collect()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let (negated, words) = bytes.split_first().map_or((false, &[][..]), |(first, rest)| (*first == 1, rest));
        let words = words.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
        Self { words, negated }
    }
}

fn hash(word: &str) -> u32 {
    let hash = hash_parts(&[word.as_bytes()]);
    u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]])
}
