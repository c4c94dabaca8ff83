//! Picks the sentences of a result that answer the query best. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use serde::Serialize;

use super::highlight::WordMatch;
use crate::analyze::prose::all_sentences;
use crate::store::search::SessionText;
use crate::store::search::TextKind;
use text::clean::{one_line, without_controls};
use transcripts::session::Millis;

/// The most bytes of context on either side of a match.
const CONTEXT_BYTES: usize = 220;
/// The factor for a word that an earlier passage already shows.
const REPEATED_FACTOR: f64 = 0.3;

/// The length under which a sentence says little, in bytes; the factor for such a sentence, and for one that repeats the title.
const SHORT_SENTENCE_BYTES: usize = 24;
const SHORT_FACTOR: f64 = 0.4;
const TITLE_FACTOR: f64 = 0.2;

/// A sentence of a result, ready to show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    pub(crate) kind: TextKind,
    /// One line.
    pub(crate) text: String,
    pub(crate) at: Option<Millis>,
}

/// A sentence that could be shown.
struct CandidateSentence {
    kind: TextKind,
    text: String,
    at: Option<Millis>,
    /// The weight factor of each query word in it.
    words: BTreeMap<usize, f64>,
}

/// Candidate sentences; of those with equal worth only the first are kept, because a long session repeats the same words.
#[derive(Default)]
pub(super) struct CandidateSentences {
    all: Vec<CandidateSentence>,
    /// Indexes of the candidates of equal worth, ignoring whether one repeats the title.
    equal: HashMap<ScoreKey, Vec<usize>>,
}

/// What determines a sentence's score: its kind, whether it is short, and each word with the bits of its factor.
type ScoreKey = (TextKind, bool, Vec<(usize, u64)>);

/// How many candidates of equal worth are kept; enough that some remain whatever the title is.
const MAX_EQUAL_CANDIDATES: usize = 100;

impl CandidateSentences {
    /// Adds the sentences around the matches in a text.
    pub(crate) fn add(&mut self, text: &SessionText, spots: Vec<WordMatch>) {
        for one in sentences_around(text, spots) {
            let words = one.words.iter().map(|(word, factor)| (*word, factor.to_bits())).collect();
            let equal = self.equal.entry((one.kind, one.text.len() < SHORT_SENTENCE_BYTES, words)).or_default();
            if equal.len() < MAX_EQUAL_CANDIDATES && !equal.iter().any(|at| self.all[*at].text == one.text) {
                equal.push(self.all.len());
                self.all.push(one);
            }
        }
    }
}

/// The sentences around the matches in a text.
fn sentences_around(text: &SessionText, spots: Vec<WordMatch>) -> Vec<CandidateSentence> {
    let mut by_start: BTreeMap<usize, (usize, BTreeMap<usize, f64>)> = BTreeMap::new();
    for spot in spots {
        let (start, end) = if is_told_whole(text.kind) { (0, text.text.len()) } else { sentence(&text.text, &spot.at) };
        let (furthest, words) = by_start.entry(start).or_insert((end, BTreeMap::new()));
        *furthest = end.max(*furthest);
        let factor = words.entry(spot.word).or_insert(0.0);
        *factor = spot.factor.max(*factor);
    }
    let candidate =
        |(start, (end, words))| CandidateSentence { kind: text.kind, text: text.text[start..end].to_owned(), at: text.at, words };
    by_start.into_iter().map(candidate).collect()
}

/// Is a text of this kind told as it stands? A statement may quote two sentences, and says who said them.
fn is_told_whole(kind: TextKind) -> bool {
    matches!(kind, TextKind::Claim(_))
}

/// The bounds of the sentence around a match, at most [`CONTEXT_BYTES`] bytes to either side.
fn sentence(text: &str, at: &Range<usize>) -> (usize, usize) {
    let from = text.ceil_char_boundary(at.start.saturating_sub(CONTEXT_BYTES)).min(at.start);
    let to = text.floor_char_boundary((at.end + CONTEXT_BYTES).min(text.len())).max(at.end);
    let before = &text[from..at.start];
    let starts = [before.rfind('\n').map(|i| i + 1), before.rfind(". ").map(|i| i + 2), before.rfind('。').map(|i| i + 3)];
    let whole_word = if from == 0 { None } else { before.find(char::is_whitespace) };
    let start = starts.into_iter().flatten().max().or(whole_word).map_or(from, |i| from + i);
    let after = &text[at.end..to];
    let ends = [after.find('\n'), after.find(". ").map(|i| i + 1), after.find('。').map(|i| i + 3)];
    let whole_word = if to == text.len() { None } else { after.rfind(char::is_whitespace) };
    let end = ends.into_iter().flatten().min().or(whole_word).map_or(to, |i| at.end + i);
    (start, end)
}

