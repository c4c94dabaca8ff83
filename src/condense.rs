//! A session within a budget: the user's words, what carries weight and the end first, the rest as far as there is room.
//!
//! The tail is never cut off: what does not fit is the unimportant, wherever it stands.

use crate::clean::{head_and_tail, one_line, shorten};
use crate::prose::sentences;
use crate::session::{Entry, FileTouch, Item, Outcome, RowKey, Session, ToolUse, Touch};
use crate::signal::{self, importance, weight};

/// A session as a summarizer reads it: numbered lines, and the row behind each number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condensed {
    pub text: String,
    /// `rows[n - 1]` stands behind `[n]`.
    pub rows: Vec<RowKey>,
    /// Items that found no room.
    pub left_out: usize,
}

/// What must be in before anything of the next rank is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// What was asked for first, and what was said last.
    Frame,
    /// The user's words.
    First,
    /// Importance 0.8 and more.
    Strong,
    /// Importance 0.5 and more.
    Moderate,
}

struct Candidate<'s> {
    at: usize,
    rank: Rank,
    weight: f64,
    entry: &'s Entry,
    cap: usize,
    /// Later uses on the same file that this line stands for too.
    repeats: usize,
}

/// Longest texts by kind, in characters, when there is room.
mod cap {
    pub const PROMPT: usize = 1500;
    pub const LAST_REPLY: usize = 3000;
    pub const CLOSING_REPLY: usize = 1400;
    pub const REPLY: usize = 500;
    pub const PLAN: usize = 2200;
    pub const TOOL: usize = 420;
    pub const RECAP: usize = 1600;
}

/// Caps shrink by these factors until all of the first two ranks fits.
const SCALES: [f64; 7] = [1.0, 0.75, 0.5, 0.35, 0.25, 0.15, 0.08];
const SHORTEST: usize = 60;

/// Condenses a session to at most `budget` characters.
pub fn condense(session: &Session, budget: usize) -> Condensed {
    let candidates = candidates(session);
    let needed = |c: &&Candidate<'_>| c.rank <= Rank::Strong;
    let room = budget * 9 / 10;
    let size =
        |scale: f64| -> usize { candidates.iter().filter(needed).map(|c| line(session, c, scale).chars().count() + 6).sum() };
    let scale = SCALES.into_iter().find(|s| size(*s) <= room).unwrap_or(SCALES[SCALES.len() - 1]);
    render(session, candidates, scale, budget)
}

fn render(session: &Session, candidates: Vec<Candidate<'_>>, scale: f64, budget: usize) -> Condensed {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    // Within a rank the weightier first, then the later: the end outlasts the middle.
    order.sort_by(|a, b| {
        let (a, b) = (&candidates[*a], &candidates[*b]);
        a.rank.cmp(&b.rank).then(b.weight.total_cmp(&a.weight)).then(b.at.cmp(&a.at))
    });
    let mut chosen: Vec<Option<String>> = vec![None; candidates.len()];
    let mut used = 0;
    for at in order {
        let text = line(session, &candidates[at], scale);
        let cost = text.chars().count() + 7;
        if used + cost <= budget && !text.is_empty() {
            used += cost;
            chosen[at] = Some(text);
        }
    }
    let mut out =
        Condensed { text: String::with_capacity(used), rows: Vec::new(), left_out: chosen.iter().filter(|c| c.is_none()).count() };
    for (candidate, text) in candidates.iter().zip(chosen) {
        let Some(text) = text else { continue };
        out.rows.push(candidate.entry.key);
        out.text.push_str(&format!("[{}] {text}\n", out.rows.len()));
    }
    out
}

