//! The crontab: a block of ours in it, and every line of theirs as it was.

use std::fs;

use super::fakes::{self, everything, install, linked, table, tidy, told};
use crate::support::{Ran, World};

#[test]
fn without_systemd_the_crontab_gets_a_block_and_keeps_its_lines() {
    let world = World::new();
    fakes::systemctl(&world);
    fakes::crontab(&world);
    fs::write(world.root().join("systemd.gone"), "").unwrap();
    let theirs = "MAILTO=me\n# mine\n0 5 * * * backup \\%d\n";
    fs::write(world.root().join("crontab"), theirs).unwrap();
    let ran = install(&world, &[]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    insta::assert_snapshot!("crontab", tidy(&world, &table(&world).unwrap()));
    assert!(install(&world, &[]).out.contains("cron: already installed"));
    assert_eq!(told(&world), ["crontab -"]);
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!(table(&world).unwrap(), theirs);
}

#[test]
fn a_crontab_that_was_not_there_goes_again() {
    let world = World::new();
    fakes::crontab(&world);
    assert_eq!(install(&world, &["--timer", "cron"]).code, 0);
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!(table(&world), None);
    // And one that others wrote to since keeps what they wrote.
    assert_eq!(install(&world, &["--timer", "cron"]).code, 0);
    fs::write(world.root().join("crontab"), table(&world).unwrap() + "1 1 * * * theirs\n").unwrap();
    assert_eq!(world.recall(["uninstall"]).code, 0);
    assert_eq!(table(&world).unwrap(), "1 1 * * * theirs\n");
}

#[test]
fn a_crontab_that_cannot_be_read_is_not_written() {
    let world = World::new();
    fakes::crontab(&world);
    fs::write(world.root().join("crontab"), "0 5 * * * theirs\n").unwrap();
    fs::write(world.root().join("crontab.locked"), "").unwrap();
    let ran = install(&world, &["--timer", "cron"]);
    assert!(ran.code == 1 && ran.err.contains("not allowed"), "{ran:#?}");
    assert_eq!((table(&world).unwrap().as_str(), told(&world)), ("0 5 * * * theirs\n", vec![]));
    assert!(world.claude_dir().join("settings.json").exists(), "the hooks are there nevertheless");
    // A block of ours that somebody cut in two is not guessed at.
    fs::remove_file(world.root().join("crontab.locked")).unwrap();
    fs::write(world.root().join("crontab"), "# >>> recall >>>\n0 5 * * * theirs\n").unwrap();
    let ran = install(&world, &["--timer", "cron"]);
    assert!(ran.code == 1 && ran.err.contains("crontab -e"), "{ran:#?}");
}

#[test]
fn what_stands_in_the_crontab_runs_and_digests() {
    let world = World::with_fixtures(&["plain"]);
    fakes::crontab(&world);
    world.configure("[digest]\nsummarizer = \"extract\"\n");
    let dir = linked(&world, "it's 50% off");
    let path = format!("{}:{}", dir.display(), world.bin().display());
    let ran = world.recall_with(["install"], &[("PATH", &path)]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let table = table(&world).unwrap();
    let line = table.lines().find(|line| line.starts_with("*/30 * * * * ")).expect("the line");
    assert!(line.contains(r"50\% off"), "{line}");
    // cron runs it with nothing but a home, a shell and a short path, and takes the backslash before a `%` away.
    let command = line.trim_start_matches("*/30 * * * * ").replace(r"\%", "%");
    let output = std::process::Command::new("/bin/sh")
        .args(["-c", &command])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .output()
        .unwrap();
    let ran = Ran::of(output);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:#?}");
    assert_eq!(world.count("SELECT count(*) FROM digest"), 1);
}

#[test]
fn who_may_not_use_cron_installs_and_uninstalls_without_it() {
    let world = World::new();
    fakes::systemctl(&world);
    fakes::crontab(&world);
    fs::write(world.root().join("crontab.locked"), "").unwrap();
    let before = everything(&world);
    let ran = install(&world, &[]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    let ran = world.recall(["uninstall"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert_eq!(everything(&world), before);
}
