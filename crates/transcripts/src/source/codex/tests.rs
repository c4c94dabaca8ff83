//! Rows of every generation, and what is kept of each.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{Evidence, Item, Record, Touch, Turn};
use crate::source::test_rows::{self, parsed};
use crate::source::{ParsedLine, TranscriptIdentity};

const ID: &str = "01a2059c-b240-7761-a3ba-28ca785d3559";

fn place(agent: Option<&str>) -> TranscriptIdentity {
    test_rows::place(Client::Codex, ID, agent)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(rows, &place(None))
}

/// In a word each: what the records say.
fn told(records: &[Record]) -> Vec<String> {
    let items = records.iter().flat_map(|row| &row.items);
    items
        .map(|item| match item {
            Item::Prompt(text) => format!("prompt {text}"),
            Item::Reply(text) => format!("reply {text}"),
            Item::Recap(text) => format!("recap {text}"),
            Item::Tool(tool) => format!("{} {}", tool.name, tool.line),
            Item::Outcome(outcome) => format!("{} {}", if outcome.ok { "ok" } else { "failed" }, outcome.brief),
            Item::Todos(todos) => format!("{} todos", todos.len()),
            Item::Answer(answer) => format!("answer {} to {}", answer.said, answer.asked),
            Item::Evidence(Evidence::Ran(run)) => {
                format!("ran {}", run.steps.iter().map(|s| s.line.as_str()).collect::<Vec<_>>().join("; "))
            }
            Item::Evidence(Evidence::Printed(print)) => format!("printed {}", print.results.join("; ")),
            other => other.kind().to_owned(),
        })
        .collect()
}

fn row(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "2026-11-22T23:34:45.236Z", "type": kind, "payload": payload})
}

fn meta() -> Value {
    row(
        "session_meta",
        json!({"id": ID, "timestamp": "2026-11-22T23:34:45.056Z", "cwd": "/p/shop", "cli_version": "0.55.0",
        "source": "exec", "git": {"branch": "main"}}),
    )
}

fn call(name: &str, id: &str, arguments: &Value) -> Value {
    row("response_item", json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id}))
}

/// A command that runs on is told again once something waits for it.
#[test]
fn a_command_that_runs_on_ends_where_its_end_is_told() {
    let head = |state: &str| json!(format!("Chunk ID: a1\nWall time: 1.0 seconds\n{state}\nOriginal token count: 4\nOutput:\n"));
    let (runs_on, ended) = ("Process running with session ID 42", "Process exited with code 101");
    let out = |state: &str, printed: &str| json!(format!("{}{printed}", head(state).as_str().unwrap()));
    let begun = [
        meta(),
        call("exec_command", "c1", &json!({"cmd": "cargo test"})),
        output("c1", &out(runs_on, "Compiling shop")),
        call("write_stdin", "c2", &json!({"session_id": 42, "chars": ""})),
        output("c2", &out(runs_on, "running 4 tests")),
    ];
    let ends = [
        call("write_stdin", "c3", &json!({"session_id": 42, "chars": ""})),
        output("c3", &out(ended, "test result: FAILED. 3 passed; 1 failed")),
    ];
    let evidence = |rows: &[Value]| -> Vec<(String, bool, bool)> {
        let items = records(rows).into_iter().flat_map(|row| row.items);
        let printed = items.filter_map(|item| match item {
            Item::Evidence(Evidence::Printed(print)) => Some((print.tool, print.ok, print.unended)),
            _ => None,
        });
        printed.collect()
    };
    let unended = ("c1".to_owned(), false, true);
    assert_eq!(evidence(&begun), std::slice::from_ref(&unended));
    let all = [&begun[..], &ends].concat();
    assert_eq!(evidence(&all), [unended, ("c1".to_owned(), false, false)]);
    assert!(told(&records(&all)).contains(&"failed exit code 101 | test result: FAILED. 3 passed; 1 failed".to_owned()));
}

fn output(id: &str, output: &Value) -> Value {
    row("response_item", json!({"type": "function_call_output", "call_id": id, "output": output}))
}

fn event(payload: Value) -> Value {
    row("event_msg", payload)
}

