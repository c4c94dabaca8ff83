//! The receipt of a session: what it was told at its start and its prompts, and what of that came up in it.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::warned::{is_named_freely, runs};
use super::{check_key, is_named};
use crate::analyze::account::Turn;
use crate::analyze::rules::{instruction_of, instructions_in};
use crate::analyze::signal::{has_failed, never_ran};
use crate::model::session::{Entry, Evidence, Item, Millis, PlacedEvidence, Session, ToldNames, ToolUse};

/// What a session was told by our hooks, and what of it was used afterwards. What it was told is known from its own transcript alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub(crate) told: ToldNames,
    /// Those of the files that were read or changed after it was told of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<String>,
    /// Those of the checks that were run after that, whatever they were run on.
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
            let later = &session.entries[placed.after.min(session.entries.len())..];
            let touched: Vec<&str> =
                later.iter().filter_map(|entry| tool(&entry.item)?.file.as_ref()).map(|f| f.path.as_str()).collect();
            let ran: BTreeSet<String> = checks_after(session, placed.after).collect();
            for file in told.files.iter().filter(|name| touched.iter().any(|path| is_named(name, path))) {
                push_new(&mut receipt.files, file);
            }
            for check in told.checks.iter().filter(|check| ran.contains(&check_key(check))) {
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
        let by_command = session.entries.iter().filter_map(|entry| tool(&entry.item)).map(looked_up);
        for id in by_server.chain(by_command).flatten() {
            push_new(&mut receipt.looked_up, &id);
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
        let ran = tool(&entry.item).filter(|tool| tool.is_shell() && !tool.id.is_empty());
        let outcome = entry.outcome.as_ref();
        ran.is_some_and(|tool| !outcome.is_some_and(never_ran) && runs(warned, &tool.line, outcome.is_some_and(has_failed)))
    })
}

fn push_new(all: &mut Vec<String>, name: &str) {
    if !all.iter().any(|known| known == name) {
        all.push(name.to_owned());
    }
}

fn tool(item: &Item) -> Option<&ToolUse> {
    match item {
        Item::Tool(tool) => Some(tool),
        _ => None,
    }
}

/// The checks that ran behind so many entries, by their keys.
fn checks_after(session: &Session, after: usize) -> impl Iterator<Item = String> {
    let ran = session.evidence.iter().filter(move |placed| placed.after >= after).filter_map(|placed| match &placed.evidence {
        Evidence::Ran(run) => Some(&run.steps),
        _ => None,
    });
    ran.flatten().map(|step| check_key(&step.line))
}

/// The ids that a command asks this memory for: `recall show ID`.
fn looked_up(tool: &ToolUse) -> Vec<String> {
    if !tool.is_shell() {
        return Vec::new();
    }
    let behind = tool.line.split("recall show ").skip(1);
    behind.flat_map(|rest| looked_up_ids(rest.split(['|', ';', '&', '>', '\n']).next().unwrap_or_default())).collect()
}

/// The words of a request that may be ids.
pub(crate) fn looked_up_ids(request: &str) -> Vec<String> {
    let words = request.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| is_id(word)).map(str::to_owned).collect()
}

/// May it be the id of a session, or the beginning of one, or of a note, a rule or an open item?
fn is_id(word: &str) -> bool {
    let digits = word.strip_prefix(['m', 'n', 'o', 'r', 'u']).unwrap_or(word);
    (6..=36).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}
