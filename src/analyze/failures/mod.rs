//! Failures of commands: what error was printed, and what was done before a later run of the same check passed. Pure.
//!
//! ## Invariants
//! - A command failed if the client says so, or if a check whose exit code is hidden printed that it did.
//! - "Passed" is said only of a run whose end was seen: by its exit code, or by the totals that it printed.

mod line;
mod signature;

use std::collections::HashMap;

use self::line::error_lines;
pub(crate) use self::line::error_signature;
pub(crate) use self::signature::{Asked, Fit};
use crate::analyze::shell::{SameRun, may_hide_failures, programs, runs_checks_alone, tells_failure, whole_line};
use crate::analyze::signal::{is_check, is_commit, is_decision_of_user, may_fail};
use crate::model::session::{
    Entry, Evidence, Item, Millis, Outcome, Session, ShellPrint, ShellRun, ShellStep, StepKind, ToolUse, Touch,
};
use crate::text::clean::{one_line, shorten};

/// The most changed files that are named.
const MAX_FILES: usize = 3;
const MAX_COMMAND_CHARS: usize = 160;
/// The most failures that are kept of a session.
const MAX_FAILURES: usize = 200;

/// An error that a command of a session printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub signature: String,
    /// The error as it was printed.
    pub line: String,
    pub command: String,
    pub at: Option<Millis>,
    /// The turn's number.
    pub turn: usize,
    pub passed: Option<PassedRun>,
}

/// The next run of the same check that passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedRun {
    pub command: String,
    pub at: Option<Millis>,
    pub turn: usize,
    pub between: Between,
}

/// What was done between a failure and the run that passed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Between {
    /// Changed files, as seen from the session's folder; a few of them, and how many more.
    pub changed: String,
    /// The last command that may have had an effect.
    pub ran: String,
}

/// The failures of a session in order. `turn_at` tells the number of the turn in which something happened.
pub(super) fn of(session: &Session, turn_at: impl Fn(Option<Millis>) -> usize) -> Vec<Failure> {
    let runs = Runs::of(session);
    let mut all = Vec::new();
    for failed in failed_runs(session, &runs) {
        let entry = &session.entries[failed.at];
        let Some(tool) = command(entry) else { continue };
        let brief = entry.outcome.iter().flat_map(|outcome| outcome.brief.split(" | "));
        let printed = runs.print(tool).into_iter().flat_map(|print| print.results.iter()).filter(|line| tells_failure(line));
        let passed = failed.passed.map(|at| PassedRun {
            command: command(&session.entries[at]).map(told).unwrap_or_default(),
            at: session.entries[at].at,
            turn: turn_at(session.entries[at].at),
            between: failed.between.clone(),
        });
        for (line, signature) in error_lines(brief.chain(printed.map(String::as_str))) {
            let (line, command, passed) = (one_line(line), told(tool), passed.clone());
            all.push(Failure { signature, line, command, at: entry.at, turn: turn_at(entry.at), passed });
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
    let ends: Vec<Option<(RunKey, End)>> = (0..session.entries.len()).map(|at| runs.end(session, at)).collect();
    // Where a check passed next, if it did, by what is known as the same.
    let mut next: HashMap<&RunKey, Option<usize>> = HashMap::new();
    let mut all = Vec::new();
    for (at, end) in ends.iter().enumerate() {
        let Some((key, End::Failed)) = end else { continue };
        let is_known = next.get(key).is_some_and(|passed| passed.is_none_or(|passed| passed > at));
        if !is_known {
            let passes = |later: &usize| matches!(&ends[*later], Some((other, End::Passed)) if other.covers(key));
            let is_alone = matches!(key, RunKey::Alone(_));
            next.insert(key, (at + 1..if is_alone { at } else { ends.len() }).find(passes));
        }
        let passed = next[key];
        let between = passed.map(|passed| between(session, &ends, at, passed)).unwrap_or_default();
        all.push(FailedRun { at, passed, between });
    }
    all
}

fn between(session: &Session, ends: &[Option<(RunKey, End)>], failed: usize, passed: usize) -> Between {
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
            .is_some_and(|(key, end)| *end != End::Failed && ends[failed].as_ref().is_some_and(|(of, _)| of != key));
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

/// How a run ended, as far as that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    Unknown,
}

/// By what a run is known again: the checks that it runs, else its whole line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum RunKey {
    Checks(Vec<SameRun>),
    Line(String),
    /// Its line does not tell.
    Alone(usize),
}

impl RunKey {
    fn covers(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::Checks(later), Self::Checks(earlier)) => {
                earlier.iter().all(|check| later.iter().any(|later| later.covers(check)))
            }
            _ => self == earlier,
        }
    }
}

