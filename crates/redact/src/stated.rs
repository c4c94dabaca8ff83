//! What a sentence states to be a password: `the password is correcthorse`, `das Passwort ist sonnenblume7`, `use password=swordfish99`. Such a value
//! reads like any other word: only what leads to it, and what it cannot say of a password, tell it from one.

use super::bytes;
use super::harmless::{has_label_word, is_placeholder};
use super::secret_names::kind_of_name;
use super::typed::names_term;
use super::word_list::WordList;

/// The most letters of a word, and the least of one without a number.
const MAX_LETTERS: usize = 32;
const MIN_LETTERS: usize = 8;
/// Ends of words that say how something is, what was done with it, or where it is.
#[rustfmt::skip]
const ENDS: [&str; 65] = [
    "ed", "ing", "able", "ible", "ful", "less", "ent", "ant", "ive", "al", "ous", "ary", "ory", "ly", "ic", "ate", "ure", "ect",
    "est", "er", "or", "en", "id", "tion", "sion", "ment", "ity", "ness", "ance", "ence", "ism", "ist", "ship", "text", "case", "wise",
    "where", "thing", "body", "self", "ward", "side", "line", "stream", "proof", "like", "only", "way", "what", "long", "free",
    "worthy", "tight", "empty", "own", "done", "gone", "back", "time", "code", "more", "fore", "day", "byte", "weight",
];
/// Other words that may follow "the password is", and words of code and of documentation that stand in the place of a value.
#[rustfmt::skip]
const SAID: &WordList = &WordList::of(&[
    "obsolete", "complete", "incomplete", "whitespace", "gibberish", "nonsense", "overkill", "standard", "nonstandard", "straight",
    "alright", "although", "because", "through", "throughout", "without", "within", "nowadays", "meanwhile", "username", "hostname",
    "filename", "database", "metadata", "userdata", "markdown", "software", "hardware", "keychain", "keystore", "argument", "variable",
    "constant", "property", "resource", "template", "userinput", "undefined", "nullable", "anonymous", "whatever", "whichever",
    "somevalue", "anyvalue", "thevalue", "newvalue", "oldvalue", "myvalue", "realvalue", "testvalue", "yourvalue", "somestring", "mystring",
    "readable", "wildcard", "duplicate", "mandatory", "erforderlich", "notwendig", "abgelaufen", "vergessen", "unbekannt", "vorhanden",
    "verbatim", "tomorrow", "everyone", "headache", "nightmare", "bottleneck", "multiple",
]);
/// Words that suppose what follows them.
const SUPPOSING: [&str; 14] =
    ["if", "when", "whenever", "whether", "unless", "until", "once", "while", "wenn", "falls", "ob", "si", "quand", "se"];
/// So many words before a name may suppose something of it: `if your new admin password is …`.
const SUPPOSED_WORDS: usize = 5;

/// `sonnenblume7`, `Swordfish99`: a word with a number of at most four digits behind it, no term, and no name of a secret.
pub(crate) fn is_numbered(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let letters = value.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let digits = value.len() - letters;
    let is_word = (4..=MAX_LETTERS).contains(&letters) && value[1..letters].iter().all(u8::is_ascii_lowercase);
    is_word
        && (1..=4).contains(&digits)
        && value.len() >= 6
        && value[letters..].iter().all(u8::is_ascii_digit)
        && !is_taken(value)
        && !is_taken(&value[..letters])
}

/// `correcthorse`: one word of lower-case letters that says nothing of a password.
pub(crate) fn is_word(value: &[u8]) -> bool {
    bytes::count_steps(value.len());
    let is_plural = value.ends_with(b"s") && !value.ends_with(b"ss");
    (MIN_LETTERS..=MAX_LETTERS).contains(&value.len())
        && value.iter().all(u8::is_ascii_lowercase)
        && !is_plural
        && !ENDS.iter().any(|end| value.ends_with(end.as_bytes()))
        && !is_taken(value)
}

/// Whether this word says how a password is: `mandatory`.
pub(crate) fn is_said_of_passwords(word: &[u8]) -> bool {
    SAID.has(word)
}

/// Terms, placeholders, names of secrets, and words of messages.
fn is_taken(value: &[u8]) -> bool {
    SAID.has(value)
        || has_label_word(value)
        || is_placeholder(value)
        || names_term(&value.to_ascii_lowercase())
        || kind_of_name(value).is_some()
}

/// Whether the words at the end of this head suppose what follows: `if the password`.
pub(crate) fn is_supposed(head: &[u8]) -> bool {
    bytes::count_steps(head.len());
    let words = head.rsplit(|b| *b <= b' ').filter(|word| !word.is_empty()).take(SUPPOSED_WORDS);
    words.into_iter().any(|word| SUPPOSING.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes())))
}
