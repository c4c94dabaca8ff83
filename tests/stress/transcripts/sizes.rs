//! What is large: a long line, a large file, many files. Memory is bounded whatever there is to read.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::process::Stdio;
use std::time::Duration;

use crate::support::size::{Dice, is_whole, number};
use crate::support::{Ran, World, age, assistant};
use crate::transcripts::{S, asked, conversation, numbered, questions};

/// The most memory that reading takes, in KiB. The largest line that is read has 16 MiB, and each of two threads may hold one.
const MOST: u64 = 128 << 10;

/// Runs `recall` and tells the most memory it had at once, in KiB.
fn measured(world: &World, args: &[&str]) -> (Ran, u64) {
    let child = world.process().args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    // What it prints may be more than a pipe holds, so somebody reads meanwhile.
    let output = std::thread::spawn(move || child.wait_with_output().unwrap());
    let mut most = 0;
    while !output.is_finished() {
        // The kernel keeps the highest; the last look is as good as all of them.
        let told = std::fs::read_to_string(&status).unwrap_or_default();
        let high = told.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        most = high.unwrap_or(most);
        std::thread::sleep(Duration::from_millis(3));
    }
    (Ran::of(output.join().unwrap()), most)
}

fn assert_lean(most: u64) {
    assert!(most > 1000, "the memory of the run is known: {most} KiB");
    assert!(most < MOST, "{most} KiB");
}

#[test]
fn a_line_of_200_mb_is_told_and_what_stands_around_it_is_kept() {
    let world = World::new();
    let path = world.transcript(&format!("-p/{S}.jsonl"), asked(S, 0));
    let mut file = File::options().append(true).open(&path).unwrap();
    file.write_all(b"{\"type\":\"user\",\"message\":\"").unwrap();
    let end = file.seek(SeekFrom::End(0)).unwrap() + 200_000_000;
    file.set_len(end).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(format!("\"}}\n{}", asked(S, 1)).as_bytes()).unwrap();
    let (ran, most) = measured(&world, &["digest", "--ingest-only", "--jobs", "2"]);
    assert!(ran.code == 1 && ran.err.contains("longer than 16 MiB"), "{ran:#?}");
    assert_eq!(questions(&world), numbered(0..2));
    assert_lean(most);
    assert_eq!(world.recall(["digest", "--ingest-only"]).code, 0, "a second run says nothing new");
}

