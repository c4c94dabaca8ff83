//! Commands with what they printed, in the order of time.

use std::collections::HashMap;

use crate::model::session::{Evidence, Millis, Session, ShellPrint, ShellStep};

/// A shell command of the session or of one of its subagents.
#[derive(Debug)]
pub(super) struct Call<'s> {
    pub(super) at: Option<Millis>,
    pub(super) steps: &'s [ShellStep],
    /// Missing if its output was not seen, or told nothing.
    pub(super) print: Option<&'s ShellPrint>,
    /// It failed as a whole.
    pub(super) failed: bool,
}

pub(super) fn calls(session: &Session) -> Vec<Call<'_>> {
    let prints: HashMap<&str, &ShellPrint> = session
        .evidence
        .iter()
        .filter_map(|placed| match &placed.evidence {
            Evidence::Printed(print) => Some((print.tool.as_str(), print)),
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
                Some(Call { at: placed.at, steps: &run.steps, print, failed })
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
