//! Whether a sentence of the user's is a standing instruction, and what it wants or forbids.
//!
//! The lists of words come from users' prompts in published transcripts and from made-up scenes (`fixtures/rules-1.jsonl`); English alone.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::analyze::overtaken::sentence::Sentence;
use transcripts::session::{ToldRule, hash_parts};

/// A longer sentence says too much for its words to tell what it is about, in characters.
const MAX_CHARS: usize = 220;
/// The same where a model says what it is about.
const MAX_NAMED_CHARS: usize = 300;
/// Words with which a question asks for work: "can you …?"
const REQUESTING: [&str; 4] = ["can", "could", "would", "will"];
/// So many words a short correction has, such as "pnpm, not npm".
const SHORT_WORDS: usize = 9;
/// So many words each side of "X, not Y" has.
const SIDE_WORDS: usize = 3;

/// Words and phrases before an instruction that say nothing of it.
const PREFIXES: [&[&str]; 23] = [
    &["no"],
    &["nope"],
    &["please"],
    &["pls"],
    &["and"],
    &["but"],
    &["also"],
    &["so"],
    &["ok"],
    &["okay"],
    &["hey"],
    &["just"],
    &["you", "should"],
    &["you", "must"],
    &["you", "have", "to"],
    &["you", "need", "to"],
    &["we", "should"],
    &["we", "must"],
    &["make", "sure", "to"],
    &["make", "sure", "you"],
    &["i", "want", "you", "to"],
    &["i'd", "like", "you", "to"],
    &["we"],
];
/// Phrases by which the user says that it holds from now on, or that it was said before.
const STANDING: [&[&str]; 22] = [
    &["i", "told", "you"],
    &["i", "already", "told", "you"],
    &["i've", "told", "you"],
    &["i", "have", "told", "you"],
    &["i", "said"],
    &["i", "already", "said"],
    &["as", "i", "said"],
    &["as", "i", "said", "before"],
    &["like", "i", "said"],
    &["as", "i", "told", "you"],
    &["from", "now", "on"],
    &["going", "forward"],
    &["in", "this", "project"],
    &["in", "this", "repo"],
    &["in", "this", "codebase"],
    &["for", "this", "project"],
    &["how", "many", "times"],
    &["as", "a", "rule"],
    &["in", "general"],
    &["in", "future"],
    &["in", "the", "future"],
    &["remember"],
];
/// Words by which an instruction is one for this time, or about something that was pointed at.
const ONCE: [&str; 22] = [
    "yet", "now", "today", "tonight", "tomorrow", "this", "that", "these", "those", "until", "till", "currently", "moment",
    "instead", "anymore", "here's", "next", "last", "above", "below", "current", "meanwhile",
];
/// Verbs with which "don't" forbids nothing that lasts: "don't forget to …", "don't worry".
const NO_RULE_AFTER_DONT: [&str; 31] = [
    "forget", "worry", "know", "think", "see", "need", "want", "have", "understand", "care", "mind", "like", "get", "believe",
    "remember", "work", "works", "bother", "hesitate", "let", "be", "feel", "stop", "give", "wait", "we", "you", "they", "i",
    "seem", "even",
];
/// Words with which "never" and "always" tell and instruct nothing: "never mind", "it never works".
const NO_RULE_AFTER_ALWAYS: [&str; 18] = [
    "mind", "used", "been", "had", "has", "was", "were", "is", "are", "works", "worked", "happens", "happened", "read", "seen",
    "been", "the", "a",
];
/// Words with which "no" forbids nothing.
const NO_RULE_AFTER_NO: [&str; 29] = [
    "problem", "problems", "need", "worries", "idea", "luck", "error", "errors", "matter", "way", "one", "longer", "wait", "more",
    "i", "it", "the", "that", "this", "we", "you", "changes", "change", "issue", "issues", "because", "thanks", "difference",
    "not",
];
/// Words with which a question begins, or a report.
const NO_INSTRUCTION: [&str; 46] = [
    "why", "what", "how", "who", "which", "should", "can", "could", "would", "will", "do", "does", "did", "is", "are", "was",
    "were", "has", "have", "i", "it", "it's", "they", "he", "she", "there", "that", "this", "these", "those", "maybe", "perhaps",
    "if", "when", "where", "error", "warning", "note", "hint", "info", "warn", "help", "debug", "todo", "fixme", "i'm",
];
/// Words that begin what an instruction depends on or is for. It says when, not what.
const SUBORDINATE: [&str; 24] = [
    "because", "since", "so", "as", "before", "after", "when", "whenever", "while", "unless", "until", "if", "which", "who",
    "where", "though", "although", "otherwise", "whether", "even", "except", "once", "then", "like",
];
/// Articles and such: what they point at is one thing, and "use a map, not a list" is about one place.
const ARTICLES: [&str; 9] = ["a", "an", "the", "my", "your", "its", "his", "her", "their"];
/// Words that say neither what is wanted nor what is forbidden, as they are stemmed.
const UNTELLING: [&str; 46] = [
    "alway", "don", "dont", "doesn", "pleas", "pls", "ever", "must", "should", "prefer", "want", "writ", "creat", "includ",
    "insert", "introduc", "put", "leav", "edit", "touch", "modify", "do", "execut", "start", "stop", "avoid", "quit", "direct",
    "anywher", "here", "yourself", "myself", "just", "sur", "tell", "told", "said", "say", "them", "such", "lik", "rememb",
    "ensur", "without", "rather", "shall",
];
/// Verbs that say alike what is done with something: an instruction with one of a row says nothing of the others.
const DEEDS: [(&str, &[&str]); 5] = [
    (
        "add",
        &["add", "adding", "write", "writing", "create", "creating", "include", "including", "insert", "introduce", "put", "leave"],
    ),
    ("edit", &["edit", "editing", "touch", "touching", "change", "changing", "modify", "modifying", "update", "updating"]),
    ("remove", &["remove", "removing", "delete", "deleting", "drop", "dropping"]),
    ("run", &["run", "running", "execute", "executing", "start", "starting"]),
    ("keep", &["keep", "keeping"]),
];

