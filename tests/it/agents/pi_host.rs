//! Pi as a host: the extension that is installed for it, and what its sessions are told.

use std::fs;

use serde_json::{Value, json};

use super::pi::{LARDER, PI};
use crate::hooks::payloads::patient;
use crate::support::World;

const SESSION: &str = "01a21e00-3c4d-7a10-9b2e-5d7c1f0e9a44";
/// One that began without notes.
const OTHER: &str = "01a21e05-77aa-7c01-8f6d-0b3e2a9c4d15";

/// Where a new session of Pi's will be written down: it writes nothing before the first reply.
fn transcript(folder: &str, session: &str) -> String {
    format!("{folder}/--home-dev-src-larder--/2026-11-19T09-00-00-000Z_{session}.jsonl")
}

#[test]
fn an_extension_goes_into_its_folder_and_out_again() {
    let world = World::new();
    let folder = PI.home_in(&world).join("extensions");
    let (plugin, own) = (folder.join("recall.js"), folder.join("mine.ts"));
    fs::create_dir_all(&folder).expect("the folder");
    fs::write(&own, "export default function () {}\n").expect("the user's own");
    let settings = PI.home_in(&world).join("settings.json");
    fs::write(&settings, "{\"defaultProvider\": \"standin\"}").expect("the user's own");
    let install = |more: &[&str]| world.recall([&["install", "--agent", "pi", "--timer", "none"], more].concat());
    let shown = install(&["--dry-run"]);
    assert!(shown.code == 0 && shown.out.contains("+export default function (pi) {") && !plugin.exists(), "{shown:#?}");
    assert_eq!(install(&[]).code, 0);
    let text = fs::read_to_string(&plugin).expect("the extension");
    for argument in ["session-start", "user-prompt-submit", "session-end"] {
        assert!(text.contains(&format!(" hook {argument}\"")), "{argument}: {text}");
    }
    assert!(install(&[]).out.contains("already installed"));
    assert_eq!(fs::read_to_string(&plugin).expect("the extension"), text);
    let found = world.findings("hooks", &[]);
    let whole = "/.pi/agent/extensions/recall.js: before_agent_start, session_shutdown, session_start";
    assert!(found.iter().any(|found| found.starts_with("ok: ") && found.contains(whole)), "{found:?}");
    assert!(!world.findings("mcp", &[]).iter().any(|found| found.contains("Pi")), "it takes no servers");
    // The hooks are there, the server that was asked for is not.
    let ran = install(&["--mcp"]);
    assert!(ran.code == 1 && ran.err.contains("Pi takes no MCP servers"), "{ran:#?}");
    for command in [&["uninstall", "--agent", "pi"][..], &["uninstall"]] {
        assert_eq!(install(&[]).code, 0);
        assert_eq!(world.recall(command).code, 0);
        assert!(!plugin.exists(), "{command:?}");
    }
    let kept = [(&own, "export default function () {}\n"), (&settings, "{\"defaultProvider\": \"standin\"}")];
    for (file, text) in kept {
        assert_eq!(fs::read_to_string(file).expect("the user's own"), text);
    }
    // A file of that name that is not ours stays as it is.
    fs::write(&plugin, "export default function (pi) {}\n").expect("another's");
    let ran = install(&[]);
    assert!(ran.code == 2 && ran.err.contains("a plugin of somebody else's"), "{ran:#?}");
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!(fs::read_to_string(&plugin).expect("another's"), "export default function (pi) {}\n");
}

#[test]
fn its_sessions_start_with_notes_and_hear_of_earlier_ones_at_a_prompt() {
    let world = PI.world(LARDER);
    patient(&world);
    world.digest(&[]);
    let hook = |name: &str, event: &str, session: &str, below: &str, more: &Value| {
        let mut payload = json!({
            "session_id": session, "transcript_path": PI.home_in(&world).join(below), "cwd": "/home/dev/src/larder",
            "hook_event_name": event,
        });
        payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        world.hook(name, payload.to_string()).out
    };
    let told = |out: &str| {
        let answer: Value = serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {out:?}"));
        answer["hookSpecificOutput"]["additionalContext"].as_str().expect("notes").to_owned()
    };
    let start = json!({"source": "startup"});
    // Only a session that Pi writes down where it is read.
    for other in [transcript("sessions", "01a2"), transcript("elsewhere", SESSION), format!("sessions/t_{SESSION}.jsonl")] {
        assert_eq!(hook("session-start", "SessionStart", SESSION, &other, &start), "", "{other}");
    }
    let place = transcript("sessions", SESSION);
    let notes = told(&hook("session-start", "SessionStart", SESSION, &place, &start));
    assert!(notes.contains("Pi's last reply"), "{notes}");
    let other = transcript("sessions", OTHER);
    let asks = json!({"prompt": "Where did we leave off on the ounces in the recipe reader?"});
    let notice = told(&hook("user-prompt-submit", "UserPromptSubmit", OTHER, &other, &asks));
    assert!(notice.contains("ounces"), "{notice}");
    assert_eq!(hook("session-end", "SessionEnd", OTHER, &other, &json!({"reason": "quit"})), "");
    assert!(world.recall(["status"]).out.contains("1 mark"), "{}", world.recall(["status"]).out);
}
