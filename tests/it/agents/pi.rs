//! Pi: what its client was told to do by a script, what it wrote down, and what is read of that. See `fixtures/README.md`.

use serde_json::Value;

use super::recorded::{Counts, Recorded};

const PI: Recorded = Recorded { agent: "pi", fixtures: "pi", home: ".pi/agent" };
const VERSION: &str = "0.73.1";

#[test]
fn what_was_done_is_what_is_read() {
    let world = PI.world(VERSION);
    let report = world.digest(&[]);
    assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&Value::from(0), &Value::from(0)), "{report}");
    // The edit was refused, so that the test fails twice. The fork has the first session's rows, and a prompt and a reply of its own.
    let files = ["/home/dev/kitchen/kitchen/amounts.py", "/home/dev/kitchen/tests/test_amounts.py"].map(str::to_owned);
    let (first, fork, again) = ((2, 4, 4, 2), (3, 5, 4, 2), (2, 4, 3, 2));
    let sum = |of: fn((usize, usize, usize, usize)) -> usize| of(first) + of(fork) + of(again);
    let expected = Counts {
        sessions: 4,
        // And one of each about the key, whose command is not kept.
        prompts: sum(|(prompts, ..)| prompts) + 1,
        replies: sum(|(_, replies, ..)| replies) + 1,
        commands: sum(|(_, _, commands, _)| commands),
        failed: sum(|(.., failed)| failed),
        files: files.into(),
        commits: 1,
        subagents: 0,
        recaps: 2,
    };
    assert_eq!(PI.counts(&world), expected);
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    PI.keeps_no_secret(VERSION);
}

#[test]
fn it_does_not_matter_in_which_pieces_transcripts_are_read() {
    PI.reads_any_pieces(VERSION);
}

#[test]
fn a_session_is_continued_by_pi() {
    let world = PI.world(VERSION);
    world.digest(&[]);
    let pages = world.pages();
    assert!(pages.iter().any(|(_, page)| page.contains("cd /home/dev/kitchen && pi --session 01a2")), "{pages:#?}");
}
