//! What a tool's output says about how it went, in a few lines. The output itself is not kept.

use super::user::text_of;
use crate::clean::{one_line, shorten};
use crate::privacy::Gate;
use crate::session::{Item, Outcome, Todo};
use crate::source::json::{self, Raw};

/// Longest kept part of an output, in characters.
const MAX_BRIEF: usize = 360;
const MAX_LINE: usize = 180;

/// Phrases with which the client says that the user refused, and what the user said after them.
const REFUSED: &str = "The user doesn't want to proceed with this tool use";
const REASONS: [&str; 2] = ["the user said:", "provided the following reason for the rejection:"];
const NOTE: &str = "\n\nNote: The user's next message";

/// What a `tool_result` block adds, and to which tool use: how that ended, and the user's word where the result carries it.
pub(super) fn of_block(block: Raw<'_>, result: Option<Raw<'_>>, gate: &Gate) -> Option<(String, Vec<Item>)> {
    const NAMES: [&str; 4] = ["type", "tool_use_id", "is_error", "content"];
    let [kind, id, is_error, content] = json::fields(block.get(), &NAMES).ok()?;
    if kind.and_then(json::text)? != "tool_result" {
        return None;
    }
    let id = id.and_then(json::text).unwrap_or_default().into_owned();
    let text = content.map(text_of).unwrap_or_default();
    let failed = json::flag(is_error);
    let mut items = Vec::new();
    if failed && text.contains(REFUSED) {
        items.push(Item::Outcome(Outcome { tool: id.clone(), ok: false, brief: "refused by the user".into() }));
        items.extend(reason(&text, gate).map(Item::Answer));
    } else {
        items.extend(of_text(&id, !failed, &text, gate).map(Item::Outcome));
        items.extend(result.and_then(|r| answers(r, gate)).map(Item::Answer));
        items.extend(result.and_then(|r| created_task(r, gate)));
    }
    Some((id, items))
}

/// How a tool use with this output ended; `None` when it went well and said nothing telling.
pub(super) fn of_text(tool: &str, ok: bool, output: &str, gate: &Gate) -> Option<Outcome> {
    // What we print ourselves, and what the client adds for the model, is no outcome.
    let output = gate.output(output);
    let brief = if ok { verdict(&output) } else { complaint(&output) };
    (!ok || !brief.is_empty()).then(|| Outcome { tool: tool.to_owned(), ok, brief })
}

/// The lines of a successful output that tell a result: tests, builds, commits, pull requests.
fn verdict(output: &str) -> String {
    let telling: Vec<String> = output.lines().filter(|l| is_verdict(l)).map(short_line).collect();
    // The last word counts; earlier verdicts are parts of it.
    let from = telling.len().saturating_sub(3);
    shorten(&telling[from..].join(" | "), MAX_BRIEF)
}

/// The lines of a failed output that say what went wrong; else its first and last.
fn complaint(output: &str) -> String {
    let output = output.replace("<tool_use_error>", "").replace("</tool_use_error>", "");
    let says_something = |l: &&str| l.chars().any(char::is_alphanumeric) && !l.starts_with("Exit code ");
    let lines: Vec<&str> = output.lines().map(str::trim).filter(says_something).collect();
    let mut chosen: Vec<usize> = (0..lines.len()).filter(|i| is_complaint(lines[*i])).take(3).collect();
    chosen.extend((0..lines.len()).rev().find(|i| is_verdict(lines[*i])));
    if chosen.is_empty() {
        chosen.extend((0..lines.len().min(2)).chain(lines.len().checked_sub(1)));
    }
    chosen.sort_unstable();
    chosen.dedup();
    shorten(&chosen.into_iter().map(|i| short_line(lines[i])).collect::<Vec<_>>().join(" | "), MAX_BRIEF)
}

fn short_line(line: &str) -> String {
    shorten(&one_line(line), MAX_LINE)
}

/// Does a line of output state the result of a test run, a build, a commit or a push?
pub(crate) fn is_verdict(line: &str) -> bool {
    let line = line.trim();
    // What Python's unittest says when all is well.
    if line == "OK" {
        return true;
    }
    if line.len() < 4 || line.len() > 400 {
        return false;
    }
    // Most lines of most outputs are code or listings: those without a number can only be a verdict by their first word.
    is_commit(line) || starts_like_verdict(line) || line.bytes().any(|b| b.is_ascii_digit()) && counts_results(line)
}

