//! Matches a table of phrases against sentences. The tables hold the languages; this module knows none.
//!
//! ## Phrases
//! Words separated by spaces. `{class}` matches any phrase of a class, `#` a number other than zero, `~` up to three words, `^`
//! and `$` the start and the end of the sentence, `%end` a word with that ending. Punctuation is a word of its own, and `~` does
//! not reach across it. A longer match hides shorter ones inside it, so that "no longer fails" is not a failure.

use std::collections::HashMap;

use super::MemoryKind;

/// The phrases of one language.
#[derive(Debug)]
pub(crate) struct Language {
    /// Words for numbers, besides digits.
    pub(crate) numbers: &'static [&'static str],
    /// Words that make the rest of the clause hypothetical: `if`, `whether`.
    pub(crate) supposing: &'static [&'static str],
    /// Phrases with which a speaker announces what they are about to do: it is not done yet.
    pub(crate) announcing: &'static [&'static str],
    pub(crate) classes: &'static [(&'static str, &'static [&'static str])],
    pub(crate) rules: &'static [PhraseRule],
}

/// Phrases that make a sentence one kind of memory.
#[derive(Debug)]
pub(crate) struct PhraseRule {
    pub(crate) name: &'static str,
    /// `None` for phrases that only look like a memory.
    pub(crate) kind: Option<MemoryKind>,
    /// From 0 to 1.
    pub(crate) importance: f64,
    pub(crate) phrases: &'static [&'static str],
}

#[cfg(test)]
impl Language {
    /// Phrases that can never match: with an unknown class, in upper case, or with an open start.
    pub(crate) fn mistakes(&'static self) -> Vec<String> {
        let phrases = self.rules.iter().flat_map(|rule| rule.phrases).chain(self.announcing);
        let named = self.classes.iter().flat_map(|(_, members)| *members);
        let unknown = |part: &str| match part.strip_prefix('{') {
            Some(class) => !self.classes.iter().any(|(name, _)| class.strip_suffix('}') == Some(name)),
            None => part.chars().any(char::is_uppercase) || part.is_empty() || part.contains(['{', '}']),
        };
        let is_wrong = |phrase: &&&str| phrase.split(' ').any(unknown) || phrase.starts_with(['~', '%', '$']);
        phrases.chain(named).filter(is_wrong).map(|phrase| (*phrase).to_owned()).collect()
    }
}

/// A language compiled for matching.
#[derive(Debug)]
pub(crate) struct Matcher {
    language: &'static Language,
    /// The slots that a word fits.
    slots: HashMap<&'static str, Vec<usize>>,
    phrases: Vec<CompiledPhrase>,
    /// Phrases by their first element.
    by_slot: Vec<Vec<usize>>,
    by_start: Vec<usize>,
    by_number: Vec<usize>,
    announcing: Vec<Vec<Element>>,
}

#[derive(Debug)]
struct CompiledPhrase {
    rule: usize,
    elements: Vec<Element>,
}

#[derive(Debug, Clone, PartialEq)]
enum Element {
    Slot(usize),
    Number,
    Gap,
    Start,
    End,
    Ending(&'static str),
}

/// The most words that a `~` spans.
const MAX_GAP_WORDS: usize = 3;

struct SentenceWord<'w> {
    text: &'w str,
    slots: &'w [usize],
    number: bool,
    /// Punctuation that separates clauses.
    parts: bool,
}

/// A match of a rule's phrase in a sentence.
#[derive(Debug, Clone, Copy)]
struct PhraseMatch {
    from: usize,
    to: usize,
    rule: usize,
}

/// What a matcher knows of its language while it is made.
#[derive(Default)]
struct Known {
    /// The number of a slot by its name.
    slots: HashMap<&'static str, usize>,
    /// The ways to fill in a class, by its name.
    classes: HashMap<&'static str, Vec<Vec<Element>>>,
}

impl Matcher {
    pub(crate) fn new(language: &'static Language) -> Self {
        let mut all = Self {
            language,
            slots: HashMap::new(),
            phrases: Vec::new(),
            by_slot: Vec::new(),
            by_start: Vec::new(),
            by_number: Vec::new(),
            announcing: Vec::new(),
        };
        let mut known = Known::default();
        for (rule, of) in language.rules.iter().enumerate() {
            for phrase in of.phrases {
                for elements in all.elements(phrase, &mut known) {
                    all.add(rule, elements);
                }
            }
        }
        for phrase in language.announcing {
            let elements = all.elements(phrase, &mut known);
            all.announcing.extend(elements);
        }
        all
    }

