//! What carries weight: the kind and the importance (0 to 1) of items and of sentences, by tables.
//!
//! English; another language is another table.

use crate::session::{Entry, Item, Outcome, ToolUse, Touch};

/// What a sentence is about. Several can hold; the first that fits in the order of `ORDER` is its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    Next,
    Blocker,
    Decision,
    Cause,
    Outcome,
    Done,
    Lesson,
}

/// Phrases of lower-cased sentences, by topic. A phrase that starts or ends with a space wants a word's edge there.
const PHRASES: &[(Topic, &[&str])] = &[
    (
        Topic::Next,
        &[
            " next step",
            " next:",
            " next up",
            " next,",
            " to do:",
            " todo:",
            " to-do",
            " remaining",
            " still need",
            " still to ",
            " not yet ",
            " left to do",
            " follow-up",
            " follow up",
            " you'll need to",
            " you will need to",
            " you'll want to",
            " would you like",
            " want me to",
            " shall i",
            " should i ",
            " let me know",
            " pending",
            " when you're ready",
            " not pushed",
            " not committed",
            " uncommitted",
            " haven't ",
            " hasn't been",
            " before merging",
            " out of scope",
            " future work",
            " could be added",
            " worth ",
            " if you want",
            " if you'd like",
            " say the word",
            " happy to ",
            " needs to be ",
            " need to be ",
            " wasn't ",
            " not been ",
            " unpushed",
        ],
    ),
    (
        Topic::Blocker,
        &[
            " blocked",
            " blocker",
            " waiting for",
            " waiting on",
            " needs your",
            " still fail",
            " not possible",
            " permission denied",
            " unable to",
            " can't proceed",
            " cannot proceed",
            " requires manual",
            " couldn't ",
            " could not ",
            " doesn't work",
            " does not work",
            " unresolved",
            " remains broken",
            " no access",
        ],
    ),
    (
        Topic::Decision,
        &[
            " decided",
            " decision",
            " instead of",
            " rather than",
            " opted",
            " chose ",
            " chosen",
            " going with",
            " go with ",
            " we'll use",
            " will use ",
            " prefer",
            " agreed",
            " trade-off",
            " tradeoff",
            " switch to",
            " switched to",
            " keep the ",
            " kept the ",
            " dropped ",
            " on purpose",
            " deliberately",
            " intentionally",
            " recommend",
            " so that ",
            " the approach",
            " by design",
            " option a",
            " option b",
            " option c",
            " not needed",
            " no longer ",
            " declined",
            " reverted",
            " left as is",
            " left alone",
        ],
    ),
    (
        Topic::Cause,
        &[
            " root cause",
            " the issue was",
            " the issue is",
            " the problem was",
            " the problem is",
            " because",
            " caused by",
            " turns out",
            " turned out",
            " the bug ",
            " due to",
            " the reason",
            " culprit",
            " happens when",
            " that's why",
            " which means",
            " explains",
            " silently",
            " never ",
            " was missing",
            " is missing",
            " mismatch",
            " regression",
            " leak",
            " race ",
            " wrong ",
        ],
    ),
    (
        Topic::Outcome,
        &[
            " passed",
            " passing",
            " tests pass",
            " all tests",
            " all pass",
            " green",
            " failed",
            " failing",
            " lint",
            " build ",
            " builds ",
            " committed",
            " pushed",
            " merged",
            " pull request",
            " pr #",
            " released",
            " deployed",
            " commit ",
            " verified",
            " coverage",
            " exit code",
            " 0 issues",
        ],
    ),
    (
        Topic::Done,
        &[
            " fixed",
            " added",
            " created",
            " implemented",
            " updated",
            " removed",
            " renamed",
            " refactored",
            " replaced",
            " migrated",
            " moved",
            " wrote",
            " introduced",
            " configured",
            " installed",
            " changed",
            " extracted",
            " now ",
            " done",
            " completed",
            " resolved",
            " supports",
            " extended",
            " rewrote",
            " deleted",
            " set up",
            " simplified",
            " handles",
        ],
    ),
    (
        Topic::Lesson,
        &[
            " note that",
            " important",
            " gotcha",
            " caveat",
            " discovered",
            " found that",
            " actually",
            " learned",
            " only works",
            " requires ",
            " limitation",
            " workaround",
            " remember",
            " keep in mind",
            " convention",
            " must ",
            " always ",
            " means ",
            " confirmed",
            " found ",
        ],
    ),
];

/// Starts of sentences that announce what the next tool use shows anyway, or only please.
const CHATTER: &[&str] = &[
    "let me ",
    "now let me",
    "i'll ",
    "now i'll",
    "i will ",
    "now i need",
    "i need to",
    "let's ",
    "great",
    "perfect",
    "excellent",
    "sure",
    "okay",
    "ok,",
    "now let's",
    "good,",
    "looking at",
    "i'm going to",
    "next, i'll",
    "first, let me",
    "you're right",
    "you're absolutely",
    "i can see",
    "i see",
    "good question",
    "here's ",
    "here is ",
    "here are ",
    "now update",
    "now i ",
];