/// What a standing instruction says, for comparing it with others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct RuleWords {
    /// Stemmed words of what is wanted.
    pub(super) wanted: BTreeSet<String>,
    /// Of what is not.
    pub(super) unwanted: BTreeSet<String>,
    deeds: BTreeSet<&'static str>,
}

/// Two rules are the same if they share this of a hundred of the words that both have together.
const SAME_PERCENT: usize = 60;

impl RuleWords {
    /// All that a text says, be it an instruction or not.
    pub(super) fn of_text(text: &str) -> Self {
        let sentence = Sentence::of(text.to_owned());
        let mut words = Self::default();
        clauses(&sentence).into_iter().for_each(|clause| words.add(&sentence, &clause));
        words
    }

    fn add(&mut self, sentence: &Sentence, clause: &Clause) {
        let content = |range: Range<usize>| -> BTreeSet<String> {
            let mut all = sentence.content(range);
            all.retain(|word| !UNTELLING.contains(&word.as_str()));
            all
        };
        let (before, behind) = match contrast(sentence, clause) {
            Some((before, behind)) => (content(before), content(behind)),
            None if clause.denies => (BTreeSet::new(), content(clause.range.clone())),
            None => (content(clause.range.clone()), BTreeSet::new()),
        };
        self.wanted.extend(before);
        self.unwanted.extend(behind);
        let said = clause.range.clone().map(|at| sentence.word(at));
        self.deeds.extend(said.filter_map(|word| DEEDS.iter().find(|(_, forms)| forms.contains(&word)).map(|(deed, _)| *deed)));
    }

    /// As it may be kept where its words are another session's.
    pub(crate) fn hashed(&self, id: &str) -> ToldRule {
        let hashes = |words: &BTreeSet<String>| words.iter().map(|word| hash(word)).collect();
        let deeds = self.deeds.iter().map(|deed| (*deed).to_owned()).collect();
        ToldRule { id: id.to_owned(), wanted: hashes(&self.wanted), unwanted: hashes(&self.unwanted), deeds }
    }

    /// Does a rule that was kept by its hashes say the same, or this among other things?
    pub(crate) fn is_said_by(&self, told: &ToldRule) -> bool {
        let words = |hashes: &[u32]| hashes.iter().map(u32::to_string).collect();
        let deeds = DEEDS.iter().map(|(deed, _)| *deed).filter(|deed| told.deeds.iter().any(|one| one == deed)).collect();
        let told = Self { wanted: words(&told.wanted), unwanted: words(&told.unwanted), deeds };
        let own = |words: &BTreeSet<String>| words.iter().map(|word| hash(word).to_string()).collect();
        let own = Self { wanted: own(&self.wanted), unwanted: own(&self.unwanted), deeds: self.deeds.clone() };
        own.is_same(&told) || own.is_within(&told)
    }

