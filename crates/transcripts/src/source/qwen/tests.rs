//! Rows of each kind, and what is kept of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{Evidence, Item, Record, Touch, Turn};
use crate::source::ParsedLine;
use crate::source::test_rows::{self, place, told};

const ID: &str = "93e7562b-1d7d-4e18-b3ed-b992d462256e";

fn parsed(rows: &[Value], agent: Option<&str>, cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    test_rows::parsed(rows, &place(Client::QwenCode, ID, agent), cuts)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(rows, &place(Client::QwenCode, ID, None))
}

fn row(kind: &str, rest: &Value) -> Value {
    let mut row = json!({"type": kind, "uuid": format!("{kind} {rest}"), "parentUuid": "before", "sessionId": ID,
        "timestamp": "2026-11-18T10:00:00.000Z", "cwd": "/p/shop", "gitBranch": "main", "version": "0.24.4"});
    for (name, value) in rest.as_object().expect("an object") {
        row[name] = value.clone();
    }
    row
}

fn parts(kind: &str, parts: &Value) -> Value {
    row(kind, &json!({"message": {"parts": parts}}))
}

fn call(id: &str, name: &str, args: &Value) -> Value {
    parts("assistant", &json!([{"functionCall": {"id": id, "name": name, "args": args}}]))
}

fn answer(id: &str, name: &str, response: &Value, result: &Value) -> Value {
    let message = json!({"parts": [{"functionResponse": {"id": id, "name": name, "response": response}}]});
    row("tool_result", &json!({"message": message, "toolCallResult": result}))
}