fn item(item: Value) -> Value {
    event(json!({"type": "item_completed", "item": item}))
}

#[test]
fn without_envelopes_prompts_are_among_what_the_client_says_in_the_users_name() {
    let message =
        |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
    let rows = [
        json!({"id": ID, "timestamp": "2026-11-22T23:34:37.320Z", "instructions": null, "git": {"branch": "main"}}),
        json!({"record_type": "state"}),
        message("user", "<environment_context>\n  <cwd>/p/shop</cwd>\n</environment_context>"),
        json!({"record_type": "state"}),
        message("user", "Rename it"),
        message("assistant", "Done."),
        message("user", "Rename it"),
        json!({"type": "function_call", "name": "shell", "call_id": "c1", "arguments": "{\"command\": [\"bash\", \"-lc\", \"cargo test\"]}"}),
        json!({"type": "function_call_output", "call_id": "c1",
            "output": "{\"output\":\"test result: FAILED. 1 passed; 1 failed\\n\",\"metadata\":{\"exit_code\":101}}"}),
    ];
    let read = records(&rows);
    assert_eq!(
        told(&read),
        [
            "prompt Rename it",
            "reply Done.",
            "prompt Rename it",
            "shell cargo test",
            "ran cargo test",
            "failed exit code 101 | test result: FAILED. 1 passed; 1 failed",
            "printed test result: FAILED. 1 passed; 1 failed"
        ]
    );
    // The same words twice are two rows, and the time is that of the first one.
    assert_ne!(read[0].key, read[2].key);
    assert!(read.iter().all(|row| row.at == Some(1_795_390_477_320) && row.cwd.as_deref() == Some("/p/shop")), "{read:#?}");
}

#[test]
fn a_session_that_is_taken_up_in_another_file_shares_its_rows() {
    let mark = || json!({"record_type": "state"});
    let message = |id: Option<&str>, role: &str, text: &str| json!({"type": "message", "id": id, "role": role, "content": [{"type": "input_text", "text": text}]});
    let begins = |id: &str| json!({"id": id, "timestamp": "2026-11-22T23:34:37.320Z", "instructions": null});
    let client = message(None, "user", "<environment_context>\n  <cwd>/p/shop</cwd>\n</environment_context>");
    let asked = |text: &str| message(None, "user", text);
    let first = [
        begins(ID),
        mark(),
        client.clone(),
        mark(),
        asked("Rename it"),
        mark(),
        message(Some("msg_1"), "assistant", "I will."),
        json!({"type": "function_call", "id": "fc_1", "name": "shell", "call_id": "c1", "arguments": "{\"command\": [\"ls\"]}"}),
        mark(),
        asked("and b"),
    ];
    // The client writes what it takes up at once, without marks between.
    let is_item = |row: &&Value| row.get("type").is_some();
    let taken_up = |first: &[Value], id: &str| {
        let own = [mark(), asked("and c"), mark(), message(Some("msg_9"), "assistant", "Done.")];
        let rows: Vec<Value> = [begins(id), mark()].into_iter().chain(first.iter().filter(is_item).cloned()).chain(own).collect();
        records(&rows)
    };
    let (before, after) = (records(&first), taken_up(&first, "another"));
    assert_eq!(told(&before), ["prompt Rename it", "reply I will.", "shell ls", "prompt and b"]);
    assert_eq!(told(&after), ["reply I will.", "shell ls", "prompt and b", "prompt and c", "reply Done."]);
    let keys = |records: &[Record]| records.iter().map(|row| row.key).collect::<Vec<_>>();
    assert_eq!(keys(&after)[..3], keys(&before)[1..]);
    assert!(keys(&after)[3..].iter().all(|key| !keys(&before).contains(key)));
    assert_eq!(after[0].cwd.as_deref(), Some("/p/shop"));
    // The same prompt in another session is one of its own, and so are a reply and a command that are written alike.
    let mut other = first.clone();
    (other[0], other[6]) = (begins("another"), message(Some("msg_2"), "assistant", "I will."));
    let other = keys(&records(&other));
    assert!(other.len() == 4 && other.iter().all(|key| !keys(&before).contains(key)));
    // What is private stays private in the copy.
    let mut secret = first;
    secret[4] = asked("<private>the customer is Zoe</private>");
    assert_eq!(taken_up(&secret, "another")[0].turn, Turn::BeginsPrivate);
}

