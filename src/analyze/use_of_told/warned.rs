//! What a text of ours tells not to run, and whether a command is that. Precision first: what is passed over is told as a fault of the session.

use std::collections::BTreeSet;

use crate::analyze::overtaken::sentence::Sentence;
use crate::analyze::prose::sentences_in_any_case;
use crate::analyze::rules::{ForbiddenPart, forbidden_parts};
use text::tokenize::stem;
use transcripts::shell::{begun, is_program};

use super::names::code_spans;

/// Stands for any word of a command: `git push … main`.
const ANY: &str = "…";
/// A longer one is a sentence, in words.
const MAX_WORDS: usize = 5;
/// Names of programs that also name what things are written in: "Go, not Python" is about code.
const LANGUAGES: [&str; 5] = ["go", "python", "node", "ruby", "deno"];
/// Verbs before a command's name that say no more than that it is run.
const RUNS: [&str; 8] = ["run", "running", "execute", "executing", "use", "using", "call", "calling"];
/// Words behind a command's name that leave it as it is.
const TRAILING: [&[&str]; 8] = [
    &["here"],
    &["ever"],
    &["anymore"],
    &["by", "hand"],
    &["yourself"],
    &["at", "all"],
    &["in", "this", "repo"],
    &["in", "this", "project"],
];

/// The commands that a statement tells not to run, by the words that they begin with.
pub(super) fn warned_in(statement: &str) -> Vec<String> {
    let said = sentences_in_any_case(statement).into_iter().filter(|sentence| !sentence.contains(ANY));
    said.flat_map(|sentence| in_sentence(&sentence)).collect()
}

fn in_sentence(sentence: &str) -> Vec<String> {
    let forbidden = forbidden_parts(sentence).into_iter().filter_map(|part| forbidden_command(sentence, &part));
    forbidden.chain(failing_command(sentence)).collect()
}

fn forbidden_command(sentence: &str, part: &ForbiddenPart) -> Option<String> {
    let named = NamedCommand::of(sentence, &part.words)?;
    if part.instead.is_empty() {
        // "Never make assumptions" forbids no program: words are one only behind "run" or "use", as code, or behind `git`.
        let is_marked = named.is_code || named.has_verb || named.words[0] == "git";
        let is_long_code = named.is_code && named.words.len() > 1;
        return (is_long_code || is_marked && named.is_known()).then(|| named.line());
    }
    let instead = NamedCommand::of(sentence, &part.instead)?;
    let is_language = instead.words.len() == 1 && !instead.is_code && LANGUAGES.contains(&instead.words[0].as_str());
    // Of two names one tells what the other is; more words are a command only if they begin with its program.
    let is_command = |one: &NamedCommand| one.words.len() == 1 || one.is_code || one.is_known();
    // "git binary not available" names no command that is not to be run.
    let is_told = named.is_known() || instead.is_known() && (named.is_code || instead.words.len() == 1);
    let are_commands = is_command(&named) && is_command(&instead) && is_told;
    (!is_language && named != instead && are_commands).then(|| named.line())
}

/// "`npm test` hangs here, use `pnpm test`".
fn failing_command(sentence: &str) -> Option<String> {
    let (failing, cure) = sentence.split_once([',', ';'])?;
    let mut failing = tokens(failing);
    let at = failing.iter().position(|word| matches!(word.as_str(), "fails" | "hangs" | "breaks"))?;
    failing.remove(at);
    let cure = tokens(cure);
    let says_cure = cure.first().is_some_and(|word| RUNS.contains(&word.as_str()));
    let (failing, cure) = (NamedCommand::of(sentence, &failing)?, NamedCommand::of(sentence, &cure)?);
    (says_cure && failing.is_known() && failing != cure).then(|| failing.line())
}

fn tokens(text: &str) -> Vec<String> {
    let all = Sentence::of(text.to_owned()).tokens;
    all.into_iter().filter(|token| token.is_word).map(|token| token.text.clone()).collect()
}

/// A part of a sentence that is the name of a command and nothing else.
#[derive(Debug, PartialEq, Eq)]
struct NamedCommand {
    words: Vec<String>,
    is_code: bool,
    has_verb: bool,
}

impl NamedCommand {
    fn of(sentence: &str, said: &[String]) -> Option<Self> {
        let has_verb = said.first().is_some_and(|word| RUNS.contains(&word.as_str()) || word == "prefer");
        let mut said = &said[usize::from(has_verb)..];
        while let Some(trailing) = TRAILING.iter().find(|trailing| ends_with(said, trailing)) {
            said = &said[..said.len() - trailing.len()];
        }
        if said.is_empty() || said.len() > MAX_WORDS {
            return None;
        }
        if let Some(code) = code_spans(sentence).find(|code| tokens(code) == said) {
            let words = code.split_whitespace().map(str::to_owned).collect();
            return Some(Self { words, is_code: true, has_verb });
        }
        let words = pushed_to(said).unwrap_or_else(|| said.to_vec());
        // A command that is written as such has no articles: "just the password".
        let is_prose = words.iter().any(|word| matches!(word.as_str(), "the" | "a" | "an" | "to"));
        // As code, only all of it is the command.
        let is_part_of_code = code_spans(sentence).any(|code| tokens(code).iter().any(|word| words.contains(word)));
        (!is_prose && !is_part_of_code).then_some(Self { words, is_code: false, has_verb })
    }

