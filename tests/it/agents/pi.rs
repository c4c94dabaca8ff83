//! Pi: what its client was told to do by a script, what it wrote down, and what is read of that. See `fixtures/README.md`.

use std::collections::BTreeSet;
use std::fs;

use super::recorded::{Counts, Recorded, Tokens};
use crate::support::{World, files_below};

pub const PI: Recorded = Recorded { agent: "pi", fixtures: "pi", home: ".pi/agent" };
const VERSION: &str = "0.73.1";
/// Its other scene.
pub const LARDER: &str = "larder-0.73.1";

#[test]
fn what_was_done_is_what_is_read() {
    // The edit was refused, so that the test fails twice. The fork has the first session's rows, and a prompt and a reply of its own.
    let files = ["/home/dev/kitchen/kitchen/amounts.py", "/home/dev/kitchen/tests/test_amounts.py"].map(str::to_owned).into();
    let (first, fork, again) = ((2, 4, 4, 2), (1, 1, 0, 0), (2, 4, 3, 2));
    let sum = |of: fn((usize, usize, usize, usize)) -> usize| of(first) + of(fork) + of(again);
    let expected = Counts {
        sessions: 4,
        // And one of each about the key, whose command is not kept.
        prompts: sum(|(prompts, ..)| prompts) + 1,
        replies: sum(|(_, replies, ..)| replies) + 1,
        commands: sum(|(_, _, commands, _)| commands),
        failed: sum(|(.., failed)| failed),
        files,
        commits: 1,
        subagents: 0,
        recaps: 2,
        forks: 1,
        interrupted: 0,
    };
    assert_eq!(PI.read(VERSION).0, expected);
}

/// P5 is mostly a key, as is the command of it, and of the private P4 not even the tokens are kept. Those of the compaction are in no file.
#[test]
fn a_fork_repeats_no_tokens_either() {
    let files = ["larder/parse.py", "tests/test_parse.py"].map(|name| format!("/home/dev/src/larder/{name}")).into();
    let all = Counts { sessions: 5, prompts: 6, replies: 10, commands: 7, failed: 1, ..Counts::default() };
    let counts = Counts { files, commits: 1, recaps: 1, forks: 1, ..all };
    let tokens = Tokens { input: 964_130, cached: 4000, output: 6335 }.without(&[(1310, 71), (11_230, 1063)]);
    assert_eq!(PI.read(LARDER), (counts, tokens));
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    [VERSION, LARDER].iter().for_each(|version| PI.keeps_no_secret(version));
}

#[test]
fn it_does_not_matter_in_which_pieces_transcripts_are_read() {
    [VERSION, LARDER].iter().for_each(|version| PI.reads_any_pieces(version));
}

#[test]
fn a_session_is_continued_by_pi() {
    let world = PI.world(VERSION);
    world.digest(&[]);
    let pages = world.pages();
    assert!(pages.iter().any(|(_, page)| page.contains("cd /home/dev/kitchen && pi --session 01a2")), "{pages:#?}");
}

/// Pi says what each call cost. Where a model has no price, that is told, and it goes through an export and a rebuilt index.
#[test]
fn what_a_call_cost_by_the_client_is_told_of_a_model_without_a_price() {
    let world = PI.world(LARDER);
    let (mut calls, mut texts) = (0, BTreeSet::new());
    for file in files_below(&PI.home_in(&world)) {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let stated = text.replace("\"total\":0}", "\"total\":0.0125}");
        texts.extend(stated.lines().filter(|line| line.contains("0.0125")).map(str::to_owned));
        fs::write(&file, stated).expect("the transcript");
        calls += 1;
    }
    assert!(calls > 3 && texts.len() > 8, "the recording has costs: {calls}, {}", texts.len());
    PI.age(&world);
    world.digest(&[]);
    let total = |world: &World| {
        let ran = world.recall(["stats", "--json"]);
        serde_json::from_str::<serde_json::Value>(&ran.out).expect("JSON")["total"].clone()
    };
    let told = total(&world);
    let cost = told["cost_usd"].as_f64().expect("a cost");
    // Calls of a private turn are not kept, and a fork's copies count once.
    let rows = (cost / 0.0125).round();
    assert!((rows * 0.0125 - cost).abs() < 1e-6 && rows > 5.0 && rows <= texts.len() as f64, "{cost}: {}", texts.len());
    assert_eq!(told.get("unpriced"), None, "{told:#}");
    let exported = world.recall(["export"]).out;
    let other = World::new();
    fs::write(other.home().join("memory.jsonl"), exported).expect("the export");
    assert_eq!(other.recall(["import", other.home().join("memory.jsonl").to_str().expect("a path")]).code, 0);
    assert_eq!(total(&other)["cost_usd"], told["cost_usd"]);
}
