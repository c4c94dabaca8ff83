//! Codex as a host: hooks that are installed for it, and what its sessions are told. `tests/it/real_client.rs` leads the client itself.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::agents::codex::world;
use crate::hooks::payloads::patient;
use crate::support::{Ran, World, copy_program};

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

/// What the app server of codex-cli 0.169 said of these hooks, by `hooks/list`.
const ACCEPTED: [(&str, &str, &str); 3] = [
    ("SessionStart", "session_start", "sha256:8d059ebad23a0d41c654ef9b4867900acaa97c0a1eacfcfd5473f0fdb79f4197"),
    ("SessionEnd", "session_end", "sha256:55094302f248627628ee284690660466d7f09f5d98408e97d892292388f906d3"),
    ("PreCompact", "pre_compact", "sha256:e15dc3ddf16cddbb60a049cc02a16768e5f4e18d6cfbaa4a02ca98973d1e61fd"),
];

/// The hooks of which it said that.
fn known_hooks() -> Value {
    let hook = |argument: &str| json!([{"type": "command", "command": format!("'/x/recall' hook {argument}"), "timeout": 5}]);
    json!({"hooks": {
        "SessionStart": [{"hooks": hook("session-start")}],
        "SessionEnd": [{"hooks": hook("session-end")}],
        "PreCompact": [{"matcher": "auto", "hooks": hook("pre-compact")}],
    }})
}

#[test]
fn the_doctor_compares_the_hooks_with_those_that_the_user_accepted() {
    let world = World::new();
    let file = hooks_file(&world);
    let folder = file.parent().expect("a parent").to_owned();
    fs::create_dir_all(folder.join("sessions")).expect("the folder");
    // A hook of somebody else's is not asked about.
    let mut hooks = known_hooks();
    hooks["hooks"]["UserPromptSubmit"] = json!([{"hooks": [{"type": "command", "command": "say hi"}]}]);
    let write = |hooks: &Value| fs::write(&file, hooks.to_string()).expect("the hooks");
    let accept = |folder: &std::path::Path, more: &str, hashes: &[(&str, &str, &str)]| {
        let entry = |(_, label, hash): &(&str, &str, &str)| {
            format!("[hooks.state.\"{}:{label}:0:0\"]\ntrusted_hash = \"{hash}\"\n{more}", folder.join("hooks.json").display())
        };
        fs::write(file.with_file_name("config.toml"), hashes.iter().map(entry).collect::<String>()).expect("the config");
    };
    let trust = |world: &World| {
        let agents = world.status()["agents"].as_array().expect("agents").clone();
        let codex = agents.into_iter().find(|agent| agent["agent"] == "codex").expect("Codex");
        let about: Vec<String> =
            world.findings("hooks", &[]).into_iter().filter(|found| found.contains("Codex does not run")).collect();
        (codex["trust"].as_str().map(str::to_owned), about)
    };
    let told =
        |trust: &str, found: &[&str]| (Some(trust.to_owned()), found.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
    assert_eq!(trust(&world), (None, Vec::new()), "there are no hooks");
    write(&hooks);
    let nobody = "warning: Codex does not run PreCompact, SessionEnd, SessionStart: nobody accepted these hooks";
    assert_eq!(trust(&world), told("missing", &[nobody]));
    assert!(world.recall(["doctor"]).out.contains("start `codex`, type `/hooks`, and accept those of recall"));

    accept(&folder, "", &ACCEPTED);
    assert_eq!(trust(&world), told("accepted", &[]));
    accept(&folder, "", &ACCEPTED[..2]);
    assert_eq!(trust(&world), told("missing", &["warning: Codex does not run PreCompact: nobody accepted these hooks"]));
    accept(&folder, "enabled = false\n", &ACCEPTED);
    let off = "ok: Codex does not run PreCompact, SessionEnd, SessionStart: switched off in `/hooks`";
    assert_eq!(trust(&world), told("off", &[off]));

    // Codex goes by what a hook does, not by how the file is written.
    accept(&folder, "", &ACCEPTED);
    fs::write(&file, serde_json::to_string_pretty(&hooks).expect("JSON")).expect("the same hooks");
    assert_eq!(trust(&world), told("accepted", &[]));
    let mut moved = hooks.clone();
    moved["hooks"]["SessionStart"][0]["hooks"][0]["command"] = json!("'/y/recall' hook session-start");
    write(&moved);
    let changed = "warning: Codex does not run SessionStart: you accepted another form of these hooks than they have now";
    assert_eq!(trust(&world), told("changed", &[changed]));

    // By the folder's real name, where a variable names it by a link.
    write(&hooks);
    let link = world.root().join("linked");
    std::os::unix::fs::symlink(&folder, &link).expect("a link");
    accept(&folder.canonicalize().expect("the folder"), "", &ACCEPTED);
    let ran = world.recall_with(["status"], &[("CODEX_HOME", link.to_str().expect("UTF-8"))]);
    assert!(ran.out.contains("; hooks accepted"), "{}", ran.out);
    fs::write(file.with_file_name("config.toml"), "[hooks").expect("a broken config");
    assert_eq!(trust(&world), (None, Vec::new()), "nobody knows");
}

#[test]
fn what_changes_a_command_says_that_it_has_to_be_accepted_again() {
    let world = World::new();
    world.recall(["install", "--agent", "codex", "--timer", "none"]);
    let file = hooks_file(&world);
    let text = fs::read_to_string(&file).expect("the hooks");
    assert!(world.findings("hooks", &[]).iter().any(|found| found.contains("nobody accepted these hooks")));
    let fixed = world.recall(["doctor", "--fix"]);
    assert!(!fixed.err.contains("/hooks"), "nothing changed: {fixed:#?}");
    fs::write(&file, text.replace("/recall' hook", "/gone/recall' hook")).expect("hooks of a program that is gone");
    let fixed = world.recall(["doctor", "--fix"]);
    assert_eq!(fixed.err.matches("type `/hooks`").count(), 1, "{fixed:#?}");
    assert_eq!(fs::read_to_string(&file).expect("the hooks"), text);
}

#[test]
fn an_upgrade_behind_a_link_leaves_the_commands_as_they_are() {
    let world = World::new();
    let program = world.bin().join("recall");
    let install = |version: &str| {
        let folder = world.root().join("versions").join(version);
        fs::create_dir_all(&folder).expect("a version's folder");
        if fs::hard_link(world.program(), folder.join("recall")).is_err() {
            copy_program(world.program().as_ref(), &folder.join("recall"));
        }
        let _ = fs::remove_file(&program);
        std::os::unix::fs::symlink(folder.join("recall"), &program).expect("the link");
        let mut command = std::process::Command::new(&program);
        command.env_clear().envs(world.environment()).current_dir(world.root());
        let ran = Ran::of(command.args(["install", "--agent", "codex", "--timer", "none"]).output().expect("recall starts"));
        assert_eq!(ran.code, 0, "{ran:#?}");
        (ran.err, fs::read_to_string(hooks_file(&world)).expect("the hooks"))
    };
    let (first, hooks) = install("1");
    assert!(first.contains("type `/hooks`") && hooks.contains(&format!("{}' hook session-start", program.display())), "{hooks}");
    fs::remove_dir_all(world.root().join("versions/1")).expect("the older version is gone");
    let (second, after) = install("2");
    assert_eq!(after, hooks);
    assert!(!second.contains("/hooks"), "{second}");
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
