//! Messages of each kind, and what is kept of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{Evidence, Item, Record, Touch, Turn};
use crate::source::ParsedLine;
use crate::source::test_rows::{self, place, told};

fn parsed(rows: &[Value], cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    test_rows::parsed(rows, &place(Client::Cline, "17_ab", None), cuts)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(rows, &place(Client::Cline, "17_ab", None))
}

fn message(id: &str, role: &str, content: &Value) -> Value {
    let message = json!({"id": id, "role": role, "ts": 1_795_000_000_000_u64, "content": content});
    json!({"session": {"cwd": "/p/shop", "version": "3.0.65"}, "branch": null, "message": message})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn calls(id: &str, name: &str, input: &Value) -> Value {
    message(id, "assistant", &json!([{"type": "tool_use", "id": id, "name": name, "input": input}]))
}

fn ends(id: &str, content: &Value) -> Value {
    message(&format!("{id}-end"), "user", &json!([{"type": "tool_result", "tool_use_id": id, "content": content}]))
}

#[test]
fn what_a_hook_of_ours_told_is_known_by_its_names_only() {
    let told = |inner: &str| {
        records(&[message("1", "user", &json!([text(&format!("<hook_context source=\"RunStart\">\n{inner}\n</hook_context>"))]))])
    };
    let read = told("<recall-context>\n- changed src/orders.rs\n</recall-context>");
    let [Item::Evidence(Evidence::Told(names))] = &read[0].items[..] else { panic!("{:?}", read[0].items) };
    assert!(!names.is_empty() && !format!("{:?}", read[0].items).contains("changed src"), "{names:?}");
    assert_eq!(told("changed src/orders.rs"), []);
}

#[test]
fn what_is_said_and_done_is_kept() {
    let failed = json!([
        {"query": "ls", "result": "a.rs\n", "success": true},
        {"query": "cargo test", "result": "[Command exited with code 101]\n\ntest result: FAILED. 0 passed; 1 failed\n", "error": "Command exited with code 101", "success": false},
    ]);
    let mut counted = message("2", "assistant", &json!([{"type": "thinking", "thinking": "hm"}, text("I will.")]));
    counted["message"]["modelInfo"] = json!({"id": "glm-5"});
    counted["message"]["metrics"] = json!({"inputTokens": 1200, "outputTokens": 60, "cacheReadTokens": 200, "cacheWriteTokens": 0});
    let read = records(&[
        message(
            "1",
            "user",
            &json!([text("<mode_notice>The user switched</mode_notice>\n<user_input mode=\"act\">Rename it</user_input>")]),
        ),
        counted,
        calls("c1", "run_commands", &json!({"commands": ["ls", "cargo test"]})),
        ends("c1", &failed),
        calls("c2", "editor", &json!({"path": "a.rs", "old_text": "x", "new_text": "y\nz"})),
        ends("c2", &json!("{\"query\":\"edit:a.rs\",\"result\":\"Edited a.rs\",\"success\":true}")),
        calls("c3", "editor", &json!({"path": "/p/shop/b.rs", "new_text": "w"})),
        calls("c4", "read_files", &json!({"files": [{"path": "/p/shop/a.rs"}, {"path": "b.rs"}]})),
        calls("c5", "spawn_agent", &json!({"task": "Look for it", "systemPrompt": "…"})),
        message("9", "user", &json!([text("[The client says something]")])),
    ]);
    assert_eq!(
        told(&read),
        [
            "Rename it",
            "I will.",
            "run_commands ls",
            "run_commands cargo test",
            "ran",
            "exit code 101 | test result: FAILED. 0 passed; 1 failed",
            "test result: FAILED. 0 passed; 1 failed",
            "editor /p/shop/a.rs",
            "editor /p/shop/b.rs",
            "read_files /p/shop/a.rs",
            "read_files /p/shop/b.rs",
            "spawn_agent Look for it",
        ]
    );
    let touched: Vec<_> = read
        .iter()
        .flat_map(|row| &row.items)
        .filter_map(|item| if let Item::Tool(tool) = item { tool.file.as_ref().map(|file| file.how) } else { None })
        .collect();
    assert_eq!(touched, [Touch::Edited, Touch::Written, Touch::Read, Touch::Read]);
    let usage = read[1].usage.clone().expect("tokens");
    assert_eq!((usage.model.as_str(), usage.tokens.input, usage.tokens.cache_read), ("glm-5", 1000, 200));
}

#[test]
fn our_own_tools_have_the_names_that_all_clients_keep() {
    let read = records(&[
        calls("c1", "recall__search", &json!({"query": "orders"})),
        calls("c2", "tickets__find", &json!({"query": "crash"})),
    ]);
    assert_eq!(told(&read), ["mcp__recall__search orders", "tickets__find crash"]);
}

#[test]
fn a_private_prompt_and_an_unknown_role_say_so_and_a_task_is_no_prompt() {
    let asks = |said: &str| message("1", "user", &json!([text(&format!("<user_input mode=\"plan\">{said}</user_input>"))]));
    let read = records(&[asks("<private>the customer is Zoe</private>")]);
    assert_eq!((read[0].turn, read[0].items.len()), (Turn::BeginsPrivate, 0));
    assert_eq!(parsed(&[message("1", "system", &json!([]))], |_| false), [ParsedLine::Unknown("message system".into())]);
    let task = test_rows::parsed(&[asks("Look")], &place(Client::Cline, "17_ab", Some("18_c")), |_| false);
    assert_eq!(task, [ParsedLine::Empty]);
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0usize..3, 0..60), cuts in prop::collection::vec(any::<bool>(), 61)) {
        let row = |(n, kind): (usize, &usize)| {
            let id = format!("c{}", n / 2);
            match kind {
                0 => message(&format!("m{n}"), "user", &json!([text("<user_input mode=\"act\">ask</user_input>")])),
                1 => calls(&id, "run_commands", &json!({"commands": ["cargo test"]})),
                _ => ends(&id, &json!([{"query": "cargo test", "result": "2 passed", "success": true}])),
            }
        };
        let rows: Vec<Value> = kinds.iter().enumerate().map(row).collect();
        prop_assert_eq!(parsed(&rows, |n| cuts.get(n).copied().unwrap_or(false)), parsed(&rows, |_| false));
    }
}
