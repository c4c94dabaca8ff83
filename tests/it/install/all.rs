//! `recall install --all`: every agent that is used here, each with a question.

use std::fs;

use super::fakes::everything;
use crate::support::World;
use crate::support::answers::answered;

const ALL: [&str; 4] = ["install", "--all", "--timer", "none"];

/// A world in which Claude Code, Codex and Qwen Code were used.
fn world() -> World {
    let world = World::new();
    world.link_recall();
    for folder in [world.claude_dir().join("projects"), world.home().join(".codex/sessions"), world.home().join(".qwen/projects")] {
        fs::create_dir_all(folder).expect("a folder of sessions");
    }
    fs::write(world.home().join(".qwen/settings.json"), "{\"$version\": 4}\n").expect("the user's own");
    world.recall(["status"]);
    world
}

/// Which of them have hooks of ours.
fn installed(world: &World) -> Vec<&'static str> {
    let files = [
        ("claude", world.claude_dir().join("settings.json")),
        ("codex", world.home().join(".codex/hooks.json")),
        ("copilot", world.home().join(".copilot/hooks/recall.json")),
        ("qwen", world.home().join(".qwen/settings.json")),
    ];
    let has = |file: &std::path::PathBuf| fs::read_to_string(file).is_ok_and(|text| text.contains(" hook session-start"));
    files.into_iter().filter(|(_, file)| has(file)).map(|(name, _)| name).collect()
}

#[test]
fn each_is_asked_about_and_enter_is_no() {
    for (answers, wanted) in [
        ("y\n\nyes", &["claude", "qwen"][..]),
        ("\ny\nn", &["codex"]),
        ("\n\n", &[]),
        ("no\nNO\nmaybe", &[]),
        ("Y\ny\nYES", &["claude", "codex", "qwen"]),
    ] {
        let world = world();
        let ran = answered(&world, world.root(), &[], &ALL, answers);
        let questions = ran.shown.matches("? [y/N]").count();
        assert_eq!((ran.code, questions, installed(&world)), (0, 3, wanted.to_vec()), "{answers:?}: {ran:#?}");
        for name in ["Claude Code", "Codex", "Qwen Code"] {
            assert!(ran.shown.contains(&format!("Install this for {name}? [y/N]")), "{ran:#?}");
        }
        assert!(!ran.shown.contains("is used here, too"), "each is asked about: {ran:#?}");
    }
}

#[test]
fn without_a_terminal_it_is_installed_only_when_that_is_said() {
    let world = world();
    let was = everything(&world);
    let ran = world.recall(ALL);
    assert!(ran.code == 2 && ran.err.contains("`--yes` installs for all") && ran.out.is_empty(), "{ran:#?}");
    assert_eq!(everything(&world), was);

    let shown = world.recall([&ALL[..], &["--mcp", "--dry-run"]].concat());
    assert_eq!((shown.code, everything(&world)), (0, was.clone()), "{shown:#?}");
    let ran = world.recall([&ALL[..], &["--mcp", "--yes"]].concat());
    assert_eq!((ran.code, installed(&world)), (0, vec!["claude", "codex", "qwen"]), "{ran:#?}");
    for file in [".codex/config.toml", ".codex/hooks.json", ".qwen/settings.json"] {
        assert!(shown.out.contains(&format!("+++ {}", world.home().join(file).display())), "{shown:#?}");
    }
    // What is shown is what is done, and both name whose it is.
    for line in shown.out.lines() {
        assert!(ran.out.lines().any(|told| told == line), "{line}: {ran:#?}");
    }
    let names = |line: &&str| ["Claude Code", "Codex", "Qwen Code"].contains(line);
    assert_eq!(ran.out.lines().filter(names).count(), 3, "{ran:#?}");
    assert_eq!(ran.out.matches("registered").count(), 3, "{ran:#?}");
    assert_eq!(ran.out.matches("From now on a session leaves a mark").count(), 1, "{ran:#?}");

    let again = answered(&world, world.root(), &[], &ALL, "y\ny\ny");
    assert!(again.code == 0 && !again.shown.contains("[y/N]"), "there is nothing to ask about: {again:#?}");
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!(everything(&world), was);
}

#[test]
fn one_that_cannot_be_edited_does_not_keep_the_others_from_theirs() {
    let world = world();
    fs::write(world.home().join(".qwen/settings.json"), "{ // mine\n}").expect("the user's own");
    fs::write(world.home().join(".codex/config.toml"), "[mcp_servers.recall]\nurl = \"https://x\"\n").expect("the user's own");
    let ran = world.recall([&ALL[..], &["--mcp", "--yes"]].concat());
    assert_eq!((ran.code, installed(&world)), (1, vec!["claude"]), "{ran:#?}");
    assert!(ran.err.contains("Qwen Code: ") && ran.err.contains("settings.json:1:3"), "{ran:#?}");
    assert!(ran.err.contains("Codex: ") && ran.err.contains("another program's server"), "{ran:#?}");
}

#[test]
fn agents_that_are_not_used_or_not_read_are_left_out() {
    let world = world();
    world.configure("[sources.codex]\nread = false\n");
    let ran = world.recall([&ALL[..], &["--yes"]].concat());
    assert_eq!((ran.code, installed(&world)), (0, vec!["claude", "qwen"]), "{ran:#?}");
    let nobody = World::new();
    let _ = fs::remove_dir_all(nobody.claude_dir().join("projects"));
    let ran = nobody.recall([&ALL[..], &["--yes"]].concat());
    assert!(ran.code == 0 && ran.out.contains("no agent is used here") && installed(&nobody).is_empty(), "{ran:#?}");
}

#[test]
fn a_choice_of_one_does_not_go_with_it() {
    let world = world();
    let was = everything(&world);
    for more in [&["--agent", "codex"][..], &["--scope", "project"], &["--mcp", "--allow"], &["--yes", "--dry-run"]] {
        let ran = world.recall([&ALL[..], more].concat());
        assert!(ran.code == 2 && ran.err.contains("cannot be used with"), "{more:?}: {ran:#?}");
    }
    assert_eq!(everything(&world), was);
}

#[test]
fn to_install_for_one_agent_nobody_is_asked_and_may_agree_anyhow() {
    let (world, agreed) = (world(), world());
    let ran = [world.recall(["install", "--timer", "none"]), agreed.recall(["install", "--timer", "none", "--yes"])];
    assert!(ran.iter().all(|ran| ran.code == 0), "{ran:#?}");
    assert_eq!(installed(&world), installed(&agreed));
    assert_eq!(installed(&agreed), ["claude"]);
}
