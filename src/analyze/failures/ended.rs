//! How a command ended, as far as that was seen.

use std::collections::HashMap;

use super::command;
use crate::analyze::shell::{SameRun, may_hide_failures, runs_checks_alone, runs_git_alone, tells_failure, whole_line};
use crate::analyze::signal::{is_check, is_decision_of_user, may_fail, never_ran};
use crate::model::session::{Evidence, Item, Outcome, Session, ShellPrint, ShellRun, ShellStep, StepKind, ToolUse};

const COMMIT: &str = "git commit";

/// How a run ended, as far as that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analyze) enum End {
    Passed,
    Failed,
    Unknown,
}

/// By what a run is known again: the checks that it runs, else its whole line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::analyze) enum RunKey {
    Checks(Vec<SameRun>),
    Line(String),
    /// Its line does not tell.
    Alone(usize),
}

impl RunKey {
    pub(super) fn covers(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::Checks(later), Self::Checks(earlier)) => {
                earlier.iter().all(|check| later.iter().any(|later| later.covers(check)))
            }
            _ => self == earlier,
        }
    }
}

/// What is known of commands beside their lines, by the client's id.
pub(in crate::analyze) struct Runs<'s> {
    ran: HashMap<&'s str, &'s ShellRun>,
    printed: HashMap<&'s str, &'s ShellPrint>,
    /// What each entry ran and how that ended; `None` for what is no command, or may fail at any time.
    ends: Vec<Option<(RunKey, End)>>,
}

impl<'s> Runs<'s> {
    pub(in crate::analyze) fn of(session: &'s Session) -> Self {
        let (mut ran, mut printed) = (HashMap::new(), HashMap::new());
        for placed in &session.evidence {
            match &placed.evidence {
                Evidence::Ran(run) => drop(ran.insert(run.tool.as_str(), run)),
                Evidence::Printed(print) => drop(printed.insert(print.tool.as_str(), print)),
                _ => {}
            }
        }
        let mut runs = Self { ran, printed, ends: Vec::new() };
        runs.ends = (0..session.entries.len()).map(|at| runs.found_end(session, at)).collect();
        runs
    }

    pub(super) fn print(&self, tool: &ToolUse) -> Option<&'s ShellPrint> {
        self.printed.get(tool.id.as_str()).copied()
    }

    /// The checks that a command runs.
    pub(in crate::analyze) fn checks(&self, tool: &ToolUse) -> Vec<&'s ShellStep> {
        let steps = self.ran.get(tool.id.as_str()).into_iter().flat_map(|run| &run.steps);
        steps.filter(|step| step.kind == StepKind::Check).collect()
    }

    /// The steps of a command that commits and runs git alone. What was staged before, and in what words it was committed, makes no other
    /// command; of a long message the line is cut.
    fn committed(&self, tool: &ToolUse) -> Option<String> {
        let steps = &self.ran.get(tool.id.as_str())?.steps;
        let is_commit = |step: &ShellStep| step.line.starts_with(COMMIT);
        let told = |step: &ShellStep| match is_commit(step) {
            true if step.line.contains("--amend") => format!("{COMMIT} --amend"),
            true => COMMIT.to_owned(),
            false => step.line.clone(),
        };
        let commits = steps.iter().any(is_commit) && steps.iter().all(|step| step.kind == StepKind::Git);
        let told = steps.iter().filter(|step| !step.line.starts_with("git add")).map(told);
        (commits && runs_git_alone(&tool.line)).then(|| told.collect::<Vec<_>>().join(" && "))
    }

    /// By the place among the session's entries.
    pub(in crate::analyze) fn ends(&self) -> &[Option<(RunKey, End)>] {
        &self.ends
    }

    fn found_end(&self, session: &Session, at: usize) -> Option<(RunKey, End)> {
        let entry = &session.entries[at];
        let tool = command(entry).filter(|tool| !may_fail(&tool.line))?;
        let checks = self.checks(tool);
        let key = if !checks.is_empty() && runs_checks_alone(&tool.line, checks.len()) {
            let relative = |path: &str| relative(session, path);
            RunKey::Checks(checks.iter().map(|step| SameRun::of(&step.line, &step.folder, relative)).collect())
        } else {
            self.committed(tool).or_else(|| whole_line(&tool.line)).map_or(RunKey::Alone(at), RunKey::Line)
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
                RunKey::Line(line) if line.starts_with(COMMIT) && print.is_none_or(|print| print.git.is_empty()) => End::Unknown,
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
    is_decision_of_user(outcome) || never_ran(outcome)
}

/// A path as seen from the session's folder, which itself is nothing.
pub(in crate::analyze) fn relative(session: &Session, path: &str) -> String {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    if session.cwd.as_deref() == Some(path) || path == "." { String::new() } else { session.relative(path).to_owned() }
}
