//! `timeline` and `get` through the protocol: from a line to a session's neighbours, to the session itself.

use serde_json::{Value, json};

use crate::support::mcp_client::Peer;
use crate::support::{World, assistant, user};

const PLAIN: &str = "64b0b6d9";

/// The text that a person is shown.
fn shown(world: &World, args: &[&str]) -> String {
    let ran = world.recall(args);
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.out
}

#[test]
fn a_session_is_told_among_its_neighbours() {
    let world = World::digested(&["plain", "retry", "compact"]);
    let mut peer = Peer::greet(&world);
    let (told, text) = peer.call("timeline", json!({"id": PLAIN}));
    assert_eq!(text, shown(&world, &["timeline", PLAIN]), "as a person is told");
    assert_eq!(told["this"]["id"], PLAIN, "{told:#}");
    let count = |side: &str| told[side].as_array().map_or(0, Vec::len);
    assert!(count("before") + count("after") > 0 && count("course") > 0, "{told:#}");
    for side in ["before", "after"] {
        for line in told[side].as_array().into_iter().flatten() {
            let (again, _) = peer.call("timeline", json!({"id": line["id"], "before": 0, "after": 0}));
            assert_eq!((&again["this"]["title"], &again["before"]), (&line["title"], &json!([])), "{again:#}");
        }
    }
    for (asked, word) in [
        (json!({}), "id"),
        (json!({"id": "x"}), "too short"),
        (json!({"id": "00000000"}), "00000000"),
        (json!({"id": "' OR 1=1 --"}), "OR 1=1"),
        (json!({"id": PLAIN, "before": 21}), "20"),
        (json!({"id": PLAIN, "after": -1}), "integer"),
    ] {
        let why = peer.fail("timeline", asked.clone());
        assert!(why.contains(word), "{asked}: {why}");
    }
}

#[test]
fn several_sessions_are_opened_in_one_call() {
    let world = World::digested(&["plain", "retry", "compact"]);
    let mut peer = Peer::greet(&world);
    let stored = world.exported();
    let ids: Vec<Value> = stored.iter().map(|s| json!(&s["session"].as_str().expect("an id")[..8])).collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
    let (opened, text) = peer.call("get", json!({"ids": ids}));
    let items = opened["items"].as_array().expect("items");
    for (id, item) in ids.iter().zip(items) {
        let id = id.as_str().expect("an id");
        assert!(item["id"].as_str().is_some_and(|whole| whole.starts_with(id)), "{item:#}");
        let brief = shown(&world, &["show", id]);
        assert_eq!(item["text"].as_str().map(str::trim_end), Some(brief.trim_end()), "as a person is shown");
        assert!(text.contains(brief.trim_end()), "{text}");
    }
    assert_eq!(items.len(), ids.len());
    assert!(opened.get("missing").is_none(), "{opened:#}");
}

#[test]
fn a_session_is_opened_in_full_where_that_is_asked_for() {
    let world = World::digested(&["plain", "retry", "compact"]);
    let mut peer = Peer::greet(&world);
    let (full, _) = peer.call("get", json!({"ids": [PLAIN], "detail": "full"}));
    let (brief, _) = peer.call("get", json!({"ids": [PLAIN], "detail": "brief"}));
    let text = |opened: &Value| opened["items"][0]["text"].as_str().expect("a text").to_owned();
    assert_eq!(text(&full).trim_end(), shown(&world, &["show", PLAIN, "--full"]).trim_end());
    assert!(text(&full).len() > text(&brief).len(), "{} and {}", text(&full).len(), text(&brief).len());
}

#[test]
fn what_is_not_there_costs_itself_alone() {
    let world = World::digested(&["plain", "retry", "compact"]);
    let mut peer = Peer::greet(&world);
    let (opened, text) = peer.call("get", json!({"ids": ["ffffffff", PLAIN]}));
    assert_eq!(
        (opened["items"].as_array().map(Vec::len), &opened["missing"][0]["id"]),
        (Some(1), &json!("ffffffff")),
        "{opened:#}"
    );
    assert!(text.contains("ffffffff: nothing has the id"), "{text}");
    let many: Vec<_> = (0..11).map(|_| PLAIN).collect();
    for (asked, word) in [
        (json!({}), "ids"),
        (json!({"ids": []}), "1 to 10"),
        (json!({"ids": many}), "1 to 10"),
        (json!({"ids": ["ffffffff"]}), "ffffffff"),
        (json!({"ids": PLAIN}), "sequence"),
        (json!({"ids": [PLAIN], "detail": "everything"}), "brief"),
    ] {
        let why = peer.fail("get", asked.clone());
        assert!(why.contains(word), "{asked}: {why}");
    }
    assert!(peer.leave().err.is_empty());
}

#[test]
fn a_session_in_which_nothing_was_said_is_told_so() {
    let world = World::new();
    let id = "aa000000-5ec0-4000-8000-000000000000";
    let rows = user(id, "u1", "2026-11-21T10:00:00Z", "[Request interrupted by user]");
    world.transcript(&format!("-shop/{id}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    let mut peer = Peer::greet(&world);
    let (_, told) = peer.call("get", json!({"ids": [id]}));
    assert!(told.contains("No digest is made of it") && !told.contains("recall digest"), "{told}");
    let why = peer.fail("get", json!({"ids": [id], "detail": "full"}));
    assert!(why.contains("gets no digest"), "{why}");
}

#[test]
fn ids_are_told_so_long_that_they_fit_one_session() {
    let world = World::new();
    for n in ["1", "2"] {
        let id = format!("aa000000-5ec0-4000-8000-00000000000{n}");
        let at = format!("2026-11-1{n}T10:00:00Z");
        let rows = user(&id, &format!("u{n}"), &at, &format!("Why does printer {n} of the warehouse print zeppelins?"))
            + &assistant(&id, &format!("a{n}"), &at, &format!("Decision: the warehouse printer {n} stays, whatever it prints."));
        world.transcript(&format!("-shop/{id}.jsonl"), rows);
    }
    world.digest(&["--summarizer", "extract"]);
    let mut peer = Peer::greet(&world);
    let mut told: Vec<Value> = Vec::new();
    let (found, _) = peer.call("search", json!({"query": "warehouse printer"}));
    told.extend(found["results"].as_array().expect("results").iter().map(|one| one["id"].clone()));
    let (around, _) = peer.call("timeline", json!({"id": told[0]}));
    told.push(around["this"]["id"].clone());
    let (gathered, _) = peer.call("recall", json!({"topic": "warehouse printer"}));
    told.extend(gathered["sources"].as_array().expect("sources").iter().cloned());
    assert!(told.len() >= 4, "{told:?}");
    for id in told {
        peer.call("get", json!({"ids": [id]}));
    }
}
