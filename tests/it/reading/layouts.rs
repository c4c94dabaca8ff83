//! Where transcripts lie, and what lies between them.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::held::mkfifo;
use crate::support::{World, age, assistant, user};

const S: &str = "11111111-aaaa-4aaa-8aaa-111111111111";

fn session(id: &str) -> String {
    let (a, b) = (format!("{id}-u1"), format!("{id}-a1"));
    user(id, &a, "2026-11-20T10:00:00Z", "why is it slow?") + &assistant(id, &b, "2026-11-20T10:00:05Z", "Because of the index.")
}

#[test]
fn a_session_and_its_subagents_are_one() {
    let world = World::with_fixtures(&["subagent"]);
    let report = world.digest(&["--summarizer", "extract"]);
    assert_eq!((&report["files_seen"], &report["sessions_new"]), (&2.into(), &1.into()), "{report}");

    let shown = world.show("f518df9a");
    assert_eq!(shown["prompts"], 1, "the agent's task is no prompt: {shown:#}");
    let agents = world.count("SELECT count(*) FROM source WHERE agent <> ''");
    assert_eq!(agents, 1);
}

#[test]
fn the_old_layout_is_read_with_its_own_rows() {
    let world = World::new();
    let dir = world.claude_dir().join("transcripts");
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join("ses_0123456789abcdef.jsonl");
    let rows = concat!(
        r#"{"type":"user","timestamp":"2026-01-05T10:00:00.000Z","content":"make the build pass"}"#,
        "\n",
        r#"{"type":"tool_use","timestamp":"2026-01-05T10:00:02.000Z","tool_name":"Bash","tool_input":{"command":"cargo build"}}"#,
        "\n",
        r#"{"type":"tool_result","timestamp":"2026-01-05T10:00:09.000Z","tool_name":"Bash","tool_input":{"command":"cargo build"},"tool_output":{"output":"error[E0432]: unresolved import"}}"#,
        "\n",
    );
    fs::write(&file, rows).unwrap();
    age(&file, std::time::Duration::from_secs(3600));

    let report = world.digest(&["--summarizer", "extract"]);
    assert_eq!(
        (&report["sessions_new"], &report["sessions_digested"], &report["rows_unknown"]),
        (&1.into(), &1.into(), &0.into()),
        "{report}"
    );
    assert_eq!(world.texts("ses_0123456789abcdef", "prompt"), ["make the build pass"]);
    let tools = world.texts("ses_0123456789abcdef", "tool").join("\n");
    assert!(tools.contains("cargo build"), "{tools}");
    assert!(world.recall(["show", "--full", "ses_0123"]).out.contains("make the build pass"));
}

#[test]
fn both_layouts_and_several_config_directories_are_read_together() {
    let world = World::new();
    let other = world.root().join("other");
    for (dir, id) in [
        (world.claude_dir().join("projects/-p"), "aaaa1111"),
        (other.join("projects/-p"), "bbbb2222"),
        (other.join("transcripts"), "ses_cccc3333"),
    ] {
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(format!("{id}.jsonl")), session(id)).unwrap();
    }
    let (a, b) = (world.claude_dir(), other);
    let report = world.digest(&["--ingest-only", "--claude-dir", a.to_str().unwrap(), "--claude-dir", b.to_str().unwrap()]);
    assert_eq!((&report["files_read"], &report["sessions_new"]), (&3.into(), &3.into()), "{report}");
}

#[test]
fn a_config_directory_without_transcripts_is_no_error() {
    let world = World::new();
    let ran = world.recall(["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.err.contains("no transcripts found"), "{ran:#?}");
}

#[test]
fn links_to_nowhere_loops_and_pipes_are_reported_and_the_rest_is_read() {
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), session(S));
    let dir = world.claude_dir().join("projects/-p");
    symlink(dir.join("gone.jsonl"), dir.join("dangling.jsonl")).unwrap();
    symlink(&dir, dir.join("loop")).unwrap();
    symlink(dir.join("itself.jsonl"), dir.join("itself.jsonl")).unwrap();
    mkfifo(&dir.join("pipe.jsonl"));

    let ran = world.recall(["digest", "--summarizer", "extract", "--json"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    for name in ["dangling.jsonl", "loop", "itself.jsonl", "pipe.jsonl"] {
        assert!(ran.err.contains(name), "{name} is not reported: {ran:#?}");
    }
    assert!(world.recall(["show", "--full", "11111111"]).out.contains("why is it slow?"), "{ran:#?}");
}

#[test]
fn a_transcript_that_two_names_lead_to_is_read_once() {
    let world = World::new();
    let file = world.transcript(&format!("-p/{S}.jsonl"), session(S));
    let other = world.claude_dir().join("projects/-q");
    fs::create_dir_all(&other).unwrap();
    symlink(&file, other.join(format!("{S}.jsonl"))).unwrap();
    fs::hard_link(&file, other.join("hard.jsonl")).unwrap();

    let ran = world.recall(["digest", "--ingest-only", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &report["files_seen"], &report["rows_new"]), (0, &1.into(), &2.into()), "{ran:#?}");
}

#[test]
fn what_is_no_transcript_is_left_alone() {
    let world = World::new();
    world.transcript("-p/sessions-index.json", "{}");
    world.transcript("-p/notes.txt", "hello");
    world.transcript(&format!("-p/{S}/tool-results/out.jsonl"), "not ours\n");
    fs::create_dir_all(world.claude_dir().join("projects/-p/folder.jsonl")).unwrap();
    let report = world.digest(&[]);
    assert_eq!((&report["files_seen"], &report["rows_bad"]), (&0.into(), &0.into()), "{report}");
}
