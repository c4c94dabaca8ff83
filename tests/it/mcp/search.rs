//! `search` through the protocol.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::support::World;
use crate::support::mcp_client::Peer;
use crate::support::rows::{Rows, put};

/// Tokens of a text, by the program's own estimate.
fn tokens(text: &str) -> usize {
    (text.len() * 2).div_ceil(7)
}

fn ids(found: &Value) -> Vec<String> {
    found["results"].as_array().expect("results").iter().map(|r| r["id"].as_str().expect("an id").to_owned()).collect()
}

/// What tells the sessions of a crowd apart: who says the same as a later one leads to it.
const THINGS: [&str; 24] = [
    "acorn", "badger", "candle", "dolphin", "engine", "falcon", "garden", "harbour", "island", "jungle", "kettle", "lantern",
    "marble", "needle", "orchard", "pepper", "quarry", "ribbon", "saddle", "thimble", "umbrella", "violin", "walnut", "yoghurt",
];

/// Many sessions of one project that have one thing in common.
fn crowd(count: usize) -> World {
    let world = World::new();
    for (n, thing) in THINGS.iter().enumerate().take(count) {
        let mut rows = Rows::new(n);
        rows.user(json!(format!(
            "{thing}maker and {thing}field: which {thing}box feeds the {thing}tower behind the warehouse printer?"
        )));
        rows.assistant(&format!(
            "{thing}works, {thing}gate, {thing}road. Decision: {thing}house goes to the warehouse printer, {thing}yard."
        ));
        put(&world, &rows.id, &rows.text);
    }
    world.digest(&[]);
    world
}

#[test]
fn an_excluded_project_is_not_found_even_before_the_next_digest() {
    let world = crowd(2);
    let count = |world: &World| ids(&Peer::greet(world).call("search", json!({"query": "warehouse printer"})).0).len();
    assert_eq!(count(&world), 2);
    world.configure("[privacy]\nexclude_projects = [\"/home/dev/**\"]\n");
    assert_eq!(count(&world), 0);
}

#[test]
fn a_session_is_found_in_a_line_of_few_tokens() {
    let world = World::with_fixtures(&["plain", "retry"]);
    world.digest(&[]);
    let mut peer = Peer::greet(&world);
    let (found, text) = peer.call("search", json!({"query": "keyset pagination of the order list"}));
    let first = &found["results"][0];
    assert!(
        text.contains(first["id"].as_str().expect("an id")) && text.contains(first["title"].as_str().expect("a title")),
        "{text}"
    );
    assert_eq!(first["day"].as_str(), Some("2026-11-17"), "{found:#}");
    assert!(first["best"].as_str().is_some_and(|p| p.contains("keyset")), "{found:#}");
    // Claude Code hands the value to the model, others the text.
    for told in [&text, &found["results"].to_string()] {
        let (tokens, results) = (tokens(told), ids(&found).len());
        assert!(tokens <= 60 * results, "{tokens} tokens for {results} results: {told}");
    }
    let (found, _) = peer.call("search", json!({"query": "keyset zeppelin"}));
    assert!(found["results"][0]["covered"].as_f64().is_some_and(|share| share > 0.0 && share < 1.0), "{found:#}");
}

