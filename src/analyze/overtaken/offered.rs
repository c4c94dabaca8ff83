//! Statements of earlier sessions that a model is asked about: does a session overtake them? Those about what the session is about, the best
//! first.

use std::collections::{BTreeSet, HashMap};

use super::sentence::{Sentence, content_words};
use super::{sentence_id, sentences_of};
use crate::analyze::distinct::normalized;
use crate::analyze::signal::{is_filler, is_offer, weight};
use crate::model::session::{Item, Millis, Session};
use crate::text::synonyms::{group_of, marker};
use crate::text::tokenize::words_of;

/// So many are offered at most; a request lists as many as it has room for.
const MAX_OFFERED: usize = 24;
/// Words of a synonym count so much of the word itself.
const SYNONYM: f64 = 0.6;
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
        for text in sentences_of(text).into_iter().filter(|text| states(text) && !is_out(place, text)) {
            let said = last.entry(normalized(&text));
            let candidate = Candidate { place, at: *at, terms: terms(&text), text };
            said.and_modify(|known| {
                if (known.at, known.place) < (*at, place.as_str()) {
                    *known = Candidate { terms: candidate.terms.clone(), text: candidate.text.clone(), ..candidate };
                }
            })
            .or_insert(candidate);
        }
    }
    let all: Vec<Candidate<'_>> = last.into_values().collect();
    let mut holding: HashMap<&str, f64> = HashMap::new();
    all.iter().flat_map(|one| &one.terms).for_each(|term| *holding.entry(term.as_str()).or_default() += 1.0);
    let about = terms_of(session);
    let worth = |one: &Candidate<'_>| {
        let shared = one.terms.intersection(&about).map(|term| {
            let rare = (1.0 + all.len() as f64 / holding[term.as_str()]).ln();
            if is_marker(term) { rare * SYNONYM } else { rare }
        });
        shared.sum::<f64>() / (one.terms.len() as f64 + LENGTH).sqrt() * (0.5 + weight(&one.text))
    };
    let mut ranked: Vec<(f64, &Candidate<'_>)> =
        all.iter().map(|one| (worth(one), one)).filter(|(worth, _)| *worth > 0.0).collect();
    ranked.sort_by(|(a, one), (b, other)| b.total_cmp(a).then((other.at, &other.text).cmp(&(one.at, &one.text))));
    let ranked = ranked.into_iter().take(MAX_OFFERED);
    ranked.map(|(_, one)| OfferedStatement { id: sentence_id(one.place, &one.text), text: one.text.clone() }).collect()
}

/// May a sentence say what holds?
fn states(text: &str) -> bool {
    let sentence = Sentence::of(text.to_owned());
    !sentence.is_unsure && !sentence.names_line && sentence.words.len() >= 2 && !is_filler(text) && !is_offer(text)
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

/// The words that tell what a text is about, and markers of what they may also be called.
fn terms(text: &str) -> BTreeSet<String> {
    let mut all = content_words(text);
    all.extend(words_of(&text.to_lowercase()).filter_map(group_of).map(marker));
    all
}

fn is_marker(term: &str) -> bool {
    term.starts_with("zzgroup")
}
