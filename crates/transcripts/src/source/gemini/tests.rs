//! Rows of each kind, and what is kept of them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{Evidence, Item, Record, Touch, Turn};
use crate::source::test_rows::{self, told};
use crate::source::{ParsedLine, TranscriptIdentity};

const ID: &str = "93e7562b-1d7d-4e18-b3ed-b992d462256e";

fn place(agent: Option<&str>) -> TranscriptIdentity {
    TranscriptIdentity { cwd: Some("/p/shop".to_owned()), ..test_rows::place(Client::Gemini, ID, agent) }
}

fn parsed(rows: &[Value], agent: Option<&str>, cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    test_rows::parsed(rows, &place(agent), cuts)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(rows, &place(None))
}

fn message(id: &str, kind: &str, rest: &Value) -> Value {
    let mut row = json!({"id": id, "timestamp": "2026-11-18T10:00:00.000Z", "type": kind});
    for (name, value) in rest.as_object().expect("an object") {
        row[name] = value.clone();
    }
    row
}

fn user(id: &str, text: &str) -> Value {
    message(id, "user", &json!({"content": [{"text": text}]}))
}

fn says(id: &str, text: &str, calls: &Value) -> Value {
    message(id, "gemini", &json!({"content": text, "toolCalls": calls}))
}

fn call(id: &str, name: &str, args: &Value, status: &str, response: &Value) -> Value {
    json!({"id": id, "name": name, "args": args, "status": status,
        "result": [{"functionResponse": {"id": id, "name": name, "response": response}}]})
}

fn ran(id: &str, command: &str, output: &str) -> Value {
    let output = format!("<untrusted_context>\nOutput: {output}\nProcess Group PGID: 114\n</untrusted_context>");
    call(id, "run_shell_command", &json!({"command": command}), "success", &json!({"output": output}))
}

/// What a store holds after these records: each part of a key once, in the order in which it came.
fn stored(records: &[Record]) -> BTreeMap<(String, i64), Item> {
    let mut all = BTreeMap::new();
    for row in records {
        for (part, item) in row.parts.iter().zip(&row.items) {
            all.entry((row.key.to_string(), *part)).or_insert_with(|| item.clone());
        }
    }
    all
}

#[test]
fn what_is_said_and_done_is_kept() {
    let edit = json!({"file_path": "a.rs", "old_string": "x", "new_string": "y\nz"});
    let read = records(&[
        user("1", "Rename it"),
        message(
            "2",
            "gemini",
            &json!({"content": "I will.", "thoughts": [{"subject": "moonstone"}], "model": "gemini-3-pro",
                "tokens": {"input": 1200, "output": 60, "cached": 200, "thoughts": 10, "tool": 5, "total": 1275},
                "toolCalls": [ran("c1", "cargo test", "test result: FAILED. 0 passed; 1 failed\nExit Code: 101")]}),
        ),
        // The same once more, as the client tells its model.
        message("3", "user", &json!({"content": [{"functionResponse": {"id": "c1", "response": {"output": "moonstone"}}}]})),
        says("4", "", &json!([call("c2", "replace", &edit, "error", &json!({"error": "Failed to edit, 0 occurrences found"}))])),
        says(
            "5",
            "",
            &json!([call(
                "c3",
                "run_shell_command",
                &json!({"command": "rm -rf build"}),
                "cancelled",
                &json!({"error": "[Operation Cancelled] Reason: User denied execution."})
            )]),
        ),
        says(
            "6",
            "",
            &json!([call("c4", "mcp_recall_search", &json!({"query": "orders"}), "success", &json!({"output": "3 hits"}))]),
        ),
        message("7", "info", &json!({"content": "moonstone"})),
    ]);
    assert_eq!(
        told(&read),
        [
            "Rename it",
            "I will.",
            "run_shell_command cargo test",
            "exit code 101 | test result: FAILED. 0 passed; 1 failed",
            "ran",
            "test result: FAILED. 0 passed; 1 failed",
            "replace /p/shop/a.rs",
            "Failed to edit, 0 occurrences found",
            "run_shell_command rm -rf build",
            "refused by the user",
            "ran",
            "mcp__recall__search orders",
        ]
    );
    let edited =
        read.iter().flat_map(|row| &row.items).find_map(|item| if let Item::Tool(tool) = item { tool.file.clone() } else { None });
    assert_eq!(edited.map(|file| (file.how, file.added, file.removed)), Some((Touch::Edited, 2, 1)));
    assert_eq!((read[0].turn, read[0].cwd.as_deref()), (Turn::Begins, Some("/p/shop")));
    let usage = read[1].usage.clone().expect("tokens");
    let tokens = usage.tokens;
    assert_eq!((usage.model.as_str(), tokens.input, tokens.cache_read, tokens.output), ("gemini-3-pro", 1005, 200, 70));
}

