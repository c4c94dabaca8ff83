//! A sentence as tokens: words with their clauses, numbers, and what keeps it from stating a fact.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::ops::{Deref, Range};
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use super::change::{self, Narrows, Quantity};
use super::word_lists::{WordList, WordLists, is_generic};
use text::synonyms::{group_of, marker};
use text::tokenize::{distinctive_words, is_stop_word, stem, words_of};

/// A word or a mark of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::analyze) struct Token {
    word: Rc<Word>,
    pub(in crate::analyze) is_word: bool,
    /// It is written as a name: as code, with a capital inside the sentence, or with marks such as `_` and `/`.
    pub(super) is_name: bool,
}

/// A word, whatever sentence it is in: those of a project are many times as many as their words.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::analyze) struct Word {
    /// Lower case; a mark is itself.
    pub(in crate::analyze) text: String,
    /// How it counts where beginnings are compared: joints as they are.
    pub(super) stem: String,
    pub(super) is_small: bool,
    is_article: bool,
    lists: WordLists,
    /// Its content words, once they were asked for.
    content: OnceCell<Vec<String>>,
}

impl Word {
    fn new(text: &str) -> Self {
        let is_whole = is_stop_word(text) || text.contains(['_', '.', '/']);
        Self {
            text: text.to_owned(),
            stem: if is_whole { text } else { stem(text) }.to_owned(),
            is_small: is_small(text),
            is_article: is_article(text),
            lists: WordLists::of(text),
            content: OnceCell::new(),
        }
    }
}

/// With so many words, those that no sentence holds any more are forgotten.
const MAX_WORDS: usize = 1 << 17;
/// So many are kept for the sentences of the next project, which has most of them, too.
const MAX_WORDS_KEPT: usize = 1 << 14;

thread_local! {
    /// The words of the sentences that are looked at.
    static WORDS: RefCell<HashMap<String, Rc<Word>>> = RefCell::default();
}

/// Forgets the words that no sentence holds any more, where they are many.
pub(super) fn forget_words() {
    WORDS.with_borrow_mut(|words| {
        if words.len() <= MAX_WORDS_KEPT {
            return;
        }
        words.retain(|_, word| Rc::strong_count(word) > 1);
        words.shrink_to_fit();
    });
}

impl Token {
    fn new(text: &str, is_word: bool, is_name: bool) -> Self {
        let word = WORDS.with_borrow_mut(|words| match words.get(text) {
            Some(known) => known.clone(),
            None => {
                if words.len() >= MAX_WORDS {
                    words.retain(|_, word| Rc::strong_count(word) > 1);
                }
                let word = Rc::new(Word::new(text));
                words.insert(text.to_owned(), word.clone());
                word
            }
        });
        Self { word, is_word, is_name }
    }

    /// Is it a word of this list?
    pub(super) fn is_in(&self, list: WordList) -> bool {
        self.is_word && self.lists.has(list)
    }

    fn content(&self) -> &[String] {
        if self.is_word { self.word.content.get_or_init(|| content_words(&self.text).into_iter().collect()) } else { &[] }
    }
}

impl Deref for Token {
    type Target = Word;

    fn deref(&self) -> &Word {
        &self.word
    }
}

#[derive(Debug, Clone)]
pub(in crate::analyze) struct Sentence {
    pub(in crate::analyze) text: String,
    pub(in crate::analyze) tokens: Vec<Token>,
    /// What it is about, once that was asked for.
    words: OnceCell<BTreeSet<String>>,
    /// It tells what was done to the code, or asks for that: what is so then, it does not say.
    is_deed: bool,
    /// It reports on a line of code.
    pub(in crate::analyze) names_line: bool,
    /// It asks, plans, supposes or passes on: what it says is not stated as so.
    pub(in crate::analyze) is_unsure: bool,
    /// What it leaves, once that was asked for.
    pub(super) leavings: OnceCell<Vec<(usize, Range<usize>)>>,
    /// The same of its values, and of the one that it sets.
    pub(super) quantities: OnceCell<Vec<Quantity>>,
    pub(super) value_set: OnceCell<Option<(Quantity, BTreeSet<String>)>>,
    /// Its clauses that may state something.
    pub(super) frames: OnceCell<Vec<Range<usize>>>,
    /// What it says holds of a part of its subject.
    pub(super) narrows: OnceCell<Narrows>,
    /// The parts of a system that it names, a bit each.
    pub(super) places: u32,
}

impl Sentence {
    pub(in crate::analyze) fn of(text: String) -> Self {
        let tokens = tokens(&text);
        let is_unsure = asks(&text) || tokens.iter().any(|token| token.is_in(WordList::Unsure)) || is_conditional(&tokens);
        Self {
            words: OnceCell::new(),
            is_deed: is_deed(&tokens),
            names_line: names_line(&text),
            places: tokens.iter().filter(|token| token.is_word).fold(0, |all, token| all | token.lists.places),
            tokens,
            text,
            is_unsure,
            leavings: OnceCell::new(),
            quantities: OnceCell::new(),
            value_set: OnceCell::new(),
            frames: OnceCell::new(),
            narrows: OnceCell::new(),
        }
    }

