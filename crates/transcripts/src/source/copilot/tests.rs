//! Events of each kind, and what is kept of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{Evidence, Item, Record, Touch, Turn};
use crate::source::ParsedLine;
use crate::source::test_rows::{self, place, told};

const ID: &str = "93e7562b-1d7d-4e18-b3ed-b992d462256e";

fn parsed(rows: &[Value], cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    test_rows::parsed(rows, &place(Client::CopilotCli, ID, None), cuts)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(&[&[start()], rows].concat(), &place(Client::CopilotCli, ID, None))
}

fn event(kind: &str, data: &Value) -> Value {
    json!({"type": kind, "data": data, "id": format!("{kind} {data}"), "timestamp": "2026-11-18T10:00:00.000Z", "parentId": "before"})
}

fn start() -> Value {
    event("session.start", &json!({"sessionId": ID, "copilotVersion": "1.0.102", "context": {"cwd": "/p/shop", "branch": "main"}}))
}

fn began(id: &str, name: &str, arguments: &Value) -> Value {
    event("tool.execution_start", &json!({"toolCallId": id, "toolName": name, "arguments": arguments}))
}

#[test]
fn what_is_said_and_done_is_kept() {
    let read = records(&[
        event(
            "user.message",
            &json!({"content": "Rename it", "transformedContent": "<reminder>x</reminder> Rename it", "delivery": "idle"}),
        ),
        event("assistant.message", &json!({"content": "I will.", "toolRequests": [{"toolCallId": "c1"}]})),
        began("c1", "bash", &json!({"command": "cargo test", "description": "Run the tests"})),
        // The client calls a command that failed a success.
        event(
            "tool.execution_complete",
            &json!({"toolCallId": "c1", "success": true, "shellExecution": {"exitCode": 101},
            "result": {"content": "test result: FAILED. 0 passed; 1 failed\n<shellId: 0 completed with exit code 101>"}}),
        ),
        began("c2", "edit", &json!({"path": "src/a.rs", "old_str": "x", "new_str": "y\nz"})),
        event("tool.execution_complete", &json!({"toolCallId": "c2", "success": true, "result": {"content": "File updated"}})),
        began("c3", "bash", &json!({"command": "rm -rf build"})),
        event(
            "tool.execution_complete",
            &json!({"toolCallId": "c3", "success": false, "error": {"message": "The user rejected this tool call. They said no."}}),
        ),
        event("user.message", &json!({"content": "and b", "delivery": "steering"})),
        event("user.message", &json!({"content": "Go on with the plan", "source": "autopilot", "delivery": "idle"})),
        event(
            "session.usage_record",
            &json!({"usage": {"model": "gpt-5.4", "inputTokens": 1200, "outputTokens": 60, "cacheReadTokens": 200}}),
        ),
    ]);
    assert_eq!(
        told(&read),
        [
            "Rename it",
            "I will.",
            "bash cargo test",
            "ran",
            "exit code 101 | test result: FAILED. 0 passed; 1 failed",
            "test result: FAILED. 0 passed; 1 failed",
            "edit /p/shop/src/a.rs",
            "bash rm -rf build",
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
    let usage = read.last().and_then(|row| row.usage.clone()).expect("tokens");
    assert_eq!((usage.model.as_str(), usage.tokens.input, usage.tokens.cache_read), ("gpt-5.4", 1000, 200));
}

#[test]
fn hooks_are_passed_over_and_subagents_say_who_they_are() {
    let of_agent = |mut event: Value| {
        event["agentId"] = json!("helper");
        event
    };
    let read = records(&[
        event("hook.start", &json!({"hookType": "userPromptSubmitted", "input": {"prompt": "moonstone"}})),
        event("hook.end", &json!({"output": {"additionalContext": "<recall-context>moonstone</recall-context>"}})),
        event("system.message", &json!({"content": "moonstone"})),
        of_agent(event("user.message", &json!({"content": "Look at it", "source": "agent-1"}))),
        of_agent(event("assistant.message", &json!({"content": "It is blue."}))),
    ]);
    assert_eq!(read.len(), 1);
    assert_eq!((read[0].agent.as_deref(), &read[0].items[..]), (Some("helper"), &[Item::Reply("It is blue.".into())][..]));
    let unknown = parsed(&[event("session.hologram", &json!({}))], |_| false);
    assert_eq!(unknown, [ParsedLine::Unknown("session.hologram".into())]);
}

#[test]
fn what_a_hook_of_ours_told_is_known_by_its_names_only() {
    let context = "<recall-context>\n- changed src/orders.rs\n</recall-context>\n";
    let read = records(&[event(
        "hook.end",
        &json!({"hookType": "sessionStart", "success": true, "output": {"additionalContext": context}}),
    )]);
    let named = read[0].items.iter().any(|item| matches!(item, Item::Evidence(Evidence::Told(names)) if !names.is_empty()));
    assert!(named && !format!("{:?}", read[0].items).contains("changed src"), "{:?}", read[0].items);
}

#[test]
fn a_compaction_has_a_recap_and_costs_a_call() {
    let used = json!({"model": "gpt-5.4", "requestCount": 1, "inputTokens": 1200, "outputTokens": 60, "cacheReadTokens": 200});
    let rows = [
        event("session.compaction_start", &json!({"model": "gpt-5.4"})),
        event("model.model_call_success", &json!({"requestMessages": "moonstone"})),
        event("model.message", &json!({"message": {"content": "moonstone", "role": "assistant"}})),
        event("model.messages_snapshot", &json!({"messages": [{"role": "user", "content": "moonstone"}]})),
        event(
            "session.compaction_complete",
            &json!({"success": true, "summaryContent": "The door is red.", "compactionTokensUsed": used}),
        ),
    ];
    let read = records(&rows);
    assert_eq!(told(&read), ["The door is red."]);
    let usage = read[0].usage.clone().expect("tokens");
    assert_eq!((usage.model.as_str(), usage.tokens.input, usage.tokens.output), ("gpt-5.4", 1000, 60));
    let known = |line: &ParsedLine| !matches!(line, ParsedLine::Unknown(_));
    assert!(parsed(&rows, |_| false).iter().all(known));
}

#[test]
fn a_prompt_that_is_private_says_so() {
    let read = records(&[event("user.message", &json!({"content": "<private>the customer is Zoe</private>", "delivery": "idle"}))]);
    assert_eq!((read[0].turn, read[0].items.len()), (Turn::BeginsPrivate, 0));
    assert!(read[0].fenced.contains("Zoe"));
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0usize..6, 0..20), cuts in prop::collection::vec(any::<bool>(), 21)) {
        let row = |(n, kind): (usize, &usize)| match kind {
            0 => event("user.message", &json!({"content": format!("ask {n}"), "delivery": "idle"})),
            1 => event("assistant.message", &json!({"content": format!("say {n}")})),
            2 => began(&format!("c{n}"), "bash", &json!({"command": "cargo test"})),
            3 => event("tool.execution_complete", &json!({"toolCallId": format!("c{}", n.saturating_sub(1)), "success": true, "result": {"content": "2 passed"}})),
            4 => event("session.resume", &json!({"context": {"cwd": format!("/p/{n}"), "branch": "x"}})),
            _ => event("hook.end", &json!({})),
        };
        let rows: Vec<Value> = std::iter::once(start()).chain(kinds.iter().enumerate().map(row)).collect();
        prop_assert_eq!(parsed(&rows, |n| cuts.get(n).copied().unwrap_or(false)), parsed(&rows, |_| false));
    }

    #[test]
    fn an_event_of_any_shape_is_read(kind in "session.start|user.message|assistant.message|tool.execution_start|tool.execution_complete|session.usage_record|x",
        value in prop_oneof![Just(json!(null)), Just(json!(7)), Just(json!("text")), Just(json!(["a"])), Just(json!({"content": 3, "usage": "x"}))]) {
        let names = ["content", "source", "context", "toolCallId", "toolName", "arguments", "result", "error", "usage", "success"];
        let data: serde_json::Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), value.clone())).collect();
        parsed(&[event(&kind, &Value::Object(data)), event(&kind, &value)], |_| false);
    }
}
