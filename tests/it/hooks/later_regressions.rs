//! One test for every bug that a second look has found.

use std::fs;

use serde_json::{Value, json};

use crate::hooks::payloads::{FOLDER, SHOP, end, numbers, patient, starts, talk_with_tasks, told, transcript, write_talk};
use crate::support::World;

const A: &str = "aaaa0000-0000-4000-8000-000000000000";
const B: &str = "bbbb0000-0000-4000-8000-000000000000";
const C: &str = "dddd0000-0000-4000-8000-000000000000";
const NEW: &str = "cccc0000-0000-4000-8000-000000000000";
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// A world with a session that left these steps open, and one after it that left nothing.
fn left_open(steps: &[&str]) -> World {
    let world = World::new();
    patient(&world);
    let rows = talk_with_tasks(
        A,
        "2026-11-19T10:00:00Z",
        "Sort the order list.",
        steps,
        "The order list is sorted now, because the index was there.",
    );
    world.transcript(&format!("{FOLDER}/{A}.jsonl"), rows);
    let reply = "They are cached, because they change daily.";
    write_talk(&world, C, "2026-11-21T10:00:00Z", "Explain the rates of exchange.", reply);
    world.digest(&EXTRACT);
    world
}

fn context(world: &World) -> String {
    world.recall(["context", "--cwd", SHOP]).out
}

/// The client closes the file with rows of its own when a window is closed: nobody said anything in them.
#[test]
fn rows_without_words_after_a_digest_make_no_session_undigested() {
    let world = World::new();
    patient(&world);
    let file = write_talk(
        &world,
        A,
        "2026-11-21T10:00:00Z",
        "Make the order list faster.",
        "It is faster now, because the rates are cached.",
    );
    assert_eq!(world.digest(&EXTRACT)["sessions_digested"], 1);
    let closing = [
        json!({"type": "last-prompt", "lastPrompt": "Make the order list faster.", "sessionId": A}),
        json!({"type": "mode", "mode": "normal", "sessionId": A}),
        json!({"type": "permission-mode", "permissionMode": "default", "sessionId": A}),
    ];
    let rows: String = closing.iter().map(|row| format!("{row}\n")).collect();
    fs::write(&file, fs::read_to_string(&file).unwrap() + &rows).unwrap();
    end(&world, A);
    let text = told(&world, &starts(&world, NEW, "startup")).expect("notes");
    assert!(!text.contains("since the last digest"), "{text}");
    assert_eq!(text.matches("rates are cached").count(), 1, "{text}");
}

#[test]
fn closing_one_thing_closes_no_other_that_speaks_of_more() {
    let short = "Document the order list";
    let long = "Document the keyset pagination of the order list in the README, with an example for support";
    let world = left_open(&[short, long]);
    let ids = numbers(&world, SHOP, &[])["open_items_shown"].clone();
    assert_eq!(ids.as_array().map(Vec::len), Some(2), "{}", context(&world));
    let id = ids[0].as_str().unwrap();
    assert!(context(&world).contains(&format!("{id} {short}")), "{}", context(&world));
    assert_eq!(world.recall(["close", id]).code, 0);
    assert!(context(&world).contains(long), "{}", context(&world));
    let page = world.pages().into_iter().find(|(name, _)| name.contains("aaaa0000")).expect("its page").1;
    assert!(!page.contains(&format!("~~{long}")), "{page}");
}

#[test]
fn a_short_item_of_the_last_session_hides_no_longer_one_before() {
    let world = left_open(&["Write tests for the retries of the payment client against the gateway's sandbox"]);
    let rows = talk_with_tasks(B, "2026-11-21T10:30:00Z", "Export the invoices.", &["Write tests for the client"], "Exported.");
    world.transcript(&format!("{FOLDER}/{B}.jsonl"), rows);
    world.digest(&EXTRACT);
    assert!(context(&world).contains("retries of the payment client"), "{}", context(&world));
}

/// A session that only spoke of it, in a digest whose claim nothing supports, settles nothing.
#[test]
fn an_unverified_repeat_hides_no_verified_item() {
    let step = "Migrate the admin export of invoices to keyset pagination";
    let world = left_open(&[step]);
    let rows = talk_with_tasks(B, "2026-11-20T10:00:00Z", "Cache the rates.", &[step], "The rates are cached now.");
    world.transcript(&format!("{FOLDER}/{B}.jsonl"), rows);
    world.digest(&EXTRACT);
    assert!(context(&world).contains(step), "{}", context(&world));
    let unsupported = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        if value["session"] == B {
            value["digest"]["body"]["next_steps"][0]["rows"] = json!([]);
        }
        format!("{value}\n")
    };
    let memory: String = world.recall(["export"]).out.lines().map(unsupported).collect();
    let target = World::new();
    fs::write(target.root().join("memory.jsonl"), memory).unwrap();
    assert_eq!(target.recall(["import", "memory.jsonl"]).code, 0);
    assert!(context(&target).contains(step), "{}", context(&target));
}

/// What is said in every other session is no secret.
#[test]
fn ordinary_words_keep_no_session_out() {
    let ordinary = [
        "All tests passed: keyset, cursor and limit.",
        "The checks passing is required before the merge.",
        "The passengers are listed, passengers: sorted by name.",
        "Set bypass = true in the settings of the proxy.",
        "The tokenizer is faster now, and the tokens: 1200 of them fit.",
        "max_inject_tokens = 2000 is the default.",
        "The secretary is told by mail.",
    ];
    let is_kept_out = |text: &&str| {
        let world = World::new();
        patient(&world);
        world.digest(&EXTRACT);
        write_talk(&world, A, "2026-11-21T11:30:00Z", "How far is it?", text);
        end(&world, A);
        assert!(transcript(&world, A).exists());
        told(&world, &starts(&world, NEW, "startup")).is_none()
    };
    assert_eq!(ordinary.iter().filter(|text| is_kept_out(text)).collect::<Vec<_>>(), Vec::<&&str>::new());
}
