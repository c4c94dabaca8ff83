//! The receipt of a session: what it was told at its start and its prompts, and what of that came up in it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{check_key, is_named};
use crate::model::session::{Evidence, Item, Session, ToldNames, ToolUse};

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
}

impl Receipt {
    /// `None` if nothing was told or looked up.
    pub(crate) fn of(session: &Session) -> Option<Self> {
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
            receipt.told.add(told.clone());
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

/// May it be the id of a session, or the beginning of one, or of a note?
fn is_id(word: &str) -> bool {
    let digits = word.strip_prefix(['n', 'o', 'u']).unwrap_or(word);
    (6..=36).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}
