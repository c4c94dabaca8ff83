//! How a command ended, as far as that was seen.

use std::collections::HashMap;

use super::command;
use crate::analyze::signal::{is_check, may_fail};
use transcripts::session::{Evidence, Item, Outcome, Session, ShellPrint, ShellRun, ShellStep, StepKind, ToolUse};
use transcripts::shell::{
    CommandClass, SameRun, counts_failures, may_hide_failures, proves_passing, runs_alone, runs_git_alone, tells_failure,
    whole_line,
};

const COMMIT: &str = "git commit";

/// How a run ended, as far as that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::analyze) enum End {
    Passed,
    Failed,
    Unknown,
}

/// By what a run is known again: the steps of which one decides how it ends, else its whole line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::analyze) enum RunKey {
    Steps(Vec<SameRun>),
    Line(String),
    /// Its line does not tell.
    Alone(usize),
}

/// What a command ran and how that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::analyze) struct Ended {
    pub(in crate::analyze) key: RunKey,
    pub(in crate::analyze) end: End,
    /// Its checks and its other work in order, each with how it ended itself; then what these ran in turn.
    pub(in crate::analyze) steps: Vec<(SameRun, End)>,
    /// What its only task runner ran in turn, as far as that printed it.
    pub(super) wrapped: Vec<SameRun>,
}

impl Ended {
    /// Was it seen that what failed passed here?
    pub(super) fn passes(&self, failed: &Self) -> bool {
        let passed = |wanted: &SameRun| self.steps.iter().any(|(step, end)| *end == End::Passed && step.covers(wanted));
        match &failed.key {
            RunKey::Steps(wanted) => {
                let is_runner = wanted.len() == 1 && !failed.wrapped.is_empty();
                wanted.iter().all(passed) || is_runner && failed.wrapped.iter().all(passed)
            }
            RunKey::Line(_) => self.end == End::Passed && self.key == failed.key,
            RunKey::Alone(_) => false,
        }
    }
}