    fn add(&mut self, rule: usize, elements: Vec<Element>) {
        let at = self.phrases.len();
        match elements.first() {
            Some(Element::Slot(slot)) => {
                self.by_slot.resize(self.by_slot.len().max(slot + 1), Vec::new());
                self.by_slot[*slot].push(at);
            }
            Some(Element::Start) => self.by_start.push(at),
            Some(Element::Number) => self.by_number.push(at),
            // A phrase that could start anywhere is a mistake, which a test of the tables finds.
            _ => return,
        }
        self.phrases.push(CompiledPhrase { rule, elements });
    }

    /// The elements of a phrase, once for each way to fill in multi-word members of its classes.
    fn elements(&mut self, phrase: &'static str, known: &mut Known) -> Vec<Vec<Element>> {
        let mut readings: Vec<Vec<Element>> = vec![Vec::new()];
        for part in phrase.split(' ').flat_map(split_word) {
            let choices: Vec<Vec<Element>> = match part {
                "#" => vec![vec![Element::Number]],
                "~" => vec![vec![Element::Gap]],
                "^" => vec![vec![Element::Start]],
                "$" => vec![vec![Element::End]],
                _ if part.starts_with('%') && part.len() > 1 => vec![vec![Element::Ending(&part[1..])]],
                _ if part.starts_with('{') => self.class(part.trim_matches(['{', '}']), known),
                word => vec![vec![self.slot(word, word, known)]],
            };
            readings = readings.iter().flat_map(|r| choices.iter().map(|c| [r.as_slice(), c.as_slice()].concat())).collect();
        }
        readings
    }

    /// The ways to fill in a class, which most of the phrases name.
    fn class(&mut self, name: &'static str, known: &mut Known) -> Vec<Vec<Element>> {
        if let Some(all) = known.classes.get(name) {
            return all.clone();
        }
        let (several, single): (Vec<&'static str>, Vec<&'static str>) =
            members(self.language, name).into_iter().partition(|m| m.contains(' '));
        let mut all: Vec<Vec<Element>> = Vec::new();
        for member in several {
            all.push(member.split(' ').map(|word| self.slot(word, word, known)).collect());
        }
        for member in single {
            all.push(vec![self.slot(name_of_class(self.language, name), member, known)]);
        }
        all.dedup();
        known.classes.insert(name, all.clone());
        all
    }

    /// The slot `name`, which `word` fits.
    fn slot(&mut self, name: &'static str, word: &'static str, known: &mut Known) -> Element {
        // Class names are in upper case, so that none is also a word.
        let next = known.slots.len();
        let slot = *known.slots.entry(name).or_insert(next);
        let fits = self.slots.entry(word).or_default();
        if !fits.contains(&slot) {
            fits.push(slot);
        }
        Element::Slot(slot)
    }