fn candidates(session: &Session) -> Vec<Candidate<'_>> {
    let closing = closing_replies(session);
    let last_reply = closing.last().copied();
    let first_prompt = session.entries.iter().position(|e| matches!(e.item, Item::Prompt(_)) && e.is_main());
    let mut all: Vec<Candidate<'_>> = Vec::new();
    for (at, entry) in session.entries.iter().enumerate() {
        let weight = importance(entry);
        let is_closing = closing.contains(&at);
        let (rank, cap) = match &entry.item {
            Item::Prompt(_) if first_prompt == Some(at) => (Rank::Frame, cap::PROMPT),
            _ if entry.user_words().is_some() => (Rank::First, cap::PROMPT),
            Item::Reply(_) if last_reply == Some(at) => (Rank::Frame, cap::LAST_REPLY),
            Item::Reply(_) if is_closing => (Rank::Strong, cap::CLOSING_REPLY),
            Item::Reply(_) => (Rank::Moderate, cap::REPLY),
            Item::Plan(_) => (rank_of(weight), cap::PLAN),
            Item::Recap(_) => (Rank::Moderate, cap::RECAP),
            Item::Todos(_) | Item::Task(_) | Item::Outcome(_) | Item::Title(_) => continue,
            _ => (rank_of(weight), cap::TOOL),
        };
        let needed = rank <= Rank::First || is_closing;
        if weight < 0.3 && !needed || repeats_edit(&mut all, entry) {
            continue;
        }
        all.push(Candidate { at, rank, weight, entry, cap, repeats: 0 });
    }
    all
}

fn rank_of(weight: f64) -> Rank {
    if weight >= 0.8 { Rank::Strong } else { Rank::Moderate }
}

