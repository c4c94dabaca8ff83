//! Lists what was stored of a session and why, one item per line, to explain what a digest was made from.
//!
//! Pure. Used only by `recall show --items` and its tests.

use serde::Serialize;

use crate::analyze::condense::tool_line;
use crate::analyze::distinct::{DistinctEntry, distinct_entries};
use crate::analyze::signal::Tier;
use text::clean::{one_line, shorten};
use transcripts::session::{Item, Millis, RecordKey, Session};

/// A stored item with the values that decide how it is used.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ItemSummary {
    pub(crate) at: Option<Millis>,
    /// 0 to 1.
    pub(crate) importance: f64,
    pub(crate) tier: Tier,
    /// What row it is: `prompt`, `reply`, `tool` …
    pub(crate) kind: &'static str,
    /// The rule that determined the importance.
    pub(crate) rule: &'static str,
    /// How many times the session says it.
    pub(crate) times: usize,
    pub(crate) rows: Vec<RecordKey>,
    /// The subagent that said or did it, if any.
    pub(crate) agent: Option<String>,
    pub(crate) text: String,
}

/// The distinct items of a session, in order; texts are cut to `max` characters.
pub(crate) fn list_items(session: &Session, max: usize) -> Vec<ItemSummary> {
    distinct_entries(session).into_iter().map(|one| item_summary(session, one, max)).collect()
}

fn item_summary(session: &Session, one: DistinctEntry<'_>, max: usize) -> ItemSummary {
    let signal = one.signal;
    ItemSummary {
        at: one.entry.at,
        // Importances are products: round them to two digits.
        importance: (signal.importance * 100.0).round() / 100.0,
        tier: signal.tier(),
        kind: one.entry.item.kind(),
        rule: signal.rule,
        times: one.times(),
        agent: one.entry.agent.clone(),
        text: shorten(&one_line(&text(session, &one)), max),
        rows: one.rows,
    }
}

fn text(session: &Session, one: &DistinctEntry<'_>) -> String {
    match &one.entry.item {
        Item::Answer(answer) => answer.whole(),
        Item::Reply(text) if text.is_empty() => "(hidden: `recall wrong` lists it)".to_owned(),
        Item::Prompt(text) | Item::Reply(text) | Item::Plan(text) | Item::Recap(text) | Item::Away(text) => text.clone(),
        Item::PullRequest(url) => url.clone(),
        Item::Tool(tool) => tool_line(session, tool, one.entry.outcome.as_ref(), 0, 400),
        Item::Title(title) => title.text.clone(),
        Item::Todos(todos) => todos.iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join("; "),
        Item::Task(task) => [task.id.as_str(), task.text.as_str(), task.status.as_str()].join(" "),
        Item::Outcome(outcome) => outcome.brief.clone(),
        Item::Interrupted => "interrupted".into(),
        Item::Evidence(evidence) => evidence.texts().join("; "),
    }
}
