//! Copilot Chat in VS Code: chats made by hand after their published form, and what is read of them. See `fixtures/README.md`.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::recorded::{Counts, Recorded};
use crate::support::{World, files_below};

const USER: &str = if cfg!(target_os = "macos") { "Library/Application Support/Code/User" } else { ".config/Code/User" };
pub const COPILOT: Recorded = Recorded { agent: "vscode-copilot", fixtures: "vscode-copilot", home: USER };
pub const VERSION: &str = "made";

/// The chat of this number.
fn chat(world: &World, number: &str) -> PathBuf {
    let is_it = |file: &PathBuf| file.file_stem().is_some_and(|name| name.to_string_lossy().ends_with(number));
    files_below(&COPILOT.home_in(world)).into_iter().find(is_it).expect("a chat")
}

#[test]
fn what_was_done_is_what_is_read() {
    let world = COPILOT.world(VERSION);
    let report = world.digest(&[]);
    assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&0.into(), &0.into()), "{report}");
    let names = ["larder/parse.py", "larder/units.py", "tests/test_parse.py"];
    let expected = Counts {
        sessions: 3,
        // Of the prompt that is mostly a key nothing is kept, and a button is no prompt.
        prompts: 2 + 2,
        replies: 3 + 1 + 1 + 2 + 1,
        commands: 3 + 1 + 1,
        failed: 1 + 1,
        files: names.iter().map(|name| format!("/home/dev/src/larder/{name}")).collect(),
        commits: 1,
        ..Counts::default()
    };
    assert_eq!(COPILOT.counts(&world), expected);
    let stats: Value = serde_json::from_str(&world.recall(["stats", "--json", "--since", "2026-11-01"]).out).expect("JSON");
    assert_eq!((&stats["total"]["input"], &stats["total"]["output"]), (&10_800.into(), &420.into()), "{stats}");
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    COPILOT.keeps_no_secret(VERSION);
}

#[test]
fn it_does_not_matter_in_which_pieces_a_log_is_read() {
    COPILOT.reads_any_pieces(VERSION);
}

#[test]
fn an_answer_that_is_under_way_is_read_once_it_is_there() {
    let world = COPILOT.world(VERSION);
    world.digest(&[]);
    let before = COPILOT.counts(&world);
    let shown = world.recall(["show", "6d1f9c2e-3b47-4a58-8c1d-9e7f20b3a604", "--full"]).out;
    assert!(shown.contains("Which units are left?") && !shown.contains("It is cut he"), "{shown}");
    let chat = chat(&world, "604");
    let more = "{\"kind\":2,\"k\":[\"requests\",2,\"response\"],\"i\":0,\"v\":[{\"value\":\"It is cut here no more.\"}]}\n{\"kind\":1,\"k\":[\"requests\",2,\"modelState\"],\"v\":{\"value\":1}}\n";
    fs::write(&chat, fs::read_to_string(&chat).expect("a chat") + more).expect("the chat");
    COPILOT.age(&world);
    world.digest(&[]);
    let after = COPILOT.counts(&world);
    assert_eq!((after.replies, after.prompts), (before.replies + 1, before.prompts));
    assert!(world.recall(["show", "6d1f9c2e-3b47-4a58-8c1d-9e7f20b3a604", "--full"]).out.contains("It is cut here no more."));
}

#[test]
fn a_log_that_begins_anew_is_the_same_chat() {
    let world = COPILOT.world(VERSION);
    world.digest(&[]);
    let before = world.pages();
    // What was written whole comes as a log, and the other way round.
    let whole = chat(&world, "603");
    let document: Value = serde_json::from_slice(&fs::read(&whole).expect("a chat")).expect("JSON");
    fs::remove_file(&whole).expect("no document");
    fs::write(whole.with_extension("jsonl"), format!("{{\"kind\":0,\"v\":{document}}}\n")).expect("a log");
    COPILOT.age(&world);
    world.digest(&[]);
    assert!(world.pages() == before, "{:#?}", world.pages());
}

/// A chat of these requests, as a log that begins with them.
fn log_of(requests: &[Value]) -> String {
    let document = json!({"version": 3, "creationDate": 1_795_000_000_000_u64, "requests": requests});
    format!("{}\n", json!({"kind": 0, "v": document}))
}

/// The `n`th request that was sent.
fn request(n: u64, text: &str) -> Value {
    json!({"requestId": format!("request_{n}"), "timestamp": 1_795_000_000_000 + n * 60_000, "message": {"text": text},
        "response": [{"value": format!("Yes: {text}.")}], "modelState": {"value": 1}})
}

/// What is shown of a chat once its log was read at each of these moments.
fn shown_after(moments: &[String]) -> String {
    let world = COPILOT.world(VERSION);
    let log = chat(&world, "601");
    for moment in moments {
        fs::write(&log, moment).expect("a chat");
        COPILOT.age(&world);
        world.digest(&[]);
    }
    world.recall(["show", "6d1f9c2e-3b47-4a58-8c1d-9e7f20b3a601", "--full"]).out
}

#[test]
fn a_request_that_was_edited_and_sent_again_is_undone() {
    let before = log_of(&[request(1, "Use tabs"), request(2, "Indent the rest")]);
    for kept in [0, 1] {
        let instead = json!({"kind": 2, "k": ["requests"], "i": kept, "v": [request(3, "Use spaces")]});
        let after = format!("{before}{instead}\n");
        let shown = shown_after(&[before.clone(), after.clone()]);
        assert!(shown.contains("Use spaces") && !shown.contains("Indent the rest"), "{shown}");
        assert_eq!(shown.contains("Use tabs"), kept == 1, "{shown}");
        assert_eq!(shown, shown_after(&[after]));
    }
}

#[test]
fn requests_that_the_user_went_back_to_before_are_undone_until_they_are_restored() {
    let before = log_of(&[request(1, "Use tabs"), request(2, "Indent the rest")]);
    let set = |back: &Value| json!({"kind": 1, "k": ["requests", 1, "shouldBeRemovedOnSend"], "v": back}).to_string() + "\n";
    let undone = format!("{before}{}", set(&json!({"requestId": "request_2"})));
    let shown = shown_after(&[before.clone(), undone.clone()]);
    assert!(shown.contains("Use tabs") && !shown.contains("Indent the rest"), "{shown}");
    assert_eq!(shown, shown_after(std::slice::from_ref(&undone)));
    let redone = format!("{undone}{}", set(&Value::Null));
    assert_eq!(shown_after(&[undone, redone]), shown_after(std::slice::from_ref(&before)));
    // The beginning of its answer stays.
    let in_part = format!("{before}{}", set(&json!({"requestId": "request_2", "afterUndoStop": "stop_1"})));
    assert!(shown_after(&[in_part]).contains("Indent the rest"));
}

#[test]
fn a_chat_belongs_to_the_folder_of_its_window() {
    let world = COPILOT.world(VERSION);
    world.digest(&[]);
    let listed = world.recall(["list", "--agent", "copilot-chat", "--project", "/home/dev/src/larder"]).out;
    let title = "Mixed amounts in the recipe parser";
    assert!(listed.contains(title) && listed.contains("(VS Code Copilot)") && !listed.contains("shopping list"), "{listed}");
    let ran = world.recall(["resume", "6d1f9c2e-3b47-4a58-8c1d-9e7f20b3a601", "--print"]);
    assert!(ran.code == 2 && ran.err.contains("recall cannot resume sessions of VS Code Copilot"), "{ran:#?}");
}