    /// The words that tell what it is about.
    pub(in crate::analyze) fn words(&self) -> &BTreeSet<String> {
        self.words.get_or_init(|| content_words(&self.text))
    }

    /// May it hold one of these content words? Most sentences do not, as those of their tokens tell, which are known from other sentences.
    pub(super) fn may_hold(&self, words: &HashSet<&str>) -> bool {
        let holds = |word: &String| words.contains(word.as_str());
        // A number may reach over the end of a token, and a sigma is another one at the end of a word.
        let has_own = |c: char| c.is_ascii_digit() || c == 'Σ';
        self.tokens.iter().any(|token| token.content().iter().any(holds))
            || self.text.contains(has_own) && self.words().iter().any(holds)
    }

    pub(in crate::analyze) fn word(&self, at: usize) -> &str {
        self.tokens.get(at).filter(|token| token.is_word).map_or("", |token| token.text.as_str())
    }

    /// Is there a word of this list at this place?
    pub(super) fn is_in(&self, at: usize, list: WordList) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_in(list))
    }

    /// Does it state something that may hold no longer?
    pub(super) fn may_be_overtaken(&self) -> bool {
        !(self.is_unsure || self.is_deed || self.names_line)
    }

    /// Does it ask for work, and say nothing of what that is to change?
    pub(in crate::analyze) fn asks_for_work(&self) -> bool {
        let words = || self.words_in(0..self.tokens.len());
        let asks = words().next().is_some_and(|first| REQUESTS.contains(&first));
        let asks_politely = words().zip(words().skip(1)).any(|two| matches!(two, ("can" | "could", "you")));
        asks_politely || asks && !self.tells_change()
    }

    /// Does it hold a name that another one does, too?
    pub(in crate::analyze) fn shares_name(&self, other: &Self) -> bool {
        self.tokens.iter().any(|token| token.is_word && token.is_name && other.has_word(&token.text))
    }

    /// Does it speak of another part of the system than another one?
    pub(in crate::analyze) fn is_of_another_place(&self, other: &Self) -> bool {
        !change::may_be_same_place(self.places, other.places)
    }

    /// Do both give values of one kind, and none alike?
    pub(in crate::analyze) fn gives_other_value(&self, other: &Self) -> bool {
        change::differ_in_value(change::quantities(self), change::quantities(other))
    }

    /// Does it name something, or a number, that another one does not?
    pub(in crate::analyze) fn names_beside(&self, other: &Self) -> bool {
        let names = |token: &Token| token.is_word && (token.is_name || is_number(&token.text));
        self.tokens.iter().any(|token| names(token) && !other.has_word(&token.text))
    }

    /// Does it say that something is no longer as it was?
    pub(in crate::analyze) fn tells_change(&self) -> bool {
        !change::changes_of(self).is_empty() || self.tokens.iter().any(|token| token.is_word && change::is_change(&token.text))
    }

    /// Does it deny something, and not deny that again?
    pub(in crate::analyze) fn is_denied(&self) -> bool {
        change::denies_all(self)
    }

    /// Does it say that something was left?
    pub(in crate::analyze) fn leaves_something(&self) -> bool {
        !change::leavings(self).is_empty()
    }

    /// The content words of some of its tokens.
    pub(in crate::analyze) fn content(&self, range: Range<usize>) -> BTreeSet<String> {
        self.tokens_in(range).iter().flat_map(Token::content).cloned().collect()
    }

    /// The same, in their order; with short names such as "US", which are no content by themselves.
    pub(super) fn stems(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        self.tokens_in(range).iter().filter(|token| token.is_word).flat_map(|token| {
            let content = token.content();
            let is_short_name = content.is_empty() && token.is_name && !matches!(token.text.as_str(), "i" | "i'm" | "i've");
            content.iter().map(String::as_str).chain(is_short_name.then_some(token.text.as_str()))
        })
    }

    pub(super) fn tokens_in(&self, range: Range<usize>) -> &[Token] {
        &self.tokens[range.start.min(self.tokens.len())..range.end.min(self.tokens.len())]
    }

    fn words_in(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        self.tokens_in(range).iter().filter(|token| token.is_word).map(|token| token.text.as_str())
    }

    /// The stems of a clause without articles and such, each with its place.
    pub(super) fn frame(&self, range: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
        let words = self.tokens_in(range.clone()).iter().enumerate().filter(|(_, token)| token.is_word && !token.is_article);
        words.map(move |(at, token)| (range.start + at, token.stem.as_str()))
    }

    /// The words of a phrase as they are compared, without small ones.
    pub(super) fn phrase(&self, range: Range<usize>) -> impl Iterator<Item = &str> {
        self.tokens_in(range).iter().filter(|token| token.is_word && !token.is_small).map(|token| token.stem.as_str())
    }

    /// Does it hold the words of this phrase, one behind the other?
    pub(super) fn holds(&self, phrase: &[String]) -> bool {
        let all: Vec<&str> = self.phrase(0..self.tokens.len()).collect();
        !phrase.is_empty() && all.windows(phrase.len()).any(|words| words == phrase)
    }

    /// Does it hold this word, as it is written in lower case?
    pub(in crate::analyze) fn has_word(&self, word: &str) -> bool {
        self.words_in(0..self.tokens.len()).any(|own| own == word)
    }

    /// Is something denied there?
    pub(super) fn is_denied_in(&self, range: &Range<usize>) -> bool {
        self.words_in(range.clone()).any(|word| matches!(word, "not" | "no" | "never") || word.ends_with("n't"))
    }
}

