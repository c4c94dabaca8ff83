//! What a session achieved: how each turn ended, what made failing checks pass, what was committed.

use super::statements::{SeenStatements, Statement, pick};
use crate::analyze::failures::FailedCommand;
use crate::analyze::signal::SentenceTopic;
use crate::model::session::{Item, Session};
use crate::text::clean::shorten;

/// Most statements about turns before the last.
const MAX_EARLIER: usize = 12;
/// Most further statements about them, beyond one or two per turn.
const MAX_FURTHER: usize = 5;

/// The last turn in some detail, and the result of every earlier turn.
pub(super) fn completed(session: &Session, pool: &[Statement], seen: &mut SeenStatements) -> Vec<String> {
    let stands = |s: &Statement| {
        !s.offer
            && !s.overruled
            && !s.listed_next
            && (!s.progress || s.turns_left == 0)
            && (s.about(SentenceTopic::Done) || !s.about(SentenceTopic::Next))
    };
    let says = |s: &Statement| {
        let elsewhere = s.about(SentenceTopic::Cause) || s.about(SentenceTopic::Decision);
        s.about(SentenceTopic::Done) || s.about(SentenceTopic::Outcome) || s.weight > 0.75 && !elsewhere
    };
    let done = |s: &Statement| s.closing && stands(s) && says(s);
    let last = pick(pool, seen, 5, |s| s.turns_left == 0 && done(s));
    let turns = pool.iter().map(|s| s.turns_left).max().unwrap_or(0);
    let few = if turns > 6 { 1 } else { 2 };
    let mut by_turn: Vec<Vec<String>> = Vec::new();
    for turn in 1..=turns {
        if by_turn.iter().map(Vec::len).sum::<usize>() >= MAX_EARLIER {
            break;
        }
        by_turn.push(pick(pool, seen, few, |s| s.turns_left == turn && done(s)));
    }
    let mut all: Vec<String> = by_turn.into_iter().rev().flatten().collect();
    all.extend(pick(pool, seen, MAX_FURTHER, |s| s.turns_left > 0 && done(s)));
    all.extend(last);
    if all.is_empty() {
        // An answer is a result too.
        all = pick(pool, seen, 4, |s| s.closing && !s.offer && !s.listed_next);
    }
    all.extend(commits(session).into_iter().filter(|c| seen.is_new(c)));
    all
}

/// Failed checks, each with what made it pass.
pub(super) fn fixes(failures: &[FailedCommand]) -> Vec<String> {
    let told = failures.iter().filter_map(|failure| {
        // The first changes: they help most the next time, and the end is what gets cut off.
        let done = failure.fix.as_ref()?.told(3)?;
        let done = done.strip_prefix("changes").map_or(done.clone(), |rest| format!("Changes{rest}"));
        let how = failure.describe(100);
        let how = if how.is_empty() { how } else { format!(": {how}") };
        Some(format!("{done} made `{}` pass, which had failed{how}", shorten(&failure.command, 60)))
    });
    told.take(5).collect()
}

/// Commits and pull requests, as reported by git and the client.
fn commits(session: &Session) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for entry in &session.entries {
        let text = match (&entry.item, &entry.outcome) {
            (Item::PullRequest(url), _) => format!("Pull request {url}"),
            (Item::Tool(tool), Some(outcome)) if tool.line.contains("git commit") && outcome.ok => {
                let Some(line) = outcome.brief.split(" | ").find(|l| l.starts_with('[')) else { continue };
                format!("Committed {}", shorten(line, 160))
            }
            _ => continue,
        };
        if !all.contains(&text) {
            all.push(text);
        }
    }
    let from = all.len().saturating_sub(8);
    all.split_off(from)
}
