//! The plugin: its manifests, its launcher, and that what it tells Claude to run exists.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::Value;

use crate::support::client::Client;
use crate::support::messages_api::Block;
use crate::support::{Ran, World, files_below};

const STARTUP: &str = r#"{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}"#;
const EVENTS: [(&str, &str); 4] = [
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "user-prompt-submit"),
    ("SessionEnd", "session-end"),
    ("PreCompact", "pre-compact"),
];
/// Says how it was called, what it heard, and fails.
const FAKE: &str = "#!/bin/sh\nIFS= read -r heard\necho \"$0 $*: $heard\"\nexit 2\n";

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn plugin() -> PathBuf {
    repository().join("plugin")
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn fake_recall(folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).expect("a folder");
    let path = folder.join("recall");
    fs::write(&path, FAKE).expect("the script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its permissions");
    path
}

/// Runs the launcher as the client would, in an environment that holds nothing but the world's own.
fn launch(world: &World, event: &str, stdin: &str) -> Ran {
    let mut command = assert_cmd::Command::new("/bin/sh");
    command.env_clear().envs(world.environment()).current_dir(world.root());
    Ran::of(command.arg(plugin().join("hooks/run.sh")).arg(event).write_stdin(stdin).output().expect("a shell"))
}

#[test]
fn the_manifests_name_one_plugin_in_this_version() {
    let manifest = json("plugin/.claude-plugin/plugin.json");
    assert_eq!((manifest["name"].as_str(), manifest["version"].as_str()), (Some("recall"), Some(env!("CARGO_PKG_VERSION"))));
    let plugins = json(".claude-plugin/marketplace.json")["plugins"].as_array().expect("plugins").clone();
    let offered: Vec<_> = plugins.iter().map(|p| (p["name"].as_str(), p["source"].as_str())).collect();
    assert_eq!(offered, [(Some("recall"), Some("./plugin"))]);
}

#[test]
fn every_hook_runs_the_launcher_and_not_for_long() {
    let hooks = json("plugin/hooks/hooks.json")["hooks"].as_object().expect("hooks").clone();
    assert_eq!(
        hooks.keys().collect::<BTreeSet<_>>(),
        EVENTS.iter().map(|(event, _)| event.to_string()).collect::<Vec<_>>().iter().collect()
    );
    for (event, name) in EVENTS {
        let hook = &hooks[event][0]["hooks"][0];
        assert_eq!(hook["command"], format!("sh \"${{CLAUDE_PLUGIN_ROOT}}/hooks/run.sh\" {name}"), "{event}");
        assert!(hook["timeout"].as_u64().is_some_and(|seconds| seconds <= 5), "{event}: {hook}");
    }
}

#[test]
fn the_launcher_finds_the_program_hands_it_the_event_and_never_fails() {
    for place in ["bin", "home/.cargo/bin", "home/.local/bin"] {
        let world = World::new();
        let program = fake_recall(&world.root().join(place));
        for (_, event) in EVENTS {
            let ran = launch(&world, event, STARTUP);
            let said = format!("{} hook {event}: {STARTUP}\n", program.display());
            assert_eq!((ran.code, ran.out), (0, said), "{place}: {}", ran.err);
        }
    }
}

#[test]
fn the_server_is_the_programs_own() {
    let servers = json("plugin/.mcp.json")["mcpServers"].as_object().expect("servers").clone();
    assert_eq!(servers.len(), 1);
    assert_eq!(servers["recall"], serde_json::json!({"command": "sh", "args": ["${CLAUDE_PLUGIN_ROOT}/mcp.sh"]}));
    let launch = |world: &World| {
        let mut command = assert_cmd::Command::new("/bin/sh");
        command.env_clear().envs(world.environment()).current_dir(world.root());
        Ran::of(command.arg(plugin().join("mcp.sh")).write_stdin("hello\n").output().expect("a shell"))
    };
    let world = World::new();
    let without = launch(&world);
    assert!(without.code == 1 && without.out.is_empty() && without.err.contains("cargo install"), "{without:#?}");
    let program = fake_recall(&world.home().join(".local/bin"));
    let ran = launch(&world);
    assert_eq!((ran.code, ran.out), (2, format!("{} mcp: hello\n", program.display())), "{}", ran.err);
}

#[test]
fn the_search_path_comes_first() {
    let world = World::new();
    fake_recall(&world.home().join(".cargo/bin"));
    let first = fake_recall(&world.bin());
    let ran = launch(&world, "session-end", "{}\n");
    assert_eq!(ran.out, format!("{} hook session-end: {{}}\n", first.display()));
}

