//! What a sentence leaves, and what it says that something is now.

use std::collections::BTreeSet;
use std::ops::Range;

use super::sentence::{Sentence, Token, content_words, is_number, is_small};
use super::word_lists::{BEING, LEAVING, LEFT, MOVING, WordList, is_of_any_work, is_state_of_work};

/// Words that end the phrase of an object.
const ENDS: [&str; 46] = [
    "because", "since", "so", "as", "but", "which", "that", "after", "when", "while", "instead", "until", "due", "by", "now",
    "who", "where", "then", "with", "to", "from", "in", "on", "for", "at", "of", "into", "over", "via", "through", "everywhere",
    "entirely", "completely", "and", "rather", "anymore", "any", "is", "are", "was", "were", "has", "have", "will", "altogether",
    "off",
];
/// Words that begin a clause of their own.
const CLAUSES: [&str; 5] = ["and", "but", "so", "because", "that"];
/// Words that open a phrase and belong to no object: "no longer stored in Redis", "rather than asking LaunchDarkly".
const OPENERS: [&str; 22] = [
    "use", "uses", "used", "using", "stored", "need", "needs", "needed", "kept", "keep", "goes", "run", "runs", "rely", "relies",
    "depend", "depends", "written", "lives", "live", "call", "calls",
];
/// What is said to be so in these need not be so elsewhere.
const NARROW: [&str; 5] = ["docs", "documentation", "branch", "branches", "tests"];
/// Words before the number of one piece of work.
const NUMBERED: [&str; 9] = ["pr", "mr", "request", "issue", "ticket", "bug", "task", "story", "step"];
/// The characters that git shows of a commit's hash.
const SHORTEST_HASH: usize = 7;
/// Prepositions that say alike by what means something is done.
const MEANS: [&str; 5] = ["with", "by", "through", "via", "over"];
const PREPOSITIONS: [&str; 18] = [
    "in", "on", "at", "by", "with", "through", "via", "over", "as", "to", "from", "every", "of", "per", "into", "against", "after",
    "within",
];
/// So many words that two sentences begin with alike say that they are about the same, whatever preposition follows.
const LONG_FRAME: usize = 3;

/// A change that a sentence tells of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// It leaves one thing, maybe for another. `subject` is what leaves it, if that is named.
    Leaves {
        left: BTreeSet<String>,
        phrase: Vec<String>,
        subject: Vec<String>,
        about: BTreeSet<String>,
        everywhere: bool,
        by_name: bool,
        /// It tells how far some work is: "not pushed". Other work may well be pushed.
        of_work: bool,
    },
    /// It gives the value that something has now.
    Sets { value: Quantity, about: BTreeSet<String> },
    /// It goes back to what another sentence left.
    Returns { to: BTreeSet<String> },
    /// It turns something on or off, of these names.
    Turns { names: BTreeSet<String>, on: bool },
    /// A clause of it begins like one of another sentence, and may go on otherwise: its first two content words.
    States { begins: [String; 2] },
    /// It takes back what was thought to cause something.
    Corrects { about: BTreeSet<String> },
}

impl Change {
    /// A sentence that it overtakes holds one of these words.
    pub(super) fn words(&self) -> Option<&BTreeSet<String>> {
        match self {
            Self::Leaves { left: words, .. }
            | Self::Sets { about: words, .. }
            | Self::Returns { to: words }
            | Self::Turns { names: words, .. } => Some(words),
            Self::States { .. } | Self::Corrects { .. } => None,
        }
    }

    /// Does it overtake what an earlier sentence says?
    pub(super) fn overtakes(&self, later: &Sentence, earlier: &Sentence) -> bool {
        let may_be = match self {
            Self::Returns { .. } | Self::Turns { .. } | Self::Sets { .. } => {
                earlier.may_be_overtaken() || tells_state_by_deed(earlier)
            }
            _ => earlier.may_be_overtaken(),
        };
        if !may_be || !may_be_same_place(later.places, earlier.places) || is_narrower(later, earlier) {
            return false;
        }
        match self {
            Self::Leaves { left, phrase, subject, about, everywhere, by_name, of_work } => {
                let is_name = |at: usize| earlier.tokens[at].is_name && earlier.content(at..at + 1) == *left;
                if *by_name && !(0..earlier.tokens.len()).any(is_name) {
                    return false;
                }
                let is_meant = || match of_work {
                    true => is_about_same_work(subject, left, later, earlier),
                    false => *everywhere && subject.is_empty() || is_about_same(subject, about, left, earlier),
                };
                earlier.holds(phrase) && states(earlier, left) && is_meant()
            }
            Self::Sets { value, about } => {
                let theirs = value_set(earlier).map_or_else(|| quantities(earlier), |(theirs, _)| std::slice::from_ref(theirs));
                differ_in_value(theirs, std::slice::from_ref(value)) && about.is_subset(earlier.words()) && !denies_all(earlier)
            }
            Self::Returns { to } => leavings(earlier).iter().any(|(_, range)| earlier.content(range.clone()) == *to),
            Self::Turns { names, on } => {
                turned(earlier).is_some_and(|(theirs, was_on)| was_on != *on && !theirs.is_disjoint(names)) && !denies_all(earlier)
            }
            Self::States { .. } => states_otherwise(earlier, later),
            Self::Corrects { about } => says_cause(earlier) && about.intersection(earlier.words()).count() >= 2,
        }
    }
}

