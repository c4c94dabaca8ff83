//! Nobody listens: stderr or stdout is full, or its reader went away. What was to be done is done, and nothing panics.

use std::fs;

use crate::support::{Ran, World};

const NOT_JSON: &str = "this is no row\n";

/// A world with a session and a line that every run that reads it warns of.
fn world_with_a_warning() -> World {
    let world = World::with_fixtures(&["plain"]);
    world.transcript("-home-dev-src-shop/broken.jsonl", NOT_JSON);
    world
}

/// Runs a script in which `$RECALL` is `recall` and the exit code that counts is written to `code`.
fn ended_with(world: &World, script: &str) -> (i32, Ran) {
    let code = world.root().join("code");
    let ran = world.shell(script);
    let text = fs::read_to_string(&code).unwrap_or_else(|e| panic!("{script}: {e}: {ran:#?}"));
    (text.trim().parse().expect("an exit code"), ran)
}

fn is_stored(world: &World, how: &str) {
    assert_eq!(world.count("SELECT count(*) FROM digest"), 1, "{how}: the session has its digest");
    assert_eq!(world.pages().len(), 2, "{how}: and its pages");
}

#[test]
fn a_digest_is_done_though_its_warnings_cannot_be_written() {
    let mut ways = vec![("stderr is closed", "2>&-"), ("nobody reads either", "2>&1 | :")];
    if cfg!(target_os = "linux") {
        ways.extend([("stderr is full", "2>/dev/full"), ("both are full", ">/dev/full 2>&1")]);
    }
    for (how, redirection) in ways {
        let world = world_with_a_warning();
        let (run, rest) = redirection.split_once(" | ").unwrap_or((redirection, ":"));
        let pipe = if redirection.contains('|') { "|" } else { ";" };
        // The one who does not read has gone when there is something to read.
        let script = format!("{{ /bin/sleep 0.1; \"$RECALL\" digest --summarizer extract {run}; echo $? > code; }} {pipe} {rest}");
        let (code, ran) = ended_with(&world, &script);
        assert_eq!(code, 1, "{how}: a line was skipped, no more: {ran:#?}");
        is_stored(&world, how);
    }
}

#[test]
fn a_digest_whose_report_cannot_be_printed_is_done_and_says_so() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let world = World::with_fixtures(&["plain"]);
    let ran = world.shell("\"$RECALL\" digest --summarizer extract >/dev/full");
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("done, but cannot print the result"), "{ran:#?}");
    is_stored(&world, "stdout is full");
    let shown = world.shell("\"$RECALL\" status >/dev/full");
    assert_eq!(shown.code, 2, "what only shows something could not: {shown:#?}");
}

#[test]
fn no_command_panics_where_nothing_can_be_told() {
    let full = if cfg!(target_os = "linux") { ">/dev/full 2>/dev/full" } else { ">&- 2>&-" };
    let commands = [
        "search nothing-like-it",
        "search orders --limit 1",
        "show nothing",
        "show 64b0b6d9 nothing",
        "show 64b0b6d9 --items",
        "status",
        "context --cwd /nowhere",
        "context -c nothing-like-it",
        "context -c orders --max-tokens 1",
        "timeline nothing",
        "remember --everywhere 'Deploys go through the build server'",
        "forget --yes --match zzzz",
        "close i12345678",
        "config",
        "export",
        "import /nowhere",
        "doctor",
        "digest",
        "digest --dry-run",
        "no-such-command",
        "install --dry-run",
        "uninstall --purge",
    ];
    let world = world_with_a_warning();
    world.digest(&["--summarizer", "extract"]);
    for command in commands {
        let (code, ran) = ended_with(&world, &format!("\"$RECALL\" {command} {full}; echo $? > code"));
        assert!((0..=2).contains(&code), "{command}: {code}: {ran:#?}");
    }
    let (hook, ran) = ended_with(&world, &format!("echo '{{' | \"$RECALL\" hook session-start {full}; echo $? > code"));
    assert_eq!(hook, 0, "{ran:#?}");
}

#[test]
fn an_install_is_whole_though_nobody_reads_what_it_did() {
    let world = World::new();
    let (code, ran) = ended_with(&world, "{ /bin/sleep 0.1; \"$RECALL\" install --timer none; echo $? > code; } | :");
    assert_eq!(code, 0, "who stopped reading did not want to hear it: {ran:#?}");
    let settings = fs::read_to_string(world.claude_dir().join("settings.json")).expect("the settings");
    assert!(settings.contains("hook session-end"), "{settings}");
}
