//! Whether a sentence of the user's says what must be so, or must not. English alone.

/// A longer sentence says too much for its words to tell what it is about, in characters.
const MAX_CHARS: usize = 240;
/// Words that say what must be so, wherever they stand.
const DEMANDING: [&str; 5] = ["must", "mustn't", "should", "shouldn't", "ought"];
const DEMANDING_PAIRS: [[&str; 2]; 7] =
    [["do", "not"], ["needs", "to"], ["need", "to"], ["has", "to"], ["have", "to"], ["i", "want"], ["we", "want"]];
/// Words that constrain what is asked for, and only tell where a thing is spoken of.
const CONSTRAINING: [&str; 8] = ["never", "always", "only", "instead", "avoid", "without", "ensure", "prefer"];
const CONSTRAINING_PAIRS: [[&str; 2]; 5] =
    [["rather", "than"], ["no", "longer"], ["make", "sure"], ["at", "most"], ["at", "least"]];
/// Words with which a sentence about a thing begins.
const ABOUT_A_THING: [&str; 21] = [
    "this", "these", "that", "those", "the", "it", "it's", "there", "however", "without", "since", "because", "although", "while",
    "line", "lines", "a", "an", "each", "all", "its",
];
/// What follows "don't" where nothing is forbidden.
const NO_RULE_AFTER_DONT: [&str; 20] = [
    "know", "think", "see", "understand", "care", "mind", "get", "believe", "remember", "worry", "forget", "like", "have",
    "really", "work", "seem", "even", "fully", "quite", "feel",
];
/// Who does not do something, and forbids nothing by saying so.
const SUBJECTS: [&str; 11] = ["i", "we", "they", "you", "these", "those", "tests", "users", "people", "and", "that"];
/// Words with which a question begins, a thought or a report: none of them says what must be so.
const NO_INSTRUCTION: [&str; 37] = [
    "why", "what", "how", "who", "which", "when", "where", "can", "could", "would", "will", "does", "did", "is", "are", "was",
    "were", "has", "should", "maybe", "perhaps", "hmm", "wondering", "i'm", "thanks", "error", "warning", "fail", "note:",
    "error:", "warning:", "expected", "actual", "hang", "wait", "hold", "do",
];
/// Words by which the user supposes, or tells what seemed so.
const UNSURE: [&str; 14] = [
    "consider", "maybe", "perhaps", "thinking", "wondering", "think", "guess", "wonder", "suppose", "seems", "seem", "looks",
    "possibly", "idea",
];

/// Does it say what must be so, or must not?
pub(super) fn constrains(sentence: &str) -> bool {
    if !is_statement(sentence) {
        return false;
    }
    let words = words(sentence);
    let pair = |at: usize| [words[at].as_str(), words.get(at + 1).map_or("", String::as_str)];
    let demands = |at: usize| DEMANDING.contains(&words[at].as_str()) || DEMANDING_PAIRS.contains(&pair(at)) || forbids(&words, at);
    let constrains = |at: usize| CONSTRAINING.contains(&words[at].as_str()) || CONSTRAINING_PAIRS.contains(&pair(at));
    let is_about_a_thing = ABOUT_A_THING.contains(&words.first().map_or("", String::as_str));
    (0..words.len()).any(|at| demands(at) || !is_about_a_thing && constrains(at))
}

/// Is it a statement of a person's: no question, no thought, no remark on a line of code and no line that a program printed?
pub(super) fn is_statement(sentence: &str) -> bool {
    let words = words(sentence);
    let first = words.first().map_or("", String::as_str);
    sentence.chars().count() <= MAX_CHARS
        && !sentence.trim_end_matches(['"', ')', '\'', '”', '!', '.', ' ']).ends_with('?')
        && !sentence.trim_end().ends_with(':')
        && (!NO_INSTRUCTION.contains(&first) || first == "do" && words.get(1).is_some_and(|word| word == "not"))
        && !words.iter().any(|word| UNSURE.contains(&word.as_str()))
        && !words
            .windows(2)
            .any(|two| matches!(two[0].as_str(), "line" | "lines") && two[1].starts_with(|c: char| c.is_ascii_digit()))
        && !is_printed(sentence)
}

/// "Don't touch the config", but not "I don't know" or "the tests don't run".
fn forbids(words: &[String], at: usize) -> bool {
    let next = words.get(at + 1).map_or("", String::as_str);
    let before = at.checked_sub(1).map_or("", |before| words[before].as_str());
    matches!(words[at].as_str(), "don't" | "dont")
        && !next.is_empty()
        && if SUBJECTS.contains(&before) { matches!(next, "want" | "need") } else { !NO_RULE_AFTER_DONT.contains(&next) }
}

/// Is it a line of a program's output, of code or of a log?
pub(super) fn is_printed(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c.is_whitespace() || ",.'`!-:’\"/_()".contains(c);
    let others = text.chars().filter(|c| !plain(*c)).count();
    let code = text.split('`').skip(1).step_by(2).map(str::len).sum::<usize>();
    let is_set = |word: &&str| word.split_once('=').is_some_and(|(name, value)| !name.is_empty() && !value.is_empty());
    others * 12 > text.chars().count()
        || text.split_whitespace().filter(is_set).count() > 1
        || text.matches('|').count() > 1
        || code * 2 > text.len()
        || text.starts_with(['$', '>', '|', '<', '{', '[', '/', '@', '+', '❯', '⏺', '⎿'])
        || text.contains("://")
}

fn words(sentence: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').to_lowercase();
    sentence.replace('’', "'").split_whitespace().map(bare).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_so_is_told_from_what_is_asked_thought_or_printed() {
        for said in [
            "Don't touch the public API of the parser",
            "please don’t add a dependency for this",
            "we only want this for the admin export",
            "The port has to stay 8081",
            "use the fake clock instead of sleeping",
            "I don't want a new table for it",
            "It should fail if the file is missing",
        ] {
            assert!(constrains(said), "{said}");
        }
        for said in [
            "Why should it fail?",
            "I don't know where the config is",
            "the tests don't run on my machine",
            "I think we should look at the parser again",
            "should we add a dependency",
            "Look at the list of orders and tell me what it does",
            "$ cargo test --only foo",
            "[lint] a.rs:12: must not be empty {x=1, y=2} => <none>",
            "These are the things that must be done:",
            "This makes the order fixed rather than a matter of chance.",
            "This causes the sum to always be 0, and the count with it.",
            "INFO started component=hooks kind=session must=1",
            "Lines 366 and 367 must not be the same",
            "hang on a sec, I only have to look for the log",
        ] {
            assert!(!constrains(said), "{said}");
        }
    }
}