#[test]
fn what_is_said_and_done_is_kept() {
    let output = "Command: cargo test\nDirectory: (root)\nOutput: test result: FAILED. 0 passed; 1 failed\nError: (none)\nExit Code: 101\nSignal: (none)";
    let read = records(&[
        parts(
            "user",
            &json!([{"text": "Rename it"}, {"text": "<qwen:user-prompt-submit-context>\nmoonstone\n</qwen:user-prompt-submit-context>"}]),
        ),
        row(
            "assistant",
            &json!({"model": "qwen3-coder-plus", "usageMetadata": {"promptTokenCount": 1200, "candidatesTokenCount": 60, "cachedContentTokenCount": 200},
                "message": {"parts": [{"text": "hm", "thought": true}, {"text": "I will."},
                    {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": "cargo test", "is_background": false}}}]}}),
        ),
        // Old clients call a command that failed a success.
        answer("c1", "run_shell_command", &json!({"output": output}), &json!({"callId": "c1", "status": "success"})),
        call("c2", "edit", &json!({"file_path": "/p/shop/a.rs", "old_string": "x", "new_string": "y\nz"})),
        answer("c2", "edit", &json!({"error": "File has not been read"}), &json!({"callId": "c2", "status": "error"})),
        call("c3", "run_shell_command", &json!({"command": "rm -rf build"})),
        answer(
            "c3",
            "run_shell_command",
            &json!({"error": "[Operation Cancelled] Reason: User did not allow tool call"}),
            &json!({"callId": "c3", "status": "cancelled"}),
        ),
        row(
            "user",
            &json!({"subtype": "mid_turn_user_message", "message": {"parts": []}, "systemPayload": {"displayText": "and b"}}),
        ),
    ]);
    assert_eq!(
        told(&read),
        [
            "Rename it",
            "I will.",
            "run_shell_command cargo test",
            "ran",
            "exit code 101 | test result: FAILED. 0 passed; 1 failed",
            "test result: FAILED. 0 passed; 1 failed",
            "edit /p/shop/a.rs",
            "File has not been read",
            "run_shell_command rm -rf build",
            "ran",
            "refused by the user",
            "and b",
            "evidence",
        ]
    );
    let edited =
        read.iter().flat_map(|row| &row.items).find_map(|item| if let Item::Tool(tool) = item { tool.file.clone() } else { None });
    assert_eq!(edited.map(|file| (file.how, file.added, file.removed)), Some((Touch::Edited, 2, 1)));
    assert_eq!((read[0].turn, read[0].cwd.as_deref(), read[0].branch.as_deref()), (Turn::Begins, Some("/p/shop"), Some("main")));
    assert_eq!(read.last().map(|row| row.turn), Some(Turn::Joins));
    let usage = read[1].usage.clone().expect("tokens");
    assert_eq!((usage.model.as_str(), usage.tokens.input, usage.tokens.cache_read), ("qwen3-coder-plus", 1000, 200));
}

#[test]
fn a_tool_that_was_looked_for_is_told_as_itself() {
    let call = |name: &str, given: Value| {
        let args = json!({"name": name, "arguments": given});
        parts("assistant", &json!([{"functionCall": {"id": name, "name": "tool_call", "args": args}}]))
    };
    let rows = [call("mcp__recall__search", json!({"query": "orders"})), call("web_fetch", json!({"url": "http://a.example/"}))];
    assert_eq!(told(&records(&rows)), ["mcp__recall__search orders", "web_fetch http://a.example/"]);
}

#[test]
fn a_prompt_is_what_the_user_saw() {
    let shown = json!({"message": {"parts": [{"text": "the whole of @notes.txt: moonstone"}]},
        "systemPayload": {"displayText": "Look at @notes.txt", "hookContext": "moonstone"}});
    let files = json!([{"text": "Look at @notes.txt"}, {"text": "\n--- Content from referenced files ---"}, {"text": "moonstone"}]);
    assert_eq!(told(&records(&[row("user", &shown), parts("user", &files)])), ["Look at @notes.txt"; 2]);
    let others = [
        row("user", &json!({"subtype": "notification", "message": {"parts": [{"text": "moonstone"}]}})),
        row("user", &json!({"provenance": "system", "message": {"parts": [{"text": "moonstone"}]}})),
        parts("user", &json!([{"text": "<task-notification>moonstone</task-notification>"}])),
        row("system", &json!({"subtype": "ui_telemetry", "systemPayload": {"uiEvent": {"response_text": "moonstone"}}})),
    ];
    assert!(parsed(&others, None, |_| false).iter().all(|line| matches!(line, ParsedLine::Link(_))));
    let private = records(&[parts("user", &json!([{"text": "<private>the customer is Zoe</private>"}]))]);
    assert_eq!((private[0].turn, private[0].items.len()), (Turn::BeginsPrivate, 0));
}

#[test]
fn what_a_hook_of_ours_told_is_known_by_its_names_only() {
    for (open, close) in [("<", ">"), ("&lt;", "&gt;")] {
        let hook = format!("{open}recall-context{close}\n- changed src/orders.rs\n{open}/recall-context{close}");
        let prompt =
            json!({"message": {"parts": [{"text": "Go on"}]}, "systemPayload": {"displayText": "Go on", "hookContext": hook}});
        let read = records(&[row("user", &prompt)]);
        let named = read[0].items.iter().any(|item| matches!(item, Item::Evidence(Evidence::Told(names)) if !names.is_empty()));
        assert!(named && !format!("{:?}", read[0].items).contains("changed src"), "{:?}", read[0].items);
    }
}

#[test]
fn a_recap_a_title_a_plan_an_answer_and_a_list() {
    let recap = json!({"subtype": "chat_compression", "systemPayload": {"compressedHistory": [
        {"role": "user", "parts": [{"text": "Orders go by key.\n\nResume the prior task using the summary above. Go on."}]}, {"role": "model", "parts": []}]}});
    let said = "User has provided the following answers:\n\n**Cache**: Redis";
    let read = records(&[
        row("system", &recap),
        row("system", &json!({"subtype": "custom_title", "systemPayload": {"customTitle": "Orders", "titleSource": "manual"}})),
        call("p", "exit_plan_mode", &json!({"plan": "1. Cut"})),
        call("q", "ask_user_question", &json!({"questions": [{"question": "Which cache?", "header": "Cache"}]})),
        answer("q", "ask_user_question", &json!({"output": said}), &json!({"callId": "q", "status": "success"})),
        call("t", "todo_write", &json!({"todos": [{"content": "Cut", "status": "pending", "id": "1"}]})),
    ]);
    assert_eq!(
        told(&read),
        ["Orders go by key.", "title", "1. Cut", "exit_plan_mode plan", "ask_user_question Which cache?", "Cache: Redis", "todos"]
    );
}

#[test]
fn one_answer_that_is_private_takes_the_turn_along() {
    let one = |said: &str| {
        let said = format!("User has provided the following answers:\n\n{said}");
        let answer = answer("q", "ask_user_question", &json!({"output": said}), &json!({"callId": "q", "status": "success"}));
        records(&[call("q", "ask_user_question", &json!({"questions": []})), answer]).pop().expect("a record")
    };
    for said in [
        "**Customer**: <private>Zoe</private>",
        "**Customer**: <private>Zoe</private>\n**Cache**: Redis",
        "**Cache**: Redis\n**Customer**: <private>Zoe\nof the **shop**: hers</private>, thanks",
        "**Cache**: Redis\n**Customer**: <private>Zoe",
    ] {
        let read = one(said);
        assert_eq!((read.turn, read.items.len(), read.answered.len()), (Turn::BeginsPrivate, 0, 1), "{said}: {read:?}");
        assert!(read.fenced.contains("Zoe"), "{said}: {read:?}");
    }
    let partly = one("**Customer**: the <private>Zoe</private> shop\n**Cache**: Redis");
    assert_eq!((partly.turn, partly.items.len()), (Turn::Continues, 2));
}

/// A row about a call of the model.
fn called(n: u64, agent: Option<&str>) -> Value {
    let mut event = json!({"event.name": "qwen-code.api_response", "model": "qwen3-coder-plus", "response_id": n,
        "input_token_count": 1000 + n, "output_token_count": 60, "cached_content_token_count": 200, "thoughts_token_count": 10});
    if let Some(agent) = agent {
        event["subagent_name"] = json!(agent);
    }
    row("system", &json!({"subtype": "ui_telemetry", "systemPayload": {"uiEvent": event}}))
}

#[test]
fn every_call_of_the_model_counts_once() {
    let replied = |n: u64| {
        let usage = json!({"promptTokenCount": 1000 + n, "candidatesTokenCount": 60, "cachedContentTokenCount": 200});
        row("assistant", &json!({"message": {"parts": [{"text": format!("say {n}")}]}, "usageMetadata": usage}))
    };
    let recap = json!({"subtype": "chat_compression", "systemPayload": {"compressedHistory": [{"parts": [{"text": "x"}]}]}});
    // A reply, a subagent at work, a compaction, a reply, the client's own memory, and a reply whose call is told by itself only.
    let rows = [
        called(1, None),
        replied(1),
        called(2, Some("look")),
        called(3, None),
        row("system", &recap),
        called(4, None),
        replied(4),
        called(5, Some("managed-auto-memory-extractor")),
        replied(6),
    ];
    let calls = |rows: &[Value], agent| {
        let records = test_rows::records(rows, &place(Client::QwenCode, ID, agent));
        let used = |row: &Record| row.usage.as_ref().map(|usage| (usage.model.clone(), usage.tokens.input, usage.tokens.output));
        records.iter().filter_map(used).collect::<Vec<_>>()
    };
    let of = |n: u64| ("qwen3-coder-plus".to_owned(), 800 + n, 60);
    assert_eq!(calls(&rows, None), [of(1), of(2), of(3), of(4), of(5), ("unknown".to_owned(), 806, 60)]);
    assert_eq!(calls(&[replied(2)], Some("look-1")), [], "the session's file tells them");
}

#[test]
fn a_subagent_has_no_prompts_and_no_recaps() {
    let rows = [
        parts("user", &json!([{"text": "Look at it"}])),
        row(
            "system",
            &json!({"subtype": "chat_compression", "systemPayload": {"compressedHistory": [{"parts": [{"text": "x"}]}]}}),
        ),
        parts("assistant", &json!([{"text": "It is blue."}])),
    ];
    let read = parsed(&rows, Some("look-1"), |_| false);
    assert_eq!(read[..2], [ParsedLine::Empty, ParsedLine::Empty]);
    assert!(matches!(&read[2], ParsedLine::Record(row) if row.agent.as_deref() == Some("look-1")), "{read:?}");
    let unknown = parsed(&[row("system", &json!({"subtype": "hologram"}))], None, |_| false);
    assert_eq!(unknown, [ParsedLine::Unknown("system hologram".into())]);
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0usize..7, 0..20), cuts in prop::collection::vec(any::<bool>(), 21)) {
        let row = |(n, kind): (usize, &usize)| match kind {
            0 => parts("user", &json!([{"text": format!("ask {n}")}])),
            1 => parts("assistant", &json!([{"text": format!("say {n}")}])),
            2 => call(&format!("c{n}"), "run_shell_command", &json!({"command": "cargo test"})),
            3 => answer(&format!("c{}", n.saturating_sub(1)), "run_shell_command", &json!({"output": "2 passed"}), &json!(null)),
            4 => called(n as u64, None),
            5 => row("assistant", &json!({"message": {"parts": []}, "usageMetadata": {"promptTokenCount": n}})),
            _ => row("system", &json!({"subtype": "rewind"})),
        };
        let rows: Vec<Value> = kinds.iter().enumerate().map(row).collect();
        prop_assert_eq!(parsed(&rows, None, |n| cuts.get(n).copied().unwrap_or(false)), parsed(&rows, None, |_| false));
    }

    #[test]
    fn a_row_of_any_shape_is_read(kind in "user|assistant|tool_result|system|x",
        value in prop_oneof![Just(json!(null)), Just(json!(7)), Just(json!("text")), Just(json!([{"functionCall": 1}, {"functionResponse": []}])), Just(json!({"parts": [{"text": 3}, "x"]}))]) {
        let names = ["message", "subtype", "provenance", "systemPayload", "toolCallResult", "usageMetadata", "uuid", "cwd"];
        let rest: serde_json::Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), value.clone())).collect();
        parsed(&[row(&kind, &Value::Object(rest))], None, |_| false);
    }
}
