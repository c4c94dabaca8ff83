//! A run with nothing new looks at names and times, and reads none of what it has read.

use std::fs;
use std::process::Stdio;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::support::{World, assistant, user};

/// Transcripts, and about how long each is, in bytes.
const FILES: usize = 30;
const LENGTH: usize = 60_000;

fn id(n: usize) -> String {
    format!("{n:08}-0000-4000-8000-000000000000")
}

fn rows(session: &str, length: usize) -> String {
    let mut rows = String::new();
    for n in 0.. {
        if rows.len() >= length {
            break;
        }
        let (at, uuid) =
            (format!("2026-11-20T{:02}:{:02}:00Z", 8 + n / 60, n % 60), |part: usize| format!("{}{part}{n:03}", &session[..32]));
        rows += &user(
            session,
            &uuid(1),
            &at,
            &format!("Look at file{n}.rs, please. {}", "It holds the rates of the shop. ".repeat(20)),
        );
        rows += &assistant(session, &uuid(2), &at, &format!("file{n}.rs is fine. {}", "Its rates are those of today. ".repeat(20)));
    }
    rows
}

/// Runs `recall digest` and returns how many bytes it has read, from whatever files.
fn bytes_read(world: &World, arguments: &[&str]) -> u64 {
    let mut command = world.process();
    let mut child = command.arg("digest").args(arguments).stdout(Stdio::null()).spawn().expect("recall starts");
    let pid = Pid::from_child(&child);
    // The system still tells of a process that has ended and that nobody has asked about.
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).expect("its end");
    let told = fs::read_to_string(format!("/proc/{}/io", child.id())).expect("what it has read");
    assert!(child.wait().expect("its end").success());
    let read = told.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("a number of bytes");
    read.parse().expect("a number")
}

#[test]
fn a_run_with_nothing_new_reads_no_transcript_and_little_of_the_index() {
    let world = World::new();
    for n in 0..FILES {
        world.transcript(&format!("-home-dev-src-shop/{}.jsonl", id(n)), rows(&id(n), LENGTH));
    }
    let transcripts = (FILES * LENGTH) as u64;
    let all = ["--summarizer", "extract"];
    assert!(bytes_read(&world, &all) > transcripts, "the first run reads all of them");
    let again = bytes_read(&world, &all);
    assert!(again < transcripts / 10, "{again} bytes");
    // Where one gained a row, the others are not read.
    let file = world.claude_dir().join(format!("projects/-home-dev-src-shop/{}.jsonl", id(7)));
    let named = |n: usize| format!("\"sessionId\":\"{}\"", id(n));
    let more = rows(&id(99), 1).replace(&named(99), &named(7));
    fs::write(&file, fs::read_to_string(&file).unwrap() + &more).unwrap();
    let grown = bytes_read(&world, &["--ingest-only"]);
    assert!(grown < transcripts / 2, "{grown} bytes after {again}");
    assert_eq!(world.digest(&all)["rows_new"], 0, "it was read");
}
