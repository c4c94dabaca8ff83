//! Steps of each kind, and what is kept of them.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::Client;
use crate::session::{Item, Record, Touch, Turn};
use crate::source::test_rows::{self, place, told};
use crate::source::{ParsedLine, TranscriptIdentity};

fn of_shop(agent: Option<&str>) -> TranscriptIdentity {
    TranscriptIdentity { cwd: Some("/p/shop".into()), ..place(Client::Antigravity, "s1", agent) }
}

fn parsed(rows: &[Value], cuts: impl Fn(usize) -> bool) -> Vec<ParsedLine> {
    test_rows::parsed(rows, &of_shop(None), cuts)
}

fn records(rows: &[Value]) -> Vec<Record> {
    test_rows::records(rows, &of_shop(None))
}

fn step(n: u64, source: &str, kind: &str, content: &str) -> Value {
    let at = format!("2026-11-20T10:{:02}:{:02}Z", n / 60, n % 60);
    json!({"step_index": n, "source": source, "type": kind, "status": "DONE", "created_at": at, "content": content})
}

fn asks(n: u64, text: &str) -> Value {
    let content = format!("<USER_REQUEST>\n{text}\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nmoonstone\n</ADDITIONAL_METADATA>");
    step(n, "USER_EXPLICIT", "USER_INPUT", &content)
}

fn uses(n: u64, calls: &[(&str, Value)]) -> Value {
    let calls: Vec<_> = calls.iter().map(|(name, args)| json!({"name": name, "args": args})).collect();
    let mut row = step(n, "MODEL", "PLANNER_RESPONSE", "");
    row["tool_calls"] = calls.into();
    row
}

fn runs(command: &str) -> (&'static str, Value) {
    ("run_command", json!({"CommandLine": command, "Cwd": "/p/shop"}))
}

fn ends(n: u64, kind: &str, text: &str) -> Value {
    step(n, "MODEL", kind, &format!("Created At: 2026-11-20T10:00:00Z\nCompleted At: 2026-11-20T10:00:01Z\n{text}"))
}

#[test]
fn what_is_said_and_done_is_kept() {
    let read = records(&[
        asks(0, "Rename it"),
        step(1, "SYSTEM", "CONVERSATION_HISTORY", "moonstone"),
        step(2, "MODEL", "PLANNER_RESPONSE", "I will."),
        uses(3, &[runs("cargo test"), ("view_file", json!({"AbsolutePath": "/p/shop/a.rs"}))]),
        // Whatever comes first.
        ends(5, "VIEW_FILE", "File Path: `file:///p/shop/a.rs`\n1: x"),
        ends(4, "RUN_COMMAND", "\nThe command exited with code 101.\nOutput:\nerror: could not compile\n"),
        uses(6, &[("default_api:write_to_file", json!({"TargetFile": "file:///p/shop/b.rs", "CodeContent": "w"}))]),
        ends(7, "CODE_ACTION", "Created file file:///p/shop/b.rs with requested content."),
        uses(
            8,
            &[("replace_file_content", json!({"TargetFile": "/p/shop/b.rs", "TargetContent": "w", "ReplacementContent": "v\nu"}))],
        ),
        step(9, "SYSTEM", "ERROR_MESSAGE", "target content not found"),
        uses(10, &[("grep_search", json!({"Query": "total", "SearchPath": "/p/shop"}))]),
        uses(12, &[("call_mcp_tool", json!({"ServerName": "git", "ToolName": "log", "Arguments": {"path": "a.rs"}}))]),
        step(
            14,
            "SYSTEM",
            "CHECKPOINT",
            "{{ CHECKPOINT 0 }}\n\n# USER Objective:\nRename A Thing\n\n# User Requests\n1. Rename it",
        ),
    ]);
    assert_eq!(
        told(&read),
        [
            "Rename it",
            "I will.",
            "run_command cargo test",
            "view_file /p/shop/a.rs",
            "ran",
            "exit code 101 | error: could not compile",
            "error: could not compile",
            "write_to_file /p/shop/b.rs",
            "replace_file_content /p/shop/b.rs",
            "target content not found",
            "grep_search total · /p/shop",
            "mcp__git__log a.rs",
            "title",
        ]
    );
    let at = "2026-11-20T10:00:00Z".parse::<jiff::Timestamp>().unwrap().as_millisecond();
    assert_eq!((read[0].at, read[0].cwd.as_deref()), (Some(at), Some("/p/shop")));
    let touched: Vec<_> = read
        .iter()
        .flat_map(|row| &row.items)
        .filter_map(|item| {
            if let Item::Tool(tool) = item { tool.file.as_ref().map(|file| (file.how, file.added, file.removed)) } else { None }
        })
        .collect();
    assert_eq!(touched, [(Touch::Read, 0, 0), (Touch::Written, 1, 0), (Touch::Edited, 2, 1)]);
}