#[test]
fn without_the_program_the_user_is_told_when_a_session_begins_and_nobody_else_ever() {
    for shared in ["/usr/local/bin/recall", "/opt/homebrew/bin/recall"] {
        assert!(!Path::new(shared).exists(), "this test is about machines without recall: there is {shared}");
    }
    let world = World::new();
    let ran = launch(&world, "session-start", STARTUP);
    let said: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    let message = said["systemMessage"].as_str().expect("a message");
    assert!(message.contains("cargo install"), "{message}");
    assert_eq!((ran.code, said.as_object().map(serde_json::Map::len)), (0, Some(1)), "the model is told nothing: {said}");

    let payloads = crate::support::fixtures().join("claude-code-2.1.197/payloads");
    for (of, event) in EVENTS {
        let heard =
            files_below(&payloads).into_iter().filter(|f| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with(of)));
        let mut count = 0;
        for file in heard.filter(|f| !f.ends_with("SessionStart-startup.json")) {
            let ran = launch(&world, event, &fs::read_to_string(&file).expect("a payload"));
            assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{}", file.display());
            count += 1;
        }
        assert!(count > 0, "no payload of {of}");
    }
    let fixture = fs::read_to_string(payloads.join("SessionStart-startup.json")).expect("a payload");
    assert_eq!(launch(&world, "session-start", &fixture).out, ran.out, "as the real client says it");
    assert_eq!(launch(&world, "session-start", "").code, 0);
}

#[test]
fn what_claude_is_told_to_run_exists() {
    let commands = World::new().commands();
    let known: BTreeSet<&str> = commands.iter().map(String::as_str).collect();
    let told = Regex::new(r"`recall ([a-z-]+)").expect("a pattern");
    let allowed = Regex::new(r"^Bash\(recall ([a-z-]+):\*\)$").expect("a pattern");
    for path in ["plugin/commands/recall.md", "plugin/skills/earlier-sessions/SKILL.md"] {
        let text = read(path);
        let tools = text.lines().find_map(|l| l.strip_prefix("allowed-tools: ")).expect("a list of allowed tools");
        let may: BTreeSet<&str> = tools
            .split(", ")
            .map(|tool| allowed.captures(tool).unwrap_or_else(|| panic!("{path} allows {tool}")).get(1).expect("a verb").as_str())
            .collect();
        let verbs: BTreeSet<&str> = told.captures_iter(&text).map(|c| c.get(1).expect("a verb").as_str()).collect();
        assert!(verbs.contains("search") && verbs.contains("show"), "{path}: {verbs:?}");
        assert_eq!(verbs, may, "{path}: what it says to run is what it allows");
        assert!(verbs.is_subset(&known), "{path}: {verbs:?}, but there are {known:?}");
    }
}

#[test]
#[ignore = "needs the real client: set RECALL_TEST_CLAUDE"]
fn the_client_takes_the_plugin_and_the_program_hears_the_events() {
    let client = Client::new(|_| vec![Block::Text("Done.".to_owned())]);
    for manifest in [plugin(), repository().to_owned()] {
        let ran = client.claude(&["plugin", "validate", "--strict", manifest.to_str().expect("UTF-8")]);
        assert_eq!(ran.code, 0, "{ran:#?}");
    }
    let added = client.claude(&["plugin", "marketplace", "add", repository().to_str().expect("UTF-8")]);
    let installed = client.claude(&["plugin", "install", "recall@recall"]);
    assert_eq!((added.code, installed.code), (0, 0), "{added:#?} {installed:#?}");

    client.turn("Say hello.", &[]);
    let asked = client.api.asked();
    assert!(
        !asked.iter().any(|a| a.body["messages"].to_string().contains("cargo install")),
        "the model hears of no missing program"
    );

    let heard = client.world.root().join("heard");
    let listening = format!("#!/bin/sh\necho \"$*\" >> '{}'\n", heard.display());
    fs::write(fake_recall(&client.world.bin()), listening).expect("a script");
    client.turn("/recall greeting", &[]);
    let called = fs::read_to_string(&heard).unwrap_or_default();
    let (hooks, others): (Vec<_>, Vec<_>) = called.lines().partition(|line| line.starts_with("hook "));
    assert_eq!(hooks, ["hook session-start", "hook user-prompt-submit", "hook session-end"]);
    // A turn as short as this may be over before the client has started its servers; `tests/mcp` asks the plugin's.
    assert!(others.iter().all(|line| *line == "mcp"), "{called}");
    let command = client.api.asked().pop().expect("a request").body["messages"].to_string();
    assert!(command.contains("> greeting") && command.contains("recall search"), "the command is there: {command}");
}
