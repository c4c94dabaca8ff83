//! Whether what a session was told came up in it: the files that it then edited, the checks that it then ran, and what it then said again;
//! what it was told not to run and ran, and what the user had to say once more.
//! Pure.

mod names;
mod receipt;
mod warned;

use std::collections::BTreeSet;

use self::names::code_spans;
pub(crate) use self::names::names_in;
pub(crate) use self::receipt::Receipt;
use crate::analyze::account::SessionAccount;
use crate::analyze::prose::sentences;
use text::file_names::file_names_in;
use text::tokenize::{covered_by, distinctive_words};
use transcripts::shell::is_assignment;

/// A sentence with fewer distinctive words says too little to be known again.
const MIN_WORDS: usize = 5;
/// The share of a told sentence's words that a sentence holds which says it again.
const SAME_SENTENCE: f64 = 0.7;
/// Names that say nothing without their folder: every project has several of them.
const NAMED_ALIKE: [&str; 14] = [
    "mod.rs", "lib.rs", "main.rs", "index.ts", "index.tsx", "index.js", "index.html", "main.py", "main.go", "__init__.py",
    "page.tsx", "README.md", "package.json", "Cargo.toml",
];

/// What was done and said in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Deeds {
    /// Edited files, relative to the project where they lie in it.
    pub(crate) files: BTreeSet<String>,
    /// Checks that it ran, by [`check_key`].
    pub(crate) checks: BTreeSet<String>,
    /// The distinctive words of each sentence of the user and the assistant.
    said: Vec<BTreeSet<String>>,
}

impl Deeds {
    pub(crate) fn of(account: &SessionAccount) -> Self {
        let words = account.turns.iter().flat_map(|turn| &turn.words).map(|word| word.text.as_str());
        Self {
            files: account.files.edited.iter().cloned().collect(),
            checks: account.runs.iter().flat_map(|run| &run.commands).map(|line| check_key(line)).collect(),
            said: words.chain(account.replies()).flat_map(telling_sentences).map(|(_, words)| words).collect(),
        }
    }
}

/// A text that a session was told, before or while it did anything.
pub(crate) struct ToldText<'t> {
    text: &'t str,
    files: BTreeSet<&'t str>,
    /// Keys of what stands in it as code.
    code: BTreeSet<String>,
}

impl<'t> ToldText<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let code = text.lines().flat_map(code_spans).map(check_key).collect();
        Self { text, files: file_names_in(text).map(|name| name.trim_end_matches('/')).collect(), code }
    }

    /// Does it name this file, by its path, the end of it, or a name that tells it from others?
    pub(crate) fn names_file(&self, path: &str) -> bool {
        self.files.iter().any(|name| is_named(name, path))
    }

    /// Does it name this check?
    pub(crate) fn names_check(&self, key: &str) -> bool {
        !key.is_empty() && self.code.contains(key)
    }

    /// How many of its sentences were said again.
    pub(crate) fn said_again(&self, deeds: &Deeds) -> usize {
        // What is told is a list, in which no sentence goes on in the next line, of quotes, which prose leaves out.
        let lines = self.text.lines().map(|line| line.trim_start().trim_start_matches("> "));
        let told = lines.flat_map(telling_sentences);
        told.filter(|(_, words)| deeds.said.iter().any(|said| covered_by(words, said) >= SAME_SENTENCE)).count()
    }
}

/// Does a name in a text mean the file of this path: is it the path, the end of it, or a longer form of it?
fn is_named(name: &str, path: &str) -> bool {
    let is_end = |path: &str, end: &str| path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    let is_telling = name.contains('/') || !NAMED_ALIKE.contains(&name);
    is_telling && (is_end(path, name) || is_end(name, path))
}

/// Sentences that can be known again, with their distinctive words.
fn telling_sentences(text: &str) -> impl Iterator<Item = (String, BTreeSet<String>)> {
    let all = sentences(text).into_iter().map(|sentence| {
        let words = distinctive_words(&sentence);
        (sentence, words)
    });
    all.filter(|(_, words)| words.len() >= MIN_WORDS)
}

/// By what a check is known again in a text: the program and what it is to do, without variables, flags and what it is done to.
pub(crate) fn check_key(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let plain = words.iter().filter(|word| !word.starts_with('-') && !is_assignment(word));
    let most = if words.contains(&"run") { 3 } else { 2 };
    let is_target = |word: &str| word.contains(['/', '.', '\'', '"', '=']);
    plain
        .take(most)
        .enumerate()
        .take_while(|(at, word)| *at == 0 || !is_target(word))
        .map(|(_, word)| *word)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_path_or_by_a_name_of_its_own() {
        let told = ToldText::new("It stands in `src/cache/redis.py`, in mod.rs and in /home/dev/shop/lib/a.rb.");
        assert!(told.names_file("src/cache/redis.py") && told.names_file("lib/a.rb"));
        assert!(!told.names_file("src/mod.rs"), "which mod.rs?");
        assert!(!told.names_file("src/cache/other_redis.py") && !told.names_file("redis"));
        assert!(ToldText::new("see redis.py").names_file("src/cache/redis.py"));
    }

    #[test]
    fn a_check_is_known_by_its_program_and_what_it_does() {
        for (line, key) in [
            ("cargo test --locked -p shop", "cargo test"),
            ("RUST_LOG=1 cargo clippy", "cargo clippy"),
            ("uv run pytest tests/a.py -q", "uv run pytest"),
            ("python3 -m unittest -v", "python3 unittest"),
            ("pytest tests/a.py", "pytest"),
            ("npm run lint", "npm run lint"),
        ] {
            assert_eq!(check_key(line), key);
        }
        assert!(ToldText::new("`cargo test --locked` passed").names_check("cargo test") && !ToldText::new("x").names_check(""));
    }

    #[test]
    fn a_sentence_is_said_again_if_most_of_its_words_are() {
        let deeds = |text: &str| Deeds { said: telling_sentences(text).map(|(_, words)| words).collect(), ..Deeds::default() };
        let told = ToldText::new("Files: a.rs\n> The order list is paged by key, because offsets were slow on large tables.");
        assert_eq!(told.said_again(&deeds("We page the order list by key because offsets get slow on large tables.")), 1);
        assert_eq!(told.said_again(&deeds("The order list has a new button for the export of invoices.")), 0);
    }
}
