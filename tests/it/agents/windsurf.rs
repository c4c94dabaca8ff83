//! Windsurf: transcripts made by hand after the documentation and a published one, and what is read of them. See `fixtures/README.md`.

use std::fs;

use serde_json::json;

use super::recorded::{Counts, Recorded};
use crate::support::files_below;

const WINDSURF: Recorded = Recorded { agent: "windsurf", fixtures: "windsurf", home: ".windsurf" };
const VERSION: &str = "made";
const ID: &str = "7c2e9b40-51d3-4f0a-8e66-1a9d3c5b7e0";

#[test]
fn what_was_done_is_what_is_read() {
    let world = WINDSURF.world(VERSION);
    let report = world.digest(&[]);
    assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&0.into(), &0.into()), "{report}");
    let expected = Counts {
        sessions: 3,
        // Of the prompt that is mostly a key nothing is kept.
        prompts: 2 + 1,
        replies: 4 + 2 + 1,
        commands: 3 + 1,
        // The refused one, too.
        failed: 1 + 1,
        files: ["larder/parse.py", "tests/test_parse.py"].iter().map(|name| format!("/home/dev/src/larder/{name}")).collect(),
        commits: 1,
        ..Counts::default()
    };
    assert_eq!(WINDSURF.counts(&world), expected);
}

#[test]
fn nothing_that_is_secret_or_private_or_of_the_client_is_kept() {
    WINDSURF.keeps_no_secret(VERSION);
    let world = WINDSURF.world(VERSION);
    world.digest(&[]);
    // The names of rules, and what tools have read.
    let holds = |file: &&std::path::PathBuf| memchr::memmem::find(&fs::read(file).expect("a file"), b"moonstone").is_some();
    assert_eq!(files_below(&world.data_dir()).iter().find(holds), None);
}

#[test]
fn it_does_not_matter_in_which_pieces_it_is_read() {
    WINDSURF.reads_any_pieces(VERSION);
}

#[test]
fn a_file_that_is_written_anew_is_the_same_session() {
    let world = WINDSURF.world(VERSION);
    let file = WINDSURF.home_in(&world).join(format!("transcripts/{ID}1.jsonl"));
    let whole = fs::read_to_string(&file).expect("a transcript");
    // As it was while the last command went on, and before a change was accepted.
    let going = |line: &str| {
        let mut step: serde_json::Value = serde_json::from_str(line).expect("a step");
        if let Some(command) =
            step["run_command"].as_object_mut().filter(|command| command["command"].to_string().contains("commit"))
        {
            command.remove("exit_code");
            command.remove("output");
        }
        if step["type"] == "code_action" {
            step["code_action"]["acknowledgement_type"] = json!("ACKNOWLEDGEMENT_TYPE_UNSPECIFIED");
        }
        format!("{step}\n")
    };
    fs::write(&file, whole.lines().take(12).map(going).collect::<String>()).expect("the transcript");
    WINDSURF.age(&world);
    world.digest(&[]);
    fs::write(&file, whole).expect("the transcript");
    WINDSURF.age(&world);
    world.digest(&[]);
    let at_once = WINDSURF.world(VERSION);
    at_once.digest(&[]);
    // Behind what was told later, nobody can say that no push followed.
    let without_commits = |counts: Counts| Counts { commits: 0, ..counts };
    assert_eq!(without_commits(WINDSURF.counts(&world)), without_commits(WINDSURF.counts(&at_once)));
    let shown = world.recall(["show", &format!("{ID}1"), "--full"]).out;
    assert!(shown.contains("- Read mixed amounts in full"), "{shown}");
}

#[test]
fn a_session_is_one_of_the_project_in_which_its_steps_took_place() {
    let world = WINDSURF.world(VERSION);
    world.digest(&[]);
    let listed = world.recall(["list", "--agent", "windsurf", "--project", "/home/dev/src/larder"]).out;
    assert!(listed.contains("is read as one cup") && listed.contains("(Windsurf)"), "{listed}");
    let shown = world.recall(["show", &format!("{ID}1"), "--full"]).out;
    for part in ["Cascade's last reply", "`python3 -m unittest -q` --:--: “OK”", "in @larder/parse.py is read"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let ran = world.recall(["resume", &format!("{ID}1"), "--print"]);
    assert!(ran.code == 2 && ran.err.contains("recall cannot resume sessions of Windsurf"), "{ran:#?}");
}
