//! Rows of each kind, and what is kept of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{Item, Record, Touch, Turn};
use crate::source::test_rows::{self, place, told};
use crate::source::{ParsedLine, TranscriptIdentity};

fn of_shop(agent: Option<&str>) -> TranscriptIdentity {
    TranscriptIdentity { cwd: Some("/p/shop".into()), ..place(Client::Cursor, "s1", agent) }
}

fn parsed(rows: &[Value], cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    test_rows::parsed(rows, &of_shop(None), cuts)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(rows, &of_shop(None))
}

fn row(role: &str, content: &Value) -> Value {
    json!({"role": role, "message": {"content": content}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn uses(name: &str, input: &Value) -> Value {
    row("assistant", &json!([{"type": "tool_use", "name": name, "input": input}]))
}

#[test]
fn what_is_said_and_done_is_kept() {
    let asked = "<timestamp>Sunday, Aug 2, 2026, 3:51 AM (UTC-7)</timestamp>\n<user_query>\nRename it\n</user_query>";
    let read = records(&[
        row("user", &json!([text(asked)])),
        row(
            "assistant",
            &json!([text("I will.\n\n[REDACTED]"), {"type": "tool_use", "name": "Shell", "input": {"command": "cargo test", "working_directory": "/p/shop"}}]),
        ),
        uses("StrReplace", &json!({"path": "a.rs", "old_string": "x", "new_string": "y\nz"})),
        uses("Write", &json!({"path": "/p/shop/b.rs", "contents": "w"})),
        uses("Delete", &json!({"path": "c.rs"})),
        uses("Task", &json!({"description": "Look for it", "prompt": "…"})),
        row("assistant", &json!([text("[REDACTED]")])),
        json!({"type": "turn_ended", "status": "success"}),
        row("user", &json!("inspect the transcript")),
        row("user", &json!([text("<system_reminder>moonstone</system_reminder>")])),
        json!({"type": "turn_ended", "status": "aborted", "error": "User aborted/interrupted manually."}),
    ]);
    assert_eq!(
        told(&read),
        [
            "Rename it", "I will.", "Shell cargo test", "ran", "StrReplace /p/shop/a.rs", "Write /p/shop/b.rs",
            "Delete delete c.rs", "Task Look for it", "inspect the transcript", "interrupted",
        ]
    );
    let at = "2026-08-02T10:51:00Z".parse::<jiff::Timestamp>().unwrap().as_millisecond();
    assert_eq!((read[0].at, read[1].at, read[0].cwd.as_deref()), (Some(at), None, Some("/p/shop")));
    let touched: Vec<_> = read
        .iter()
        .flat_map(|row| &row.items)
        .filter_map(|item| if let Item::Tool(tool) = item { tool.file.as_ref().map(|file| (file.how, file.added)) } else { None })
        .collect();
    assert_eq!(touched, [(Touch::Edited, 2), (Touch::Written, 1)]);
}

#[test]
fn tools_of_servers_have_the_names_that_all_clients_keep() {
    let call = json!({"server": "user-recall", "toolName": "search", "arguments": {"query": "orders"}});
    let other = json!({"server": "user-tickets", "toolName": "find", "arguments": {"query": "crash"}});
    let read =
        records(&[uses("CallMcpTool", &call), uses("mcp_recall_search", &json!({"query": "bills"})), uses("CallMcpTool", &other)]);
    assert_eq!(told(&read), ["mcp__recall__search orders", "mcp__recall__search bills", "mcp__tickets__find crash"]);
}

#[test]
fn what_is_said_twice_is_two_rows() {
    let read = records(&[row("user", &json!("go on")), row("user", &json!("go on"))]);
    assert_ne!(read[0].key, read[1].key);
}

#[test]
fn times_are_read_whatever_the_zone() {
    let at = |zone: &str| {
        let asked = format!("<timestamp>Friday, Nov 20, 2026, 12:05 PM (UTC{zone})</timestamp><user_query>Go</user_query>");
        records(&[row("user", &json!([text(&asked)]))])[0].at.map(|at| jiff::Timestamp::from_millisecond(at).unwrap().to_string())
    };
    assert_eq!(at("").as_deref(), Some("2026-11-20T12:05:00Z"));
    assert_eq!(at("+5:30").as_deref(), Some("2026-11-20T06:35:00Z"));
    assert_eq!(at("-3:30").as_deref(), Some("2026-11-20T15:35:00Z"));
    assert_eq!(at("+14").as_deref(), Some("2026-11-19T22:05:00Z"));
    assert_eq!(at("-14:00").as_deref(), Some("2026-11-21T02:05:00Z"));
    for zone in [
        "?",
        "+14:01",
        "-15",
        "+24",
        "+5:60",
        "+5:-30",
        "+-5",
        "++5",
        "-9223372036854775807",
        "+9223372036854775807:9223372036854775807",
        "+0:9223372036854775807",
        "-0:-9223372036854775808",
    ] {
        assert_eq!(at(zone), None, "{zone}");
    }
}

#[test]
fn no_time_is_read_that_no_client_can_have_written() {
    let at = |time: &str| {
        let asked = format!("<timestamp>{time} (UTC)</timestamp><user_query>Go</user_query>");
        records(&[row("user", &json!([text(&asked)]))])[0].at
    };
    assert!(at("Friday, Nov 20, 2026, 12:05 PM").is_some());
    for time in ["Wednesday, Nov 20, 1996, 12:05 PM", "Monday, Nov 20, 2226, 12:05 PM", "Saturday, Nov 20, 9999, 12:05 PM"] {
        assert_eq!(at(time), None, "{time}");
    }
}

#[test]
fn a_private_prompt_and_an_unknown_row_say_so_and_a_task_is_no_prompt() {
    let read = records(&[row("user", &json!([text("<user_query><private>the customer is Zoe</private></user_query>")]))]);
    assert_eq!((read[0].turn, read[0].items.len()), (Turn::BeginsPrivate, 0));
    assert_eq!(parsed(&[json!({"type": "hologram"})], |_| false), [ParsedLine::Unknown("hologram".into())]);
    let task = test_rows::parsed(&[row("user", &json!("Look"))], &of_shop(Some("a7")), |_| false);
    assert_eq!(task, [ParsedLine::Empty]);
}

#[test]
fn a_prompt_that_begins_with_a_tag_is_the_user_s_unless_the_tag_is_the_client_s() {
    let one = |texts: &[&str]| {
        let read = records(&[row("user", &texts.iter().copied().map(text).collect::<Vec<_>>().into())]);
        (read.first().map(|row| row.turn).unwrap_or_default(), told(&read))
    };
    for said in ["<div> does not close", "<rule>r</rule> is what the file has", "<user_information> is unknown"] {
        assert_eq!(one(&[said]), (Turn::Begins, vec![said.to_owned()]));
    }
    for client in
        ["<user_info>\nmoonstone\n</user_info>", "<open_and_recently_viewed_files>\nmoonstone", "<hooks_context a=\"b\">moonstone"]
    {
        assert_eq!(one(&[client]), (Turn::Continues, vec![]), "{client}");
        assert_eq!(one(&[client, "<b>bold</b>"]), (Turn::Begins, vec!["<b>bold</b>".to_owned()]));
        assert_eq!(
            one(&[&format!("{client}</hooks_context>\n<user_query>Go</user_query>")]),
            (Turn::Begins, vec!["Go".to_owned()])
        );
    }
    let time = "<timestamp>Sunday, Aug 2, 2026, 3:51 AM (UTC-7)</timestamp>";
    assert_eq!(one(&[&format!("{time}\nRename it")]), (Turn::Begins, vec!["Rename it".to_owned()]));
    for private in [
        "<private>the customer is Zoe</private>",
        "< Private a=b>the customer is Zoe",
        "<private>the customer of <user_query>Zoe</user_query></private>",
        "<user_info>moonstone</user_info>\n<private>the customer is Zoe</private>",
        &format!("{time}\n<private>the customer is Zoe</private>"),
    ] {
        assert_eq!(one(&[private]), (Turn::BeginsPrivate, vec![]), "{private}");
    }
    let read = records(&[row("user", &json!([text("<private>for Zoe</private> Round it")]))]);
    assert_eq!((read[0].fenced.contains("Zoe"), told(&read)), (true, vec!["Round it".to_owned()]));
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0usize..3, 0..60), cuts in prop::collection::vec(any::<bool>(), 61)) {
        let one = |kind: &usize| match kind {
            0 => row("user", &json!("go on")),
            1 => uses("Shell", &json!({"command": "cargo test"})),
            _ => json!({"type": "turn_ended", "status": "success"}),
        };
        let rows: Vec<Value> = kinds.iter().map(one).collect();
        prop_assert_eq!(parsed(&rows, |n| cuts.get(n).copied().unwrap_or(false)), parsed(&rows, |_| false));
    }
}
