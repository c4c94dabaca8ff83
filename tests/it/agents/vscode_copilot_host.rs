//! VS Code Copilot as a host: Claude Code's hooks, which it runs, and the server in the editor's file. Made from its documentation: none was run.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::vscode_copilot::{COPILOT, VERSION};
use crate::hooks::payloads::patient;
use crate::install::agent_servers::parsed;
use crate::install::fakes::everything;
use crate::support::World;

const SESSION: &str = "0f3c7a52-9c1d-4e7f-8a58-b3a604d1f9c2";
const INSTALL: [&str; 6] = ["install", "--agent", "vscode-copilot", "--mcp", "--timer", "none"];

/// A world in which it was used in a folder.
fn world() -> World {
    let world = COPILOT.world(VERSION);
    patient(&world);
    world.digest(&[]);
    world
}

/// What the client sends, by its documentation, and what it is answered.
fn hook(world: &World, name: &str, event: &str, more: &Value) -> String {
    let mut payload = json!({
        "timestamp": "2026-11-21T12:00:00.000Z", "cwd": "/home/dev/src/larder", "sessionId": SESSION, "hookEventName": event,
        "transcript_path": COPILOT.home_in(world).join(format!("workspaceStorage/4f1d/transcripts/{SESSION}.json")),
    });
    payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    world.hook(name, payload.to_string()).out
}

fn servers_file(world: &World) -> PathBuf {
    COPILOT.home_in(world).join("mcp.json")
}

#[test]
fn its_sessions_start_with_notes_by_the_hooks_of_claude_code() {
    let world = world();
    let start = json!({"source": "new"});
    let out = hook(&world, "session-start", "SessionStart", &start);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out:?}"));
    assert_eq!(answer.as_object().expect("an object").len(), 1, "another key is a warning to the user: {answer}");
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "SessionStart");
    let notes = answer["hookSpecificOutput"]["additionalContext"].as_str().expect("notes");
    assert!(notes.contains("Copilot's last reply"), "{notes}");
    assert_eq!(hook(&world, "session-start", "SessionStart", &start), "", "a session is told once");
    // It takes nothing into the conversation there.
    let asks = json!({"prompt": "Where did we leave off on the units of the parser?"});
    assert_eq!(hook(&world, "user-prompt-submit", "UserPromptSubmit", &asks), "");
    assert_eq!(hook(&world, "pre-compact", "PreCompact", &json!({"trigger": "auto"})), "");
    assert!(world.recall(["status"]).out.contains("1 mark"), "{}", world.recall(["status"]).out);
}

#[test]
fn who_does_not_use_or_read_it_and_files_that_lie_elsewhere_get_nothing() {
    let world = world();
    for more in [
        json!({"source": "new", "transcript_path": "/elsewhere/transcript.json"}),
        json!({"source": "new", "transcript_path": COPILOT.home_in(&world).join("../../../x.json")}),
        json!({"source": "new", "sessionId": "../../etc"}),
        json!({"source": "new", "session_id": SESSION}),
        json!({"source": "new", "hookEventName": "sessionStart"}),
    ] {
        assert_eq!(hook(&world, "session-start", "SessionStart", &more), "", "{more}");
    }
    let nameless = json!({"source": "new", "transcript_path": null});
    assert!(hook(&world, "session-start", "SessionStart", &nameless).contains("last reply"));
    world.configure("[sources.vscode-copilot]\nread = false\n[hooks]\ndeadline_ms = 5000\n");
    assert_eq!(hook(&world, "session-start", "SessionStart", &json!({"source": "new", "sessionId": "another"})), "");
    let without = World::digested(&["plain"]);
    patient(&without);
    assert_eq!(hook(&without, "session-start", "SessionStart", &json!({"source": "new", "cwd": "/home/dev/src/shop"})), "");
}

#[test]
fn the_server_goes_into_the_editors_file_and_out_again_byte_for_byte() {
    let texts = [
        None,
        Some("{\"servers\":{},\"inputs\":[]}"),
        Some(
            "{\n\t// mine, #1\n\t\"servers\": {\n\t\t\"tickets\": { \"type\": \"http\", \"url\": \"https://x\" }, // #2\n\t},\n}\n",
        ),
    ];
    for before in texts {
        let world = World::new();
        world.link_recall();
        world.recall(["status"]);
        let file = servers_file(&world);
        if let Some(text) = before {
            fs::create_dir_all(COPILOT.home_in(&world)).expect("the folder");
            fs::write(&file, text).expect("the user's own");
        }
        let was = everything(&world);
        let shown = world.recall([&INSTALL[..], &["--dry-run"]].concat());
        assert!(shown.code == 0 && shown.out.contains("mcp.json") && !shown.out.contains(" hook "), "{shown:#?}");
        assert_eq!(everything(&world), was, "a dry run changes nothing");
        let ran = world.recall(INSTALL);
        let line = format!("mcp       {}: registered", file.display());
        assert!(ran.code == 0 && ran.out.lines().any(|told| told == line), "{ran:#?}");
        assert!(!ran.out.contains("hooks ") && !ran.out.contains("leaves a mark"), "{ran:#?}");
        let text = fs::read_to_string(&file).expect("the file");
        let entry = &parsed(&text)["servers"]["recall"];
        let program = entry["command"].as_str().expect("a program").to_owned();
        let environment = json!({"RECALL_DATA_DIR": world.data_dir()});
        assert_eq!(*entry, json!({"type": "stdio", "command": program, "args": ["mcp"], "env": environment}));
        assert!(world.recall(["install", "--agent", "copilot-chat", "--timer", "none"]).out.contains("already registered"));
        let found =
            || -> Vec<String> { world.findings("mcp", &[]).into_iter().filter(|found| found.contains("User/mcp.json")).collect() };
        assert!(found().len() == 1 && found()[0].starts_with("ok: "), "{:?}", found());
        // What is outdated is mended where it stands.
        fs::write(&file, text.replace(&program, "/gone/recall")).expect("the file");
        assert!(found().len() == 1 && found()[0].contains("/gone/recall is gone"), "{:?}", found());
        world.recall(["doctor", "--fix"]);
        assert_eq!(fs::read_to_string(&file).expect("the file"), text);
        assert_eq!(world.recall(["uninstall", "--agent", "vscode-copilot"]).code, 0);
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), before);
        world.recall(INSTALL);
        assert_eq!(world.recall(["uninstall"]).code, 0);
        assert_eq!(everything(&world), was, "{before:?}");
    }
}

#[test]
fn without_the_server_there_is_nothing_to_install() {
    let world = world();
    let was = everything(&world);
    let ran = world.recall(["install", "--agent", "vscode-copilot", "--timer", "none"]);
    assert!(ran.code == 2 && ran.err.contains("it runs those of Claude Code") && ran.err.contains("--mcp"), "{ran:#?}");
    let ran = world.recall(["install", "--all", "--yes", "--timer", "none"]);
    assert!(ran.code == 0 && !ran.out.contains("VS Code Copilot"), "{ran:#?}");
    world.recall(["uninstall"]);
    assert_eq!(everything(&world), was);
    let ran = world.recall(["install", "--all", "--yes", "--mcp", "--timer", "none"]);
    assert!(ran.code == 0 && ran.out.contains("VS Code Copilot\n") && servers_file(&world).exists(), "{ran:#?}");
    assert!(!world.findings("hooks", &[]).iter().any(|found| found.contains("VS Code Copilot has none")));
}