fn starts_like_verdict(line: &str) -> bool {
    const STARTS: [&str; 12] = [
        "test result:", "ok  \t", "fail\t", "failed (", "ok (", "--- fail", "build succeeded", "build failed",
        "compiled successfully", "all checks passed", "no issues found", "failed to compile",
    ];
    let starts = |start: &&str| line.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    STARTS.iter().any(starts)
        || matches!(line, "FAILED" | "PASSED" | "failed" | "passed")
        || starts(&"would reformat")
        || starts(&"ok ") && line.contains('/')
        || line.starts_with("http") && line.contains("/pull/")
}

/// `12 passed`, `3 errors`: a number before a word for results.
fn counts_results(line: &str) -> bool {
    const RESULTS: [&str; 11] =
        ["passed", "failed", "failing", "passing", "errors", "error", "warnings", "issues", "problems", "tests", "skipped"];
    let lower = line.to_lowercase();
    RESULTS.iter().any(|word| number_before(&lower, word))
}

/// `[branch abc1234] message`, as git prints after a commit.
fn is_commit(line: &str) -> bool {
    let Some((head, _)) = line.strip_prefix('[').and_then(|l| l.split_once("] ")) else { return false };
    head.rsplit(' ').next().is_some_and(|hash| (7..=40).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Is there a number right before `word`, as in `12 passed`?
fn number_before(lower: &str, word: &str) -> bool {
    lower.match_indices(word).any(|(at, _)| {
        let before = lower[..at].trim_end();
        before.len() < at && before.ends_with(|c: char| c.is_ascii_digit())
    })
}

/// Does a line say what went wrong?
fn is_complaint(line: &str) -> bool {
    const MARKS: [&str; 26] = [
        "error", "fail", "panic", "exception", "traceback", "not found", "cannot", "can't", "could not", "couldn't", "denied",
        "undefined", "expected", "assert", "no such", "invalid", "fatal", "unable", "missing", "refused", "timed out", "timeout",
        "unexpected", "conflict", "rejected", "not allowed",
    ];
    let lower = line.to_lowercase();
    line.len() < 600 && MARKS.iter().any(|mark| lower.contains(mark))
}

/// The reason a user gave for refusing a tool use.
fn reason(text: &str, gate: &Gate) -> Option<String> {
    let after = REASONS.iter().find_map(|mark| text.split_once(mark).map(|(_, after)| after))?;
    let said = gate.clean(after.split(NOTE).next().unwrap_or(after));
    (!said.is_empty()).then(|| shorten(&said, super::MAX_TEXT))
}

/// Questions the assistant put to the user, with the answers given.
fn answers(result: Raw<'_>, gate: &Gate) -> Option<String> {
    if !json::is_object(result) {
        return None;
    }
    let [questions, given] = json::fields(result.get(), &["questions", "answers"]).ok()?;
    let given = given.filter(|g| json::is_object(g))?;
    let pairs = json::elements(questions?).into_iter().filter_map(|question| {
        let [asked] = json::fields(question.get(), &["question"]).ok()?;
        let asked = json::text(asked?)?;
        let [answer] = json::fields(given.get(), &[&asked]).ok()?;
        Some(format!("{} → {}", one_line(&gate.clean(&asked)), one_line(&gate.clean(&text_of(answer?)))))
    });
    let all = pairs.collect::<Vec<_>>().join("\n");
    (!all.is_empty()).then_some(all)
}

/// The number the client gave a task it created.
fn created_task(result: Raw<'_>, gate: &Gate) -> Option<Item> {
    let [task] = json::fields(result.get(), &["task"]).ok()?;
    let [id, subject] = json::fields(task.filter(|t| json::is_object(t))?.get(), &["id", "subject"]).ok()?;
    let text = shorten(&one_line(&gate.clean(&json::text(subject?)?)), MAX_LINE);
    Some(Item::Task(Todo { id: json::text(id?)?.into_owned(), text, status: String::new() }))
}
