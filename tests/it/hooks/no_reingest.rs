//! What a session was told stands in its transcript afterwards. It was never said there, and is not taken in again.

use serde_json::{Value, json};

use crate::hooks::payloads::{FOLDER, S, SHOP, patient, starts, told, transcript, write_talk};
use crate::support::{World, assistant, files_below, user};

const OLD: &str = "aaaa0000-0000-4000-8000-000000000000";
/// Words of the session before, by which its notes are known wherever they turn up.
const MARKER: &str = "zanzibar";
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// What a session of the shop's is told, word for word.
fn notes() -> String {
    let world = World::new();
    patient(&world);
    let reply = format!(
        "The {MARKER} rates are cached now, because they change daily.\n\n## Next steps\n\n- Export the {MARKER} invoices as CSV\n"
    );
    write_talk(&world, OLD, "2026-11-20T10:00:00Z", &format!("Cache the {MARKER} rates."), &reply);
    world.digest(&EXTRACT);
    let notes = told(&world, &starts(&world, S, "startup")).expect("notes");
    assert!(notes.matches(MARKER).count() >= 3, "{notes}");
    notes
}

fn row(n: usize, kind: &str, fields: &Value) -> String {
    let mut row = json!({
        "type": kind, "uuid": format!("55551111-aaaa-4aaa-8aaa-5555111199{n:02}"), "sessionId": S, "timestamp": "2026-11-21T11:00:00Z",
        "cwd": SHOP, "version": "2.1.197", "gitBranch": "main", "isSidechain": false,
    });
    row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    format!("{row}\n")
}

/// The rows by which the client notes what a hook said, and other places where the same text has been seen.
fn rows_that_hold(notes: &str) -> String {
    let stdout = json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": notes}}).to_string();
    let hook = |kind: &str, more: Value| {
        let mut attachment =
            json!({"type": kind, "hookName": "SessionStart:startup", "toolUseID": "t1", "hookEvent": "SessionStart"});
        attachment.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"attachment": attachment})
    };
    let said = |text: String| json!({"message": {"role": "user", "content": text}});
    let reminder = format!("<system-reminder>\nSessionStart hook additional context: {notes}</system-reminder>");
    let all = [
        (
            "attachment",
            hook("hook_success", json!({"content": "", "stdout": stdout, "stderr": "", "exitCode": 0, "command": "recall hook"})),
        ),
        ("attachment", hook("hook_success", json!({"content": notes, "stdout": notes, "stderr": notes, "exitCode": 0}))),
        ("attachment", hook("hook_additional_context", json!({"content": [notes]}))),
        (
            "attachment",
            json!({"attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": format!("Go on.\n{notes}")}}),
        ),
        ("user", said(format!("Sort the order list.\n{notes}"))),
        ("user", said(format!("Sort it by date. {reminder}"))),
        ("user", json!({"isMeta": true, "message": {"role": "user", "content": notes}})),
        (
            "user",
            json!({"message": {"role": "user", "content": [{"type": "text", "text": reminder}, {"type": "text", "text": "By number."}]}}),
        ),
        (
            "user",
            json!({"isCompactSummary": true, "message": {"role": "user", "content": format!("Summary:\nWe sorted.\n{notes}")}}),
        ),
        ("system", json!({"subtype": "away_summary", "content": format!("The list is sorted. {notes}")})),
        ("system", json!({"subtype": "local_command", "content": format!("<local-command-stdout>{notes}</local-command-stdout>")})),
        ("user", said(format!("<bash-stdout>{notes}</bash-stdout><bash-stderr></bash-stderr>"))),
        ("user", said(format!("<local-command-stdout>{notes}</local-command-stdout>"))),
    ];
    all.iter().enumerate().map(|(n, (kind, fields))| row(n, kind, fields)).collect()
}

#[test]
fn what_a_session_was_told_is_not_taken_in_again() {
    let notes = notes();
    let world = World::new();
    patient(&world);
    let rows = user(S, "55551111-aaaa-4aaa-8aaa-555511110001", "2026-11-21T11:00:00Z", "What is left to do?")
        + &rows_that_hold(&notes)
        + &assistant(
            S,
            "55551111-aaaa-4aaa-8aaa-555511110002",
            "2026-11-21T11:05:00Z",
            "The order list is sorted now, because the index was there.",
        );
    assert!(rows.matches(MARKER).count() > 30);
    let file = world.transcript(&format!("{FOLDER}/{S}.jsonl"), &rows);
    assert_eq!(file, transcript(&world, S));

    // Right at its end, read as it stands, and after a compaction.
    world.digest(&["--ingest-only"]);
    crate::hooks::payloads::end(&world, S);
    let other = told(&world, &starts(&world, OLD, "startup")).expect("notes of this session");
    assert!(other.contains("order list is sorted") && !other.contains(MARKER), "{other}");
    let itself = told(&world, &starts(&world, S, "compact")).expect("notes of itself");
    assert!(itself.contains("order list is sorted") && !itself.contains(MARKER), "{itself}");

    // And by the digest: no row, no page, nowhere in its files.
    assert_eq!(world.digest(&EXTRACT)["sessions_digested"], 1);
    let exported = world.recall(["export"]).out;
    assert!(
        exported.contains("Sort the order list.") && exported.contains("By number."),
        "what was said beside it is kept: {exported}"
    );
    assert!(!exported.contains(MARKER) && !exported.contains("recall-context"), "{exported}");
    for (name, page) in world.pages() {
        assert!(!page.contains(MARKER), "{name}: {page}");
    }
    for file in files_below(&world.data_dir()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(MARKER.len()).any(|w| w == MARKER.as_bytes()), "{}", file.display());
    }
    assert_eq!(world.recall(["search", MARKER]).out, "");
}

#[test]
fn a_model_is_not_given_it_either() {
    let notes = notes();
    let world = World::new();
    world.fake_claude(&format!("#!/bin/sh\ncat > '{}'\nexit 1\n", world.root().join("asked").display()));
    let rows = user(S, "55551111-aaaa-4aaa-8aaa-555511110001", "2026-11-21T11:00:00Z", "What is left to do?")
        + &rows_that_hold(&notes)
        + &assistant(S, "55551111-aaaa-4aaa-8aaa-555511110002", "2026-11-21T11:05:00Z", "The order list is sorted now.");
    world.transcript(&format!("{FOLDER}/{S}.jsonl"), rows);
    world.recall(["digest"]);
    let asked = std::fs::read_to_string(world.root().join("asked")).expect("the model was asked");
    assert!(asked.contains("order list is sorted") && !asked.contains(MARKER), "{asked}");
}