#[test]
fn arguments_are_read_where_each_is_json_in_a_string() {
    let chunks = json!([{"TargetContent": "a", "ReplacementContent": "b\nc"}]).to_string();
    let given = json!({"TargetFile": "\"/p/shop/a b.rs\"", "ReplacementChunks": chunks, "toolSummary": "\"Change it\""});
    let read = records(&[
        uses(0, &[("run_command", json!({"CommandLine": "\"git commit -m \\\"x\\\"\"", "WaitMsBeforeAsync": "5000"}))]),
        uses(2, &[("multi_replace_file_content", given)]),
        // As it was given: not all of it is JSON.
        uses(4, &[("run_command", json!({"CommandLine": "\"my tool\"", "toolSummary": "Run it"}))]),
    ]);
    let told = told(&read);
    assert_eq!(told[0], "run_command git commit -m \"x\"");
    assert!(told.contains(&"multi_replace_file_content /p/shop/a b.rs".to_owned()), "{told:?}");
    assert!(told.contains(&"run_command \"my tool\"".to_owned()), "{told:?}");
}

#[test]
fn a_command_in_the_background_ends_with_a_message() {
    let rows = [
        uses(3, &[runs("cargo test"), runs("cargo clippy")]),
        step(
            4,
            "MODEL",
            "RUN_COMMAND",
            "Created At: x\nTool is running as a background task with task id: s1/task-4\nTask Description: cargo test",
        ),
        ends(5, "GENERIC", "\nThe command exited with code 0.\nOutput:\n"),
        step(
            6,
            "SYSTEM",
            "SYSTEM_MESSAGE",
            "x\n\n<SYSTEM_MESSAGE>\n[Message] timestamp=x sender=s1/task-4 priority=x content=Task id \"s1/task-4\" finished with result:\n\nThe command exited with code 101.\nStdout:\nerror: no\n</SYSTEM_MESSAGE>",
        ),
    ];
    let outcomes: Vec<_> = records(&rows)
        .iter()
        .flat_map(|row| &row.items)
        .filter_map(|item| {
            if let Item::Outcome(outcome) = item { Some((outcome.tool.ends_with("/0"), outcome.brief.clone())) } else { None }
        })
        .collect();
    assert_eq!(outcomes, [(true, "exit code 101 | error: no".to_owned())]);
    let answered: Vec<_> = records(&rows).into_iter().flat_map(|row| row.answered).collect();
    assert!(answered.len() == 2 && answered[0].ends_with("/1") && answered[1].ends_with("/0"), "{answered:?}");
}

#[test]
fn what_a_step_says_twice_is_one_record_and_a_number_may_come_again() {
    let said = [
        asks(0, "Go"),
        step(1, "MODEL", "PLANNER_RESPONSE", "Done."),
        asks(2, "Go on"),
        step(3, "MODEL", "PLANNER_RESPONSE", "More."),
    ];
    let read = records(&[&said[..], &said[2..3]].concat());
    assert_eq!(read[4].key, read[2].key);
    assert_eq!(read[4].parent, read[2].parent);
    // The user went back to before the second prompt.
    let mut other = asks(2, "Something else");
    other["created_at"] = "2026-11-20T11:00:00Z".into();
    let read = records(&[&said[..], &[other]].concat());
    assert_ne!(read[4].key, read[2].key);
    assert_eq!((read[4].parent, read[3].parent), (Some(read[1].key), Some(read[2].key)));
}

