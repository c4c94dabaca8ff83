//! Tokenizes text for search and comparison: splits joined names and drops stop words.

use std::collections::BTreeSet;

/// English stop words, sorted.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "before", "but", "by", "can",
    "could", "did", "do", "does", "done", "for", "from", "get", "got", "had", "has", "have", "he", "her", "here", "his", "how",
    "i", "if", "in", "into", "is", "it", "its", "just", "let", "like", "make", "me", "more", "my", "no", "not", "now", "of", "on",
    "one", "only", "or", "other", "our", "out", "over", "please", "s", "same", "she", "should", "so", "some", "such", "t", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "up", "us", "use", "very",
    "was", "we", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "would", "yes", "you", "your",
];

/// The longest stop word, in bytes.
const LONGEST_STOP_WORD: usize = 7;

/// The stop words as sorted integers, so that one comparison compares a whole word.
const STOP_KEYS: [u64; STOP_WORDS.len()] = {
    let mut keys = [0; STOP_WORDS.len()];
    let mut at = 0;
    while at < STOP_WORDS.len() {
        keys[at] = key(STOP_WORDS[at].as_bytes());
        at += 1;
    }
    keys
};

/// By the first byte of words: a bit for each length that a stop word with it has. This tells of most words that they are none.
const STOP_LENGTHS: [u8; 256] = {
    let mut lengths = [0; 256];
    let mut at = 0;
    while at < STOP_WORDS.len() {
        let word = STOP_WORDS[at].as_bytes();
        lengths[word[0] as usize] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// A word of up to [`LONGEST_STOP_WORD`] bytes as an integer: its bytes, then its length.
const fn key(word: &[u8]) -> u64 {
    let mut bytes = [0; LONGEST_STOP_WORD + 1];
    let mut at = 0;
    while at < word.len() {
        bytes[at] = word[at];
        at += 1;
    }
    bytes[LONGEST_STOP_WORD] = word.len() as u8;
    u64::from_be_bytes(bytes)
}

/// The words of a phrase as the index holds them, in order and separated by spaces: pairs of characters in scripts without spaces, no
/// stop words.
pub fn index_text(text: &str) -> String {
    let mut indexed = String::with_capacity(text.len());
    words_of(text).for_each(|word| push_tokens(&mut indexed, word, is_stop_word));
    indexed
}

/// All words of a name (a path, branch or tool), including stop words.
pub fn index_names(name: &str) -> String {
    let mut indexed = String::with_capacity(name.len());
    words_of(name).for_each(|word| push_tokens(&mut indexed, word, |_| false));
    indexed
}

/// The words of a document in text order, so that phrases match; then the parts of joined names, and the last characters of runs in
/// scripts without spaces, since no pair begins with them.
#[derive(Debug, Default)]
pub struct IndexedText {
    words: String,
    parts: String,
}

impl IndexedText {
    /// Adds the words of a text, without stop words.
    pub fn add(&mut self, text: &str) {
        self.add_words(text, is_stop_word);
    }

    /// Adds all words of a name. Stop words are kept: they are part of names.
    pub fn add_name(&mut self, name: &str) {
        self.add_words(name, |_| false);
    }

    fn add_words(&mut self, text: &str, is_left_out: impl Fn(&str) -> bool + Copy) {
        for word in words_of(text) {
            if has_parts(word) {
                push_tokens(&mut self.words, word, is_left_out);
                part_tokens(word).iter().filter(|part| !is_stop_word(part)).for_each(|part| self.add_part(part));
            } else if !is_left_out(word) {
                // It is in lower case, and one token: so are most words.
                push_token(&mut self.words, word);
            }
        }
    }

    fn add_part(&mut self, part: &str) {
        self.parts.push(' ');
        self.parts.push_str(part);
    }

    /// Adds those words of another document that `fits` accepts.
    pub fn add_where(&mut self, of: &Self, mut fits: impl FnMut(&str) -> bool) {
        for word in of.words.split_whitespace().filter(|word| fits(word)) {
            push_tokens(&mut self.words, word, |_| false);
        }
        of.parts.split_whitespace().filter(|part| fits(part)).for_each(|part| self.add_part(part));
    }

    /// All words, with repetitions.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.words.split_whitespace().chain(self.parts.split_whitespace())
    }

    /// The size so far, in bytes.
    pub fn bytes(&self) -> usize {
        self.words.len() + self.parts.len()
    }

    pub fn finish(mut self) -> String {
        self.words.push_str(&self.parts);
        self.words
    }
}

/// Appends a token, behind a space if it is not the first.
fn push_token(indexed: &mut String, token: &str) {
    if !indexed.is_empty() {
        indexed.push(' ');
    }
    indexed.push_str(token);
}

/// Appends the tokens of a word, except those left out. ASCII words, which are most, are appended without an allocation.
fn push_tokens(indexed: &mut String, word: &str, is_left_out: impl Fn(&str) -> bool) {
    let mut push = |token: &str| {
        let before = indexed.len();
        push_token(indexed, token);
        let start = indexed.len() - token.len();
        indexed[start..].make_ascii_lowercase();
        if is_left_out(&indexed[start..]) {
            indexed.truncate(before);
        }
    };
    if word.is_ascii() { push(word) } else { whole_tokens(word).iter().for_each(|token| push(token)) }
}

/// Runs of letters and digits; everything else separates words.
pub fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, from_word) = rest.split_at(run_of(rest, false));
        let (word, behind) = from_word.split_at(run_of(from_word, true));
        rest = behind;
        (!word.is_empty()).then_some(word)
    })
}

