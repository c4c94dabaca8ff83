//! Copilot CLI as a host: hooks that are installed for it, and what its sessions are told.

use std::fs;

use serde_json::{Value, json};

use super::copilot::world;
use crate::hooks::payloads::patient;
use crate::support::World;

const OTHER: &str = "0b6a3d52-43a7-4c0e-9c1e-6f0d6b6a7c55";

/// What the client sends, and what it is answered.
fn hook(world: &World, name: &str, more: &Value) -> String {
    let mut payload = json!({"sessionId": OTHER, "timestamp": 1_795_262_400_000_u64, "cwd": "/home/dev/barn"});
    payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    world.hook(name, payload.to_string()).out
}

/// Its form of an answer has one key.
fn told(out: &str) -> String {
    let answer: Value = serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {out:?}"));
    assert_eq!(answer.as_object().expect("an object").len(), 1, "{answer}");
    answer["additionalContext"].as_str().expect("notes").to_owned()
}

#[test]
fn hooks_go_into_a_file_of_their_own_and_out_again() {
    let world = World::new();
    let folder = world.home().join(".copilot/hooks");
    fs::create_dir_all(&folder).expect("the folder");
    fs::write(folder.join("mine.json"), "{\"version\": 1, \"hooks\": {}}").expect("the user's own");
    let ran = world.recall(["install", "--agent", "copilot", "--timer", "none"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let file = folder.join("recall.json");
    let hooks: Value = serde_json::from_str(&fs::read_to_string(&file).expect("the file")).expect("JSON");
    assert_eq!(hooks["version"], 1);
    for event in ["sessionStart", "userPromptSubmitted", "sessionEnd", "preCompact"] {
        let hook = &hooks["hooks"][event][0];
        assert!(hook["bash"].as_str().is_some_and(|command| command.contains(" hook ")), "{event}: {hooks}");
        assert_eq!((&hook["type"], &hook["timeoutSec"]), (&json!("command"), &json!(5)));
    }
    assert!(world.recall(["install", "--agent", "copilot", "--timer", "none"]).out.contains("already installed"));
    let found = world.findings("hooks", &[]);
    let is_there = |found: &String| found.starts_with("ok: ") && found.contains("/.copilot/hooks/recall.json: sessionStart");
    assert!(found.iter().any(is_there), "{found:?}");
    world.recall(["uninstall", "--agent", "copilot"]);
    let left: Vec<_> = crate::support::files_below(&world.home().join(".copilot"));
    assert_eq!(left, [folder.join("mine.json")]);
    world.recall(["install", "--agent", "copilot", "--timer", "none"]);
    assert!(file.exists());
    world.recall(["uninstall"]);
    assert!(!file.exists());
}

#[test]
fn its_sessions_start_with_notes_and_hear_of_earlier_ones_at_a_prompt() {
    let world = world();
    patient(&world);
    world.digest(&[]);
    let notes = told(&hook(&world, "session-start", &json!({"source": "new", "initialPrompt": "Go on"})));
    assert!(notes.contains("Copilot's last reply") && notes.contains("The door is red"), "{notes}");
    let asks = json!({"prompt": "Where did we leave off with the red paint on the door of the barn?"});
    let notice = told(&hook(&world, "user-prompt-submit", &asks));
    assert!(notice.contains("barn"), "{notice}");
    assert_eq!(hook(&world, "session-end", &json!({"reason": "complete"})), "");
    assert!(world.recall(["status"]).out.contains("1 mark"), "{}", world.recall(["status"]).out);
}

#[test]
fn who_is_no_copilot_cli_or_does_not_read_it_is_told_nothing() {
    let world = world();
    patient(&world);
    world.digest(&[]);
    let start = json!({"source": "new"});
    // Other hosts that run the hooks of a shared file.
    for more in [
        json!({"source": "new", "hookEventName": "SessionStart"}),
        json!({"source": "new", "transcript_path": "/home/dev/x.json"}),
        json!({"source": "new", "hook_event_name": "SessionStart"}),
        json!({"source": "new", "sessionId": "../../etc"}),
    ] {
        assert_eq!(hook(&world, "session-start", &more), "", "{more}");
    }
    world.configure("[sources.copilot-cli]\nread = false\n[hooks]\ndeadline_ms = 5000\n");
    assert_eq!(hook(&world, "session-start", &start), "", "who does not read Copilot CLI tells it nothing");
    // Nor anybody who does not use it.
    let without = World::digested(&["plain"]);
    patient(&without);
    assert_eq!(hook(&without, "session-start", &start), "");
    hook(&without, "session-end", &json!({"reason": "complete"}));
    assert!(!without.recall(["status"]).out.contains(" left by hooks"), "{}", without.recall(["status"]).out);
}
