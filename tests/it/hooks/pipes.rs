//! What surrounds a hook: pipes that stay open or are closed, transcripts that are no files, a log that must not fill the disk.

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::hooks::fail_open::{fails_open, hook, is_silent, with_notes};
use crate::hooks::payloads::{S, ends, lines_of, log, mark_files, starts, transcript};
use crate::support::held::mkfifo;
use crate::support::{Ran, World};

#[test]
fn input_that_never_ends() {
    let events = ["session-end", "session-start", "stop"];
    let cases = events.iter().flat_map(|event| ["", "{\"session_id\":", "{\"a\":\"}"].map(|said| (*event, said)));
    std::thread::scope(|scope| {
        for (event, said) in cases {
            scope.spawn(move || {
                let world = World::new();
                let started = Instant::now();
                let mut command = hook(&world, event);
                let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
                let mut child = piped.spawn().unwrap();
                let mut open = child.stdin.take().unwrap();
                open.write_all(said.as_bytes()).unwrap();
                let ran = Ran::of(child.wait_with_output().unwrap());
                is_silent(event, started, &ran);
                drop(open);
                let lines = log(&world);
                assert!(lines.len() == 1 && lines[0].contains(&format!("{event}: stdin did not end in time")), "{lines:#?}");
                assert_eq!(mark_files(&world).len(), 0);
            });
        }
    });
}

/// Some wrappers keep the pipe open: a payload that is whole is enough.
#[test]
fn a_whole_payload_on_a_pipe_that_stays_open_leaves_its_mark() {
    let world = World::new();
    let said = format!("{}\n", ends(&world, S, "other"));
    let (one, other) = said.split_at(said.len() / 2);
    for (n, pieces) in [[said.as_str(), ""], [one, other]].into_iter().enumerate() {
        let mut command = hook(&world, "session-end");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut open = child.stdin.take().unwrap();
        for piece in pieces {
            open.write_all(piece.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_millis(50));
        }
        let ran = Ran::of(child.wait_with_output().unwrap());
        drop(open);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
        assert_eq!((mark_files(&world).len(), log(&world).len()), (n + 1, 0), "{:?}", log(&world));
    }
}

#[test]
fn a_transcript_that_is_no_file() {
    let world = with_notes();
    let file = transcript(&world, S);
    let compact = starts(&world, S, "compact").to_string();
    fails_open(&world, "session-start", compact.as_bytes(), "No such file");
    fs::create_dir(&file).unwrap();
    fails_open(&world, "session-start", compact.as_bytes(), "not a regular file");
    fs::remove_dir(&file).unwrap();
    // One that nobody ever writes to.
    world.configure("[hooks]\ndeadline_ms = 300\n");
    mkfifo(&file);
    fails_open(&world, "session-start", compact.as_bytes(), "");
}

#[test]
fn an_answer_that_nobody_takes() {
    let world = with_notes();
    for (n, to) in [">&-", "> /dev/full", "| true", "2>&- >&-"].into_iter().enumerate() {
        // A start of its own each time: the same one is answered once.
        let id = format!("{n}{}", &S[1..]);
        fs::write(world.root().join("payload"), starts(&world, &id, "startup").to_string()).unwrap();
        let started = Instant::now();
        let ran = world.shell(&format!("{{ \"$RECALL\" hook session-start < payload; echo $? > \"$HOME/code\"; }} {to}"));
        is_silent(to, started, &ran);
        assert_eq!(fs::read_to_string(world.home().join("code")).unwrap().trim(), "0", "{to}");
    }
}

/// Whoever can write in a data folder of the user's choice could have any file of theirs grow by lines.
#[test]
fn the_log_follows_no_link() {
    let world = World::new();
    let (log, victim) = (world.data_dir().join("hooks.log"), world.root().join("victim"));
    fs::create_dir_all(world.data_dir()).unwrap();
    fs::write(&victim, "theirs\n").unwrap();
    for to in [victim.as_path(), std::path::Path::new("nowhere")] {
        std::os::unix::fs::symlink(to, &log).unwrap();
        is_silent("a link", Instant::now(), &world.hook("stop", "{"));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "theirs\n");
        assert!(!world.data_dir().join("nowhere").exists());
        assert!(log.is_file() && !log.is_symlink() && lines_of(&log).len() == 1, "the log takes the link's place");
        fs::remove_file(&log).unwrap();
    }
    // Nor does anybody wait where something else has taken its place.
    mkfifo(&log);
    is_silent("a pipe", Instant::now(), &world.hook("stop", "{"));
    let read = world.recall(["doctor"]);
    assert!(read.code < 2, "{read:#?}");
}

#[test]
fn the_log_does_not_grow_without_end() {
    const LIMIT: u64 = 64 << 10;
    let world = World::new();
    let (log, aside) = (world.data_dir().join("hooks.log"), world.data_dir().join("hooks.log.old"));
    is_silent("first", Instant::now(), &world.hook("stop", "{"));
    let line = fs::metadata(&log).unwrap().len();
    fs::write(&log, "an older line\n".repeat(LIMIT as usize / 14 - 1)).unwrap();
    let mut last = 0;
    for _ in 0..4 {
        world.hook("stop", "{");
        let size = fs::metadata(&log).unwrap().len();
        assert!(size < LIMIT + line, "{size}");
        last = size;
    }
    assert!(last < LIMIT / 2 && lines_of(&aside).len() > 4000, "the older lines are set aside");
    // Those set aside before go.
    fs::write(&log, "a newer line\n".repeat(LIMIT as usize / 13 + 1)).unwrap();
    world.hook("stop", "{");
    assert_eq!((lines_of(&log).len(), lines_of(&aside)[0].as_str()), (1, "a newer line"));
    let all: u64 = [&log, &aside].map(|file| fs::metadata(file).unwrap().len()).iter().sum();
    assert!(all < 2 * (LIMIT + line), "{all}");
    assert_eq!(crate::support::files_below(&world.data_dir()).len(), 2);
}