/// What a later sentence takes back of an earlier one: its only value, and what both are about.
pub(super) struct TakenBack<'s> {
    pub(super) value: &'s Quantity,
    about: Vec<&'s String>,
}

impl<'s> TakenBack<'s> {
    pub(super) fn of(earlier: &'s Sentence, later: &'s Sentence) -> Option<Self> {
        let value = only_quantity(earlier)?;
        let shared = earlier.words().intersection(later.words());
        let about: Vec<&String> = shared.filter(|word| !is_number(word) && !is_unit(word)).collect();
        (about.len() >= 2).then_some(Self { value, about })
    }

    /// Does a sentence that states this value say it again?
    pub(super) fn is_said_by(&self, again: &Sentence, value: &Quantity) -> bool {
        is_equal(value, self.value) && self.about.iter().all(|word| again.words().contains(*word))
    }
}

/// The value that a sentence states to be so.
pub(super) fn value_stated(sentence: &Sentence) -> Option<&Quantity> {
    if sentence.is_unsure {
        return None;
    }
    value_set(sentence).map(|(value, _)| value).or_else(|| only_quantity(sentence))
}

fn only_quantity(sentence: &Sentence) -> Option<&Quantity> {
    match quantities(sentence) {
        [one] => Some(one),
        _ => None,
    }
}

/// Is it the name of a unit, or the stem of one?
pub(in crate::analyze) fn is_unit(word: &str) -> bool {
    UNITS.iter().any(|(_, names, _)| names.contains(&word))
}

fn is_equal(one: &Quantity, other: &Quantity) -> bool {
    match (&one.measured, &other.measured) {
        (Some(one), Some(other)) => one == other,
        _ => one.text == other.text,
    }
}

/// Is it said that these are so, and not that they are not, or that they were left?
fn states(sentence: &Sentence, words: &BTreeSet<String>) -> bool {
    let left_there = leavings(sentence).iter().any(|(_, range)| !sentence.content(range.clone()).is_disjoint(words));
    !left_there && !is_denied(sentence, words)
}

/// Does a negation stand before one of the words, in its clause?
fn is_denied(sentence: &Sentence, words: &BTreeSet<String>) -> bool {
    let mut denied = false;
    for at in 0..sentence.tokens.len() {
        if !sentence.tokens[at].is_word {
            denied = false;
        } else if sentence.is_in(at, WordList::Negations) {
            denied = true;
        } else if denied && !sentence.content(at..at + 1).is_disjoint(words) {
            return true;
        }
    }
    false
}

pub(super) fn denies_all(sentence: &Sentence) -> bool {
    sentence.tokens.iter().filter(|token| token.is_in(WordList::Negations)).count() % 2 == 1
}

/// Does the earlier sentence speak of what leaves something? A change without a subject is one of the whole project, unless it names what else
/// it is about.
fn is_about_same(subject: &[String], about: &BTreeSet<String>, left: &BTreeSet<String>, earlier: &Sentence) -> bool {
    let is_other = |word: &String| earlier.words().contains(word) && !left.contains(word);
    if subject.is_empty() {
        return about.iter().any(is_other);
    }
    if subject.iter().filter(|word| is_other(word)).count() * 2 < subject.len() {
        return false;
    }
    same_modifier(subject, earlier)
}

/// Is it about the same work? It has the same subject, or both name a file, a branch, a commit or a number, or the earlier sentence holds most of
/// what the later one does not say of any work.
fn is_about_same_work(subject: &[String], left: &BTreeSet<String>, later: &Sentence, earlier: &Sentence) -> bool {
    let is_own = |word: &str| !is_of_any_work(word) && !word.bytes().all(|b| b.is_ascii_digit());
    let own_subject: Vec<String> = subject.iter().filter(|word| is_own(word)).cloned().collect();
    let same_subject = !own_subject.is_empty() && is_about_same(&own_subject, &BTreeSet::new(), left, earlier);
    let of_states: BTreeSet<String> =
        (0..later.tokens.len()).filter(|at| is_state_of_work(later.word(*at))).flat_map(|at| later.content(at..at + 1)).collect();
    let own = || later.words().iter().filter(|word| is_own(word) && !of_states.contains(*word));
    let shared = own().filter(|word| earlier.words().contains(*word)).count();
    let is_shared_name = |at: usize| names_work(later, at) && earlier.has_word(later.word(at));
    same_subject || shared * 2 > own().count() || (0..later.tokens.len()).any(is_shared_name)
}