/// The topics of a sentence.
pub fn topics(sentence: &str) -> Vec<Topic> {
    let lower = padded(sentence);
    PHRASES.iter().filter(|(_, phrases)| phrases.iter().any(|p| lower.contains(p))).map(|(topic, _)| *topic).collect()
}

pub fn is_about(sentence: &str, topic: Topic) -> bool {
    let lower = padded(sentence);
    PHRASES.iter().any(|(t, phrases)| *t == topic && phrases.iter().any(|p| lower.contains(p)))
}

/// Lower case, words parted by single spaces, a space at both ends, so that a phrase finds the edges of words.
fn padded(sentence: &str) -> String {
    let mut lower = String::with_capacity(sentence.len() + 2);
    lower.push(' ');
    for c in sentence.chars() {
        match c {
            '*' | '`' | '"' | '(' | ')' | '[' | ']' => {}
            '\u{2019}' => lower.push('\''),
            _ => lower.extend(c.to_lowercase()),
        }
    }
    lower.push(' ');
    lower
}

/// Does a sentence only announce or please?
pub fn is_chatter(sentence: &str) -> bool {
    let lower = sentence.trim_start_matches(['*', '#', ' ', '-']).to_lowercase().replace('\u{2019}', "'");
    CHATTER.iter().any(|start| lower.starts_with(start)) && sentence.chars().count() < 160
        || lower.ends_with(':') && lower.len() < 60
}

