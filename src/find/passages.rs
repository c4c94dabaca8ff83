//! What to show of a result: the sentences that answer best, and how much of the question it holds at all.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use anyhow::Result;
use serde::Serialize;

use super::query::Query;
use super::rank::{Ranked, Weighed, weight};
use super::synonyms::words_of_group;
use super::{Found, Origin, Wanted};
use crate::clean::{one_line, plain, shorten};
use crate::digest::{Digest, UNTITLED};
use crate::prose::sentences;
use crate::session::Millis;
use crate::store::Store;
use crate::store::search::Text;
use crate::terms::{is_unsegmented, stem};

/// How far a sentence may reach to either side of a word, in bytes.
const REACH: usize = 220;
/// The longest ending that a word may have beyond its stem, in bytes.
const ENDING: usize = 4;
/// What a word of the same meaning counts, against the word itself.
const SYNONYM: f64 = 0.5;
/// What a further use of one sentence's words counts once another passage has them.
const AGAIN: f64 = 0.3;

/// Who said it, or what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    Title,
    Prompt,
    Reply,
    Decision,
    Outcome,
    Learned,
    Next,
    Blocker,
    Plan,
    Recap,
    Error,
    Command,
    File,
    Note,
}

/// A kind by name, the columns its words lie in, the passages that are of it.
const KINDS: [(&str, &[&str], &[Said]); 15] = [
    ("title", &["title"], &[Said::Title]),
    ("prompt", &["asked"], &[Said::Prompt]),
    ("reply", &["said"], &[Said::Reply, Said::Plan]),
    ("plan", &["said"], &[Said::Plan]),
    ("decision", &["decided"], &[Said::Decision]),
    ("outcome", &["noted"], &[Said::Outcome]),
    ("learned", &["noted"], &[Said::Learned]),
    ("next", &["noted"], &[Said::Next]),
    ("blocker", &["noted"], &[Said::Blocker]),
    ("recap", &["noted"], &[Said::Recap]),
    ("observation", &["noted", "decided"], &[Said::Outcome, Said::Learned, Said::Next, Said::Blocker, Said::Decision]),
    ("error", &["did"], &[Said::Error]),
    ("command", &["did"], &[Said::Command]),
    ("file", &["files"], &[Said::File]),
    ("note", &["decided"], &[Said::Note]),
];

/// The kinds that can be asked for.
pub fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|(name, ..)| *name).collect()
}

/// Is it a kind that can be asked for?
pub(super) fn is_kind(name: &str) -> bool {
    KINDS.iter().any(|(known, ..)| *known == name)
}

pub(super) fn columns_of(kind: &str) -> &'static [&'static str] {
    KINDS.iter().find(|(known, ..)| *known == kind).map_or(&[], |(_, columns, _)| columns)
}

/// A sentence of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    pub kind: Said,
    /// One line.
    pub text: String,
    pub at: Option<Millis>,
}

/// The places in a text where it says what was asked for.
pub struct Highlighter {
    finder: Option<AhoCorasick>,
    /// The word of each pattern, and what it counts.
    of: Vec<(usize, f64)>,
    /// Does the pattern need the end of a word behind it?
    whole: Vec<bool>,
}

/// A place where a word stands.
#[derive(Debug, Clone, PartialEq)]
struct Spot {
    at: Range<usize>,
    word: usize,
    factor: f64,
}

