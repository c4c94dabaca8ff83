//! What users rely on in unusual but valid surroundings: upgrades, torn files, settings that changed since.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::support::{Ran, World, age, assistant, user};

const ID: &str = "aaaa0000-0000-4000-8000-000000000000";
/// How often what depends on who comes first is tried.
const TIMES: usize = 10;

fn talk(prompt: &str, reply: &str) -> String {
    let id = |part: usize| format!("00000000-0000-4000-8000-{part:012}");
    user(ID, &id(1), "2026-11-20T10:00:00Z", prompt) + &assistant(ID, &id(2), "2026-11-20T10:00:05Z", reply)
}

#[test]
fn readers_of_an_older_index_do_not_trip_over_each_other() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    for _ in 0..TIMES {
        world.make_index_older();
        let start = |_| world.process().arg("status").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("recall starts");
        let readers: Vec<_> = (0..8).map(start).collect();
        for reader in readers {
            let ran = Ran::of(reader.wait_with_output().expect("its output"));
            assert_eq!(ran.code, 0, "{ran:#?}");
        }
    }
}

#[test]
fn a_torn_last_line_is_nothing_a_digest_could_still_save() {
    let world = World::new();
    let file =
        world.transcript("-shop/aaaa0000-0000-4000-8000-000000000000.jsonl", talk("Fix it", "Fixed it.") + "{\"type\":\"assi");
    age(&file, Duration::from_secs(40 * 86_400));
    world.digest(&["--summarizer", "extract"]);
    let told = world.findings("transcripts", &[]);
    assert!(told.iter().all(|finding| finding.starts_with("ok: ")), "{told:?}");
}

#[test]
fn an_empty_variable_is_none() {
    let world = World::new();
    let ran = world.recall_with(["config"], &[("RECALL_CONFIG", "")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
}

#[test]
fn hooks_go_where_claude_code_looks_for_them() {
    let world = World::new();
    world.configure("claude_dirs = [\"~/archive\", \"~/.claude\"]\n");
    let ran = world.recall(["install", "--timer", "none"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(world.claude_dir().join("settings.json").exists(), "{ran:#?}");
    assert!(!world.home().join("archive").exists(), "nobody reads settings there: {ran:#?}");
}

#[test]
fn a_file_without_ours_keeps_nothing_installed() {
    let world = World::new();
    let settings = world.claude_dir().join("settings.json");
    fs::write(&settings, "{}").expect("settings");
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    fs::write(&settings, "{\n  // mine\n  \"model\": \"opus\"\n}\n").expect("settings");
    let ran = world.recall(["uninstall"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert!(!world.data_dir().join("install.json").exists(), "nothing is left to be undone");
}

#[test]
fn the_last_session_has_a_line_where_it_has_no_room_for_more() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let context = |tokens: &str| world.recall(["context", "--cwd", "/home/dev/src/shop", "--max-tokens", tokens]);
    let most = context("170");
    assert!(most.out.contains("64b0b6d9"), "{most:#?}");
    let none = context("20");
    assert!(none.out.is_empty() && !none.err.contains("nothing is known"), "{none:#?}");
}

#[test]
fn a_timer_that_starts_nothing_is_found_out() {
    let world = World::with_fixtures(&["plain"]);
    let table = world.root().join("table");
    let script = format!(
        "#!/bin/sh\nPATH=/usr/bin:/bin\ncase $1 in -l) cat '{0}' 2>/dev/null || {{ echo 'no crontab for me' >&2; exit 1; }} ;; -) cat >'{0}' ;; esac\n",
        table.display()
    );
    let crontab = world.bin().join("crontab");
    fs::write(&crontab, script).expect("a crontab");
    fs::set_permissions(&crontab, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("its permissions");
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.recall(["install", "--timer", "cron"]).code, 0);
    let later = [("RECALL_NOW", "2027-02-01T12:00:00Z")];
    let told = [world.findings("timer", &later), world.findings("digest", &later)].concat();
    assert!(told.iter().any(|finding| !finding.starts_with("ok: ")), "every half hour, and none for months: {told:?}");
}

#[test]
fn who_chose_no_timer_is_not_told_that_it_is_late() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    let told = world.findings("digest", &[("RECALL_NOW", "2027-02-01T12:00:00Z")]);
    assert_eq!(told, ["ok: ran 72 days ago"]);
}