    /// The rule a sentence matches; of several, the most important.
    pub(crate) fn rule(&self, sentence: &str) -> Option<&'static PhraseRule> {
        let lower = sentence.to_lowercase().replace('\u{2019}', "'");
        let words = self.words(&lower);
        let hits = self.hits(&words);
        if hits.is_empty() {
            return None;
        }
        let hidden = |hit: &PhraseMatch| {
            let longer = |o: &PhraseMatch| o.to - o.from > hit.to - hit.from || self.language.rules[o.rule].kind.is_none();
            hits.iter().any(|o| o.from <= hit.from && o.to >= hit.to && longer(o))
        };
        let announced = self.is_announced(&words);
        // A sentence that begins with a solution reports a failure that is over.
        let kind = |hit: &PhraseMatch| self.language.rules[hit.rule].kind;
        let solved = hits.iter().any(|hit| hit.from == 0 && kind(hit) == Some(MemoryKind::Solution));
        let is_over = |hit: &PhraseMatch| solved && kind(hit) == Some(MemoryKind::Error);
        let rules = hits.iter().filter(|h| !hidden(h) && !self.is_hypothetical(&words, h) && !is_over(h));
        rules
            // "Let's go with" is a decision; anything else that is announced is still to come.
            .filter(|hit| !announced || hit.from <= 1)
            .map(|hit| &self.language.rules[hit.rule])
            .filter(|rule| rule.kind.is_some_and(|kind| !announced || !kind.is_event()))
            .max_by(|a, b| a.importance.total_cmp(&b.importance))
    }

    /// The names of the rules whose phrases occur in a sentence, of any kind, except inside a longer phrase.
    pub(crate) fn named(&self, sentence: &str) -> Vec<&'static str> {
        let lower = sentence.to_lowercase().replace('\u{2019}', "'");
        let hits = self.hits(&self.words(&lower));
        let longer = |hit: &PhraseMatch, o: &PhraseMatch| o.from <= hit.from && o.to >= hit.to && o.to - o.from > hit.to - hit.from;
        let shown = hits.iter().filter(|hit| !hits.iter().any(|o| longer(hit, o)));
        shown.map(|hit| self.language.rules[hit.rule].name).collect()
    }

    fn words<'w>(&'w self, lower: &'w str) -> Vec<SentenceWord<'w>> {
        let words = lower.split_whitespace().flat_map(split_word);
        let word = |text: &'w str| SentenceWord {
            slots: self.slots.get(text).map_or(&[], Vec::as_slice),
            number: self.is_number(text),
            parts: text.len() <= 3 && !text.chars().any(char::is_alphanumeric),
            text,
        };
        words.map(word).collect()
    }

    fn is_number(&self, word: &str) -> bool {
        let is_digits = || {
            word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.')) && word.bytes().any(|b| (b'1'..=b'9').contains(&b))
        };
        is_digits() || self.language.numbers.contains(&word)
    }

    fn hits(&self, words: &[SentenceWord<'_>]) -> Vec<PhraseMatch> {
        let mut hits = Vec::new();
        let mut find = |candidates: &[usize], from: usize| {
            for at in candidates {
                let phrase = &self.phrases[*at];
                if let Some(to) = match_end(&phrase.elements, words, from) {
                    hits.push(PhraseMatch { from, to, rule: phrase.rule });
                }
            }
        };
        find(&self.by_start, 0);
        for (from, word) in words.iter().enumerate() {
            for candidates in word.slots.iter().filter_map(|slot| self.by_slot.get(*slot)) {
                find(candidates, from);
            }
            if word.number {
                find(&self.by_number, from);
            }
        }
        hits
    }

    /// Does a match describe something hypothetical?
    fn is_hypothetical(&self, words: &[SentenceWord<'_>], hit: &PhraseMatch) -> bool {
        let kind = self.language.rules[hit.rule].kind;
        kind.is_some_and(MemoryKind::is_event)
            && words[..hit.from].iter().rev().take_while(|w| !w.parts).any(|w| self.language.supposing.contains(&w.text))
    }

    fn is_announced(&self, words: &[SentenceWord<'_>]) -> bool {
        words.last().is_some_and(|w| w.text.ends_with('?')) || self.announcing.iter().any(|a| match_end(a, words, 0).is_some())
    }
}

/// The members of a class, including those of classes it names.
fn members(language: &'static Language, name: &str) -> Vec<&'static str> {
    let found = language.classes.iter().find(|(n, _)| *n == name).map_or(&[][..], |(_, m)| m);
    let each = found.iter().map(|member| match member.strip_prefix('{') {
        Some(class) => members(language, class.trim_end_matches('}')),
        None => vec![*member],
    });
    each.flatten().collect()
}

/// A class's name, which its slot goes by. No word equals it, as words are lower case.
fn name_of_class(language: &'static Language, name: &str) -> &'static str {
    language.classes.iter().find(|(n, _)| *n == name).map_or("", |(n, _)| n)
}

/// A word without its markup, and the punctuation after it.
fn split_word(word: &str) -> impl Iterator<Item = &str> {
    let bare = word.trim_start_matches(['*', '`', '"', '(', '[', '\u{201c}', '-', '\u{2713}', '\u{2705}', '\u{274c}']);
    let bare = if bare.is_empty() && word.chars().all(|c| c == '-') { word } else { bare };
    let bare = bare.trim_end_matches(['*', '`', '"', ')', ']', '\u{201d}']);
    let word_end = bare.trim_end_matches(['.', ',', ';', ':', '!', '?']).len();
    let (word, rest) = bare.split_at(word_end);
    [word.trim_end_matches(['*', '`', '"', ')', ']', '\u{201d}']), rest].into_iter().filter(|piece| !piece.is_empty())
}

/// Where a phrase that starts at `from` ends, if it matches there.
fn match_end(elements: &[Element], words: &[SentenceWord<'_>], from: usize) -> Option<usize> {
    let Some((first, rest)) = elements.split_first() else { return Some(from) };
    match first {
        Element::Start => (from == 0).then(|| match_end(rest, words, from))?,
        Element::End => (from == words.len() || words[from..].iter().all(|w| w.parts)).then(|| match_end(rest, words, from))?,
        Element::Gap => {
            for skipped in 0..=MAX_GAP_WORDS {
                if let Some(end) = match_end(rest, words, from + skipped) {
                    return Some(end);
                }
                if words.get(from + skipped).is_none_or(|w| w.parts) {
                    return None;
                }
            }
            None
        }
        Element::Slot(slot) => words.get(from).filter(|w| w.slots.contains(slot)).and_then(|_| match_end(rest, words, from + 1)),
        Element::Number => words.get(from).filter(|w| w.number).and_then(|_| match_end(rest, words, from + 1)),
        Element::Ending(end) => words.get(from).filter(|w| w.text.ends_with(end)).and_then(|_| match_end(rest, words, from + 1)),
    }
}