#[test]
fn a_message_that_comes_again_adds_what_is_new() {
    let pending = json!({"id": "b", "name": "run_shell_command", "args": {"command": "cargo test"}});
    let (a, b) = (ran("a", "cargo build", "Compiling"), ran("b", "cargo test", "test result: ok. 2 passed; 0 failed"));
    let read = records(&[
        says("1", "", &json!(null)),
        says("1", "", &json!([a, pending])),
        says("1", "", &json!([a, b])),
        // Later versions of one that had no text before.
        says("2", "", &json!([a])),
        says("2", "Done.", &json!([a])),
    ]);
    assert!(read.iter().all(|row| row.parts.is_sorted() && row.parts.len() == row.items.len()), "{read:?}");
    let whole = records(&[says("1", "", &json!([a, b])), says("2", "Done.", &json!([a]))]);
    assert_eq!(stored(&read), stored(&whole));
    assert_eq!(stored(&whole).len(), 7 + 4);
}

#[test]
fn what_hooks_told_is_nobody_s_words() {
    let note = "&lt;recall-context&gt;\n- changed src/orders.rs\n&lt;/recall-context&gt;";
    let hook = |text: &str| format!("<hook_context>{text}</hook_context>");
    let first = format!("{}\n\nGo on", hook(note));
    let rows = [
        message(
            "1",
            "user",
            &json!({"content": [{"text": first}, {"text": hook("moonstone")}], "displayContent": [{"text": first}]}),
        ),
        message("2", "user", &json!({"content": [{"text": hook(note)}, {"text": "Go on"}]})),
    ];
    for row in records(&rows) {
        assert!(
            matches!(&row.items[..], [Item::Prompt(said), Item::Evidence(Evidence::Told(names))] if said == "Go on" && !names.is_empty()),
            "{row:?}"
        );
    }
    let alone = records(&[user("1", &hook("moonstone")), user("2", "Write <hook_context>x</hook_context>")]);
    assert_eq!(told(&alone), ["Write <hook_context>x</hook_context>"]);
}

#[test]
fn a_prompt_is_what_the_user_saw() {
    let files = json!([{"text": "Look at @notes.txt"}, {"text": "\n--- Content from referenced files ---"}, {"text": "moonstone"}]);
    let shown = json!({"content": [{"text": "the whole: moonstone"}], "displayContent": "Look at @notes.txt"});
    let read = records(&[message("1", "user", &json!({"content": files})), message("2", "user", &shown)]);
    assert_eq!(told(&read), ["Look at @notes.txt"; 2]);
    let others =
        ["<session_context>\nmoonstone\n</session_context>", "System: Potential loop detected. Details: x", "Please continue."];
    let rows: Vec<Value> = others.iter().map(|text| user(text, text)).collect();
    assert!(parsed(&rows, None, |_| false).iter().all(|line| matches!(line, ParsedLine::Link(_))));
    let image = records(&[message("1", "user", &json!({"content": [{"inlineData": {"data": "x"}}]}))]);
    assert_eq!((image[0].turn, image[0].items.len()), (Turn::Begins, 0));
    let private = records(&[user("1", "<private>the customer is Zoe</private>")]);
    assert_eq!((private[0].turn, private[0].items.len()), (Turn::BeginsPrivate, 0));
}

