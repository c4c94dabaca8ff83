//! Qwen Code as a host: hooks that are installed for it, and what its sessions are told.

use std::fs;

use serde_json::{Value, json};

use super::qwen::QWEN;
use crate::hooks::payloads::patient;
use crate::support::World;

const SESSION: &str = "7d3f0f64-94f5-4b6b-a3c5-1f5a3f6d9c10";

#[test]
fn hooks_go_into_its_settings_and_out_again_byte_for_byte() {
    let world = World::new();
    let file = QWEN.home_in(&world).join("settings.json");
    fs::create_dir_all(file.parent().expect("a parent")).expect("the folder");
    let own = "{\n  \"security\": {\"auth\": {\"selectedType\": \"openai\"}}\n}\n";
    fs::write(&file, own).expect("the user's own");
    let ran = world.recall(["install", "--agent", "qwen", "--timer", "none"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let hooks: Value = serde_json::from_str(&fs::read_to_string(&file).expect("the file")).expect("JSON");
    for event in ["SessionStart", "UserPromptSubmit", "SessionEnd", "PreCompact"] {
        let hook = &hooks["hooks"][event][0]["hooks"][0];
        assert!(hook["command"].as_str().is_some_and(|command| command.contains(" hook ")), "{event}: {hooks}");
        // It waits for so many milliseconds, other clients for seconds.
        assert_eq!(hook["timeout"], 5000);
    }
    assert!(world.recall(["install", "--agent", "qwen", "--timer", "none"]).out.contains("already installed"));
    let found = world.findings("hooks", &[]);
    assert!(
        found.iter().any(|found| found.starts_with("ok: ") && found.contains("/.qwen/settings.json: SessionStart")),
        "{found:?}"
    );
    assert!(!world.claude_dir().join("settings.json").exists());
    world.recall(["uninstall", "--agent", "qwen"]);
    assert_eq!(fs::read_to_string(&file).expect("the file"), own);
    world.recall(["install", "--agent", "qwen", "--timer", "none"]);
    world.recall(["uninstall"]);
    assert_eq!(fs::read_to_string(&file).expect("the file"), own);
}

#[test]
fn an_install_for_claude_code_names_the_others_that_are_used_here() {
    let world = QWEN.world("0.24.4");
    let told = "Qwen Code is used here, too: after `recall install --agent qwen-code`";
    let ran = world.recall(["install", "--timer", "none"]);
    assert!(ran.code == 0 && ran.err.contains(told) && !ran.err.contains("Codex is used"), "{ran:#?}");
    world.recall(["install", "--agent", "qwen-code", "--timer", "none"]);
    let ran = world.recall(["install", "--timer", "none"]);
    assert!(!ran.err.contains("is used here"), "{ran:#?}");
}

#[test]
fn its_sessions_start_with_notes_and_hear_of_earlier_ones_at_a_prompt() {
    let world = QWEN.world("0.24.4");
    patient(&world);
    world.digest(&[]);
    let hook = |name: &str, event: &str, below: &str, more: &Value| {
        let transcript = QWEN.home_in(&world).join(below);
        let mut payload = json!({
            "session_id": SESSION, "transcript_path": transcript, "cwd": "/home/dev/kitchen", "hook_event_name": event,
            "timestamp": "2026-11-21T12:00:00.000Z", "permission_mode": "default",
        });
        payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        world.hook(name, payload.to_string()).out
    };
    let told = |out: &str| {
        let answer: Value = serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {out:?}"));
        answer["hookSpecificOutput"]["additionalContext"].as_str().expect("notes").to_owned()
    };
    let chat = format!("projects/-home-dev-kitchen/chats/{SESSION}.jsonl");
    let start = json!({"source": "startup", "model": "qwen3-coder-plus"});
    let notes = told(&hook("session-start", "SessionStart", &chat, &start));
    assert!(notes.contains("Start again: half a spoon") && notes.contains("Qwen's last reply"), "{notes}");
    let asks = json!({"prompt": "Where did we leave off on the fractions of a spoon in the amounts?", "prompt_id": "p1"});
    let notice = told(&hook("user-prompt-submit", "UserPromptSubmit", &chat, &asks));
    assert!(notice.contains("spoon"), "{notice}");
    assert_eq!(hook("session-end", "SessionEnd", &chat, &json!({"reason": "prompt_input_exit"})), "");
    assert!(world.recall(["status"]).out.contains("1 mark"), "{}", world.recall(["status"]).out);
    // Whose transcript lies elsewhere, or is a subagent's, is told nothing.
    for other in [
        format!("projects/-home-dev-kitchen/{SESSION}.jsonl"),
        format!("projects/-home-dev-kitchen/subagents/{SESSION}/agent-a.jsonl"),
    ] {
        assert_eq!(hook("session-start", "SessionStart", &other, &start), "", "{other}");
    }
}
