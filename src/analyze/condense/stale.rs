//! What something later says again, and better: recaps of work that went on, and earlier versions of a plan.

use std::collections::BTreeSet;

use transcripts::session::{Entry, Item, RecordKey, Session};

/// The share of a plan's lines that a later one must hold to be its next version.
const SAME_PLAN: f64 = 0.5;
/// Shorter lines are in many plans, in bytes.
const MIN_LINE_BYTES: usize = 20;

/// The rows of recaps between two prompts of the user's, whose own rows say it, and of plans that were written again.
pub(super) fn stale_copies(session: &Session) -> BTreeSet<RecordKey> {
    let main = || session.entries.iter().enumerate().filter(|(_, entry)| entry.is_main());
    let mut prompts = main().filter(|(_, entry)| matches!(entry.item, Item::Prompt(_))).map(|(at, _)| at);
    let first = prompts.next();
    let last = prompts.next_back().or(first);
    let between = |at: usize| first.is_some_and(|first| first < at) && last.is_some_and(|last| at < last);
    let plans: Vec<(&Entry, BTreeSet<&str>)> = main().filter_map(|(_, entry)| Some((entry, plan_lines(entry)?))).collect();
    let is_written_again =
        |(at, (_, lines)): &(usize, &(&Entry, BTreeSet<&str>))| plans[at + 1..].iter().any(|(_, later)| is_in(lines, later));
    let recaps = main().filter(|(at, entry)| matches!(entry.item, Item::Recap(_) | Item::Away(_)) && between(*at));
    let plans = plans.iter().enumerate().filter(is_written_again).map(|(_, (entry, _))| entry.key);
    recaps.map(|(_, entry)| entry.key).chain(plans).collect()
}

/// The lines of a plan that was not refused.
fn plan_lines(entry: &Entry) -> Option<BTreeSet<&str>> {
    let Item::Plan(text) = &entry.item else { return None };
    (!entry.is_refused_plan()).then(|| text.lines().map(str::trim).filter(|line| line.len() >= MIN_LINE_BYTES).collect())
}

fn is_in(lines: &BTreeSet<&str>, later: &BTreeSet<&str>) -> bool {
    !lines.is_empty() && lines.intersection(later).count() as f64 >= SAME_PLAN * lines.len() as f64
}
