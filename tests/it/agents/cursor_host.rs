//! Cursor as a host: hooks that are installed for it, and what its sessions are told. Made from its documentation: none was run.

use std::fs;

use serde_json::{Value, json};

use super::cursor::{asks, says, transcript};
use crate::hooks::payloads::patient;
use crate::install::fakes::everything;
use crate::support::World;

const SESSION: &str = "668320d2-2fd8-4888-b33c-2a466fec86e7";

/// A world in which Cursor was used in a folder.
fn world() -> World {
    let world = World::new();
    let rows = [
        asks("Round the amounts of the shopping list to whole grams"),
        says("Amounts are rounded to whole grams now; the ounces are left."),
    ];
    transcript(&world, "src-larder/agent-transcripts/5f1a/5f1a.jsonl", &rows.concat());
    let trusted = world.home().join(".cursor/projects/src-larder/.workspace-trusted");
    fs::write(trusted, "{\"workspacePath\": \"/src/larder\"}").expect("a file");
    patient(&world);
    world.digest(&[]);
    world
}

/// What the client sends, by its documentation, and what it is answered.
fn hook(world: &World, name: &str, event: &str, more: &Value) -> String {
    let mut payload = json!({
        "conversation_id": SESSION, "generation_id": "490b90b7", "model": "auto", "hook_event_name": event, "cursor_version": "2.4.1",
        "workspace_roots": ["/src/larder"], "user_email": null, "transcript_path": null, "session_id": SESSION,
    });
    payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    world.hook(name, payload.to_string()).out
}

#[test]
fn its_sessions_start_with_notes_and_leave_a_mark() {
    let world = world();
    let start = json!({"is_background_agent": false, "composer_mode": "agent"});
    let out = hook(&world, "session-start", "sessionStart", &start);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out:?}"));
    assert_eq!(answer.as_object().expect("an object").len(), 1, "its form of an answer has one key: {answer}");
    let notes = answer["additional_context"].as_str().expect("notes");
    assert!(notes.contains("whole grams"), "{notes}");
    assert_eq!(hook(&world, "session-start", "sessionStart", &start), "", "a session is told once");
    assert_eq!(hook(&world, "session-end", "sessionEnd", &json!({"reason": "user_close", "duration_ms": 1200})), "");
    assert!(world.recall(["status"]).out.contains("1 mark"), "{}", world.recall(["status"]).out);
}

#[test]
fn a_transcript_that_it_names_has_to_be_the_sessions_own() {
    let world = world();
    let named = |below: &str| json!({"transcript_path": world.home().join(".cursor/projects").join(below)});
    for other in [
        named("src-larder/agent-transcripts/5f1a/5f1a.jsonl"),
        named(&format!("../../src-larder/agent-transcripts/{SESSION}.jsonl")),
        json!({"transcript_path": format!("/elsewhere/projects/src-larder/agent-transcripts/{SESSION}.jsonl")}),
        json!({"conversation_id": "../../etc"}),
        json!({"conversation_id": null}),
    ] {
        assert_eq!(hook(&world, "session-start", "sessionStart", &other), "", "{other}");
    }
    let own = named(&format!("src-larder/agent-transcripts/{SESSION}/{SESSION}.jsonl"));
    assert!(hook(&world, "session-start", "sessionStart", &own).contains("whole grams"));
}

#[test]
fn who_does_not_use_or_read_it_and_hooks_of_claude_code_tell_it_nothing() {
    let world = world();
    // With a setting of its own it runs Claude Code's hooks, by Claude Code's names.
    for (name, event) in
        [("session-start", "SessionStart"), ("user-prompt-submit", "UserPromptSubmit"), ("session-end", "SessionEnd")]
    {
        let more = json!({"prompt": "Where did we leave off on the whole grams of the shopping list?", "source": "startup"});
        assert_eq!(hook(&world, name, event, &more), "", "{event}");
    }
    assert_eq!(hook(&world, "session-end", "sessionStart", &json!({})), "", "another event's");
    assert!(!world.recall(["status"]).out.contains(" left by hooks"), "{}", world.recall(["status"]).out);
    world.configure("[sources.cursor]\nread = false\n[hooks]\ndeadline_ms = 5000\n");
    assert_eq!(hook(&world, "session-start", "sessionStart", &json!({})), "");
    let without = World::digested(&["plain"]);
    patient(&without);
    assert_eq!(hook(&without, "session-start", "sessionStart", &json!({"workspace_roots": ["/home/dev/src/shop"]})), "");
}

#[test]
fn hooks_go_into_its_file_and_out_again_byte_for_byte() {
    let texts = [
        None,
        Some("{\"version\":1,\"hooks\":{}}"),
        Some(
            "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [{ \"command\": \"./audit.sh\" }],\n    \"sessionStart\": [{ \"command\": \"./hello.sh\", \"timeout\": 9 }]\n  }\n}\n",
        ),
    ];
    for before in texts {
        let world = World::new();
        world.recall(["status"]);
        let file = world.home().join(".cursor/hooks.json");
        if let Some(text) = before {
            fs::create_dir_all(world.home().join(".cursor")).expect("the folder");
            fs::write(&file, text).expect("the user's own");
        }
        let was = everything(&world);
        let ran = world.recall(["install", "--agent", "cursor", "--timer", "none"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let text = fs::read_to_string(&file).expect("the file");
        let hooks: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(hooks["version"], 1);
        for (event, argument) in [("sessionStart", "session-start"), ("sessionEnd", "session-end")] {
            let list = hooks["hooks"][event].as_array().expect("a list");
            let ours = list.last().expect("ours").as_object().expect("an object");
            let command = ours["command"].as_str().expect("a command");
            assert!(command.ends_with(&format!(" hook {argument}")) && ours["timeout"] == 5 && ours.len() == 2, "{text}");
        }
        assert_eq!(hooks["hooks"].get("beforeSubmitPrompt"), None, "at a prompt it takes nothing: {text}");
        assert!(world.recall(["install", "--agent", "cursor-agent", "--timer", "none"]).out.contains("already installed"));
        assert_eq!(fs::read_to_string(&file).expect("the file"), text);
        let found = world.findings("hooks", &[]);
        let is_there = |found: &String| found.starts_with("ok: ") && found.contains("/.cursor/hooks.json: ");
        assert!(found.iter().any(is_there), "{found:?}");
        // What is outdated is mended where it stands.
        fs::write(&file, text.replace(&format!("'{}'", world.program()), "'/gone/recall'")).expect("the file");
        let found = world.findings("hooks", &[]);
        assert!(found.iter().any(|found| found.contains("hooks.json: /gone/recall is gone")), "{found:?}");
        world.recall(["doctor", "--fix"]);
        assert_eq!(fs::read_to_string(&file).expect("the file"), text);
        assert_eq!(world.recall(["uninstall"]).code, 0);
        assert_eq!(everything(&world), was, "{before:?}");
    }
}

#[test]
fn the_doctor_says_that_it_could_have_them() {
    let world = world();
    let found = world.findings("hooks", &[]);
    assert!(found.iter().any(|found| found.starts_with("ok: Cursor has none: after `recall install --agent cursor`")), "{found:?}");
}
