//! Entries of each kind, and what is kept of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{Evidence, Item, Record, Touch, Turn};
use crate::source::ParsedLine;
use crate::source::test_rows::{self, place, told};

fn parsed(rows: &[Value], session: &str, cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    test_rows::parsed(rows, &place(Client::Pi, session, None), cuts)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(&[&[header()], rows].concat(), &place(Client::Pi, "s1", None))
}

fn header() -> Value {
    json!({"type": "session", "version": 3, "id": "s1", "timestamp": "2026-11-18T10:00:00.000Z", "cwd": "/p/shop"})
}

fn entry(id: &str, parent: &str, rest: &Value) -> Value {
    let mut row = json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-11-18T10:00:01.000Z"});
    for (name, value) in rest.as_object().expect("an object") {
        row[name] = value.clone();
    }
    row
}

fn said(id: &str, parent: &str, role: &str, parts: &Value) -> Value {
    entry(id, parent, &json!({"message": {"role": role, "content": parts}}))
}

fn result(id: &str, call: &str, text: &str, is_error: bool) -> Value {
    let message =
        json!({"role": "toolResult", "toolCallId": call, "content": [{"type": "text", "text": text}], "isError": is_error});
    entry(id, "before", &json!({"message": message}))
}

#[test]
fn what_a_hook_of_ours_told_is_known_by_its_names_only() {
    let context = "<recall-context>\n- changed src/orders.rs\n</recall-context>\n";
    let kept = |text: &str| entry("1", "0", &json!({"type": "custom", "customType": "recall", "data": {"text": text}}));
    let sent = |text: &str| entry("1", "0", &json!({"type": "custom_message", "customType": "recall", "content": text}));
    for read in [records(&[kept(context)]), records(&[sent(context)])] {
        let [Item::Evidence(Evidence::Told(names))] = &read[0].items[..] else { panic!("{:?}", read[0].items) };
        assert!(!names.is_empty() && !format!("{:?}", read[0].items).contains("changed src"), "{names:?}");
    }
    assert_eq!(records(&[kept("moonstone"), sent("moonstone"), entry("2", "1", &json!({"type": "custom", "data": [1]}))]), []);
}

#[test]
fn what_is_said_and_done_is_kept() {
    let call = |name: &str, arguments: Value| json!([{"type": "toolCall", "id": name, "name": name, "arguments": arguments}]);
    let read = records(&[
        said("1", "0", "user", &json!([{"type": "text", "text": "Rename it"}])),
        entry(
            "2",
            "1",
            &json!({"message": {"role": "assistant", "model": "glm-5", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I will."},
            {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "cargo test"}}],
            "usage": {"input": 1000, "output": 60, "cacheRead": 200, "cacheWrite": 0}}}),
        ),
        result("3", "c1", "test result: FAILED. 0 passed; 1 failed\n\n\nCommand exited with code 101", true),
        said("4", "3", "assistant", &call("edit", json!({"path": "a.rs", "edits": [{"oldText": "x", "newText": "y\nz"}]}))),
        result("5", "edit", "Successfully replaced 1 block", false),
        entry("6", "5", &json!({"type": "compaction", "summary": "Renamed it."})),
        entry("7", "6", &json!({"type": "session_info", "name": "Names"})),
        entry("8", "7", &json!({"type": "custom_message", "content": "moonstone"})),
        said("9", "8", "bashExecution", &json!([])),
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
            "edit /p/shop/a.rs",
            "Renamed it.",
            "title",
        ]
    );
    let edited =
        read.iter().flat_map(|row| &row.items).find_map(|item| if let Item::Tool(tool) = item { tool.file.clone() } else { None });
    assert_eq!(edited.map(|file| (file.how, file.added, file.removed)), Some((Touch::Edited, 2, 1)));
    let usage = read[1].usage.clone().expect("tokens");
    assert_eq!((usage.model.as_str(), usage.tokens.input, usage.tokens.cache_read), ("glm-5", 1000, 200));
    assert_eq!(read[1].parent, Some(read[0].key));
}

#[test]
fn a_fork_has_the_keys_of_what_it_copied() {
    let rows = [header(), said("a1", "a0", "user", &json!("Rename it"))];
    let key = |session: &str| match &parsed(&rows, session, |_| false)[1] {
        ParsedLine::Record(row) => row.key,
        other => panic!("{other:?}"),
    };
    assert_eq!(key("s1"), key("s2"));
    let mut later = rows.clone();
    later[1]["timestamp"] = json!("2026-11-18T10:00:02.000Z");
    assert!(!matches!(&parsed(&later, "s1", |_| false)[1], ParsedLine::Record(row) if row.key == key("s1")));
}

#[test]
fn a_private_prompt_and_an_unknown_entry_say_so() {
    let read = records(&[said("1", "0", "user", &json!([{"type": "text", "text": "<private>the customer is Zoe</private>"}]))]);
    assert_eq!((read[0].turn, read[0].items.len()), (Turn::BeginsPrivate, 0));
    let unknown = parsed(&[entry("1", "0", &json!({"type": "hologram"}))], "s1", |_| false);
    assert_eq!(unknown, [ParsedLine::Unknown("hologram".into())]);
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0usize..5, 0..90), cuts in prop::collection::vec(any::<bool>(), 91)) {
        let row = |(n, kind): (usize, &usize)| {
            let (id, parent) = (format!("e{n}"), format!("e{}", n.saturating_sub(1 + kind)));
            match kind {
                0 => said(&id, &parent, "user", &json!(format!("ask {n}"))),
                1 => said(&id, &parent, "assistant", &json!([{"type": "text", "text": format!("say {n}")}])),
                2 => said(&id, &parent, "assistant", &json!([{"type": "toolCall", "id": id, "name": "bash", "arguments": {"command": "cargo test"}}])),
                3 => result(&id, &parent, "2 passed", false),
                _ => entry(&id, &parent, &json!({"type": "label"})),
            }
        };
        let rows: Vec<Value> = std::iter::once(header()).chain(kinds.iter().enumerate().map(row)).collect();
        prop_assert_eq!(parsed(&rows, "s1", |n| cuts.get(n).copied().unwrap_or(false)), parsed(&rows, "s1", |_| false));
    }
}
