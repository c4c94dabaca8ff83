//! Files that are gone between the scan and the reading.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::World;
use crate::support::held::held_at;
use crate::transcripts::{S, conversation, numbered, questions};

/// Files that come and go in a folder while it is walked and read.
#[test]
fn files_that_vanish_between_the_scan_and_the_reading_cost_themselves_alone() {
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 3));
    let folder = world.claude_dir().join("projects/-q");
    fs::create_dir_all(&folder).unwrap();
    let path = |n: usize| -> PathBuf { folder.join(format!("{n:08}-bbbb-4bbb-8bbb-000000000000.jsonl")) };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0;
            while !done.load(Ordering::Acquire) {
                let (new, old) = (path(n % 300), path((n + 150) % 300));
                fs::write(&new, conversation(&format!("{:08}-bbbb-4bbb-8bbb-000000000000", n % 300), 2)).unwrap();
                let _ = fs::remove_file(old);
                n += 1;
            }
        });
        for _ in 0..6 {
            let ran = world.recall(["digest", "--ingest-only"]);
            assert!(ran.code < 2 && !ran.err.contains("panicked"), "{ran:#?}");
        }
        done.store(true, Ordering::Release);
    });
    assert_eq!(questions(&world), numbered(0..3));
    let lies_there = (0..300).filter(|n| path(*n).exists()).collect::<Vec<_>>();
    assert_eq!(world.recall(["digest", "--ingest-only"]).code, 0);
    let stored: Vec<String> = world.exported().iter().map(|s| s["session"].as_str().unwrap().to_owned()).collect();
    for n in lies_there {
        assert!(stored.iter().any(|id| id.starts_with(&format!("{n:08}-"))), "{n} lies there and is not stored");
    }
}

/// Files that are gone once they were found.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "named points are built into debug builds only")]
fn files_that_are_gone_once_they_were_found_are_told() {
    const FILES: usize = 20;
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 3));
    let id = |n: usize| format!("{n:08}-bbbb-4bbb-8bbb-000000000000");
    let write_all = || (0..FILES).map(|n| world.transcript(&format!("-q/{}.jsonl", id(n)), conversation(&id(n), 2))).collect();
    let files: Vec<PathBuf> = write_all();
    let remove = || files.iter().for_each(|file| fs::remove_file(file).unwrap());
    let ran = held_at(&world, "transcripts found", &["digest", "--ingest-only"], remove);
    assert_eq!(ran.code, 1, "{ran:#?}");
    for file in files {
        assert!(ran.err.contains(&format!("cannot read {}", file.display())), "{file:?} is not told: {ran:#?}");
    }
    assert_eq!(questions(&world), numbered(0..3));
    let _: Vec<PathBuf> = write_all();
    assert_eq!(world.recall(["digest", "--ingest-only"]).code, 0);
    assert_eq!(world.exported().len(), FILES + 1, "what is there again is read");
}
