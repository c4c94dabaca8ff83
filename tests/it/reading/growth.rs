//! Files that grow, shrink and are replaced between two runs.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::support::{World, age, assistant, changed, user};

const S: &str = "33333333-aaaa-4aaa-8aaa-333333333333";

fn first() -> String {
    user(S, "u1", "2026-11-20T10:00:00Z", "why is it slow?")
        + &assistant(S, "a1", "2026-11-20T10:00:05Z", "Because of the missing index.")
}

fn append(file: &Path, text: &str) {
    fs::File::options().append(true).open(file).and_then(|mut f| f.write_all(text.as_bytes())).unwrap();
    age(file, Duration::from_secs(3000));
}

fn replace(file: &Path, text: &str) {
    fs::remove_file(file).unwrap();
    fs::write(file, text).unwrap();
    age(file, Duration::from_secs(3000));
}

#[test]
fn only_what_a_file_gained_is_read() {
    let world = World::new();
    let file = world.transcript(&format!("-p/{S}.jsonl"), first());
    assert_eq!(world.digest(&["--ingest-only"])["bytes_read"], first().len());
    let more = user(S, "u2", "2026-11-20T10:01:00Z", "and now?");
    append(&file, &more);
    let report = world.digest(&["--ingest-only"]);
    assert_eq!((&report["bytes_read"], &report["rows_new"]), (&more.len().into(), &1.into()), "{report}");
    assert_eq!(world.texts(S, "prompt"), ["why is it slow?", "and now?"]);
}

