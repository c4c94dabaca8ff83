//! The receipt of a session: what it was told at its start and its prompts, and what of that came up in it.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::warned::{is_named_freely, runs};
use super::{check_key, is_named};
use crate::analyze::account::Turn;
use crate::analyze::failures::relative;
use crate::analyze::rules::{instruction_of, instructions_in};
use crate::analyze::signal::has_failed;
use transcripts::session::{
    Entry, Evidence, Item, Millis, Outcome, PlacedEvidence, Session, ShellStep, ToldNames, ToolUse, ids_in,
};
use transcripts::shell::{begun, is_assignment};

/// What a session was told by our hooks, and what of it was used afterwards. What it was told is known from its own transcript alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub(crate) told: ToldNames,
    /// Those of the files that were read or changed after it was told of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<String>,
    /// Those of the checks that were run after that, on what they were told to be run on, a part of it, or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) checks: Vec<String>,
    /// Ids that the agent looked up, as it wrote them, whether it was told of them or found them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) looked_up: Vec<String>,
    /// Those of the commands which it was told not to run that it then ran, of its own accord.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) passed_over: Vec<String>,
    /// What a note or a rule told it and the user then said once more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) repeated: Vec<RepeatedCorrection>,
}

/// A correction that the user repeated, without its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RepeatedCorrection {
    /// That of the note or the rule.
    pub(crate) id: String,
    /// The first turn in which it was said again.
    pub(crate) turn: usize,
}

impl Receipt {
    /// `None` if nothing was told or looked up.
    pub(crate) fn of(session: &Session, turns: &[Turn]) -> Option<Self> {
        let mut receipt = Self::default();
        for placed in session.evidence.iter().filter(|placed| placed.agent.is_none()) {
            let Evidence::Told(told) = &placed.evidence else { continue };
            // What a session is told of itself after a compaction is its own.
            if is_of_itself(told, session) {
                continue;
            }
            let later = &session.entries[placed.after.min(session.entries.len())..];
            let touched: Vec<String> = later.iter().flat_map(|entry| touched_by(entry, session)).collect();
            let ran = checks_after(session, placed.after);
            for file in told.files.iter().filter(|name| touched.iter().any(|path| is_file_of(name, path))) {
                push_new(&mut receipt.files, file);
            }
            for check in told.checks.iter().filter(|check| ran.iter().any(|ran| is_same_check(check, ran))) {
                push_new(&mut receipt.checks, check);
            }
            for warned in told.warned.iter().filter(|warned| is_passed_over(warned, session, placed.after)) {
                push_new(&mut receipt.passed_over, warned);
            }
            receipt.add_repeated(told, session, turns, placed);
            // By their hashes nothing more is asked.
            receipt.told.add(ToldNames { rules: Vec::new(), ..told.clone() });
        }
        let by_server = session.evidence.iter().filter_map(|placed| match &placed.evidence {
            Evidence::LookedUp(ids) => Some(ids.clone()),
            _ => None,
        });
        let by_command = session.entries.iter().filter_map(ran_by_agent).map(looked_up);
        for id in by_server.chain(by_command).flatten() {
            // One id in short and whole is one.
            let is_known = |known: &String| known.starts_with(&id) || id.starts_with(known.as_str());
            if !receipt.looked_up.iter().any(is_known) {
                receipt.looked_up.push(id);
            }
        }
        (receipt != Self::default()).then_some(receipt)
    }
}

impl Receipt {
    fn add_repeated(&mut self, told: &ToldNames, session: &Session, turns: &[Turn], placed: &PlacedEvidence) {
        let Some(since) = told_at(session, placed) else { return };
        for turn in turns {
            let later = turn.words.iter().filter(|word| word.is_correction() && word.at > Some(since));
            let said: Vec<_> =
                later.flat_map(|word| instructions_in(&word.text)).filter_map(|said| instruction_of(&said)).collect();
            for rule in told.rules.iter().filter(|rule| said.iter().any(|said| said.is_said_by(rule))) {
                if !self.repeated.iter().any(|known| known.id == rule.id) {
                    self.repeated.push(RepeatedCorrection { id: rule.id.clone(), turn: turn.number });
                }
            }
        }
    }
}

/// When it was told: not before the prompt that it stands beside, whose row may come later by its time.
fn told_at(session: &Session, placed: &PlacedEvidence) -> Option<Millis> {
    let before = &session.entries[..placed.after.min(session.entries.len())];
    let prompt = before.iter().rev().find(|entry| entry.is_main() && matches!(entry.item, Item::Prompt(_)));
    placed.at.max(prompt.and_then(|entry| entry.at))
}

/// Did the assistant run this command after so many entries, and the user not name it before that?
fn is_passed_over(warned: &str, session: &Session, after: usize) -> bool {
    let said = |entry: &Entry| match &entry.item {
        Item::Prompt(text) => is_named_freely(warned, text),
        Item::Answer(answer) => is_named_freely(warned, &answer.said) || is_named_freely(warned, &answer.asked),
        _ => false,
    };
    let main = || session.entries.iter().enumerate().filter(|(_, entry)| entry.is_main());
    // What nothing follows may have been cut off before it ran.
    let last = main().next_back().map_or(0, |(at, _)| at);
    let asked = main().find(|(_, entry)| said(entry)).map_or(last, |(at, _)| at);
    main().filter(|(at, _)| (after..asked.min(last)).contains(at)).any(|(_, entry)| {
        ran_by_agent(entry).is_some_and(|tool| runs(warned, &tool.line, entry.outcome.as_ref().is_some_and(has_failed)))
    })
}

