//! Many hooks at once: none waits for another, none loses or tears what another leaves.

use std::collections::BTreeSet;

use serde_json::json;

use crate::hooks::payloads::{S, ends, log, marks, payload, write_talk};
use crate::support::{World, files_below};

#[test]
fn fifty_processes_that_leave_twenty_marks_each_leave_a_thousand() {
    let world = World::new();
    let file = write_talk(&world, S, "2026-11-21T11:00:00Z", "Make it faster.", "It is faster now.");
    std::thread::scope(|scope| {
        for process in 0..50 {
            let world = &world;
            scope.spawn(move || {
                for mark in 0..20 {
                    // The reason tells the marks apart.
                    let fields = json!({"reason": word(process * 20 + mark)});
                    let ran = world.hook("session-end", payload(world, "SessionEnd", S, fields).to_string());
                    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{ran:#?}");
                }
            });
        }
    });
    let all = marks(&world);
    let expected: BTreeSet<String> = (0..1000).map(word).collect();
    let reasons: BTreeSet<String> = all.iter().map(|m| m["reason"].as_str().expect("a reason").to_owned()).collect();
    assert_eq!(reasons, expected, "{:#?}", log(&world));
    assert_eq!(all.len(), 1000);
    assert!(all.iter().all(|m| m["session"] == S && m["offset"] == file.metadata().unwrap().len()), "{all:#?}");
    assert_eq!(files_below(&world.data_dir().join("marks/tmp")), Vec::<std::path::PathBuf>::new());
    assert_eq!(log(&world), [""; 0]);

    assert_eq!(world.digest(&["--summarizer", "extract"])["sessions_digested"], 1);
    assert_eq!((marks(&world).len(), world.status()["marks_waiting"].as_i64()), (0, Some(0)), "the next digest takes them all");
}

#[test]
fn a_digest_beside_hooks_loses_none_of_their_marks() {
    let world = World::new();
    write_talk(&world, S, "2026-11-21T11:00:00Z", "Make it faster.", "It is faster now.");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    world.hook("session-end", ends(&world, S, "clear").to_string());
                }
            });
        }
        for _ in 0..3 {
            world.digest(&["--summarizer", "extract"]);
        }
    });
    world.digest(&["--summarizer", "extract"]);
    assert_eq!((marks(&world).len(), log(&world)), (0, Vec::new()));
    assert_eq!(world.exported()[0]["end_reason"], "clear");
}

/// A number in letters: reasons are words.
fn word(n: u32) -> String {
    n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}
