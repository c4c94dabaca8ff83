//! The timers: what is written, what their managers are told, and how one takes the place of another.

use std::fs;
use std::path::PathBuf;

use super::fakes::{self, everything, install, table, tidy, told};
use crate::support::World;

const ENABLE: [&str; 3] = [
    "systemctl --user daemon-reload",
    "systemctl --user enable recall-digest.timer",
    "systemctl --user restart recall-digest.timer",
];

fn units(world: &World) -> PathBuf {
    world.home().join(".config/systemd/user")
}

#[test]
fn systemd_gets_units_and_is_told_once() {
    let world = World::new();
    fakes::systemctl(&world);
    fakes::crontab(&world);
    let before = everything(&world);
    let ran = install(&world, &["--timer", "auto"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert_eq!(told(&world), ENABLE);
    let unit = |name: &str| fs::read_to_string(units(&world).join(name)).unwrap();
    insta::assert_snapshot!("service", tidy(&world, &unit("recall-digest.service")));
    insta::assert_snapshot!("timer", unit("recall-digest.timer"));
    insta::assert_snapshot!("systemd_told", tidy(&world, &ran.out));

    assert!(install(&world, &[]).out.contains("systemd: already installed"));
    assert_eq!(told(&world), [""; 0]);
    // Stopped by hand: it is started again.
    fs::remove_file(world.root().join("active")).unwrap();
    install(&world, &[]);
    assert_eq!(told(&world), ENABLE);

    world.configure("schedule = \"03:15\"\n");
    let ran = install(&world, &[]);
    assert!(ran.out.contains("runs at 03:15"), "{ran:#?}");
    assert!(unit("recall-digest.timer").contains("\nOnCalendar=03:15\n"));
    assert_eq!(told(&world), ENABLE);
    fs::remove_dir_all(world.home().join(".config/recall")).unwrap();
    fs::remove_dir_all(world.home().join("Library")).unwrap();

    assert_eq!(world.recall(["uninstall"]).code, 0);
    let disable = ["systemctl --user disable --now recall-digest.timer", "systemctl --user daemon-reload"];
    assert_eq!(told(&world), disable);
    assert_eq!(everything(&world), before);
    assert!(!world.home().join(".config/systemd").exists(), "folders that were created are gone");
}

#[test]
fn systemd_lets_the_digest_write_to_the_folders_of_sync() {
    let world = World::new();
    fakes::systemctl(&world);
    assert_eq!(install(&world, &[]).code, 0);
    let share = world.root().join("100% shared");
    let place = share.to_str().unwrap();
    let add = |more: &[&str]| world.recall(["sync", "add", place].iter().chain(more));
    let ran = add(&[]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert!(ran.out.ends_with("The timer may not write to this folder yet: run `recall install`.\n"), "{ran:#?}");
    let found = || world.findings("timer", &[]).remove(0);
    assert!(found().contains("does not match"), "{}", found());
    told(&world);

    let ran = install(&world, &[]);
    assert!(ran.code == 0 && !ran.out.contains("systemd: already installed"), "{ran:#?}");
    assert_eq!(told(&world), ENABLE);
    let service = fs::read_to_string(units(&world).join("recall-digest.service")).unwrap();
    let folder = place.replace('%', "%%");
    assert!(
        service.lines().any(|line| line.starts_with("ReadWritePaths=") && line.ends_with(&format!(" \"-{folder}\""))),
        "{service}"
    );
    assert!(install(&world, &[]).out.contains("systemd: already installed"));
    assert!(found().starts_with("ok: "), "{}", found());
    // It may now.
    let ran = add(&["--name", "desk"]);
    assert!(ran.code == 0 && !ran.out.contains("recall install"), "{ran:#?}");
    assert_eq!(world.recall(["sync", "remove", place]).code, 0);
    assert!(!install(&world, &[]).out.contains("systemd: already installed"));
    assert_eq!(fs::read_to_string(units(&world).join("recall-digest.service")).unwrap().matches(&folder).count(), 0);
}

#[test]
fn units_go_where_systemd_looks() {
    let world = World::new();
    fakes::systemctl(&world);
    let there = world.root().join("xdg");
    let ran = world.recall_with(["install"], &[("XDG_CONFIG_HOME", there.to_str().unwrap())]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let service = fs::read_to_string(there.join("systemd/user/recall-digest.service")).unwrap();
    assert!(service.contains(&format!("\"XDG_CONFIG_HOME={}\"", there.display())), "{service}");
}

#[test]
fn a_variable_that_the_users_systemd_does_not_have_does_not_hide_the_units_from_it() {
    let world = World::new();
    fakes::systemctl(&world);
    let there = world.root().join("xdg");
    let variables = [("XDG_CONFIG_HOME", there.to_str().unwrap())];
    fs::write(world.root().join("unit.path"), format!("/etc/systemd/user {} /run/systemd", units(&world).display())).unwrap();
    assert_eq!(world.recall_with(["install"], &variables).code, 0);
    assert!(units(&world).join("recall-digest.timer").exists() && !there.exists());
    let ran = world.recall_with(["doctor"], &variables);
    assert!(ran.out.contains("systemd, *:0/30"), "{ran:#?}");
    // Nor from uninstall, when nobody answers any more.
    fs::write(world.root().join("systemd.gone"), "").unwrap();
    assert_eq!(world.recall_with(["uninstall"], &variables).code, 0);
    assert!(!units(&world).exists());
}

#[test]
fn a_machine_without_timers_says_so() {
    let world = World::new();
    let ran = install(&world, &[]);
    assert!(ran.code == 0 && ran.err.contains("no timer") && ran.err.contains("`digest_at_end = true`"), "{ran:#?}");
    assert!(ran.out.contains("Nothing starts the digest"), "{ran:#?}");
    assert!(world.claude_dir().join("settings.json").exists());
    // That was nobody's choice: where there is one later, it is taken.
    fakes::crontab(&world);
    assert!(install(&world, &[]).out.contains("cron: every 30m"));
}

#[test]
fn a_timer_that_does_not_start_leaves_the_hooks_and_is_tried_again() {
    let world = World::new();
    fakes::systemctl(&world);
    fs::write(world.root().join("systemd.gone"), "").unwrap();
    let ran = install(&world, &["--timer", "systemd"]);
    assert!(ran.code == 1 && ran.err.contains("No medium found") && ran.err.contains("--timer"), "{ran:#?}");
    assert!(!ran.out.contains("runs at"), "{ran:#?}");
    fs::remove_file(world.root().join("systemd.gone")).unwrap();
    told(&world);
    let ran = install(&world, &[]);
    assert_eq!((ran.code, told(&world).as_slice()), (0, &ENABLE.map(str::to_owned)[..]), "{ran:#?}");
    // Uninstall works where systemd does not answer any more.
    fs::write(world.root().join("systemd.gone"), "").unwrap();
    let ran = world.recall(["uninstall"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!units(&world).exists());
}

#[test]
fn one_timer_takes_the_place_of_another_and_the_choice_is_kept() {
    let world = World::new();
    fakes::systemctl(&world);
    fakes::crontab(&world);
    fakes::launchctl(&world);
    let agent = world.home().join("Library/LaunchAgents/recall.digest.plist");
    let there = || (units(&world).join("recall-digest.timer").exists(), table(&world).is_some(), agent.exists());
    for (timer, expected) in [
        ("systemd", (true, false, false)),
        ("cron", (false, true, false)),
        ("launchd", (false, false, true)),
        ("systemd", (true, false, false)),
        ("none", (false, false, false)),
    ] {
        let ran = install(&world, &["--timer", timer]);
        assert_eq!((ran.code, there()), (0, expected), "{timer}: {ran:#?}");
        assert_eq!((install(&world, &[]).code, there()), (0, expected), "{timer} is kept");
    }
}

#[test]
fn launchd_gets_an_agent_and_is_told_once() {
    let world = World::new();
    fakes::launchctl(&world);
    let ran = install(&world, &["--timer", "launchd"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    let file = world.home().join("Library/LaunchAgents/recall.digest.plist");
    insta::assert_snapshot!("agent", tidy(&world, &fs::read_to_string(&file).unwrap()));
    let calls = told(&world);
    let [enable, bootstrap] = &calls[..] else { panic!("{calls:?}") };
    assert!(enable.starts_with("launchctl enable gui/") && enable.ends_with("/recall.digest"), "{enable}");
    assert!(bootstrap.starts_with("launchctl bootstrap gui/") && bootstrap.ends_with(file.to_str().unwrap()), "{bootstrap}");
    assert!(install(&world, &[]).out.contains("launchd: already installed"));
    assert_eq!(told(&world), [""; 0]);
    world.configure("schedule = \"hourly\"\n");
    install(&world, &[]);
    let calls = told(&world);
    assert!(calls.iter().any(|c| c.contains("bootout")) && calls.iter().any(|c| c.contains("bootstrap")), "{calls:?}");
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert!(!file.exists() && told(&world)[0].contains("bootout"));
}

#[test]
fn a_dry_run_shows_files_crontab_and_commands() {
    let world = World::new();
    fakes::systemctl(&world);
    fakes::crontab(&world);
    assert_eq!(install(&world, &["--timer", "cron"]).code, 0);
    told(&world);
    let before = everything(&world);
    let ran = install(&world, &["--timer", "systemd", "--dry-run"]);
    let end = "recall: nothing was changed: run it without `--dry-run` to install this\n";
    assert_eq!((ran.code, ran.err.as_str()), (0, end), "{ran:#?}");
    assert_eq!((everything(&world), told(&world)), (before.clone(), vec![]));
    for shown in [
        "--- crontab\n+++ /dev/null\n",
        "-# >>> recall >>>\n",
        "+++ ",
        "recall-digest.timer\n",
        "+OnCalendar=*:0/30\n",
        "$ systemctl --user enable recall-digest.timer\n",
    ] {
        assert!(ran.out.contains(shown), "{shown}: {ran:#?}");
    }
    let ran = world.recall(["uninstall", "--dry-run"]);
    assert!(
        ran.out.contains("-# >>> recall >>>\n") && ran.out.contains("recall hook") || ran.out.contains("/recall' hook"),
        "{ran:#?}"
    );
    assert_eq!(everything(&world), before);
}

#[test]
fn a_login_that_lives_in_the_shell_only_is_told_of() {
    let world = World::new();
    fakes::crontab(&world);
    let ran = world.recall_with(["install"], &[("ANTHROPIC_API_KEY", "sk-ant-secret")]);
    assert!(ran.code == 0 && ran.err.contains("ANTHROPIC_API_KEY") && ran.err.contains("settings.json"), "{ran:#?}");
    assert!(everything(&world).iter().all(|(_, bytes)| !String::from_utf8_lossy(bytes).contains("sk-ant-secret")));
}

#[test]
fn a_login_that_the_clients_settings_hold_is_not_told_of() {
    let world = World::new();
    fakes::crontab(&world);
    let shell = [("ANTHROPIC_API_KEY", "sk-ant-secret"), ("HTTPS_PROXY", "http://proxy:3128")];
    let told = |settings: &str| {
        fs::write(world.claude_dir().join("settings.json"), settings).unwrap();
        let ran = world.recall_with(["install", "--dry-run"], &shell);
        assert_eq!(ran.code, 0, "{ran:#?}");
        ["ANTHROPIC_API_KEY", "HTTPS_PROXY"].map(|name| ran.err.contains(name))
    };
    assert_eq!(told("{\"env\": {\"ANTHROPIC_API_KEY\": \"sk-ant-other\"}}"), [false, true]);
    let both = "{\"env\": {\"ANTHROPIC_API_KEY\": \"sk-ant-other\", \"HTTPS_PROXY\": \"http://proxy:3128\"}}";
    assert_eq!(told(both), [false, false]);
    for nothing in ["{}", "{\"env\": {\"ANTHROPIC_API_KEY\": \"\", \"HTTPS_PROXY\": null}}", "{\"env\": []}"] {
        assert_eq!(told(nothing), [true, true], "{nothing}");
    }
}

#[test]
fn a_timer_that_works_goes_only_when_the_other_is_there() {
    let world = World::new();
    fakes::systemctl(&world);
    fakes::crontab(&world);
    assert_eq!(install(&world, &["--timer", "cron"]).code, 0);
    fs::write(world.root().join("systemd.gone"), "").unwrap();
    let ran = install(&world, &["--timer", "systemd"]);
    assert!(ran.code == 1 && ran.err.contains("No medium found") && ran.err.contains("cron"), "{ran:#?}");
    assert!(table(&world).is_some_and(|table| table.contains("digest")), "the block is still there");
    fs::remove_file(world.root().join("systemd.gone")).unwrap();
    assert_eq!(install(&world, &["--timer", "systemd"]).code, 0);
    assert_eq!(table(&world), None);

    fs::write(world.root().join("crontab.locked"), "").unwrap();
    let ran = install(&world, &["--timer", "cron"]);
    assert!(ran.code == 1 && ran.err.contains("not allowed"), "{ran:#?}");
    assert!(units(&world).join("recall-digest.timer").exists() && world.root().join("active").exists());
    // That was no choice that could be kept.
    assert!(install(&world, &[]).out.contains("systemd: already installed"));
}

#[test]
fn a_value_with_a_line_break_gets_into_no_timer() {
    for (timer, name) in [("cron", "XDG_DATA_HOME"), ("systemd", "TZ")] {
        let world = World::new();
        fakes::systemctl(&world);
        fakes::crontab(&world);
        let ran = world.recall_with(["install", "--timer", timer], &[(name, "/a\n* * * * * rm")]);
        assert!(ran.code == 1 && ran.err.contains(name), "{timer}: {ran:#?}");
        assert!(table(&world).is_none() && !units(&world).exists(), "{timer}");
        assert!(world.claude_dir().join("settings.json").exists(), "the hooks are there nevertheless");
        assert_eq!(world.recall_with(["install", "--timer", "none"], &[(name, "/a\n* * * * * rm")]).code, 0);
    }
}

#[test]
fn installs_at_once_are_one_after_the_other() {
    let world = World::new();
    fakes::crontab(&world);
    fs::write(world.claude_dir().join("settings.json"), "{}").unwrap();
    fs::write(world.root().join("crontab"), "0 5 * * * theirs\n").unwrap();
    let before = everything(&world);
    let quiet = || std::process::Stdio::null();
    let start = |_| world.process().args(["install", "--timer", "cron"]).stdout(quiet()).spawn().expect("recall starts");
    let running: Vec<_> = (0..8).map(start).collect();
    for child in running {
        assert!(child.wait_with_output().expect("it ends").status.success());
    }
    assert_eq!(table(&world).unwrap().matches("# >>> recall >>>").count(), 1);
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!(everything(&world), before);
}
