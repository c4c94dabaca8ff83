//! One test for every bug that reading the code and trying odd input has found.

use std::fs;

use crate::support::{World, age, assistant, user};
use serde_json::json;

const A: &str = "aaaa0000-0000-4000-8000-000000000000";
const B: &str = "bbbb0000-0000-4000-8000-000000000000";

/// A session of one question and one answer, its rows told apart by `n`.
fn talk(session: &str, n: usize, prompt: &str, reply: &str) -> String {
    let id = |part: usize| format!("00000000-0000-4000-8000-{:012}", n * 10 + part);
    user(session, &id(1), "2026-11-20T10:00:00Z", prompt) + &assistant(session, &id(2), "2026-11-20T10:00:05Z", reply)
}

fn extract(world: &World) -> serde_json::Value {
    world.digest(&["--summarizer", "extract"])
}

/// The one page whose path holds `part`.
fn page(world: &World, part: &str) -> (std::path::PathBuf, String) {
    let (path, text) = world.pages().into_iter().find(|(path, _)| path.contains(part)).unwrap_or_else(|| panic!("no page {part}"));
    (world.data_dir().join(path), text)
}

#[test]
fn notes_of_a_session_that_turns_out_to_be_a_copy_go_to_its_day() {
    let stamp =
        |session: &str, at: &str| format!("{}\n", json!({"type": "queue-operation", "timestamp": at, "sessionId": session}));
    let rows = |session: &str| talk(session, 1, "why is it slow?", "Because the index was missing.");
    let world = World::new();
    world.transcript(&format!("-p/{B}.jsonl"), stamp(B, "2026-11-20T11:00:00Z") + &rows(B));
    extract(&world);
    let (file, text) = page(&world, "bbbb0000");
    fs::write(&file, format!("{text}\n## Notes\n\nask Ada\n")).unwrap();
    world.transcript(&format!("-p/{A}.jsonl"), stamp(A, "2026-11-20T09:00:00Z") + &rows(A));
    extract(&world);
    assert!(world.pages().iter().all(|(path, _)| !path.contains("bbbb0000")));
    assert!(page(&world, "2026-11-20.md").1.contains("ask Ada"));
}

#[test]
fn notes_are_found_however_an_editor_ends_their_heading() {
    let world = World::new();
    let file = world.transcript(&format!("-p/{A}.jsonl"), talk(A, 1, "why is it slow?", "Because the index was missing."));
    extract(&world);
    let (day, text) = page(&world, "2026-11-20.md");
    fs::write(&day, format!("{text}\r\n## Notes  \r\nmine\r\n")).unwrap();
    let more = talk(A, 2, "and now?", "Fixed: it is fast now.");
    fs::write(&file, fs::read_to_string(&file).unwrap() + &more).unwrap();
    age(&file, std::time::Duration::from_secs(1800));
    extract(&world);
    let text = page(&world, "2026-11-20.md").1;
    assert!(text.contains("mine") && text.matches("## Notes").count() == 1, "{text}");
}

#[test]
fn a_project_called_notes_does_not_grow_its_day() {
    let world = World::new();
    world.transcript(
        &format!("-p/{A}.jsonl"),
        talk(A, 1, "why is it slow?", "Because it is.").replace("/home/dev/src/shop", "/home/dev/Notes"),
    );
    extract(&world);
    let before = page(&world, "2026-11-20.md").1;
    extract(&world);
    world.digest(&["--summarizer", "extract", "--rebuild-pages"]);
    assert_eq!(page(&world, "2026-11-20.md").1, before);
}

#[test]
fn edits_in_edits_without_end_are_no_end_of_the_run() {
    let deep = "{\"edits\":[".repeat(30_000) + &"]}".repeat(30_000);
    let row = format!(
        "{{\"type\":\"assistant\",\"sessionId\":\"{A}\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"MultiEdit\",\"input\":{{\"file_path\":\"/a.rs\",\"edits\":[{deep}]}}}}]}}}}\n"
    );
    let world = World::new();
    world.transcript(&format!("-p/{A}.jsonl"), row + &talk(A, 1, "why is it slow?", "Because the index was missing."));
    extract(&world);
    assert_eq!(world.show(A)["prompts"], 1);
}

#[test]
fn a_file_rewritten_in_its_middle_is_read_again() {
    let world = World::new();
    let rows: Vec<String> =
        (0..40).map(|n| talk(A, n, &format!("question number {n}"), "An answer with some words in it.")).collect();
    let file = world.transcript(&format!("-p/{A}.jsonl"), rows[..20].concat());
    extract(&world);
    // Lines go from the middle and more come at the end, so that it is longer than before.
    fs::write(&file, rows[..8].concat() + &rows[11..].concat()).unwrap();
    age(&file, std::time::Duration::from_secs(1800));
    extract(&world);
    assert_eq!(world.show(A)["prompts"], 40);
}