    pub(super) fn len(&self) -> usize {
        self.wanted.len() + self.unwanted.len()
    }

    /// How many words both have: alike, and one of them as wanted and the other as unwanted.
    fn shared(&self, other: &Self) -> (usize, usize) {
        let count = |one: &BTreeSet<String>, other: &BTreeSet<String>| one.intersection(other).count();
        let alike = count(&self.wanted, &other.wanted) + count(&self.unwanted, &other.unwanted);
        (alike, count(&self.wanted, &other.unwanted) + count(&self.unwanted, &other.wanted))
    }

    /// Do both say the same?
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (alike, turned) = self.shared(other);
        let all = self.len() + other.len() - alike;
        let other_deed = !self.deeds.is_empty() && !other.deeds.is_empty() && self.deeds.is_disjoint(&other.deeds);
        // One of them may say beside it what is wanted instead.
        let forbids_same = self.unwanted == other.unwanted && (self.wanted.is_empty() || other.wanted.is_empty());
        let holds_other = alike >= 2 && alike == self.len().min(other.len()) && alike * 2 >= all;
        alike > 0 && turned == 0 && !other_deed && (forbids_same || holds_other || alike * 100 >= all * SAME_PERCENT)
    }

    /// Does one want what the other does not?
    pub(crate) fn is_opposite(&self, other: &Self) -> bool {
        let (alike, turned) = self.shared(other);
        turned > 0 && turned >= alike && turned * 100 >= self.len().min(other.len()) * SAME_PERCENT
    }

    /// Is it said there, maybe among other things?
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.wanted.is_subset(&other.wanted) && self.unwanted.is_subset(&other.unwanted)
    }
}

fn hash(word: &str) -> u32 {
    let hash = hash_parts(&[word.as_bytes()]);
    u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]])
}

/// A part of a sentence between marks, without what it depends on.
#[derive(Debug, Clone)]
struct Clause {
    range: Range<usize>,
    /// It forbids.
    denies: bool,
}

/// The clauses that tell something, each from its first telling word.
fn clauses(sentence: &Sentence) -> Vec<Clause> {
    let mut all = Vec::new();
    let mut start = 0;
    for at in 0..=sentence.tokens.len() {
        let word = sentence.word(at);
        let ends = word.is_empty();
        let joins = matches!(word, "and" | "but") && is_head(sentence, at + 1);
        if !ends && !joins && !SUBORDINATE.contains(&word) {
            continue;
        }
        all.extend(clause(sentence, start..at));
        start = at + 1;
        if SUBORDINATE.contains(&word) {
            // What depends ends at the next mark.
            start = (at..=sentence.tokens.len()).find(|at| sentence.word(*at).is_empty()).unwrap_or(at) + 1;
        }
        if start > sentence.tokens.len() {
            break;
        }
    }
    let covered = |at: &usize, all: &[Clause]| all.iter().any(|clause| clause.range.contains(at));
    // Marks inside what depends were passed over more than once.
    let mut kept: Vec<Clause> = Vec::new();
    for clause in all {
        if !covered(&clause.range.start, &kept) {
            kept.push(clause);
        }
    }
    kept
}

fn is_head(sentence: &Sentence, at: usize) -> bool {
    matches!(sentence.word(at), "always" | "never" | "don't" | "dont" | "do" | "stop" | "avoid" | "use" | "not")
}

fn clause(sentence: &Sentence, range: Range<usize>) -> Option<Clause> {
    let mut start = range.start;
    while let Some(length) = prefix(sentence, start, range.end) {
        start += length;
    }
    // Who says why is not instructing.
    let is_reason = matches!(sentence.word(start), "i" | "it" | "it's" | "that's" | "they" | "there" | "i'm" | "you");
    if start >= range.end || is_reason && start == range.start && range.start > 0 {
        return None;
    }
    let range = start..range.end;
    let denies = denies(sentence, &range);
    Some(Clause { range, denies })
}

