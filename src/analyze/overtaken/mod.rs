//! Statements that a later one overtakes: "the session cache uses Redis", and two weeks later "no longer Redis, an in-process LRU". Pure.
//!
//! ## Invariants
//! - A function of the set of statements of a project: whatever order they are given in.
//! - Precision first, for a false link hides a truth: a sentence overtakes another only if it says what it leaves, the other one says just
//!   that, and both are about the same thing. Questions, plans, conditions and the words of others neither overtake nor are overtaken.
//! - Within a session nothing is linked: its replies are told in their order, the last one first.

mod change;
mod sentence;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use self::change::{Change, changes_of};
use self::sentence::Sentence;
use crate::analyze::prose::sentences;
use crate::model::session::Millis;

/// The number of the rules by which they are found. Raise it with the rules: all are found anew then.
pub(crate) const OVERTAKEN_RULES: u32 = 1;
/// A longer sentence says too much for its words to tell what it is about, in characters.
const MAX_SENTENCE_CHARS: usize = 400;

/// Something that was said in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said<'t> {
    /// What it belongs to, a session or a note: nothing in it overtakes another part of it.
    pub(crate) of: usize,
    pub(crate) at: Millis,
    pub(crate) text: &'t str,
}

/// That a sentence overtakes an earlier one: the places of what was said among what was given, and the two sentences.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Overtaking {
    pub(crate) earlier: usize,
    pub(crate) earlier_sentence: String,
    pub(crate) later: usize,
    pub(crate) later_sentence: String,
}

/// A sentence with its place.
struct Placed {
    said: usize,
    sentence: Sentence,
}

/// Which sentences overtake which, in the order of what was given.
pub(crate) fn overtakings(all: &[Said<'_>]) -> Vec<Overtaking> {
    let placed: Vec<Placed> = all.iter().enumerate().flat_map(|(said, one)| placed_sentences(said, one.text)).collect();
    let mut by_word: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, one) in placed.iter().enumerate() {
        one.sentence.words.iter().for_each(|word| by_word.entry(word).or_default().push(at));
    }
    let mut found: BTreeMap<(usize, usize), Overtaking> = BTreeMap::new();
    for (later_at, later) in placed.iter().enumerate() {
        for change in changes_of(&later.sentence) {
            for earlier_at in candidates(&change, &by_word) {
                let earlier = &placed[earlier_at];
                let (before, after) = (&all[earlier.said], &all[later.said]);
                if before.of != after.of && before.at < after.at && change.overtakes(&later.sentence, &earlier.sentence) {
                    found.entry((earlier_at, later_at)).or_insert_with(|| Overtaking {
                        earlier: earlier.said,
                        earlier_sentence: earlier.sentence.text.clone(),
                        later: later.said,
                        later_sentence: later.sentence.text.clone(),
                    });
                }
            }
        }
    }
    found.into_values().collect()
}

fn placed_sentences(said: usize, text: &str) -> Vec<Placed> {
    let split = sentences(text).into_iter().flat_map(|sentence| without_case(&sentence));
    let short = split.filter(|sentence| sentence.chars().count() <= MAX_SENTENCE_CHARS);
    short.map(|text| Placed { said, sentence: Sentence::of(text) }).collect()
}

/// The sentences of a text in which they begin in lower case, as many prompts do.
fn without_case(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.match_indices(['.', '?', '!']).map(|(at, _)| at).find(|at| ends_sentence(rest, *at)) {
        all.push(rest[..=at].trim().to_owned());
        rest = &rest[at + 1..];
    }
    all.push(rest.trim().to_owned());
    all.retain(|sentence| !sentence.is_empty());
    all
}

fn ends_sentence(text: &str, at: usize) -> bool {
    let abbreviated = ["e.g", "i.e", "vs", "etc", "approx", "incl", "no"].iter().any(|short| text[..at].ends_with(short));
    !abbreviated && text[at + 1..].starts_with(' ')
}

/// The sentences that hold the rarest of the words that one has to hold, or any of those of which it holds some.
fn candidates(change: &Change, by_word: &HashMap<&str, Vec<usize>>) -> BTreeSet<usize> {
    let holding = |word: &&str| by_word.get(*word).map_or(&[][..], Vec::as_slice);
    let rarest = change.key_words().iter().map(holding).min_by_key(|all| all.len()).unwrap_or_default();
    rarest.iter().chain(change.any_of().iter().flat_map(holding)).copied().collect()
}
