//! Gemini CLI as a host: hooks that are installed for it, and what its sessions are told.

use std::fs;

use serde_json::{Value, json};

use super::gemini::{GEMINI, VERSION};
use crate::hooks::payloads::patient;
use crate::support::World;

const SESSION: &str = "7d3f0f64-94f5-4b6b-a3c5-1f5a3f6d9c10";
const CHAT: &str = "tmp/larder/chats/session-2026-11-21T12-00-7d3f0f64.jsonl";

/// Whether there is a mark of a session.
fn is_marked(world: &World) -> bool {
    world.recall(["status"]).out.contains("1 mark")
}

/// What a hook answers that Gemini runs.
fn hook(world: &World, name: &str, event: &str, below: &str, more: &Value) -> String {
    let mut payload = json!({
        "session_id": SESSION, "transcript_path": GEMINI.home_in(world).join(below), "cwd": "/home/dev/src/larder",
        "hook_event_name": event, "timestamp": "2026-11-21T12:00:00.000Z",
    });
    payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    world.hook(name, payload.to_string()).out
}

#[test]
fn hooks_go_into_its_settings_and_out_again_byte_for_byte() {
    let world = World::new();
    let file = GEMINI.home_in(&world).join("settings.json");
    fs::create_dir_all(file.parent().expect("a parent")).expect("the folder");
    let own = "{\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}\n}\n";
    fs::write(&file, own).expect("the user's own");
    let ran = world.recall(["install", "--agent", "gemini", "--timer", "none"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let hooks: Value = serde_json::from_str(&fs::read_to_string(&file).expect("the file")).expect("JSON");
    // Before each prompt it tells that it may compact, which is nothing to run a program for.
    for (event, matcher) in [("SessionStart", None), ("BeforeAgent", None), ("SessionEnd", None), ("PreCompress", Some("manual"))] {
        let entry = &hooks["hooks"][event][0];
        assert!(entry["hooks"][0]["command"].as_str().is_some_and(|command| command.contains(" hook ")), "{event}: {hooks}");
        assert_eq!((&entry["hooks"][0]["timeout"], entry["matcher"].as_str()), (&json!(5000), matcher), "{event}");
    }
    assert_eq!(hooks["hooks"].as_object().map(serde_json::Map::len), Some(4));
    assert!(world.recall(["install", "--agent", "gemini-cli", "--timer", "none"]).out.contains("already installed"));
    let found = world.findings("hooks", &[]);
    let whole = "/.gemini/settings.json: SessionStart, BeforeAgent, SessionEnd, PreCompress";
    assert!(found.iter().any(|found| found.starts_with("ok: ") && found.contains(whole)), "{found:?}");
    world.recall(["uninstall", "--agent", "gemini"]);
    assert_eq!(fs::read_to_string(&file).expect("the file"), own);
    world.recall(["install", "--agent", "gemini", "--timer", "none"]);
    world.recall(["uninstall"]);
    assert_eq!(fs::read_to_string(&file).expect("the file"), own);
}

#[test]
fn its_sessions_start_with_notes_and_hear_of_earlier_ones_at_a_prompt() {
    let world = GEMINI.world(VERSION);
    patient(&world);
    world.digest(&[]);
    let told = |out: &str, event: &str| {
        let answer: Value = serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {out:?}"));
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
        answer["hookSpecificOutput"]["additionalContext"].as_str().expect("notes").to_owned()
    };
    let start = json!({"source": "startup"});
    let notes = told(&hook(&world, "session-start", "SessionStart", CHAT, &start), "SessionStart");
    assert!(notes.contains("8 oz cheese") && notes.contains("Gemini's last reply"), "{notes}");
    let asks = json!({"prompt": "Where did we leave off on the mixed amounts that the recipe reader takes for a single cup?"});
    let notice = told(&hook(&world, "user-prompt-submit", "BeforeAgent", CHAT, &asks), "BeforeAgent");
    assert!(notice.contains("1 1/2 cups"), "{notice}");
    // What a hook told at the start stands before the first prompt; it is not the user who says it.
    let other = GEMINI.world(VERSION);
    patient(&other);
    other.digest(&[]);
    let told_before = "<hook_context>&lt;recall-context&gt; Where did we leave off on the mixed amounts? &lt;/recall-context&gt;</hook_context>\n\n";
    let prompt = |words: &str| json!({"prompt": format!("{told_before}{words}")});
    assert_eq!(hook(&other, "user-prompt-submit", "BeforeAgent", CHAT, &prompt("Good morning to you")), "");
    let asks = prompt(asks["prompt"].as_str().expect("words"));
    let notice = told(&hook(&other, "user-prompt-submit", "BeforeAgent", CHAT, &asks), "BeforeAgent");
    assert!(notice.contains("Quotes from earlier sessions") && notice.contains("1 1/2 cups"), "{notice}");
    // Whose transcript lies elsewhere, or is a subagent's or another session's, is told nothing.
    for other in [
        "tmp/larder/session-2026-11-21T12-00-7d3f0f64.jsonl".to_owned(),
        "tmp/larder/chats/session-2026-11-21T12-00-8d3f0f64.jsonl".to_owned(),
        format!("tmp/larder/chats/{SESSION}/a.jsonl"),
    ] {
        assert_eq!(hook(&world, "session-start", "SessionStart", &other, &start), "", "{other}");
    }
}

#[test]
fn a_mark_is_left_at_the_end_and_at_a_compaction_that_was_asked_for() {
    let world = GEMINI.world(VERSION);
    world.digest(&[]);
    assert_eq!(hook(&world, "pre-compact", "PreCompress", CHAT, &json!({"trigger": "auto"})), "");
    assert!(!is_marked(&world), "{}", world.recall(["status"]).out);
    assert_eq!(hook(&world, "session-end", "SessionEnd", CHAT, &json!({"reason": "exit"})), "");
    assert!(is_marked(&world), "{}", world.recall(["status"]).out);
    let world = GEMINI.world(VERSION);
    world.digest(&[]);
    assert_eq!(hook(&world, "pre-compact", "PreCompress", CHAT, &json!({"trigger": "manual"})), "");
    assert!(is_marked(&world), "{}", world.recall(["status"]).out);
}
