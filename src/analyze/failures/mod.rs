//! Failures of commands: what error was printed, and what was done before a later run of the same check passed. Pure.
//!
//! ## Invariants
//! - A command failed if the client says so, or if a check whose exit code is hidden printed that it did.
//! - "Passed" is said only of a run whose end was seen: by its exit code, or by the totals that it printed.

mod ended;
mod line;
mod signature;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub(super) use self::ended::{End, Ended, RunKey, Runs, class_of, relative};
pub(crate) use self::line::error_signature;
use self::line::{ErrorLine, error_lines};
pub(crate) use self::signature::{Asked, Fit};
use crate::analyze::signal::{is_check, is_commit, may_fail};
use text::clean::{one_line, shorten};
use transcripts::session::{Entry, Item, Millis, Session, ToolUse, Touch};
use transcripts::shell::{programs, tells_failure};

/// The most changed files that are named.
const MAX_FILES: usize = 3;
const MAX_COMMAND_CHARS: usize = 160;
/// The most failures that are kept of a session.
const MAX_FAILURES: usize = 200;

/// An error that a command of a session printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub signature: String,
    /// The error as it was printed.
    pub line: String,
    pub command: String,
    pub at: Option<Millis>,
    /// The turn's number.
    pub turn: usize,
    pub passed: Option<PassedRun>,
    /// Another line of the same output says more about the error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aside: bool,
}

/// The next run of the same check that passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedRun {
    pub command: String,
    pub at: Option<Millis>,
    pub turn: usize,
    pub between: Between,
}

/// What was done between a failure and the run that passed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Between {
    /// Changed files, as seen from the session's folder; a few of them, and how many more.
    pub changed: String,
    /// The last command that may have had an effect.
    pub ran: String,
}

/// The failures of a session in order. `turn_at` tells the number of the turn in which something happened.
pub(super) fn of(session: &Session, runs: &Runs<'_>, turn_at: impl Fn(Option<Millis>) -> usize) -> Vec<Failure> {
    let mut all = Vec::new();
    for failed in failed_runs(session, runs) {
        let entry = &session.entries[failed.at];
        let Some(tool) = command(entry) else { continue };
        let brief = entry.outcome.iter().flat_map(|outcome| outcome.brief.split(" | "));
        let print = || runs.print(tool).into_iter();
        let results = print().flat_map(|print| &print.results).filter(|line| tells_failure(line));
        let printed = print().flat_map(|print| &print.wrong).chain(results);
        let passed = failed.passed.map(|at| PassedRun {
            command: command(&session.entries[at]).map(told).unwrap_or_default(),
            at: session.entries[at].at,
            turn: turn_at(session.entries[at].at),
            between: failed.between.clone(),
        });
        for ErrorLine { line, signature, aside } in error_lines(printed.map(String::as_str).chain(brief)) {
            let (line, command, passed) = (one_line(line), told(tool), passed.clone());
            all.push(Failure { signature, line, command, at: entry.at, turn: turn_at(entry.at), passed, aside });
        }
        if all.len() >= MAX_FAILURES {
            break;
        }
    }
    all.truncate(MAX_FAILURES);
    all
}

fn told(tool: &ToolUse) -> String {
    shorten(&one_line(&tool.line), MAX_COMMAND_CHARS)
}

/// A run that failed, by its place among the entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FailedRun {
    pub(super) at: usize,
    pub(super) passed: Option<usize>,
    pub(super) between: Between,
}

/// The runs that failed, without those of commands that may fail at any time.
pub(super) fn failed_in(session: &Session) -> Vec<FailedRun> {
    failed_runs(session, &Runs::of(session))
}

fn failed_runs(session: &Session, runs: &Runs<'_>) -> Vec<FailedRun> {
    let ends = runs.ends();
    // Where a check passed next, if it did, by what is known as the same.
    let mut next: HashMap<&RunKey, Option<usize>> = HashMap::new();
    let mut all = Vec::new();
    for (at, end) in ends.iter().enumerate() {
        let Some(failed @ Ended { key, end: End::Failed, .. }) = end else { continue };
        let is_known = next.get(key).is_some_and(|passed| passed.is_none_or(|passed| passed > at));
        if !is_known {
            let passes = |later: &usize| ends[*later].as_ref().is_some_and(|later| later.passes(failed));
            let is_alone = matches!(key, RunKey::Alone(_));
            next.insert(key, (at + 1..if is_alone { at } else { ends.len() }).find(passes));
        }
        let passed = next[key];
        let between = passed.map(|passed| between(session, ends, at, passed)).unwrap_or_default();
        all.push(FailedRun { at, passed, between });
    }
    all
}

fn between(session: &Session, ends: &[Option<Ended>], failed: usize, passed: usize) -> Between {
    let mut files: Vec<&str> = Vec::new();
    let mut ran = String::new();
    for at in failed + 1..passed {
        let entry = &session.entries[at];
        let Item::Tool(tool) = &entry.item else { continue };
        if let Some(file) = tool.file.as_ref().filter(|file| file.how > Touch::Read && entry.outcome.as_ref().is_none_or(|o| o.ok))
        {
            let path = session.relative(&file.path);
            if !files.contains(&path) {
                files.push(path);
            }
        }
        let is_other = ends[at]
            .as_ref()
            .is_some_and(|other| other.end != End::Failed && ends[failed].as_ref().is_some_and(|of| of.key != other.key));
        if is_other && may_explain(tool) {
            ran = told(tool);
        }
    }
    let more = files.len().saturating_sub(MAX_FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Between { changed: files[..files.len().min(MAX_FILES)].join(", ") + &more, ran }
}

/// May this command, which did not fail, be the reason why another passes?
fn may_explain(tool: &ToolUse) -> bool {
    !may_fail(&programs(&tool.line)) && !is_check(tool) && !is_commit(tool)
}

/// A command of the shell.
pub(super) fn command(entry: &Entry) -> Option<&ToolUse> {
    match &entry.item {
        Item::Tool(tool) if tool.is_shell() => Some(tool),
        _ => None,
    }
}
