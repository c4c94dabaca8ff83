//! The hooks in the settings.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::fakes::{self, everything, linked, tidy};
use crate::support::held::mkfifo;
use crate::support::timeout::{at_once, ended};
use crate::support::{Ran, World, copy_program};

const THEIRS: &str = r#"{
    "model": "opus",
    "hooks": {
        "SessionEnd": [
            { "hooks": [{ "type": "command", "command": "say 'good bye'" }] }
        ],
        "Stop": []
    },
    "permissions": { "allow": [ "Bash(ls:*)" ] }
}
"#;

fn settings(world: &World) -> PathBuf {
    world.claude_dir().join("settings.json")
}

fn read(path: &PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).expect("the settings")).expect("JSON")
}

/// Every command under an event.
fn commands(settings: &Value, event: &str) -> Vec<String> {
    let entries = settings["hooks"][event].as_array().into_iter().flatten();
    let hooks = entries.flat_map(|e| e["hooks"].as_array().into_iter().flatten());
    hooks.map(|h| h["command"].as_str().expect("a command").to_owned()).collect()
}

#[test]
fn hooks_go_beside_those_of_others_in_the_form_of_the_file() {
    let world = World::new();
    fs::write(settings(&world), THEIRS).unwrap();
    fs::set_permissions(settings(&world), fs::Permissions::from_mode(0o640)).unwrap();
    let ran = world.recall(["install", "--timer", "none"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    insta::assert_snapshot!("settings", tidy(&world, &fs::read_to_string(settings(&world)).unwrap()));
    insta::assert_snapshot!("told", tidy(&world, &ran.out));
    assert_eq!(fs::metadata(settings(&world)).unwrap().mode() & 0o777, 0o640);

    let before = world.everything();
    let again = world.recall(["install", "--timer", "none"]);
    assert!(again.code == 0 && again.out.contains("settings.json: already installed"), "{again:#?}");
    assert_eq!(world.everything(), before, "the second time changes nothing");
}

#[test]
fn a_pipe_in_the_place_of_the_settings_holds_nobody_up() {
    for command in [&["install", "--timer", "none"][..], &["install", "--timer", "none", "--mcp"], &["uninstall"], &["doctor"]] {
        let world = World::new();
        for name in ["settings.json", ".claude.json"] {
            mkfifo(&world.claude_dir().join(name));
        }
        let mut process = world.process();
        process.args(command);
        let ran = ended(process, "", &format!("{command:?}"));
        assert!((1..=2).contains(&ran.code), "{command:?}: {ran:#?}");
        let said = ran.err.clone() + &ran.out;
        assert!(said.contains("settings.json") && said.contains("not a regular file"), "{command:?}: {ran:#?}");
    }
}

/// The events that client 2.1.49 knows, the oldest that is supported. A name that it does not know opens a dialog at its start.
const KNOWN_TO_THE_OLDEST: [&str; 16] = [
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "Notification", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop",
    "SubagentStart", "SubagentStop", "PreCompact", "PermissionRequest", "Setup", "TeammateIdle", "TaskCompleted", "ConfigChange",
];

#[test]
fn only_hooks_that_the_oldest_client_knows_are_put_in() {
    let shared = |path: &str| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    for scope in ["user", "project", "local"] {
        let world = World::new();
        assert_eq!(world.recall(["install", "--timer", "none", "--scope", scope]).code, 0);
        let file = match scope {
            "user" => settings(&world),
            "project" => world.root().join(".claude/settings.json"),
            _ => world.root().join(".claude/settings.local.json"),
        };
        for settings in [read(&file), read(&shared("plugin/hooks/hooks.json"))] {
            let names: Vec<&String> = settings["hooks"].as_object().expect("hooks").keys().collect();
            assert!(
                !names.is_empty() && names.iter().all(|name| KNOWN_TO_THE_OLDEST.contains(&name.as_str())),
                "{scope}: {names:?}"
            );
        }
    }
}

#[test]
fn settings_with_two_names_keep_both() {
    let world = World::new();
    let dotfile = world.root().join("dotfile");
    fs::write(settings(&world), THEIRS).unwrap();
    fs::hard_link(settings(&world), &dotfile).unwrap();
    let ran = world.recall(["install", "--timer", "none"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert_eq!(fs::metadata(settings(&world)).unwrap().ino(), fs::metadata(&dotfile).unwrap().ino(), "they are still one file");
    assert!(fs::read_to_string(&dotfile).unwrap().contains("hook session-end"));
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!(fs::read_to_string(&dotfile).unwrap(), THEIRS);
    assert_eq!(fs::metadata(&dotfile).unwrap().nlink(), 2);
}

#[test]
fn uninstall_gives_back_every_byte_and_leaves_nothing() {
    for text in [None, Some(""), Some("{}"), Some("{ }\r\n"), Some(THEIRS), Some("\u{feff}{\"hooks\":{}}")] {
        let world = World::new();
        if let Some(text) = text {
            fs::write(settings(&world), text).unwrap();
        }
        let before = everything(&world);
        assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
        assert_ne!(everything(&world), before);
        let ran = world.recall(["uninstall"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
        assert_eq!(everything(&world), before, "{text:?}");
        assert!(!world.data_dir().exists());
    }
}

#[test]
fn a_link_of_a_dotfile_manager_stays_a_link() {
    let world = World::new();
    let real = world.home().join("dotfiles/claude.json");
    fs::create_dir(real.parent().unwrap()).unwrap();
    fs::write(&real, THEIRS).unwrap();
    symlink(&real, settings(&world)).unwrap();
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    assert_eq!(fs::read_link(settings(&world)).unwrap(), real);
    assert_eq!(commands(&read(&real), "SessionEnd").len(), 2);
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!((fs::read_link(settings(&world)).unwrap(), fs::read_to_string(&real).unwrap()), (real, THEIRS.to_owned()));
}

#[test]
fn a_broken_file_is_located_and_nothing_is_installed() {
    let cases: [(&[u8], &str); 5] = [
        (b"{\n  // mine\n  \"a\": 1\n}\n", ":2:3: "),
        (b"{\"a\": 1,}", ":1:8: "),
        (b"[]", ":1:1: "),
        (b"{\"hooks\": 7}", ":1:11: "),
        (b"{\n\"a\": \"\xff\"}", ":2: not UTF-8"),
    ];
    at_once(&cases, |(text, place)| {
        let world = World::new();
        fs::write(settings(&world), text).unwrap();
        let before = world.everything();
        let ran = world.recall(["install", "--timer", "none"]);
        let place = format!("{}{place}", settings(&world).display());
        assert!(ran.code == 2 && ran.err.contains(&place), "{place}: {ran:#?}");
        assert_eq!(world.everything(), before);
    });
}

#[test]
fn an_install_that_cannot_write_leaves_nothing_behind() {
    let world = World::new();
    fakes::crontab(&world);
    let gone = world.root().join("unmounted");
    symlink(world.root().join("disk/claude"), &gone).unwrap();
    let before = everything(&world);
    let ran = world.recall_with(["install", "--timer", "cron"], &[("CLAUDE_CONFIG_DIR", gone.to_str().unwrap())]);
    assert!(ran.code == 2 && ran.err.contains("leads nowhere"), "{ran:#?}");
    assert_eq!(everything(&world), before);
    assert!(!world.data_dir().exists());
    // With something installed elsewhere, what is noted of that stays.
    assert_eq!(world.recall(["install", "--timer", "cron"]).code, 0);
    let before = world.everything();
    let ran = world.recall_with(["install", "--timer", "cron"], &[("CLAUDE_CONFIG_DIR", gone.to_str().unwrap())]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    let changed = crate::support::changed(&before, &world.everything());
    assert!(changed.iter().all(|path| path.ends_with("calls") || path.ends_with("install.json")), "{changed:?}");
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert!(!settings(&world).exists() && !world.data_dir().exists());
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let world = World::new();
    fs::write(settings(&world), "{\n  \"model\": \"opus\"\n}\n").unwrap();
    let before = world.everything();
    let ran = world.recall(["install", "--timer", "none", "--dry-run"]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (0, "recall: nothing was changed: run it without `--dry-run` to install this\n"),
        "{ran:#?}"
    );
    assert_eq!(world.everything(), before);
    insta::assert_snapshot!("difference", tidy(&world, &ran.out));
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    let again = world.recall(["install", "--timer", "none", "--dry-run"]);
    assert_eq!((again.out.as_str(), again.err.as_str()), ("already installed\n", ""));
    let back = world.recall(["uninstall", "--dry-run"]);
    assert!(back.out.contains("\n-  \"hooks\": {\n") && back.out.ends_with("\n+  \"model\": \"opus\"\n }\n"), "{back:#?}");
}

#[test]
fn the_path_of_another_install_is_mended_in_place() {
    let world = World::new();
    let old = r#"{"hooks":{"PreCompact":[{"matcher":"auto","hooks":[{"type":"command","command":"theirs"},{"type":"command","command":"'/gone/recall' hook pre-compact","timeout":5}]}]}}"#;
    fs::write(settings(&world), old).unwrap();
    let ran = world.recall(["install", "--timer", "none"]);
    assert!(ran.code == 0 && ran.out.contains("SessionStart, UserPromptSubmit, SessionEnd; repaired PreCompact"), "{ran:#?}");
    let now = read(&settings(&world));
    let program = world.process().get_program().to_str().unwrap().to_owned();
    let [theirs, ours] = &commands(&now, "PreCompact")[..] else { panic!("{now:#}") };
    assert_eq!(theirs, "theirs");
    assert!(ours.contains(&format!("'{program}' hook pre-compact")), "{ours}");
    assert_eq!(now["hooks"]["PreCompact"][0]["matcher"], "auto");
}

#[test]
fn a_link_on_the_search_path_is_what_the_hooks_call_and_a_shell_can_run_it() {
    let world = World::new();
    let dir = linked(&world, "it's 50% $off");
    let ran = world.recall_with(["install", "--timer", "none"], &[("PATH", dir.to_str().unwrap())]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let command = commands(&read(&settings(&world)), "SessionEnd").remove(0);
    let asks = command.replace(" hook session-end", " config");
    assert_ne!(asks, command);
    let ran = world.shell(&format!("unset RECALL_DATA_DIR; {asks}"));
    let data = world.data_dir();
    assert!(ran.code == 0 && ran.out.contains(data.to_str().unwrap()), "the variable in the command counts: {ran:#?}");
    assert!(command.contains("50% $off/recall' hook session-end"), "{command}");
}

/// Runs a program as `recall` is run, with nothing but this in the place of the data folder's variable.
fn run(world: &World, program: &Path, args: &[&str], data_dir: Option<&str>) -> Ran {
    let mut command = Command::new(program);
    command.env_clear().envs(world.environment()).env_remove("RECALL_DATA_DIR").current_dir(world.root());
    Ran::of(command.envs(data_dir.map(|folder| ("RECALL_DATA_DIR", folder))).args(args).output().unwrap())
}

#[test]
fn a_program_of_another_name_installs_once_and_takes_all_of_it_out_again() {
    let world = World::new();
    let folder = world.root().join("opt");
    fs::create_dir(&folder).unwrap();
    copy_program(world.program().as_ref(), &folder.join("build"));
    let data = world.root().join("my data");
    for (name, data_dir) in [("recall-dev", None), (".recall-wrapped", data.to_str()), ("memory", None)] {
        let program = folder.join(name);
        fs::hard_link(folder.join("build"), &program).unwrap();
        let before = everything(&world);
        for _ in 0..3 {
            let ran = run(&world, &program, &["install", "--timer", "none", "--mcp"], data_dir);
            assert_eq!(ran.code, 0, "{name}: {ran:#?}");
        }
        for event in ["SessionStart", "UserPromptSubmit", "SessionEnd", "PreCompact"] {
            assert_eq!(commands(&read(&settings(&world)), event).len(), 1, "{name}: {event}");
        }
        let again = run(&world, &program, &["install", "--timer", "none", "--mcp", "--dry-run"], data_dir);
        assert_eq!(again.out, "already installed\n", "{name}: {again:#?}");
        let told = run(&world, &program, &["doctor", "--json"], data_dir);
        let told: Value = serde_json::from_str(&told.out).unwrap();
        for about in ["hooks", "mcp"] {
            let found: Vec<_> = told["findings"].as_array().unwrap().iter().filter(|finding| finding["about"] == about).collect();
            assert!(!found.is_empty() && found.iter().all(|finding| finding["state"] == "ok"), "{name}: {found:#?}");
        }
        // What stands there is known without this program, too: by any later one, and without notes of the install.
        let ran = run(&world, world.program().as_ref(), &["install", "--timer", "none", "--mcp"], data_dir);
        assert_eq!(ran.code, 0, "{name}: {ran:#?}");
        assert_eq!(commands(&read(&settings(&world)), "SessionStart").len(), 1, "{name}");
        assert_eq!(run(&world, &program, &["install", "--timer", "none", "--mcp"], data_dir).code, 0);
        let ran = run(&world, &program, &["uninstall"], data_dir);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{name}: {ran:#?}");
        assert_eq!(everything(&world), before, "{name}");
        fs::remove_file(&program).unwrap();
    }
}

#[test]
fn a_program_of_another_name_is_called_by_the_stable_one_on_the_search_path() {
    let world = World::new();
    let folder = world.root().join("opt");
    fs::create_dir(&folder).unwrap();
    let wrapped = folder.join(".recall-wrapped");
    copy_program(world.program().as_ref(), &wrapped);
    let other = folder.join("recall-dev");
    fs::hard_link(&wrapped, &other).unwrap();
    let on_path = world.bin().join("recall");
    let called = |program: &Path, args: &[&str]| {
        let ran = run(&world, program, &[&["install", "--timer", "none"], args].concat(), None);
        assert_eq!(ran.code, 0, "{ran:#?}");
        let all = commands(&read(&settings(&world)), "SessionEnd");
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    };
    let by_name = format!("'{}' hook session-end", on_path.display());
    // By another name of the same file, and by a link to it.
    fs::hard_link(&wrapped, &on_path).unwrap();
    assert_eq!(called(&other, &[]), by_name);
    fs::remove_file(&on_path).unwrap();
    symlink(&other, &on_path).unwrap();
    assert_eq!(called(&on_path, &[]), by_name);
    // By the script that a package starts it with, as Nix does.
    fs::remove_file(&on_path).unwrap();
    let script = folder.join("recall");
    fs::write(&script, format!("#!/bin/sh\nexec '{}' \"$@\"\n", wrapped.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    symlink(&script, &on_path).unwrap();
    assert_eq!(called(&on_path, &[]), by_name);
    // Another program of our name is not this one.
    fs::remove_file(&on_path).unwrap();
    fs::write(&on_path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&on_path, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(called(&other, &[]).ends_with(&format!("'{}' hook session-end", other.display())));
    assert_eq!(run(&world, &other, &["uninstall"], None).code, 0);
    assert!(!settings(&world).exists());
}

#[test]
fn a_command_that_a_person_wrote_around_a_call_is_mended_with_a_program_of_another_name() {
    let world = World::new();
    let program = world.root().join("memory");
    copy_program(world.program().as_ref(), &program);
    let old =
        r#"{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"nice /gone/recall hook session-end 2>>/dev/null"}]}]}}"#;
    fs::write(settings(&world), old).unwrap();
    for _ in 0..2 {
        assert_eq!(run(&world, &program, &["install", "--timer", "none"], None).code, 0);
    }
    let [ours] = &commands(&read(&settings(&world)), "SessionEnd")[..] else { panic!("{}", read(&settings(&world))) };
    assert!(
        ours.starts_with("nice ") && ours.ends_with(&format!("'{}' hook session-end 2>>/dev/null", program.display())),
        "{ours}"
    );
    let ran = world.shell(&format!("PATH=/usr/bin:/bin; {}", ours.replace(" hook session-end 2>>/dev/null", " config")));
    assert_eq!(ran.code, 0, "a shell can run it: {ran:#?}");
}

#[test]
fn a_command_sets_only_what_was_set() {
    let world = World::new();
    let set = "unset RECALL_DATA_DIR; XDG_CONFIG_HOME=$HOME/.config exec \"$RECALL\" install --timer none";
    assert_eq!(world.shell(set).code, 0);
    let command = commands(&read(&settings(&world)), "SessionEnd").remove(0);
    assert!(command.starts_with('\''), "{command}");
    let config = world.root().join("my config.toml");
    fs::write(&config, "").unwrap();
    let ran = world.recall_with(["install", "--timer", "none"], &[("RECALL_CONFIG", config.to_str().unwrap())]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let command = commands(&read(&settings(&world)), "SessionEnd").remove(0);
    let root = world.root().display();
    assert!(command.starts_with(&format!("RECALL_DATA_DIR='{root}/data' RECALL_CONFIG='{root}/my config.toml' '")), "{command}");
}

/// A repository with a folder in it.
fn repository(world: &World) -> PathBuf {
    let inner = world.root().join("src/shop/lib/deep");
    fs::create_dir_all(&inner).unwrap();
    fs::create_dir_all(world.root().join("src/shop/.git")).unwrap();
    inner
}

#[test]
fn a_project_gets_hooks_that_a_team_can_commit() {
    let world = World::new();
    let inner = repository(&world);
    let shop = world.root().join("src/shop");
    let before = everything(&world);
    let run = |args: &[&str]| {
        let mut command = world.command();
        crate::support::Ran::of(command.args(args).current_dir(&inner).output().unwrap())
    };
    assert_eq!(run(&["install", "--scope", "project", "--timer", "none"]).code, 0);
    let file = shop.join(".claude/settings.json");
    assert_eq!(commands(&read(&file), "PreCompact"), ["command -v recall >/dev/null && recall hook pre-compact || true"]);
    assert_eq!(fs::read_dir(shop.join(".claude")).unwrap().count(), 1, "no backup in a repository");
    assert!(!settings(&world).exists());

    let ran = run(&["install", "--scope", "local", "--timer", "none"]);
    assert!(ran.err.contains("settings.json has the hooks too") && ran.err.contains("uninstall --scope project"), "{ran:#?}");
    let command = commands(&read(&shop.join(".claude/settings.local.json")), "PreCompact").remove(0);
    assert!(command.contains("/recall' hook pre-compact"), "{command}");

    assert_eq!(run(&["uninstall", "--scope", "local"]).code, 0);
    assert!(!shop.join(".claude/settings.local.json").exists() && file.exists());
    // From elsewhere: what was installed is noted.
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert!(!shop.join(".claude").exists(), "the folder was ours too");
    assert_eq!(everything(&world), before);
}

#[test]
fn a_worktree_is_a_project_of_its_own() {
    let world = World::new();
    repository(&world);
    let inner = world.root().join("src/hotfix/lib");
    fs::create_dir_all(&inner).unwrap();
    fs::write(world.root().join("src/hotfix/.git"), "gitdir: ../shop/.git/worktrees/hotfix\n").unwrap();
    let mut command = world.command();
    let ran = command.args(["install", "--scope", "project", "--timer", "none"]).current_dir(&inner).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert!(world.root().join("src/hotfix/.claude/settings.json").exists());
    assert!(!world.root().join("src/shop/.claude").exists());
}

#[test]
fn the_home_is_no_project() {
    let world = World::new();
    fs::create_dir(world.home().join(".git")).unwrap();
    let script = "cd; unset CLAUDE_CONFIG_DIR; exec \"$RECALL\" install --scope project --timer none";
    let ran = world.shell(script);
    assert!(ran.code == 2 && ran.err.contains("--scope user"), "{ran:#?}");
}

#[test]
fn each_config_directory_gets_its_hooks_when_it_is_the_one_in_use() {
    let world = World::new();
    let other = world.root().join("other");
    let using = [("CLAUDE_CONFIG_DIR", other.to_str().unwrap())];
    for variables in [&[][..], &using] {
        assert_eq!(world.recall_with(["install", "--timer", "none"], variables).code, 0);
    }
    assert!(other.join("settings.json").exists() && settings(&world).exists());
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert!(!other.exists() && !settings(&world).exists(), "what was created for them is gone in both");
}

#[test]
fn hooks_that_cannot_run_are_told_of() {
    let world = World::new();
    fs::write(settings(&world), r#"{"disableAllHooks": true}"#).unwrap();
    let ran = world.recall(["install", "--timer", "none"]);
    assert!(ran.code == 0 && ran.err.contains("disableAllHooks"), "{ran:#?}");
}
