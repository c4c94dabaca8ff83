//! Whether a check that a statement says to pass, or to fail still, did so when it ran last.
//!
//! - The last run counts of the command that the statement names as code, else of the kind of checks that it names.
//! - Checks of no known kind, such as those of a pull request, passed if a sentence of the session says so.
//! - A command did not pass if the last sentence that names it denies something of it.

use super::polarity::denies;
use crate::analyze::account::check_calls;
use crate::analyze::prose::all_sentences;
use crate::model::section::Section;
use text::tokenize::{covered_by, distinctive_words};
use transcripts::session::{Item, Session};
use transcripts::shell::{CheckKind, may_check};

/// A call that ran a check.
#[derive(Debug)]
struct Run {
    kinds: Vec<CheckKind>,
    /// What was run, in lower case.
    lines: Vec<String>,
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

/// Words for checks of no kind of their own.
const OTHER_CHECKS: [&str; 6] = ["check", "checks", "ci", "pipeline", "pipelines", "workflow"];
/// A line is about a check if it holds this share of a statement's words.
const SAME: f64 = 0.5;
/// Words that say that a check fails at the end.
const FAILING_NOW: [&str; 6] = ["fail", "fails", "reports", "report", "breaks", "break"];

impl LastStates {
    pub(super) fn of(session: &Session) -> Self {
        let run = |(lines, failed): (Vec<&str>, bool)| {
            let kinds = KINDS.map(|(kind, _)| kind).into_iter();
            let kinds = kinds.filter(|kind| lines.iter().any(|line| may_check(line, *kind))).collect();
            Run { kinds, lines: lines.into_iter().map(str::to_lowercase).collect(), failed }
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
        // What is named as code goes before what is named by its kind.
        if let Some(last) = self.last_named(&lower) {
            return last.failed;
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

impl LastStates {
    /// Does a statement say that a check still fails which passed last?
    pub(super) fn passed_since(&self, section: Section, statement: &str) -> bool {
        let lower = in_words_of_passing(statement);
        let words = words_of(&lower);
        let fails = holds(&words, &FAILING_NOW) && (section == Section::Blockers || words.contains(&"still"));
        if !self.evident || !fails || says_passing(&words) {
            return false;
        }
        let of_kind = || {
            let (kind, _) = KINDS.iter().find(|(_, names)| holds(&words, names))?;
            self.runs.iter().rfind(|run| run.kinds.contains(kind))
        };
        self.last_named(&lower).or_else(of_kind).is_some_and(|last| !last.failed)
    }

    /// The last run of a check that a statement, in lower case, names as code.
    fn last_named(&self, statement: &str) -> Option<&Run> {
        let codes: Vec<&str> = statement.split('`').skip(1).step_by(2).filter(|code| code.contains([' ', '-'])).collect();
        let is_named = |run: &&Run| run.lines.iter().any(|line| codes.iter().any(|code| line.contains(code)));
        self.runs.iter().rfind(is_named)
    }
}

/// Does a statement say that something passed which no line of the session about it says to have passed, or which failed by the last words on
/// the command?
pub(super) fn passes_otherwise(statement: &str, texts: impl FnOnce() -> Vec<String>) -> bool {
    let lower = in_words_of_passing(statement);
    let words = words_of(&lower);
    let of_other = |words: &[&str]| holds(words, &OTHER_CHECKS) && !KINDS.iter().any(|(_, names)| holds(words, names));
    let is_of_other = of_other(&words);
    let command = lower.split('`').nth(1).filter(|code| code.contains(' '));
    if !says_passing(&words) || !is_of_other && command.is_none() {
        return false;
    }
    let lines: Vec<String> = texts().iter().flat_map(|text| all_sentences(text)).map(|line| in_words_of_passing(&line)).collect();
    let wanted = distinctive_words(&lower);
    let tells = |line: &String| {
        let words = words_of(line);
        of_other(&words) && says_passing(&words) && covered_by(&wanted, &distinctive_words(line)) >= SAME
    };
    let last = command.and_then(|command| lines.iter().rfind(|line| line.contains(command)));
    let is_denied = |line: &String| denies(line) && !holds(&words_of(line), &PASSES);
    is_of_other && !lines.iter().any(tells) || last.is_some_and(is_denied)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_has_a_sentence_that_says_so_and_none_behind_it_that_denies_it() {
        let texts = || vec!["The tests pass.\nAll checks of the request passed.\n`make smoke` did not start.".to_owned()];
        for (statement, otherwise) in [
            ("The checks of the request passed", false),
            ("The nightly pipeline on the runner is green", true),
            ("`make smoke` passes", true),
            ("The tests pass", false),
            ("The checks of the request were not looked at", false),
        ] {
            assert_eq!(passes_otherwise(statement, texts), otherwise, "{statement}");
        }
    }
}