/// How much a sentence tells, 0 to 1: its topics, and the names, numbers and paths in it.
pub fn weight(sentence: &str) -> f64 {
    if is_chatter(sentence) {
        return 0.05;
    }
    let by_topic = |topic: &Topic| match topic {
        Topic::Cause | Topic::Decision => 0.35,
        Topic::Blocker | Topic::Next => 0.3,
        Topic::Outcome => 0.25,
        Topic::Done | Topic::Lesson => 0.2,
    };
    let topical: f64 = topics(sentence).iter().map(by_topic).sum();
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
    if outcome.brief == REFUSED || outcome.brief.starts_with(CANCELLED) {
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

/// Programs that look at things. That one finds nothing is no failure of the work.
const LOOKING: &[&str] = &[
    "ls",
    "cat",
    "find",
    "grep",
    "rg",
    "head",
    "tail",
    "which",
    "pwd",
    "cd",
    "echo",
    "wc",
    "sed",
    "awk",
    "tree",
    "stat",
    "file",
    "type",
    "sleep",
    "kill",
    "pkill",
    "curl",
    "open",
    "git log",
    "git show",
    "git diff",
    "git status",
    "git remote",
    "git branch",
    "git rev-parse",
    "gh run",
    "gh pr view",
];

/// Does a command only look?
pub fn only_looks(command: &str) -> bool {
    LOOKING.iter().any(|program| command.strip_prefix(program).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

/// Does a sentence offer or ask rather than state?
pub fn is_offer(sentence: &str) -> bool {
    const OFFERS: &[&str] = &[
        " want me to",
        " would you like",
        " let me know",
        " shall i",
        " should i ",
        " if you want",
        " if you'd like",
        " say the word",
        " happy to ",
        " when you're ready",
    ];
    let lower = padded(sentence);
    sentence.trim_end().ends_with('?') || OFFERS.iter().any(|offer| lower.contains(offer))
}

/// Does a sentence say how far things were at its time? Later turns make it history.
pub fn is_progress(sentence: &str) -> bool {
    let lower = padded(sentence);
    [" yet", " haven't ", " hasn't ", " not been ", " wasn't "].iter().any(|mark| lower.contains(mark))
}

/// Does the user take back or turn down what was just done?
pub fn refuses(prompt: &str) -> bool {
    const REFUSALS: &[&str] = &[
        "no,",
        "no ",
        "no.",
        "don't ",
        "dont ",
        "do not ",
        "revert",
        "undo",
        "stop",
        "wait",
        "not like that",
        "that's wrong",
        "can you revert",
    ];
    let lower = prompt.trim_start().to_lowercase().replace('\u{2019}', "'");
    REFUSALS.iter().any(|start| lower.starts_with(start))
        || lower.len() < 120 && (lower.contains("revert") || lower.contains("undo "))
}

/// Does a sentence say that something is not committed or pushed yet? A later commit makes it history.
pub fn awaits_commit(sentence: &str) -> bool {
    const AWAITING: &[&str] = &[
        "uncommitted",
        "not committed",
        "isn't committed",
        "haven't committed",
        "not yet committed",
        "hasn't been committed",
        "unpushed",
        "not pushed",
        "haven't pushed",
        "to commit",
        "commit the change",
        "commit it",
        "commit and push",
        "commit + push",
    ];
    let lower = padded(sentence);
    AWAITING.iter().any(|mark| lower.contains(mark))
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

/// A sentence, and what the heading or the line above its list announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub text: String,
    pub under: Option<Topic>,
}

/// The sentences of a text, each with what stands above it: items under "Left to do:" are next steps whatever their words.
pub fn outline(text: &str) -> Vec<Said> {
    let mut all = Vec::new();
    let mut under = None;
    for block in unfenced(text) {
        let announces = is_heading(block) || block.trim_end_matches('*').ends_with(':');
        let item = is_item(block);
        if announces && !item {
            under = [Topic::Next, Topic::Blocker, Topic::Decision].into_iter().find(|t| is_about(block, *t));
        } else if !item && !block.starts_with(' ') {
            under = None;
        }
        all.extend(sentences(block).into_iter().map(|text| Said { text, under }));
    }
    all
}

/// Lines outside of code blocks that hold words.
fn unfenced(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        in_code ^= fence;
        !fence && !in_code && line.chars().any(char::is_alphanumeric)
    })
}

fn is_item(line: &str) -> bool {
    let bare = line.trim_start();
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    bare.starts_with(['-', '*', '+', '•', '|']) && !bare.starts_with("**") || digits > 0 && bare[digits..].starts_with(['.', ')'])
}

/// A heading shorter than this only names what follows it, in characters.
const SHORT_HEADING: usize = 48;

fn is_heading(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("**") && line.ends_with("**") && line.matches("**").count() == 2
}

/// The sentences and list items of a text, without markup, code blocks, headings and tables' rules.
pub fn sentences(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in unfenced(text).map(str::trim) {
        let (bare, whole) = without_markup(line);
        if is_heading(line) && bare.chars().count() < SHORT_HEADING {
            continue;
        }
        if whole { all.push(bare) } else { split_sentences(&bare, &mut all) }
    }
    all
}

/// A line without its markdown, and whether it is a unit by itself: a list item that is short, a table's row.
fn without_markup(line: &str) -> (String, bool) {
    if let Some(row) = line.strip_prefix('|') {
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).filter(|c| !c.is_empty()).collect();
        return (cells.join(" — ").replace("**", ""), true);
    }
    let heading = line.starts_with('#');
    let bare = line.trim_start_matches(['#', '>', ' ', '\t']);
    let item = ["- [x] ", "- [ ] ", "- ", "* ", "• ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark));
    let numbered = bare
        .split_once(['.', ')'])
        .filter(|(n, rest)| !n.is_empty() && n.len() <= 2 && n.bytes().all(|b| b.is_ascii_digit()) && rest.starts_with(' '));
    let is_item = item.is_some() || numbered.is_some();
    let bare = item.or(numbered.map(|(_, rest)| rest)).unwrap_or(bare).trim();
    (bare.replace("**", "").replace("__", ""), heading || is_item && bare.chars().count() < 220)
}

fn split_sentences(line: &str, all: &mut Vec<String>) {
    let mut start = 0;
    let bytes = line.as_bytes();
    for (at, c) in line.char_indices() {
        let ends = matches!(c, '.' | '!' | '?') && bytes.get(at + 1) == Some(&b' ');
        let next_starts =
            line[at..].chars().nth(2).is_some_and(|n| n.is_uppercase() || n == '`' || n == '*' || n == '"' || n.is_numeric());
        // "e.g. Foo", "i.e. X", "vs. Y" do not end a sentence.
        let abbreviation = ["e.g", "i.e", " vs", "etc"].iter().any(|a| line[..at].ends_with(a));
        if ends && next_starts && !abbreviation {
            all.push(line[start..=at].trim().to_owned());
            start = at + 1;
        }
    }
    let rest = line[start..].trim();
    if !rest.is_empty() {
        all.push(rest.to_owned());
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

    #[test]
    fn what_a_list_is_about_stands_above_it() {
        let said = outline("All pass.\n\nLeft to do:\n- The index.\n- The export.\n\nDone otherwise.");
        let under: Vec<_> = said.iter().map(|s| (s.text.as_str(), s.under)).collect();
        let next = Some(Topic::Next);
        assert_eq!(
            under,
            [("All pass.", None), ("Left to do:", next), ("The index.", next), ("The export.", next), ("Done otherwise.", None)]
        );
    }

    #[test]
    fn markup_code_and_rules_of_tables_are_left_out() {
        let text = "## Summary\n\n- **Fixed** the `cursor`. It works.\n1. First\n```rust\nlet x = 1;\n```\n| a | b |\n|---|---|\nSee e.g. Foo. Then stop.";
        assert_eq!(sentences(text), ["Fixed the `cursor`. It works.", "First", "a — b", "See e.g. Foo.", "Then stop."]);
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
