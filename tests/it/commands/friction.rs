//! `recall friction`: what fails again and again.

use crate::support::{World, ran, user};

const BUILD: &str = "Exit code 1\n[TypeError: generate is not a function]";
const LIBPQ: &str = "Exit code 2\nImportError: libpq.so.5: cannot open shared object file";

/// A session of the shop's that ran these, one a minute.
fn session(world: &World, n: u32, commands: &[(&str, Result<&str, &str>)]) {
    let id = format!("{n}{n}{n}{n}6666-0000-4000-8000-000000000000");
    let mut rows = user(&id, &format!("u{n}"), &format!("2026-11-{:02}T09:00:00Z", 10 + n), "Work on the api, please");
    for (minute, (command, printed)) in commands.iter().enumerate() {
        rows += &ran(&id, &format!("r{n}-{minute}"), &format!("2026-11-{:02}T09:{:02}:00Z", 10 + n, minute + 1), command, *printed);
    }
    world.transcript(&format!("-home-dev-src-shop/{id}.jsonl"), rows);
}

#[test]
fn what_was_met_again_and_again_is_told_the_costliest_first() {
    let world = World::new();
    session(&world, 1, &[("npm run build", Err(BUILD)), ("npm run build", Err(BUILD)), ("npm run build", Err(BUILD))]);
    session(
        &world,
        2,
        &[
            ("pytest", Err(LIBPQ)),
            ("ls", Ok("")),
            ("pytest", Ok("3 passed in 1s")),
            ("make lint", Err("Exit code 2\nfatal: no linter is there")),
        ],
    );
    world.digest(&["--summarizer", "extract"]);
    let friction = |args: &[&str]| world.recall([&["friction"], args].concat()).out;
    let build = "  3 times in 1 session, on 2026-11-11, no passing run seen since: [TypeError: generate is not a function]\n    last command: `npm run build`\n";
    assert_eq!(friction(&[]), format!("in /home/dev/src/shop:\n{build}"), "the others were met once");
    session(&world, 3, &[("pytest tests/api", Err(LIBPQ)), ("pytest", Ok("3 passed in 1s")), ("pytest", Err(LIBPQ))]);
    world.digest(&["--summarizer", "extract"]);
    let libpq = "  3 times in 2 sessions, 2026-11-12 to 2026-11-13, 2 followed by a passing run after 3 min in all, 1 not: ImportError: \
         libpq.so.5: cannot open shared object file\n    last command: `pytest`\n";
    assert_eq!(friction(&[]), format!("in /home/dev/src/shop:\n{libpq}{build}"));
    assert_eq!(friction(&["-n", "1"]), format!("in /home/dev/src/shop:\n{libpq}"));
    assert!(friction(&["--project", "gallery"]).starts_with("no error occurred"));
    let json: serde_json::Value = serde_json::from_str(&friction(&["--json"])).expect("JSON");
    assert_eq!(json["errors"][0]["until_passed"], 180_000, "{json}");
}
