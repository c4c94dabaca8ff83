//! Whether a statement says the opposite of what stands behind it.
//!
//! - All clauses behind it that are about the same as one of its own negate what that asserts, or assert what it negates.
//! - It says of one piece of code what is said there of the other, and the other way round.
//! - It and the sentence that is most about it use words that exclude each other: opposites, or a word and the same with a prefix that denies.
//! - The proposal that the user agreed to names a piece of code of it only to deny that.

use std::collections::BTreeSet;

use super::tokens::names_file;
use text::tokenize::{covered_by, distinctive_words, is_stop_word, stem};

/// A sentence is about the same as a statement if it holds this share of its distinctive words, and nearly as much as the best one.
const MIN_ABOUT: f64 = 0.5;
const NEARLY: f64 = 0.1;
/// Two clauses are about the same if they share so many words, this share of those of the shorter and that of those of the longer one.
const MIN_SHARED_WORDS: usize = 3;
const OF_SHORTER: f64 = 0.75;
const OF_LONGER: f64 = 0.6;
/// Clauses that share code need fewer words, and all of the shorter one.
const MIN_SHARED_WITH_CODE: usize = 2;

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

/// Words that tell no two clauses apart.
const FILLERS: [&str; 14] = [
    "already", "properly", "directly", "simply", "just", "also", "well", "again", "still", "now", "actually", "really",
    "currently", "only",
];

/// Words that exclude each other, as they begin.
const OPPOSITES: [(&[&str], &[&str]); 33] = [
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
    (&["first"], &["last"]),
    (&["local"], &["remote"]),
    (&["client"], &["server"]),
    (&["source"], &["target", "destination"]),
    (&["input"], &["output"]),
    (&["minim"], &["maxim"]),
    (&["added", "adds"], &["removed", "removes", "dropped", "deleted"]),
    (&["starts", "started"], &["stops", "stopped"]),
    (&["opens", "opened"], &["closes", "closed"]),
    (&["merged"], &["split"]),
    (&["strict"], &["lenient", "loose"]),
    (&["manual"], &["automatic"]),
    (&["explicit"], &["implicit"]),
    (&["more"], &["less", "fewer"]),
];

/// Prefixes that deny a word.
const PREFIXES: [&str; 5] = ["un", "in", "im", "dis", "non"];

/// Do all sentences that name a piece of code in a statement deny it, where the statement does not?
pub(super) fn is_denied(statement: &str, sentences: &[String]) -> bool {
    let found: Vec<Clause> = sentences.iter().flat_map(|sentence| clauses_of(sentence)).collect();
    let is_denied = |code: &String| {
        let mut naming = found.iter().filter(|clause| clause.codes.contains(code)).peekable();
        naming.peek().is_some() && naming.all(|clause| clause.negated)
    };
    clauses_of(statement).iter().any(|clause| !clause.negated && clause.codes.iter().any(is_denied))
}

/// Do the sentences behind a statement say the opposite?
pub(crate) fn is_opposed(statement: &str, sentences: &[String]) -> bool {
    let found: Vec<Clause> = sentences.iter().flat_map(|sentence| clauses_of(sentence)).collect();
    let said = clauses_of(statement);
    said.iter().any(|clause| clause.is_negated_by(&found)) || is_exchanged(&said, &found) || is_excluded(statement, sentences)
}

/// What a clause is about, and whether it denies that.
#[derive(Debug)]
struct Clause {
    words: BTreeSet<String>,
    codes: BTreeSet<String>,
    negated: bool,
}

impl Clause {
    /// Do those of these clauses that are about the same all deny what it says, or say what it denies?
    fn is_negated_by(&self, others: &[Self]) -> bool {
        let mut about = others.iter().filter(|other| self.is_about_same(other)).peekable();
        about.peek().is_some() && about.all(|other| other.negated != self.negated)
    }