/// How long a phrase that says nothing of the instruction is, if one stands here.
fn prefix(sentence: &Sentence, at: usize, end: usize) -> Option<usize> {
    let stands = |phrase: &&&[&str]| phrase.iter().enumerate().all(|(n, word)| at + n < end && sentence.word(at + n) == *word);
    let found = PREFIXES.iter().chain(&STANDING).filter(stands).map(|phrase| phrase.len()).max()?;
    // "No emojis" forbids, "no use pnpm" does not.
    let forbids = sentence.word(at) == "no" && forbids_by_no(sentence, at, end);
    (!forbids).then_some(found)
}

/// Does a sentence begin as an instruction does that speaks to whoever reads it: "you must …", "please, I want you to …"?
pub(super) fn speaks_to_reader(text: &str) -> bool {
    let sentence = Sentence::of(text.to_owned());
    let end = sentence.tokens.len();
    let mut at = 0;
    while at < end {
        let phrase = match prefix(&sentence, at, end) {
            Some(length) => at..at + length,
            None if sentence.word(at).is_empty() => at..at + 1,
            None => return false,
        };
        if phrase.clone().any(|at| sentence.word(at) == "you") {
            return true;
        }
        at = phrase.end;
    }
    false
}

fn forbids_by_no(sentence: &Sentence, at: usize, end: usize) -> bool {
    let next = sentence.word(at + 1);
    at + 1 < end
        && !NO_RULE_AFTER_NO.contains(&next)
        && !NO_INSTRUCTION.contains(&next)
        && !matches!(
            next,
            "use" | "don't" | "never" | "always" | "do" | "just" | "keep" | "please" | "make" | "not" | "stop" | "no"
        )
}

fn denies(sentence: &Sentence, range: &Range<usize>) -> bool {
    let word = |at: usize| if range.contains(&at) { sentence.word(at) } else { "" };
    let at_head = match word(range.start) {
        "stop" | "quit" => word(range.start + 1).ends_with("ing"),
        "avoid" | "without" => true,
        "no" => forbids_by_no(sentence, range.start, range.end),
        "not" => true,
        _ => false,
    };
    at_head || range.clone().any(|at| is_denying(sentence, at))
}

/// Does the word deny its clause? "X not Y" is a contrast.
fn is_denying(sentence: &Sentence, at: usize) -> bool {
    match sentence.word(at) {
        "never" | "don't" | "dont" | "doesn't" | "can't" | "cannot" | "shouldn't" | "mustn't" | "won't" | "isn't" | "aren't" => {
            true
        }
        "not" => at.checked_sub(1).is_some_and(|before| {
            matches!(
                sentence.word(before),
                "do" | "must" | "should" | "is" | "are" | "be" | "does" | "can" | "will" | "shall" | "may"
            )
        }),
        _ => false,
    }
}

/// What stands before and behind "not", "instead of" or "rather than".
fn contrast(sentence: &Sentence, clause: &Clause) -> Option<(Range<usize>, Range<usize>)> {
    let Range { start, end } = clause.range;
    for at in start + 1..end {
        let length = match (sentence.word(at), sentence.word(at + 1)) {
            ("not", _) if !is_denying(sentence, at) => 1,
            ("instead", "of") | ("rather", "than") | ("over", _) if at + 1 < end => {
                if sentence.word(at) == "over" && sentence.word(start) != "prefer" {
                    continue;
                }
                if sentence.word(at) == "over" { 1 } else { 2 }
            }
            _ => continue,
        };
        return (at + length < end).then_some((start..at, at + length..end));
    }
    None
}

/// Words that a sentence tells not to do, in lower case, and those for which they stand back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForbiddenPart {
    pub(crate) words: Vec<String>,
    /// Of "X, not Y"; empty for "never Y".
    pub(crate) instead: Vec<String>,
}

