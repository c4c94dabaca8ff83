//! Statements that a later one overtakes: "the session cache uses Redis", and two weeks later "no longer Redis, an in-process LRU". Pure.
//!
//! ## Invariants
//! - A function of the set of statements of a project: whatever order they are given in.
//! - Precision first, for a false link hides a truth: a sentence overtakes another only if it says what it leaves, the other one says just
//!   that, and both are about the same thing. Questions, plans, conditions and the words of others neither overtake nor are overtaken.
//! - How far some work is, as "not pushed", says nothing of other work: both sentences have to name the same.
//! - Within a session nothing is linked: its replies are told in their order, the last one first.
//! - What a model says of two sentences is believed, where `analyze::verify` found words of the later session that prove it.

mod change;
mod offered;
pub(in crate::analyze) mod sentence;
#[cfg(test)]
mod tests;
mod word_lists;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

pub(in crate::analyze) use self::change::is_unit;
use self::change::{Change, Quantity, TakenBack, ValueKey, changes_of, states_anew};
pub(crate) use self::offered::{EarlierText, OfferedStatement, offered};
use self::sentence::Sentence;
use crate::analyze::prose::sentences_in_any_case;
use transcripts::session::{Millis, short_id};

/// The number of the rules by which they are found. Raise it with the rules: all are found anew then.
pub(crate) const OVERTAKEN_RULES: u32 = 4;
/// A longer sentence says too much for its words to tell what it is about, in characters.
const MAX_SENTENCE_CHARS: usize = 400;
/// A shorter one names no two things.
const MIN_SENTENCE_CHARS: usize = 8;
/// What so many sentences have in common tells none of them apart.
const MAX_ALIKE: usize = 300;

/// Something that was said in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said<'t> {
    /// What it belongs to, a session or a note: nothing in it overtakes another part of it.
    pub(crate) of: usize,
    pub(crate) at: Millis,
    pub(crate) text: &'t str,
}

/// The id of a sentence where it was said, in a session or a note with this id.
pub(crate) fn sentence_id(place: &str, sentence: &str) -> String {
    short_id("s", &[place, sentence])
}

/// The sentence with this id of a text that was said there.
pub(crate) fn sentence_with_id(place: &str, text: &str, id: &str) -> Option<String> {
    sentences_of(text).into_iter().find(|sentence| sentence_id(place, sentence) == id)
}

/// That a sentence overtakes an earlier one, as a model says: both by their ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ClaimedOvertaking {
    pub(crate) earlier: String,
    pub(crate) later: String,
}

/// Who found that a sentence overtakes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FoundBy {
    Rule,
    /// A model, and no rule.
    Model,
}

/// That a sentence overtakes an earlier one: the places of what was said among what was given, and the two sentences.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Overtaking {
    pub(crate) earlier: usize,
    pub(crate) earlier_sentence: String,
    pub(crate) later: usize,
    pub(crate) later_sentence: String,
    pub(crate) by: FoundBy,
}

/// A sentence with the places where it was said last.
struct Placed {
    last: LastPlaces,
    sentence: Sentence,
}

/// Where words were said last, and where last in what the first does not belong to.
#[derive(Clone, Copy)]
struct LastPlaces {
    said: usize,
    elsewhere: Option<usize>,
}

impl LastPlaces {
    fn of(said: usize) -> Self {
        Self { said, elsewhere: None }
    }

    fn and(self, said: usize, all: &[Said<'_>]) -> Self {
        let later = |one: usize, other: usize| if (all[one].at, one) < (all[other].at, other) { other } else { one };
        let last = later(self.said, said);
        match all[self.said].of == all[said].of {
            true => Self { said: last, ..self },
            false if last == said => Self { said, elsewhere: Some(self.said) },
            false => Self { elsewhere: Some(self.elsewhere.map_or(said, |known| later(known, said))), ..self },
        }
    }

    fn each(self) -> impl Iterator<Item = usize> {
        [Some(self.said), self.elsewhere].into_iter().flatten()
    }
}

/// The sentences that another one may overtake, with their places.
fn overtakable(placed: &[Placed]) -> impl Iterator<Item = (usize, &Sentence)> {
    let sentences = placed.iter().enumerate().map(|(at, one)| (at, &one.sentence));
    sentences.filter(|(_, sentence)| sentence.may_be_overtaken() || change::tells_state_by_deed(sentence))
}

/// By a word, which overtakable sentences hold it.
type ByWord<'p> = HashMap<&'p str, Vec<usize>>;

/// For these words alone: most are never asked for.
fn by_word<'p>(placed: &'p [Placed], asked: &HashSet<&str>) -> ByWord<'p> {
    let mut by_word = ByWord::new();
    if asked.is_empty() {
        return by_word;
    }
    for (at, sentence) in overtakable(placed).filter(|(_, sentence)| sentence.may_hold(asked)) {
        let held = sentence.words().iter().filter(|word| asked.contains(word.as_str()));
        held.for_each(|word| by_word.entry(word).or_default().push(at));
    }
    by_word
}