/// Does a name of one piece of work stand there: `src/cart.rs`, `feat/export`, `1111aaa`, the 41 of "PR 41"?
fn names_work(sentence: &Sentence, at: usize) -> bool {
    let (word, has_digit) = (sentence.word(at), sentence.word(at).contains(|c: char| c.is_ascii_digit()));
    let is_hash = word.len() >= SHORTEST_HASH && has_digit && word.contains(|c: char| c.is_ascii_alphabetic());
    let is_name = || sentence.tokens[at].is_name && (has_digit || word.contains(['_', '.', '/', '-']));
    let is_numbered = || is_number(word) && at > 0 && NUMBERED.contains(&sentence.word(at - 1));
    is_hash || is_numbered() || is_name()
}

/// "The US shop" is not "the German shop": a word of both that another word stands before in each is about something else.
fn same_modifier(subject: &[String], earlier: &Sentence) -> bool {
    let Some(own) = subject.len().checked_sub(2).map(|at| &subject[at]) else { return true };
    // "Test sessions" are not all sessions.
    earlier.stems(0..earlier.tokens.len()).any(|word| word == own)
}

pub(super) fn may_be_same_place(one: u32, other: u32) -> bool {
    one == 0 || other == 0 || one & other != 0
}

/// What a sentence says of a part of its subject: the words for a place that says nothing of the whole, and whether it is of "the old" one.
#[derive(Debug, Clone)]
pub(super) struct Narrows {
    places: Vec<usize>,
    is_old: bool,
}

fn narrows(sentence: &Sentence) -> &Narrows {
    sentence.narrows.get_or_init(|| {
        let all = 0..sentence.tokens.len();
        let is_in = |at: usize| matches!(sentence.word(at), "in" | "on" | "for");
        let is_there = |at: &usize| (1..4).any(|n| at.checked_sub(n).is_some_and(is_in));
        let places = all.clone().filter(|at| NARROW.contains(&sentence.word(*at))).filter(is_there).collect();
        let is_old = all.clone().any(|at| {
            sentence.word(at) == "old"
                && at > 1
                && sentence.word(at - 1) == "the"
                && matches!(sentence.word(at - 2), "in" | "on" | "of")
        });
        Narrows { places, is_old }
    })
}

/// Is the later sentence about a part of what the earlier one is about?
fn is_narrower(later: &Sentence, earlier: &Sentence) -> bool {
    let part = narrows(later);
    part.places.iter().any(|at| !earlier.has_word(later.word(*at))) || part.is_old && !narrows(earlier).is_old
}

/// "I raised the timeout to 60 s" says that it is 60 s, "I turned the flag on" that it is on, "we moved from npm" that npm is left.
pub(super) fn tells_state_by_deed(sentence: &Sentence) -> bool {
    !sentence.is_unsure
        && !sentence.names_line
        && (value_set(sentence).is_some() || turned(sentence).is_some() || !leavings(sentence).is_empty())
}

/// A number with its unit, as far as both are known: `30`, `30 s` and `30000 ms`, `10 MB`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    /// As it is written.
    text: String,
    /// Its unit's kind, and the number in the kind's smallest unit.
    measured: Option<(&'static str, f64)>,
    /// Per what.
    per: Option<String>,
}

/// By this, equal values are looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ValueKey<'q> {
    Written(&'q str),
    /// Its unit's kind, and the bits of the number.
    Measured(&'static str, u64),
}

impl Quantity {
    /// Two values that are equal have one of these in common.
    pub(super) fn keys(&self) -> impl Iterator<Item = ValueKey<'_>> {
        let measured = self.measured.map(|(kind, number)| ValueKey::Measured(kind, number.to_bits()));
        std::iter::once(ValueKey::Written(&self.text)).chain(measured)
    }
}

/// Units by their kind, each with how much of the kind's smallest unit it is.
const UNITS: [(&str, &[&str], f64); 15] = [
    ("time", &["ms", "millisecond", "milliseconds"], 1.0),
    ("time", &["s", "sec", "secs", "second", "seconds"], 1_000.0),
    ("time", &["min", "mins", "minute", "minutes"], 60_000.0),
    ("time", &["h", "hour", "hours"], 3_600_000.0),
    ("time", &["d", "day", "days"], 86_400_000.0),
    ("time", &["week", "weeks"], 604_800_000.0),
    ("size", &["b", "byte", "bytes"], 1.0),
    ("size", &["kb", "kib"], 1_000.0),
    ("size", &["mb", "mib"], 1_000_000.0),
    ("size", &["gb", "gib"], 1_000_000_000.0),
    ("size", &["tb", "tib"], 1_000_000_000_000.0),
    ("share", &["percent", "%"], 1.0),
    ("count", &["file", "files", "row", "rows", "item", "items", "entries", "requests", "users", "sessions"], 1.0),
    ("count", &["retries", "attempts", "times", "connections", "workers", "threads", "pages"], 1.0),
    ("count", &["characters", "chars", "lines", "tokens", "words"], 1.0),
];

