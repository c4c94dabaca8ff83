//! Steps of each kind, and what is kept of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{Item, Record, Touch, Turn};
use crate::source::test_rows::{self, place, told};
use crate::source::{ParsedLine, TranscriptIdentity};

fn of_shop() -> TranscriptIdentity {
    TranscriptIdentity { cwd: Some("/p/shop".into()), ..place(Client::Windsurf, "s1", None) }
}

fn parsed(rows: &[Value], cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    test_rows::parsed(rows, &of_shop(), cuts)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(rows, &of_shop())
}

fn step(kind: &str, held: &Value) -> Value {
    json!({"type": kind, "status": "done", kind: held})
}

fn asks(text: &str) -> Value {
    step("user_input", &json!({"user_response": text, "rules_applied": {"always_on": ["moonstone.md"]}}))
}

fn says(text: &str) -> Value {
    step("planner_response", &json!({"response": text}))
}

fn ran(command: &str, code: i64, output: &str) -> Value {
    let held = json!({"command": command, "cwd": "/p/shop", "exit_code": code, "output": output, "user_rejected": false});
    step("run_command", &held)
}

#[test]
fn what_is_said_and_done_is_kept() {
    let mut listed = step("list_resources", &json!({"server_name": "memory"}));
    listed["status"] = "error".into();
    let read = records(&[
        asks("Rename it in @[a.rs] "),
        says("I will."),
        step("view_file", &json!({"path": "file:///p/shop/my%20a.rs", "content": "moonstone", "start_line": 0, "end_line": 1})),
        step("code_action", &json!({"path": "/p/shop/a.rs", "original_content": "a\nb\nc\n", "new_content": "a\nx\ny\nc\n"})),
        step("code_action", &json!({"path": "file:///p/shop/b.rs", "new_content": "w\n"})),
        ran("cargo test", 101, "error: could not compile"),
        step("run_command", &json!({"command": "git push", "cwd": "/p/shop", "user_rejected": true})),
        step("grep_search_v2", &Value::Null),
        json!({"type": "grep_search_v2", "status": "done", "grep_search": {"query": "total", "search_path": "file:///p/shop"}}),
        step("find", &json!({"pattern": "*.rs", "search_directory": "/p/shop", "output": "moonstone", "total_results": 1})),
        step("mcp_tool", &json!({"tool_name": "log", "arguments": "{\"path\": \"a.rs\"}", "result": "moonstone"})),
        listed,
    ]);
    assert_eq!(
        told(&read),
        [
            "Rename it in @a.rs",
            "I will.",
            "view_file /p/shop/my a.rs",
            "code_action /p/shop/a.rs",
            "code_action /p/shop/b.rs",
            "run_command cargo test",
            "exit code 101 | error: could not compile",
            "ran",
            "error: could not compile",
            "run_command git push",
            crate::session::REFUSED,
            "grep_search total · /p/shop",
            "find *.rs · /p/shop",
            "mcp__log a.rs",
            "list_resources ",
            "",
        ]
    );
    assert_eq!((read[0].at, read[0].cwd.as_deref()), (None, Some("/p/shop")));
    let of_item = |item: &Item| {
        if let Item::Tool(tool) = item { tool.file.as_ref().map(|file| (file.how, file.added, file.removed)) } else { None }
    };
    let touched: Vec<_> = read.iter().flat_map(|row| &row.items).filter_map(of_item).collect();
    assert_eq!(touched, [(Touch::Read, 0, 0), (Touch::Edited, 2, 1), (Touch::Written, 1, 0)]);
}

#[test]
fn a_step_is_known_again_once_it_has_ended_and_what_is_said_twice_is_two() {
    let going = step("run_command", &json!({"command": "cargo test", "cwd": "/p/shop", "user_rejected": false}));
    let before = records(&[asks("go on"), going]);
    let after = records(&[asks("go on"), ran("cargo test", 0, "test result: ok. 3 passed"), asks("go on")]);
    assert_eq!((before[0].key, before[1].key), (after[0].key, after[1].key));
    assert_ne!(after[0].key, after[2].key);
    assert_eq!(before[1].parts[0], after[1].parts[0]);
    assert!(before[1].answered.is_empty() && after[1].answered.len() == 1);
    assert!(before[1].parts.iter().all(|part| after[1].parts.contains(part)), "{:?}", after[1].parts);
}

#[test]
fn a_private_prompt_and_an_unknown_step_say_so() {
    let read = records(&[asks("<private>the customer is Zoe</private>")]);
    assert_eq!((read[0].turn, read[0].items.len()), (Turn::BeginsPrivate, 0));
    assert_eq!(parsed(&[step("hologram", &json!({}))], |_| false), [ParsedLine::Unknown("hologram".into())]);
    assert!(matches!(parsed(&[json!({"type": "user_input", "status": "done"})], |_| false)[..], [ParsedLine::Link(_)]));
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0usize..3, 0..60), cuts in prop::collection::vec(any::<bool>(), 61)) {
        let one = |kind: &usize| match kind {
            0 => asks("go on"),
            1 => ran("cargo test", 1, "no"),
            _ => says("Done."),
        };
        let rows: Vec<Value> = kinds.iter().map(one).collect();
        prop_assert_eq!(parsed(&rows, |n| cuts.get(n).copied().unwrap_or(false)), parsed(&rows, |_| false));
    }
}