/// What a sentence forbids wherever it holds: "never Y", "X, not Y", "X instead of Y". Nothing if it asks, is for once or holds on a condition.
pub(crate) fn forbidden_parts(text: &str) -> Vec<ForbiddenPart> {
    let sentence = Sentence::of(text.to_owned());
    let mut words = (0..sentence.tokens.len()).map(|at| sentence.word(at));
    let is_limited = words.any(|word| {
        let is_reason = matches!(word, "because" | "since" | "so" | "otherwise");
        let is_once = ONCE.contains(&word) && !matches!(word, "instead" | "anymore");
        SUBORDINATE.contains(&word) && !is_reason || is_once || matches!(word, "only" | "once" | "maybe" | "perhaps")
    });
    if text.chars().count() > MAX_CHARS || asks(text) || is_limited {
        return Vec::new();
    }
    let all = clauses(&sentence);
    let said = |range: Range<usize>| -> Vec<String> { range.map(|at| sentence.word(at).to_owned()).collect() };
    let mut found = Vec::new();
    for (n, clause) in all.iter().enumerate() {
        let Range { start, end } = clause.range;
        let before = n.checked_sub(1).map(|before| &all[before]).filter(|before| !before.denies);
        let part = match (contrast(&sentence, clause), sentence.word(start), sentence.word(start + 1)) {
            (Some((one, other)), ..) if !clause.denies => Some((one, other)),
            (Some(_), ..) => None,
            // "X, never Y" is a contrast where Y is no more than a name.
            (None, "not" | "never", _) if before.is_some() => {
                let instead = before.map_or(start..start, |before| before.range.clone());
                Some((instead, start + 1..end))
            }
            (None, "do", "not") => Some((start..start, start + 2..end)),
            (None, "never" | "don't" | "dont" | "stop" | "avoid" | "no", _) if clause.denies => {
                Some((start..start, start + 1..end))
            }
            _ => None,
        };
        found.extend(part.map(|(instead, range)| ForbiddenPart { words: said(range), instead: said(instead) }));
    }
    found
}

/// What a sentence of the user's wants from now on; nothing if it is no standing instruction.
pub(super) fn rule_of(text: &str) -> Option<RuleWords> {
    if text.chars().count() > MAX_CHARS || asks(text) || is_printed(text) {
        return None;
    }
    let sentence = Sentence::of(text.to_owned());
    if sentence.names_line || is_for_once(&sentence) || is_cut_off(&sentence) {
        return None;
    }
    let all = clauses(&sentence);
    let first = all.first()?;
    let is_standing = STANDING.iter().any(|phrase| holds(&sentence, phrase));
    let is_forbidding = (sentence.word(0), sentence.word(1)) == ("do", "not");
    let tells = NO_INSTRUCTION.contains(&sentence.word(0)) && !is_forbidding;
    if tells && !is_standing && !begins_with_preference(&sentence, 0) {
        return None;
    }
    let says_always =
        all.iter().any(|clause| clause.range.len() == 1 && matches!(sentence.word(clause.range.start), "always" | "ever"));
    let instructs = |clause: &Clause| instructs(&sentence, clause, all.len());
    let begins_well = is_imperative(&sentence, first);
    let is_rule = all.iter().any(instructs)
        || (is_standing || says_always) && begins_well
        || is_short_contrast(&sentence, &all)
        || is_for_each(&sentence, first) && begins_well
        || needs_each(&sentence);
    if !is_rule {
        return None;
    }
    // What else the sentence says is beside the rule, unless it is what "never X" stands against.
    let is_against = |at: usize| all.get(at).is_some_and(|clause| clause.denies && clause.range.len() <= 2);
    let is_rule_itself = |at: usize| instructs(&all[at]) || is_against(at + 1);
    let by_themselves = all.iter().any(instructs);
    let told = (0..all.len()).filter(|at| if by_themselves { is_rule_itself(*at) } else { is_telling(&sentence, &all[*at]) });
    let mut words = RuleWords::default();
    told.for_each(|at| words.add(&sentence, &all[at]));
    (words.len() > 0).then_some(words)
}

/// May a passage tell what is to be done, where somebody else says that it does so from now on? Not a mere question, what was printed, or what is
/// for this time.
pub(super) fn may_instruct(text: &str) -> bool {
    let sentence = Sentence::of(text.to_owned());
    let is_question = asks(text) && !(REQUESTING.contains(&sentence.word(0)) && sentence.word(1) == "you");
    text.chars().count() <= MAX_NAMED_CHARS && !(is_question || is_marked_as_printed(text) || is_for_now(&sentence))
}

/// What a sentence wants and forbids, as far as its form tells that: as a standing instruction, or as any other. What tells of something that
/// was done again tells nothing of what is wanted.
pub(super) fn stances_of(text: &str) -> Vec<RuleWords> {
    let sentence = Sentence::of(text.to_owned());
    let begins_well = clauses(&sentence).first().is_some_and(|first| is_imperative(&sentence, first));
    let complains = ["again", "still"].iter().any(|word| sentence.has_word(word));
    rule_of(text).into_iter().chain((begins_well && !complains).then(|| RuleWords::of_text(text))).collect()
}