#[test]
fn a_chatty_project_hides_no_other_from_search() {
    let world = World::new();
    let many: String = (0..450).map(|n| talk(A, n, "look at the parser", "Looked.")).collect();
    world.transcript(&format!("-p/{A}.jsonl"), many);
    world.transcript(
        &format!("-q/{B}.jsonl"),
        talk(B, 900, "look at the parser please, it is slow", "Looked.").replace("src/shop", "src/other"),
    );
    extract(&world);
    let found = world.recall(["search", "parser", "--project", "other"]);
    assert!(found.out.contains("bbbb0000"), "{found:#?}");
}

#[test]
fn a_session_that_leaves_an_excluded_project_stays_out() {
    let world = World::new();
    world.configure("[exclude]\nprojects = [\"/secret\"]\n");
    let title = json!({"type": "custom-title", "sessionId": A, "customTitle": "Half secret"});
    let secret = talk(A, 1, "the secret part", "Secret.").replace("/home/dev/src/shop", "/secret");
    world.transcript("-a/other.jsonl", format!("{title}\n"));
    world.transcript(&format!("-p/{A}.jsonl"), secret + &talk(A, 2, "the open part", "Fixed the open part."));
    extract(&world);
    let shown = world.recall(["show", "--full", A]);
    assert!(shown.code == 2 && shown.out.is_empty(), "{shown:#?}");
    assert!(!world.recall(["export"]).out.contains(A));
}

#[test]
fn an_import_keeps_what_waits_for_a_digest_waiting() {
    let world = World::new();
    let file = world.transcript(&format!("-p/{A}.jsonl"), talk(A, 1, "why is it slow?", "Because the index was missing."));
    extract(&world);
    fs::write(&file, fs::read_to_string(&file).unwrap() + &talk(A, 2, "add the index", "Added the index, all tests pass."))
        .unwrap();
    world.digest(&["--ingest-only"]);
    let export = world.root().join("all.jsonl");
    fs::write(&export, world.recall(["export"]).out).unwrap();
    let other = World::new();
    other.recall(["import", export.to_str().unwrap()]);
    extract(&other);
    assert!(other.recall(["show", "--full", A]).out.contains("Added the index"));
}

#[test]
fn a_long_session_ends_where_it_ended() {
    let world = World::new();
    let many: String = (0..300).map(|n| talk(A, n, &format!("please do step {n} of the list"), "Done.")).collect();
    world.transcript(&format!("-p/{A}.jsonl"), many + &talk(A, 301, "what is the state?", "All 300 steps are done and committed."));
    extract(&world);
    let page = world.recall(["show", "--full", A]).out;
    let timeline = page.split("## Turn by turn").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    assert!(
        timeline.contains("step 0 of") && timeline.contains("what is the state?") && timeline.contains("turns left out"),
        "{timeline}"
    );
}

#[test]
fn in_the_oldest_layout_a_check_that_failed_and_then_passed_is_told_as_it_ended() {
    let input = json!({"command": "cargo test"});
    let row = |kind: &str, at: &str, output: Option<&str>| {
        let mut row = json!({"type": kind, "timestamp": at, "tool_name": "bash", "tool_input": input});
        if kind == "tool_result" {
            row["tool_output"] = json!(output);
        }
        format!("{row}\n")
    };
    let said = |at: &str, text: &str| format!("{}\n", json!({"type": "user", "timestamp": at, "content": text}));
    let world = World::new();
    let folder = world.claude_dir().join("transcripts");
    fs::create_dir_all(&folder).unwrap();
    let rows = [
        said("2026-11-20T10:00:00Z", "make the tests pass"),
        row("tool_use", "2026-11-20T10:00:01Z", None),
        row("tool_result", "2026-11-20T10:00:02Z", Some("test result: FAILED. 1 passed; 2 failed")),
        row("tool_use", "2026-11-20T10:00:03Z", None),
        row("tool_result", "2026-11-20T10:00:04Z", Some("test result: ok. 3 passed; 0 failed")),
    ];
    fs::write(folder.join("ses_1234abcd.jsonl"), rows.concat()).unwrap();
    world.age_transcripts();
    extract(&world);
    let page = world.recall(["show", "--full", "ses_1234abcd"]).out;
    assert!(!page.contains("2 failed") && page.contains("3 passed"), "{page}");
}

#[test]
fn a_session_without_tokens_cost_nothing_and_not_less() {
    let world = World::new();
    let rows = talk(A, 1, "why is it slow?", "Because the index was missing.").replace("\"usage\"", "\"nothing\"");
    world.transcript(&format!("-p/{A}.jsonl"), rows);
    extract(&world);
    assert!(world.pages().iter().all(|(_, text)| text.contains("cost_usd: 0.00")));
}