impl Highlighter {
    pub fn of_query(query: &Query) -> Self {
        let phrases = query.phrases.iter().flat_map(|phrase| crate::terms::words_of(phrase)).map(str::to_lowercase);
        let words: Vec<(String, Option<&'static str>)> =
            query.terms.iter().map(|term| (term.text.clone(), term.group)).chain(phrases.map(|word| (word, None))).collect();
        Self::new(words.iter().map(|(word, group)| (word.as_str(), *group)))
    }

    fn new<'w>(words: impl Iterator<Item = (&'w str, Option<&'static str>)>) -> Self {
        let (mut patterns, mut of, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        let mut add = |pattern: &str, word: usize, factor: f64| {
            let short = pattern.chars().count() <= 3 && !pattern.chars().any(is_unsegmented);
            whole.push(short);
            patterns.push(if short { pattern.to_owned() } else { stem(pattern).to_owned() });
            of.push((word, factor));
        };
        for (at, (word, group)) in words.enumerate() {
            // The parts of a joined name are words of their own.
            if !word.contains(' ') {
                add(word, at, 1.0);
            }
            group.into_iter().flat_map(words_of_group).filter(|other| *other != word).for_each(|other| add(other, at, SYNONYM));
        }
        let build = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .build(&patterns);
        Self { finder: build.ok().filter(|_| !patterns.is_empty()), of, whole }
    }

    fn spots(&self, text: &str) -> Vec<Spot> {
        let Some(finder) = &self.finder else { return Vec::new() };
        let found = finder.find_overlapping_iter(text).filter_map(|hit| {
            let pattern = hit.pattern().as_usize();
            let end = word_end(text, hit.range(), self.whole[pattern])?;
            let (word, factor) = self.of[pattern];
            Some(Spot { at: hit.start()..end, word, factor })
        });
        found.collect()
    }

    /// At most about `max` characters of a text: a long one from shortly before its first place.
    pub fn excerpt(&self, text: &str, max: usize) -> String {
        let first = self.marks(text).first().map_or(0, |mark| mark.start);
        if text.chars().count() <= max || text[..first].chars().count() < max / 2 {
            return shorten(text, max);
        }
        let from = text[..first].char_indices().rev().nth(max / 3).map_or(0, |(at, _)| at);
        let from = text[from..first].find(char::is_whitespace).map_or(from, |at| from + at);
        format!("…{}", shorten(text[from..].trim_start(), max))
    }

    /// The ranges to make stand out, in order and apart.
    pub fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = self.spots(text).into_iter().map(|spot| spot.at).collect();
        ranges.sort_by_key(|range| (range.start, range.end));
        let mut apart: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match apart.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        apart
    }
}

/// Where the word ends that a hit begins; `None` when it is in the middle of a word, or another word only begins so.
fn word_end(text: &str, hit: Range<usize>, whole: bool) -> Option<usize> {
    if text[hit.clone()].chars().any(is_unsegmented) {
        return Some(hit.end);
    }
    let before = text[..hit.start].chars().next_back();
    let starts = before.is_none_or(|b| !b.is_alphanumeric())
        || before.is_some_and(char::is_lowercase) && text[hit.start..].starts_with(char::is_uppercase);
    let rest = &text[hit.end..];
    let is_end = |(_, c): &(usize, char)| !c.is_lowercase();
    let ending = rest.char_indices().find(is_end).map_or(rest.len(), |(at, _)| at);
    let fits = if whole { ending == 0 } else { ending <= ENDING };
    (starts && fits).then_some(hit.end + ending)
}

/// Does it hold every phrase as it was typed? The index leaves words out that say nothing.
pub(super) fn holds_phrases(store: &Store, query: &Query, origin: &Origin) -> Result<bool> {
    if query.phrases.is_empty() {
        return Ok(true);
    }
    let texts = texts_of(store, origin, true)?;
    let folded: Vec<String> = texts.iter().map(|text| fold(&text.text)).collect();
    Ok(query.phrases.iter().map(|phrase| fold(phrase)).all(|phrase| folded.iter().any(|text| text.contains(&phrase))))
}

