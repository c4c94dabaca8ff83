//! What a later session overtakes is told alone by no way out of the memory: the ways are those of `excluded_everywhere`.

use super::excluded_everywhere::{CLINIC, EXTRACT, SHOP, Scene, outputs};
use crate::support::{assistant, user};

const LATER: &str = "cccc2222-0000-4000-8000-000000000000";
const SAID: &str = "The session cache of the ledger uses Redis, so that both workers share it.";
const NOW: &str = "The session cache of the ledger no longer uses Redis, it is an in-process LRU.";

/// Ways that give what was stored as it is, for who asks for just that; and pages, which tell what was so on their day.
fn is_raw(way: &str) -> bool {
    ["--raw", "--items", "recall export", "recall wrong", "the pages", "resources recall://day"]
        .iter()
        .any(|part| way.contains(part))
}

#[test]
fn what_is_overtaken_is_told_alone_by_no_way_out() {
    let scene = Scene::bare();
    let dir = scene.dir("clinic").display().to_string();
    let talk = |id: &str, day: &str, asked: &str, said: &str| {
        let rows = user(id, &format!("u{day}"), &format!("2026-11-{day}T09:00:00Z"), asked)
            + &assistant(id, &format!("a{day}"), &format!("2026-11-{day}T09:02:00Z"), said);
        scene.world.transcript(&format!("-p/{id}.jsonl"), rows.replace("/home/dev/src/shop", &dir));
    };
    talk(CLINIC, "12", "Where does the ledger keep its sessions?", SAID);
    talk(LATER, "18", "Make the ledger run on one machine", &format!("It runs alone now. {NOW} `redis_cache.py` is removed."));
    let shop = scene.talk("shop", SHOP, "2026-11-20T10:00:00Z", "Sort the order list of the web shop", "loudbasalt");
    scene.world.transcript(&format!("-q/{SHOP}.jsonl"), shop);
    scene.world.digest(&EXTRACT);
    let scene = scene.with_note("The ledger of the ward closes at noon.");
    let names = scene.names();
    let all = outputs(&scene, &names);
    let showing: Vec<_> = all.iter().filter(|(way, told)| !is_raw(way) && told.contains("uses Redis, so that both")).collect();
    assert!(showing.len() > 8, "only {} ways show it: {showing:#?}", showing.len());
    let alone = showing.iter().filter(|(_, told)| {
        let since = told
            .to_lowercase()
            .find("since then: claude in session cccc2222, 2026-11-18: the session cache of the ledger no longer");
        // What is read from top to bottom says so first.
        since.is_none_or(|since| {
            !told.trim_start().starts_with(['{', '[']) && since > told.find("uses Redis, so that both").unwrap_or(0)
        })
    });
    let alone: Vec<_> = alone.collect();
    assert!(alone.is_empty(), "{} of {} ways tell it alone: {alone:#?}", alone.len(), showing.len());
}