    fn is_about_same(&self, other: &Self) -> bool {
        let codes = self.codes.intersection(&other.codes).count();
        let shared = (self.words.intersection(&other.words).count() + codes) as f64;
        let (one, two) = ((self.words.len() + self.codes.len()) as f64, (other.words.len() + other.codes.len()) as f64);
        let (shorter, longer) = (one.min(two), one.max(two));
        let by_code = codes > 0 && shared >= MIN_SHARED_WITH_CODE as f64 && shared == shorter;
        by_code || shared >= MIN_SHARED_WORDS as f64 && shared >= OF_SHORTER * shorter && shared >= OF_LONGER * longer
    }
}

/// Does a statement say of each of two pieces of code what the sentences say of the other?
fn is_exchanged(said: &[Clause], found: &[Clause]) -> bool {
    let single = |clause: &&Clause| clause.codes.len() == 1;
    let of = |code: &BTreeSet<String>| -> BTreeSet<&String> {
        found.iter().filter(|clause| clause.codes == *code).flat_map(|clause| &clause.words).collect()
    };
    let shares = |words: &[&String], others: &BTreeSet<&String>| words.iter().any(|word| others.contains(word));
    let exchanges = |one: &Clause, two: &Clause| {
        let own: Vec<&String> = one.words.difference(&two.words).collect();
        let its: Vec<&String> = two.words.difference(&one.words).collect();
        let (of_one, of_two) = (of(&one.codes), of(&two.codes));
        shares(&own, &of_two) && shares(&its, &of_one) && !shares(&own, &of_one) && !shares(&its, &of_two)
    };
    said.windows(2)
        .any(|pair| pair.iter().all(|clause| single(&clause)) && pair[0].codes != pair[1].codes && exchanges(&pair[0], &pair[1]))
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
    let clause = |words: Vec<Word>| {
        let negated = words.iter().filter(|word| word.negates()).count() % 2 == 1;
        let mut clause = Clause { words: BTreeSet::new(), codes: BTreeSet::new(), negated };
        for word in words {
            match word {
                Word::Code(code) => drop(clause.codes.insert(code)),
                Word::Plain(word) if !is_negation(&word) && !is_stop_word(&word) && !FILLERS.contains(&word.as_str()) => {
                    if word.chars().nth(1).is_some() {
                        clause.words.insert(root(&word));
                    }
                }
                Word::Plain(_) => {}
            }
        }
        clause
    };
    clauses(&text.replace('\u{2019}', "'")).into_iter().map(clause).collect()
}

/// A word without its endings, and without what these change before them: `carr` of "carry" and "carries", `map` of "mapped".
fn root(word: &str) -> String {
    let stem = stem(word);
    let stem = stem.strip_suffix('y').filter(|rest| rest.len() > 2).unwrap_or(stem);
    let mut last = stem.chars().rev();
    let doubled = stem.len() > 3 && last.next() == last.next();
    stem.chars().take(stem.chars().count() - usize::from(doubled)).collect()
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

/// A word of a clause, in lower case.
#[derive(Debug)]
enum Word {
    Plain(String),
    /// The last part of a name in code.
    Code(String),
}

impl Word {
    fn negates(&self) -> bool {
        matches!(self, Self::Plain(word) if is_negation(word))
    }
}

/// The words of each clause.
fn clauses(text: &str) -> Vec<Vec<Word>> {
    let mut all = vec![Vec::new()];
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '<' | '>' | '(' | ')'));
        let is_code = is_code(bare) || word.contains('`') && bare.contains('.') && bare.contains(char::is_alphabetic);
        let code = is_code.then(|| last_part(bare)).filter(|code| !code.is_empty());
        if let (Some(code), Some(clause)) = (&code, all.last_mut()) {
            clause.push(Word::Code(code.clone()));
        }
        for part in word.to_lowercase().split_inclusive([',', ';', ':', '(', ')', '—', '–', '→', '.']) {
            let words = part.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '_').filter(|word| !word.is_empty());
            for word in words.filter(|_| code.is_none()) {
                if CLAUSE_WORDS.contains(&word) && !part.contains(&format!("-{word}")) {
                    all.push(Vec::new());
                }
                if let Some(clause) = all.last_mut() {
                    clause.push(Word::Plain(word.to_owned()));
                }
            }
            // A point in a name ends nothing.
            let ends = part.ends_with([',', ';', ':', '(', ')', '—', '–', '→']) || part.ends_with('.') && part.len() > 1;
            if ends && code.is_none() {
                all.push(Vec::new());
            }
        }
        if code.is_some() && word.ends_with([',', ';', ':', '.']) {
            all.push(Vec::new());
        }
    }
    all
}

