//! Reduces a tool's output to the few lines that say how it went. The output itself is not stored.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::verdict::{is_verdict, may_be_verdict};
use crate::privacy::Sanitizer;
use crate::privacy::raw::RawText;
use crate::session::Outcome;
use text::clean::{one_line, shorten};

/// Longest stored part of an output, in characters.
const MAX_BRIEF_CHARS: usize = 360;
const MAX_LINE_CHARS: usize = 180;
/// No longer line says what went wrong, in bytes.
const MAX_COMPLAINT_BYTES: usize = 600;

/// How a tool use with this output ended, and with which exit code, if the client tells that beside the output; `None` if it succeeded without
/// a notable result.
pub(super) fn of_text<'t>(
    tool: &str,
    ok: bool,
    code: Option<i64>,
    output: impl Into<RawText<'t>>,
    sanitizer: &Sanitizer,
) -> Option<Outcome> {
    // What recall prints itself, and what the client adds for the model, is removed by the sanitizer first.
    let brief = if ok {
        verdict(&sanitizer.output(output, may_hold_verdict))
    } else {
        complaint(code, &sanitizer.output(output, |_| true))
    };
    of_brief(tool, ok, brief)
}

/// The same of an output that is used for more: it comes with it, sanitized.
pub(super) fn with_text<'t>(
    tool: &str,
    ok: bool,
    code: Option<i64>,
    output: impl Into<RawText<'t>>,
    sanitizer: &Sanitizer,
) -> (Option<Outcome>, String) {
    let (text, tells) = sanitizer.any_output(output, may_hold_verdict);
    let brief = match (ok, tells) {
        (true, true) => verdict(&text),
        (true, false) => String::new(),
        (false, _) => complaint(code, &text),
    };
    (of_brief(tool, ok, brief), text)
}

fn may_hold_verdict(output: &str) -> bool {
    output.lines().any(may_be_verdict)
}

fn of_brief(tool: &str, ok: bool, brief: String) -> Option<Outcome> {
    // A tool that prints our words for the user's decision has not made one.
    let mut outcome = Outcome { tool: tool.to_owned(), ok, brief };
    if outcome.is_decision_of_user() {
        outcome.brief = format!("\"{}\"", outcome.brief);
    }
    (!ok || !outcome.brief.is_empty()).then_some(outcome)
}

/// The last lines of a successful output that state a result: tests, builds, commits, pull requests.
fn verdict(output: &str) -> String {
    let mut telling: Vec<&str> = output.lines().rev().filter(|l| is_verdict(l)).take(3).collect();
    // The last lines count, as earlier verdicts are parts of them; they are shown in order.
    telling.reverse();
    shorten(&telling.into_iter().map(short_line).collect::<Vec<_>>().join(" | "), MAX_BRIEF_CHARS)
}

/// The exit code and the lines of a failed output that say what went wrong, or else its first two and last lines.
fn complaint(code: Option<i64>, output: &str) -> String {
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
    let code = code.or_else(|| exit_code(&output)).map(|code| format!("exit code {code}"));
    let told = code.into_iter().chain(chosen.into_iter().map(|i| short_line(lines[i])));
    shorten(&told.collect::<Vec<_>>().join(" | "), MAX_BRIEF_CHARS)
}

/// The exit code that Claude Code writes on the first line.
fn exit_code(output: &str) -> Option<i64> {
    output.trim_start().lines().next()?.strip_prefix("Exit code ")?.trim().parse().ok()
}

pub(super) fn short_line(line: &str) -> String {
    shorten(&one_line(line), MAX_LINE_CHARS)
}

/// Does a line say what went wrong?
fn is_complaint(line: &str) -> bool {
    const MARKS: [&str; 26] = [
        "error", "fail", "panic", "exception", "traceback", "not found", "cannot", "can't", "could not", "couldn't", "denied",
        "undefined", "expected", "assert", "no such", "invalid", "fatal", "unable", "missing", "refused", "timed out", "timeout",
        "unexpected", "conflict", "rejected", "not allowed",
    ];
    static ANY: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let kind = Some(AhoCorasickKind::DFA);
        AhoCorasick::builder().ascii_case_insensitive(true).kind(kind).build(MARKS).ok()
    });
    if line.len() >= MAX_COMPLAINT_BYTES {
        return false;
    }
    // Some letters beyond ASCII have a lower case within it.
    let lower = if line.is_ascii() { Cow::Borrowed(line) } else { line.to_lowercase().into() };
    ANY.as_ref().is_some_and(|any| any.is_match(&*lower))
}