pub(super) fn quantities(sentence: &Sentence) -> &[Quantity] {
    sentence.quantities.get_or_init(|| quantities_in(sentence, 0..sentence.tokens.len()))
}

fn quantities_in(sentence: &Sentence, range: Range<usize>) -> Vec<Quantity> {
    range.filter_map(|at| quantity(sentence, at)).collect()
}

fn quantity(sentence: &Sentence, at: usize) -> Option<Quantity> {
    let word = sentence.word(at);
    if !is_number(word) {
        return None;
    }
    let digits = word.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(word.len());
    let number: Option<f64> = word[..digits].replace(',', "").parse().ok();
    let unit = if digits < word.len() { word[digits..].trim_start_matches('-') } else { sentence.word(at + 1) };
    let known = UNITS.iter().find(|(_, names, _)| names.contains(&unit));
    let per = (at + 1..at + 4)
        .find(|at| matches!(sentence.word(*at), "per" | "a" | "an" | "each"))
        .map(|at| sentence.word(at + 1).to_owned());
    let measured = number.zip(known).map(|(number, (kind, _, factor))| (*kind, number * factor));
    Some(Quantity { text: word.to_owned(), measured, per: per.filter(|_| known.is_some()) })
}

/// Are there values on both sides, all of one kind, and none on both?
pub(super) fn differ_in_value(one: &[Quantity], other: &[Quantity]) -> bool {
    let differ = |a: &Quantity, b: &Quantity| match (&a.measured, &b.measured) {
        (Some((kind, a_is)), Some((other_kind, b_is))) => kind == other_kind && a_is != b_is,
        (None, None) => a.text != b.text,
        // `30` may be 30 s.
        _ => a.text != b.text && !(a.text.starts_with(&b.text) || b.text.starts_with(&a.text)),
    };
    let is_same_per = |a: &Quantity, b: &Quantity| a.per == b.per || a.per.is_none() || b.per.is_none();
    !one.is_empty() && !other.is_empty() && one.iter().all(|a| other.iter().all(|b| differ(a, b) && is_same_per(a, b)))
}

/// What a sentence turns on or off, or says to be on or off: names alone, for other words are turned on everywhere.
fn turned(sentence: &Sentence) -> Option<(BTreeSet<String>, bool)> {
    let state = |at: usize| match (sentence.word(at), sentence.word(at.wrapping_sub(1))) {
        ("enabled" | "enable" | "enables", _) => Some(true),
        ("disabled" | "disable" | "disables", _) => Some(false),
        ("on" | "off", before) if BEING.contains(&before) || matches!(before, "turned" | "switched" | "turn" | "switch") => {
            Some(sentence.word(at) == "on")
        }
        _ => None,
    };
    let on = (1..sentence.tokens.len()).chain([0]).find_map(state)?;
    let named = (0..sentence.tokens.len()).filter(|at| sentence.tokens[*at].is_word && sentence.tokens[*at].is_name);
    let names: BTreeSet<String> = named.flat_map(|at| sentence.content(at..at + 1)).collect();
    (!names.is_empty()).then_some((names, on))
}

/// What a sentence goes back to: "we went back to npm".
fn returns(sentence: &Sentence) -> Option<Change> {
    let goes_back =
        |at: &usize| sentence.word(*at) == "back" && matches!(sentence.word(at + 1), "to" | "on" | "with" | "in" | "from");
    let at = (0..sentence.tokens.len()).find(goes_back)?;
    let to = match sentence.word(at + 1) {
        "from" => (at..sentence.tokens.len()).take(8).find(|at| sentence.word(*at) == "to")? + 1,
        _ => at + 2,
    };
    let to = sentence.content(object(sentence, to)?);
    let is_value = to.iter().any(|word| is_number(word));
    (!to.is_empty() && !is_value).then_some(Change::Returns { to })
}

/// The changes that a sentence tells of, without what it [states](states_anew).
pub(super) fn changes_of(sentence: &Sentence) -> Vec<Change> {
    if sentence.is_unsure {
        return Vec::new();
    }
    let mut all: Vec<Change> = leavings(sentence).iter().filter_map(|(at, range)| leaves(sentence, *at, range.clone())).collect();
    all.extend(value_set(sentence).cloned().map(|(value, about)| Change::Sets { value, about }));
    all.extend(returns(sentence));
    all.extend(turned(sentence).map(|(names, on)| Change::Turns { names, on }));
    all.extend(corrects(sentence));
    all
}

/// What a sentence states, maybe otherwise than an earlier one.
pub(super) fn states_anew(sentence: &Sentence) -> impl Iterator<Item = Change> {
    let stated = if sentence.is_unsure { Vec::new() } else { beginnings(sentence) };
    stated.into_iter().map(|begins| Change::States { begins })
}

