//! Calls beside each other, and calls that are called off.

use rusqlite::Connection;
use serde_json::json;

use crate::support::World;
use crate::support::mcp_client::Peer;

/// Keeps everybody from reading the index until it is dropped.
fn lock(world: &World) -> Connection {
    let db = Connection::open(world.data_dir().join("recall.db")).expect("the index");
    db.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE fact SET value = value;").expect("the lock");
    db
}

#[test]
fn a_call_that_waits_keeps_no_other_waiting() {
    let world = World::digested(&["plain"]);
    let mut peer = Peer::greet(&world);
    let lock = lock(&world);
    let slow: Vec<_> = (0..2).map(|_| peer.send("tools/call", json!({"name": "status", "arguments": {}}))).collect();
    for _ in 0..10 {
        assert_eq!(peer.ask("ping", json!({})), json!({}));
        assert!(!peer.ask("tools/list", json!({}))["tools"].as_array().expect("tools").is_empty());
        assert_eq!(peer.ask("resources/list", json!({}))["resources"].as_array().map(Vec::len), Some(1));
    }
    assert!(!slow.iter().any(|id| peer.is_answered(*id)), "they wait for the lock");
    drop(lock);
    for id in slow {
        let answer = peer.answer(id);
        assert_eq!(answer["result"]["isError"], false, "{answer:#}");
    }
}

#[test]
fn a_call_that_is_called_off_is_not_answered_and_gives_its_place_free() {
    let world = World::digested(&["plain"]);
    let mut peer = Peer::greet(&world);
    let lock = lock(&world);
    let first = peer.send("tools/call", json!({"name": "search", "arguments": {"query": "keyset"}}));
    // More than work at the same time, each of which waits for the lock.
    let slow: Vec<_> = (0..12).map(|_| peer.send("tools/call", json!({"name": "status", "arguments": {}}))).collect();
    for id in &slow {
        peer.notify("notifications/cancelled", json!({"requestId": id, "reason": "nobody waits any more"}));
    }
    peer.notify("notifications/cancelled", json!({"requestId": 4711}));
    assert_eq!(peer.ask("ping", json!({})), json!({}));
    // What needs no index is not kept waiting by those that wait for it.
    let day = peer.ask("resources/list", json!({}))["resources"][0]["uri"].clone();
    assert!(!peer.ask("resources/read", json!({"uri": day}))["contents"].as_array().expect("contents").is_empty());
    assert!(!peer.is_answered(first), "what came first and is not called off still waits");
    drop(lock);
    assert_eq!(peer.answer(first)["result"]["isError"], false);
    assert_eq!(peer.call("status", json!({})).0["sessions"], 1);
    assert!(!slow.iter().any(|id| peer.is_answered(*id)), "nobody waits for them");
    assert!(peer.leave().err.is_empty());
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let world = World::digested(&["plain"]);
    let mut peer = Peer::greet(&world);
    let ids: Vec<_> = (0..60).map(|_| peer.send("tools/call", json!({"name": "status", "arguments": {}}))).collect();
    for id in ids {
        let answer = peer.answer(id);
        assert_eq!(answer["result"]["structuredContent"]["sessions"], 1, "{answer:#}");
    }
}
