//! What a later session overtakes is told alone by no way out of the memory: the ways are those of `excluded_everywhere`.

use super::excluded_everywhere::{CLINIC, EXTRACT, SHOP, Scene, outputs};
use serde_json::json;

use crate::support::mcp_client::Peer;
use crate::support::stand_in::{COST, report};
use crate::support::{World, assistant, user};

const LATER: &str = "cccc2222-0000-4000-8000-000000000000";
const SAID: &str = "The session cache of the ledger uses Redis, so that both workers share it.";
const NOW: &str = "The session cache of the ledger no longer uses Redis, it is an in-process LRU.";

/// Ways that give what was stored as it is, for who asks for just that; and `recall why`, which tells both in its own form.
fn is_raw(way: &str) -> bool {
    ["--raw", "--items", "recall export", "recall wrong", "recall why", r#""mode": "why""#].iter().any(|part| way.contains(part))
}

/// What says the same, and no rule finds.
const IN_OTHER_WORDS: &str = "Sessions of the ledger live in the memory of its own process.";

/// A `claude` that says that a session's second row overtakes [`SAID`].
fn who_finds_it() -> String {
    let form = json!({"title": "The ledger", "request": "Go on", "completed": [{"text": "Sessions live in the process", "rows": [2]}],
        "replaces": [{"id": "STATEMENT", "rows": [2]}]});
    let id = r"id=$(sed -n 's/^\(s[0-9a-f]*\) The session cache of the ledger uses.*/\1/p' | head -1)";
    format!("#!/bin/sh\n{id}\nprintf '%s' '{}' | sed \"s/STATEMENT/$id/\"\n", report(&form, COST))
}

#[test]
fn what_is_overtaken_is_told_alone_by_no_way_out() {
    let scene = told_alone_by_no_way_out(NOW, "`redis_cache.py` is removed.", None);
    assert!(scene.world.recall(["why", "redis"]).out.contains("until 2026-11-18"));
    assert!(scene.world.recall(["why", "redis", "--project", "shop"]).out.starts_with("nothing found on that"));
    let ask = |topic: &str| Peer::greet(&scene.world).call("recall", json!({"topic": topic, "mode": "why"})).1;
    assert!(ask("redis").contains("until 2026-11-18"), "{}", ask("redis"));
    assert!(ask("postgres").contains("no change of `postgres` was recognized"));
    scene.configure("[privacy]\nexclude_projects = [\"**/clinic\"]\n");
    assert!(scene.world.recall(["why", "redis"]).out.starts_with("nothing found on that"), "what is excluded overtakes nothing");
}

#[test]
fn what_a_model_found_overtaken_is_told_alone_by_no_way_out() {
    told_alone_by_no_way_out(IN_OTHER_WORDS, "It needs no other machine.", Some(&who_finds_it()));
}

/// A later session says this, and something beside it, which overtakes [`SAID`] by rule or as this `claude` says.
fn told_alone_by_no_way_out(now: &str, beside: &str, found_by: Option<&str>) -> Scene {
    let scene = Scene::bare();
    let dir = scene.dir("clinic").display().to_string();
    let talk = |id: &str, day: &str, asked: &str, said: &str| {
        let rows = user(id, &format!("u{day}"), &format!("2026-11-{day}T09:00:00Z"), asked)
            + &assistant(id, &format!("a{day}"), &format!("2026-11-{day}T09:02:00Z"), said);
        scene.world.transcript(&format!("-p/{id}.jsonl"), rows.replace("/home/dev/src/shop", &dir));
    };
    talk(CLINIC, "12", "Where does the ledger keep its sessions?", SAID);
    talk(LATER, "18", "Make the ledger run on one machine", &format!("It runs alone now. {now} {beside}"));
    let shop = scene.talk("shop", SHOP, "2026-11-20T10:00:00Z", "Sort the order list of the web shop", "loudbasalt");
    scene.world.transcript(&format!("-q/{SHOP}.jsonl"), shop);
    scene.world.digest(&EXTRACT);
    if let Some(claude) = found_by {
        scene.world.fake_claude(claude);
        scene.world.digest(&["--session", LATER, "--summarizer", "claude"]);
    }
    let scene = scene.with_note("The ledger of the ward closes at noon.");
    let names = scene.names();
    let all = outputs(&scene, &names);
    let showing: Vec<_> = all.iter().filter(|(way, told)| !is_raw(way) && told.contains("uses Redis, so that both")).collect();
    assert!(showing.len() > 8, "only {} ways show it: {showing:#?}", showing.len());
    let since_then = format!("since then: claude in session cccc2222, 2026-11-18: {}", now[..30].to_lowercase());
    let alone = showing.iter().filter(|(_, told)| {
        let since = told.to_lowercase().find(&since_then);
        // What is read from top to bottom says so first.
        since.is_none_or(|since| {
            !told.trim_start().starts_with(['{', '[']) && since > told.find("uses Redis, so that both").unwrap_or(0)
        })
    });
    let alone: Vec<_> = alone.collect();
    assert!(alone.is_empty(), "{} of {} ways tell it alone: {alone:#?}", alone.len(), showing.len());
    scene
}

/// Where nothing was overtaken, what was said about it, notes first, and no question.
#[test]
fn why_tells_what_was_said_last_where_nothing_overtook_it() {
    let world = World::new();
    let rows =
        user(CLINIC, "u1", "2026-11-12T09:00:00Z", "Use SQLite for the ledger, since it needs no server. Is SQLite fast enough?")
            + &assistant(CLINIC, "a1", "2026-11-12T09:02:00Z", "The ledger is a SQLite file now.");
    world.transcript(&format!("-p/{CLINIC}.jsonl"), rows);
    world.digest(&EXTRACT);
    world.recall(["remember", "--everywhere", "SQLite files are backed up at night"]);
    let told = world.recall(["why", "sqlite", "ledger"]).out;
    assert_eq!(
        told,
        "in shop:\nsaid 2026-11-12, the user in session cccc1111, turn 1: Use SQLite for the ledger, since it needs no server.\nsaid \
         2026-11-12, Claude in session cccc1111, turn 1: The ledger is a SQLite file now.\n\nNo later change is known, but not every \
         change is found. More: `recall search sqlite ledger`\n"
    );
    let note = world.recall(["why", "backed", "up"]).out;
    assert!(note.contains("note m") && note.contains("SQLite files are backed up at night"), "{note}");
    let json: serde_json::Value = serde_json::from_str(&world.recall(["why", "sqlite", "ledger", "--json"]).out).expect("JSON");
    assert_eq!((&json["chains"], json["said"][0]["statements"].as_array().map(Vec::len)), (&json!([]), Some(2)), "{json}");
}

/// Nobody said what a program printed, and a project of the same name is another one.
#[test]
fn why_tells_no_pasted_lines_as_said_and_tells_projects_of_one_name_apart() {
    let world = World::new();
    let prompt = "Please make the ledger's lint pass:\n\n[lint:go] ledger/main.go:45:9: error is not wrapped\n> the ledger lint is off\n\
         ```\nledger lint: 3 issues\n```\nThe ledger lint must stay strict.";
    for (id, home) in [(CLINIC, "/home/dev/src/shop"), (LATER, "/home/anna/src/shop")] {
        let rows = user(id, &format!("u{id}"), "2026-11-12T09:00:00Z", prompt)
            + &assistant(id, &format!("a{id}"), "2026-11-12T09:02:00Z", "It passes.");
        world.transcript(&format!("{}/{id}.jsonl", home.replace('/', "-")), rows.replace("/home/dev/src/shop", home));
    }
    world.digest(&EXTRACT);
    let told = world.recall(["why", "ledger", "lint"]).out;
    assert!(told.contains("in shop (/home/anna/src/shop):\n") && told.contains("in shop (/home/dev/src/shop):\n"), "{told}");
    assert!(told.contains("turn 1: The ledger lint must stay strict.\n"), "{told}");
    for pasted in ["not wrapped", "is off", "3 issues"] {
        assert!(!told.contains(pasted), "{pasted}: {told}");
    }
}

/// The chain, with what stands first; and by its id the user parts the two.
#[test]
fn why_tells_what_stands_and_what_it_overtook_until_the_user_says_that_it_did_not() {
    let world = World::new();
    let talk = |id: &str, day: &str, said: &str| {
        let rows = user(id, &format!("u{day}"), &format!("2026-11-{day}T09:00:00Z"), "Look at the session cache of the ledger")
            + &assistant(id, &format!("a{day}"), &format!("2026-11-{day}T09:02:00Z"), said);
        world.transcript(&format!("-p/{id}.jsonl"), rows);
    };
    talk(CLINIC, "12", SAID);
    talk(LATER, "18", NOW);
    world.digest(&EXTRACT);
    let told = world.recall(["why", "redis"]).out;
    let id = told.split(['[', ']']).nth(1).unwrap_or_else(|| panic!("no id: {told}")).to_owned();
    assert_eq!(
        told,
        format!(
            "in shop:\nstands (said 2026-11-18, Claude in session cccc2222, turn 1): {NOW}\n  until 2026-11-18 (said 2026-11-12, Claude in session \
             cccc1111, turn 1): {SAID} [{id}]\n\nWrong? Run `recall wrong ID` with the id at the end of a line to mark it as not replaced.\n"
        )
    );
    let shown = || world.recall(["show", CLINIC]).out;
    let page = || world.pages().into_iter().filter(|(name, _)| name.contains("cccc1111")).map(|(_, text)| text).collect::<String>();
    assert!(
        shown().contains("since then: Claude in session cccc2222") && page().contains("Since then: Claude in session cccc2222")
    );
    let first = |words: &str| world.recall(["search", words]).out.lines().next().unwrap_or_default().to_owned();
    assert!(first("session cache uses redis workers share").contains("cccc2222"), "what stands comes first");

    assert_eq!(world.recall(["wrong", &id]).code, 0);
    assert!(world.recall(["why", "redis"]).out.starts_with("in shop:\nsaid 2026-11-18, "), "both stand");
    assert!(!shown().contains("since then") && !page().contains("Since then"));
    world.digest(&["--session", CLINIC, "--summarizer", "extract"]);
    assert!(!shown().contains("since then"), "it stays so");
    assert_eq!(world.recall(["wrong", "--undo", &id]).code, 0);
    assert!(
        shown().contains("since then: Claude in session cccc2222") && page().contains("Since then: Claude in session cccc2222")
    );

    assert_eq!(world.recall(["forget", "--yes", "--session", LATER]).code, 0);
    assert!(!shown().contains("since then") && !page().contains("Since then"), "what it said is told nowhere");
}

/// A note is told at once, without a digest in between.
#[test]
fn a_note_overtakes_what_a_session_said_as_soon_as_it_is_kept() {
    let world = World::new();
    let rows = user(CLINIC, "u1", "2026-11-12T09:00:00Z", "Look at the session cache of the ledger")
        + &assistant(CLINIC, "a1", "2026-11-12T09:02:00Z", SAID);
    world.transcript(&format!("-p/{CLINIC}.jsonl"), rows);
    world.digest(&EXTRACT);
    assert!(!world.recall(["show", CLINIC]).out.contains("since then"));
    let ran = world.recall(["remember", "--project", "/home/dev/src/shop", NOW]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let shown = world.recall(["show", CLINIC]).out;
    assert!(shown.contains("since then: note m"), "{shown}");
}
