//! What carries weight: the importance, 0 to 1, of items and of sentences.

pub mod chatter;
mod phrases;

pub use phrases::{
    Topic, awaits_commit, is_about, is_chatter, is_history, is_offer, is_progress, opens_next_steps, refuses, topics,
};

use crate::prose::sentences;
use crate::session::{Entry, Item, Outcome, ToolUse, Touch};

/// How much a sentence tells, 0 to 1: its topics, and the names, numbers and paths in it.
pub fn weight(sentence: &str) -> f64 {
    weight_of(sentence, &topics(sentence))
}

/// The same, where the topics are known already.
pub fn weight_of(sentence: &str, topics: &[Topic]) -> f64 {
    if is_chatter(sentence) {
        return 0.05;
    }
    let by_topic = |topic: &Topic| match topic {
        Topic::Cause | Topic::Decision => 0.35,
        Topic::Blocker | Topic::Next => 0.3,
        Topic::Outcome => 0.25,
        Topic::Done | Topic::Lesson => 0.2,
    };
    let topical: f64 = topics.iter().map(by_topic).sum();
    (0.15 + topical + concreteness(sentence)).min(1.0)
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

/// `config.toml`, `Vec.push`, `v1.2` — but no end of a sentence.
fn is_dotted(word: &str) -> bool {
    word.starts_with(char::is_alphanumeric) && word.contains('.') && !word.ends_with('.')
}

/// Commands whose outcome says whether the work holds.
const CHECKS: &[&str] = &[
    "test", "check", "lint", "build", "clippy", "tsc", "mypy", "ruff", "eslint", "pytest", "vet", "compile", "make", "fmt", "ty ",
    "tox", "verify", "validate",
];

/// Is a command one that checks the work?
pub fn is_check(tool: &ToolUse) -> bool {
    let command = tool.line.to_lowercase();
    let words = || command.split(|c: char| !c.is_alphanumeric() && c != '_');
    tool.name == "Bash" && CHECKS.iter().any(|check| words().any(|word| word.starts_with(check.trim_end())))
}

pub fn is_commit(tool: &ToolUse) -> bool {
    tool.name == "Bash"
        && (tool.line.contains("git commit") || tool.line.contains("gh pr create") || tool.line.contains("git push"))
}

/// Did a tool use fail, by its result or by what its output says? A refusal by the user is an answer, no failure.
pub fn has_failed(outcome: &Outcome) -> bool {
    if outcome.brief == REFUSED || outcome.brief.starts_with(CANCELLED) || outcome.brief.starts_with(NOT_ALLOWED) {
        return false;
    }
    let brief = outcome.brief.to_lowercase();
    let counted = |what: &str| {
        brief.match_indices(what).any(|(at, _)| {
            let before: String = brief[..at].chars().rev().take_while(|c| c.is_ascii_digit() || *c == ' ').collect();
            before.trim().chars().any(|c| c != '0' && c.is_ascii_digit())
        })
    };
    !outcome.ok
        || brief.contains("--- fail")
        || brief.starts_with("fail")
        || brief.contains("| fail")
        || counted("failed")
        || counted(" errors")
        || counted(" error")
}

pub const REFUSED: &str = "refused by the user";
/// Another tool use of the same message failed; this one never ran.
const CANCELLED: &str = "Cancelled: ";

/// The client's permission mode did not let it run.
const NOT_ALLOWED: &str = "Permission for this action ";

/// Programs that look at things. That one finds nothing is no failure of the work.
const LOOKING: &[&str] = &[
    "ls", "cat", "find", "grep", "rg", "head", "tail", "which", "pwd", "cd", "echo", "wc", "sed", "awk", "tree", "stat", "file",
    "type", "sleep", "kill", "pkill", "curl", "open", "git log", "git show", "git diff", "git status", "git remote", "git branch",
    "git rev-parse", "gh run", "gh pr view",
];

/// Does a command only look?
pub fn only_looks(command: &str) -> bool {
    LOOKING.iter().any(|program| command.strip_prefix(program).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

/// The importance of an item.
pub fn importance(entry: &Entry) -> f64 {
    let inner = match &entry.item {
        Item::Prompt(_) | Item::Answer(_) | Item::Title(_) => 1.0,
        Item::Plan(_) => 0.9,
        Item::Away(_) | Item::PullRequest(_) => 0.9,
        Item::Recap(_) => 0.6,
        Item::Reply(text) => sentences(text).iter().map(|s| weight(s)).fold(0.0, f64::max).min(0.85),
        Item::Tool(tool) => tool_importance(tool, entry.outcome.as_ref()),
        Item::Todos(_) | Item::Task(_) | Item::Interrupted => 0.3,
        Item::Outcome(_) => 0.0,
    };
    // A subagent's findings reach the conversation through its parent's words.
    if entry.is_main() { inner } else { inner * 0.6 }
}

fn tool_importance(tool: &ToolUse, outcome: Option<&Outcome>) -> f64 {
    if let Some(outcome) = outcome {
        if has_failed(outcome) {
            return if is_check(tool) { 1.0 } else { 0.8 };
        }
        if is_check(tool) || is_commit(tool) {
            return 0.9;
        }
    }
    match (&tool.file, tool.name.as_str()) {
        (Some(file), _) if file.how > Touch::Read => 0.7,
        (Some(_), _) => 0.1,
        (None, "Bash") if is_commit(tool) => 0.9,
        (None, "Bash" | "Task" | "Agent" | "WebFetch" | "WebSearch") => 0.5,
        (None, name) if name.starts_with("mcp__") => 0.5,
        _ => 0.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sentences_know_their_topics() {
        for (sentence, topic) in [
            ("The root cause was the OFFSET query.", Topic::Cause),
            ("I decided on keyset pagination.", Topic::Decision),
            ("The admin export still needs the same change; not yet done.", Topic::Next),
            ("All 12 tests pass.", Topic::Outcome),
            ("I'm blocked: the deploy key has no access.", Topic::Blocker),
        ] {
            assert!(is_about(sentence, topic), "{sentence}");
        }
        assert!(!is_about("Store the value in a map.", Topic::Decision));
        assert!(is_chatter("Let me look at the tests."));
    }

    #[test]
    fn a_failure_is_one_in_any_count_and_none_in_no_count() {
        let outcome = |ok, brief: &str| Outcome { tool: String::new(), ok, brief: brief.into() };
        assert!(has_failed(&outcome(true, "2 failed, 10 passed")));
        assert!(has_failed(&outcome(false, "")));
        assert!(!has_failed(&outcome(true, "0 failed, 12 passed")));
        assert!(!has_failed(&outcome(true, "test result: ok. 12 passed; 0 failed")));
        assert!(!has_failed(&outcome(false, REFUSED)));
    }

    proptest! {
        #[test]
        fn weights_are_shares_whatever_the_text(text in "\\PC{0,200}") {
            for sentence in sentences(&text) {
                prop_assert!((0.0..=1.0).contains(&weight(&sentence)));
            }
        }
    }
}