#[test]
fn a_list_of_messages_has_a_recap_and_no_prompt() {
    let list = json!({"$set": {"messages": [
        user("0", "<session_context>\nx\n</session_context>"),
        message("r", "user", &json!({"content": [{"text": "Orders go by key."}]})),
        message("s", "gemini", &json!({"content": [{"text": "Got it. Thanks for the additional context!"}]})),
        user("copy", "Go on"), message("t", "gemini", &json!({"content": [{"text": "I go on."}]})),
    ]}});
    let resumed = json!({"$set": {"messages": [message("t", "gemini", &json!({"content": [{"text": "I go on."}]}))]}});
    let read = records(&[list.clone(), list, resumed]);
    assert_eq!(told(&read), ["Orders go by key."; 2]);
    assert!(stored(&read).len() == 1 && read[0].turn == Turn::Continues);
}

#[test]
fn a_title_a_list_and_an_answer() {
    let questions = json!({"questions": [{"question": "Which cache?", "header": "Cache"}, {"question": "Where?"}]});
    let answered = json!({"output": "{\"answers\":{\"1\":\"Here\",\"0\":\"Redis\"}}"});
    let private = json!({"output": "{\"answers\":{\"0\":\"<private>Zoe</private>\"}}"});
    let read = records(&[
        json!({"$set": {"summary": "Orders by key", "lastUpdated": "2026-11-18T10:00:00.000Z"}}),
        says(
            "1",
            "",
            &json!([call(
                "t",
                "write_todos",
                &json!({"todos": [{"description": "Cut", "status": "pending"}]}),
                "success",
                &json!({})
            )]),
        ),
        says("2", "", &json!([call("q", "ask_user", &questions, "success", &answered)])),
        says("3", "", &json!([call("p", "ask_user", &questions, "success", &private)])),
        says(
            "4",
            "",
            &json!([call(
                "d",
                "ask_user",
                &questions,
                "success",
                &json!({"output": "User dismissed ask_user dialog without answering."})
            )]),
        ),
    ]);
    assert_eq!(
        told(&read),
        [
            "title", "todos", "ask_user Which cache? / Where?", "Which cache?: Redis", "Where?: Here",
            "ask_user Which cache? / Where?", "ask_user Which cache? / Where?"
        ]
    );
    assert_eq!(read[3].turn, Turn::BeginsPrivate);
}

#[test]
fn a_prompt_that_was_taken_back_has_the_parent_of_the_one_behind_it() {
    let back = |id: &str| json!({"$rewindTo": id});
    let read = records(&[
        user("p1", "one"),
        says("a1", "1", &json!(null)),
        user("p2", "two"),
        says("a2", "2", &json!(null)),
        back("p2"),
        user("p3", "three"),
        says("a3", "3", &json!(null)),
        back("p1"),
        user("p4", "four"),
        back("unknown"),
        user("p5", "five"),
    ]);
    let parent = |said: &str| {
        let of = |row: &&Record| row.items.iter().any(|item| matches!(item, Item::Prompt(text) if text == said));
        read.iter().find(of).expect("the prompt").parent.expect("a parent")
    };
    assert_eq!((parent("three"), parent("four")), (parent("two"), parent("one")));
    let all = [parent("one"), parent("two"), parent("five")];
    assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
}

#[test]
fn a_subagent_has_no_prompts_and_unknown_rows_are_counted() {
    let rows = [
        json!({"sessionId": "a-1", "projectHash": "x", "startTime": "2026-11-18T10:00:00.000Z", "kind": "subagent"}),
        user("1", "Look at it"),
        json!({"$set": {"summary": "moonstone"}}),
        says("2", "It is blue.", &json!(null)),
    ];
    let read = parsed(&rows, Some("a-1"), |_| false);
    assert_eq!(read[..3], [ParsedLine::Empty, ParsedLine::Empty, ParsedLine::Empty]);
    assert!(matches!(&read[3], ParsedLine::Record(row) if row.agent.as_deref() == Some("a-1") && row.session == ID), "{read:?}");
    assert!(matches!(&parsed(&rows, None, |_| false)[0], ParsedLine::SessionStart { session, .. } if session == ID));
    let unknown = parsed(&[message("1", "hologram", &json!({})), json!({"x": 1})], None, |_| false);
    assert_eq!(unknown, [ParsedLine::Unknown("hologram".into()), ParsedLine::Unknown("(no type)".into())]);
}