/// What is known of commands beside their lines, by the client's id.
pub(in crate::analyze) struct Runs<'s> {
    ran: HashMap<&'s str, &'s ShellRun>,
    printed: HashMap<&'s str, &'s ShellPrint>,
    /// What each entry ran and how that ended; `None` for what is no command, or may fail at any time.
    ends: Vec<Option<Ended>>,
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

    /// The checks and the other work of a command.
    pub(in crate::analyze) fn work(&self, tool: &ToolUse) -> Vec<&'s ShellStep> {
        self.steps(tool).filter(|step| matches!(step.kind, StepKind::Check | StepKind::Work)).collect()
    }

    fn steps(&self, tool: &ToolUse) -> impl Iterator<Item = &'s ShellStep> {
        self.ran.get(tool.id.as_str()).into_iter().flat_map(|run| &run.steps)
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
    pub(in crate::analyze) fn ends(&self) -> &[Option<Ended>] {
        &self.ends
    }

    fn found_end(&self, session: &Session, at: usize) -> Option<Ended> {
        let entry = &session.entries[at];
        let tool = command(entry).filter(|tool| !may_fail(&tool.line))?;
        let work = self.work(tool);
        let relative = |path: &str| relative(session, path);
        let same: Vec<SameRun> = work.iter().map(|step| SameRun::of(&step.line, &step.folder, relative)).collect();
        let print = self.print(tool);
        let told = print.map(|print| print.results.as_slice()).unwrap_or_default();
        let owner = owner(&work);
        let hidden: Vec<usize> =
            owner.map_or_else(|| counting(&work), |at| vec![at]).into_iter().filter(|at| work[*at].masked).collect();
        let says_failure = !hidden.is_empty() && told.iter().any(|line| tells_failure(line));
        let seen = match (&entry.outcome, print) {
            (Some(outcome), _) if is_refusal(outcome) => End::Unknown,
            (None, Some(print)) if print.unended => End::Unknown,
            (Some(outcome), _) if !outcome.ok => End::Failed,
            (_, Some(print)) if !print.ok => End::Failed,
            // Of a check that ended there would be what it printed.
            (None, None) if work.iter().any(|step| step.kind == StepKind::Check && !step.masked) => End::Unknown,
            (None, None) if !was_answered(session, at) => End::Unknown,
            _ => End::Passed,
        };
        // What the output tells of the one check whose exit code is hidden.
        let from_output = || match told {
            _ if says_failure => End::Failed,
            [.., last] if proves_passing(last) && !may_hide_failures(&tool.line) => End::Passed,
            _ => End::Unknown,
        };
        let mut ends: Vec<End> = match seen {
            End::Passed => {
                let end = |(at, step): (usize, &&ShellStep)| match step.masked {
                    false => End::Passed,
                    true if owner == Some(at) => from_output(),
                    true => End::Unknown,
                };
                work.iter().enumerate().map(end).collect()
            }
            _ => vec![End::Unknown; work.len()],
        };
        let may_have_failed = match seen {
            End::Failed => self.may_have_failed(tool, &work),
            _ if says_failure => hidden,
            _ => (0..work.len()).collect(),
        };
        if seen == End::Failed {
            let of_owner = owner.filter(|at| may_have_failed.contains(at) && told.iter().any(|line| counts_failures(line)));
            match (&may_have_failed[..], of_owner) {
                ([failed], _) => ends[*failed] = End::Failed,
                (several, Some(failed)) => {
                    several.iter().filter(|at| **at < failed).for_each(|at| ends[*at] = End::Passed);
                    ends[failed] = End::Failed;
                }
                _ => {}
            }
        }
        let end = match seen {
            End::Passed if says_failure => End::Failed,
            End::Passed if !work.is_empty() && ends.contains(&End::Unknown) => End::Unknown,
            seen => seen,
        };
        let failed: Vec<usize> = (0..ends.len()).filter(|at| ends[*at] == End::Failed).collect();
        let known_by = if failed.is_empty() { &may_have_failed } else { &failed };
        let key = if known_by.is_empty() {
            self.committed(tool).or_else(|| whole_line(&tool.line)).map_or(RunKey::Alone(at), RunKey::Line)
        } else {
            RunKey::Steps(known_by.iter().map(|at| same[*at].clone()).collect())
        };
        let end = match &key {
            RunKey::Line(line)
                if end == End::Passed && line.starts_with(COMMIT) && print.is_none_or(|print| print.git.is_empty()) =>
            {
                End::Unknown
            }
            // In the background only its start was seen.
            RunKey::Line(_) if end == End::Passed && is_check(tool) && print.is_none() && entry.outcome.is_none() => End::Unknown,
            RunKey::Alone(_) if end == End::Passed => End::Unknown,
            _ => end,
        };
        let runners: Vec<usize> = (0..work.len()).filter(|at| same[*at].is_task_runner()).collect();
        let (wrapped, runner_end) = match &runners[..] {
            [runner] => {
                let runs = print.into_iter().flat_map(|print| &print.runs);
                (runs.map(|line| SameRun::of(line, &work[*runner].folder, relative)).collect(), ends[*runner])
            }
            _ => (Vec::new(), End::Unknown),
        };
        let in_turn = wrapped.iter().map(|step: &SameRun| (step.clone(), runner_end));
        Some(Ended { key, end, steps: same.into_iter().zip(ends).chain(in_turn).collect(), wrapped })
    }

    /// The places of those of its work of which one failed if a command did; none if something else may have.
    fn may_have_failed(&self, tool: &ToolUse, work: &[&ShellStep]) -> Vec<usize> {
        let steps: Vec<&ShellStep> = self.steps(tool).collect();
        if !runs_alone(&tool.line, steps.len()) {
            return Vec::new();
        }
        // Behind the last step whose end is lost; if there is none, all run in pipes.
        let open: Vec<&&ShellStep> = steps.iter().filter(|step| !step.masked).collect();
        if open.iter().any(|step| matches!(step.kind, StepKind::Git | StepKind::Files)) {
            return Vec::new();
        }
        let is_open = |at: &usize| open.is_empty() || !work[*at].masked;
        (0..work.len()).filter(is_open).collect()
    }
}

/// The place of the step that printed the lines of results: the only one of the work that does, or the only one whose exit code is hidden.
fn owner(work: &[&ShellStep]) -> Option<usize> {
    let all = counting(work);
    let masked: Vec<usize> = all.iter().copied().filter(|at| work[*at].masked).collect();
    match (&all[..], &masked[..]) {
        ([one], _) => Some(*one),
        // Its lines are the last ones.
        ([.., last], [masked]) if last == masked => Some(*masked),
        _ => None,
    }
}

/// The places of the steps that print lines of results.
fn counting(work: &[&ShellStep]) -> Vec<usize> {
    let counts = |at: &usize| work[*at].kind == StepKind::Check || class_of(work[*at]).is_some_and(CommandClass::counts_results);
    (0..work.len()).filter(counts).collect()
}

/// What a step is for.
pub(in crate::analyze) fn class_of(step: &ShellStep) -> Option<CommandClass> {
    CommandClass::of_line(&step.line)
}

/// Did the assistant go on after a command of which nothing else is known?
fn was_answered(session: &Session, at: usize) -> bool {
    let of = &session.entries[at];
    let next = session.entries[at + 1..].iter().find(|entry| entry.agent == of.agent);
    next.is_some_and(|entry| matches!(entry.item, Item::Tool(_) | Item::Reply(_)) && entry.key != of.key)
}

/// Did it not run at all?
fn is_refusal(outcome: &Outcome) -> bool {
    outcome.is_decision_of_user() || outcome.never_ran()
}

/// A path as seen from the session's folder, which itself is nothing.
pub(in crate::analyze) fn relative(session: &Session, path: &str) -> String {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    if session.cwd.as_deref() == Some(path) || path == "." { String::new() } else { session.relative(path).to_owned() }
}