#[test]
fn answers_come_in_pages_that_hold_everything_once() {
    let world = crowd(23);
    let mut peer = Peer::greet(&world);
    let (mut all, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let mut asked = json!({"query": "warehouse printer", "limit": 10});
        if let Some(cursor) = &cursor {
            asked["cursor"] = json!(cursor);
        }
        let (found, _) = peer.call("search", asked);
        all.extend(ids(&found));
        pages += 1;
        match found["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!((all.len(), all.iter().collect::<BTreeSet<_>>().len(), pages), (23, 23, 3), "{all:?}");
    let cursor = cursor.expect("a cursor");
    let why = peer.fail("search", json!({"query": "another", "cursor": cursor}));
    assert!(why.contains("cursor"), "{why}");
}

#[test]
fn filters_narrow_it_down() {
    let world = crowd(9);
    let mut peer = Peer::greet(&world);
    let mut count = |more: Value| {
        let mut asked = json!({"query": "warehouse printer", "limit": 50});
        asked.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        ids(&peer.call("search", asked).0).len()
    };
    assert_eq!(count(json!({})), 9);
    assert_eq!(count(json!({"project": "shop"})), 9);
    assert_eq!(count(json!({"project": "elsewhere"})), 0);
    let (before, since) = (count(json!({"before": "2026-11-02"})), count(json!({"since": "2026-11-02"})));
    assert!(before > 0 && since > 0 && before + since == 9, "{before} before, {since} since");
    assert_eq!(count(json!({"kind": "decision"})), 9);
    assert_eq!(count(json!({"query": "since:2026-11-02"})), since);
    assert_eq!(count(json!({"project": null, "since": null, "kind": null, "cursor": null, "limit": null})), 8, "null is nothing");
}

#[test]
fn bad_input_is_answered_with_what_to_do() {
    let world = crowd(1);
    let mut peer = Peer::greet(&world);
    for (asked, word) in [
        (json!({}), "query"),
        (json!({"query": 7}), "query: invalid type"),
        (json!({"query": ""}), "query"),
        (json!({"query": "  \u{0} ?! "}), "query"),
        (json!({"query": "printer", "limit": 0}), "limit"),
        (json!({"query": "printer", "limit": 51}), "limit"),
        (json!({"query": "printer", "limit": -1}), "limit: invalid value"),
        (json!({"query": "printer", "limit": "ten"}), "limit: invalid type"),
        (json!({"query": "printer", "since": "soon"}), "since"),
        (json!({"query": "printer", "before": "2026-13-01"}), "before"),
        (json!({"query": "printer", "kind": "gossip"}), "decision"),
        (json!({"query": "printer", "cursor": "10"}), "cursor"),
        (json!({"query": "printer", "cursor": "99999999999999999999999-0"}), "cursor"),
        (json!({"query": "printer", "sort": "date"}), "sort"),
    ] {
        let why = peer.fail("search", asked.clone());
        assert!(why.contains(word), "{asked}: {why}");
    }
    for query in ["\"unclosed", "AND OR NOT (", "a\" OR \"b*", "NEAR(x, y)", "*", "col:x ^y", &"warehouse ".repeat(20_000)] {
        peer.call("search", json!({"query": format!("warehouse {query}")}));
    }
    let (found, text) = peer.call("search", json!({"query": "zeppelin"}));
    assert_eq!(ids(&found), [""; 0]);
    assert!(text.contains("nothing found"), "{text}");
    assert!(peer.leave().err.is_empty());
}

#[test]
fn without_an_index_it_says_how_to_make_one() {
    let world = World::new();
    let mut peer = Peer::greet(&world);
    let why = peer.fail("search", json!({"query": "anything"}));
    assert!(why.contains("`recall digest`"), "{why}");
    assert!(!world.data_dir().exists());
}

/// Two projects in which the same was done.
fn two_projects() -> World {
    let world = World::new();
    for (n, name) in ["alpha", "beta"].into_iter().enumerate() {
        let folder = world.root().join(name);
        fs::create_dir_all(folder.join(".git")).expect("a repository");
        let mut rows = Rows::new(n);
        rows.row(
            json!({"type": "user", "cwd": folder, "message": {"role": "user", "content": "Please look at the warehouse printer."}}),
        );
        rows.row(json!({"type": "assistant", "cwd": folder, "message": {"id": format!("msg_{n}"), "role": "assistant",
            "model": "claude-haiku-4-5-20251001", "content": [{"type": "text", "text": "Decision: the warehouse printer stays."}]}}));
        put(&world, &rows.id, &rows.text);
    }
    world.digest(&[]);
    world
}

#[test]
fn the_project_the_client_works_in_comes_first() {
    let world = two_projects();
    let first = |peer: &mut Peer| {
        let (found, _) = peer.call("search", json!({"query": "warehouse printer"}));
        assert_eq!(ids(&found).len(), 2, "{found:#}");
        found["results"][0]["project"].as_str().expect("a project").to_owned()
    };
    let [alpha, beta] = ["alpha", "beta"].map(|name| world.root().join(name));
    for (folder, name) in [(&alpha, "alpha"), (&beta, "beta")] {
        let mut peer = Peer::start(&world, folder);
        peer.initialize(json!({}));
        assert_eq!(first(&mut peer), name, "where it was started");
    }
    let mut peer = Peer::with_roots(&world, &[&beta]);
    assert_eq!(first(&mut peer), "beta", "the client's root");
    assert_eq!((first(&mut peer).as_str(), peer.asked_for_roots), ("beta", 1), "asked for once");
    peer.roots_are(&[&world.root().join("gone"), &alpha]);
    // The change is told, not answered: what comes after it may still be served before it.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while first(&mut peer) != "alpha" {
        assert!(std::time::Instant::now() < until, "the new root counts");
    }
}

#[test]
fn a_client_that_is_late_to_tell_its_roots_is_waited_for_once_and_heard_when_it_does() {
    let world = two_projects();
    let folders = ["alpha", "beta"].map(|name| world.root().join(name));
    let mut peer = Peer::start(&world, &folders[0]);
    peer.waits_with_roots = true;
    peer.initialize(json!({"roots": {}}));
    let project = |peer: &mut Peer| peer.call("status", json!({})).0["project"].as_str().expect("a project").to_owned();
    assert!(project(&mut peer).ends_with("alpha") && project(&mut peer).ends_with("alpha"), "where it was started, until then");
    peer.roots_will_be(&[&folders[1]]);
    peer.tell_roots();
    let told = (0..100).any(|_| project(&mut peer).ends_with("beta"));
    assert!(told && peer.asked_for_roots == 1, "asked {} times", peer.asked_for_roots);
}