/// The length of what a text begins with that is of words alone, or of none. Most characters are ASCII, which a table tells.
fn run_of(text: &str, of_words: bool) -> usize {
    let kind = if of_words { ByteClass::Word } else { ByteClass::Gap };
    let mut at = 0;
    loop {
        at += text.as_bytes()[at..].iter().take_while(|byte| CLASSES[usize::from(**byte)] == kind).count();
        let is_of_run = |c: &char| !c.is_ascii() && (c.is_alphanumeric() || is_mark(*c)) == of_words;
        let Some(c) = text[at..].chars().next().filter(is_of_run) else { return at };
        at += c.len_utf8();
    }
}

/// Is it a mark of the letter before it? Names of files on macOS have an umlaut so. The index leaves marks away, of one character as of two.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// What a byte alone says of where it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Gap,
    /// An ASCII letter or digit.
    Word,
    /// A part of a character beyond ASCII.
    Other,
}

const CLASSES: [ByteClass; 256] = {
    let mut all = [ByteClass::Gap; 256];
    let mut byte = 0;
    while byte < all.len() {
        if !(byte as u8).is_ascii() {
            all[byte] = ByteClass::Other;
        } else if (byte as u8).is_ascii_alphanumeric() {
            all[byte] = ByteClass::Word;
        }
        byte += 1;
    }
    all
};
/// Is a byte one of those that a word without parts is made of?
const IN_SIMPLE_WORDS: [bool; 256] = {
    let mut all = [false; 256];
    let mut byte = 0;
    while byte < all.len() {
        all[byte] = (byte as u8).is_ascii_lowercase() || (byte as u8).is_ascii_digit();
        byte += 1;
    }
    all
};

/// The word in lower case and the parts of a joined name; for scripts without spaces, pairs of characters.
pub fn tokens_of(word: &str) -> Vec<String> {
    let mut all = whole_tokens(word);
    if !word.chars().any(is_unsegmented) {
        all.extend(part_tokens(word));
    }
    all
}

fn whole_tokens(word: &str) -> Vec<String> {
    if !word.is_ascii() && word.chars().any(is_unsegmented) {
        return script_runs(word).into_iter().flat_map(|run| character_pairs(&run)).collect();
    }
    vec![if word.is_ascii() { word.to_ascii_lowercase() } else { word.to_lowercase() }]
}

/// May the word have parts? A cheap test that rules out most words by their bytes.
fn has_parts(word: &str) -> bool {
    !word.bytes().all(|b| IN_SIMPLE_WORDS[usize::from(b)])
}

fn part_tokens(word: &str) -> Vec<String> {
    if !word.is_ascii() && word.chars().any(is_unsegmented) {
        let last = |run: String| run.chars().last().filter(|last| is_unsegmented(*last) && run.chars().count() > 1);
        return script_runs(word).into_iter().filter_map(last).map(String::from).collect();
    }
    if word.is_ascii() && !(may_join(word) && has_capital(word)) {
        return Vec::new();
    }
    let parts = parts(word);
    if parts.len() > 1 { parts.into_iter().map(str::to_lowercase).collect() } else { Vec::new() }
}

/// May an ASCII word be joined of several? A capital at its beginning joins nothing.
fn may_join(word: &str) -> bool {
    word.bytes().enumerate().any(|(at, byte)| byte == b'_' || at > 0 && byte.is_ascii_uppercase())
}

fn has_capital(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_uppercase())
}

/// Is it a stop word (in lower case)?
pub fn is_stop_word(word: &str) -> bool {
    let Some(first) = word.bytes().next().filter(|_| word.len() <= LONGEST_STOP_WORD) else { return false };
    STOP_LENGTHS[usize::from(first)] & 1 << word.len() != 0 && STOP_KEYS.binary_search(&key(word.as_bytes())).is_ok()
}

/// Does the character belong to a script without spaces between words?
pub fn is_unsegmented(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0fff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xac00..=0xd7af | 0xf900..=0xfaff | 0xff66..=0xff9f | 0x20000..=0x3ffff)
}

/// Splits a word where scripts with and without spaces meet.
fn script_runs(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    chars.chunk_by(|a, b| is_unsegmented(*a) == is_unsegmented(*b)).map(|run| run.iter().collect()).collect()
}

/// Pairs of adjacent characters, or the single character; a run of another script stays whole.
fn character_pairs(run: &str) -> Vec<String> {
    let chars: Vec<char> = run.chars().collect();
    match chars.as_slice() {
        [_] => vec![run.to_lowercase()],
        [first, ..] if is_unsegmented(*first) => chars.windows(2).map(|pair| pair.iter().collect()).collect(),
        _ => vec![run.to_lowercase()],
    }
}