#[test]
fn half_a_last_line_waits_uncounted_and_is_read_once_it_is_whole() {
    let world = World::new();
    let more = user(S, "u2", "2026-11-20T10:01:00Z", "and now?");
    let (half, rest) = more.split_at(more.len() / 2);
    let file = world.transcript(&format!("-p/{S}.jsonl"), first() + half);
    let ran = world.recall(["digest", "--ingest-only", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (ran.code, &report["rows_bad"], &report["rows_new"], &report["bytes_read"]),
        (0, &0.into(), &2.into(), &first().len().into()),
        "{ran:#?}"
    );

    append(&file, rest);
    let report = world.digest(&["--ingest-only"]);
    assert_eq!(
        (&report["rows_bad"], &report["rows_new"], &report["bytes_read"]),
        (&0.into(), &1.into(), &more.len().into()),
        "{report}"
    );
    assert_eq!(world.texts(S, "prompt"), ["why is it slow?", "and now?"]);
    assert_eq!(world.status()["bad_lines"], 0);
}

#[test]
fn a_whole_last_line_counts_without_its_newline_and_only_once() {
    for uuid in [true, false] {
        let world = World::new();
        let mut last = user(S, "u2", "2026-11-20T10:01:00Z", "and now?");
        if !uuid {
            last = last.replace(r#","uuid":"u2""#, "");
        }
        let file = world.transcript(&format!("-p/{S}.jsonl"), first() + last.trim_end());
        assert_eq!(world.digest(&["--ingest-only"])["rows_new"], 3);
        append(&file, &format!("\n{}", user(S, "u3", "2026-11-20T10:02:00Z", "thanks")));
        assert_eq!(world.digest(&["--ingest-only"])["rows_new"], 1);
        assert_eq!(world.texts(S, "prompt"), ["why is it slow?", "and now?", "thanks"]);
    }
}

#[test]
fn a_file_that_shrank_is_read_again_and_no_row_is_doubled_or_forgotten() {
    let world = World::new();
    let more = user(S, "u2", "2026-11-20T10:01:00Z", "and now?");
    let file = world.transcript(&format!("-p/{S}.jsonl"), first() + &more);
    world.digest(&["--summarizer", "extract"]);
    replace(&file, &first());
    let report = world.digest(&["--summarizer", "extract"]);
    assert_eq!((&report["rows_new"], &report["bytes_read"]), (&0.into(), &first().len().into()), "{report}");
    assert_eq!(world.texts(S, "prompt"), ["why is it slow?", "and now?"], "what was stored outlives the file");

    append(&file, &user(S, "u3", "2026-11-20T10:02:00Z", "thanks"));
    assert_eq!(world.digest(&["--summarizer", "extract"])["rows_new"], 1);
    assert!(world.texts(S, "prompt").contains(&"thanks".to_owned()));
}

#[test]
fn a_file_replaced_by_another_of_the_same_name_is_read_from_its_start() {
    let world = World::new();
    let file = world.transcript(&format!("-p/{S}.jsonl"), first() + "garbage\n");
    world.digest(&["--ingest-only"]);
    let other = user(S, "v1", "2026-11-20T11:00:00Z", "a quite different question")
        + &assistant(S, "b1", "2026-11-20T11:00:05Z", "A quite different answer, and a longer one at that.");
    replace(&file, &format!("{other}{}", user(S, "v2", "2026-11-20T11:01:00Z", "one more")));
    let report = world.digest(&["--ingest-only"]);
    assert_eq!(report["rows_new"], 3, "{report}");
    let prompts = world.texts(S, "prompt");
    for expected in ["why is it slow?", "a quite different question", "one more"] {
        assert!(prompts.iter().any(|p| p == expected), "{expected} is missing: {prompts:?}");
    }
    assert_eq!(world.status()["bad_lines"], 0, "the bad line is gone with the file that held it");
}

#[test]
fn a_file_replaced_by_one_of_another_session_brings_that_session() {
    let world = World::new();
    let file = world.transcript("-p/notes.jsonl", first());
    world.digest(&["--ingest-only"]);
    let other = first().replace(S, "44444444-aaaa-4aaa-8aaa-444444444444").replace("\"u1\"", "\"w1\"").replace("\"a1\"", "\"w2\"");
    replace(&file, &format!("{other}{}", user("44444444-aaaa-4aaa-8aaa-444444444444", "w3", "2026-11-20T11:01:00Z", "more")));
    world.digest(&["--ingest-only"]);
    assert_eq!(world.exported().len(), 2);
    assert_eq!(world.texts("44444444-aaaa-4aaa-8aaa-444444444444", "prompt").len(), 2);
}

#[test]
fn a_file_that_vanished_takes_nothing_from_memory() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let (pages, rows) = (world.pages(), world.exported());
    fs::remove_dir_all(world.claude_dir().join("projects")).unwrap();
    let ran = world.recall(["digest", "--summarizer", "extract", "--rebuild-pages"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(world.pages(), pages);
    assert_eq!(world.exported(), rows);
}

#[test]
fn a_second_run_reads_nothing_and_writes_nothing() {
    let world = World::with_fixtures(&["plain", "fork", "compact", "clear", "subagent", "hooks", "retry"]);
    world.transcript("-p/bad.jsonl", "garbage\n");
    world.digest(&["--summarizer", "extract"]);
    let before = world.everything();
    for arguments in [&["--summarizer", "extract"][..], &[], &["--ingest-only"]] {
        let report = world.digest(arguments);
        for key in ["bytes_read", "files_read", "rows_new", "rows_bad", "sessions_digested", "pages_written"] {
            assert_eq!(report[key], 0, "{key}: {report}");
        }
        // But for the note of when it last ran.
        let wrote = changed(&before, &world.everything());
        assert_eq!(wrote, [world.data_dir().join("last-run.json")], "`digest {}` wrote", arguments.join(" "));
    }
}

#[test]
fn when_a_session_began_is_the_same_whichever_of_its_files_is_read_first() {
    let own = format!("-p/{S}.jsonl");
    // A file that tells nothing but that the session was there before.
    let other = format!("-p/{S}/subagents/agent-a1.jsonl");
    let snapshot = json!({"messageId": "m1", "trackedFileBackups": {}, "timestamp": "2026-11-20T09:58:00Z"});
    let row = json!({"type": "file-history-snapshot", "messageId": "m1", "snapshot": snapshot, "isSnapshotUpdate": false});
    let earlier = format!("{row}\n");
    let began_after = |files: [(&str, String); 2]| {
        let world = World::new();
        for (file, rows) in files {
            world.transcript(file, rows);
            world.digest(&["--ingest-only"]);
        }
        world.count("SELECT started_at FROM session")
    };
    let own_first = began_after([(&own, first()), (&other, earlier.clone())]);
    assert_eq!(own_first, "2026-11-20T09:58:00Z".parse::<jiff::Timestamp>().expect("a time").as_millisecond());
    assert_eq!(began_after([(&other, earlier), (&own, first())]), own_first);
}
