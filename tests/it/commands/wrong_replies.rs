//! `recall wrong SESSION --reply N`: a reply of Claude's that is not so is quoted nowhere, and stays away until that is taken back.

use serde_json::json;

use crate::support::mcp_client::Peer;
use crate::support::{World, assistant, user};

const SESSION: &str = "5e551011-0000-4000-8000-000000000001";
const FOLDER: &str = "-home-dev-src-shop";
/// What the replies say, turn by turn; the second is not so.
const RIGHT: &str = "The lighthouse lamp is driven by the tide table.";
const WRONG: &str = "The foghorn is silent because its compressor is broken, and nothing else.";
const LAST: &str = "The buoys are counted twice in the report.";

fn turn(n: u8, asked: &str, replied: &str) -> String {
    let row = |kind: u8| format!("0000000{kind}-0000-4000-8000-00000000000{n}");
    user(SESSION, &row(1), &format!("2026-11-20T1{n}:00:00Z"), asked)
        + &assistant(SESSION, &row(2), &format!("2026-11-20T1{n}:00:30Z"), replied)
}

fn rows() -> String {
    turn(1, "What drives the lamp of the lighthouse?", RIGHT)
        + &turn(2, "Why is the foghorn silent?", WRONG)
        + &turn(3, "And what about the buoys in the report?", LAST)
}

fn world() -> World {
    let world = World::new();
    world.transcript(&format!("{FOLDER}/{SESSION}.jsonl"), rows());
    world.age_transcripts();
    world.digest(&["--summarizer", "extract"]);
    world
}

/// Everything by which a person or an assistant is told of the session.
fn told(world: &World) -> String {
    let shows: [&[&str]; 8] = [
        &["show", SESSION],
        &["show", "--full", SESSION],
        &["show", "--json", SESSION],
        &["show", "--items", SESSION],
        &["timeline", SESSION],
        &["context", "--cwd", "/home/dev/src/shop"],
        &["context", "foghorn compressor"],
        &["search", "compressor", "broken"],
    ];
    let shown = shows.iter().map(|args| world.recall(*args).out);
    let pages = world.pages().into_iter().map(|(_, page)| page);
    let mut peer = Peer::greet(world);
    let (_, got) = peer.call("get", json!({"ids": [SESSION]}));
    let (_, found) = peer.call("search", json!({"query": "foghorn compressor broken"}));
    shown.chain(pages).chain([got, found]).collect()
}

fn wrong(world: &World, args: &[&str]) -> String {
    let ran = world.recall([&["wrong", SESSION], args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
    ran.out
}

#[test]
fn a_reply_that_is_not_so_is_told_nowhere_until_that_is_taken_back() {
    let world = world();
    let before = told(&world);
    assert!(before.matches("compressor").count() > 6, "{before}");
    let listed = wrong(&world, &[]);
    assert!(listed.contains(&format!("turn 2    reply        {WRONG}")) && !listed.contains("Hidden"), "{listed}");

    let out = wrong(&world, &["--reply", "2"]);
    assert!(out.starts_with("Hidden:\n") && out.contains(WRONG), "{out}");
    assert!(!told(&world).contains("compressor"), "{}", told(&world));
    assert!(told(&world).contains(RIGHT) && told(&world).contains("Why is the foghorn silent?"), "the rest stays");
    let listed = wrong(&world, &[]);
    assert!(
        !listed.contains("compressor") && listed.contains("turn 2    reply        (to “Why is the foghorn silent?”)"),
        "{listed}"
    );

    for run in [&["digest", "--rebuild-pages"][..], &["digest", "--session", SESSION, "--summarizer", "extract"]] {
        assert_eq!(world.recall(run).code, 0);
        assert!(!told(&world).contains("compressor"), "{run:?}: {}", told(&world));
    }
    let raw = world.recall(["show", "--raw", SESSION]);
    assert!(raw.code == 0 && raw.out.contains(WRONG), "the transcript is shown as it is: {raw:#?}");

    let out = wrong(&world, &["--undo", "--reply", "2"]);
    assert!(out.starts_with("Shown again:\n") && out.contains(WRONG), "{out}");
    assert_eq!(told(&world), before);
}

/// Nothing is told of a turn that was not so: that it had no reply, or that something was left open.
#[test]
fn the_last_reply_leaves_no_turn_open_behind() {
    let world = world();
    wrong(&world, &["--reply", "3"]);
    let shown = world.recall(["show", SESSION]).out;
    assert!(!shown.contains("buoys are counted") && !shown.contains("no reply"), "{shown}");
    let pages: String = world.pages().into_iter().map(|(_, page)| page).collect();
    for told in [&shown, &pages] {
        assert!(told.contains("Claude's last reply that is not hidden"), "what came before it is not the end: {told}");
    }
    let account = world.show(SESSION)["account"].clone();
    assert_eq!(account["open"], json!([]), "{account}");
}

#[test]
fn another_machine_learns_of_it_also_where_the_session_is_known_already() {
    let world = world();
    wrong(&world, &["--reply", "2"]);
    let file = world.root().join("out.jsonl");
    std::fs::write(&file, world.recall(["export"]).out).expect("the export");
    for other in [World::new(), self::world()] {
        other.recall(["import", file.to_str().expect("a UTF-8 path")]);
        assert_eq!(other.recall(["digest", "--summarizer", "extract"]).code, 0);
        assert!(told(&other).contains(RIGHT) && !told(&other).contains("compressor"), "{}", told(&other));
        wrong(&other, &["--undo", "--reply", "2"]);
        assert!(told(&other).contains(WRONG), "its rows came along");
    }
}

#[test]
fn a_model_is_not_given_it() {
    let world = world();
    wrong(&world, &["--reply", "2"]);
    world.fake_claude("#!/bin/sh\ncat > \"$RECALL_DATA_DIR/../asked\"\nexit 1\n");
    world.recall(["digest", "--session", SESSION, "--summarizer", "claude"]);
    let asked = std::fs::read_to_string(world.root().join("asked")).expect("what the model was given");
    assert!(asked.contains("lighthouse") && !asked.contains("compressor"), "{asked}");
}

#[test]
fn what_is_no_reply_is_named() {
    let world = world();
    for (args, why) in [
        (&["--reply", "9"][..], "turn 9 of session 5e551011"),
        (&["--undo", "--reply", "2"], "no reply of turn 2 is hidden"),
        (&["--reply", "two"], "give a whole number"),
        (&["c00000000", "--reply", "2"], "for one session"),
    ] {
        let ran = world.recall([&["wrong", SESSION], args].concat());
        assert!(ran.code == 2 && ran.err.contains(why) && ran.out.is_empty(), "{args:?}: {ran:#?}");
    }
    wrong(&world, &["--reply", "2"]);
    let again = world.recall(["wrong", SESSION, "--reply", "2"]);
    assert!(again.code == 2 && again.err.contains("is already hidden"), "{again:#?}");
}
