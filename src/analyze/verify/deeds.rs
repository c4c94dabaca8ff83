//! Whether what a statement says was done is in the session: a command that was run, a file that was changed, a check that was made.
//!
//! - A command that is said to have been run, or with which something was done, has to be a tool use that was not refused, or the user's.
//! - A file that is said to have been changed has to be one that was edited, or named by a command that may have changed it.
//! - What is said to have been checked needs a row that ran something, or words that say so.

use super::speakers::{is_refused, said_by};
use super::tokens::{FixedToken, fixed_tokens, names_file};
use crate::analyze::signal::only_inspects;
use crate::model::section::Section;
use crate::model::session::{Entry, Item, ToolClass, ToolUse, Touch};

/// Words that say that something was run.
const RUNNING: [&str; 12] =
    ["ran", "run", "tried", "used", "executed", "checked", "verified", "verify", "removed", "counted", "formatted", "found"];
/// How a text ends before the command with which something was done.
const DONE_WITH: [&str; 4] = [" with ", " by running ", " using ", " via "];
/// Words that say that something was changed in what follows.
const CHANGING: [&str; 22] = [
    "fixed", "added", "changed", "updated", "extended", "moved", "renamed", "removed", "replaced", "rewritten", "rewrote", "wrote",
    "written", "edited", "implemented", "corrected", "inserted", "created", "repaired", "introduced", "deleted", "documented",
];
/// How a text ends before the file in which something was changed.
const IN_FILE: [&str; 6] = [" in ", " to ", " into ", " from ", " in the ", " to the "];
/// Words behind "was" that change no file.
const UNCHANGED: [&str; 14] = [
    "read", "reviewed", "checked", "left", "kept", "found", "not", "only", "already", "identified", "inspected", "unchanged",
    "untouched", "never",
];
/// Words that say that something was tried out.
const CHECKED: [&str; 5] = ["checked", "tested", "verified", "tried", "confirmed"];
const DENYING: [&str; 6] = ["not", "never", "no", "without", "nobody", "be"];

/// Does a statement say that a command was run which nobody ran?
pub(super) fn ran_otherwise(section: Section, text: &str, entries: &[Entry]) -> bool {
    if !matches!(section, Section::Completed | Section::Investigated) {
        return false;
    }
    let prose = text.split('`').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
    let says_run = prose.split(|c: char| !c.is_alphanumeric()).any(|word| RUNNING.contains(&word));
    let is_program = |code: &str| {
        let first = code.split(' ').next().unwrap_or_default();
        shell_lines(entries).any(|(line, _)| line.split([' ', ';', '&', '|', '(']).any(|word| word == first))
    };
    let ran = |code: &str| {
        let said = |entry: &Entry| matches!(&entry.item, Item::Prompt(prompt) if holds_words(&prompt.to_lowercase(), code));
        shell_lines(entries).any(|(line, refused)| !refused && holds_words(&line, code)) || entries.iter().any(said)
    };
    let parts: Vec<&str> = text.split('`').collect();
    let closed = parts.windows(2).enumerate().filter(|(at, _)| at % 2 == 0 && at + 2 < parts.len());
    let done_with = closed.filter(|(_, pair)| DONE_WITH.iter().any(|end| pair[0].to_lowercase().ends_with(end)));
    let done_with = done_with.flat_map(|(_, pair)| commands(&format!("`{}`", pair[1]))).filter(|code| is_program(code));
    let said_run = if says_run { commands(text) } else { Vec::new() };
    said_run.into_iter().chain(done_with).any(|code| !ran(&code))
}

/// Does a line hold a command, and not only the end of another word?
fn holds_words(line: &str, command: &str) -> bool {
    line.match_indices(command).any(|(at, _)| !line[..at].ends_with(char::is_alphanumeric))
}

/// The commands in a text, in lower case.
fn commands(text: &str) -> Vec<String> {
    let command = |token| match token {
        FixedToken::Code(code) if code.contains(' ') && code.starts_with(char::is_alphabetic) => Some(code),
        _ => None,
    };
    fixed_tokens(text).into_iter().filter_map(command).collect()
}

/// What tools were asked to do, in lower case, and whether the user refused it.
fn shell_lines(entries: &[Entry]) -> impl Iterator<Item = (String, bool)> {
    entries.iter().filter_map(|entry| match &entry.item {
        Item::Tool(tool) => Some((tool.line.to_lowercase(), is_refused(entry))),
        _ => None,
    })
}

/// Does a statement say that a file was changed which nobody changed?
pub(super) fn changed_otherwise(section: Section, text: &str, entries: &[Entry], rows: &[&Entry]) -> bool {
    // What a subagent did need not be seen.
    let is_subagent = |entry: &&Entry| matches!(&entry.item, Item::Tool(tool) if tool.class() == ToolClass::Subagent);
    section == Section::Completed
        && !rows.iter().any(is_subagent)
        && changed_files(text).iter().any(|file| is_unchanged(file, entries))
}

/// The files that a text says to be changed: those it opens with, and those in which something was changed.
fn changed_files(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut at = 0;
    for word in text.split(' ') {
        let (before, after) = (text[..at].to_lowercase(), &text[(at + word.len()).min(text.len())..]);
        at += word.len() + 1;
        let name = word.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '/'));
        let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
        if !names_file(&name.to_lowercase()) {
            continue;
        }
        let mut next = after.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let opens = before.is_empty()
            && match next.next() {
                Some("now") => true,
                Some("was" | "were") => next.next().is_some_and(|word| !UNCHANGED.contains(&word)),
                _ => false,
            };
        let clause = before.rsplit([',', ';', ':']).next().unwrap_or_default();
        let mut words = clause.split(|c: char| !c.is_alphanumeric());
        if opens || IN_FILE.iter().any(|end| clause.ends_with(end)) && words.any(|word| CHANGING.contains(&word)) {
            all.push(name.to_owned());
        }
    }
    all
}

fn is_unchanged(path: &str, entries: &[Entry]) -> bool {
    let path = path.trim_start_matches("./");
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_it = |known: &str| known == path || known.strip_suffix(path).is_some_and(|before| before.ends_with('/'));
    let tools = || {
        entries.iter().filter_map(|entry| match &entry.item {
            Item::Tool(tool) => Some((tool, !is_refused(entry) && entry.outcome.as_ref().is_none_or(|outcome| outcome.ok))),
            _ => None,
        })
    };
    let may_change = |tool: &ToolUse| match (&tool.file, tool.class()) {
        (Some(file), _) => file.how != Touch::Read && is_it(&file.path),
        (None, ToolClass::Shell) => tool.line.contains(name) && !only_inspects(&tool.line),
        (None, ToolClass::Other) => tool.line.contains(name),
        _ => false,
    };
    !tools().any(|(tool, ok)| ok && may_change(tool))
}

/// Does a statement say that something was tried out, while the rows behind it ran nothing and do not say so?
pub(super) fn checked_otherwise(section: Section, text: &str, rows: &[&Entry]) -> bool {
    let words = |text: &str| text.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
    let said = words(text);
    let says_checked =
        said.windows(2).any(|pair| CHECKED.contains(&pair[1].as_str()) && matches!(pair[0].as_str(), "was" | "were"));
    if section != Section::Completed || !says_checked || said.iter().any(|word| DENYING.contains(&word.as_str())) {
        return false;
    }
    let is_proof = |entry: &&Entry| match &entry.item {
        Item::Tool(tool) => tool.file.is_none() && !is_refused(entry),
        _ => words(&said_by(entry)).iter().any(|word| CHECKED.contains(&word.as_str())),
    };
    !rows.iter().any(is_proof)
}