#[test]
fn what_is_nobody_s_words_is_no_prompt() {
    let read = records(&[asks(0, "<private>the customer is Zoe</private>")]);
    assert_eq!((read[0].turn, read[0].items.len()), (Turn::BeginsPrivate, 0));
    let plain = |text: &str| told(&records(&[step(0, "USER_EXPLICIT", "USER_INPUT", text)]));
    assert_eq!(plain("inspect @[a.rs]\n<ADDITIONAL_METADATA>moonstone</ADDITIONAL_METADATA>"), ["inspect @a.rs"]);
    for other in
        ["<user_information>moonstone</user_information>", "The following changes were made by the USER to: /p/moonstone", ""]
    {
        assert_eq!(plain(other), [""; 0], "{other}");
    }
    assert!(told(&records(&[step(0, "SYSTEM_SDK", "USER_INPUT", "moonstone")])).is_empty());
    let task = test_rows::parsed(&[asks(0, "Look")], &of_shop(Some("a7")), |_| false);
    assert_eq!(task, [ParsedLine::Empty]);
    assert_eq!(parsed(&[step(0, "SYSTEM", "HOLOGRAM", "x")], |_| false), [ParsedLine::Unknown("HOLOGRAM".into())]);
    // An answer may be called like any tool, if one is waited for.
    let answered = parsed(&[uses(0, &[("new_tool", json!({}))]), step(1, "MODEL", "NEW_TOOL", "x")], |_| false);
    assert!(matches!(answered[1], ParsedLine::Record(_)), "{answered:?}");
}

#[test]
fn a_prompt_that_begins_with_a_tag_is_the_user_s_unless_the_tag_is_the_client_s() {
    let one = |text: &str| {
        let read = records(&[step(0, "USER_EXPLICIT", "USER_INPUT", text)]);
        (read.first().map(|row| row.turn).unwrap_or_default(), told(&read))
    };
    for said in ["<div> does not close", "<user>name</user> is missing"] {
        assert_eq!(one(said), (Turn::Begins, vec![said.to_owned()]));
        assert_eq!(one(&format!("{said}\n<USER_SETTINGS_CHANGE>moonstone")), (Turn::Begins, vec![said.to_owned()]));
    }
    for client in ["<user_information>moonstone", "<user_rules>\nmoonstone\n</user_rules>", "<ADDITIONAL_METADATA>moonstone"] {
        assert_eq!(one(client), (Turn::Continues, vec![]), "{client}");
        assert_eq!(one(&format!("{client}\n<USER_REQUEST>Go</USER_REQUEST>")), (Turn::Begins, vec!["Go".to_owned()]));
    }
    for private in [
        "<private>the customer is Zoe</private>",
        "< Private a=b>the customer is Zoe",
        "<private>the customer of <USER_REQUEST>Zoe</USER_REQUEST></private>",
        "<user_information>moonstone</user_information>\n<private>the customer is Zoe</private>",
        "<private>the customer is Zoe</private>\n<ADDITIONAL_METADATA>moonstone</ADDITIONAL_METADATA>",
    ] {
        assert_eq!(one(private), (Turn::BeginsPrivate, vec![]), "{private}");
    }
    let read = records(&[step(0, "USER_EXPLICIT", "USER_INPUT", "<private>for Zoe</private> Round it")]);
    assert_eq!((read[0].fenced.contains("Zoe"), told(&read)), (true, vec!["Round it".to_owned()]));
}

#[test]
fn a_conversation_s_own_files_are_no_work_of_it() {
    let plan = json!({"TargetFile": "/home/u/.gemini/antigravity/brain/s1/implementation_plan.md", "CodeContent": "# Round it"});
    let read = records(&[uses(0, &[("write_to_file", plan)])]);
    let file = read[0].items.iter().find_map(|item| if let Item::Tool(tool) = item { tool.file.clone() } else { None });
    assert_eq!((file, told(&read)[0].as_str()), (None, "# Round it"));
}

proptest! {
    #[test]
    fn it_does_not_matter_where_the_reading_stopped(kinds in prop::collection::vec(0usize..5, 0..60), cuts in prop::collection::vec(any::<bool>(), 61)) {
        let one = |(n, kind): (usize, &usize)| match (n as u64, kind) {
            (n, 0) => asks(n / 3, "go on"),
            (n, 1) => uses(n, &[runs("cargo test"), runs("ls")]),
            (n, 2) => ends(n, "GENERIC", "\nThe command exited with code 1.\nOutput:\nno"),
            (n, 3) => step(n, "MODEL", "RUN_COMMAND", "Tool is running as a background task with task id: s1/task"),
            (n, _) => step(n, "SYSTEM", "SYSTEM_MESSAGE", "\n<SYSTEM_MESSAGE>\n[Message] sender=s1/task content=Task id \"s1/task\" finished with result:\nx"),
        };
        let rows: Vec<Value> = kinds.iter().enumerate().map(one).collect();
        prop_assert_eq!(parsed(&rows, |n| cuts.get(n).copied().unwrap_or(false)), parsed(&rows, |_| false));
    }
}