/// The parts of a joined name: `getHTTPUser_id2` → `get HTTP User id2`.
pub fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut chars = name.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, after)| *after);
        let starts_word = c.is_uppercase()
            && before
                .is_some_and(|b| b.is_lowercase() || b.is_numeric() || (b.is_uppercase() && after.is_some_and(char::is_lowercase)));
        if c == '_' || starts_word {
            parts.push(&name[start..at]);
            start = if c == '_' { at + 1 } else { at };
        }
        before = Some(c);
    }
    parts.push(&name[start..]);
    parts.retain(|p| !p.is_empty());
    parts
}

/// The distinctive words of a text: lower case, stemmed, without stop words.
pub fn distinctive_words(text: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    each_distinctive_word(text, |word| {
        if !all.contains(word) {
            all.insert(word.to_owned());
        }
    });
    all
}

/// Hands over the distinctive words of a text, with repetitions.
pub fn each_distinctive_word(text: &str, mut take: impl FnMut(&str)) {
    let mut add = |word: &str| {
        if word.chars().nth(1).is_some() && !is_stop_word(word) {
            take(stem(word));
        }
    };
    let mut lower = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        // Scripts without spaces have no words to tell apart: pairs of characters stand for them.
        if !word.is_ascii() && word.chars().any(is_unsegmented) {
            whole_tokens(word).iter().for_each(|pair| add(pair));
        } else if !has_parts(word) {
            add(word);
        } else if word.is_ascii() && !may_join(word) {
            lower.clear();
            lower.push_str(word);
            lower.make_ascii_lowercase();
            add(&lower);
        } else {
            parts(word).into_iter().for_each(|part| add(&part.to_lowercase()));
        }
    }
}

/// The same, with names also as they are written in lower case: `SQLite` is known by `sqlite`.
pub fn words_in_any_case(text: &str) -> BTreeSet<String> {
    let mut all = distinctive_words(text);
    all.extend(distinctive_words(&text.to_lowercase()));
    all
}

/// The word without its common English endings.
pub fn stem(word: &str) -> &str {
    let endings: &[&str] = match word.as_bytes().last() {
        Some(b's') => &["ations", "ings", "ies", "es", "s"],
        Some(b'n') => &["ation"],
        Some(b'g') => &["ing"],
        Some(b'd') => &["ed"],
        Some(b'e') => &["e"],
        _ => &[],
    };
    endings.iter().filter_map(|ending| word.strip_suffix(ending)).find(|stem| stem.len() >= 3).unwrap_or(word)
}

/// The share of the words of `text` that `other` also holds: 0 to 1.
pub fn covered_by(text: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    if text.is_empty() {
        return 0.0;
    }
    text.intersection(other).count() as f64 / text.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn only_joined_names_have_parts(word in "[A-Z]?[a-z0-9]{0,4}[A-Z_]{0,2}[a-zé]{0,3}") {
            let expected: Vec<String> = match word.is_ascii() && !has_capital(&word) || parts(&word).len() < 2 {
                true => Vec::new(),
                false => parts(&word).into_iter().map(str::to_lowercase).collect(),
            };
            prop_assert_eq!(part_tokens(&word), expected);
        }

        #[test]
        fn words_are_runs_of_letters_and_digits(text in "([a-zA-Z0-9]{0,9}|[ .,_-]|\\PC|\\p{L}|\n){0,20}") {
            let split: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
            prop_assert_eq!(words_of(&text).collect::<Vec<_>>(), split);
        }
    }

    fn document(text: &str) -> String {
        let mut indexed = IndexedText::default();
        indexed.add(text);
        indexed.finish()
    }

    #[test]
    fn words_that_say_nothing_are_found_by_halving() {
        assert!(STOP_WORDS.is_sorted() && STOP_KEYS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
        assert!(["", "i\0", "te", "abouts", "behindhand", "über", "日本"].iter().all(|word| !is_stop_word(word)));
    }

    #[test]
    fn names_are_split_where_they_were_joined() {
        assert_eq!(parts("getHTTPUser_id2"), ["get", "HTTP", "User", "id2"]);
        assert_eq!(parts("plain"), ["plain"]);
        assert_eq!(index_text("Fix the parseRow of src/read_me.rs v1.2"), "fix parserow src read rs v1 2");
        assert_eq!(document("Fix the parseRow of src/read_me.rs"), "fix parserow src read rs parse row");
        assert_eq!(index_names("src/about.rs"), "src about rs");
    }

    #[test]
    fn scripts_without_spaces_come_in_pairs() {
        assert_eq!(index_text("修复分页 bug"), "修复 复分 分页 bug");
        assert_eq!(document("修复分页 bug"), "修复 复分 分页 bug 页");
        assert_eq!(index_text("錯 orderListの不具合"), "錯 orderlist の不 不具 具合");
    }

    #[test]
    fn forms_of_a_word_count_as_one() {
        let text = distinctive_words("Migrating the admin exports");
        assert_eq!(covered_by(&text, &distinctive_words("the admin export was migrated")), 1.0);
        assert_eq!(covered_by(&distinctive_words(""), &text), 0.0);
    }
}
