//! Results of tool uses: how they ended, and the user's words if one carries any.

use super::dialog;
use super::fields::{Field, LineFields, RawBlock, RawContent, ToolResult, text_of};
use crate::privacy::{SHOWN_BYTES, Sanitizer};
use crate::session::{APPROVED, REFUSED};
use crate::session::{Evidence, Item, Outcome, Todo};
use crate::shell;
use crate::source::json::{self, Raw};
use crate::source::outcome::{of_text, short_line, with_text};
use crate::source::verdict::{may_hold_result, may_hold_verdict};

/// The items of a `tool_result` block and the id of its tool use: how it ended, and the user's words if the result carries any.
pub(super) fn items_of_block(block: &RawBlock<'_>, fields: &LineFields<'_>) -> (String, Vec<Item>) {
    let (result, sanitizer) = (&fields.result, fields.sanitizer);
    let id = json::id(block.tool_use_id, sanitizer).unwrap_or_default();
    // An MCP server's tool may print the same words as the client's dialogs.
    let is_clients = fields.raw(Field::McpMeta).is_none();
    let mut items = Vec::new();
    if let Some(reason) = dialog::refusal(block, fields) {
        items.push(ended(&id, false, REFUSED));
        items.extend(dialog::refusal_answers(&reason, sanitizer).into_iter().map(Item::Answer));
    } else if is_clients
        && !block.is_error
        && result.plan.is_some()
        && block.content.map(text_of).is_some_and(|result| result.tells(dialog::approves))
    {
        items.push(ended(&id, true, APPROVED));
    } else {
        items.extend(told_by(&id, !block.is_error, block.content, fields));
        if is_clients {
            items.extend(dialog::answers(result, sanitizer).into_iter().map(Item::Answer));
            items.extend(dialog::choices(result, sanitizer).into_iter().map(|choice| Item::Evidence(Evidence::Choice(choice))));
        }
        items.extend(created_task(result, sanitizer));
    }
    (id, items)
}

/// How a result begins of what the client, one of its rules or a hook kept from running: another tool use of the same message failed, the
/// permission mode prevented it, a rule did.
const NEVER_RAN: [&str; 8] = [
    "Cancelled: ", "Permission for this action ", "Permission to use ", "This command requires", "This Bash command",
    "The user doesn't want", "Blocked: ", "PreToolUse:",
];

pub(super) fn kept_from_running(result: &str) -> bool {
    NEVER_RAN.iter().any(|start| result.starts_with(start))
}

/// How a tool use with this output ended; and what it printed that is evidence of something, if it is a command that waits for its output. Such
/// an output is sanitized once for both.
pub(super) fn told_by(id: &str, ok: bool, output: Option<Raw<'_>>, fields: &LineFields<'_>) -> impl Iterator<Item = Item> {
    let sanitizer = fields.sanitizer;
    let awaited = fields.runs.and_then(|runs| runs.of(id)).filter(|kinds| kinds.git || kinds.check);
    let printed = |text: &str, kinds| Some(Item::Evidence(Evidence::Printed(shell::printed(id, ok, text, kinds))));
    let (outcome, printed) = match awaited {
        None => (of_output(id, ok, output, sanitizer), None),
        // Most lines that checks print tell no result, either.
        Some(kinds) if ok && !kinds.git && !output.is_some_and(|output| may_hold(output, may_hold_result)) => {
            (None, printed("", kinds))
        }
        Some(kinds) => {
            let (outcome, text) = with_text(id, ok, None, output.map(text_of).unwrap_or_default(), sanitizer);
            (outcome, printed(&text, kinds))
        }
    };
    outcome.map(Item::Outcome).into_iter().chain(printed)
}

fn ended(tool: &str, ok: bool, brief: &str) -> Item {
    Item::Outcome(Outcome { tool: tool.to_owned(), ok, brief: brief.to_owned() })
}

/// How a tool use with this output ended; `None` if it succeeded without a notable result.
pub(super) fn of_output(tool: &str, ok: bool, output: Option<Raw<'_>>, sanitizer: &Sanitizer) -> Option<Outcome> {
    // Most outputs are code or listings: they are ruled out before they are decoded.
    if ok && !output.is_some_and(|output| may_hold(output, may_hold_verdict)) {
        return None;
    }
    of_text(tool, ok, None, output.map(text_of).unwrap_or_default(), sanitizer)
}