/// Sentences by what they have to share with one that overtakes them.
struct SentenceIndex<'p> {
    by_word: ByWord<'p>,
    /// By the first two content words of a clause.
    by_beginning: HashMap<[String; 2], Vec<usize>>,
    /// Those that say what causes something.
    causal: Vec<usize>,
}

impl<'p> SentenceIndex<'p> {
    /// For these changes, and for what sentences state.
    fn of(placed: &'p [Placed], changes: &[(usize, Change)]) -> Self {
        let asked = changes.iter().filter_map(|(_, change)| change.words()).flatten().map(String::as_str).collect();
        let mut index = Self { by_word: by_word(placed, &asked), by_beginning: HashMap::new(), causal: Vec::new() };
        for (at, sentence) in overtakable(placed) {
            for beginning in change::beginnings(sentence) {
                index.by_beginning.entry(beginning).or_default().push(at);
            }
            index.causal.extend(change::says_cause(sentence).then_some(at));
        }
        index
    }

    /// The sentences that a change may overtake; none where too many would have to be looked at.
    fn candidates(&self, change: &Change) -> &[usize] {
        let found = match change {
            Change::States { begins } => self.by_beginning.get(begins).map_or(&[][..], Vec::as_slice),
            Change::Corrects { .. } => &self.causal,
            _ => {
                let words = change.words().into_iter().flatten();
                let holding = words.map(|word| self.by_word.get(word.as_str()).map_or(&[][..], Vec::as_slice));
                holding.min_by_key(|all| all.len()).unwrap_or_default()
            }
        };
        if found.len() <= MAX_ALIKE { found } else { &[] }
    }
}

/// Sentences that state a value, by a word and by the value: to find those that say again what was taken back.
struct Repeats<'p> {
    all: &'p [Said<'p>],
    placed: &'p [Placed],
    by_word: ByWord<'p>,
    /// Of the words that were asked for; the last that was said comes first.
    known: HashMap<&'p str, ByValue<'p>>,
}

/// Where values are stated: the place, the sentence, what it states.
type ByValue<'p> = HashMap<ValueKey<'p>, Vec<(usize, usize, &'p Quantity)>>;

/// The words of both sentences: by them those are found that say again what the later one takes back.
fn shared_words<'p>(before: &'p Sentence, after: &'p Sentence) -> impl Iterator<Item = &'p String> {
    before.words().intersection(after.words()).filter(|word| !change::is_unit(word))
}

impl<'p> Repeats<'p> {
    /// Of what these later sentences may take back of earlier ones.
    fn of(all: &'p [Said<'p>], placed: &'p [Placed], found: impl Iterator<Item = (usize, usize)>) -> Self {
        let both = found.map(|(earlier, later)| (&placed[earlier].sentence, &placed[later].sentence));
        let taken_back = both.filter(|(before, after)| TakenBack::of(before, after).is_some());
        let asked = taken_back.flat_map(|(before, after)| shared_words(before, after)).map(String::as_str).collect();
        Self { all, placed, by_word: by_word(placed, &asked), known: HashMap::new() }
    }

    /// Is said again, after the later one, what it takes back of the earlier one?
    fn say_again(&mut self, earlier: usize, later: usize) -> bool {
        let (all, placed) = (self.all, self.placed);
        let (before, after) = (&placed[earlier].sentence, &placed[later].sentence);
        let Some(back) = TakenBack::of(before, after) else { return false };
        let holding = shared_words(before, after).filter_map(|word| Some((word, self.by_word.get(word.as_str())?)));
        let rare = holding.min_by_key(|(_, holding)| holding.len());
        let Some((rare, holding)) = rare else { return false };
        let by_value = self.known.entry(rare).or_insert_with(|| {
            let mut by_value = ByValue::new();
            let stated = holding.iter().filter_map(|at| Some((*at, change::value_stated(&placed[*at].sentence)?)));
            for (at, value) in stated {
                for said in placed[at].last.each() {
                    value.keys().for_each(|key| by_value.entry(key).or_default().push((said, at, value)));
                }
            }
            by_value.values_mut().for_each(|stating| stating.sort_by_key(|(said, ..)| Reverse(all[*said].at)));
            by_value
        });
        let taken_at = &all[placed[later].last.said];
        back.value.keys().filter_map(|key| by_value.get(&key)).any(|stating| {
            let since = stating.iter().take_while(|(said, ..)| all[*said].at > taken_at.at);
            let mut elsewhere = since.filter(|(said, ..)| all[*said].of != taken_at.of);
            elsewhere.any(|(_, at, value)| back.is_said_by(&placed[*at].sentence, value))
        })
    }
}

/// The sentences that a model named, by their ids.
struct NamedSentences<'c> {
    ids: HashSet<&'c str>,
    texts: HashMap<String, String>,
}

impl<'c> NamedSentences<'c> {
    fn of(claimed: &'c [ClaimedOvertaking]) -> Self {
        Self { ids: claimed.iter().flat_map(|one| [one.earlier.as_str(), one.later.as_str()]).collect(), texts: HashMap::new() }
    }

