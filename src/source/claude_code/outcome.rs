//! What a tool's output says about how it went, in a few lines. The output itself is not kept.

use super::fields::{Block, ToolResult, text_of};
use crate::clean::{one_line, shorten};
use crate::privacy::Gate;
use crate::session::{Item, Outcome, Todo};
use crate::source::json;

/// Longest kept part of an output, in characters.
const MAX_BRIEF: usize = 360;
const MAX_LINE: usize = 180;

/// Phrases with which the client says that the user refused, and what the user said after them.
const REFUSED: &str = "The user doesn't want to proceed with this tool use";
const REASONS: [&str; 2] = ["the user said:", "provided the following reason for the rejection:"];
const NOTE: &str = "\n\nNote: The user's next message";

/// What a `tool_result` block adds, and to which tool use: how that ended, and the user's word where the result carries it.
pub(super) fn of_block(block: &Block<'_>, result: &ToolResult<'_>, gate: &Gate) -> (String, Vec<Item>) {
    let id = block.tool_use_id.and_then(json::text).unwrap_or_default().into_owned();
    let text = block.content.map(text_of).unwrap_or_default();
    let failed = block.is_error;
    let mut items = Vec::new();
    if failed && text.contains(REFUSED) {
        items.push(Item::Outcome(Outcome { tool: id.clone(), ok: false, brief: "refused by the user".into() }));
        items.extend(reason(&text, gate).map(Item::Answer));
    } else {
        items.extend(of_text(&id, !failed, &text, gate).map(Item::Outcome));
        items.extend(answers(result, gate).map(Item::Answer));
        items.extend(created_task(result, gate));
    }
    (id, items)
}

/// How a tool use with this output ended; `None` when it went well and said nothing telling.
pub(super) fn of_text(tool: &str, ok: bool, output: &str, gate: &Gate) -> Option<Outcome> {
    // What we print ourselves, and what the client adds for the model, is no outcome.
    let brief = if ok {
        gate.output_if(output, may_tell).map(|o| verdict(&o)).unwrap_or_default()
    } else {
        complaint(&gate.output(output))
    };
    (!ok || !brief.is_empty()).then(|| Outcome { tool: tool.to_owned(), ok, brief })
}

/// The lines of a successful output that tell a result: tests, builds, commits, pull requests.
fn verdict(output: &str) -> String {
    let mut telling: Vec<&str> = output.lines().rev().filter(|l| is_verdict(l)).take(3).collect();
    // The last word counts; earlier verdicts are parts of it.
    telling.reverse();
    shorten(&telling.into_iter().map(short_line).collect::<Vec<_>>().join(" | "), MAX_BRIEF)
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
    (4..=400).contains(&line.len()) && (is_commit(line) || starts_like_verdict(line) || counts_results(line))
}

/// Could a line of an output be a verdict once what may not be kept is taken out of it? Most outputs are code or listings, and one look at
/// them is all they are worth. However long a line is: what is taken out makes it shorter.
fn may_tell(output: &str) -> bool {
    let begins = |line: &str| line.starts_with("OK") || is_commit(line) || starts_like_verdict(line);
    let ends = memchr::memchr_iter(b'\n', output.as_bytes());
    counts_results(output) || begins(output.trim_start()) || ends.map(|end| line_at(output, end + 1)).any(begins)
}

/// The line that begins here, without the white space around it.
fn line_at(text: &str, start: usize) -> &str {
    let indent = text.as_bytes()[start..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let line = &text[start + indent..];
    // Most lines begin like no verdict: only of others the end is looked for.
    if may_begin(line) { line.lines().next().unwrap_or_default().trim() } else { "" }
}

/// Does a line begin with a sign that verdicts begin with, or with white space of other scripts?
fn may_begin(line: &str) -> bool {
    line.bytes().next().is_some_and(|b| b"[tof-bcanwhp".contains(&b.to_ascii_lowercase()) || !b.is_ascii())
}

fn starts_like_verdict(line: &str) -> bool {
    const STARTS: [&str; 13] = [
        "test result:", "ok  \t", "fail\t", "failed (", "ok (", "--- fail", "build succeeded", "build failed",
        "compiled successfully", "all checks passed", "no issues found", "failed to compile", "would reformat",
    ];
    if !may_begin(line) {
        return false;
    }
    let starts = |start: &&str| line.as_bytes().get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()));
    STARTS.iter().any(starts)
        || matches!(line, "FAILED" | "PASSED" | "failed" | "passed")
        || starts(&"ok ") && line.contains('/')
        || line.starts_with("http") && line.contains("/pull/")
}

/// `12 passed`, `3 errors`: a number before a word for results.
fn counts_results(line: &str) -> bool {
    const RESULTS: [&str; 11] =
        ["passed", "failed", "failing", "passing", "errors", "error", "warnings", "issues", "problems", "tests", "skipped"];
    let is_result = |rest: &str| {
        let word = rest.trim_start();
        let starts = |with: &&str| word.as_bytes().get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()));
        word.len() < rest.len() && RESULTS.iter().any(|with| starts(with))
    };
    let mut at = 0;
    while let Some(end) = end_of_number(line.as_bytes(), at) {
        if is_result(&line[end..]) {
            return true;
        }
        at = end;
    }
    false
}

/// The first place from `from` on where a digit is followed by something that may be white space.
fn end_of_number(bytes: &[u8], from: usize) -> Option<usize> {
    const BLOCK: usize = 16;
    let ends = |digit: u8, next: u8| digit.is_ascii_digit() & (next.wrapping_sub(b'!') > b'~' - b'!');
    let mut at = from;
    while let (Some(digits), Some(nexts)) = (bytes.get(at..at + BLOCK), bytes.get(at + 1..at + 1 + BLOCK)) {
        // Without a branch for each byte, so that the compiler takes them at once.
        if digits.iter().zip(nexts).fold(false, |any, (digit, next)| any | ends(*digit, *next)) {
            break;
        }
        at += BLOCK;
    }
    let found = bytes.get(at..)?.windows(2).position(|pair| ends(pair[0], pair[1]));
    found.map(|found| at + found + 1)
}

/// `[branch abc1234] message`, as git prints after a commit.
fn is_commit(line: &str) -> bool {
    let Some((head, _)) = line.strip_prefix('[').and_then(|l| l.split_once("] ")) else { return false };
    head.rsplit(' ').next().is_some_and(|hash| (7..=40).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit()))
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
fn answers(result: &ToolResult<'_>, gate: &Gate) -> Option<String> {
    let given = result.answers.filter(|g| json::is_object(*g))?;
    let pairs = json::elements(result.questions?).into_iter().filter_map(|question| {
        let [asked] = json::fields(question.get(), &["question"]).ok()?;
        let asked = json::text(asked?)?;
        let [answer] = json::fields(given.get(), &[&asked]).ok()?;
        Some(format!("{} → {}", one_line(&gate.clean(&asked)), one_line(&gate.clean(&text_of(answer?)))))
    });
    let all = pairs.collect::<Vec<_>>().join("\n");
    (!all.is_empty()).then_some(all)
}

/// The number the client gave a task it created.
fn created_task(result: &ToolResult<'_>, gate: &Gate) -> Option<Item> {
    let [id, subject] = json::fields(result.task.filter(|t| json::is_object(*t))?.get(), &["id", "subject"]).ok()?;
    let text = shorten(&one_line(&gate.clean(&json::text(subject?)?)), MAX_LINE);
    Some(Item::Task(Todo { id: json::text(id?)?.into_owned(), text, status: String::new() }))
}
