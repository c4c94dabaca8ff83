//! Qwen Code: what its clients were told to do by a script, what they wrote down, and what is read of that. See `fixtures/README.md`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::recorded::{Counts, Recorded};

pub const QWEN: Recorded = Recorded { agent: "qwen-code", fixtures: "qwen", home: ".qwen" };

const VERSIONS: [&str; 3] = ["0.5.2", "0.15.10", "0.24.4"];

/// What the script had each client do, as its requests say.
fn expected(version: &str) -> Counts {
    let files = ["kitchen/amounts.py", "tests/test_amounts.py"].map(|name| format!("/home/dev/kitchen/{name}"));
    let (sessions, prompts, replies, commands, failed, subagents, recaps) = match version {
        "0.5.2" => (4, 6, 11, 7, 1, 0, 1),
        "0.15.10" => (4, 6, 11, 7, 1, 0, 1),
        // The helper's words, and the assistant's again once it was told that the helper is done.
        _ => (4, 6, 13, 8, 1, 1, 1),
    };
    Counts { sessions, prompts, replies, commands, failed, files: files.into(), commits: 1, subagents, recaps }
}

#[test]
fn what_was_done_is_what_is_read() {
    let read: BTreeMap<&str, Counts> = VERSIONS
        .into_iter()
        .map(|version| {
            let world = QWEN.world(version);
            let report = world.digest(&[]);
            assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&Value::from(0), &Value::from(0)), "{version}: {report}");
            (version, QWEN.counts(&world))
        })
        .collect();
    assert_eq!(read, VERSIONS.into_iter().map(|version| (version, expected(version))).collect());
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    VERSIONS.iter().for_each(|version| QWEN.keeps_no_secret(version));
}

#[test]
fn it_does_not_matter_in_which_pieces_transcripts_are_read() {
    VERSIONS.iter().for_each(|version| QWEN.reads_any_pieces(version));
}

#[test]
fn a_session_is_continued_by_qwen_and_a_subagent_belongs_to_the_session_that_began_it() {
    let world = QWEN.world("0.24.4");
    world.digest(&[]);
    let listed = world.recall(["list", "--agent", "qwen", "--json"]).out;
    let ids: Vec<Value> =
        listed.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["session"].clone()).collect();
    assert_eq!(ids.len(), 4, "{listed}");
    let delegated = world.recall(["search", "units stand in kitchen", "--json"]).out;
    let found: Value = serde_json::from_str(delegated.lines().next().expect("a result")).expect("JSON");
    assert!(ids.contains(&found["session"]), "{found}");
}
