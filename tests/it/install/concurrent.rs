//! Two at once: a timer that fires while a digest runs, and somebody else who writes the settings while they are installed.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::World;
use crate::support::size::{is_whole, number};

#[test]
fn a_digest_that_is_started_during_another_does_nothing_and_no_harm() {
    let world = World::with_fixtures(&["plain", "retry"]);
    // A model that answers when it is told to, so that the first run is surely under way.
    let root = world.root().display().to_string();
    world.fake_claude(&format!(
        "#!/bin/sh\ncat >/dev/null\n: >'{root}/asked'\nwhile [ ! -e '{root}/answer' ]; do sleep 0.05; done\necho 'no model today' >&2\nexit 1\n"
    ));
    let first = world.process().args(["digest", "--summarizer", "claude", "--max-cost", "9"]).spawn().expect("recall starts");
    while !world.root().join("asked").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    for _ in 0..3 {
        let second = world.recall(["digest", "--json"]);
        assert!(second.code == 0 && second.err.contains("another run is under way"), "{second:#?}");
        assert!(second.out.contains("\"rows_new\":0"), "{second:#?}");
    }
    fs::write(world.root().join("answer"), "").unwrap();
    let status = first.wait_with_output().expect("it ends").status;
    assert!(status.code().is_some_and(|code| code < 2), "{status:?}");

    let alone = World::with_fixtures(&["plain", "retry"]);
    alone.digest(&["--summarizer", "extract"]);
    for what in ["session", "digest", "bundle", "file", "doc"] {
        let rows = |world: &World| world.count(&format!("SELECT count(*) FROM {what}"));
        assert_eq!(rows(&world), rows(&alone), "{what}");
    }
    let items = |world: &World| world.count("SELECT sum(items) FROM bundle");
    assert_eq!(items(&world), items(&alone));
    assert_eq!(world.database().query_row("PRAGMA integrity_check", [], |r| r.get::<_, String>(0)).unwrap(), "ok");
}

/// Writes the settings again and again, as a client does: reads them, sets a number, writes them whole. Returns how often what it had written
/// was gone when it looked again, and how often it wrote.
fn write_on(file: &Path, in_place: bool, stop: &AtomicBool) -> (usize, u64) {
    let read = || loop {
        // In the middle of a write there is nothing, or no JSON.
        match fs::read(file).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok()) {
            Some(value) if value.is_object() => return value,
            _ => std::thread::sleep(Duration::from_micros(50)),
        }
    };
    let (mut lost, mut n) = (0, 0u64);
    while !stop.load(Ordering::SeqCst) {
        let mut value = read();
        if value["n"] != json!(n) {
            // For a moment, while it is exchanged, an older one may be seen.
            std::thread::sleep(Duration::from_millis(200));
            value = read();
        }
        lost += usize::from(value["n"] != json!(n));
        n += 1;
        value["n"] = json!(n);
        let text = serde_json::to_vec_pretty(&value).expect("JSON");
        if in_place {
            fs::write(file, text).expect("the settings");
        } else {
            let beside = file.with_extension("theirs");
            fs::write(&beside, text).and_then(|()| fs::rename(&beside, file)).expect("the settings");
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    std::thread::sleep(Duration::from_millis(200));
    lost += usize::from(read()["n"] != json!(n));
    (lost, n)
}

#[test]
fn what_somebody_else_writes_while_hooks_come_and_go_is_not_lost() {
    for in_place in [false, true] {
        let world = World::new();
        let file = world.claude_dir().join("settings.json");
        fs::write(&file, "{\n  \"model\": \"opus\",\n  \"n\": 0\n}\n").expect("the settings");
        let stop = AtomicBool::new(false);
        let (lost, written) = std::thread::scope(|scope| {
            let writer = scope.spawn(|| write_on(&file, in_place, &stop));
            for _ in 0..if is_whole() { 5 } else { 2 } * number("RECALL_CROWD", 1) {
                for command in [&["install", "--timer", "none"][..], &["uninstall"]] {
                    let ran = world.recall(command);
                    // It gives up where somebody writes all the time, and says so; what is theirs stays.
                    let gave_up = ran.err.contains("changed by somebody else") || ran.err.contains("left as it is");
                    assert!(ran.code == 0 || gave_up, "{command:?}: {ran:#?}");
                }
            }
            stop.store(true, Ordering::SeqCst);
            writer.join().expect("the writer")
        });
        assert_eq!(lost, 0, "of {written} writes, in place: {in_place}");
        let names: Vec<_> = fs::read_dir(world.claude_dir()).expect("a folder").map(|e| e.expect("a file").file_name()).collect();
        assert!(!names.iter().any(|name| name.to_string_lossy().contains("recall-tmp")), "{names:?}");
    }
}
