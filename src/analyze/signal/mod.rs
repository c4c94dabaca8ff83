//! Rates what is worth remembering: each item and each sentence gets a kind, an importance from 0 to 1, and the rule behind them.

mod english;
mod kind;
pub(crate) mod language;
mod phrases;
mod tools;

use std::sync::LazyLock;

pub(crate) use kind::{MemoryKind, Signal, Tier};
pub(crate) use phrases::{SentenceTopic, is_about, is_announcement, is_filler, is_offer, opens_next_steps, topics};
pub(crate) use tools::{has_failed, is_check, is_commit, may_fail, only_inspects};

use self::language::Matcher;
use crate::analyze::prose::{report_end, sentences, unquoted, unquoted_keeping_code};
use transcripts::session::{Entry, Item, Outcome, REFUSED, ToolClass, ToolUse, Touch};

/// The supported languages, each tried in turn.
static LANGUAGES: LazyLock<Vec<Matcher>> = LazyLock::new(|| vec![Matcher::new(&english::ENGLISH)]);

/// Rates a sentence; `None` if it matches no rule. Quotations and others' decisions that it reports do not count as its decision.
pub(crate) fn signal_of_sentence(sentence: &str) -> Option<Signal> {
    let signal = signal_in(&LANGUAGES, &unquoted_keeping_code(sentence))?;
    if signal.kind != MemoryKind::Decision {
        return Some(signal);
    }
    let own = unquoted(sentence);
    match report_end(&own) {
        Some(clause) => clause.and_then(|at| signal_in(&LANGUAGES, &own[at..])),
        None => signal_in(&LANGUAGES, &own),
    }
}

fn signal_in(languages: &[Matcher], sentence: &str) -> Option<Signal> {
    let found = languages.iter().filter_map(|language| language.rule(sentence));
    let signals = found.filter_map(|rule| Some(Signal { kind: rule.kind?, importance: rule.importance, rule: rule.name }));
    signals.max_by(|a, b| a.importance.total_cmp(&b.importance))
}

/// Rates an item. A text rates as its most important sentence.
pub(crate) fn signal_of(entry: &Entry) -> Signal {
    let signal = match &entry.item {
        Item::Prompt(_) | Item::Answer(_) => Signal::new(MemoryKind::Said, "the user's words"),
        Item::Interrupted => Signal { kind: MemoryKind::Said, importance: 0.5, rule: "the user interrupted" },
        Item::Plan(_) if entry.is_refused_plan() => Signal::new(MemoryKind::Talk, "a plan that was refused"),
        Item::Plan(_) => Signal::new(MemoryKind::Decision, "a plan"),
        Item::Away(_) => Signal::new(MemoryKind::Account, "the client's account"),
        Item::Recap(_) => Signal { kind: MemoryKind::Account, importance: 0.6, rule: "a compaction's recap" },
        Item::PullRequest(_) => Signal::new(MemoryKind::Check, "a pull request"),
        Item::Reply(text) => signal_of_text(text),
        Item::Tool(tool) => signal_of_tool(tool, entry.outcome.as_ref()),
        Item::Title(_) | Item::Todos(_) | Item::Task(_) | Item::Outcome(_) | Item::Evidence(_) => {
            Signal::new(MemoryKind::State, "state")
        }
    };
    // A subagent's findings reach the conversation through its parent's words, and its prompts are not the user's, so they rate
    // lower. Changes it made are changes.
    if entry.is_main() || signal.kind == MemoryKind::Change {
        signal
    } else {
        Signal { importance: signal.importance * 0.6, ..signal }
    }
}

fn signal_of_text(text: &str) -> Signal {
    let all = sentences(text);
    let signals = all.iter().filter_map(|sentence| signal_of_sentence(sentence));
    signals.max_by(|a, b| a.importance.total_cmp(&b.importance)).unwrap_or(Signal::new(MemoryKind::Talk, "nothing special"))
}

fn signal_of_tool(tool: &ToolUse, outcome: Option<&Outcome>) -> Signal {
    let failed = outcome.is_some_and(has_failed);
    let looks = tool.is_shell() && only_inspects(&tool.line);
    match (&tool.file, tool.class()) {
        _ if outcome.is_some_and(|o| o.brief == REFUSED) => Signal::new(MemoryKind::Decision, "refused by the user"),
        (_, class) if class.is_no_memory() => Signal::new(MemoryKind::Chatter, "the client's bookkeeping"),
        (Some(file), _) if failed && file.how > Touch::Read => {
            Signal { importance: 0.5, ..Signal::new(MemoryKind::Error, "an edit that did not apply") }
        }
        (Some(_), _) if failed => Signal::new(MemoryKind::Consulted, "a file that could not be read"),
        (Some(file), _) if file.how > Touch::Read => Signal::new(MemoryKind::Change, "a file created or changed"),
        (Some(_), _) => Signal::new(MemoryKind::Consulted, "a file read"),
        (None, ToolClass::Shell) if looks => Signal::new(MemoryKind::Consulted, "a command that only looks"),
        (None, ToolClass::Shell) if failed && !may_fail(&tool.line) => Signal::new(MemoryKind::Error, "a command that failed"),
        (None, ToolClass::Shell) if is_commit(tool) => Signal::new(MemoryKind::Check, "a commit or a push"),
        (None, ToolClass::Shell) if is_check(tool) && outcome.is_some() => {
            Signal::new(MemoryKind::Check, "a test or build outcome")
        }
        (None, ToolClass::Shell | ToolClass::Subagent) => Signal::new(MemoryKind::Command, "a command"),
        (None, _) if tool.is_of_server() => Signal::new(MemoryKind::Command, "a command"),
        _ => Signal::new(MemoryKind::Consulted, "something looked for"),
    }
}

/// How informative a sentence is compared to others of its text, from 0 to 1: its topics, its names, numbers and paths, and its
/// importance.
///
/// [`signal_of`] decides whether something is kept and what it precedes; this only ranks sentences that compete for space.
pub(crate) fn weight(sentence: &str) -> f64 {
    weight_of(sentence, &topics(sentence))
}

/// The same, if the topics are known already.
pub(crate) fn weight_of(sentence: &str, topics: &[SentenceTopic]) -> f64 {
    if is_filler(sentence) {
        return 0.05;
    }
    let by_topic = |topic: &SentenceTopic| match topic {
        SentenceTopic::Cause | SentenceTopic::Decision => 0.35,
        SentenceTopic::Blocker | SentenceTopic::Next => 0.3,
        SentenceTopic::Outcome => 0.25,
        SentenceTopic::Done | SentenceTopic::Lesson => 0.2,
    };
    let topical: f64 = topics.iter().map(by_topic).sum();
    let judged = signal_of_sentence(sentence).map_or(0.0, |signal| signal.importance);
    (0.15 + 0.8 * topical + 0.15 * judged + concreteness(sentence)).min(1.0)
}

/// Up to 0.35 for code spans, paths, numbers and hashes.
fn concreteness(sentence: &str) -> f64 {
    let code = sentence.matches('`').count() / 2;
    let named = sentence
        .split_whitespace()
        .filter(|w| w.contains('/') || w.contains('_') || w.chars().any(|c| c.is_ascii_digit()) || is_dotted(w))
        .count();
    (0.06 * (code + named) as f64).min(0.35)
}

/// `config.toml`, `Vec.push`, `v1.2`, but not the end of a sentence.
fn is_dotted(word: &str) -> bool {
    word.starts_with(char::is_alphanumeric) && word.contains('.') && !word.ends_with('.')
}

#[cfg(test)]
mod tests;