fn leaves(sentence: &Sentence, at: usize, range: Range<usize>) -> Option<Change> {
    let left = sentence.content(range.clone());
    let is_subject = range.end <= at;
    let is_taker = matches!(sentence.word(at), "replaces" | "supersedes");
    let subject = if is_subject || is_taker { Vec::new() } else { subject_before(sentence, at) };
    let kept = taken_before(sentence, at);
    let outside = |place: &usize| !range.contains(place) && !kept.contains(place);
    let is_pair = matches!(sentence.word(at), "not" | "instead" | "rather" | "from");
    let words = |range: Range<usize>| -> BTreeSet<String> {
        let all = range
            .filter(|place| outside(place) && !tells_change(sentence.word(*place)))
            .flat_map(|place| sentence.content(place..place + 1));
        all.filter(|word| !left.contains(word) && !word.ends_with("ly")).collect()
    };
    let about = words(0..sentence.tokens.len());
    let is_named = is_pair || left.len() > 1 || range.clone().any(|place| sentence.tokens[place].is_name);
    // A capital at the beginning says nothing: the earlier sentence tells whether it is a name.
    let denies = (0..sentence.tokens.len()).any(|at| sentence.is_in(at, WordList::Negations));
    let by_name = !is_named && is_subject && !denies && left.len() == 1 && range.start == 0;
    // Who names a thing and no place where it was left speaks of the whole project.
    let everywhere = (is_named || by_name) && words(clause_start(sentence, at)..clause_end(sentence, range.end)).is_empty();
    let of_work = tells_state_of_work(sentence, range.clone());
    (!left.is_empty() && (everywhere || !about.is_empty())).then(|| Change::Leaves {
        left,
        phrase: sentence.phrase(range).map(str::to_owned).collect(),
        subject,
        about,
        everywhere,
        by_name: by_name && everywhere,
        of_work,
    })
}

/// Does a phrase tell how far some work is, and name nothing: "pushed", "tested yet", "done"?
fn tells_state_of_work(sentence: &Sentence, range: Range<usize>) -> bool {
    let words = || sentence.tokens_in(range.clone()).iter().filter(|token| token.is_word && !token.is_small);
    let is_state = |token: &Token| !token.is_name && is_state_of_work(&token.text);
    words().any(is_state) && words().all(|token| is_state(token) || is_of_any_work(&token.stem))
}

/// Does it say that something was left, or went elsewhere?
pub(super) fn is_change(word: &str) -> bool {
    [&LEFT[..], &LEAVING, &MOVING].iter().any(|words| words.contains(&word))
}

/// Is it a word for the change itself? It says nothing of where something changed.
fn tells_change(word: &str) -> bool {
    is_change(word) || BEING.contains(&word)
}

fn clause_end(sentence: &Sentence, start: usize) -> usize {
    (start..sentence.tokens.len()).find(|at| sentence.word(*at).is_empty()).unwrap_or(sentence.tokens.len())
}

/// What a clause says is taken, before "not" and the like: "use pnpm, not npm".
fn taken_before(sentence: &Sentence, at: usize) -> Range<usize> {
    let mark = at.checked_sub(1).filter(|at| !sentence.tokens[*at].is_word).unwrap_or(at);
    let opens = |word: &str| word.is_empty() || OPENERS.contains(&word) || is_joint(word);
    let from = (0..mark).rev().find(|at| opens(sentence.word(*at)));
    if sentence.word(at) == "not" { from.map_or(0, |from| from + 1)..mark } else { 0..0 }
}

/// The content words of what stands before a verb and belongs to it, also over commas and "and"; none for "we", "I" and commands.
fn subject_before(sentence: &Sentence, at: usize) -> Vec<String> {
    let ends = |at: &usize| matches!(sentence.tokens[*at].text.as_str(), "." | ":" | ";" | "!" | "?" | "(" | "—" | "–" | "→");
    let mut start = (0..at).rev().find(ends).map_or(0, |at| at + 1);
    while is_joint(sentence.word(start)) || CLAUSES.contains(&sentence.word(start)) {
        start += 1;
    }
    let range = start..at.max(start);
    if range.clone().any(|at| SPEAKERS.contains(&sentence.word(at))) {
        return Vec::new();
    }
    let verb =
        range.clone().find(|at| sentence.word(*at).is_empty() || is_verb_of_subject(sentence.word(*at))).unwrap_or(range.end);
    sentence.stems(start..verb).map(str::to_owned).collect()
}

/// Who changes something is not what changes.
const SPEAKERS: [&str; 13] =
    ["we", "we're", "we've", "i", "i've", "i'm", "you", "they", "use", "let's", "please", "don't", "always"];

fn is_verb_of_subject(word: &str) -> bool {
    BEING.contains(&word)
        || OPENERS.contains(&word)
        || matches!(
            word,
            "now"
                | "no"
                | "logs"
                | "shows"
                | "writes"
                | "reads"
                | "sends"
                | "go"
                | "listens"
                | "expire"
                | "expires"
                | "stay"
                | "stays"
        )
}

