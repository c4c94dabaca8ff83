//! Copilot CLI. Its transcripts are its maker's in part, so the events here are made up after its own.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::recorded::{Counts, Recorded, Tokens};

use crate::support::{World, age, files_below};

pub const SESSION: &str = "93e7562b-1d7d-4e18-b3ed-b992d462256e";
const KEY: &str = "ghp_Zq8mTn4vXw2LrB7cKd9fHs3jPy6eAu5gQoR1";

pub const COPILOT: Recorded = Recorded { agent: "copilot-cli", fixtures: "copilot", home: ".copilot" };
pub const VERSION: &str = "made";

/// What the scene in `fixtures/copilot` has the client do: a test that fails and passes, a commit, a command that the user turns down. Nothing of
/// the private turn is kept, nor its tokens.
#[test]
fn what_was_done_is_what_is_read() {
    let files = ["larder/parse.py", "larder/units.py", "tests/test_parse.py"];
    let expected = Counts {
        sessions: 3,
        prompts: 3 + 1 + 2,
        replies: 5 + 1 + 2,
        commands: 3 + 1,
        failed: 1 + 1,
        files: files.iter().map(|name| format!("/home/dev/src/larder/{name}")).collect(),
        commits: 1,
        subagents: 1,
        recaps: 1,
        ..Counts::default()
    };
    let tokens = Tokens { input: 23_530, cached: 3600, output: 1403 }.without(&[(1120, 62)]);
    assert_eq!(COPILOT.read(VERSION), (expected, tokens));
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    COPILOT.keeps_no_secret(VERSION);
}

#[test]
fn it_does_not_matter_in_which_pieces_events_are_read() {
    COPILOT.reads_any_pieces(VERSION);
}

pub fn world() -> World {
    let event = |n: usize, kind: &str, data: Value, agent: Option<&str>| {
        let mut event = json!({
            "type": kind, "data": data, "id": format!("{n:08}-0000-4000-8000-000000000000"), "timestamp": format!("2026-11-20T09:00:{n:02}.000Z"),
            "parentId": format!("{:08}-0000-4000-8000-000000000000", n - 1),
        });
        if let Some(agent) = agent {
            event["agentId"] = json!(agent);
        }
        event.to_string() + "\n"
    };
    let hook = json!({"hookType": "sessionStart", "output": {"additionalContext": "<recall-context>\nthe moonstone is blue\n</recall-context>"}});
    let events = [
        event(
            1,
            "session.start",
            json!({"sessionId": SESSION, "copilotVersion": "1.0.102", "context": {"cwd": "/home/dev/barn", "branch": "main"}}),
            None,
        ),
        event(2, "hook.end", hook, None),
        event(
            3,
            "user.message",
            json!({"content": format!("Please paint the door of the barn red, and take the key {KEY} when you ask the shop for the paint."), "delivery": "idle"}),
            None,
        ),
        event(
            4,
            "tool.execution_start",
            json!({"toolCallId": "c1", "toolName": "create", "arguments": {"path": "door.txt", "file_text": "red\n"}}),
            None,
        ),
        event(5, "tool.execution_complete", json!({"toolCallId": "c1", "success": true, "result": {"content": "Created"}}), None),
        event(
            6,
            "tool.execution_start",
            json!({"toolCallId": "c2", "toolName": "task", "arguments": {"description": "look at the hinges", "prompt": "Look at the hinges"}}),
            None,
        ),
        event(7, "user.message", json!({"content": "Look at the hinges", "source": "agent-1", "delivery": "idle"}), Some("helper")),
        event(8, "assistant.message", json!({"content": "The hinges are oiled."}), Some("helper")),
        event(9, "assistant.message", json!({"content": "The door is red, and its hinges are oiled."}), None),
        event(
            10,
            "user.message",
            json!({"content": "<private>the farmer is called Zacharias Quill</private>", "delivery": "idle"}),
            None,
        ),
        event(11, "assistant.message", json!({"content": "Zacharias Quill will like it."}), None),
    ];
    let world = World::new();
    let file = world.home().join(format!(".copilot/session-state/{SESSION}/events.jsonl"));
    fs::create_dir_all(file.parent().expect("a parent")).expect("the folder");
    fs::write(&file, events.concat()).expect("a session");
    age(&file, Duration::from_secs(3600));
    world
}

#[test]
fn a_session_is_read_like_any_other() {
    let world = world();
    let report = world.digest(&[]);
    assert_eq!(
        (&report["files_seen"], &report["rows_unknown"], &report["sessions_digested"]),
        (&json!(1), &json!(0), &json!(1)),
        "{report}"
    );
    let shown = world.recall(["show", SESSION]).out;
    assert!(shown.contains("Copilot's last reply") && shown.contains("The door is red") && shown.contains("door.txt"), "{shown}");
    assert!(!shown.contains("“Look at the hinges”"), "a subagent's task is not the user's word: {shown}");
    assert!(world.recall(["search", "agent:copilot", "hinges"]).out.contains("93e7562b"));
    assert!(world.recall(["resume", SESSION, "--print"]).err.contains("/home/dev/barn, which is gone: Copilot CLI can"));
    assert_eq!(world.digest(&[])["rows_new"], 0);
}

#[test]
fn neither_secrets_nor_private_words_nor_its_own_come_back() {
    let world = world();
    world.digest(&[]);
    for text in [KEY, "Quill", "Zacharias", "moonstone"] {
        let holds = |file: &std::path::Path| memchr::memmem::find(&fs::read(file).expect("a file"), text.as_bytes()).is_some();
        let held: Vec<_> = files_below(&world.data_dir()).into_iter().filter(|file| holds(file)).collect();
        assert!(held.is_empty() && !world.recall(["export"]).out.contains(text), "{text}: {held:?}");
    }
}