/// One line stands for all uneventful changes to a file in a row of tool uses.
fn repeats_edit(all: &mut [Candidate<'_>], entry: &Entry) -> bool {
    let Some(path) = quiet_edit(entry) else { return false };
    let same =
        all.iter_mut().rev().take_while(|c| matches!(c.entry.item, Item::Tool(_))).find(|c| quiet_edit(c.entry) == Some(path));
    same.map(|c| c.repeats += 1).is_some()
}

fn quiet_edit(entry: &Entry) -> Option<&str> {
    match &entry.item {
        Item::Tool(ToolUse { file: Some(file), .. }) if entry.outcome.as_ref().is_none_or(|o| o.ok) => Some(&file.path),
        _ => None,
    }
}

/// The last reply before each of the user's turns, and the last of all: where the assistant says how it went.
pub fn closing_replies(session: &Session) -> Vec<usize> {
    let mut closing = Vec::new();
    let mut last = None;
    for (at, entry) in session.entries.iter().enumerate().filter(|(_, e)| e.is_main()) {
        match &entry.item {
            Item::Reply(_) => last = Some(at),
            Item::Prompt(_) => closing.extend(last.take()),
            _ => {}
        }
    }
    closing.extend(last);
    closing
}

fn line(session: &Session, candidate: &Candidate<'_>, scale: f64) -> String {
    let cap = ((candidate.cap as f64 * scale) as usize).max(SHORTEST);
    let who = if candidate.entry.is_main() { "" } else { "subagent " };
    match &candidate.entry.item {
        Item::Prompt(text) => format!("user: {}", one_line(&head_and_tail(text, cap))),
        Item::Answer(text) => format!("user answered: {}", one_line(&head_and_tail(text, cap))),
        Item::Reply(text) => format!("{who}assistant: {}", gist(text, cap)),
        Item::Plan(text) => format!("plan: {}", gist(text, cap)),
        Item::Recap(text) => format!("recap: {}", gist(text, cap)),
        Item::Away(text) => format!("recap: {}", gist(text, cap)),
        Item::PullRequest(url) => format!("pull request {url}"),
        Item::Interrupted => "the user interrupted".into(),
        Item::Tool(tool) => format!("{who}{}", tool_line(session, tool, candidate.entry.outcome.as_ref(), candidate.repeats, cap)),
        Item::Todos(_) | Item::Task(_) | Item::Outcome(_) | Item::Title(_) => String::new(),
    }
}

/// A tool use with its outcome, in one line.
pub fn tool_line(session: &Session, tool: &ToolUse, outcome: Option<&Outcome>, repeats: usize, cap: usize) -> String {
    let deed = match &tool.file {
        Some(file) => file_line(session, file, repeats),
        None if tool.name == "Bash" => format!("$ {}", tool.line),
        None if tool.line.is_empty() => tool.name.clone(),
        None => format!("{}: {}", tool.name, tool.line),
    };
    let deed = shorten(&one_line(&deed), cap * 2 / 3);
    match outcome {
        Some(o) if signal::has_failed(o) => format!("{deed} → FAILED {}", shorten(&o.brief, cap / 2)),
        Some(o) if !o.brief.is_empty() => format!("{deed} → {}", shorten(&o.brief, cap / 2)),
        _ => deed,
    }
}

fn file_line(session: &Session, file: &FileTouch, repeats: usize) -> String {
    let verb = match file.how {
        Touch::Read => "read",
        Touch::Edited => "edited",
        Touch::Written => "wrote",
    };
    let times = if repeats > 0 { format!(" ({} times)", repeats + 1) } else { String::new() };
    format!("{verb} {}{times}", session.relative(&file.path))
}

/// The weightiest sentences of a text, in their order, within `max` characters.
pub fn gist(text: &str, max: usize) -> String {
    let all = sentences(text);
    let whole = all.join(" ");
    if whole.chars().count() <= max {
        return whole;
    }
    let mut order: Vec<usize> = (0..all.len()).collect();
    let value = |at: usize| weight(&all[at]) + if at == 0 { 0.1 } else { 0.0 };
    order.sort_by(|a, b| value(*b).total_cmp(&value(*a)).then(a.cmp(b)));
    let mut kept = vec![false; all.len()];
    let mut used = 0;
    for at in order {
        let size = all[at].chars().count() + 1;
        if used + size <= max {
            used += size;
            kept[at] = true;
        }
    }
    if used == 0 {
        return shorten(&whole, max);
    }
    all.iter().zip(kept).filter(|(_, keep)| *keep).map(|(s, _)| s.as_str()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Project;
    use proptest::prelude::*;

    fn entry(at: usize, item: Item) -> Entry {
        Entry { key: RowKey([at as u8; 16]), at: Some(at as i64), agent: None, item, outcome: None }
    }

    fn session(items: Vec<Item>) -> Session {
        Session {
            id: "s".into(),
            project: Project { key: "/r".into() },
            cwd: None,
            branches: vec![],
            versions: vec![],
            end_reason: None,
            entries: items.into_iter().enumerate().map(|(at, item)| entry(at, item)).collect(),
            usage: Default::default(),
            agents: 0,
        }
    }

    fn edit(path: &str) -> Item {
        let file = FileTouch { path: path.into(), how: Touch::Edited, added: 1, removed: 1 };
        Item::Tool(ToolUse { id: String::new(), name: "Edit".into(), line: path.into(), file: Some(file) })
    }

    #[test]
    fn numbers_stand_for_rows_and_repeated_edits_for_one_line() {
        let items = vec![
            Item::Prompt("fix it".into()),
            edit("/r/a.rs"),
            edit("/r/a.rs"),
            Item::Reply("Fixed the cursor in `a.rs`.".into()),
        ];
        let condensed = condense(&session(items), 4000);
        assert_eq!(condensed.text, "[1] user: fix it\n[2] edited a.rs (2 times)\n[3] assistant: Fixed the cursor in `a.rs`.\n");
        assert_eq!(condensed.rows, [RowKey([0; 16]), RowKey([1; 16]), RowKey([3; 16])]);
    }

    proptest! {
        #[test]
        fn the_budget_holds_and_the_users_words_and_the_end_are_in(replies in prop::collection::vec("[a-z ]{20,200}\\. All tests passed\\.", 1..40), budget in 2_000usize..6_000) {
            let mut items = vec![Item::Prompt("please mend the pagination".into())];
            items.extend(replies.into_iter().map(Item::Reply));
            items.push(Item::Reply("It is mended: the cursor was wrong.".into()));
            let condensed = condense(&session(items), budget);
            prop_assert!(condensed.text.chars().count() <= budget);
            prop_assert!(condensed.text.starts_with("[1] user: please mend the pagination"));
            prop_assert!(condensed.text.ends_with("assistant: It is mended: the cursor was wrong.\n"));
            prop_assert_eq!(condensed.text.lines().count(), condensed.rows.len());
        }
    }
}