/// Is it for this time only, in so many words?
fn is_for_now(sentence: &Sentence) -> bool {
    let is_now = |word: &str, next: &str| {
        let is_day = matches!(word, "today" | "tonight" | "tomorrow" | "yet" | "meanwhile");
        is_day || matches!((word, next), ("for" | "right", "now") | ("this", "time" | "once") | ("the", "moment"))
    };
    (0..sentence.tokens.len()).any(|at| is_now(sentence.word(at), sentence.word(at + 1)))
}

/// A part that only says when, or why, is not what the rule is about.
fn is_telling(sentence: &Sentence, clause: &Clause) -> bool {
    !matches!(sentence.word(clause.range.start), "i" | "i'm" | "it" | "it's" | "that's" | "they" | "you" | "there" | "thanks")
        || begins_with_preference(sentence, clause.range.start)
}

fn asks(text: &str) -> bool {
    text.trim_end_matches(['"', ')', '\'', '”', '!', ' ']).ends_with('?')
}

/// Is it a line of a program's output, of code or of a log?
fn is_printed(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c.is_whitespace() || matches!(c, ',' | '.' | '\'' | '`' | '!' | '-' | ':' | '’');
    let others = text.chars().filter(|c| !plain(*c)).count();
    others * 8 > text.chars().count() || is_marked_as_printed(text) || text.starts_with(['/', '@']) || text.contains("://")
}

/// Does it begin as a line of a program's output does?
fn is_marked_as_printed(text: &str) -> bool {
    let label = text.split(':').next().unwrap_or_default().to_lowercase();
    ["error", "warning", "warn", "note", "info", "debug", "hint", "help", "fatal"].iter().any(|word| label.starts_with(word))
        && text.contains(':')
        || text.starts_with(['$', '>', '|', '<', '{', '['])
}

fn holds(sentence: &Sentence, phrase: &[&str]) -> bool {
    (0..sentence.tokens.len()).any(|at| phrase.iter().enumerate().all(|(n, word)| sentence.word(at + n) == *word))
}

/// Is it for this time, or about something that is pointed at?
fn is_for_once(sentence: &Sentence) -> bool {
    (0..sentence.tokens.len()).any(|at| {
        let (word, next) = (sentence.word(at), sentence.word(at + 1));
        let before = at.checked_sub(1).map_or("", |at| sentence.word(at));
        match word {
            "this" => !matches!(next, "project" | "repo" | "codebase" | "repository"),
            "now" => before != "from",
            "instead" => next != "of",
            "again" => at > 0 && next.is_empty() && at + 1 >= sentence.tokens.len() && sentence.word(0) != "never",
            _ => ONCE.contains(&word),
        }
    })
}

/// Is it a line of a text whose lines were broken?
fn is_cut_off(sentence: &Sentence) -> bool {
    let last = sentence.tokens.last().map_or("", |token| token.text.as_str());
    ARTICLES.contains(&last)
        || matches!(last, "—" | "–" | "," | "(" | "and" | "or" | "of" | "to" | "in" | "on" | "for" | "with" | "by" | "from")
}

fn begins_with_preference(sentence: &Sentence, at: usize) -> bool {
    let words = [sentence.word(at), sentence.word(at + 1), sentence.word(at + 2)];
    // "I don't want docstrings" forbids, "I don't want to wait" and "I don't want the dialog to open" do not.
    let refuses = || {
        let what = sentence.word(at + 3);
        !what.is_empty() && !ARTICLES.contains(&what) && !matches!(what, "to" | "you" | "it" | "any" | "us" | "people" | "users")
    };
    match words {
        ["i" | "we", "prefer", _] | ["i", "always" | "never", "want"] => true,
        ["i" | "we", "don't" | "never", "want"] => refuses(),
        _ => false,
    }
}

/// Does it begin as an instruction does, with a verb? Whatever is none of the words that begin something else may be one.
fn is_imperative(sentence: &Sentence, clause: &Clause) -> bool {
    let first = sentence.word(clause.range.start);
    !NO_INSTRUCTION.contains(&first) && !ARTICLES.contains(&first) && !first.ends_with("ed") && first != "you"
}

