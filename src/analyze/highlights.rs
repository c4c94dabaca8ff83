//! The highlights of a session, in transcript order: the user's words and the most important of the rest. Pure.

use std::collections::BTreeMap;

use crate::analyze::condense::{closing_replies, gist, tool_line};
use crate::analyze::signal::{Signal, Tier, signal_of};
use crate::model::session::{Entry, Item, RecordKey, Session, title_of_plan};
use crate::text::clean::shorten;

/// A highlight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Highlight<'s> {
    pub(crate) entry: &'s Entry,
    /// The 1-based prompt number, if it is a prompt.
    pub(crate) number: Option<usize>,
}

/// The `most` most important entries, and those as important as the next one; in transcript order.
pub(crate) fn highlights(session: &Session, most: usize) -> Vec<Highlight<'_>> {
    let is_state = |e: &Entry| matches!(e.item, Item::Title(_) | Item::Todos(_) | Item::Task(_) | Item::Outcome(_));
    let closing = closing_replies(session);
    let weighed = session.entries.iter().enumerate().filter(|(_, e)| !is_state(e)).map(|(at, e)| {
        // The last reply of a turn says how it went, whatever its wording.
        let signal = signal_of(e);
        (e, if closing.contains(&at) { signal.at_least(0.5) } else { signal })
    });
    let all: Vec<(&Entry, Signal)> = weighed.filter(|(_, signal)| signal.tier() > Tier::None).collect();
    let mut weights: Vec<f64> = all.iter().map(|(_, signal)| signal.importance).collect();
    weights.sort_by(|a, b| b.total_cmp(a));
    let least = weights.get(most).copied().unwrap_or(0.0);
    let numbers: BTreeMap<RecordKey, usize> = session.prompts().enumerate().map(|(at, (entry, _))| (entry.key, at + 1)).collect();
    let weighty = all.into_iter().filter(|(_, signal)| signal.importance >= least);
    weighty.map(|(entry, _)| Highlight { entry, number: numbers.get(&entry.key).copied() }).collect()
}

/// How parts of a line are marked up for its destination.
pub(crate) struct Markup {
    pub(crate) words: fn(&str) -> String,
    pub(crate) command: fn(&str) -> String,
    /// Marks the speaker.
    pub(crate) who: fn(&str) -> String,
}

/// An entry on one line; its text is shortened to `max` characters before it is marked up.
pub(crate) fn line(session: &Session, entry: &Entry, max: usize, markup: &Markup) -> String {
    let Markup { words, command, who } = markup;
    let agent = if entry.is_main() { "" } else { "subagent: " };
    match &entry.item {
        Item::Prompt(text) => format!("{} {}", who("user"), words(&shorten(text, max))),
        Item::Answer(answer) => format!("{} {}", who("user answered"), words(&answer.told(max))),
        Item::Reply(text) => format!("{agent}{}", words(&gist(text, max))),
        Item::Plan(text) if entry.is_refused_plan() => format!("refused plan: {}", words(&shorten(title_of_plan(text), max))),
        Item::Plan(text) => format!("plan: {}", words(&gist(text, max))),
        Item::Recap(text) | Item::Away(text) => format!("recap: {}", words(&gist(text, max))),
        Item::PullRequest(url) => format!("pull request {}", words(url)),
        Item::Tool(tool) => format!("{agent}{}", command(&tool_line(session, tool, entry.outcome.as_ref(), 0, max))),
        Item::Interrupted => "the user interrupted".into(),
        Item::Todos(todos) => {
            format!("to do: {}", words(&shorten(&todos.iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join("; "), max)))
        }
        Item::Task(task) => format!("task: {}", words(&shorten(&task.text, max))),
        Item::Outcome(outcome) => format!("{agent}{}", words(&shorten(&outcome.brief, max))),
        Item::Title(title) => format!("title: {}", words(&shorten(&title.text, max))),
        Item::Evidence(_) => String::new(),
    }
}
