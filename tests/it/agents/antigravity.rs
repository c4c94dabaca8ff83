//! Antigravity: conversations made by hand in the folders and the form that others report, and what is read of them. See `fixtures/README.md`.

use std::fs;

use super::recorded::{Counts, Recorded};
use crate::support::{World, files_below};

const ANTIGRAVITY: Recorded = Recorded { agent: "antigravity", fixtures: "antigravity", home: ".gemini" };
const VERSION: &str = "made";
const ID: &str = "5f0c1c1e-7a41-4c6e-9d52-0b8e6a3f1a0";

#[test]
fn what_was_done_is_what_is_read() {
    let world = ANTIGRAVITY.world(VERSION);
    let report = world.digest(&[]);
    assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&0.into(), &0.into()), "{report}");
    let names = ["larder/parse.py", "larder/shopping.py", "tests/test_parse.py"];
    let expected = Counts {
        sessions: 3,
        // The task of the subagent is nobody's prompt; of the one that is mostly a key nothing is kept.
        prompts: 2 + 1,
        replies: 6 + 1 + 2 + 2,
        commands: 3 + 1 + 2,
        failed: 1 + 1 + 1,
        files: names.iter().map(|name| format!("/home/dev/src/larder/{name}")).collect(),
        commits: 1,
        subagents: 1,
        ..Counts::default()
    };
    assert_eq!(ANTIGRAVITY.counts(&world), expected);
}

#[test]
fn nothing_that_is_secret_or_private_or_of_the_client_is_kept() {
    ANTIGRAVITY.keeps_no_secret(VERSION);
    let world = ANTIGRAVITY.world(VERSION);
    world.digest(&[]);
    // What hooks and the client told the model, and the log that is cut short.
    let holds = |file: &&std::path::PathBuf| memchr::memmem::find(&fs::read(file).expect("a file"), b"moonstone").is_some();
    assert_eq!(files_below(&world.data_dir()).iter().find(holds), None);
    assert!(!world.recall(["export"]).out.contains("moonstone"));
}

#[test]
fn it_does_not_matter_in_which_pieces_it_is_read() {
    ANTIGRAVITY.reads_any_pieces(VERSION);
}

#[test]
fn a_conversation_is_shown_with_what_its_commands_printed() {
    let world = ANTIGRAVITY.world(VERSION);
    world.digest(&[]);
    let listed = world.recall(["list", "--agent", "agy", "--project", "/home/dev/src/larder"]).out;
    assert!(listed.contains("Mixed Amounts In The Recipe Parser") && listed.contains("(Antigravity)"), "{listed}");
    let shown = world.recall(["show", &format!("{ID}1"), "--full"]).out;
    for part in ["Mixed amounts are read in full now.", "`python3 -m unittest -q` 10:00: “OK”"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let plan = world.recall(["show", &format!("{ID}5"), "--full"]).out;
    assert!(plan.contains("edited: `larder/shopping.py`") && !plan.contains("implementation_plan"), "{plan}");
    assert!(world.recall(["export"]).out.contains("Round each total in shopping.py."));
    let ran = world.recall(["resume", &format!("{ID}1"), "--print"]);
    assert!(ran.code == 2 && ran.err.contains("recall cannot resume sessions of Antigravity"), "{ran:#?}");
}

#[test]
fn nothing_is_kept_of_an_excluded_project_nor_of_what_may_belong_to_it() {
    let world = World::new();
    world.configure("[privacy]\nexclude_projects = [\"/home/dev/src/larder\"]\n");
    let from = ANTIGRAVITY.world(VERSION);
    crate::support::copy_tree(&ANTIGRAVITY.home_in(&from), &ANTIGRAVITY.home_in(&world));
    ANTIGRAVITY.age(&world);
    world.digest(&[]);
    assert_eq!(ANTIGRAVITY.counts(&world), Counts::default());
}