#[test]
fn lines_of_nearly_16_mib_in_several_files_at_once_take_no_more_memory_than_there_is() {
    let world = World::new();
    // Each of the two threads has one, at least.
    let files = if is_whole() { 4 } else { 2 };
    for n in 0..files {
        let id = format!("{n:08}-dddd-4ddd-8ddd-000000000000");
        let path = world.transcript(&format!("-p/{id}.jsonl"), conversation(&id, 1));
        let mut file = BufWriter::new(File::options().append(true).open(&path).unwrap());
        for line in 0..2 {
            let text = "the same words again and again, 'quoted' \\\"twice\\\" \\n ".repeat(290_000);
            writeln!(
                file,
                r#"{{"type":"user","uuid":"{id}-{line}","sessionId":"{id}","timestamp":"2026-11-20T10:30:00Z","message":{{"content":"{text}"}}}}"#
            )
            .unwrap();
        }
    }
    let (ran, most) = measured(&world, &["digest", "--ingest-only", "--jobs", "2"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(world.count("SELECT sum(prompts) FROM bundle"), 3 * files);
    assert_lean(most);
}

/// How large the large file is: RECALL_MEGABYTES. The plain number is small; 2,000 were read once.
fn megabytes() -> usize {
    number("RECALL_MEGABYTES", 57)
}

#[test]
fn a_large_file_takes_no_more_memory_than_a_small_one() {
    let world = World::new();
    let path = world.transcript(&format!("-p/{S}.jsonl"), "");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    // Output of a tool is most of every transcript.
    let output = "line of a log with some words in it\\n".repeat(4000);
    let turns = megabytes() * 1_000_000 / (output.len() + asked(S, 0).len());
    for n in 0..turns {
        file.write_all(asked(S, n).as_bytes()).unwrap();
        writeln!(
            file,
            r#"{{"type":"user","uuid":"r{n}","sessionId":"{S}","timestamp":"2026-11-20T10:00:00Z","message":{{"content":[{{"type":"tool_result","tool_use_id":"t{n}","content":"{output}"}}]}}}}"#
        )
        .unwrap();
    }
    file.flush().unwrap();
    drop(file);
    let (ran, most) = measured(&world, &["digest", "--ingest-only", "--jobs", "2"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(questions(&world).len(), turns);
    assert_lean(most);
}

/// How many files the test of many has: RECALL_FILES. The plain number is small; 100,000 were read once.
fn files() -> usize {
    number("RECALL_FILES", 3_000)
}

#[test]
fn many_files_are_read_once_and_then_not_opened_again() {
    let world = World::new();
    for n in 0..files() {
        let id = format!("{n:08}-eeee-4eee-8eee-000000000000");
        world.transcript(&format!("-p{}/{id}.jsonl", n % 50), asked(&id, n));
    }
    let (ran, most) = measured(&world, &["digest", "--ingest-only", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&report["files_read"], &report["sessions_new"]), (&files().into(), &files().into()), "{report}");
    assert!(most > 1000 && most < MOST + 2 * files() as u64, "{most} KiB");
    let again = world.digest(&["--ingest-only"]);
    assert_eq!(
        (&again["files_seen"], &again["files_read"], &again["bytes_read"]),
        (&files().into(), &0.into(), &0.into()),
        "{again}"
    );
}

/// The most that a session takes that is too long to be loaded whole, in KiB.
const MOST_OF_ONE: u64 = 96 << 10;

/// How much the session says that says much, in megabytes: RECALL_SAID_MB. The plain number is a little more than is ever loaded whole;
/// 400 were read once.
fn megabytes_said() -> usize {
    number("RECALL_SAID_MB", 17)
}

/// So many that not even all prompts are loaded, in bytes of a reply.
const REPLY_BYTES: usize = 6_000;

/// Most of these words stand in every reply, and no two replies are the same. In a plain run they stand in a block of code: to weigh all
/// these sentences takes ten seconds.
fn long_reply(dice: &mut Dice, n: usize) -> String {
    let mut text =
        format!("Done: step{n} is in place and the check for it passes. Decision: we keep step{n} because it is simple.");
    if !is_whole() {
        text.push_str("\n\n```\n");
    }
    while text.len() < REPLY_BYTES {
        text.push_str(&format!(
            " The column {:x} of ledger{} came before row {}.",
            dice.below(1 << 12),
            dice.below(400),
            dice.below(900)
        ));
    }
    text
}

#[test]
fn a_session_that_says_much_takes_no_more_memory_than_a_short_one() {
    let world = World::new();
    let path = world.transcript(&format!("-p/{S}.jsonl"), "");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    let mut dice = Dice(9);
    let turns = megabytes_said() * 1_000_000 / REPLY_BYTES;
    for n in 0..turns {
        let reply = assistant(S, &format!("long-{n}"), &format!("2026-11-20T11:{:02}:00Z", n % 60), &long_reply(&mut dice, n));
        file.write_all((asked(S, n) + &reply).as_bytes()).unwrap();
    }
    file.flush().unwrap();
    drop(file);
    age(&path, Duration::from_secs(3600));
    let lean = |args: &[&str]| {
        let (ran, most) = measured(&world, args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        println!("{args:?}: {most} KiB");
        assert!((1000..MOST_OF_ONE).contains(&most), "{args:?}: {most} KiB");
        ran.out
    };
    lean(&["digest", "--jobs", "2", "--summarizer", "extract"]);
    let middle = turns / 2;
    assert!(lean(&["search", &format!("step{middle}")]).contains(&format!("step{middle} is in place")));
    assert!(lean(&["search", &format!("\"Question {middle}\"")]).contains("55555555"));
    assert!(lean(&["show", S]).contains("Question 0"));
    let page = lean(&["show", S, "--full"]);
    assert!(page.contains("This session is too long to be looked at whole"), "{page}");
    let json: serde_json::Value = serde_json::from_str(&lean(&["show", S, "--json"])).unwrap();
    assert_eq!(json["prompts"], turns);
    let told = json["account"]["turns"].as_array().unwrap();
    assert!(told.len() < turns && told.len() > 1_000 && told[told.len() - 1]["number"] == turns, "{} of {turns}", told.len());
    for turn in told {
        let n = turn["number"].as_u64().unwrap() - 1;
        assert!(turn["words"][0]["text"].as_str().unwrap().contains(&format!("Question {n}")), "{turn:#}");
        let closing = turn["reply"]["text"].as_str().unwrap_or_default();
        assert!(closing.is_empty() || closing.contains(&format!("Done: step{n} is in place")), "{turn:#}");
    }
    // Of what is handed on nothing is left out.
    assert_eq!(world.recall(["export"]).out.matches(r#""kind":"reply""#).count(), 2 * turns);
    assert_eq!(questions(&world), numbered(0..turns));
}
