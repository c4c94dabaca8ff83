//! `remember` through the protocol: the one tool that writes.

use std::fs;

use rusqlite::Connection;
use serde_json::json;

use crate::peer::Peer;
use crate::support::World;

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
fn a_note_is_of_the_project_the_client_works_in_unless_another_is_named() {
    let world = World::new();
    let folders = ["alpha", "beta"].map(|name| world.root().join(name));
    for folder in &folders {
        fs::create_dir_all(folder.join(".git")).expect("a repository");
    }
    let mut peer = Peer::start(&world, &folders[0]);
    peer.initialize(json!({}));
    peer.call("remember", json!({"text": "The zeppelin exports run at midnight"}));
    peer.call("remember", json!({"text": "The zeppelin imports run at noon", "project": folders[1]}));
    peer.call("remember", json!({"text": "The zeppelin is spelt with two p", "project": "*"}));
    let (found, _) = peer.call("search", json!({"query": "zeppelin"}));
    let mut projects: Vec<_> = found["results"].as_array().expect("results").iter().map(|r| r["project"].clone()).collect();
    projects.sort_by_key(ToString::to_string);
    assert_eq!(json!(projects), json!(["all projects", "alpha", "beta"]));
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
        (json!({"text": NOTE, "project": "shop"}), "path"),
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
    for project in [json!(null), json!("*"), json!(shop)] {
        let why = peer.fail("remember", json!({"text": NOTE, "project": project}));
        assert!(why.contains("excluded"), "{project}: {why}");
    }
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
fn a_note_of_no_project_is_refused_unless_it_is_for_all() {
    let world = World::new();
    fs::create_dir_all(world.home()).expect("a home");
    for folder in ["/".into(), world.home()] {
        let mut peer = Peer::greet_in(&world, &folder);
        let why = peer.fail("remember", json!({"text": NOTE}));
        assert!(why.contains("project") && why.contains("`*`"), "{why}");
        let (kept, text) = peer.call("remember", json!({"text": NOTE, "project": "*"}));
        assert!(kept["project"] == "all projects" && text.contains("all projects"), "{kept} {text}");
    }
}
