//! Lines of each kind, and what is kept of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{Item, Record, Touch, Turn};
use crate::source::ParsedLine;
use crate::source::test_rows::{self, place, told};

fn parsed(rows: &[Value], cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    test_rows::parsed(rows, &place(Client::OpenCode, "ses_1", None), cuts)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(rows, &place(Client::OpenCode, "ses_1", None))
}

fn line(message: &Value, parts: &Value) -> Value {
    json!({"session": {"cwd": "/p/shop", "version": "1.18.33"}, "message": message, "parts": parts})
}

fn asks(at: u64, parts: &Value) -> Value {
    line(&json!({"role": "user", "time": {"created": 1_795_000_000_000 + at}}), parts)
}

fn does(at: u64, part: &Value) -> Value {
    line(
        &json!({"role": "assistant", "time": {"created": 1_795_000_000_000 + at}, "modelID": "glm-5", "path": {"cwd": "/p/shop"}}),
        &json!([part]),
    )
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn uses(id: &str, tool: &str, state: &Value) -> Value {
    json!({"type": "tool", "callID": id, "tool": tool, "state": state})
}

#[test]
fn what_is_said_and_done_is_kept() {
    let ran = json!({"status": "completed", "input": {"command": "cargo test"}, "output": "test result: FAILED. 0 passed; 1 failed\n", "metadata": {"exit": 101}});
    let edit = json!({"status": "completed", "input": {"filePath": "/p/shop/a.rs", "oldString": "x", "newString": "y\nz"}, "output": "Edit applied successfully."});
    let refused = json!({"status": "error", "input": {"command": "git push"}, "error": "The user rejected permission to use this specific tool call."});
    let question = json!({"status": "completed", "input": {"questions": [{"question": "Which one?"}]}, "output": "…", "metadata": {"answers": [["The second"]]}});
    let patch = json!({"status": "completed", "input": {"patchText": "*** Begin Patch\n*** Add File: b.rs\n+fn b() {}\n*** End Patch"}, "output": "done"});
    let read = records(&[
        json!({"session": {"cwd": "/p/shop"}, "began": 1_795_000_000_000_u64}),
        asks(1, &json!([text("Rename it"), {"type": "text", "synthetic": true, "text": "Called the Read tool"}, {"type": "file"}])),
        does(2, &json!({"type": "reasoning", "text": "hm"})),
        does(2, &text("I will.")),
        does(2, &uses("c1", "bash", &ran)),
        does(
            2,
            &json!({"type": "step-finish", "tokens": {"input": 1000, "output": 60, "reasoning": 10, "cache": {"read": 200, "write": 0}}}),
        ),
        does(3, &uses("c2", "edit", &edit)),
        does(3, &uses("c3", "bash", &refused)),
        does(3, &uses("c4", "question", &question)),
        does(3, &uses("c5", "apply_patch", &patch)),
        does(3, &uses("c6", "bash", &json!({"status": "pending", "input": {}}))),
        line(
            &json!({"role": "assistant", "mode": "compaction", "time": {"created": 1_795_000_000_004_u64}}),
            &json!([text("Renamed it.")]),
        ),
        line(
            &json!({"role": "assistant", "time": {"created": 1_795_000_000_005_u64}, "error": {"name": "MessageAbortedError"}}),
            &json!([]),
        ),
        json!({"session": {"cwd": "/p/shop"}, "title": "Names"}),
        json!({"session": {"cwd": "/p/shop"}, "title": "New session - 2026-11-18T10:00:00.000Z"}),
    ]);
    assert_eq!(
        told(&read),
        [
            "Rename it",
            "I will.",
            "bash cargo test",
            "exit code 101 | test result: FAILED. 0 passed; 1 failed",
            "ran",
            "test result: FAILED. 0 passed; 1 failed",
            "edit /p/shop/a.rs",
            "bash git push",
            "refused by the user",
            "ran",
            "question Which one?",
            "Which one?: The second",
            "apply_patch /p/shop/b.rs",
            "Renamed it.",
            "interrupted",
            "title",
        ]
    );
    let edited =
        read.iter().flat_map(|row| &row.items).find_map(|item| if let Item::Tool(tool) = item { tool.file.clone() } else { None });
    assert_eq!(edited.map(|file| (file.how, file.added, file.removed)), Some((Touch::Edited, 2, 1)));
    let usage = read.iter().find_map(|row| row.usage.clone()).expect("tokens");
    assert_eq!((usage.model.as_str(), usage.tokens.input, usage.tokens.output, usage.tokens.cache_read), ("glm-5", 1000, 70, 200));
    assert!(read.iter().all(|row| row.cwd.as_deref() == Some("/p/shop")));
}

#[test]
fn our_own_tools_have_the_names_that_all_clients_keep() {
    let found = json!({"status": "completed", "input": {"query": "orders"}, "output": "nothing"});
    let read = records(&[does(1, &uses("c1", "recall_search", &found)), does(2, &uses("c2", "tickets_find", &found))]);
    assert_eq!(told(&read), ["mcp__recall__search orders", "tickets_find orders"]);
}

#[test]
fn a_prompt_of_the_command_line_is_told_without_its_quotation_marks() {
    let said = |written: &str| told(&records(&[asks(1, &json!([text(written)]))])).concat();
    assert_eq!(said(r#""Read \"8 oz\" in full""#), r#"Read "8 oz" in full"#);
    assert_eq!(said(r#""a" and "b""#), r#""a" and "b""#);
    assert_eq!(said("\""), "\"");
}

#[test]
fn a_tool_use_that_ends_later_is_the_same_record_with_more_in_it() {
    let row = |state: Value| records(&[does(1, &uses("c1", "bash", &state))]).remove(0);
    let running = row(json!({"status": "running", "input": {"command": "cargo test"}}));
    let ended =
        row(json!({"status": "completed", "input": {"command": "cargo test"}, "output": "2 passed", "metadata": {"exit": 0}}));
    assert_eq!(running.key, ended.key);
    let numbered = |row: &Record| row.parts.iter().copied().zip(row.items.iter().cloned()).collect::<Vec<_>>();
    assert!(numbered(&running).iter().all(|one| numbered(&ended).contains(one)), "{running:#?} {ended:#?}");
    assert!(ended.items.len() > running.items.len());
}

#[test]
fn a_private_prompt_and_an_unknown_part_say_so_and_a_task_is_no_prompt() {
    let read = records(&[asks(1, &json!([text("\"<private>the customer is Zoe</private>\"")]))]);
    assert_eq!((read[0].turn, read[0].items.len()), (Turn::BeginsPrivate, 0));
    let unknown = parsed(&[does(1, &json!({"type": "hologram"}))], |_| false);
    assert_eq!(unknown, [ParsedLine::Unknown("part hologram".into())]);
    let task = test_rows::parsed(&[asks(1, &json!([text("Look")]))], &place(Client::OpenCode, "ses_1", Some("ses_2")), |_| false);
    assert_eq!(task, [ParsedLine::Empty]);
}

#[test]
fn what_the_user_took_back_last_is_told_by_what_its_first_prompt_followed() {
    let taken_back = |row: Value| {
        let mut row = row;
        row["taken_back"] = json!(true);
        row
    };
    let went_back = || json!({"session": {"cwd": "/p/shop"}, "went_back": true});
    let ask = |at: u64| asks(at, &json!([text(&format!("ask {at}"))]));
    let reply = |at: u64| does(at, &text("Yes."));
    // What the client says in the user's name begins no turn.
    let told = taken_back(asks(30, &json!([{"type": "text", "synthetic": true, "text": "Go on"}])));
    let rows = [ask(10), reply(20), told, reply(35), taken_back(ask(40)), reply(50), taken_back(ask(60)), went_back()];
    let read = parsed(&rows, |n| n % 2 == 0);
    let key = |n: usize| if let ParsedLine::Record(row) = &read[n] { row.key } else { panic!("{:?}", read[n]) };
    assert_eq!(read[7], ParsedLine::WentBack(key(3)));
    let first = parsed(&[taken_back(ask(10)), went_back()], |_| false);
    assert!(
        matches!((&first[0], &first[1]), (ParsedLine::Record(row), ParsedLine::WentBack(before)) if row.parent == Some(*before))
    );
    assert_eq!(parsed(&[ask(10), went_back()], |_| false)[1], ParsedLine::Empty);
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0u64..4, 0..60), cuts in prop::collection::vec(any::<bool>(), 61)) {
        let row = |(n, kind): (usize, &u64)| {
            let at = n as u64 / 3 * 7;
            match kind {
                0 => asks(at, &json!([text(&format!("ask {n}"))])),
                1 => does(at, &text("the same")),
                2 => does(at, &uses(&format!("c{n}"), "bash", &json!({"status": "completed", "input": {"command": "cargo test"}, "output": "2 passed"}))),
                _ => does(at, &json!({"type": "step-finish", "tokens": {"input": n}})),
            }
        };
        let rows: Vec<Value> = kinds.iter().enumerate().map(row).collect();
        prop_assert_eq!(parsed(&rows, |n| cuts.get(n).copied().unwrap_or(false)), parsed(&rows, |_| false));
    }
}
