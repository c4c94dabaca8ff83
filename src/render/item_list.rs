//! Lists what was stored of a session and why, one item per line, to explain what a digest was made from.
//!
//! Pure. Used only by `recall show --items` and its tests.

use serde::Serialize;

use crate::analyze::condense::tool_line;
use crate::analyze::distinct::{DistinctEntry, distinct_entries};
use crate::analyze::prose::sentences;
use crate::analyze::signal::{MemoryKind, Tier, signal_of_sentence};
use crate::model::session::{Item, Millis, RecordKey, Session};
use crate::text::clean::{one_line, shorten};

/// A stored item with the values that decide how it is used.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ItemSummary {
    pub(crate) at: Option<Millis>,
    /// 0 to 1.
    pub(crate) importance: f64,
    pub(crate) tier: Tier,
    pub(crate) kind: MemoryKind,
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
        kind: signal.kind,
        rule: signal.rule,
        times: one.times(),
        agent: one.entry.agent.clone(),
        text: shorten(&one_line(&text(session, &one)), max),
        rows: one.rows,
    }
}

/// The text of an item; for a reply, its most important sentence.
fn text(session: &Session, one: &DistinctEntry<'_>) -> String {
    match &one.entry.item {
        Item::Reply(text) => key_sentence(text),
        Item::Answer(answer) => answer.whole(),
        Item::Prompt(text) | Item::Plan(text) | Item::Recap(text) | Item::Away(text) => text.clone(),
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

fn key_sentence(text: &str) -> String {
    let all = sentences(text);
    let best = all.iter().max_by(|a, b| {
        let importance = |s: &str| signal_of_sentence(s).map_or(0.0, |signal| signal.importance);
        importance(a).total_cmp(&importance(b))
    });
    best.cloned().unwrap_or_else(|| text.to_owned())
}