/// May an output hold what `is_in` looks for in a string of JSON?
fn may_hold(output: Raw<'_>, is_in: fn(Raw<'_>) -> bool) -> bool {
    // Of an output that is cut, part of a line may be what is looked for.
    output.len() > 2 * SHOWN_BYTES
        || match output.is_text() {
            true => is_in(output),
            false => RawContent::of(output).blocks.iter().filter_map(RawBlock::words).any(is_in),
        }
}

/// A task that the client created, with its number.
fn created_task(result: &ToolResult<'_>, sanitizer: &Sanitizer) -> Option<Item> {
    let [id, subject] = json::fields(result.task.filter(|t| json::is_object(*t))?, &["id", "subject"]).ok()?;
    let text = short_line(&sanitizer.clean(&json::text(subject?)?));
    Some(Item::Task(Todo { id: sanitizer.id(json::text(id?)?), text, status: String::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::raw::RawText;
    use crate::session::PendingRuns;
    use proptest::prelude::*;

    #[test]
    fn a_backslash_before_an_n_ends_no_line() {
        let text = "see\nhttp://x\\new/pull/1";
        let json = serde_json::to_string(text).expect("a string");
        let seen = of_output("t", true, Raw::of(&json).ok(), &Sanitizer::shipped());
        assert!(seen.is_some() && seen == of_text("t", true, None, text, &Sanitizer::shipped()), "{seen:?}");
    }

    proptest! {
        #[test]
        fn an_output_of_a_check_that_is_left_undecoded_tells_nothing(
            text in "(1|12 |7, |passed|tests|FAIL|FAILURES|3 errors|issue|doctests|é|Found|Found: 4|Found 5|: 6|[\n ]{0,3}|\n|\r\n|\t|=== |✓ |- |\u{a0}|\u{200b}|\x1b\\[0m|<private>|</ Private>|<b>|OK|ok |ok\t|PASS|error:|error\\[E1\\]|BUILD |Tests:|src/a.rs:1: |\\\\|\"|x|ghp_Tk4RvZq81mXw2LcB7nKd9fHs3jPy6eAu5gQo |password=hunter2secret9 |[0-9]{1,2}|[a-z]{1,3}){0,12}",
        ) {
            let sanitizer = Sanitizer::shipped();
            let run = shell::run("t", "cargo test", true).expect("a check");
            let kinds = run.kinds();
            let mut runs = PendingRuns::default();
            runs.begin(&run);
            let line = RawText::from("{}");
            let mut fields = LineFields::of(&line, &sanitizer).expect("an object");
            fields.runs = Some(&runs);
            let json = serde_json::to_string(&text).expect("a string");
            let blocks = format!(r#"[{{"type":"text","text":{json}}},{{"type":"image"}}]"#);
            for ok in [true, false] {
                let (outcome, decoded) = with_text("t", ok, None, &text, &sanitizer);
                let printed = shell::printed("t", ok, &decoded, kinds);
                let expected: Vec<Item> = outcome.map(Item::Outcome).into_iter().chain([Item::Evidence(Evidence::Printed(printed))]).collect();
                for json in [&json, &blocks] {
                    let told: Vec<Item> = told_by("t", ok, Raw::of(json).ok(), &fields).collect();
                    prop_assert_eq!(&told, &expected, "{:?}", text);
                }
            }
        }

        #[test]
        fn an_output_that_is_left_undecoded_says_nothing(
            text in "(1|12 |passed|FAILED|3 errors|pas|sed|\n|\r\n|\t| |\u{a0}|\u{200b}|\x1b\\[0m|\x07|<private>|</ Private>|<system-reminder>|</system-reminder>|<b>|OK|ok |ok  \t|--- fail|\\[main abc1234\\] |http://x/|/pull/1|é|→|\\\\|\"|x){0,12}",
        ) {
            let json = serde_json::to_string(&text).expect("a string");
            let blocks = format!(r#"[{{"type":"text","text":{json}}},{{"type":"image"}}]"#);
            let decoded = of_text("t", true, None, &text, &Sanitizer::shipped());
            for json in [&json, &blocks] {
                prop_assert_eq!(of_output("t", true, Raw::of(json).ok(), &Sanitizer::shipped()), decoded.clone(), "{:?}", text);
            }
            for ok in [true, false] {
                let (outcome, seen) = with_text("t", ok, None, &text, &Sanitizer::shipped());
                prop_assert_eq!(outcome, of_text("t", ok, None, &text, &Sanitizer::shipped()), "{:?}", text);
                prop_assert_eq!(seen, Sanitizer::shipped().output(&text, |_| true), "{:?}", text);
            }
        }
    }
}