fn clause_start(sentence: &Sentence, end: usize) -> usize {
    let mut start = end;
    while start > 0 && !sentence.word(start - 1).is_empty() && !CLAUSES.contains(&sentence.word(start - 1)) {
        start -= 1;
    }
    start
}

/// What is left: where the words for it stand, and its tokens.
pub(super) fn leavings(sentence: &Sentence) -> &[(usize, Range<usize>)] {
    sentence.leavings.get_or_init(|| (0..sentence.tokens.len()).filter_map(|at| Some((at, left_at(sentence, at)?))).collect())
}

fn left_at(sentence: &Sentence, at: usize) -> Option<Range<usize>> {
    let word = |n: usize| sentence.word(at + n);
    let is = |list: WordList| sentence.is_in(at, list);
    let was = |n: usize, list: WordList| at.checked_sub(n).is_some_and(|at| sentence.is_in(at, list));
    let is_passive = || was(1, WordList::Being) || was(1, WordList::Negations);
    match (word(0), word(1)) {
        ("no", "longer") => match object(sentence, at + 2) {
            Some(range) if !sentence.content(range.clone()).is_empty() => Some(range),
            _ => subject(sentence, at),
        },
        ("instead" | "rid", "of") | ("rather", "than") | ("away", "from") => object(sentence, at + 2),
        ("in", "place") | ("used", "to") if matches!(word(2), "of" | "be") => object(sentence, at + 3),
        ("don't" | "never", "use" | "call" | "run" | "add") if says_no_more(sentence, at) => object(sentence, at + 2),
        ("gave" | "gives", "way") if word(2) == "to" => subject(sentence, at),
        ("moved" | "migrated" | "got" | "move" | "migrate", "off") | ("gave" | "give" | "given", "up") => object(sentence, at + 2),
        ("took" | "taken" | "take" | "ripped" | "tore", _) if word(2) == "off" || word(2) == "out" => object(sentence, at + 1),
        _ if is(WordList::Being) && sentence.is_in(at + 1, WordList::Left) => subject(sentence, at),
        (_, "now") if is(WordList::Being) => subject(sentence, at).filter(|range| is_name(sentence, range)),
        ("without", _) if (0..sentence.tokens.len()).any(|at| sentence.word(at) == "now") => object(sentence, at + 1),
        ("renamed" | "rename" | "renames", _) => renamed(sentence, at),
        ("from", _) if (1..7).any(|n| was(n, WordList::Moving)) => object(sentence, at + 1),
        ("not", _) if is_contrast(sentence, at) && !leaves_before(sentence, at) => object(sentence, at + 1),
        _ if is(WordList::Leaving) && !is_passive() => {
            let skip = usize::from(matches!(word(1), "out" | "up" | "using" | "off"));
            object(sentence, at + 1 + skip)
        }
        _ => None,
    }
}

/// The name that "renamed the command `a` to `b`" leaves.
fn renamed(sentence: &Sentence, at: usize) -> Option<Range<usize>> {
    let to = (at + 1..sentence.tokens.len()).take(8).find(|at| sentence.word(*at) == "to")?;
    let name = (at + 1..to).rev().find(|at| sentence.tokens[*at].is_name)?;
    Some(name..name + 1)
}

/// "any more", "anymore" or "any longer" behind this place.
fn says_no_more(sentence: &Sentence, at: usize) -> bool {
    (at..sentence.tokens.len()).any(|at| match sentence.word(at) {
        "anymore" => true,
        "any" => matches!(sentence.word(at + 1), "more" | "longer"),
        _ => false,
    })
}

/// "Got rid of the leak, not of Lit": what "not" denies there is that it was left.
fn leaves_before(sentence: &Sentence, at: usize) -> bool {
    (0..at).any(|at| sentence.word(at) != "not" && left_at(sentence, at).is_some())
}

/// Does "not" stand between what is taken and what is left: "pnpm, not npm", "not npm but pnpm", "not npm any more"?
fn is_contrast(sentence: &Sentence, at: usize) -> bool {
    let behind = |words: &[&str]| (at + 1..sentence.tokens.len()).take(8).any(|at| words.contains(&sentence.word(at)));
    let after_mark = at > 0 && !sentence.tokens[at - 1].is_word;
    let is_bare = !matches!(sentence.word(at + 1), "" | "only" | "just" | "yet" | "a" | "because" | "at");
    let after_object = at.checked_sub(2).is_some_and(|at| matches!(sentence.word(at), "use" | "with" | "in" | "to"));
    is_bare && (after_mark || after_object || behind(&["but", "anymore", "more", "it's"]))
}

/// Is it a name by itself, such as a path?
fn is_name(sentence: &Sentence, range: &Range<usize>) -> bool {
    range.len() == 1 && sentence.word(range.start).contains(['/', '_', '.'])
}

