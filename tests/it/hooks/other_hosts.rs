//! Other programs read the same settings file and run the same hooks: they get nothing, and nothing of theirs is kept.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hooks::payloads::{FOLDER, S, SHOP, configure, marks, patient, payload, starts, told, transcript};
use crate::hooks::prompt::{heard, says};
use crate::support::{World, changed};

/// A world in which a session of the shop's would be told a lot.
fn with_notes() -> World {
    let world = World::with_fixtures(&["plain"]);
    patient(&world);
    world.digest(&["--summarizer", "extract"]);
    world
}

const EVENTS: [(&str, &str); 7] = [
    ("session-start", "SessionStart"),
    ("session-end", "SessionEnd"),
    ("pre-compact", "PreCompact"),
    ("post-compact", "PostCompact"),
    ("stop", "Stop"),
    ("subagent-stop", "SubagentStop"),
    ("user-prompt-submit", "UserPromptSubmit"),
];

/// What a session of Claude Code's would be told something at.
const ASKS: &str = "Where did we leave off on the keyset pagination?";

/// The hook says nothing to this and leaves every file as it was, whatever it is called for.
fn gets_nothing(world: &World, event: &str, who: &str, payload: &Value) {
    let before = world.everything();
    let mut payload = payload.clone();
    if let Some(fields) = payload.as_object_mut() {
        fields.insert("prompt".into(), ASKS.into());
    }
    let ran = world.hook(event, payload.to_string());
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{who}, {event}: {payload:#}");
    assert_eq!(changed(&before, &world.everything()), Vec::<PathBuf>::new(), "{who}, {event}: {payload:#}");
}

/// What other programs send, by the names of their own documentation, for an event of this name.
fn others(world: &World, theirs: &str) -> Vec<(&'static str, Value)> {
    let home = world.home();
    let at = |path: &str| home.join(path);
    let camel = theirs[..1].to_lowercase() + &theirs[1..];
    let windsurf = |folder: &str| {
        json!({
            "agent_action_name": "post_cascade_response_with_transcript", "trajectory_id": S, "execution_id": "e1",
            "timestamp": "2026-11-21T12:00:00Z", "tool_info": {"transcript_path": format!("{folder}/{S}.jsonl")},
        })
    };
    vec![
        (
            "Cursor",
            json!({
                "conversation_id": S, "generation_id": "g1", "model": "auto", "hook_event_name": camel, "cursor_version": "2.4.1",
                "workspace_roots": [SHOP], "user_email": "dev@example.org", "session_id": S, "reason": "completed",
                "transcript_path": at(&format!(".cursor/projects/{FOLDER}/agent-transcripts/{S}.jsonl")),
            }),
        ),
        (
            "Cursor in the words of Claude Code",
            json!({
                "conversation_id": S, "generation_id": "g1", "hook_event_name": theirs, "cursor_version": "2.4.1",
                "workspace_roots": [SHOP], "session_id": S, "cwd": SHOP, "source": "startup", "transcript_path": transcript(world, S),
            }),
        ),
        (
            "VS Code Copilot",
            json!({
                "timestamp": "2026-11-21T12:00:00.000Z", "cwd": SHOP, "sessionId": S, "hookEventName": theirs, "source": "new",
                "transcript_path": at("workspaceStorage/1/transcripts/x.json"), "stop_hook_active": false,
            }),
        ),
        (
            "VS Code Copilot with both spellings",
            json!({
                "timestamp": "2026-11-21T12:00:00.000Z", "cwd": SHOP, "sessionId": S, "session_id": S, "hook_event_name": theirs,
                "transcript_path": transcript(world, S),
            }),
        ),
        ("Copilot CLI", json!({"timestamp": 1_795_262_400_000_i64, "cwd": SHOP, "source": "new", "initialPrompt": "hello"})),
        (
            "Copilot CLI in the words of Claude Code",
            json!({"hook_event_name": theirs, "session_id": S, "timestamp": "2026-11-21T12:00:00Z", "cwd": SHOP, "source": "startup"}),
        ),
        (
            "Gemini CLI",
            json!({
                "session_id": S, "transcript_path": at(".gemini/tmp/9f2c/chats/session-2026-11-21T12-00-55551111.json"), "cwd": SHOP,
                "hook_event_name": theirs, "timestamp": "2026-11-21T12:00:00.000Z", "source": "startup",
            }),
        ),
        (
            "Codex of another home",
            json!({
                "session_id": S, "cwd": SHOP, "hook_event_name": theirs, "model": "gpt-5.2", "permission_mode": "default",
                "source": "startup", "transcript_path": at(&format!("other/.codex/sessions/2026/11/21/rollout-2026-11-21T12-00-00-{S}.jsonl")),
            }),
        ),
        (
            "Codex without a transcript",
            json!({
                "session_id": S, "cwd": SHOP, "hook_event_name": theirs, "model": "gpt-5.2", "source": "startup",
                "transcript_path": null,
            }),
        ),
        (
            "Factory droid",
            json!({
                "session_id": S, "transcript_path": at(&format!(".factory/projects/{FOLDER}/{S}.jsonl")), "cwd": SHOP,
                "permission_mode": "off", "hook_event_name": theirs, "source": "startup",
            }),
        ),
        ("Windsurf", json!({"agent_action_name": "post_cascade_response", "trajectory_id": S, "tool_info": {"response": "hi"}})),
        ("Windsurf of another home", windsurf("/elsewhere/.windsurf/transcripts")),
        ("Windsurf with a transcript of Codex's", windsurf(&at(".codex/sessions/2026/11/21").to_string_lossy())),
        ("somebody with an empty object", json!({})),
    ]
}

#[test]
fn other_programs_get_nothing_and_leave_nothing() {
    let world = with_notes();
    for (event, theirs) in EVENTS {
        for (who, payload) in others(&world, theirs) {
            gets_nothing(&world, event, who, &payload);
        }
    }
    // Before there is anything at all, nothing comes into being.
    let fresh = World::new();
    for (who, payload) in others(&fresh, "SessionEnd") {
        gets_nothing(&fresh, "session-end", who, &payload);
    }
    assert!(!fresh.data_dir().exists());
    assert!(told(&world, &starts(&world, S, "startup")).is_some(), "there would have been something to tell");
    assert!(heard(&world, &says(&world, S, ASKS)).is_some(), "and to say at the prompt");
}

#[test]
fn one_event_s_payload_is_not_another_s() {
    let world = with_notes();
    for (event, own) in EVENTS {
        for name in EVENTS.iter().map(|(_, theirs)| *theirs).chain(["", "sessionStart", "SESSIONEND", "Notification"]) {
            if name != own {
                gets_nothing(&world, event, name, &payload(&world, name, S, json!({"source": "startup"})));
            }
        }
        let mut nameless = payload(&world, own, S, json!({"source": "startup"}));
        nameless.as_object_mut().unwrap().remove("hook_event_name");
        gets_nothing(&world, event, "no name", &nameless);
        gets_nothing(&world, event, "a number", &payload(&world, own, S, json!({"hook_event_name": 7})));
    }
}

#[test]
fn ids_that_are_none_and_transcripts_that_lie_elsewhere_are_not_claude_codes() {
    let world = with_notes();
    let projects = world.claude_dir().join("projects");
    let long = "a".repeat(129);
    for id in ["", "..", "a/b", "../x", "/etc/passwd", "a\0b", "a b", "a\nb", "ä", "{}", long.as_str()] {
        let path = format!("{}/{FOLDER}/{id}.jsonl", projects.display());
        for (event, theirs) in [EVENTS[0], EVENTS[1], EVENTS[6]] {
            let payload = payload(&world, theirs, id, json!({"transcript_path": path, "source": "startup"}));
            gets_nothing(&world, event, "an odd id", &payload);
        }
    }
    let good = |path: &Path| path.display().to_string();
    let paths = [
        Value::Null,
        json!(7),
        json!([]),
        json!(""),
        json!(S),
        json!(format!("{S}.jsonl")),
        json!(format!("projects/{FOLDER}/{S}.jsonl")),
        json!(good(&world.root().join(format!("elsewhere/projects/{FOLDER}/{S}.jsonl")))),
        json!(good(&world.claude_dir().join(format!("{S}.jsonl")))),
        json!(good(&world.claude_dir().join(format!("transcripts/{FOLDER}/{S}.jsonl")))),
        json!(good(&projects.join(format!("{S}.jsonl")))),
        json!(good(&projects.join(format!("{FOLDER}/{S}.json")))),
        json!(good(&projects.join(format!("{FOLDER}/{S}")))),
        json!(good(&projects.join(format!("{FOLDER}/another-session.jsonl")))),
        json!(good(&projects.join(format!("{FOLDER}/{S}/subagents/{S}.jsonl")))),
        json!(format!("{}/../../other/projects/{FOLDER}/{S}.jsonl", projects.display())),
    ];
    for path in paths {
        for (event, theirs) in [EVENTS[0], EVENTS[1], EVENTS[6]] {
            let payload = payload(&world, theirs, S, json!({"transcript_path": path, "source": "startup"}));
            gets_nothing(&world, event, "a transcript elsewhere", &payload);
        }
    }
    let mut without = payload(&world, "SessionEnd", S, json!({"reason": "other"}));
    without.as_object_mut().unwrap().remove("transcript_path");
    gets_nothing(&world, "session-end", "no transcript", &without);
}

/// A transcript of the session in another config directory.
fn below(dir: &Path) -> Value {
    json!({"reason": "other", "source": "startup", "transcript_path": dir.join(format!("projects/{FOLDER}/{S}.jsonl"))})
}

#[test]
fn a_config_directory_reached_through_a_link_is_still_ours() {
    let world = with_notes();
    let link = world.root().join("link");
    symlink(world.claude_dir(), &link).unwrap();
    // The client names the link, we were given the folder.
    world.hook("session-end", payload(&world, "SessionEnd", S, below(&link)).to_string());
    assert_eq!(marks(&world).len(), 1);
    // And the other way round.
    let mut command = world.process();
    command.args(["hook", "session-end"]).env("CLAUDE_CONFIG_DIR", &link);
    let stdin = payload(&world, "SessionEnd", S, below(&world.claude_dir())).to_string();
    assert_eq!(crate::support::fed(command, stdin.as_bytes()).code, 0);
    assert_eq!(marks(&world).len(), 2);
    assert!(told(&world, &payload(&world, "SessionStart", S, below(&link))).is_some());
}

#[test]
fn a_further_directory_of_the_config_file_is_ours_too() {
    let world = with_notes();
    let work = world.home().join(".claude-work");
    fs::create_dir_all(&work).unwrap();
    let elsewhere = payload(&world, "SessionEnd", S, below(&work));
    gets_nothing(&world, "session-end", "a directory nobody named", &elsewhere);

    let file = world.home().join(".config/recall/config.toml");
    configure(&world, "");
    let text = fs::read_to_string(&file).unwrap();
    world.configure(&format!("claude_dirs = [\"~/.claude\", \"~/.claude-work\"]\n{text}"));
    world.hook("session-end", elsewhere.to_string());
    assert_eq!(marks(&world).len(), 1, "the second of the list");
    // The one this client uses counts whatever the list says.
    world.hook("session-end", payload(&world, "SessionEnd", S, json!({"reason": "other"})).to_string());
    assert_eq!(marks(&world).len(), 2, "$CLAUDE_CONFIG_DIR");
}

#[test]
fn without_a_variable_the_home_s_own_directory_is_ours() {
    let world = World::new();
    let mut command = world.process();
    command.args(["hook", "session-end"]).env_remove("CLAUDE_CONFIG_DIR");
    let stdin = payload(&world, "SessionEnd", S, below(&world.home().join(".claude"))).to_string();
    assert_eq!(crate::support::fed(command, stdin.as_bytes()).code, 0);
    assert_eq!(marks(&world).len(), 1);
}
