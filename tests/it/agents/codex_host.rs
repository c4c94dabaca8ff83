//! Codex as a host: hooks that are installed for it, and what its sessions are told. `tests/it/real_client.rs` leads the client itself.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::agents::codex::world;
use crate::hooks::payloads::patient;
use crate::support::World;

const SESSION: &str = "01a21cff-0000-7000-8000-0000abcd1234";
const FOLDER: &str = "/home/dev/kitchen";

fn hooks_file(world: &World) -> PathBuf {
    world.home().join(".codex/hooks.json")
}

/// What Codex sends for an event.
fn payload(world: &World, event: &str, more: &Value) -> String {
    let rollout = world.home().join(format!(".codex/sessions/2026/11/21/rollout-2026-11-21T12-00-00-{SESSION}.jsonl"));
    let mut payload = json!({
        "session_id": SESSION, "transcript_path": rollout, "cwd": FOLDER, "hook_event_name": event, "model": "gpt-5.5",
        "permission_mode": "default",
    });
    let fields = payload.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    payload.to_string()
}

fn told(out: &str) -> String {
    let answer: Value = serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {out:?}"));
    let keys: Vec<&String> = answer.as_object().expect("an object").keys().collect();
    // Codex refuses an answer with a key that it does not know.
    assert!(keys.iter().all(|key| ["hookSpecificOutput", "systemMessage"].contains(&key.as_str())), "{keys:?}");
    answer["hookSpecificOutput"]["additionalContext"].as_str().expect("notes").to_owned()
}

#[test]
fn hooks_go_into_its_file_and_out_again_byte_for_byte() {
    let world = World::new();
    let file = hooks_file(&world);
    fs::create_dir_all(file.parent().expect("a parent")).expect("the folder");
    let own = "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]\n  }\n}\n";
    fs::write(&file, own).expect("the user's own");
    let dry = world.recall(["install", "--agent", "codex", "--timer", "none", "--dry-run"]);
    assert!(dry.out.contains("hook session-start") && fs::read_to_string(&file).expect("the file") == own, "{dry:#?}");
    let ran = world.recall(["install", "--agent", "codex", "--timer", "none"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    // Codex runs no hook that the user does not trust, and says nothing about it.
    assert!(ran.err.contains("type `/hooks`"), "{}", ran.err);
    let text = fs::read_to_string(&file).expect("the file");
    let hooks: Value = serde_json::from_str(&text).expect("JSON");
    for event in ["SessionStart", "UserPromptSubmit", "SessionEnd", "PreCompact"] {
        assert!(hooks["hooks"][event][0]["hooks"][0]["command"].as_str().is_some_and(|c| c.contains(" hook ")), "{event}: {text}");
    }
    // Nothing of Claude Code's was touched, and a second install changes nothing: a changed command would have to be trusted again.
    assert!(!world.claude_dir().join("settings.json").exists());
    let again = world.recall(["install", "--agent", "codex", "--timer", "none"]);
    assert!(again.out.contains("already installed") && !again.err.contains("/hooks"), "{again:#?}");
    assert_eq!(fs::read_to_string(&file).expect("the file"), text);
    assert!(
        world
            .findings("hooks", &[])
            .iter()
            .any(|found| found.starts_with("ok: ") && found.contains("/.codex/hooks.json: SessionStart"))
    );
    world.recall(["uninstall", "--agent", "codex"]);
    assert_eq!(fs::read_to_string(&file).expect("the file"), own);
    // Without an agent it is taken out with all else.
    fs::remove_file(&file).expect("no file");
    world.recall(["install", "--agent", "codex", "--timer", "none"]);
    assert!(file.exists());
    world.recall(["uninstall"]);
    assert!(!file.exists());
}

#[test]
fn its_sessions_start_with_notes_and_hear_of_earlier_ones_at_a_prompt() {
    let world = world("0.169.0");
    patient(&world);
    world.digest(&[]);
    let start = |source: &str| world.hook("session-start", payload(&world, "SessionStart", &json!({"source": source})));
    let notes = told(&start("startup").out);
    assert!(notes.contains("Start again: half a spoon") && notes.contains("Codex's last reply"), "{notes}");
    // After a compaction they are told again: the conversation has lost them.
    assert!(told(&start("compact").out).contains("Start again: half a spoon"));
    let asks = json!({"prompt": "Where did we leave off on the fractions of a spoon in the amounts?", "turn_id": "t1"});
    let prompt = told(&world.hook("user-prompt-submit", payload(&world, "UserPromptSubmit", &asks)).out);
    assert!(prompt.contains("spoon"), "{prompt}");
    // A mark at the end, and none from a rollout that is not where Codex keeps its own.
    let ended = world.hook("session-end", payload(&world, "SessionEnd", &json!({"reason": "exit"})));
    assert_eq!((ended.code, ended.out.as_str()), (0, ""));
    assert!(world.recall(["status"]).out.contains("1 mark"), "{}", world.recall(["status"]).out);
    world.configure("[sources.codex]\nread = false\n[hooks]\ndeadline_ms = 5000\n");
    assert_eq!(start("clear").out, "", "who does not read Codex tells it nothing");
}

#[test]
fn what_a_hook_told_a_session_of_codex_is_not_read_as_said() {
    let world = World::new();
    let rollout = world.home().join(format!(".codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-{SESSION}.jsonl"));
    let row = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-11-20T09:00:00Z", "type": kind, "payload": payload}).to_string() + "\n"
    };
    let notes = "<recall-context>\nNotes from earlier sessions.\n- the moonstone is blue\n</recall-context>\n";
    let rows = [
        row("session_meta", json!({"id": SESSION, "timestamp": "2026-11-20T09:00:00Z", "cwd": FOLDER, "cli_version": "0.169.0"})),
        row("response_item", json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": notes}]})),
        row("event_msg", json!({"type": "user_message", "message": "Paint the door."})),
        row("event_msg", json!({"type": "agent_message", "message": "It is red."})),
    ];
    fs::create_dir_all(rollout.parent().expect("a parent")).expect("the folder");
    fs::write(&rollout, rows.concat()).expect("a rollout");
    crate::support::age(&rollout, std::time::Duration::from_secs(3600));
    world.digest(&[]);
    let all = world.recall(["export"]).out + &world.recall(["show", "last"]).out + &world.recall(["search", "moonstone"]).out;
    assert!(all.contains("Paint the door.") && !all.contains("moonstone"), "{all}");
}
