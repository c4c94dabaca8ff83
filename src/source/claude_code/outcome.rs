//! Reduces a tool's output to the few lines that say how it went. The output itself is not stored.

use super::dialog;
use super::fields::{Field, LineFields, RawBlock, RawContent, ToolResult, text_of};
use super::verdict::{is_verdict, may_be_verdict, may_hold_verdict};
use crate::analyze::shell;
use crate::analyze::signal::{APPROVED, REFUSED, is_decision_of_user};
use crate::model::session::{Evidence, Item, Outcome, Todo};
use crate::privacy::{SHOWN_BYTES, Sanitizer};
use crate::source::json::{self, Raw};
use crate::text::clean::{one_line, shorten};

/// Longest stored part of an output, in characters.
const MAX_BRIEF_CHARS: usize = 360;
const MAX_LINE_CHARS: usize = 180;

/// The items of a `tool_result` block and the id of its tool use: how it ended, and the user's words if the result carries any.
pub(super) fn items_of_block(block: &RawBlock<'_>, fields: &LineFields<'_>) -> (String, Vec<Item>) {
    let (result, sanitizer) = (&fields.result, fields.sanitizer);
    let id = block.tool_use_id.and_then(json::text).unwrap_or_default().into_owned();
    // An MCP server's tool may print the same words as the client's dialogs.
    let is_clients = fields.raw(Field::McpMeta).is_none();
    let mut items = Vec::new();
    if let Some(reason) = dialog::refusal(block, fields) {
        items.push(ended(&id, false, REFUSED));
        items.extend(dialog::refusal_answers(&reason, sanitizer).into_iter().map(Item::Answer));
    } else if is_clients
        && !block.is_error
        && result.plan.is_some()
        && block.content.map(text_of).is_some_and(|t| dialog::approves(&t))
    {
        items.push(ended(&id, true, APPROVED));
    } else {
        items.extend(of_output(&id, !block.is_error, block.content, sanitizer).map(Item::Outcome));
        items.extend(printed(&id, !block.is_error, block.content, fields));
        if is_clients {
            items.extend(dialog::answers(result, sanitizer).into_iter().map(Item::Answer));
            items.extend(dialog::choices(result, sanitizer).into_iter().map(|choice| Item::Evidence(Evidence::Choice(choice))));
        }
        items.extend(created_task(result, sanitizer));
    }
    (id, items)
}

/// What a command printed that is evidence of something, if it is one that waits for its output.
pub(super) fn printed(id: &str, ok: bool, output: Option<Raw<'_>>, fields: &LineFields<'_>) -> Option<Item> {
    let kinds = fields.runs.and_then(|runs| runs.of(id)).filter(|kinds| kinds.git || kinds.check)?;
    let output = fields.sanitizer.output(&output.map(text_of).unwrap_or_default(), |_| true);
    Some(Item::Evidence(Evidence::Printed(shell::printed(id, ok, &output, kinds))))
}

fn ended(tool: &str, ok: bool, brief: &str) -> Item {
    Item::Outcome(Outcome { tool: tool.to_owned(), ok, brief: brief.to_owned() })
}

/// How a tool use with this output ended; `None` if it succeeded without a notable result.
pub(super) fn of_output(tool: &str, ok: bool, output: Option<Raw<'_>>, sanitizer: &Sanitizer) -> Option<Outcome> {
    // Most outputs are code or listings: they are ruled out before they are decoded.
    if ok && !output.is_some_and(may_hold_result) {
        return None;
    }
    of_text(tool, ok, &output.map(text_of).unwrap_or_default(), sanitizer)
}

fn of_text(tool: &str, ok: bool, output: &str, sanitizer: &Sanitizer) -> Option<Outcome> {
    // What recall prints itself, and what the client adds for the model, is removed by the sanitizer first.
    let brief = if ok {
        verdict(&sanitizer.output(output, |text| text.lines().any(may_be_verdict)))
    } else {
        complaint(&sanitizer.output(output, |_| true))
    };
    // A tool that prints our words for the user's decision has not made one.
    let mut outcome = Outcome { tool: tool.to_owned(), ok, brief };
    if is_decision_of_user(&outcome) {
        outcome.brief = format!("\"{}\"", outcome.brief);
    }
    (!ok || !outcome.brief.is_empty()).then_some(outcome)
}

fn may_hold_result(output: Raw<'_>) -> bool {
    // Of an output that is cut, part of a line may be a verdict.
    output.get().len() > 2 * SHOWN_BYTES
        || match output.get().as_bytes().first() {
            Some(b'"') => may_hold_verdict(output),
            _ => RawContent::of(output).blocks.iter().filter_map(RawBlock::words).any(may_hold_verdict),
        }
}

/// The last lines of a successful output that state a result: tests, builds, commits, pull requests.
fn verdict(output: &str) -> String {
    let mut telling: Vec<&str> = output.lines().rev().filter(|l| is_verdict(l)).take(3).collect();
    // The last lines count, as earlier verdicts are parts of them; they are shown in order.
    telling.reverse();
    shorten(&telling.into_iter().map(short_line).collect::<Vec<_>>().join(" | "), MAX_BRIEF_CHARS)
}

/// The exit code and the lines of a failed output that say what went wrong, or else its first two and last lines.
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
    let code = exit_code(&output).map(|code| format!("exit code {code}"));
    let told = code.into_iter().chain(chosen.into_iter().map(|i| short_line(lines[i])));
    shorten(&told.collect::<Vec<_>>().join(" | "), MAX_BRIEF_CHARS)
}

/// The exit code, which the client writes on the first line.
fn exit_code(output: &str) -> Option<i32> {
    output.trim_start().lines().next()?.strip_prefix("Exit code ")?.trim().parse().ok()
}

fn short_line(line: &str) -> String {
    shorten(&one_line(line), MAX_LINE_CHARS)
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

/// A task that the client created, with its number.
fn created_task(result: &ToolResult<'_>, sanitizer: &Sanitizer) -> Option<Item> {
    let [id, subject] = json::fields(result.task.filter(|t| json::is_object(*t))?.get(), &["id", "subject"]).ok()?;
    let text = shorten(&one_line(&sanitizer.clean(&json::text(subject?)?)), MAX_LINE_CHARS);
    Some(Item::Task(Todo { id: json::text(id?)?.into_owned(), text, status: String::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_backslash_before_an_n_ends_no_line() {
        let text = "see\nhttp://x\\new/pull/1";
        let json = serde_json::to_string(text).expect("a string");
        let seen = of_output("t", true, Raw::of(&json).ok(), &Sanitizer::shipped());
        assert!(seen.is_some() && seen == of_text("t", true, text, &Sanitizer::shipped()), "{seen:?}");
    }

    proptest! {
        #[test]
        fn an_output_that_is_left_undecoded_says_nothing(
            text in "(1|12 |passed|FAILED|3 errors|pas|sed|\n|\r\n|\t| |\u{a0}|\u{200b}|\x1b\\[0m|\x07|<private>|</ Private>|<system-reminder>|</system-reminder>|<b>|OK|ok |ok  \t|--- fail|\\[main abc1234\\] |http://x/|/pull/1|é|→|\\\\|\"|x){0,12}",
        ) {
            let json = serde_json::to_string(&text).expect("a string");
            let blocks = format!(r#"[{{"type":"text","text":{json}}},{{"type":"image"}}]"#);
            let decoded = of_text("t", true, &text, &Sanitizer::shipped());
            for json in [&json, &blocks] {
                prop_assert_eq!(of_output("t", true, Raw::of(json).ok(), &Sanitizer::shipped()), decoded.clone(), "{:?}", text);
            }
        }
    }
}