/// What is known of commands beside their lines, by the client's id.
struct Runs<'s> {
    ran: HashMap<&'s str, &'s ShellRun>,
    printed: HashMap<&'s str, &'s ShellPrint>,
}

impl<'s> Runs<'s> {
    fn of(session: &'s Session) -> Self {
        let (mut ran, mut printed) = (HashMap::new(), HashMap::new());
        for placed in &session.evidence {
            match &placed.evidence {
                Evidence::Ran(run) => drop(ran.insert(run.tool.as_str(), run)),
                Evidence::Printed(print) => drop(printed.insert(print.tool.as_str(), print)),
                _ => {}
            }
        }
        Self { ran, printed }
    }

    fn print(&self, tool: &ToolUse) -> Option<&'s ShellPrint> {
        self.printed.get(tool.id.as_str()).copied()
    }

    /// What was run and how it ended; `None` for what is no command, or may fail at any time.
    fn end(&self, session: &Session, at: usize) -> Option<(RunKey, End)> {
        let entry = &session.entries[at];
        let tool = command(entry).filter(|tool| !may_fail(&tool.line))?;
        let checks: Vec<&ShellStep> = self
            .ran
            .get(tool.id.as_str())
            .into_iter()
            .flat_map(|run| &run.steps)
            .filter(|step| step.kind == StepKind::Check)
            .collect();
        let key = if !checks.is_empty() && runs_checks_alone(&tool.line, checks.len()) {
            let relative = |path: &str| relative(session, path);
            RunKey::Checks(checks.iter().map(|step| SameRun::of(&step.line, &step.folder, relative)).collect())
        } else {
            whole_line(&tool.line).map_or(RunKey::Alone(at), RunKey::Line)
        };
        let print = self.print(tool);
        let told = print.map(|print| print.results.as_slice()).unwrap_or_default();
        let masked = checks.iter().any(|step| step.masked);
        let says_failure = masked && told.iter().any(|line| tells_failure(line));
        let end = match (&entry.outcome, print) {
            (Some(outcome), _) if is_refusal(outcome) => End::Unknown,
            (Some(outcome), _) if !outcome.ok => End::Failed,
            (_, Some(print)) if !print.ok => End::Failed,
            _ if says_failure => End::Failed,
            (None, None) if !was_answered(session, at) => End::Unknown,
            _ => match &key {
                RunKey::Checks(_) if masked => {
                    if told.is_empty() || checks.len() > 1 || may_hide_failures(&tool.line) {
                        End::Unknown
                    } else {
                        End::Passed
                    }
                }
                RunKey::Checks(_) => End::Passed,
                // In the background only its start was seen.
                RunKey::Line(_) if is_check(tool) && print.is_none() && entry.outcome.is_none() => End::Unknown,
                RunKey::Line(_) => End::Passed,
                RunKey::Alone(_) => End::Unknown,
            },
        };
        Some((key, end))
    }
}

/// Did the assistant go on after a command of which nothing else is known?
fn was_answered(session: &Session, at: usize) -> bool {
    let of = &session.entries[at];
    let next = session.entries[at + 1..].iter().find(|entry| entry.agent == of.agent);
    next.is_some_and(|entry| matches!(entry.item, Item::Tool(_) | Item::Reply(_)) && entry.key != of.key)
}

/// Did it not run at all?
fn is_refusal(outcome: &Outcome) -> bool {
    const NOT_RUN: &[&str] = &[
        "Cancelled: ", "Permission for this action ", "This command requires", "This Bash command", "The user doesn't want",
        "Blocked: ",
    ];
    is_decision_of_user(outcome) || NOT_RUN.iter().any(|start| outcome.brief.starts_with(start))
}

/// A path as seen from the session's folder, which itself is nothing.
fn relative(session: &Session, path: &str) -> String {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    if session.cwd.as_deref() == Some(path) || path == "." { String::new() } else { session.relative(path).to_owned() }
}

/// A command of the shell.
fn command(entry: &Entry) -> Option<&ToolUse> {
    match &entry.item {
        Item::Tool(tool) if tool.is_shell() => Some(tool),
        _ => None,
    }
}
