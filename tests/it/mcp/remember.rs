//! `remember` through the protocol: the one tool that writes.

use std::fs;

use rusqlite::Connection;
use serde_json::json;

use crate::support::World;
use crate::support::mcp_client::Peer;

const NOTE: &str = "Deploys of the shop go through the blue gateway, never directly";

#[test]
fn a_note_is_kept_once_and_found_and_opened() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&[]);
    let mut peer = Peer::greet(&world);
    let (kept, text) = peer.call("remember", json!({"text": NOTE, "kind": "convention"}));
    let id = kept["id"].as_str().expect("an id").to_owned();
    assert!(kept["known"] == false && text.contains(&id), "{kept} {text}");
    let (again, _) = peer.call("remember", json!({"text": format!("{NOTE}.")}));
    assert_eq!((again["id"].as_str(), &again["known"]), (Some(id.as_str()), &json!(true)), "{again}");
    let (found, _) = peer.call("search", json!({"query": "blue gateway"}));
    assert_eq!(found["results"][0]["id"].as_str(), Some(id.as_str()), "{found:#}");
    let (opened, _) = peer.call("get", json!({"ids": [id]}));
    assert!(
        opened["items"][0]["text"].as_str().is_some_and(|text| text.contains(NOTE) && text.contains("convention")),
        "{opened:#}"
    );
    let (around, _) = peer.call("timeline", json!({"id": id}));
    assert_eq!(around["this"]["id"].as_str(), Some(id.as_str()), "{around:#}");
}

#[test]
fn a_note_is_for_the_project_the_client_works_in_and_no_other() {
    let world = World::new();
    let [alpha, beta] = ["alpha", "beta"].map(|name| world.root().join(name));
    for folder in [&alpha, &beta] {
        fs::create_dir_all(folder.join(".git")).expect("a repository");
    }
    let mut peer = Peer::greet_in(&world, &alpha);
    for project in [json!(beta), json!("*"), json!("/"), json!(alpha)] {
        let why = peer.fail("remember", json!({"text": NOTE, "project": project}));
        assert!(why.contains("project"), "{project}: {why}");
    }
    assert!(!world.data_dir().exists(), "nothing was written");
    let (kept, text) = peer.call("remember", json!({"text": NOTE}));
    assert!(kept["project"] == json!(alpha) && kept["by"] == "by tests" && text.contains("by tests"), "{kept} {text}");
    assert!(world.recall(["context", "--cwd", alpha.to_str().unwrap()]).out.contains("(by tests, 21 Nov)"));
    assert!(!world.recall(["context", "--cwd", beta.to_str().unwrap()]).out.contains("gateway"));
}

#[test]
fn a_note_says_which_agent_and_session_it_is_of_in_every_answer() {
    let world = World::new();
    let session = "64b0b6d9-5ec0-4000-8000-000000000000";
    let variables = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", session)];
    let mut peer = Peer::start_with(&world, world.root(), &variables);
    peer.initialize(json!({}));
    let (kept, _) = peer.call("remember", json!({"text": NOTE}));
    let by = "by Claude, session 64b0b6d9";
    assert_eq!(kept["by"], by, "{kept}");
    for (tool, asked) in [
        ("search", json!({"query": "blue gateway"})),
        ("get", json!({"ids": [kept["id"]]})),
        ("timeline", json!({"id": kept["id"]})),
        ("recall", json!({"topic": "blue gateway"})),
    ] {
        let (value, text) = peer.call(tool, asked);
        assert!(value.to_string().contains(by) && text.contains(by), "{tool}: {value} {text}");
    }
    // The client goes on with another session: whose word this is, is not known any more.
    let transcript = world.claude_dir().join(format!("projects/-p/{session}.jsonl"));
    let ends = json!({"session_id": session, "hook_event_name": "SessionEnd", "reason": "clear", "cwd": "/p", "transcript_path": transcript});
    world.hook("session-end", ends.to_string());
    let (kept, _) = peer.call("remember", json!({"text": "The lagoon is closed to ferries in winter"}));
    assert_eq!(kept["by"], "by Claude", "{kept}");
}

#[test]
fn a_server_of_a_session_that_is_switched_off_or_paused_tells_and_keeps_nothing() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&[]);
    let refuses = |peer: &mut Peer, word: &str| {
        for (tool, asked) in [
            ("search", json!({"query": "pagination"})),
            ("recall", json!({"topic": "pagination"})),
            ("get", json!({"ids": ["64b0b6d9"]})),
            ("remember", json!({"text": NOTE})),
            ("status", json!({})),
        ] {
            let why = peer.fail(tool, asked);
            assert!(why.contains(word), "{tool}: {why}");
        }
        let (_, why) = peer.refused("resources/read", json!({"uri": "recall://day/2026-11-17"}));
        assert!(why.contains(word), "{why}");
        assert!(peer.refused("prompts/get", json!({"name": "where-did-we-leave-off"})).1.contains(word));
    };
    let mut off = Peer::start_with(&world, world.root(), &[("RECALL_OFF", "1")]);
    off.initialize(json!({}));
    refuses(&mut off, "switched off");
    let mut peer = Peer::greet(&world);
    assert!(!peer.call("search", json!({"query": "pagination"})).1.contains("nothing found"));
    world.recall(["pause", "1h"]);
    refuses(&mut peer, "paused until");
    world.recall(["pause", "--off"]);
    assert!(!peer.call("search", json!({"query": "pagination"})).1.contains("nothing found"), "and goes on");
}

