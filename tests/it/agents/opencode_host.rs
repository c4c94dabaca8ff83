//! OpenCode as a host: the plugin that is installed for it, and what its sessions are told.

use std::fs;

use serde_json::{Value, json};

use super::opencode::{OPENCODE, VERSION};
use crate::hooks::payloads::patient;
use crate::support::World;

const SESSION: &str = "ses_de29aa00bffeBfj0fjaueECGmM";

#[test]
fn a_plugin_goes_into_its_folder_and_out_again() {
    let world = World::new();
    let config = world.home().join(".config/opencode");
    let plugin = config.join("plugin/recall.js");
    fs::create_dir_all(plugin.parent().expect("a folder")).expect("the folder");
    let own = config.join("plugin/mine.js");
    fs::write(&own, "export const Mine = async () => ({})\n").expect("the user's own");
    let ran = world.recall(["install", "--agent", "opencode", "--timer", "none"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let text = fs::read_to_string(&plugin).expect("the plugin");
    for argument in ["session-start", "user-prompt-submit", "stop"] {
        assert!(text.contains(&format!(" hook {argument}\"")), "{argument}: {text}");
    }
    assert!(world.recall(["install", "--agent", "opencode", "--timer", "none"]).out.contains("already installed"));
    let found = world.findings("hooks", &[]);
    assert!(found.iter().any(|found| found.starts_with("ok: ") && found.contains("/opencode/plugin/recall.js: ")), "{found:?}");
    world.recall(["uninstall", "--agent", "opencode"]);
    assert!(!plugin.exists() && own.exists());
    world.recall(["install", "--agent", "opencode", "--timer", "none"]);
    world.recall(["uninstall"]);
    assert!(!plugin.exists() && own.exists());
    // A file of that name that is not ours stays as it is.
    fs::write(&plugin, "export const Other = async () => ({})\n").expect("another's");
    let ran = world.recall(["install", "--agent", "opencode", "--timer", "none"]);
    assert!(ran.code == 2 && ran.err.contains("a plugin of somebody else's"), "{ran:#?}");
    world.recall(["uninstall"]);
    assert_eq!(fs::read_to_string(&plugin).expect("another's"), "export const Other = async () => ({})\n");
}

#[test]
fn its_sessions_start_with_notes_and_hear_of_earlier_ones_at_a_prompt() {
    let world = OPENCODE.world(VERSION);
    patient(&world);
    world.digest(&[]);
    let hook = |name: &str, event: &str, below: &str, more: &Value| {
        let mut payload = json!({
            "session_id": SESSION, "transcript_path": OPENCODE.home_in(&world).join(below), "cwd": "/home/dev/src/larder",
            "hook_event_name": event,
        });
        payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        world.hook(name, payload.to_string()).out
    };
    let told = |out: &str| {
        let answer: Value = serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {out:?}"));
        answer["hookSpecificOutput"]["additionalContext"].as_str().expect("notes").to_owned()
    };
    let place = format!("opencode.db/{SESSION}");
    let start = json!({"source": "startup"});
    let notes = told(&hook("session-start", "SessionStart", &place, &start));
    assert!(notes.contains("OpenCode's last reply"), "{notes}");
    let asks = json!({"prompt": "\"Where did we leave off on the ounces in the recipe reader?\""});
    let notice = told(&hook("user-prompt-submit", "UserPromptSubmit", &place, &asks));
    assert!(notice.contains("ounces"), "{notice}");
    assert_eq!(hook("stop", "Stop", &place, &json!({})), "");
    assert!(world.recall(["status"]).out.contains("1 mark"), "{}", world.recall(["status"]).out);
    for other in [format!("other.db/{SESSION}"), "opencode.db".to_owned(), "opencode.db/ses_other".to_owned()] {
        assert_eq!(hook("session-start", "SessionStart", &other, &start), "", "{other}");
    }
}
