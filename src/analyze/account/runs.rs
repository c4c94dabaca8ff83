//! Checks as they ended last: the command, the lines that tell it, and what is known of the exit code. Never "passed".

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::shell::Call;
use super::turns::Turn;
use crate::model::session::{Item, Millis, Session, ShellStep, StepKind, Touch};

/// One call with its checks, none of which ran again later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    pub commands: Vec<String>,
    pub at: Option<Millis>,
    /// The turn's number.
    pub turn: usize,
    /// The exit code, where it is that of the checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// The lines that tell failures, and the last line that tells a result.
    pub lines: Vec<String>,
    /// How many lines told a result.
    pub of: usize,
    /// Files were edited after it.
    pub edited_since: bool,
}

pub(super) fn of(session: &Session, calls: &[Call<'_>], turns: &[Turn]) -> Vec<LastRun> {
    let mut all: Vec<(BTreeSet<String>, LastRun)> = Vec::new();
    let last_edit = last_edit(session);
    for call in calls {
        let checks: Vec<&ShellStep> = call.steps.iter().filter(|step| step.kind == StepKind::Check).collect();
        if checks.is_empty() {
            continue;
        }
        let keys: BTreeSet<String> = checks.iter().map(|step| key(step)).collect();
        for (earlier, _) in &mut all {
            earlier.retain(|key| !keys.contains(key));
        }
        all.retain(|(keys, _)| !keys.is_empty());
        let (lines, of) = call.print.map(|print| (print.results.clone(), print.of)).unwrap_or_default();
        let ok = (!checks.iter().any(|step| step.masked)).then_some(!call.failed).filter(|_| call.print.is_some());
        let run = LastRun {
            commands: checks.iter().map(|step| step.line.clone()).collect(),
            at: call.at,
            turn: number_at(turns, call.at),
            ok,
            lines,
            of,
            edited_since: last_edit > call.at,
        };
        all.push((keys, run));
    }
    // What told nothing is left out, though it took the place of what it ran again.
    all.into_iter().map(|(_, run)| run).filter(|run| !run.lines.is_empty() || run.ok == Some(false)).collect()
}

/// By what a check is known again: its program and what that is to do.
fn key(step: &ShellStep) -> String {
    let words = step.line.split(' ').filter(|word| !word.starts_with('-'));
    let many = if step.line.contains(" run ") { 3 } else { 2 };
    words.take(many).collect::<Vec<_>>().join(" ")
}

/// The number of the turn in which something happened.
pub(super) fn number_at(turns: &[Turn], at: Option<Millis>) -> usize {
    let begun = turns.iter().rev().find(|turn| turn.at <= at && turn.at.is_some());
    begun.or(turns.first()).map_or(0, |turn| turn.number)
}

/// When a file was last edited.
fn last_edit(session: &Session) -> Option<Millis> {
    let edits = session.entries.iter().filter(|entry| {
        let edits = matches!(&entry.item, Item::Tool(tool) if tool.file.as_ref().is_some_and(|file| file.how != Touch::Read));
        edits && entry.outcome.as_ref().is_none_or(|outcome| outcome.ok)
    });
    edits.map(|entry| entry.at).max().flatten()
}
