//! Commands with what they printed, in the order of time.

use std::collections::HashMap;

use transcripts::session::{Evidence, Millis, Session, ShellPrint, ShellStep, StepKind};
use transcripts::shell::tells_failure;

/// A shell command of the session or of one of its subagents.
#[derive(Debug)]
pub(super) struct Call<'s> {
    pub(super) at: Option<Millis>,
    pub(super) steps: &'s [ShellStep],
    /// Missing if its output was not seen, or told nothing.
    pub(super) print: Option<&'s ShellPrint>,
    /// It failed as a whole.
    pub(super) failed: bool,
    /// Where the session was before it, and the branch that it was on there, if the client says so.
    pub(super) place: Place,
    /// The same as a full path, if that is known.
    pub(super) folder: &'s str,
    pub(super) branch: Option<&'s str>,
}

impl Call<'_> {
    /// The folder in which a step ran, as a full path.
    pub(super) fn folder_of(&self, step: &ShellStep) -> String {
        resolved(self.folder, &step.folder)
    }

    /// It was seen to end, and did not fail as a whole.
    pub(super) fn ended_well(&self) -> bool {
        !self.failed && self.print.is_some()
    }
}

pub(super) fn calls(session: &Session) -> Vec<Call<'_>> {
    let prints: HashMap<&str, &ShellPrint> = session
        .evidence
        .iter()
        .filter_map(|placed| match &placed.evidence {
            Evidence::Printed(print) if !print.unended => Some((print.tool.as_str(), print)),
            _ => None,
        })
        .collect();
    let failed: HashMap<&str, bool> = session
        .entries
        .iter()
        .filter_map(|entry| entry.outcome.as_ref())
        .map(|outcome| (outcome.tool.as_str(), !outcome.ok))
        .collect();
    let mut all: Vec<Call<'_>> = session
        .evidence
        .iter()
        .filter_map(|placed| match &placed.evidence {
            Evidence::Ran(run) => {
                let print = prints.get(run.tool.as_str()).copied();
                let failed = print.map(|print| !print.ok).or_else(|| failed.get(run.tool.as_str()).copied()).unwrap_or_default();
                let place = Place::of(session, run.cwd.as_deref().unwrap_or_default());
                let folder = run.cwd.as_deref().or(session.cwd.as_deref()).unwrap_or_default();
                Some(Call { at: placed.at, steps: &run.steps, print, failed, place, folder, branch: run.branch.as_deref() })
            }
            _ => None,
        })
        .collect();
    // Subagents worked meanwhile.
    all.sort_by_key(|call| call.at);
    all
}

/// The words of a step.
pub(super) fn words(step: &ShellStep) -> Vec<String> {
    shlex::split(&step.line).unwrap_or_else(|| step.line.split(' ').map(str::to_owned).collect())
}

/// Where a command ran, as far as it tells: commits of one place are pushed together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// In the session's folder, in one inside it or around it.
    #[default]
    Here,
    Elsewhere(String),
}

impl Place {
    /// The folder, where it is another.
    pub(super) fn elsewhere(self) -> Option<String> {
        match self {
            Self::Here => None,
            Self::Elsewhere(folder) => Some(folder),
        }
    }

    /// The place of a step's folder.
    pub(super) fn of(session: &Session, folder: &str) -> Self {
        let here = session.cwd.as_deref().unwrap_or_default();
        let path = resolved(here, folder);
        let is_inside = |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let roots = [here, session.project.key.as_str()];
        let is_here = |root: &str| path == root || is_inside(&path, root) || is_inside(root, &path);
        if path.is_empty() || roots.into_iter().filter(|root| root.starts_with('/')).any(is_here) {
            Self::Here
        } else {
            Self::Elsewhere(path)
        }
    }
}

/// A path as seen from a folder, without `.` and `..`. What a shell would expand stays as it was typed.
pub(super) fn resolved(folder: &str, path: &str) -> String {
    if path.starts_with(['~', '$', '`']) {
        return path.trim_end_matches('/').to_owned();
    }
    let mut parts: Vec<&str> = if path.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let path = parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/");
    if path.is_empty() { path } else { format!("/{path}") }
}

/// The checks of each call that ran some, in the order of time, and whether the call failed.
pub(crate) fn check_calls(session: &Session) -> Vec<(Vec<&str>, bool)> {
    fn checks(call: Call<'_>) -> Option<(Vec<&str>, bool)> {
        let lines: Vec<&str> =
            call.steps.iter().filter(|step| step.kind == StepKind::Check).map(|step| step.line.as_str()).collect();
        let failed = call.failed || call.print.is_some_and(|print| print.results.iter().any(|line| tells_failure(line)));
        (!lines.is_empty()).then_some((lines, failed))
    }
    calls(session).into_iter().filter_map(checks).collect()
}