/// "Always …", "never …", "don't …", "stop …ing", "no …" and what must always or never be so.
fn instructs(sentence: &Sentence, clause: &Clause, clauses: usize) -> bool {
    let start = clause.range.start;
    let word = |n: usize| if start + n < clause.range.end { sentence.word(start + n) } else { "" };
    let points = |n: usize| matches!(word(n), "it" | "them" | "me" | "there");
    match (word(0), word(1)) {
        ("always" | "never", verb) => !verb.is_empty() && !NO_RULE_AFTER_ALWAYS.contains(&verb) && !points(2),
        ("don't" | "dont", verb) => is_forbidden(verb) && !points(2),
        ("do", "not") => is_forbidden(word(2)) && !points(3),
        ("stop" | "quit", verb) => verb.ends_with("ing") && !points(2),
        ("avoid", what) => !what.is_empty() && !points(1) && is_first(sentence, start),
        ("no", _) => clause.denies && clause.range.len() <= 4 && clauses <= 3 && !reports(sentence, clause),
        ("i" | "we", _) => begins_with_preference(sentence, start),
        _ => must_always(sentence, clause),
    }
}

fn is_first(sentence: &Sentence, at: usize) -> bool {
    (0..at).all(|before| sentence.word(before).is_empty() || prefix(sentence, before, at).is_some())
}

/// "No fixes applied" tells what was found.
fn reports(sentence: &Sentence, clause: &Clause) -> bool {
    clause
        .range
        .clone()
        .skip(2)
        .any(|at| sentence.word(at).ends_with("ed") || matches!(sentence.word(at), "found" | "left" | "yet" | "so"))
}

fn is_forbidden(verb: &str) -> bool {
    !verb.is_empty() && !NO_RULE_AFTER_DONT.contains(&verb)
}

/// "Commit messages must always be …", "emails must not be logged, ever".
fn must_always(sentence: &Sentence, clause: &Clause) -> bool {
    let ever = (0..sentence.tokens.len()).any(|at| sentence.word(at) == "ever");
    clause.range.clone().any(|at| match (sentence.word(at), sentence.word(at + 1)) {
        ("must" | "should", "always" | "never") => true,
        ("must" | "should", "not") => ever,
        _ => false,
    })
}

/// "pnpm, not npm", "use tabs here, not spaces", "use `httpx` instead of `requests`": names on both sides, and nothing of a place.
fn is_short_contrast(sentence: &Sentence, all: &[Clause]) -> bool {
    let words = (0..sentence.tokens.len()).filter(|at| !sentence.word(*at).is_empty()).count();
    let named = |range: Range<usize>| {
        let said: Vec<&str> =
            range.map(|at| sentence.word(at)).filter(|word| !matches!(*word, "here" | "please" | "use" | "prefer")).collect();
        let is_name = |word: &&str| !ARTICLES.contains(word) && !matches!(*word, "for" | "in" | "on" | "at" | "to" | "it" | "one");
        (1..=SIDE_WORDS).contains(&said.len()) && said.iter().all(is_name)
    };
    let within = all.iter().filter_map(|clause| contrast(sentence, clause)).any(|(one, other)| named(one) && named(other));
    let beside = all.windows(2).any(|two| {
        let head = sentence.word(two[1].range.start);
        matches!(head, "not" | "never") && named(two[0].range.clone()) && named(two[1].range.start + 1..two[1].range.end)
    });
    let beside_long = all.windows(2).any(|two| {
        sentence.word(two[1].range.start) == "never" && two[1].range.len() <= SIDE_WORDS && is_imperative(sentence, &two[0])
    });
    words <= SHORT_WORDS + 3 && (within || beside) || beside_long
}

/// "Run cargo fmt before every commit".
fn is_for_each(sentence: &Sentence, first: &Clause) -> bool {
    let joins = |word: &str| matches!(word, "before" | "after" | "for" | "on" | "in" | "with" | "at" | "to");
    (first.range.start + 1..sentence.tokens.len())
        .any(|at| joins(sentence.word(at)) && matches!(sentence.word(at + 1), "every" | "each" | "any"))
}

/// "Every new endpoint needs a test".
fn needs_each(sentence: &Sentence) -> bool {
    matches!(sentence.word(0), "every" | "each" | "all")
        && (2..6).any(|at| matches!(sentence.word(at), "needs" | "need" | "must" | "should" | "gets" | "has" | "have"))
}