/// Does a word look like a name in code?
fn is_code(word: &str) -> bool {
    let letters = || word.chars().zip(word.chars().skip(1));
    let has_letter = word.chars().any(char::is_alphabetic);
    let joined = word.trim_matches('_').contains('_') || word.contains("::") || word.contains("()") || word.starts_with('<');
    has_letter && (joined || letters().any(|(a, b)| a.is_lowercase() && b.is_uppercase()))
}

/// The last part of a name, in lower case: `update` of `content.update()`.
fn last_part(name: &str) -> String {
    let name = name.split('(').next().unwrap_or_default().to_lowercase();
    let name = if names_file(&name) { name.as_str() } else { name.rsplit(['.', ':']).next().unwrap_or_default() };
    name.rsplit('/').next().unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric() && c != '_').to_owned()
}

/// Does one use a word that excludes one of the other's, and neither both?
fn excludes(one: &str, other: &str) -> bool {
    let (said, found) = (words(one), words(other));
    let holds =
        |words: &BTreeSet<String>, starts: &[&str]| words.iter().any(|word| starts.iter().any(|start| word.starts_with(start)));
    let turns =
        |this: &[&str], that: &[&str]| holds(&said, this) && !holds(&said, that) && holds(&found, that) && !holds(&found, this);
    // "supported" and "unsupported".
    let denied = |word: &str| PREFIXES.iter().any(|prefix| word.strip_prefix(prefix).is_some_and(|rest| rest.len() > 3));
    let denies = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        let bare = |word: &String| PREFIXES.iter().filter_map(|prefix| word.strip_prefix(prefix)).any(|rest| other.contains(rest));
        one.iter().any(|word| denied(word) && !other.contains(word) && bare(word))
    };
    OPPOSITES.iter().any(|(this, that)| turns(this, that) || turns(that, this)) || denies(&said, &found) || denies(&found, &said)
}

fn words(text: &str) -> BTreeSet<String> {
    text.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opposes(statement: &str, said: &str) -> bool {
        is_opposed(statement, &[said.to_owned()])
    }

    #[test]
    fn what_denies_the_same_clause_opposes_it_and_what_is_of_another_does_not() {
        for (statement, said) in [
            ("The parser did not notice empty rows at the end.", "The parser already notices empty rows."),
            ("Read-only mounts now carry a lock file as well.", "A read-only mount carries no lock file."),
            ("`refresh_all()` never calls `Cache.reload()`.", "It calls `self.cache.reload()`."),
            ("The width goes to `<col>` and the height to `<row>`.", "The height is written to `<col>`, the width to `<row>`."),
            ("The query is run on the client.", "The query is run on the server."),
            ("Symbolic links are supported by the importer.", "Symbolic links are unsupported by the importer."),
        ] {
            assert!(opposes(statement, said), "{statement} / {said}");
        }
        for (statement, said) in [
            ("The pump could not start and flooded the cellar.", "The pump floods the cellar, as it can't start."),
            ("The height goes to `<col>` and the width to `<row>`.", "The height is written to `<col>`, the width to `<row>`."),
            ("Read-only mounts carry no lock file.", "A read-only mount carries no lock file."),
            ("`refresh_all()` calls `Cache.reload()`.", "It calls `self.cache.reload()`, but never `flush()`."),
        ] {
            assert!(!opposes(statement, said), "{statement} / {said}");
        }
    }

    #[test]
    fn a_proposal_that_only_denies_a_name_is_not_agreed_to_as_a_wish_for_it() {
        let proposal = ["I'm not adding `Config.retries`; callers can loop themselves.".to_owned(), "Is that fine?".to_owned()];
        assert!(is_denied("The user wanted `Config.retries` for callers.", &proposal));
        assert!(!is_denied("The user agreed to have no `Config.retries`.", &proposal));
        assert!(!is_denied("The user wanted callers to loop themselves.", &proposal));
    }
}
