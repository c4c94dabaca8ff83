//! Claude Cowork: tasks with the rows of Claude Code, in the folders that others report of Claude Desktop.

use std::fs;
use std::time::Duration;

use crate::support::{World, age, copy_tree, files_below, fixtures};

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