    fn is_known(&self) -> bool {
        is_program(&self.words[0])
    }

    fn line(&self) -> String {
        self.words.join(" ")
    }
}

fn ends_with(said: &[String], trailing: &[&str]) -> bool {
    said.len() > trailing.len() && said[said.len() - trailing.len()..].iter().eq(trailing)
}

/// "Push to main".
fn pushed_to(said: &[String]) -> Option<Vec<String>> {
    let words: Vec<&str> =
        said.iter().map(String::as_str).filter(|word| !matches!(*word, "git" | "directly" | "straight")).collect();
    let ["push", "to", branch] = words[..] else { return None };
    Some(["git", "push", ANY, branch].map(str::to_owned).to_vec())
}

/// Does a command line run what was warned of?
pub(super) fn runs(warned: &str, line: &str, has_failed: bool) -> bool {
    let warned: Vec<&str> = warned.split_whitespace().collect();
    let all = begun(line);
    // Of a line that failed, what stands behind the step that may have failed may not have run.
    let sure = all.iter().position(|words| !matches!(words[0].as_str(), "cd" | "export")).map_or(0, |at| at + 1);
    all.iter().take(if has_failed { sure } else { all.len() }).any(|words| is_begun_with(&warned, words))
}

fn is_begun_with(warned: &[&str], words: &[String]) -> bool {
    let asks = words.iter().any(|word| matches!(word.as_str(), "--help" | "-h" | "--version" | "--dry-run"))
        || words.len() == 2 && matches!(words[1].as_str(), "-v" | "-V" | "help" | "version")
        || words.get(warned.len()).is_some_and(|word| matches!(word.as_str(), "list" | "show"));
    let is_option = |word: &str| word.starts_with('-');
    let has = |option: &str| words.iter().any(|word| word == option || word.split('=').next() == Some(option));
    let mut said = words.iter().map(String::as_str).filter(|word| !is_option(word));
    let is_push = warned.starts_with(&["git", "push"]);
    let fits = |known: &str, word: &str| {
        let target = word.rsplit(':').next().unwrap_or_default();
        known == ANY || known == word || is_push && known == target.strip_prefix("refs/heads/").unwrap_or(target)
    };
    let begins = warned.iter().filter(|word| !is_option(word)).all(|known| said.next().is_some_and(|word| fits(known, word)));
    !asks && begins && warned.iter().filter(|word| is_option(word)).all(|option| has(option))
}

/// Do the user's words name what was warned of without forbidding it? They may ask for it, then.
pub(super) fn is_named_freely(warned: &str, said: &str) -> bool {
    let names: BTreeSet<&str> = warned.split_whitespace().filter(|word| *word != ANY && !word.starts_with('-')).map(stem).collect();
    sentences_in_any_case(said).into_iter().any(|sentence| {
        let tokens = Sentence::of(sentence.clone()).tokens;
        let is_named = tokens.iter().any(|token| names.contains(stem(&token.text)));
        is_named
            && !in_sentence(&sentence)
                .iter()
                .any(|forbidden| warned.starts_with(forbidden.as_str()) || forbidden.starts_with(warned))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_sentence_forbids_by_name_is_warned_of() {
        for (said, warned) in [
            ("Use pnpm, not npm.", "npm"),
            ("`npm test` hangs here, use `pnpm test`.", "npm test"),
            ("Never push directly to main.", "git push … main"),
            ("Never use `git push --force`.", "git push --force"),
            ("Please don't run cargo test, run cargo nextest run.", "cargo test"),
            ("uv, not pip", "pip"),
        ] {
            assert_eq!(warned_in(said), [warned], "{said}");
        }
        for said in [
            "CI uses npm, not pnpm.",
            "Go, not Python.",
            "Don't run cargo test until the parser is there.",
            "Never run `git push --force` without asking.",
            "Use names, not date.",
            "Never make assumptions.",
            "npm fails here.",
            "Should we use pnpm, not npm?",
            "pnpm passed, npm did not.",
            "Never use `Result`, use `Option`.",
            "Never run npm instead of pnpm.",
            "Use npm only for publishing, not pnpm.",
            "git binary not available",
            "Store the hash, not just the password.",
        ] {
            assert_eq!(warned_in(said), [""; 0], "{said}");
        }
    }

    #[test]
    fn a_command_runs_what_was_warned_of_if_it_begins_so() {
        for (warned, line) in [
            ("npm", "cd web && CI=1 npm ci"),
            ("git push … main", "git push -u origin HEAD:main"),
            ("git push --force", "git -C /r push origin x --force"),
            ("make deploy", "make deploy ENV=prod"),
        ] {
            assert!(runs(warned, line, false), "{warned}: {line}");
        }
        for (warned, line) in [
            ("npm", "pnpm i || npm i"),
            ("npm", "npm --version"),
            ("npm", "grep npm package.json"),
            ("git push … main", "git push"),
            ("git push … main", "git push origin maintenance"),
            ("git push --force", "git push --force-with-lease"),
            ("make deploy", "make deploy --dry-run"),
            ("make deploy", "make -n lint"),
            ("git stash", "git stash list"),
        ] {
            assert!(!runs(warned, line, false), "{warned}: {line}");
        }
        assert!(!runs("npm", "pytest && npm ci", true) && runs("npm", "cd web && npm ci", true));
    }
}
