//! Messages of each kind, and what is kept of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{Item, Record, Touch, Turn};
use crate::source::ParsedLine;
use crate::source::test_rows::{self, place, told};

fn parsed(rows: &[Value], cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    test_rows::parsed(rows, &place(Client::RooCode, "17", None), cuts)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(rows, &place(Client::RooCode, "17", None))
}

fn message(id: &str, role: &str, content: &Value) -> Value {
    json!({"task": {"cwd": "/p/shop"}, "id": id, "at": 1_795_000_000_000_u64, "message": {"role": role, "content": content}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn asks(id: &str, words: &str) -> Value {
    message(
        id,
        "user",
        &json!([text(&format!("<task>\n{words}\n</task>")), text("<environment_details>\n# Now</environment_details>")]),
    )
}

fn calls(id: &str, name: &str, input: &Value) -> Value {
    message(id, "assistant", &json!([{"type": "tool_use", "id": id, "name": name, "input": input}]))
}

fn ends(id: &str, content: &str) -> Value {
    message(&format!("{id}-end"), "user", &json!([{"type": "tool_result", "tool_use_id": id, "content": content}]))
}

#[test]
fn what_is_said_and_done_in_blocks_is_kept() {
    let failed = "Command executed in terminal  within working directory '/p/shop'. Command execution was not successful, inspect the cause and adjust as needed.\nExit code: 101\nOutput:\ntest result: FAILED. 0 passed; 1 failed\n";
    let read = records(&[
        asks("1", "Rename it"),
        message("2", "assistant", &json!([{"type": "reasoning", "text": "hm"}, text("I will.")])),
        calls("c1", "execute_command", &json!({"command": "cargo test", "cwd": null})),
        ends("c1", failed),
        calls("c2", "edit_file", &json!({"file_path": "a.rs", "old_string": "x", "new_string": "y\nz"})),
        calls("c3", "write_to_file", &json!({"path": "/p/shop/b.rs", "content": "w"})),
        calls("c4", "read_file", &json!({"files": [{"path": "/p/shop/a.rs"}, {"path": "b.rs"}]})),
        calls("c5", "new_task", &json!({"mode": "code", "message": "Look for it"})),
        calls("c6", "mcp--tickets--find", &json!({"query": "crash"})),
        calls("c7", "use_mcp_tool", &json!({"server_name": "tickets", "tool_name": "find", "arguments": "{}"})),
        message("9", "user", &json!([text("[ERROR] You did not use a tool\n<task>not said</task>")])),
        calls("c8", "attempt_completion", &json!({"result": "It is renamed."})),
        ends("c8", "<user_message>\nThanks\n</user_message>"),
    ]);
    assert_eq!(
        told(&read),
        [
            "Rename it",
            "I will.",
            "execute_command cargo test",
            "ran",
            "exit code 101 | test result: FAILED. 0 passed; 1 failed",
            "test result: FAILED. 0 passed; 1 failed",
            "edit_file /p/shop/a.rs",
            "write_to_file /p/shop/b.rs",
            "read_file /p/shop/a.rs",
            "read_file /p/shop/b.rs",
            "new_task Look for it",
            "mcp__tickets__find crash",
            "mcp__tickets__find ",
            "It is renamed.",
            "Thanks",
        ]
    );
    let touched: Vec<_> = read
        .iter()
        .flat_map(|row| &row.items)
        .filter_map(|item| {
            if let Item::Tool(tool) = item { tool.file.as_ref().map(|file| (file.how, file.added, file.removed)) } else { None }
        })
        .collect();
    assert_eq!(touched, [(Touch::Edited, 2, 1), (Touch::Written, 1, 0), (Touch::Read, 0, 0), (Touch::Read, 0, 0)]);
    assert_eq!(read.last().expect("thanks").turn, Turn::Begins);
}

#[test]
fn what_is_said_and_done_in_xml_is_kept() {
    let says = |id: &str, words: &str| message(id, "assistant", &json!([text(words)]));
    let told_of = |id: &str, heading: &str, result: &str| message(id, "user", &json!([text(heading), text(result)]));
    let diff = "<apply_diff>\n<path>a.rs</path>\n<diff>\n<<<<<<< SEARCH\n:start_line:3\n-------\nx\n=======\ny\nz\n>>>>>>> REPLACE\n</diff>\n</apply_diff>";
    let read = records(&[
        asks("1", "Rename it"),
        says("2", &format!("<thinking>hm</thinking>\nI will.\n\n{diff}")),
        told_of("3", "[apply_diff for 'a.rs'] Result:", "Changes successfully applied.\n<task>\nnot said\n</task>"),
        says("4", "<execute_command>\n<command>cargo test</command>\n</execute_command>"),
        told_of(
            "5",
            "[execute_command for 'cargo test'] Result:",
            "The user denied this operation and provided the following feedback:\n<feedback>\nnot now\n</feedback>",
        ),
        says("6", "<ask_followup_question>\n<question>When?</question>\n</ask_followup_question>"),
        told_of("7", "[ask_followup_question for 'When?'] Result:", "<answer>\ntomorrow\n</answer>"),
        says("8", "<update_todo_list>\n<todos>\n[x] Rename\n[-] Test\n</todos>\n</update_todo_list>"),
        says("8a", "<execute_command>\n<command>cargo build</command>\n</execute_command>"),
        message(
            "8b",
            "user",
            &json!([
                text("[execute_command for 'cargo build'] Result:"),
                text(
                    "The user approved this operation and provided the following context:\n<feedback>\nonly this once\n</feedback>"
                ),
                text("[execute_command for 'cargo build'] Result:"),
                text("Command failed with exit code 101.\nOutput:\nerror: no"),
            ]),
        ),
        says("9", "<plan_mode_respond>\n<response>A plan.</response>\n</plan_mode_respond>"),
        message("10", "user", &json!([text("[plan_mode_respond] Result:\n\n<user_message>\nDo it\n</user_message>")])),
    ]);
    assert_eq!(
        told(&read),
        [
            "Rename it",
            "I will.",
            "apply_diff /p/shop/a.rs",
            "execute_command cargo test",
            "ran",
            ": not now",
            crate::session::REFUSED,
            "ask_followup_question When?",
            "When?: tomorrow",
            "todos",
            "execute_command cargo build",
            "ran",
            ": only this once",
            "exit code 101 | error: no",
            "error: no",
            "A plan.",
            "Do it",
        ]
    );
    let file =
        read.iter().flat_map(|row| &row.items).find_map(|item| if let Item::Tool(tool) = item { tool.file.clone() } else { None });
    assert_eq!(file.map(|file| (file.added, file.removed)), Some((2, 1)));
}

#[test]
fn a_private_prompt_and_an_unknown_role_say_so_and_a_task_of_a_task_is_no_prompt() {
    let read = records(&[asks("1", "<private>the customer is Zoe</private>")]);
    assert_eq!((read[0].turn, read[0].items.len()), (Turn::BeginsPrivate, 0));
    let read = records(&[
        calls("c1", "ask_followup_question", &json!({"question": "For whom?"})),
        ends("c1", "<user_message>\n<private>Zoe</private>\n</user_message>"),
    ]);
    assert_eq!((read[1].turn, told(&read)), (Turn::BeginsPrivate, vec!["ask_followup_question For whom?".to_owned()]));
    assert_eq!(parsed(&[message("1", "system", &json!([]))], |_| false), [ParsedLine::Unknown("message system".into())]);
    let of_task = test_rows::records(
        &[
            asks("1", "Look"),
            calls("c1", "attempt_completion", &json!({"result": "Seen."})),
            ends("c1", "<feedback>\nMore\n</feedback>"),
        ],
        &place(Client::RooCode, "17", Some("18")),
    );
    assert_eq!(told(&of_task), ["Seen.", ": More"]);
}

#[test]
fn what_calls_of_the_model_used_is_counted_once_whatever_the_form() {
    let call = |ts: u64, used: Value| json!({"task": {}, "call": {"ts": ts, "used": used, "model": "glm-5"}});
    let all = json!({"tokensIn": 1000, "tokensOut": 60, "cacheReads": 800, "cacheWrites": 100});
    let mut with_cache = all.clone();
    with_cache["apiProtocol"] = json!("anthropic");
    let read = records(&[call(1_795_000_000_000, all), call(1_795_000_000_001, with_cache)]);
    let used: Vec<_> =
        read.iter().map(|row| row.usage.clone().expect("tokens").tokens).map(|used| (used.input, used.cache_read)).collect();
    assert_eq!(used, [(1000, 800), (100, 800)]);
    assert_ne!(read[0].key, read[1].key);
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0usize..4, 0..60), cuts in prop::collection::vec(any::<bool>(), 61)) {
        let row = |(n, kind): (usize, &usize)| {
            let id = format!("c{}", n / 2);
            match kind {
                0 => asks(&format!("m{n}"), "ask"),
                1 => calls(&id, "execute_command", &json!({"command": "cargo test"})),
                2 => calls(&id, "ask_followup_question", &json!({"question": "When?"})),
                _ => ends(&id, "Command executed.\nOutput:\n2 passed"),
            }
        };
        let rows: Vec<Value> = kinds.iter().enumerate().map(row).collect();
        prop_assert_eq!(parsed(&rows, |n| cuts.get(n).copied().unwrap_or(false)), parsed(&rows, |_| false));
    }
}