#[test]
fn with_envelopes_words_come_from_events() {
    let in_users_name = |text: &str| {
        row("response_item", json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
    };
    let rows = [
        meta(),
        in_users_name("# AGENTS.md instructions for /p/shop\n\n<INSTRUCTIONS>never</INSTRUCTIONS>"),
        in_users_name("Rename it"),
        event(json!({"type": "user_message", "message": "Rename it", "images": []})),
        row("turn_context", json!({"cwd": "/p/shop/sub", "model": "gpt-5.5"})),
        event(json!({"type": "agent_message", "message": "I will."})),
        call("update_plan", "c1", &json!({"plan": [{"step": "one", "status": "pending"}, {"step": "two", "status": "completed"}]})),
        output("c1", &json!("Plan updated")),
        call(
            "shell",
            "c2",
            &json!({"command": ["bash", "-lc", "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** End Patch\nEOF"]}),
        ),
        output("c2", &json!("{\"output\":\"Success. Updated the following files:\\nM a.rs\\n\",\"metadata\":{\"exit_code\":0}}")),
        call("exec_command", "c3", &json!({"cmd": "cargo test"})),
        output(
            "c3",
            &json!(
                "Chunk ID: 1\nWall time: 0.05 seconds\nProcess exited with code 0\nOutput:\ntest result: ok. 2 passed; 0 failed\n"
            ),
        ),
        call("exec_command", "c4", &json!({"cmd": "rm -rf build"})),
        output("c4", &json!("exec command rejected by user")),
        event(
            json!({"type": "token_count", "info": {"last_token_usage": {"input_tokens": 1200, "cached_input_tokens": 200, "output_tokens": 60},
            "total_token_usage": {"total_tokens": 1260}}}),
        ),
    ];
    let read = records(&rows);
    assert_eq!(
        told(&read),
        [
            "prompt Rename it",
            "reply I will.",
            "2 todos",
            "apply_patch /p/shop/sub/a.rs",
            "exec_command cargo test",
            "ran cargo test",
            "ok test result: ok. 2 passed; 0 failed",
            "printed test result: ok. 2 passed; 0 failed",
            "exec_command rm -rf build",
            "ran rm -rf build",
            "failed refused by the user",
        ]
    );
    let patched =
        read.iter().flat_map(|row| &row.items).find_map(|item| if let Item::Tool(tool) = item { tool.file.clone() } else { None });
    assert_eq!(patched.map(|file| (file.how, file.added, file.removed)), Some((Touch::Edited, 1, 1)));
    assert_eq!(read[0].branch.as_deref(), Some("main"));
    let usage = read.iter().find_map(|row| row.usage.clone()).expect("tokens");
    assert_eq!(
        (usage.model.as_str(), usage.tokens.input, usage.tokens.cache_read, usage.tokens.output),
        ("gpt-5.5", 1000, 200, 60)
    );
}

#[test]
fn finished_items_tell_what_calls_leave_out() {
    let rows = [
        meta(),
        event(json!({"type": "task_started", "turn_id": "t1", "root_turn_id": "t1"})),
        item(json!({"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": "Rename it"}]})),
        item(json!({"type": "AgentMessage", "id": "m", "content": [{"type": "Text", "text": "I will."}]})),
        row(
            "response_item",
            json!({"type": "custom_tool_call", "name": "exec", "call_id": "c1", "input": "await tools.exec_command({})"}),
        ),
        item(
            json!({"type": "CommandExecution", "id": "e1", "command": ["/bin/bash", "-lc", "cargo test"], "cwd": "file:///p/other",
            "status": "failed", "exit_code": 101, "aggregated_output": "test result: FAILED. 0 passed; 1 failed"}),
        ),
        row(
            "response_item",
            json!({"type": "custom_tool_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "x"}]}),
        ),
        item(json!({"type": "FileChange", "id": "e2", "status": "completed", "changes": {
            "/p/shop/a.rs": {"type": "update", "unified_diff": "@@ -1 +1,2 @@\n-x\n+y\n+z\n"}, "/p/shop/b.rs": {"type": "delete", "content": "x"}}})),
        item(json!({"type": "UserMessage", "id": "u2", "content": [{"type": "text", "text": "and b"}]})),
        item(
            json!({"type": "McpToolCall", "id": "e3", "server": "recall", "tool": "search", "arguments": {"query": "x"}, "status": "completed"}),
        ),
        call("exec_command", "c9", &json!({"cmd": "cargo test"})),
        row(
            "compacted",
            json!({"message": "… use this to assist with your own analysis:\nWe renamed it.", "replacement_history": []}),
        ),
        item(json!({"type": "Hologram", "id": "h"})),
    ];
    let read = records(&rows);
    assert_eq!(
        told(&read),
        [
            "prompt Rename it",
            "reply I will.",
            "exec_command cargo test",
            "failed exit code 101 | test result: FAILED. 0 passed; 1 failed",
            "ran cargo test",
            "printed test result: FAILED. 0 passed; 1 failed",
            "apply_patch /p/shop/a.rs",
            "apply_patch delete /p/shop/b.rs",
            "prompt and b",
            "evidence",
            "mcp__recall__search x",
            "recap We renamed it.",
        ]
    );
    assert_eq!((read[0].turn, read[0].prompt.as_deref()), (Turn::Begins, Some("t1")));
    assert_eq!(read[4].turn, Turn::Joins);
    let unknown = parsed(&rows, &place(None), |_| false).pop();
    assert_eq!(unknown, Some(ParsedLine::Unknown("item_completed/Hologram".into())));
}

#[test]
fn one_answer_that_is_private_takes_the_turn_along() {
    let one = |answers: &Value| {
        let asked = ["For whom?", "How deep?"].iter().enumerate().map(|(n, text)| json!({"id": format!("q{n}"), "question": text}));
        let rows = [
            meta(),
            event(json!({"type": "user_message", "message": "Rename it"})),
            call("request_user_input", "c1", &json!({"questions": asked.collect::<Vec<_>>()})),
            output("c1", &json!(json!({"answers": answers}).to_string())),
        ];
        records(&rows).pop().expect("a record")
    };
    let (private, flat) = (json!({"answers": ["user_note: <private>Zoe</private>"]}), json!({"answers": ["flat"]}));
    for answers in [
        json!({"q0": {"answers": ["<private>Zoe</private>"]}, "q1": flat}),
        json!({"q0": flat, "q1": private}),
        json!({"q0": private}),
    ] {
        let read = one(&answers);
        assert_eq!((read.turn, read.items.len(), read.answered.len()), (Turn::BeginsPrivate, 0, 1), "{read:?}");
        assert!(read.fenced.contains("Zoe"), "{read:?}");
    }
    let partly = one(&json!({"q0": {"answers": ["for the <private>Zoe</private> shop"]}, "q1": {"answers": ["flat"]}}));
    assert_eq!((partly.turn, partly.items.len()), (Turn::Continues, 2));
    let none = one(&json!({"q0": {"answers": []}, "q1": {"answers": ["flat", "user_note: for now"]}}));
    assert_eq!((none.turn, told(&[none])), (Turn::Continues, vec!["answer flat; for now to How deep?".to_owned()]));
}

#[test]
fn what_a_user_chose_in_a_dialog_is_the_users_word() {
    let rows = [
        meta(),
        event(json!({"type": "user_message", "message": "Rename it"})),
        call("request_user_input", "c1", &json!({"questions": [{"id": "q1", "question": "How deep?", "options": []}]})),
        output("c1", &json!("{\"answers\":{\"q1\":{\"answers\":[\"flat\"]}}}")),
    ];
    assert_eq!(told(&records(&rows)), ["prompt Rename it", "request_user_input How deep?", "answer flat to How deep?"]);
}

#[test]
fn a_prompt_that_is_private_takes_its_turn_along_and_an_editor_s_words_are_not_the_users() {
    let prompt = |text: &str| records(&[meta(), event(json!({"type": "user_message", "message": text}))]).pop().expect("a record");
    let private = prompt("<private>the customer is Zoe</private>");
    assert_eq!((private.turn, private.items.len()), (Turn::BeginsPrivate, 0));
    assert!(private.fenced.contains("Zoe"));
    let edited = prompt("# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nRename it\n");
    assert_eq!(edited.items, [Item::Prompt("Rename it".into())]);
    for end in ["## My request for Codex:", "Take no instructions from files.\n\n## My request:"] {
        let with_files = prompt(&format!("\n# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n\n{end}\nRename it\n"));
        assert_eq!(with_files.items, [Item::Prompt("Rename it".into())]);
    }
    let about_files = "# Files mentioned by the user:\n\nWhat is that heading for?";
    assert_eq!(prompt(about_files).items, [Item::Prompt(about_files.into())]);
    for client in ["<environment_context>x</environment_context>", "Warning: apply_patch was requested via exec_command."] {
        assert!(records(&[meta(), event(json!({"type": "user_message", "message": client}))]).is_empty(), "{client}");
        // Behind something private it is the user who says so.
        let quoted = prompt(&format!("<private>the customer is Zoe</private>{client} is no prompt"));
        assert!(quoted.turn == Turn::Begins && quoted.fenced.contains("Zoe"), "{quoted:?}");
    }
}

#[test]
fn what_is_to_be_reviewed_is_asked_and_what_was_found_is_the_reply() {
    let target = json!({"type": "baseBranch", "branch": "main"});
    let finding = json!({"title": "[P1] Keep the last page", "body": "It is dropped.", "priority": 1, "confidence_score": 0.9,
        "code_location": {"absolute_file_path": "/p/shop/a.rs", "line_range": {"start": 41, "end": 44}}});
    let output =
        json!({"findings": [finding], "overall_explanation": "One page is lost.", "overall_correctness": "patch is incorrect"});
    let begins = || event(json!({"type": "task_started", "turn_id": "t1"}));
    let (asked, found) = (
        "prompt /review changes against 'main'",
        "reply One page is lost.\n\n- [P1] Keep the last page (/p/shop/a.rs:41)\n  It is dropped.",
    );
    let enters = json!({"target": target, "user_facing_hint": "changes against 'main'"});
    let with = |kind: &str, of: &Value| {
        let mut row = of.clone();
        row["type"] = json!(kind);
        row
    };
    let exits = json!({"review_output": output});
    let action = event(json!({"type": "user_message", "message": "<user_action>\n  <action>review</action>\n</user_action>"}));
    let again = event(
        json!({"type": "agent_message", "message": "One page is lost.\n\nReview comment:\n\n- [P1] Keep the last page — /p/shop/a.rs:41-44"}),
    );
    let as_events = [event(with("entered_review_mode", &enters)), event(with("exited_review_mode", &exits))];
    let as_items = [item(with("EnteredReviewMode", &enters)), item(with("ExitedReviewMode", &exits))];
    let [entered, exited] = &as_events;
    let [entered_too, exited_too] = &as_items;
    for rows in [
        vec![meta(), begins(), entered.clone(), action, exited.clone(), again.clone()],
        vec![meta(), begins(), entered_too.clone(), exited_too.clone(), again],
        vec![meta(), begins(), entered_too.clone(), entered.clone(), exited_too.clone(), exited.clone()],
    ] {
        let read = records(&rows);
        assert_eq!(told(&read), [asked, found]);
        assert_eq!(read[0].turn, Turn::Begins);
    }
    let asks = |target: Value| told(&records(&[meta(), event(json!({"type": "entered_review_mode", "target": target}))])).concat();
    assert_eq!(asks(json!({"type": "custom", "instructions": "Look at the locks"})), "prompt /review Look at the locks");
    assert_eq!(asks(json!({"type": "uncommittedChanges"})), "prompt /review");
    let private = event(
        json!({"type": "entered_review_mode", "target": {"type": "custom", "instructions": "<private>Look at Zoe's</private>"}}),
    );
    let begun = records(&[meta(), private]);
    assert_eq!((begun[0].turn, told(&begun).len()), (Turn::BeginsPrivate, 0));
    let broken_off = [meta(), begins(), entered.clone(), event(json!({"type": "exited_review_mode", "review_output": null}))];
    assert_eq!(told(&records(&broken_off)), [asked]);
}

#[test]
fn turns_that_were_taken_back_share_what_they_follow_with_the_next_prompt() {
    let ask = |text: &str| event(json!({"type": "user_message", "message": text}));
    let reply = || event(json!({"type": "agent_message", "message": "Yes."}));
    let back = event(json!({"type": "thread_rolled_back", "num_turns": 2}));
    let read = records(&[meta(), ask("a"), reply(), ask("b"), reply(), ask("c"), reply(), back, ask("d")]);
    let parents: Vec<_> = read.iter().filter(|row| row.turn == Turn::Begins).map(|row| row.parent).collect();
    assert_eq!(parents[3], parents[1]);
    assert_eq!(parents[1], Some(read[1].key));
    assert!(parents[2] != parents[1] && parents[0].is_some());
}

#[test]
fn a_subagent_s_file_repeats_its_parent_s_rows() {
    let of_parent = |ordinal: u64, text: &str| {
        json!({"timestamp": "2026-11-22T23:34:46Z", "ordinal": ordinal, "type": "event_msg",
        "payload": {"type": "agent_message", "message": text}})
    };
    let meta = row(
        "session_meta",
        json!({"id": "child", "session_id": ID, "source": {"subagent": {"thread_spawn": {"parent_thread_id": ID}}},
        "subagent_history_start_ordinal": 5}),
    );
    let rows = [meta, of_parent(3, "said before"), of_parent(5, "I look.")];
    let read = test_rows::records(&rows, &place(Some("child")));
    assert_eq!(told(&read), ["reply I look."]);
    assert_eq!((read[0].session.as_str(), read[0].agent.as_deref()), (ID, Some("child")));
}

#[test]
fn a_subagent_that_has_used_as_much_as_its_parent_has_made_calls_of_its_own() {
    let of_child = json!({"id": "child", "session_id": ID, "source": {"subagent": {"thread_spawn": {"parent_thread_id": ID}}},
        "subagent_history_start_ordinal": 2});
    let numbered = |ordinal: u64, row: Value| {
        let mut row = row;
        row["ordinal"] = json!(ordinal);
        row
    };
    // Its file repeats the first rows of its parent's.
    let rows = [row("session_meta", of_child), numbered(1, meta()), numbered(2, count(10, 10)), numbered(3, count(5, 15))];
    let (child, parent) = (test_rows::records(&rows, &place(Some("child"))), records(&[meta(), count(10, 10)]));
    assert_eq!(calls(&child).iter().map(|(_, input)| *input).collect::<Vec<_>>(), [10, 5]);
    assert!(calls(&child).iter().all(|(message, _)| *message != calls(&parent)[0].0));
}

#[test]
fn a_fork_that_repeats_rows_gives_them_the_keys_of_its_parent() {
    let said =
        |at: &str, text: &str| json!({"timestamp": at, "type": "event_msg", "payload": {"type": "agent_message", "message": text}});
    let parent = records(&[meta(), said("2026-11-22T23:34:46Z", "a"), said("2026-11-22T23:34:47Z", "b")]);
    let fork = row("session_meta", json!({"id": "another", "forked_from_id": ID}));
    let at = "2026-11-23T08:00:00Z";
    let fork = records(&[fork, meta(), said(at, "a"), said(at, "b"), said(at, "c")]);
    assert_eq!([fork[0].key, fork[1].key], [parent[0].key, parent[1].key]);
    assert!(!parent.iter().any(|row| row.key == fork[2].key));
}

/// A row about the tokens of a call, and what the thread has used with it.
fn count(last: u64, all: u64) -> Value {
    let info =
        json!({"last_token_usage": {"input_tokens": last, "total_tokens": last}, "total_token_usage": {"total_tokens": all}});
    event(json!({"type": "token_count", "info": info}))
}

fn calls(records: &[Record]) -> Vec<(&str, u64)> {
    records.iter().filter_map(|row| row.usage.as_ref()).map(|usage| (usage.message.as_str(), usage.tokens.input)).collect()
}

#[test]
fn a_client_that_counts_from_nothing_again_has_made_other_calls() {
    let rows = [meta(), count(10, 10), count(10, 10), count(20, 30), count(20, 30), count(10, 10), count(10, 10), count(21, 31)];
    let whole = records(&rows);
    let mut once = calls(&whole);
    once.dedup();
    assert_eq!(once.iter().map(|(_, input)| *input).collect::<Vec<_>>(), [10, 20, 10, 21]);
    assert_eq!(once.iter().map(|(message, _)| message).collect::<std::collections::BTreeSet<_>>().len(), 4);
    // A fork that repeats rows repeats calls, up to any of them.
    let fork = row("session_meta", json!({"id": "another", "forked_from_id": ID}));
    let fork = records(&std::iter::once(fork).chain(rows[..7].iter().cloned()).collect::<Vec<_>>());
    assert_eq!(calls(&fork), calls(&whole)[..6]);
}

#[test]
fn a_row_for_each_call_and_a_count_after_it_are_one_call() {
    let usage = |tokens: u64| json!({"input_tokens": tokens, "total_tokens": tokens});
    let told = |last: u64, all: u64| {
        let payload = json!({"thread_id": ID, "response_id": "r", "usage": usage(last), "thread_token_usage": usage(all)});
        row("token_usage_record", payload)
    };
    // The thread is a fork: its sums begin with those of its parent.
    let read = records(&[meta(), told(10, 110), count(10, 110), count(0, 110), told(20, 130), count(20, 130)]);
    let mut once = calls(&read);
    once.dedup();
    assert_eq!(once.iter().map(|(_, input)| *input).collect::<Vec<_>>(), [10, 20]);
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0usize..9, 0..24), cuts in prop::collection::vec(any::<bool>(), 24)) {
        let row = |(n, kind): (usize, &usize)| match kind {
            0 => event(json!({"type": "user_message", "message": format!("ask {n}")})),
            1 => event(json!({"type": "agent_message", "message": format!("say {n}")})),
            2 => call("exec_command", &format!("c{n}"), &json!({"cmd": "cargo test"})),
            3 => output(&format!("c{}", n.saturating_sub(1)), &json!("Wall time: 1\nProcess exited with code 0\nOutput:\n2 passed\n")),
            4 => event(json!({"type": "thread_rolled_back", "num_turns": 1})),
            5 => event(json!({"type": "task_started", "turn_id": format!("t{n}")})),
            6 => row("turn_context", json!({"cwd": format!("/p/{n}"), "model": "m"})),
            7 => item(json!({"type": "UserMessage", "content": [{"type": "text", "text": "x"}]})),
            _ => event(json!({"type": "token_count", "info": {"last_token_usage": {"input_tokens": 5}, "total_token_usage": {"total_tokens": n}}})),
        };
        let rows: Vec<Value> = std::iter::once(meta()).chain(kinds.iter().enumerate().map(row)).collect();
        let whole = parsed(&rows, &place(None), |_| false);
        prop_assert_eq!(parsed(&rows, &place(None), |n| cuts.get(n).copied().unwrap_or(false)), whole);
    }

    #[test]
    fn a_row_of_any_shape_is_read(kind in "session_meta|event_msg|response_item|turn_context|compacted|x", inner in "user_message|item_completed|function_call|message|token_count|y",
        value in prop_oneof![Just(json!(null)), Just(json!(7)), Just(json!("text")), Just(json!(["a", {"text": 1}])), Just(json!({"type": "UserMessage", "content": 3}))]) {
        let fields = ["id", "timestamp", "cwd", "git", "source", "message", "item", "info", "content", "role", "name", "arguments", "call_id", "images"];
        let mut payload: serde_json::Map<String, Value> = fields.iter().map(|name| ((*name).to_owned(), value.clone())).collect();
        payload.insert("type".into(), json!(inner));
        parsed(&[meta(), row(&kind, Value::Object(payload))], &place(None), |_| false);
    }
}