/// In lower case, with words one sign apart whatever stands between.
fn fold(text: &str) -> String {
    crate::terms::words_of(text).map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// All that may be shown of it, the digest's statements first. Where `all`, what was done and failed too.
fn texts_of(store: &Store, origin: &Origin, all: bool) -> Result<Vec<Text>> {
    let head = match origin {
        Origin::Note(note) => return Ok(vec![Text { kind: Said::Note, text: note.text.clone(), at: Some(note.at) }]),
        Origin::Session(head) => head,
    };
    let digest = store.digest_of(head.pk)?.map(|stored| stored.digest);
    let mut texts = digest.as_ref().map(statements).unwrap_or_default();
    texts.extend(store.texts_of(head, all)?);
    Ok(texts)
}

fn statements(digest: &Digest) -> Vec<Text> {
    let lists = [(Said::Outcome, &digest.completed), (Said::Learned, &digest.learned), (Said::Learned, &digest.investigated)];
    let lists = lists.into_iter().flat_map(|(kind, list)| list.iter().map(move |text| (kind, text)));
    let claims = [(Said::Decision, &digest.decisions), (Said::Next, &digest.next_steps), (Said::Blocker, &digest.blockers)];
    let claims = claims.into_iter().flat_map(|(kind, list)| list.iter().map(move |claim| (kind, &claim.text)));
    let all = std::iter::once((Said::Title, &digest.title)).chain(claims).chain(lists);
    all.map(|(kind, text)| Text { kind, text: text.clone(), at: None }).collect()
}

/// A sentence that may be shown.
struct Candidate {
    passage: Passage,
    /// What each word counts in it.
    words: BTreeMap<usize, f64>,
}

pub(super) fn shown(store: &Store, query: &Query, wanted: &Wanted<'_>, ranked: Ranked) -> Result<Found> {
    let asks_for_deeds = query.filters.kinds.iter().any(|kind| matches!(kind.as_str(), "error" | "command" | "file"));
    let texts = texts_of(store, &ranked.origin, asks_for_deeds)?;
    let phrases: Vec<String> =
        query.phrases.iter().flat_map(|phrase| crate::terms::words_of(phrase)).map(str::to_lowercase).collect();
    let words = ranked.words.iter().map(|word| (word.text.as_str(), word.group));
    let highlighter = Highlighter::new(words.chain(phrases.iter().map(|word| (word.as_str(), None))));
    let weights: Vec<f64> = ranked.words.iter().map(|word| word.weight).chain(phrases.iter().map(|_| 1.0)).collect();
    let kinds: BTreeSet<Said> = query.filters.kinds.iter().flat_map(|kind| said_of(kind)).copied().collect();
    let (mut held, mut shown) = (BTreeSet::new(), BTreeSet::new());
    let mut candidates = Vec::new();
    for text in &texts {
        let spots = highlighter.spots(&text.text);
        held.extend(spots.iter().map(|spot| spot.word));
        if text.kind == Said::Title {
            shown.extend(spots.iter().map(|spot| spot.word));
        }
        if kinds.is_empty() && text.kind != Said::Title || kinds.contains(&text.kind) {
            candidates.extend(around(text, spots));
        }
    }
    let passages = best(candidates, &weights, wanted.passages, &mut shown);
    let (title, goes_on) = title_of(store, &ranked.origin, &texts)?;
    let covered = covered(store, &ranked.words, &held, ranked.doc)?;
    Ok(Found {
        title,
        goes_on,
        score: ranked.score,
        covered,
        focus: weight_of(&weights, &shown) / weights.iter().sum::<f64>().max(f64::MIN_POSITIVE),
        telling: weight_of(&weights, &shown) / weight(1.0, store.documents()? as f64),
        passages: or_first(passages, &texts, &kinds, wanted),
        origin: ranked.origin,
    })
}

fn said_of(kind: &str) -> &'static [Said] {
    KINDS.iter().find(|(known, ..)| *known == kind).map_or(&[], |(.., said)| said)
}

/// Where no sentence holds a word, the first that may be shown: found by its files, or by meaning.
fn or_first(passages: Vec<Passage>, texts: &[Text], kinds: &BTreeSet<Said>, wanted: &Wanted<'_>) -> Vec<Passage> {
    if !passages.is_empty() || wanted.passages == 0 {
        return passages;
    }
    let fits = |text: &&Text| if kinds.is_empty() { text.kind != Said::Title } else { kinds.contains(&text.kind) };
    let first = texts.iter().find(fits).map(|text| Passage { kind: text.kind, text: readable(&text.text), at: text.at });
    first.into_iter().collect()
}

fn title_of(store: &Store, origin: &Origin, texts: &[Text]) -> Result<(String, bool)> {
    let Origin::Session(head) = origin else {
        return Ok((texts.first().map(|text| one_line(&plain(&text.text))).unwrap_or_default(), false));
    };
    let goes_on = store.goes_on(head.pk)?;
    let first = |kind: Said| texts.iter().find(|text| text.kind == kind);
    let titled = first(Said::Title).or_else(|| first(Said::Prompt)).or(texts.first());
    Ok((titled.map_or_else(|| UNTITLED.to_owned(), |text| readable(&text.text)), goes_on))
}

fn weight_of(weights: &[f64], words: &BTreeSet<usize>) -> f64 {
    words.iter().filter_map(|word| weights.get(*word)).sum()
}