#[test]
fn what_a_command_printed_is_told_without_what_older_versions_put_around_it() {
    let told_of = |output: &str| {
        let ran = call("c", "run_shell_command", &json!({"command": "cargo test"}), "success", &json!({"output": output}));
        let read = records(&[says("1", "", &json!([ran]))]);
        told(&read)[1].clone()
    };
    let end = "Signal: 0\nBackground PIDs: (none)\nProcess Group PGID: 114";
    let merged = format!("Command: cargo test\nDirectory: (root)\nOutput: no such file\nError: (none)\nExit Code: 101\n{end}");
    assert_eq!(told_of(&merged), "exit code 101 | no such file");
    let apart = format!("Command: a\nDirectory: src\nStdout: one\nStderr: two\nError: (none)\nExit Code: 2\n{end}");
    assert_eq!(told_of(&apart), "exit code 2 | one | two");
    let silent = format!("Command: a\nDirectory: src\nStdout: (empty)\nStderr: gone\nError: (none)\nExit Code: 1\n{end}");
    assert_eq!(told_of(&silent), "exit code 1 | gone");
}

#[test]
fn a_row_of_a_subagent_s_in_a_document_of_the_session_is_its_own() {
    let mut rows = [user("1", "Your task is to look"), says("2", "It is blue.", &json!(null))];
    rows.iter_mut().for_each(|row| row["$subagent"] = json!("1"));
    let read = parsed(&[&rows[..], &[says("3", "I see.", &json!(null))]].concat(), None, |_| false);
    let agent = |line: &ParsedLine| if let ParsedLine::Record(row) = line { row.agent.clone() } else { None };
    assert_eq!(read[0], ParsedLine::Empty);
    assert_eq!(read[1..].iter().map(agent).collect::<Vec<_>>(), [Some("1".to_owned()), None]);
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0usize..7, 0..90), cuts in prop::collection::vec(any::<bool>(), 91)) {
        let row = |(n, kind): (usize, &usize)| match kind {
            0 | 1 => user(&format!("p{n}"), &format!("ask {n}")),
            2 => says(&format!("a{n}"), &format!("say {n}"), &json!(null)),
            3 => says(&format!("a{}", n / 2), "", &json!([ran(&format!("c{n}"), "cargo test", "2 passed")])),
            4 => json!({"$rewindTo": format!("p{}", n / 2)}),
            5 => json!({"$set": {"messages": [user("r", "so far"), says("s", "Got it. Thanks for the additional context!", &json!(null))]}}),
            _ => message(&format!("i{n}"), "info", &json!({})),
        };
        let rows: Vec<Value> = kinds.iter().enumerate().map(row).collect();
        prop_assert_eq!(parsed(&rows, None, |n| cuts.get(n).copied().unwrap_or(false)), parsed(&rows, None, |_| false));
    }

    #[test]
    fn a_row_of_any_shape_is_read(kind in "user|gemini|info|x",
        value in prop_oneof![Just(json!(null)), Just(json!(7)), Just(json!("text")), Just(json!([{"functionCall": 1}, {"functionResponse": []}, [], "x"])),
            Just(json!({"messages": [3, {"id": 1}], "answers": [], "summary": {}})), Just(json!([{"name": "ask_user", "status": "success", "result": 1, "args": 2}]))]) {
        let names = ["$set", "content", "displayContent", "tokens", "toolCalls", "timestamp", "model", "sessionId"];
        let rest: serde_json::Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), value.clone())).collect();
        parsed(&[message("1", &kind, &Value::Object(rest.clone())), Value::Object(rest)], None, |_| false);
    }
}
