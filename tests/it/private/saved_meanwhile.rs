//! A config that is saved while `recall mcp` and `recall serve` run holds for them from then on.

use serde_json::json;

use crate::support::World;
use crate::support::mcp_client::Peer;
use crate::support::web_client::WebServer;

/// In the fixture `plain`.
const SESSION: &str = "64b0b6d9-e371-40e8-affe-78e0505dfb3f";

#[test]
fn what_is_excluded_or_isolated_is_told_by_no_server_that_runs() {
    for key in ["exclude_projects", "isolate"] {
        let world = World::with_fixtures(&["plain"]);
        world.digest(&["--summarizer", "extract"]);
        let mut peer = Peer::greet(&world);
        let server = WebServer::entered(&world, world.root());
        let found = |peer: &mut Peer| peer.call("search", json!({"query": "orders"})).0["results"].as_array().map_or(0, Vec::len);
        assert_ne!(found(&mut peer), 0);
        assert!(server.get("sessions.html").body.contains(SESSION));
        world.configure(&format!("[privacy]\n{key} = [\"*shop\"]\n"));
        assert_eq!(found(&mut peer), 0, "{key}");
        let opened = peer.ask("tools/call", json!({"name": "get", "arguments": {"ids": [SESSION]}})).to_string();
        assert!(!opened.contains("order list"), "{key}: {opened}");
        assert!(!server.get("sessions.html").body.contains(SESSION), "{key}");
        assert_eq!(server.get(&format!("session/{SESSION}.html")).status, 404, "{key}");
    }
}

#[test]
fn a_note_is_cleaned_by_the_rules_that_hold_when_it_is_kept() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let mut peer = Peer::greet(&world);
    world.configure("[[privacy.rules]]\nid = \"staff-number\"\npattern = 'STF-\\d{5}'\nkeywords = [\"stf-\"]\n");
    world.digest(&["--summarizer", "extract"]);
    peer.call("remember", json!({"text": "The badge STF-12345 opens the door of the cellar"}));
    let notes = world.notes();
    assert!(notes.len() == 1 && !notes[0].1.contains("STF-12345"), "{notes:?}");
}

#[test]
fn with_a_config_that_cannot_be_read_nothing_is_told() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let mut peer = Peer::greet(&world);
    let server = WebServer::entered(&world, world.root());
    world.configure("[privacy]\nexclude_projects = [\"*shop\"\n");
    let why = peer.fail("search", json!({"query": "orders"}));
    assert!(why.contains("config.toml:"), "{why}");
    let page = server.get("sessions.html");
    assert!(!page.body.contains(SESSION) && page.body.contains("config.toml:"), "{}", page.body);
    world.configure("");
    assert!(server.get("sessions.html").body.contains(SESSION));
}