/// Plain text on one line, without markup.
pub(super) fn plain_line(text: &str) -> String {
    let said = all_sentences(text).join(" ");
    one_line(&without_controls(if said.is_empty() { text } else { &said }))
}

/// The passages that score highest, each for the words that the ones before it do not show. Adds their words to `shown`.
pub(super) fn best_passages(
    CandidateSentences { all: mut candidates, .. }: CandidateSentences,
    weights: &[f64],
    most: usize,
    title: &str,
    shown: &mut BTreeSet<usize>,
) -> Vec<Passage> {
    let title = title.trim_end_matches('…');
    let mut chosen: Vec<Passage> = Vec::new();
    let mut said: BTreeSet<usize> = BTreeSet::new();
    while chosen.len() < most && !candidates.is_empty() {
        let worth = |one: &CandidateSentence| {
            let counts = one
                .words
                .iter()
                .map(|(word, factor)| weights[*word] * factor * if said.contains(word) { REPEATED_FACTOR } else { 1.0 });
            let is_short = one.text.len() < SHORT_SENTENCE_BYTES;
            let is_title = !title.is_empty() && one.text.trim_start().starts_with(title);
            counts.sum::<f64>()
                * kind_factor(one.kind)
                * if is_title {
                    TITLE_FACTOR
                } else if is_short {
                    SHORT_FACTOR
                } else {
                    1.0
                }
        };
        // Ties go to the first: the digest's statements come before the conversation.
        let at = (0..candidates.len()).rev().max_by(|a, b| worth(&candidates[*a]).total_cmp(&worth(&candidates[*b])));
        let Some(one) = at.map(|at| candidates.remove(at)) else { break };
        said.extend(one.words.keys());
        candidates.retain(|other| other.text != one.text);
        let text = if is_told_whole(one.kind) { one_line(&without_controls(&one.text)) } else { plain_line(&one.text) };
        let passage = Passage { kind: one.kind, text, at: one.at };
        if !chosen.iter().any(|before| before.text == passage.text) {
            chosen.push(passage);
        }
    }
    shown.extend(said);
    chosen
}

/// Statements about a subject score higher than its mere mention.
fn kind_factor(kind: TextKind) -> f64 {
    match kind {
        TextKind::Claim(section) => section.spec().worth,
        TextKind::Note => 1.25,
        TextKind::Made | TextKind::Recap | TextKind::Memory => 1.15,
        TextKind::Prompt => 1.05,
        TextKind::Title | TextKind::Reply | TextKind::Plan | TextKind::Error => 1.0,
        TextKind::Command | TextKind::File => 0.8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_sentence_ends_where_it_ends() {
        let text = "One is here. The needle lies in it. Two is there.\nThree";
        let at = text.find("needle").unwrap();
        let (start, end) = sentence(text, &(at..at + 6));
        assert_eq!(&text[start..end], "The needle lies in it.");
    }

    #[test]
    fn the_best_sentence_is_found_behind_any_number_of_others() {
        let mut candidates = CandidateSentences::default();
        let text = |text: &str| SessionText { kind: TextKind::Reply, text: text.to_owned(), at: None };
        let spot = |word, at| WordMatch { at, word, factor: 1.0 };
        for n in 0..5_000 {
            candidates.add(&text(&format!("The ledger has a row {n} of its own.")), vec![spot(0, 4..10)]);
        }
        candidates.add(&text("In the ledger a sluice broke the sum."), vec![spot(0, 7..13), spot(1, 16..22)]);
        assert!(candidates.all.len() <= MAX_EQUAL_CANDIDATES + 1);
        let best = best_passages(candidates, &[1.0, 2.0], 2, "", &mut BTreeSet::new());
        let told: Vec<&str> = best.iter().map(|passage| passage.text.as_str()).collect();
        assert_eq!(told, ["In the ledger a sluice broke the sum.", "The ledger has a row 0 of its own."]);
    }

    proptest! {
        #[test]
        fn a_place_is_in_its_sentence(
            before in "([a-z\",:{}]{0,500}|[分页订单]{0,200}|.{0,80}\\n?){0,4}",
            after in "([a-z\",:{}]{0,500}|[分页订单]{0,200}|\\n?.{0,80}){0,4}",
        ) {
            let text = format!("{before}needle{after}");
            let at = before.len()..before.len() + "needle".len();
            let (start, end) = sentence(&text, &at);
            prop_assert!(start <= at.start && at.end <= end && text[start..end].contains("needle"));
        }
    }
}