#[test]
fn what_is_done_is_closed_for_the_current_project_with_its_author() {
    let world = World::new();
    let [alpha, beta] = ["alpha", "beta"].map(|name| world.root().join(name));
    for folder in [&alpha, &beta] {
        fs::create_dir_all(folder.join(".git")).expect("a repository");
    }
    let mut peer = Peer::greet_in(&world, &alpha);
    let (kept, _) = peer.call("remember", json!({"text": "Renew the certificate of the gateway", "kind": "todo"}));
    let id = kept["id"].clone();
    let why = Peer::greet_in(&world, &beta).fail("close", json!({"ids": [id]}));
    assert!(why.contains("own project") && why.contains("nothing was closed"), "{why}");
    for (asked, word) in [(json!({"ids": []}), "ids"), (json!({"ids": ["n00000000"]}), "no open item"), (json!({}), "ids")] {
        assert!(peer.fail("close", asked.clone()).contains(word), "{asked}");
    }
    let (closed, text) = peer.call("close", json!({"ids": [id]}));
    assert!(closed["by"] == "by tests" && closed["items"][0]["open"] == false && text.contains("closed (by tests)"), "{text}");
    assert!(!world.recall(["context", "--cwd", alpha.to_str().unwrap()]).out.contains("certificate"));
    assert_eq!(peer.call("close", json!({"ids": [id], "undo": true})).0["items"][0]["open"], true);
    // What the user closed an agent does not open.
    world.recall(["close", id.as_str().unwrap()]);
    assert!(peer.fail("close", json!({"ids": [id], "undo": true})).contains("closed by the user"));
}

#[test]
fn what_is_not_fit_to_be_kept_is_refused_with_the_reason() {
    let world = World::new();
    let mut peer = Peer::greet(&world);
    for (asked, word) in [
        (json!({}), "text"),
        (json!({"text": ""}), "nothing"),
        (json!({"text": "ok"}), "short"),
        (json!({"text": "Which database do we use?"}), "answer"),
        (json!({"text": "word ".repeat(1000)}), "2000"),
        (json!({"text": "<private>The key is under the mat</private>"}), "private"),
        (json!({"text": NOTE, "kind": "gossip"}), "convention"),
        (json!({"text": NOTE, "project": "shop"}), "project"),
        (json!({"text": NOTE, "session": "x"}), "session"),
    ] {
        let why = peer.fail("remember", asked.clone());
        assert!(why.contains(word), "{asked}: {why}");
    }
    assert!(!world.data_dir().exists(), "nothing was written");
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let text = format!("The CI of the shop logs in to the registry with {token} since the move of last week");
    let (kept, _) = peer.call("remember", json!({"text": text}));
    let (opened, _) = peer.call("get", json!({"ids": [kept["id"]]}));
    assert!(!opened.to_string().contains(&token) && opened.to_string().contains("REDACTED"), "{opened:#}");
}

#[test]
fn a_note_waits_for_a_digest_and_nobody_waits_for_the_note() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&[]);
    let mut peer = Peer::greet(&world);
    let writer = Connection::open(world.data_dir().join("recall.db")).expect("the index");
    writer.execute_batch("BEGIN IMMEDIATE").expect("the writer's turn");
    let note = peer.send("tools/call", json!({"name": "remember", "arguments": {"text": NOTE}}));
    for _ in 0..5 {
        assert_eq!(peer.call("search", json!({"query": "keyset pagination"})).0["results"].as_array().map(Vec::len), Some(1));
    }
    assert!(!peer.is_answered(note), "it waits for its turn");
    writer.execute_batch("COMMIT").expect("the end of the turn");
    let answer = peer.answer(note);
    assert_eq!(answer["result"]["structuredContent"]["known"], false, "{answer:#}");
}

#[test]
fn nothing_leaves_an_excluded_project_by_way_of_a_note() {
    let world = World::new();
    let [clinic, shop] = ["clinic", "shop"].map(|name| world.root().join(name));
    for folder in [&clinic, &shop] {
        fs::create_dir_all(folder.join(".git")).expect("a repository");
    }
    world.configure("[privacy]\nexclude_projects = [\"**/clinic\"]\n");
    let mut peer = Peer::start(&world, &clinic);
    peer.initialize(json!({}));
    let why = peer.fail("remember", json!({"text": NOTE}));
    assert!(why.contains("excluded"), "{why}");
    assert!(!world.data_dir().join("recall.db").exists(), "nothing was written");
    let (kept, _) = Peer::greet_in(&world, &shop).call("remember", json!({"text": NOTE}));
    assert_eq!(kept["project"].as_str(), shop.to_str(), "{kept}");
    // A person is told, and decides.
    let told = world.shell(&format!(
        "cd {} && {} remember --everywhere 'The office is closed in August'",
        clinic.display(),
        world.program()
    ));
    assert!(told.code == 0 && told.err.contains("excluded") && told.out.ends_with("for all projects\n"), "{told:#?}");
}

#[test]
fn a_note_of_no_project_is_refused() {
    let world = World::new();
    fs::create_dir_all(world.home()).expect("a home");
    for folder in ["/".into(), world.home()] {
        let why = Peer::greet_in(&world, &folder).fail("remember", json!({"text": NOTE}));
        assert!(why.contains("not a project") && why.contains("recall remember --project"), "{why}");
    }
    assert!(!world.data_dir().exists(), "nothing was written");
}