    fn look_at(&mut self, place: &str, sentence: &str) {
        if !self.ids.is_empty() {
            let id = sentence_id(place, sentence);
            if self.ids.contains(id.as_str()) {
                self.texts.insert(id, sentence.to_owned());
            }
        }
    }

    /// The places of both sentences of each claim, where both are still said.
    fn pairs(&self, claimed: &[ClaimedOvertaking], placed: &[Placed]) -> Vec<(usize, usize)> {
        let places: HashMap<&str, usize> = match self.texts.is_empty() {
            true => HashMap::new(),
            false => placed.iter().enumerate().map(|(at, one)| (one.sentence.text.as_str(), at)).collect(),
        };
        let place_of = |id: &String| places.get(self.texts.get(id)?.as_str()).copied();
        claimed.iter().filter_map(|one| place_of(&one.earlier).zip(place_of(&one.later))).collect()
    }
}

/// Which sentences overtake which, by rule. What is said again later stands again: of the same words only the last mention counts.
pub(crate) fn overtakings(all: &[Said<'_>]) -> Vec<Overtaking> {
    overtakings_with(all, &[], &[])
}

/// The same, by rule and as models claim. `places` are the ids of what the sentences belong to.
pub(crate) fn overtakings_with(all: &[Said<'_>], places: &[String], claimed: &[ClaimedOvertaking]) -> Vec<Overtaking> {
    if all.windows(2).all(|two| two[0].of == two[1].of) {
        return Vec::new();
    }
    // Forks and resumed sessions hold the same texts: each is read once.
    let mut texts: HashMap<&str, Vec<usize>> = HashMap::new();
    all.iter().enumerate().for_each(|(said, one)| texts.entry(one.text).or_default().push(said));
    let mut named = NamedSentences::of(claimed);
    let mut last: HashMap<String, LastPlaces> = HashMap::new();
    for (text, holding) in texts {
        let Some((first, others)) = holding.split_first() else { continue };
        let said = others.iter().fold(LastPlaces::of(*first), |last, said| last.and(*said, all));
        for text in sentences_of(text) {
            holding.iter().filter_map(|said| places.get(all[*said].of)).for_each(|place| named.look_at(place, &text));
            last.entry(text)
                .and_modify(|known| *known = said.each().fold(*known, |last, said| last.and(said, all)))
                .or_insert(said);
        }
    }
    let place = |(text, last): (String, LastPlaces)| Placed { last, sentence: Sentence::of(text) };
    let mut placed: Vec<Placed> = last.into_iter().map(place).collect();
    placed.sort_by(|a, b| (a.last.said, &a.sentence.text).cmp(&(b.last.said, &b.sentence.text)));
    let telling = || placed.iter().map(|one| &one.sentence).enumerate().filter(|(_, sentence)| !sentence.names_line);
    // They are few. What is stated is not kept: nearly all sentences state something.
    let changes: Vec<(usize, Change)> =
        telling().flat_map(|(at, sentence)| changes_of(sentence).into_iter().map(move |change| (at, change))).collect();
    let index = SentenceIndex::of(&placed, &changes);
    let is_later = |before: &Said<'_>, after: &Said<'_>| before.of != after.of && before.at < after.at;
    let mut found: BTreeMap<(usize, usize), FoundBy> = BTreeMap::new();
    let mut look = |later_at: usize, change: &Change| {
        let later = &placed[later_at];
        let overtaken = index.candidates(change).iter().filter(|earlier_at| {
            let earlier = &placed[**earlier_at];
            let (before, after) = (&all[earlier.last.said], &all[later.last.said]);
            is_later(before, after) && change.overtakes(&later.sentence, &earlier.sentence)
        });
        found.extend(overtaken.map(|earlier_at| ((*earlier_at, later_at), FoundBy::Rule)));
    };
    changes.iter().for_each(|(later_at, change)| look(*later_at, change));
    for (later_at, sentence) in telling() {
        states_anew(sentence).for_each(|change| look(later_at, &change));
    }
    for pair in named.pairs(claimed, &placed) {
        if is_later(&all[placed[pair.0].last.said], &all[placed[pair.1].last.said]) {
            found.entry(pair).or_insert(FoundBy::Model);
        }
    }
    // What is said again after that, in whatever words, stands again.
    let mut repeats = Repeats::of(all, &placed, found.keys().copied());
    found.retain(|(earlier, later), _| !repeats.say_again(*earlier, *later));
    let overtaking = |((earlier, later), by): ((usize, usize), FoundBy)| Overtaking {
        earlier: placed[earlier].last.said,
        earlier_sentence: placed[earlier].sentence.text.clone(),
        later: placed[later].last.said,
        later_sentence: placed[later].sentence.text.clone(),
        by,
    };
    let found = found.into_iter().map(overtaking).collect();
    drop(repeats);
    drop(index);
    drop(placed);
    sentence::forget_words();
    found
}

fn sentences_of(text: &str) -> Vec<String> {
    let split = sentences_in_any_case(text).into_iter();
    split.filter(|sentence| (MIN_SENTENCE_CHARS..=MAX_SENTENCE_CHARS).contains(&sentence.chars().count())).collect()
}
