//! Statements of earlier sessions that a model is asked about: does a session overtake them? Those about what the session is about, the best
//! first.

use std::collections::{BTreeSet, HashMap};

use super::sentence::{Sentence, terms};
use super::{sentence_id, sentences_of};
use crate::analyze::distinct::normalized;
use crate::analyze::signal::{SentenceTopic, is_about, is_offer, weight};
use text::synonyms::is_marker;
use transcripts::session::{Item, Millis, Session};

/// So many are offered at most; a request lists as many as it has room for.
const MAX_OFFERED: usize = 24;
/// So many of the best are looked at for what they say.
const MAX_READ: usize = 80;
/// Words of a synonym count so much of the word itself.
const SYNONYM: f64 = 0.6;
/// A sentence that supposes, proposes or asks for work counts so much of another.
const UNSURE: f64 = 0.7;
/// What a sentence is worth for what is said around it.
const AROUND: f64 = 0.2;
/// A sentence of fewer words names nothing that could change.
const MIN_WORDS: usize = 2;
/// A sentence says as much less for its length as one of so many more words.
const LENGTH: f64 = 6.0;

/// A text of the user or of the assistant in an earlier session, or a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EarlierText {
    /// The id of the session or the note.
    pub(crate) place: String,
    pub(crate) at: Millis,
    pub(crate) text: String,
}

/// A sentence of an earlier session or a note, as a model is asked about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedStatement {
    /// As [`sentence_id`] makes it.
    pub(crate) id: String,
    pub(crate) text: String,
}

/// A sentence that may be offered.
struct Candidate<'t> {
    place: &'t str,
    at: Millis,
    text: String,
    terms: BTreeSet<String>,
}

/// The sentences of earlier texts that are about what a session is about, but those that `is_out` rejects by their place and text. What was
/// said in the same words more than once is offered as it was said last.
pub(crate) fn offered(session: &Session, earlier: &[EarlierText], is_out: impl Fn(&str, &str) -> bool) -> Vec<OfferedStatement> {
    let mut last: HashMap<String, Candidate<'_>> = HashMap::new();
    for EarlierText { place, at, text } in earlier {
        for text in sentences_of(text).into_iter().filter(|text| !is_out(place, text)) {
            let said = normalized(&text);
            if last.get(&said).is_none_or(|known| (known.at, known.place) < (*at, place.as_str())) {
                last.insert(said, Candidate { place, at: *at, terms: terms(&text), text });
            }
        }
    }
    let all: Vec<Candidate<'_>> = last.into_values().filter(|one| one.terms.len() >= MIN_WORDS).collect();
    let ranking = Ranking::of(&all, terms_of(session));
    let in_order = |ranked: &mut Vec<(f64, &Candidate<'_>)>| {
        ranked.retain(|(worth, _)| *worth > 0.0);
        ranked.sort_by(|(a, one), (b, other)| b.total_cmp(a).then((other.at, &other.text).cmp(&(one.at, &one.text))));
    };
    let mut ranked: Vec<(f64, &Candidate<'_>)> = all.iter().map(|one| (ranking.worth(one), one)).collect();
    in_order(&mut ranked);
    ranked.truncate(MAX_READ);
    ranked.iter_mut().for_each(|(worth, one)| *worth *= says(&one.text));
    in_order(&mut ranked);
    let best = ranked.into_iter().take(MAX_OFFERED).map(|(_, one)| one);
    best.map(|one| OfferedStatement { id: sentence_id(one.place, &one.text), text: one.text.clone() }).collect()
}

/// How much a sentence says of what holds; nothing if it asks, reports on a line of code, or leaves something to do: that is offered as an open
/// item.
fn says(text: &str) -> f64 {
    let sentence = Sentence::of(text.to_owned());
    if sentence.names_line || is_offer(text) || is_about(text, SentenceTopic::Next) {
        return 0.0;
    }
    (0.5 + weight(text)) * if sentence.is_unsure || sentence.asks_for_work() { UNSURE } else { 1.0 }
}

/// How much sentences, and all that was said in a place, are about what a session is about.
struct Ranking<'c> {
    about: BTreeSet<String>,
    /// Higher for rarer terms.
    weights: HashMap<&'c str, f64>,
    /// From 0 to 1, by place.
    places: HashMap<&'c str, f64>,
}

impl<'c> Ranking<'c> {
    fn of(all: &'c [Candidate<'_>], about: BTreeSet<String>) -> Self {
        let mut holding: HashMap<&str, f64> = HashMap::new();
        all.iter().flat_map(|one| &one.terms).for_each(|term| *holding.entry(term.as_str()).or_default() += 1.0);
        let rarity = |(term, holding): (&'c str, f64)| {
            let rare = (1.0 + all.len() as f64 / holding).ln();
            (term, if is_marker(term) { rare * SYNONYM } else { rare })
        };
        let weights: HashMap<&str, f64> = holding.into_iter().map(rarity).collect();
        let mut shared: HashMap<&str, HashMap<&str, f64>> = HashMap::new();
        for one in all {
            let terms = one.terms.intersection(&about).filter_map(|term| weights.get_key_value(term.as_str()));
            shared.entry(one.place).or_default().extend(terms);
        }
        let sums: HashMap<&str, f64> = shared.into_iter().map(|(place, terms)| (place, terms.values().sum())).collect();
        let most = sums.values().copied().fold(0.0, f64::max);
        let places = sums.into_iter().filter(|(_, sum)| *sum > 0.0).map(|(place, sum)| (place, sum / most)).collect();
        Self { about, weights, places }
    }

    /// What says nothing of the session's words may still be about the same, where all around it is.
    fn worth(&self, one: &Candidate<'_>) -> f64 {
        let Some(place) = self.places.get(one.place) else { return 0.0 };
        let shared: f64 = one.terms.intersection(&self.about).map(|term| self.weights[term.as_str()]).sum();
        (shared / (one.terms.len() as f64 + LENGTH).sqrt() + AROUND) * place
    }
}

/// What a session is about: the words of the user and of the assistant, and the names of files.
fn terms_of(session: &Session) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for entry in session.entries.iter().filter(|entry| entry.is_main()) {
        match &entry.item {
            Item::Prompt(text) | Item::Reply(text) => all.append(&mut terms(text)),
            Item::Answer(answer) => all.append(&mut terms(&answer.whole())),
            Item::Tool(tool) => {
                if let Some(name) = tool.file.as_ref().and_then(|file| file.path.rsplit('/').next()) {
                    all.append(&mut terms(name));
                }
            }
            _ => {}
        }
    }
    all
}
