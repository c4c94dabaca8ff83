//! Claude Cowork: tasks with the rows of Claude Code, in the folders that others report of Claude Desktop.

use std::fs;
use std::time::Duration;

use super::recorded::{Counts, Recorded, Tokens};
use crate::support::{World, age, copy_tree, files_below, fixtures};

const DESKTOP: &str = if cfg!(target_os = "macos") { "Library/Application Support/Claude" } else { ".config/Claude" };
pub const COWORK: Recorded = Recorded { agent: "cowork", fixtures: "cowork", home: DESKTOP };
pub const VERSION: &str = "made";

/// What the scene in `fixtures/cowork` has the client do. Nothing of the private turn is kept, nor its tokens.
#[test]
fn what_was_done_is_what_is_read() {
    let files = ["larder/parse.py", "larder/units.py", "tests/test_parse.py"];
    let expected = Counts {
        sessions: 3,
        prompts: 3 + 1 + 2,
        replies: 5 + 1 + 2,
        commands: 3 + 1,
        failed: 1 + 1,
        files: files.iter().map(|name| format!("/home/dev/src/larder/{name}")).collect(),
        commits: 1,
        subagents: 1,
        recaps: 1,
        ..Counts::default()
    };
    let tokens = Tokens { input: 18_530, cached: 3400, output: 1003 }.without(&[(1120, 62)]);
    assert_eq!(COWORK.read(VERSION), (expected, tokens));
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    COWORK.keeps_no_secret(VERSION);
}

#[test]
fn it_does_not_matter_in_which_pieces_transcripts_are_read() {
    COWORK.reads_any_pieces(VERSION);
}

#[test]
fn tasks_are_read_as_sessions_of_their_own_agent() {
    let world = World::new();
    // Where it is by itself differs between systems.
    let desktop = world.home().join("desktop");
    world.configure(&format!("[sources.cowork]\ndirs = [{:?}]\n", desktop));
    let task = desktop.join("local-agent-mode-sessions/0a7c/41d2/local_9b1e");
    copy_tree(&fixtures().join("claude-code-2.1.197/plain"), &task.join(".claude"));
    // What the task works on is no transcript.
    copy_tree(&fixtures().join("claude-code-2.1.197/retry"), &task.join("mnt/.claude"));
    fs::write(task.join("audit.jsonl"), "{\"type\": \"result\"}\n").expect("a file");
    for file in files_below(&task) {
        age(&file, Duration::from_secs(3600));
    }
    let report = world.digest(&[]);
    assert_eq!((&report["files_seen"], &report["sessions_new"]), (&1.into(), &1.into()), "{report}");
    let listed = world.recall(["list", "--agent", "cowork"]).out;
    assert!(listed.contains("(Claude Cowork)"), "{listed}");
    let shown = world.recall(["show", "last", "--full"]).out;
    assert!(shown.contains("Claude's last reply") && !shown.contains("claude --resume"), "{shown}");
    let id = listed.split_whitespace().nth(2).expect("an id");
    let ran = world.recall(["resume", id, "--print"]);
    assert!(ran.code == 2 && ran.err.contains("recall cannot resume sessions of Claude Cowork"), "{ran:#?}");
}
