//! Qwen Code: what its clients were told to do by a script, what they wrote down, and what is read of that. See `fixtures/README.md`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::recorded::{Counts, Recorded, Tokens};

pub const QWEN: Recorded = Recorded { agent: "qwen-code", fixtures: "qwen", home: ".qwen" };

const VERSIONS: [&str; 3] = ["0.5.2", "0.15.10", "0.24.4"];

/// Its other scene.
const LARDER: &str = "larder-0.24.4";

/// What the script had each client do, as its requests say.
fn kitchen(version: &str) -> Counts {
    let files = ["kitchen/amounts.py", "tests/test_amounts.py"].map(|name| format!("/home/dev/kitchen/{name}")).into();
    let (replies, commands, subagents) = match version {
        "0.5.2" | "0.15.10" => (11, 7, 0),
        // The helper's words, and the assistant's again once it was told that the helper is done.
        _ => (13, 8, 1),
    };
    let all = Counts { sessions: 4, prompts: 6, failed: 1, commits: 1, recaps: 1, ..Counts::default() };
    Counts { replies, commands, files, subagents, ..all }
}

#[test]
fn what_was_done_is_what_is_read() {
    let read: BTreeMap<&str, Counts> = VERSIONS.into_iter().map(|version| (version, QWEN.read(version).0)).collect();
    assert_eq!(read, VERSIONS.into_iter().map(|version| (version, kitchen(version))).collect());
}

/// P5 is mostly a key, as is the command of it. Of the private P4 not even the tokens are kept: a reply, and what the client noted for its own
/// memory. All else that was sent is there, the calls of the helper and of the compaction, too.
#[test]
fn every_call_of_the_model_is_read() {
    let files = ["larder/parse.py", "tests/test_parse.py"].map(|name| format!("/home/dev/src/larder/{name}")).into();
    let all = Counts { sessions: 4, prompts: 5, replies: 12, commands: 7, failed: 1, ..Counts::default() };
    let counts = Counts { files, commits: 1, subagents: 1, recaps: 1, ..all };
    let tokens = Tokens { input: 979_500, cached: 4800, output: 7632 }.without(&[(1350, 75), (1360, 76)]);
    assert_eq!(QWEN.read(LARDER), (counts, tokens));
    let world = QWEN.world(LARDER);
    world.digest(&[]);
    assert!(world.pages().iter().all(|(_, page)| !page.contains("`unknown`")), "{:#?}", world.pages());
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    VERSIONS.iter().chain(&[LARDER]).for_each(|version| QWEN.keeps_no_secret(version));
}

#[test]
fn it_does_not_matter_in_which_pieces_transcripts_are_read() {
    VERSIONS.iter().chain(&[LARDER]).for_each(|version| QWEN.reads_any_pieces(version));
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