/// Does it hold only sometimes?
fn is_conditional(tokens: &[Token]) -> bool {
    let is_limit = |word: &str| matches!(word, "when" | "while" | "for" | "in" | "on" | "until" | "where");
    tokens.windows(2).any(|two| two[0].text == "only" && is_limit(&two[1].text) || two[0].text == "except")
}

/// Words with which somebody asks for work.
const REQUESTS: [&str; 31] = [
    "can", "could", "please", "find", "update", "add", "fix", "check", "look", "review", "write", "make", "create", "implement",
    "refactor", "rename", "run", "test", "show", "explain", "see", "try", "rebase", "commit", "push", "merge", "read", "remove",
    "delete", "change", "investigate",
];

/// Does it name a line of a file, as reports on code do: `main.go:45:9`?
fn names_line(text: &str) -> bool {
    text.contains(':')
        && text.split_whitespace().any(|word| {
            let mut parts = word.split(':');
            let file = parts.next().unwrap_or_default();
            file.contains('.') && parts.next().is_some_and(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        })
}

/// Does it tell of work on the code, or ask for it?
fn is_deed(tokens: &[Token]) -> bool {
    let mut words = tokens.iter().filter(|token| token.is_word).map(|token| token.text.as_str());
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let is_past = |word: &str| word.ends_with("ed") && word.len() > 4;
    let tells = is_past(first) || matches!(first, "i" | "i've" | "i'll" | "i'm") && second != "changed";
    tells || REQUESTS.contains(&first)
}

/// A question mark in a name, such as `?w=`, asks nothing.
fn asks(text: &str) -> bool {
    text.contains('?') && text.split_whitespace().any(|word| word.trim_end_matches(['"', ')', '\'', '”']).ends_with('?'))
}

fn is_article(word: &str) -> bool {
    matches!(word, "the" | "a" | "an" | "our" | "its" | "all" | "now" | "also" | "currently" | "every" | "each")
}

/// The words that tell what a text is about.
pub(super) fn content_words(text: &str) -> BTreeSet<String> {
    // In lower case a name in two words is one: `WebRTC` is the `webrtc` of a prompt.
    let text = text.to_lowercase();
    let mut words = distinctive_words(&text);
    words.retain(|word| !is_generic(word));
    // Single digits are no distinctive words, but values.
    words.extend(text.split(|c: char| !c.is_alphanumeric() && c != '.').filter(|word| is_number(word)).map(str::to_owned));
    words
}

/// The words that tell what a text is about, and markers of what they may also be called.
pub(in crate::analyze) fn terms(text: &str) -> BTreeSet<String> {
    let mut all = content_words(text);
    all.extend(words_of(&text.to_lowercase()).filter_map(group_of).map(marker));
    all
}

/// Does it begin with a digit, as `30`, `60s`, `1.2` and `3am` do?
pub(super) fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Words, in which marks such as `_`, `-`, `.` and `/` stand between letters, and the marks between words.
fn tokens(text: &str) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    let chars: Vec<char> = text.chars().map(|c| if c == '\u{2019}' { '\'' } else { c }).collect();
    let mut word = String::new();
    let (mut is_code, mut is_name) = (false, false);
    for (at, c) in chars.iter().enumerate() {
        let next_to = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric() || *c == '_');
        let joins = matches!(c, '_' | '-' | '.' | '/' | '\'' | '@' | ':' | '+') && next_to(Some(at + 1)) && !word.is_empty();
        if c.is_alphanumeric() || *c == '_' || joins || *c == '@' && next_to(Some(at + 1)) {
            is_name |= is_code || matches!(c, '_' | '/' | '.') || c.is_uppercase() && !(all.is_empty() && word.is_empty());
            if c.is_ascii() {
                word.push(c.to_ascii_lowercase())
            } else {
                word.extend(c.to_lowercase())
            }
            continue;
        }
        is_code ^= *c == '`';
        if !word.is_empty() {
            all.push(Token::new(&word, true, std::mem::take(&mut is_name)));
            word.clear();
        }
        if matches!(c, ',' | ';' | ':' | '(' | ')' | '—' | '–' | '→' | '.' | '!' | '?') {
            all.push(Token::new(c.encode_utf8(&mut [0; 4]), false, false));
        }
    }
    if !word.is_empty() {
        all.push(Token::new(&word, true, is_name));
    }
    all.shrink_to_fit();
    all
}

/// Is it an article, a preposition or another small word?
pub(super) fn is_small(word: &str) -> bool {
    is_stop_word(word)
        || matches!(word, "the" | "any" | "its" | "own" | "existing" | "old" | "whole" | "entire" | "previous" | "via")
}
