//! A run with nothing new looks at names and times, and reads none of what it has read.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::support::{World, age, assistant, steps_in, tasks, user};

/// Transcripts, and about how long each is, in bytes.
const FILES: usize = 30;
const LENGTH: usize = 100_000;

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

/// Memory files of Claude's, about as long as the transcripts.
fn with_memory_files(world: &World) {
    let folder = world.claude_dir().join("projects/-home-dev-src-shop/memory");
    fs::create_dir_all(&folder).expect("a folder");
    for n in 0..100 {
        fs::write(folder.join(format!("topic{n}.md")), format!("The rates of day {n} are those of today.\n").repeat(700))
            .expect("a file");
    }
}

/// The statements that `recall digest` asks of the index.
fn statements(world: &World, arguments: &[&str]) -> Vec<String> {
    let file = world.root().join("statements");
    let _ = fs::remove_file(&file);
    let ran = world.process().arg("digest").args(arguments).env("RECALL_STATEMENTS", &file).output().expect("recall runs");
    assert!(ran.status.success(), "{ran:?}");
    fs::read_to_string(file).expect("statements").lines().map(str::to_owned).collect()
}

/// Of every session that is loaded it is asked in which order its sources stand.
fn sessions_loaded(statements: &[String]) -> usize {
    statements.iter().filter(|statement| statement.starts_with("SELECT pk, agent, file, first_at, last_at FROM source")).count()
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
    with_memory_files(&world);
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

#[test]
fn a_run_with_nothing_new_asks_no_more_of_an_index_of_many_files_than_of_one_of_some() {
    let [some, many] = [5, FILES].map(|files| {
        let world = World::new();
        for n in 0..files {
            world.transcript(&format!("-home-dev-src-shop/{}.jsonl", id(n)), rows(&id(n), 1));
        }
        with_memory_files(&world);
        let all = ["--summarizer", "extract"];
        statements(&world, &all);
        statements(&world, &all)
    });
    assert_eq!(some, many);
    assert!(many.len() <= 60, "{}: {many:#?}", many.len());
    let changes = ["INSERT", "UPDATE", "DELETE", "BEGIN IMMEDIATE", "VACUUM"];
    assert_eq!(many.iter().filter(|statement| changes.iter().any(|change| statement.starts_with(change))).count(), 0, "{many:#?}");
    assert_eq!(sessions_loaded(&many), 0);
}

#[test]
fn of_sessions_after_one_that_grew_none_is_loaded_when_it_left_open_what_it_had() {
    const SESSIONS: usize = 8;
    let world = World::new();
    // The second is of the day of the third, which grows, and was over when that began.
    let when = |n: usize| if n == 1 { "2026-11-03T05".to_owned() } else { format!("2026-11-{:02}T08", n + 1) };
    let on_day = |n: usize| rows(&id(n), 2000).replace("2026-11-20T08", &when(n));
    for n in 0..SESSIONS {
        world.transcript(&format!("-home-dev-src-shop/{}.jsonl", id(n)), on_day(n));
    }
    let all = ["--summarizer", "extract"];
    assert!(sessions_loaded(&statements(&world, &all)) >= SESSIONS);
    let file = world.claude_dir().join(format!("projects/-home-dev-src-shop/{}.jsonl", id(2)));
    let grow = |more: &str| {
        fs::write(&file, fs::read_to_string(&file).unwrap() + more).unwrap();
        age(&file, Duration::from_secs(3600));
    };
    grow(&assistant(&id(2), "5b6e2c1e-0000-4000-8000-000000000001", "2026-11-03T20:00:00Z", "Its rates are in order, too."));
    // For its document, its digest, its page; what the page of the day says of the other is on record.
    let loaded = sessions_loaded(&statements(&world, &all));
    assert!((1..=3).contains(&loaded), "{loaded}");
    // With something new left open, the three after it are looked at, which have done nothing of it.
    let next = ["Ask finance whether the ledger of the other countries counts as well"];
    grow(&tasks(&id(2), "5b6e2c1e-0000-4000-8000-000000000002", "2026-11-03T20:01:00Z", &next));
    assert_eq!(sessions_loaded(&statements(&world, &all)), loaded + 3);
    assert_eq!(sessions_loaded(&statements(&world, &all)), 0);
}

/// SQLite's instructions for a run with nothing new over so many small sessions, each with its digest and page.
fn steps_with_nothing_new(sessions: usize) -> u64 {
    let world = World::new();
    for n in 0..sessions {
        world.transcript(&format!("-home-dev-src-shop/{}.jsonl", id(n)), rows(&id(n), 1));
    }
    world.digest(&["--summarizer", "extract"]);
    let file = world.root().join("steps");
    let ran = world.process().args(["digest", "--summarizer", "extract"]).env("RECALL_STEPS", &file).output().expect("recall runs");
    assert!(ran.status.success(), "{ran:?}");
    steps_in(&file).values().sum()
}

#[test]
fn of_what_is_stored_only_names_and_sizes_are_gone_through() {
    const MORE: usize = 100;
    let per_session = (steps_with_nothing_new(20 + MORE) - steps_with_nothing_new(20)) as f64 / MORE as f64;
    // Five for a row of the list of files, three for a page's path, eleven to see that no recent session has another digest than before.
    assert!(per_session < 20.0, "{per_session}");
}
