//! Whether a statement says the opposite of what stands behind it: one of the two negates what the other asserts, or they use words that
//! exclude each other.

use std::collections::BTreeSet;

use crate::text::tokenize::{covered_by, distinctive_words, is_stop_word, stem};

/// A sentence is about the same as a statement if it holds this share of its distinctive words, and nearly as much as the best one.
const MIN_ABOUT: f64 = 0.5;
const NEARLY: f64 = 0.1;
/// Two clauses are about the same if they share so many words, and this share of those of the longer one.
const MIN_SHARED_WORDS: usize = 3;
const SAME_CLAUSE: f64 = 0.6;

/// Words that negate their clause.
const NEGATIONS: [&str; 19] = [
    "not", "never", "cannot", "no", "without", "none", "neither", "nor", "nicht", "nie", "kein", "keine", "keinen", "ohne", "pas",
    "jamais", "sans", "nunca", "sin",
];
/// Words that begin a clause.
const CLAUSE_WORDS: [&str; 21] = [
    "instead", "rather", "but", "which", "that", "because", "since", "while", "whereas", "though", "although", "when", "if",
    "whether", "unless", "until", "aber", "weil", "except", "only", "and",
];

/// Words that exclude each other, as they begin.
const OPPOSITES: [(&[&str], &[&str]); 19] = [
    (&["kept", "keep", "retain", "preserv"], &["remov", "delet", "dropp"]),
    (&["untouched", "unchanged"], &["renam", "chang", "replac", "modif"]),
    (&["enabl"], &["disabl"]),
    (&["allow", "permit"], &["forbid", "deny", "denied", "disallow"]),
    (&["visible", "shown"], &["hid", "hide", "hidden"]),
    (&["parallel", "concurrent", "simultaneous"], &["sequential", "serial"]),
    (&["most", "deepest"], &["least", "shallow"]),
    (&["longer", "larger", "bigger", "faster", "higher"], &["shorter", "smaller", "slower", "lower"]),
    (&["increas"], &["decreas", "reduc"]),
    (&["public"], &["private"]),
    (&["optional"], &["mandatory", "required"]),
    (&["harmless"], &["harmful", "dangerous", "regression"]),
    (&["correct"], &["wrong", "incorrect"]),
    (&["latest", "newest"], &["oldest", "earliest"]),
    (&["neutral", "independent", "agnostic"], &["tied", "specific", "dependent", "coupled"]),
    (&["succeed", "pass"], &["fail"]),
    (&["synchronous"], &["asynchronous"]),
    (&["always"], &["never"]),
    (&["before"], &["after"]),
];

/// Do the sentences behind a statement say the opposite?
pub(crate) fn is_opposed(statement: &str, sentences: &[String]) -> bool {
    let found: Vec<Clause> = sentences.iter().flat_map(|sentence| clauses_of(sentence)).collect();
    clauses_of(statement).iter().any(|clause| clause.is_negated_by(&found)) || is_excluded(statement, sentences)
}

/// What a clause is about, and whether it denies that.
#[derive(Debug)]
struct Clause {
    words: BTreeSet<String>,
    negated: bool,
}

impl Clause {
    /// Do those of these clauses that are about the same all deny what it says, or say what it denies?
    fn is_negated_by(&self, others: &[Self]) -> bool {
        let about = |other: &&Self| {
            let shared = self.words.intersection(&other.words).count();
            let all = self.words.len().max(other.words.len());
            shared >= MIN_SHARED_WORDS && shared as f64 >= SAME_CLAUSE * all as f64
        };
        let mut about = others.iter().filter(about).peekable();
        about.peek().is_some() && about.all(|other| other.negated != self.negated)
    }
}

/// Does the sentence that is most about the statement hold words that exclude the statement's?
fn is_excluded(statement: &str, sentences: &[String]) -> bool {
    let wanted = distinctive_words(statement);
    let about: Vec<(f64, &String)> =
        sentences.iter().map(|sentence| (covered_by(&wanted, &distinctive_words(sentence)), sentence)).collect();
    let best = about.iter().map(|(share, _)| *share).fold(0.0, f64::max);
    let mut best = about.into_iter().filter(|(share, _)| *share >= MIN_ABOUT.max(best - NEARLY)).peekable();
    best.peek().is_some() && best.all(|(_, sentence)| excludes(statement, sentence))
}

/// The clauses of a text.
fn clauses_of(text: &str) -> Vec<Clause> {
    let clause = |words: Vec<String>| {
        let negated = words.iter().filter(|word| is_negation(word)).count() % 2 == 1;
        let content = words.iter().filter(|word| word.chars().nth(1).is_some() && !is_stop_word(word) && !is_negation(word));
        Clause { words: content.map(|word| stem(word).to_owned()).collect(), negated }
    };
    clauses(&text.to_lowercase().replace('\u{2019}', "'")).into_iter().map(clause).collect()
}

/// Does a text deny what it is about?
pub(crate) fn denies(text: &str) -> bool {
    let text = text.to_lowercase().replace('\u{2019}', "'");
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| is_negation(word)).count() % 2 == 1
}

fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word) || word.ends_with("n't")
}

/// The words of each clause.
fn clauses(text: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for part in text.split_inclusive([',', ';', ':', '(', ')', '—', '–', '→', '.', '\n']) {
        for word in part.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '_').filter(|word| !word.is_empty()) {
            if CLAUSE_WORDS.contains(&word) && !part.contains(&format!("-{word}")) {
                all.push(Vec::new());
            }
            if let Some(clause) = all.last_mut() {
                clause.push(word.to_owned());
            }
        }
        // A point in a name ends nothing.
        if !part.ends_with('.') || part.len() > 1 {
            all.push(Vec::new());
        }
    }
    all
}

/// Does one use a word that excludes one of the other's, and neither both?
fn excludes(one: &str, other: &str) -> bool {
    let (said, found) = (words(one), words(other));
    let holds =
        |words: &BTreeSet<String>, starts: &[&str]| words.iter().any(|word| starts.iter().any(|start| word.starts_with(start)));
    let turns =
        |this: &[&str], that: &[&str]| holds(&said, this) && !holds(&said, that) && holds(&found, that) && !holds(&found, this);
    OPPOSITES.iter().any(|(this, that)| turns(this, that) || turns(that, this))
}

fn words(text: &str) -> BTreeSet<String> {
    text.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect()
}
