//! Cline as a host: the plugin that is installed for it, and what its sessions are told.

use std::fs;

use serde_json::{Value, json};

use super::cline::{CLINE, VERSION};
use crate::hooks::payloads::patient;
use crate::support::World;

#[test]
fn a_plugin_and_a_server_go_into_its_folder_and_out_again() {
    let world = World::new();
    let home = CLINE.home_in(&world);
    let (plugin, servers) = (home.join("plugins/recall.js"), home.join("data/settings/cline_mcp_settings.json"));
    fs::create_dir_all(servers.parent().expect("a folder")).expect("the folder");
    let own = "{\n  \"mcpServers\": {\n    \"mine\": {\"command\": \"mine\"}\n  }\n}\n";
    fs::write(&servers, own).expect("the user's own");
    let install = || world.recall(["install", "--agent", "cline", "--timer", "none", "--mcp"]);
    assert_eq!(install().code, 0);
    let text = fs::read_to_string(&plugin).expect("the plugin");
    for argument in ["session-start", "user-prompt-submit", "stop"] {
        assert!(text.contains(&format!(" hook {argument}\"")), "{argument}: {text}");
    }
    let all: Value = serde_json::from_str(&fs::read_to_string(&servers).expect("the file")).expect("JSON");
    assert!(all["mcpServers"]["recall"]["args"] == json!(["mcp"]) && all["mcpServers"]["mine"].is_object(), "{all}");
    assert!(install().out.contains("already installed"));
    assert_eq!(fs::read_to_string(&plugin).expect("the plugin"), text);
    for command in [&["uninstall", "--agent", "cline"][..], &["uninstall"]] {
        assert_eq!(install().code, 0);
        assert_eq!(world.recall(command).code, 0);
        assert!(!plugin.exists(), "{command:?}");
        assert_eq!(fs::read_to_string(&servers).expect("the user's own"), own);
    }
}

#[test]
fn its_sessions_start_with_notes_and_hear_of_earlier_ones_at_a_prompt() {
    let world = CLINE.world(VERSION);
    patient(&world);
    world.digest(&[]);
    let hook = |name: &str, event: &str, session: &str, layout: &str, more: &Value| {
        let place = CLINE.home_in(&world).join(format!("{layout}/{session}/{session}.messages.json"));
        let mut payload =
            json!({"session_id": session, "transcript_path": place, "cwd": "/home/dev/src/larder", "hook_event_name": event});
        payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        world.hook(name, payload.to_string()).out
    };
    let told = |out: &str| {
        let answer: Value = serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {out:?}"));
        answer["hookSpecificOutput"]["additionalContext"].as_str().expect("notes").to_owned()
    };
    let start = json!({"source": "startup"});
    assert_eq!(hook("session-start", "SessionStart", "1795790000000_new1", "elsewhere", &start), "");
    let notes = told(&hook("session-start", "SessionStart", "1795790000000_new1", "data/sessions", &start));
    assert!(notes.contains("Cline's last reply"), "{notes}");
    // One that began without notes.
    let asks = json!({"prompt": "Where did we leave off on the ounces in the recipe reader?"});
    let notice = told(&hook("user-prompt-submit", "UserPromptSubmit", "1795790000001_new2", "data/sessions", &asks));
    assert!(notice.contains("ounces"), "{notice}");
    assert_eq!(hook("stop", "Stop", "1795790000001_new2", "data/sessions", &json!({})), "");
    assert!(world.recall(["status"]).out.contains("1 mark"), "{}", world.recall(["status"]).out);
}
