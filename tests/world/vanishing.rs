//! Files that are gone between the scan and the reading.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::places::mkfifo;
use crate::support::patience::ended;
use crate::support::{Ran, World};
use crate::{S, conversation, numbered, questions};

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

/// Files that are gone once they were found: a run is stopped there by the pipe that it tells its named points, until somebody reads on.
#[test]
#[cfg_attr(not(debug_assertions), ignore = "named points are built into debug builds only")]
fn files_that_are_gone_once_they_were_found_are_told() {
    const FILES: usize = 60;
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 3));
    let id = |n: usize| format!("{n:08}-bbbb-4bbb-8bbb-000000000000");
    let write_all = || (0..FILES).map(|n| world.transcript(&format!("-q/{}.jsonl", id(n)), conversation(&id(n), 2))).collect();
    // A few of them are read before the run is stopped, on a busy machine all: then it is tried once more.
    let told = (0..20).find_map(|n| {
        let _ = fs::remove_dir_all(world.data_dir());
        let files: Vec<PathBuf> = write_all();
        let pipe = world.root().join(format!("points{n}"));
        mkfifo(&pipe);
        let ran = stopped_once_found(&world, &pipe, || files.iter().for_each(|file| fs::remove_file(file).unwrap()));
        assert!(ran.code < 2 && !ran.err.contains("panicked"), "{ran:#?}");
        assert_eq!(questions(&world), numbered(0..3));
        ran.err.contains("No such file").then_some(ran)
    });
    let told = told.expect("a file that was gone once it was found");
    assert_eq!(told.code, 1, "{told:#?}");
    let _: Vec<PathBuf> = write_all();
    assert_eq!(world.recall(["digest", "--ingest-only"]).code, 0);
    assert_eq!(world.exported().len(), FILES + 1, "what is there again is read");
}

/// Runs a digest that waits while this is done, after it found the transcripts and before it has read them all.
fn stopped_once_found(world: &World, pipe: &Path, done: impl FnOnce()) -> Ran {
    let open = || fs::File::options().read(true).write(true).open(pipe).unwrap();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let mut command = world.process();
            command.args(["digest", "--ingest-only", "--jobs", "1"]).env("RECALL_POINTS", pipe);
            let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ended(command, "", "a digest")));
            // Who still waits for a point would wait for ever.
            drop(open());
            ran.unwrap_or_else(|why| std::panic::resume_unwind(why))
        });
        loop {
            // The run waits at each of its points until somebody opens the pipe.
            let mut names = [0; 4096];
            let len = fs::File::open(pipe).unwrap().read(&mut names).unwrap();
            let names = String::from_utf8_lossy(&names[..len]).into_owned();
            if len == 0 || names.contains("transcripts found") || names.contains("batch") {
                break;
            }
        }
        done();
        let _all_the_others = open();
        run.join().unwrap_or_else(|why| std::panic::resume_unwind(why))
    })
}