/// The share of the words, by weight, that it holds: in what can be shown, or in its files, commands and names.
fn covered(store: &Store, words: &[Weighed], held: &BTreeSet<usize>, doc: i64) -> Result<f64> {
    let total: f64 = words.iter().map(|word| word.weight).sum();
    let mut sum = 0.0;
    for (at, word) in words.iter().enumerate() {
        if held.contains(&at) || store.holds(doc, &word.expression)? {
            sum += word.weight;
        }
    }
    Ok(if total > 0.0 { sum / total } else { 0.0 })
}

/// The sentences around the words of a text.
fn around(text: &Text, spots: Vec<Spot>) -> Vec<Candidate> {
    let mut by_start: BTreeMap<usize, (usize, BTreeMap<usize, f64>)> = BTreeMap::new();
    for spot in spots {
        let (start, end) = sentence(&text.text, &spot.at);
        let (_, words) = by_start.entry(start).or_insert((end, BTreeMap::new()));
        let factor = words.entry(spot.word).or_insert(0.0);
        *factor = spot.factor.max(*factor);
    }
    let candidate = |(start, (end, words))| {
        let passage = Passage { kind: text.kind, text: readable(&text.text[start..end]), at: text.at };
        Candidate { passage, words }
    };
    by_start.into_iter().map(candidate).collect()
}

/// The sentence around a place, no further than `REACH` to either side.
fn sentence(text: &str, at: &Range<usize>) -> (usize, usize) {
    let from = text.ceil_char_boundary(at.start.saturating_sub(REACH));
    let to = text.floor_char_boundary((at.end + REACH).min(text.len()));
    let before = &text[from..at.start];
    let start = [before.rfind('\n').map(|i| i + 1), before.rfind(". ").map(|i| i + 2), before.rfind('。').map(|i| i + 3)];
    let start = start.into_iter().flatten().max().map_or_else(|| word_start(text, from), |i| from + i);
    let after = &text[at.end..to];
    let end = [after.find('\n'), after.find(". ").map(|i| i + 1), after.find('。').map(|i| i + 3)];
    let end = end.into_iter().flatten().min().map_or_else(|| last_word_end(text, to), |i| at.end + i);
    (start, end.max(at.end))
}

fn word_start(text: &str, from: usize) -> usize {
    if from == 0 { 0 } else { text[from..].find(char::is_whitespace).map_or(from, |i| from + i).min(text.len()) }
}

fn last_word_end(text: &str, to: usize) -> usize {
    if to == text.len() { to } else { text[..to].rfind(char::is_whitespace).unwrap_or(to) }
}

/// Without markup, on one line.
fn readable(text: &str) -> String {
    let said = sentences(text).join(" ");
    one_line(&plain(if said.is_empty() { text } else { &said }))
}

/// The passages that say most, and what the ones before them have not said yet; their words are added to `shown`.
fn best(mut candidates: Vec<Candidate>, weights: &[f64], most: usize, shown: &mut BTreeSet<usize>) -> Vec<Passage> {
    let mut chosen: Vec<Passage> = Vec::new();
    let mut said: BTreeSet<usize> = BTreeSet::new();
    while chosen.len() < most && !candidates.is_empty() {
        let worth = |one: &Candidate| {
            let words =
                one.words.iter().map(|(word, factor)| weights[*word] * factor * if said.contains(word) { AGAIN } else { 1.0 });
            words.sum::<f64>() * of_kind(one.passage.kind)
        };
        // The first of equals: the digest's own words come before the conversation's.
        let at = (0..candidates.len()).rev().max_by(|a, b| worth(&candidates[*a]).total_cmp(&worth(&candidates[*b])));
        let Some(one) = at.map(|at| candidates.remove(at)) else { break };
        said.extend(one.words.keys());
        candidates.retain(|other| other.passage.text != one.passage.text);
        chosen.push(one.passage);
    }
    shown.extend(said);
    chosen
}

/// What is said of something is worth more than that it was named.
fn of_kind(kind: Said) -> f64 {
    match kind {
        Said::Decision | Said::Note => 1.25,
        Said::Learned | Said::Outcome | Said::Recap | Said::Blocker => 1.15,
        Said::Prompt | Said::Next => 1.05,
        Said::Title | Said::Reply | Said::Plan | Said::Error => 1.0,
        Said::Command | Said::File => 0.8,
    }
}
