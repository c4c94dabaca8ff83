//! Lines of each kind, and what is kept of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::chat::answers;
use crate::client::Client;
use crate::session::{Item, Record, Touch, Turn};
use crate::source::ParsedLine;
use crate::source::test_rows::{self, place, told};

fn parsed(rows: &[Value], cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    test_rows::parsed(rows, &place(Client::VscodeCopilot, "9ab", None), cuts)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(rows, &place(Client::VscodeCopilot, "9ab", None))
}

fn line(id: &str, what: &str, said: &Value) -> Value {
    json!({"chat": {"cwd": "/p/shop"}, "id": id, "at": 1_795_000_000_000_u64, what: said})
}

fn asks(id: &str, text: &str) -> Value {
    line(id, "asked", &json!({"text": text, "has_more": false}))
}

fn calls(id: &str, name: &str, given: &Value, ended: &Value) -> Value {
    line(id, "answer", &json!({"call": {"id": id, "name": name, "given": given, "ended": ended}}))
}

/// What is made of the answer to a request.
fn answered(request: &Value) -> Vec<Record> {
    let lines = answers(request).into_iter().enumerate().map(|(n, answer)| line(&format!("r/{n}"), "answer", &answer.said));
    records(&lines.collect::<Vec<_>>())
}

#[test]
fn our_own_tools_have_the_names_that_all_clients_keep() {
    let given = json!({"query": "orders"});
    let read =
        records(&[calls("c1", "mcp_recall_search", &given, &Value::Null), calls("c2", "recall_search", &given, &Value::Null)]);
    assert_eq!(told(&read), ["mcp__recall__search orders"; 2]);
}

#[test]
fn what_is_said_and_done_is_kept() {
    let printed = json!({"output": "test result: FAILED. 0 passed; 1 failed", "code": 101, "refused": null, "failed": null});
    let replacements = json!({"replacements": [{"filePath": "/p/shop/a.rs", "oldString": "x", "newString": "y\nz"}, {"filePath": "b.rs", "oldString": "x", "newString": ""}]});
    let read = records(&[
        asks("1", "Rename it"),
        line("2", "answer", &json!({"text": "I will."})),
        calls("c1", "run_in_terminal", &json!({"command": "cargo test", "isBackground": false}), &printed),
        calls("c2", "multi_replace_string_in_file", &replacements, &Value::Null),
        calls("c3", "create_file", &json!({"filePath": "c.rs", "content": "w"}), &Value::Null),
        calls("c4", "read_file", &json!({"filePath": "/p/shop/a.rs", "startLine": 1}), &json!({"output": "fn main() {}"})),
        calls("c5", "runSubagent", &json!({"description": "look", "prompt": "Look for it"}), &Value::Null),
        calls("c6", "run_in_terminal", &json!({"command": "git push"}), &json!({"refused": true})),
        calls(
            "c7",
            "manage_todo_list",
            &json!({"todoList": [{"id": 1, "title": "Rename", "status": "not-started"}]}),
            &Value::Null,
        ),
        line("u", "used", &json!({"input": 1200, "output": 60, "model": "gpt-5.4"})),
        json!({"chat": {}, "title": "A name"}),
    ]);
    assert_eq!(
        told(&read),
        [
            "Rename it",
            "I will.",
            "run_in_terminal cargo test",
            "exit code 101 | test result: FAILED. 0 passed; 1 failed",
            "ran",
            "test result: FAILED. 0 passed; 1 failed",
            "multi_replace_string_in_file /p/shop/a.rs",
            "multi_replace_string_in_file /p/shop/b.rs",
            "create_file /p/shop/c.rs",
            "read_file /p/shop/a.rs",
            "runSubagent Look for it",
            "run_in_terminal git push",
            crate::session::REFUSED,
            "ran",
            "todos",
            "title",
        ]
    );
    let touched: Vec<_> = read
        .iter()
        .flat_map(|row| &row.items)
        .filter_map(|item| {
            if let Item::Tool(tool) = item { tool.file.as_ref().map(|file| (file.how, file.added, file.removed)) } else { None }
        })
        .collect();
    assert_eq!(touched, [(Touch::Edited, 2, 1), (Touch::Edited, 0, 1), (Touch::Written, 1, 0), (Touch::Read, 0, 0)]);
    let usage = read.iter().find_map(|row| row.usage.clone()).expect("tokens");
    assert_eq!((usage.model.as_str(), usage.tokens.input, usage.tokens.output), ("gpt-5.4", 1200, 60));
}

#[test]
fn a_private_prompt_says_so_and_what_the_editor_asks_is_no_prompt() {
    let read = records(&[asks("1", "<private>the customer is Zoe</private>")]);
    assert_eq!((read[0].turn, read[0].items.len()), (Turn::BeginsPrivate, 0));
    let by_editor = parsed(&[line("1", "asked", &json!({"text": null, "has_more": true}))], |_| false);
    assert!(matches!(by_editor[..], [ParsedLine::Link(_)]), "{by_editor:?}");
    let with_image = records(&[line("1", "asked", &json!({"text": "", "has_more": true}))]);
    assert_eq!(with_image[0].turn, Turn::Begins);
}

#[test]
fn an_answer_is_read_from_its_rounds_and_from_what_was_shown_where_it_has_none() {
    let run = json!({"kind": "toolInvocationSerialized", "toolCallId": "v1", "toolId": "run_in_terminal", "isConfirmed": {"type": 1},
        "toolSpecificData": {"kind": "terminal", "commandLine": {"original": "make test"}, "terminalCommandState": {"exitCode": 2}, "terminalCommandOutput": {"text": "no"}}});
    let shown = json!([{"kind": "thinking", "value": "hm"}, {"value": "I look at "}, {"kind": "inlineReference", "inlineReference": {"path": "/p/shop/a.rs"}},
        {"value": "."}, run, {"kind": "textEditGroup", "uri": {"path": "/p/shop/a.rs"}}, {"kind": "hologram", "value": "?"}, {"value": "Done."}]);
    assert_eq!(
        told(&answered(&json!({"response": shown}))),
        [
            "I look at `a.rs`.", "run_in_terminal make test", "exit code 2 | no", "ran", "",
            "vscode_editFile_internal /p/shop/a.rs", "Done."
        ]
    );
    let rounds = json!([
        {"response": "I run it.", "toolCalls": [{"id": "c1", "name": "run_in_terminal", "arguments": "{\"command\": \"make test\"}"}]},
        {"response": "It fails.", "toolCalls": []},
    ]);
    let results = json!({"c1": {"content": [{"value": {"node": {"children": [{"text": "make: *** failed"}]}}}]}});
    let request = json!({"response": shown, "result": {"metadata": {"toolCallRounds": rounds, "toolCallResults": results}}});
    assert_eq!(
        told(&answered(&request)),
        ["I run it.", "run_in_terminal make test", "exit code 2 | make: *** failed", "ran", "", "It fails."]
    );
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0usize..3, 0..60), cuts in prop::collection::vec(any::<bool>(), 61)) {
        let row = |(n, kind): (usize, &usize)| {
            let id = format!("c{n}");
            match kind {
                0 => asks(&id, "ask"),
                1 => calls(&id, "run_in_terminal", &json!({"command": "cargo test"}), &json!({"output": "2 passed", "code": 0})),
                _ => line(&id, "answer", &json!({"text": "Done."})),
            }
        };
        let rows: Vec<Value> = kinds.iter().enumerate().map(row).collect();
        prop_assert_eq!(parsed(&rows, |n| cuts.get(n).copied().unwrap_or(false)), parsed(&rows, |_| false));
    }
}
