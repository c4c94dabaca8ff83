//! Cline: what its client was told to do by a script, what it wrote down, and what is read of that. See `fixtures/README.md`.

use std::fs;

use serde_json::Value;

use super::recorded::{Counts, Recorded};
use crate::support::{World, files_below};

pub const CLINE: Recorded = Recorded { agent: "cline", fixtures: "cline", home: ".cline" };
pub const VERSION: &str = "3.0.65";

#[test]
fn what_was_done_is_what_is_read() {
    let world = CLINE.world(VERSION);
    let report = world.digest(&[]);
    assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&Value::from(0), &Value::from(0)), "{report}");
    let files = ["larder/parse.py", "tests/test_parse.py"].map(|name| format!("/home/dev/src/larder/{name}"));
    // Sessions: the fix and its commit, the subagent, the key (of which the reply alone is kept), ounces.
    let expected = Counts {
        sessions: 4,
        prompts: 2 + 1 + 2,
        replies: 4 + 3 + 1 + 3,
        commands: 4 + 1 + 2,
        failed: 1,
        files: files.into(),
        commits: 1,
        subagents: 1,
        recaps: 0,
        forks: 0,
        interrupted: 0,
    };
    assert_eq!(CLINE.counts(&world), expected);
    // What the stand-in counted, 954,240 and 5,346, without the private session: 1,340 and 74.
    let stats: Value = serde_json::from_str(&world.recall(["stats", "--json", "--since", "2026-11-01"]).out).expect("JSON");
    let total = &stats["total"];
    assert_eq!((&total["input"], &total["cache_read"], &total["output"]), (&949_100.into(), &3800.into(), &5272.into()), "{stats}");
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    CLINE.keeps_no_secret(VERSION);
}

/// Writes the documents as they were once they had so many messages.
fn write_until(world: &World, messages: usize) {
    let whole = CLINE.world(VERSION);
    for file in files_below(&CLINE.home_in(&whole)) {
        let to = CLINE.home_in(world).join(file.strip_prefix(CLINE.home_in(&whole)).expect("a document"));
        let mut document: Value = serde_json::from_slice(&fs::read(&file).expect("a document")).expect("JSON");
        if let Some(all) = document["messages"].as_array_mut() {
            all.truncate(messages);
        }
        fs::create_dir_all(to.parent().expect("a folder")).expect("the folder");
        fs::write(to, document.to_string()).expect("a document");
    }
    CLINE.age(world);
}

#[test]
fn it_does_not_matter_how_often_documents_were_written_in_between() {
    let at_once = World::new();
    write_until(&at_once, usize::MAX);
    at_once.digest(&[]);
    let world = World::new();
    for messages in [0, 1, 2, 5, 8, 15, usize::MAX] {
        write_until(&world, messages);
        world.digest(&[]);
    }
    assert!(world.pages() == at_once.pages(), "{:#?}", world.pages());
}

#[test]
fn a_document_that_is_just_being_written_is_read_the_next_time() {
    let world = CLINE.world(VERSION);
    let documents = files_below(&CLINE.home_in(&world)).into_iter().filter(|file| file.to_string_lossy().contains(".messages."));
    let document = documents.max_by_key(|file| fs::metadata(file).expect("a file").len()).expect("a document");
    let whole = fs::read(&document).expect("a document");
    fs::write(&document, &whole[..whole.len() / 2]).expect("half of it");
    let ran = world.recall(["digest"]);
    assert!(ran.code == 1 && ran.err.contains("not written to its end yet"), "{ran:#?}");
    fs::write(&document, whole).expect("all of it");
    CLINE.age(&world);
    assert_eq!(world.recall(["digest"]).code, 0);
    assert_eq!(CLINE.counts(&world).commits, 1);
}

#[test]
fn a_session_is_named_by_the_end_of_its_id_and_continued_by_cline() {
    let world = CLINE.world(VERSION);
    world.digest(&[]);
    // The first characters of an id are the time.
    let listed = world.recall(["list"]).out;
    assert!(listed.contains("  50_3ge76  larder  "), "{listed}");
    assert!(world.recall(["show", "50_3ge76"]).out.contains("Thanks. Commit that on a branch."));
    let pages = world.pages();
    assert!(pages.iter().any(|(_, page)| page.contains("cd /home/dev/src/larder && cline --id 17957888")), "{pages:#?}");
}
