//! Checks as they ended last: the command, the lines that tell it, and what is known of the exit code. Never "passed".

use serde::{Deserialize, Serialize};

use super::files;
use super::shell::{Call, Place, resolved, words};
use super::turns::Turn;
use transcripts::session::{Millis, Session, ShellStep, StepKind};
use transcripts::shell::{from_program, is_assignment, only_lists, tells_failure};

/// One call, with those of its checks that did not run again later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRun {
    pub commands: Vec<String>,
    pub at: Option<Millis>,
    /// The turn's number.
    pub turn: usize,
    /// The exit code, where it is that of the checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// The lines that tell failures, and the last line that tells a result; if it is not known which check that one is of, only if nothing
    /// tells a failure.
    pub lines: Vec<String>,
    /// How many lines told a result.
    pub of: usize,
    /// Files were edited after it.
    pub edited_since: bool,
    /// Where it ran, if all of it ran outside the session's project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<String>,
}

impl LastRun {
    /// The line that was printed last of those that tell a result, where any of its checks may have printed it: a check that printed
    /// nothing else may have failed.
    pub(crate) fn line_of_any(&self) -> Option<&str> {
        let any = self.ok.is_none() && self.commands.len() > 1 && self.of > 1;
        self.lines.last().filter(|line| any && !tells_failure(line)).map(String::as_str)
    }

    /// Did it fail, by its exit code or by what it printed? An exit code that is not known, or another one's, says nothing.
    pub(crate) fn shows_failure(&self) -> bool {
        self.ok == Some(false) || self.lines.iter().any(|line| tells_failure(line))
    }
}

pub(super) fn of(session: &Session, calls: &[Call<'_>], turns: &[Turn]) -> Vec<LastRun> {
    let mut all: Vec<(Vec<Key>, LastRun)> = Vec::new();
    let last_edit = files::edits(session).filter_map(|(_, at)| at).max();
    for call in calls {
        let checks: Vec<&ShellStep> =
            call.steps.iter().filter(|step| step.kind == StepKind::Check && !only_lists(&step.line)).collect();
        if checks.is_empty() {
            continue;
        }
        let keys: Vec<Key> = checks.iter().map(|step| Key::of(session, step)).collect();
        all.iter_mut().for_each(|(earlier, run)| replace(earlier, run, &keys));
        all.retain(|(keys, _)| !keys.is_empty());
        let masked = checks.iter().any(|step| step.masked);
        let (mut lines, of) = call.print.map(|print| (print.results.clone(), print.of)).unwrap_or_default();
        // Whose end a line tells is not known, nor what was cut off: failures are told alone.
        if masked && of > 1 && checks.len() > 1 && lines.iter().any(|line| tells_failure(line)) {
            lines.retain(|line| tells_failure(line));
        }
        // What ran here comes before any folder.
        let elsewhere = checks.iter().map(|step| Place::of(session, &step.folder).elsewhere()).min().flatten();
        let ok = (!masked).then_some(!call.failed).filter(|_| call.print.is_some());
        let run = LastRun {
            commands: checks.iter().map(|step| step.line.clone()).collect(),
            at: call.at,
            turn: number_at(turns, call.at),
            ok,
            lines,
            of,
            edited_since: last_edit > call.at,
            elsewhere,
        };
        all.push((keys, run));
    }
    // What told nothing is left out, though it took the place of what it ran again.
    all.into_iter().map(|(_, run)| run).filter(|run| !run.lines.is_empty() || run.ok == Some(false)).collect()
}

/// Takes out of a run what ran again later. What it printed, and that it failed, may have been of that part.
fn replace(keys: &mut Vec<Key>, run: &mut LastRun, again: &[Key]) {
    let before = keys.len();
    for at in (0..before).rev() {
        if again.iter().any(|again| again.replaces(&keys[at])) {
            keys.remove(at);
            run.commands.remove(at);
        }
    }
    if keys.len() < before {
        run.lines.clear();
        (run.of, run.ok) = (0, run.ok.filter(|ok| *ok));
    }
}

/// By what a check is known again: what it is given, its program and what that is to do, and where.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    words: Vec<String>,
    /// Empty if it is not known, or is the session's own folder.
    folder: String,
}

impl Key {
    fn of(session: &Session, step: &ShellStep) -> Self {
        let cwd = session.cwd.as_deref().unwrap_or_default();
        let relative = |path: &str| {
            let path = resolved(cwd, path);
            if path == cwd { String::new() } else { session.relative(&path).to_owned() }
        };
        let all = words(step);
        let program = all.iter().position(|word| !is_assignment(word)).unwrap_or(all.len());
        let (given, rest) = all.split_at(program);
        let rest = from_program(rest);
        let many = if rest.iter().any(|word| word == "run") { 3 } else { 2 };
        let plain = rest.iter().filter(|word| !word.starts_with('-')).take(many);
        let named = plain.enumerate().map(|(n, word)| match word {
            program if n == 0 => program.rsplit('/').next().unwrap_or(program).to_owned(),
            // A path is the same however it is written.
            path if path.starts_with(['/', '.']) && path.contains('/') => relative(path),
            word => word.clone(),
        });
        let mut given = given.to_vec();
        given.sort();
        let folder = if step.folder.is_empty() { String::new() } else { relative(&step.folder) };
        Self { words: given.into_iter().chain(named).collect(), folder }
    }

    /// Is it the same check? The shell may still be where an earlier command went.
    fn replaces(&self, earlier: &Self) -> bool {
        self.words == earlier.words && (self.folder.is_empty() || self.folder == earlier.folder)
    }
}

/// The number of the turn in which something happened.
pub(super) fn number_at(turns: &[Turn], at: Option<Millis>) -> usize {
    let begun = turns.iter().rev().find(|turn| turn.at <= at && turn.at.is_some());
    begun.or(turns.first()).map_or(0, |turn| turn.number)
}
