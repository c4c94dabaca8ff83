//! Common words, which identify nothing private.

use std::collections::HashSet;
use std::sync::OnceLock;

use text::tokenize::is_stop_word;

/// Words from the documentation of at least four of some two hundred crates, names of program parts and of days, and function
/// words of German, French, Spanish, Italian, Portuguese and Dutch; sorted, without accents.
const COMMON: &str = include_str!("vocabulary.txt");

fn common() -> &'static HashSet<&'static str> {
    static WORDS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    WORDS.get_or_init(|| COMMON.split_whitespace().collect())
}

/// Inflectional endings, each with what replaces it in the base form.
const ENDINGS: [(&str, &str); 14] = [
    ("s", ""),
    ("es", ""),
    ("ies", "y"),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
    ("er", ""),
    ("er", "e"),
    ("ers", ""),
    ("ers", "e"),
    ("ly", ""),
    ("able", ""),
    ("able", "e"),
];

/// Is this a common word, or a form of one?
pub(crate) fn is_common(word: &str) -> bool {
    let known = |word: &str| common().contains(word) || is_stop_word(word);
    let base =
        |(ending, instead): &(&str, &str)| Some(format!("{}{instead}", word.strip_suffix(ending)?)).filter(|base| base.len() > 2);
    known(word) || ENDINGS.iter().filter_map(base).any(|base| known(&base))
}

/// Is this a function word, without meaning of its own?
pub(crate) fn is_function(word: &str) -> bool {
    is_stop_word(word)
        || word.len() < 2
        || !super::is_meaningful(word) && word.is_ascii() && word.bytes().all(|b| b.is_ascii_alphabetic())
}
