//! Whether a check that a statement says to pass did so when it ran last.

use crate::analyze::account::check_calls;
use crate::analyze::shell::{CheckKind, may_check};
use crate::model::session::{Item, Session};

/// A call that ran a check.
#[derive(Debug)]
struct Run {
    kinds: Vec<CheckKind>,
    failed: bool,
}

/// The checks of a session in the order in which they ran.
#[derive(Debug)]
pub(super) struct LastStates {
    runs: Vec<Run>,
    /// All commands and what else was done, in lower case.
    commands: Vec<String>,
    /// What was not seen did not run.
    evident: bool,
}

/// The words of a statement that name a kind of checks.
const KINDS: [(CheckKind, &[&str]); 4] = [
    (CheckKind::Tests, &["test", "tests", "suite", "pytest", "specs"]),
    (CheckKind::Lints, &["lint", "linter", "linting", "clippy", "golangci", "eslint", "ruff"]),
    (CheckKind::Types, &["types", "type", "mypy", "pyright", "tsc", "typecheck"]),
    (CheckKind::Builds, &["build", "builds", "compiles", "compile"]),
];
const PASSES: [&str; 10] =
    ["successfully", "pass", "passes", "passed", "passing", "green", "succeed", "succeeds", "succeeded", "clean"];
/// Words that say that a check found nothing.
const NO_FAILURES: [&str; 10] = [
    "no issues", "0 issues", "no errors", "0 errors", "without errors", "no problems", "no complaints", "no remaining problem",
    "no warnings", "nothing to complain",
];
const FAILS: [&str; 10] = ["fail", "fails", "failed", "failing", "not", "no", "never", "without", "red", "broken"];

impl LastStates {
    pub(super) fn of(session: &Session) -> Self {
        let run = |(lines, failed): (Vec<&str>, bool)| {
            let kinds = KINDS.map(|(kind, _)| kind).into_iter();
            Run { kinds: kinds.filter(|kind| lines.iter().any(|line| may_check(line, *kind))).collect(), failed }
        };
        let commands = session.entries.iter().filter_map(|entry| match &entry.item {
            Item::Tool(tool) if tool.file.is_none() => Some(tool.line.to_lowercase()),
            _ => None,
        });
        Self { runs: check_calls(session).into_iter().map(run).collect(), commands: commands.collect(), evident: session.evident }
    }

    /// Does a statement say that a check passes which failed last, or never ran?
    pub(super) fn deny(&self, statement: &str) -> bool {
        let lower = in_words_of_passing(statement);
        let words = words_of(&lower);
        if !self.evident || !says_passing(&words) {
            return false;
        }
        KINDS.iter().filter(|(_, names)| holds(&words, names)).any(|(kind, _)| {
            match self.runs.iter().rfind(|run| run.kinds.contains(kind)) {
                Some(last) => last.failed,
                // What is no known check may be one.
                None => !self.commands.iter().any(|line| may_check(line, *kind)),
            }
        })
    }
}

/// Does a statement say that a check passes of which none of these sentences says that it passed?
pub(crate) fn passes_unseen(statement: &str, sentences: &[String]) -> bool {
    let lower = in_words_of_passing(statement);
    let words = words_of(&lower);
    let is_of_check = || KINDS.iter().any(|(_, names)| holds(&words, names));
    says_passing(&words) && is_of_check() && !sentences.iter().any(|told| holds(&words_of(&in_words_of_passing(told)), &PASSES))
}

/// A statement in lower case, with one word for the ways to say that a check found nothing.
fn in_words_of_passing(statement: &str) -> String {
    NO_FAILURES.iter().fold(statement.to_lowercase(), |text, phrase| text.replace(phrase, " passes "))
}

fn words_of(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'').collect()
}

fn holds(words: &[&str], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(word))
}

fn says_passing(words: &[&str]) -> bool {
    holds(words, &PASSES) && !holds(words, &FAILS)
}