fn push_new(all: &mut Vec<String>, name: &str) {
    if !all.iter().any(|known| known == name) {
        all.push(name.to_owned());
    }
}

/// A tool use, unless something kept it from running.
fn ran(entry: &Entry) -> Option<&ToolUse> {
    match &entry.item {
        Item::Tool(tool) if !entry.outcome.as_ref().is_some_and(Outcome::never_ran) => Some(tool),
        _ => None,
    }
}

/// A command that ran and that the user did not type.
fn ran_by_agent(entry: &Entry) -> Option<&ToolUse> {
    ran(entry).filter(|tool| tool.is_shell() && !tool.id.is_empty())
}

/// Is nothing told here but what this session did itself?
fn is_of_itself(told: &ToldNames, session: &Session) -> bool {
    !told.sessions.is_empty() && told.sessions.iter().all(|id| session.id.starts_with(id.as_str()))
}

/// The files that an entry read or changed, relative to the project where they lie in it: with a tool of the client's, or in the shell.
fn touched_by(entry: &Entry, session: &Session) -> Vec<String> {
    let Some(tool) = ran(entry) else { return Vec::new() };
    let relative = |path: &str| in_worktree(session.relative(path.trim_start_matches("./"))).to_owned();
    let by_tool = tool.file.as_ref().filter(|_| entry.outcome.as_ref().is_none_or(|outcome| outcome.ok));
    let in_shell = ran_by_agent(entry).map(|tool| files_in_shell(&tool.line)).unwrap_or_default();
    by_tool.map(|file| file.path.as_str()).into_iter().chain(in_shell.iter().map(String::as_str)).map(relative).collect()
}

/// The client keeps its own worktrees of a project below it.
fn in_worktree(path: &str) -> &str {
    path.strip_prefix(".claude/worktrees/").and_then(|rest| rest.split_once('/')).map_or(path, |(_, path)| path)
}

/// The files that programs which print or change them were given.
fn files_in_shell(line: &str) -> Vec<String> {
    const PROGRAMS: [&str; 8] = ["cat", "head", "tail", "sed", "less", "bat", "nl", "awk"];
    let of = begun(line).into_iter().filter(|words| PROGRAMS.contains(&words[0].as_str()));
    of.flat_map(|words| words.into_iter().skip(1).filter(|word| !word.starts_with('-'))).collect()
}

/// Is it the file of this name? A name with folders is a path of the project: another one may end alike.
fn is_file_of(name: &str, path: &str) -> bool {
    if name.contains('/') {
        name == path || path.starts_with('/') && name.starts_with('/') && is_named(name, path)
    } else {
        is_named(name, path)
    }
}

/// The checks that ran behind so many entries in the project.
fn checks_after(session: &Session, after: usize) -> Vec<&ShellStep> {
    let kept: BTreeSet<&str> = session.entries.iter().filter_map(ran).map(|tool| tool.id.as_str()).collect();
    let runs = session.evidence.iter().filter(|placed| placed.after >= after).filter_map(|placed| match &placed.evidence {
        Evidence::Ran(run) if kept.contains(run.tool.as_str()) => Some(&run.steps),
        _ => None,
    });
    runs.flatten().filter(|step| !relative(session, &step.folder).starts_with('/')).collect()
}

/// Is it the check that was told, on what it was told to be run on, a part of that, or more?
fn is_same_check(told: &str, ran: &ShellStep) -> bool {
    let (told_on, ran_on) = (targets(told), targets(&ran.line));
    let is_part =
        |part: &str, whole: &str| part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']));
    let meet = |one: &str| ran_on.iter().any(|other| is_part(one, other) || is_part(other, one));
    check_key(told) == check_key(&ran.line) && (told_on.is_empty() || ran_on.is_empty() || told_on.iter().any(|one| meet(one)))
}

/// What a check is run on: its words behind those by which it is known, without options.
fn targets(line: &str) -> Vec<String> {
    let known = check_key(line).split(' ').count();
    let words = shlex::split(line).unwrap_or_else(|| line.split(' ').map(str::to_owned).collect());
    let plain = words.into_iter().filter(|word| !word.starts_with('-') && !is_assignment(word)).skip(known);
    plain
        .map(|word| word.trim_start_matches("./").trim_end_matches("...").trim_end_matches('/').to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// The ids that a command asks this memory for: `recall show ID`.
fn looked_up(tool: &ToolUse) -> Vec<String> {
    let asks = |words: &Vec<String>| {
        words[0].rsplit('/').next() == Some("recall")
            && words.get(1).is_some_and(|word| matches!(word.as_str(), "show" | "timeline"))
    };
    // Hardly any command names this program, and none of the others needs to be split.
    let may_ask = tool.line.contains("recall");
    let begun = if may_ask { begun(&tool.line) } else { Vec::new() };
    begun.into_iter().filter(asks).flat_map(|words| ids_in(&words[2..].join(" "))).collect()
}
