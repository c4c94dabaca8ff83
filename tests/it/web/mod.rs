//! `recall serve`, as a browser and as whoever should not get in meets it.

mod access;
mod actions;
mod api;
mod export;
mod pages;

use serde_json::json;

use crate::support::{World, assistant, tasks, user};

const SHOP: &str = "aaaa1111-0000-4000-8000-000000000000";

/// A digested session that leaves something open.
fn shop() -> World {
    let world = World::new();
    let at = "2026-11-20T10:00:00Z";
    let rows = user(SHOP, "11111111-0000-4000-8000-000000000001", at, "Sort the order list of the web shop by key")
        + &tasks(SHOP, "11111111-0000-4000-8000-000000000002", at, &["Paint the gauge blue before the audit"])
        + &assistant(SHOP, "11111111-0000-4000-8000-000000000003", at, "The order list is sorted by key now.");
    world.transcript(&format!("-q/{SHOP}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    world
}

/// A world in which every text that a transcript can hold is an attack on a browser.
fn hostile() -> World {
    let world = World::new();
    let at = "2026-11-20T10:00:00Z";
    let attack = "</title></textarea><script>alert(1)</script><img src=x onerror=alert(2)> [x](javascript:alert(3)) \" onmouseover=\"alert(4)";
    let summary = json!({"type": "summary", "summary": attack, "leafUuid": "11111111-0000-4000-8000-000000000003"});
    let rows = user(SHOP, "11111111-0000-4000-8000-000000000001", at, &format!("Sort it {attack}"))
        + &tasks(SHOP, "11111111-0000-4000-8000-000000000002", at, &[attack])
        + &assistant(SHOP, "11111111-0000-4000-8000-000000000003", at, &format!("Done: {attack}\n\n```html\n{attack}\n```\n"));
    let rows = format!("{rows}{summary}\n").replace("/home/dev/src/shop", "/home/dev/src/<script>alert(5)<|script>");
    world.transcript(&format!("-q/{SHOP}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    let project = world.home().join("x<script>alert(6)<");
    std::fs::create_dir_all(&project).expect("a folder");
    world.recall(["remember", "--everywhere", "--kind", "todo", attack]);
    world.digest(&["--summarizer", "extract"]);
    world
}