/// What stands from here up to the end of its phrase.
fn object(sentence: &Sentence, from: usize) -> Option<Range<usize>> {
    let mut start = from;
    let opens = |at: usize| {
        let (word, next) = (sentence.word(at), sentence.word(at + 1));
        is_small(word) || OPENERS.contains(&word) || word.ends_with("ing") && !next.is_empty() && !ENDS.contains(&next)
    };
    while !sentence.word(start).is_empty() && opens(start) {
        start += 1;
    }
    let mut end = start;
    while !(sentence.word(end).is_empty() || end > start && ENDS.contains(&sentence.word(end))) {
        end += 1;
    }
    (end > start).then_some(start..end)
}

/// What stands before this place in its clause.
fn subject(sentence: &Sentence, end: usize) -> Option<Range<usize>> {
    let start = clause_start(sentence, end);
    (end > start).then_some(start..end)
}

/// The value that something has now: `the upload timeout was raised to 60 s`, `Lowered the upload limit to 10 MB`.
fn value_set(sentence: &Sentence) -> Option<&(Quantity, BTreeSet<String>)> {
    sentence.value_set.get_or_init(|| find_value_set(sentence)).as_ref()
}

fn find_value_set(sentence: &Sentence) -> Option<(Quantity, BTreeSet<String>)> {
    let is_back = |at: usize| sentence.word(at) == "back" && matches!(sentence.word(at + 1), "to" | "at");
    let verb = (0..sentence.tokens.len()).find(|at| sentence.is_in(*at, WordList::ValueVerbs) || is_back(*at))?;
    let is_to = |at: usize| sentence.word(at) == "to" || is_back(verb) && at == verb + 1;
    let to = (verb..sentence.tokens.len()).take(12).find(|at| is_to(*at) && is_number(sentence.word(*at + 1)))?;
    let value = quantity(sentence, to + 1)?;
    let from = (verb..to).find(|at| sentence.word(*at) == "from").unwrap_or(to);
    let before = sentence.content(clause_start(sentence, verb)..verb);
    let about = if before.is_empty() { sentence.content(verb + 1..from) } else { before };
    let about: BTreeSet<String> = about.into_iter().filter(|word| !is_number(word)).collect();
    (about.len() >= 2).then_some((value, about))
}

/// Takes it back what was thought to cause something?
fn corrects(sentence: &Sentence) -> Option<Change> {
    let at = |n: usize| (sentence.word(n), sentence.word(n + 1));
    let takes_back = (0..sentence.tokens.len()).any(|n| {
        matches!(at(n), ("real" | "actual" | "true", "cause" | "culprit" | "reason" | "problem"))
            || matches!(at(n), ("was" | "were" | "is", "wrong" | "mistaken"))
    });
    if !takes_back {
        return None;
    }
    let taking_back = content_words("real actual true cause culprit reason wrong problem theory");
    let about: BTreeSet<String> = sentence.words().difference(&taking_back).filter(|word| !is_number(word)).cloned().collect();
    (about.len() >= 2).then_some(Change::Corrects { about })
}

/// Does it say what causes something?
pub(super) fn says_cause(sentence: &Sentence) -> bool {
    sentence.tokens.iter().any(|token| token.is_in(WordList::Causes))
}

/// The first two content words of each clause that may state something.
pub(super) fn beginnings(sentence: &Sentence) -> Vec<[String; 2]> {
    let first_two = |range: Range<usize>| {
        let mut words = sentence.frame(range).map(|(_, word)| word).filter(|word| !is_joint(word));
        Some([words.next()?.to_owned(), words.next()?.to_owned()])
    };
    frames(sentence).iter().cloned().filter_map(first_two).collect()
}

/// Where clauses begin by which another sentence may state the same thing otherwise: those with a subject.
fn frames(sentence: &Sentence) -> &[Range<usize>] {
    sentence.frames.get_or_init(|| find_frames(sentence))
}

fn find_frames(sentence: &Sentence) -> Vec<Range<usize>> {
    let starts = (0..sentence.tokens.len()).filter(|at| *at == 0 || sentence.word(*at - 1).is_empty());
    let has_subject = |at: &usize| {
        !matches!(sentence.word(*at), "" | "we" | "i" | "you" | "it" | "they" | "this" | "that" | "there" | "no" | "not")
    };
    let clauses = starts.filter(has_subject).map(|start| start..clause_end(sentence, start));
    clauses.filter(|range| sentence.stems(range.clone()).nth(2).is_some()).collect()
}

/// Does the later sentence state otherwise what the earlier one states: do both begin alike, and name different things?
fn states_otherwise(earlier: &Sentence, later: &Sentence) -> bool {
    let clauses = frames(earlier).iter().flat_map(|one| frames(later).iter().map(move |other| (one, other)));
    clauses.into_iter().any(|(one, other)| {
        let begins = shared_beginning(earlier, one, later, other);
        begins.content >= 2 && (differ(earlier, one, later, other, &begins) || moves(earlier, one, later, other, &begins))
    })
}

/// A beginning that two clauses share, and where each goes on.
struct SharedBeginning<'s> {
    words: Vec<&'s str>,
    /// So many of these are no joints.
    content: usize,
    earlier_from: usize,
    later_from: usize,
}

fn shared_beginning<'s>(earlier: &'s Sentence, one: &Range<usize>, later: &Sentence, other: &Range<usize>) -> SharedBeginning<'s> {
    let (mut old, mut new) = (earlier.frame(one.clone()), later.frame(other.clone()));
    let mut words = Vec::new();
    let (earlier_from, later_from) = loop {
        match (old.next(), new.next()) {
            (Some((_, old)), Some((_, new))) if old == new => words.push(old),
            (old, new) => break (old.map_or(one.end, |(at, _)| at), new.map_or(other.end, |(at, _)| at)),
        }
    };
    let content = words.iter().filter(|word| !is_joint(word)).count();
    SharedBeginning { words, content, earlier_from, later_from }
}

fn differ(earlier: &Sentence, one: &Range<usize>, later: &Sentence, other: &Range<usize>, begins: &SharedBeginning<'_>) -> bool {
    let (was, is) = (earlier.word(begins.earlier_from), later.word(begins.later_from));
    let content = begins.content;
    let Some(last) = begins.words.last().filter(|_| !was.is_empty() && !is.is_empty()) else { return false };
    let being = begins.words.iter().position(|word| BEING.contains(word));
    let is_done = being.is_some_and(|at| at > 0 && at + 1 < begins.words.len());
    let has_verb = content > 2 || being.is_some() || PREPOSITIONS.contains(last);
    let (both_join, one_joins) = (MEANS.contains(&was) && MEANS.contains(&is), is_joint(was) || is_joint(is));
    let joined = is_joint(last);
    let goes_on_alike = match (is_number(was), is_number(is)) {
        // "The list number 3" and "the list number 5" are two lists: only behind a verb or a preposition a number is a value.
        // "on port 8080" is one, too.
        (true, true) => joined || begins.words.len() >= 2 && PREPOSITIONS.contains(&begins.words[begins.words.len() - 2]),
        (false, false) => {
            let long = content >= if is_done { LONG_FRAME } else { LONG_FRAME + 1 };
            joined && PREPOSITIONS.contains(last) || both_join || is_done && !one_joins || long
        }
        _ => PREPOSITIONS.contains(last),
    };
    let denied = earlier.is_denied_in(one) || later.is_denied_in(other);
    has_verb && goes_on_alike && !denied && names_other(earlier, begins.earlier_from, later, begins.later_from, &begins.words)
}

/// Does a clause say that its subject went to something else, of which the earlier one states something: "the ingest was migrated to Dagster"?
fn moves(earlier: &Sentence, one: &Range<usize>, later: &Sentence, other: &Range<usize>, begins: &SharedBeginning<'_>) -> bool {
    let Some(verb) = other.clone().find(|at| later.word(at + 1) == "to" && MOVING.contains(&later.word(*at))) else { return false };
    let is_whole = |word: &str| BEING.contains(&word) || VERBS_OF_STATE.contains(&word);
    let subject_ends = begins.later_from <= verb && BEING.contains(&later.word(begins.later_from)) || begins.later_from == verb;
    let states = is_whole(earlier.word(begins.earlier_from)) || begins.words.last().is_some_and(|word| is_whole(word));
    let new = phrase(later, verb + 2, &begins.words);
    subject_ends && states && !new.is_empty() && !new.iter().any(|word| earlier.has_word(word)) && !earlier.is_denied_in(one)
}

/// Verbs that tell how something is.
const VERBS_OF_STATE: [&str; 8] = ["runs", "run", "lives", "live", "uses", "use", "goes", "go"];

fn is_joint(word: &str) -> bool {
    BEING.contains(&word) || PREPOSITIONS.contains(&word)
}

/// Do the phrases from these places on name different things?
fn names_other(earlier: &Sentence, one: usize, later: &Sentence, other: usize, shared: &[&str]) -> bool {
    let (old, new) = (phrase(earlier, one, shared), phrase(later, other, shared));
    let values =
        |sentence: &Sentence, from: usize| object(sentence, from).map(|range| quantities_in(sentence, range)).unwrap_or_default();
    let (old_values, new_values) = (values(earlier, one), values(later, other));
    if !old_values.is_empty() && !new_values.is_empty() {
        return differ_in_value(&old_values, &new_values);
    }
    let is_in = |words: &[&str], sentence: &Sentence| words.iter().any(|word| sentence.has_word(word));
    !old.is_empty() && !new.is_empty() && !is_in(&old, later) && !is_in(&new, earlier)
}

/// The words of the first phrase from here on, as they are written, but those that are known.
fn phrase<'s>(sentence: &'s Sentence, from: usize, known: &[&str]) -> Vec<&'s str> {
    let Some(range) = object(sentence, from) else { return Vec::new() };
    let words = sentence.tokens_in(range).iter().filter(|token| token.is_word);
    words.filter(|token| !(token.is_small || known.contains(&token.stem.as_str()))).map(|token| token.text.as_str()).collect()
}
