//! Lines that no client writes: what is kept of them, and what of their neighbours.

use std::fs;
use std::io::{Seek, SeekFrom, Write};

use serde_json::json;

use crate::support::{World, assistant, user};
use crate::transcripts::{S, asked, conversation, numbered, questions};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// A world with a transcript of a good question, these bytes, and a good one.
fn between(middle: &[u8]) -> World {
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), [asked(S, 1).as_bytes(), middle, asked(S, 2).as_bytes()].concat());
    world
}

#[test]
fn of_odd_rows_is_kept_what_can_be_kept() {
    let row = |rest: &str| format!("{{\"type\":\"user\",\"sessionId\":\"{S}\",\"uuid\":\"odd\",{rest}}}\n");
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
    let said = r#""message":{"content":"wanted"}"#;
    let cases: Vec<(&str, String, bool)> = vec![
        (
            "numbers out of range beside it",
            row(&format!(r#"{said},"n":1e999,"m":-1e-999,"k":1180591620717411303424,"timestamp":1e999"#)),
            true,
        ),
        ("10,000 levels beside it", row(&format!(r#"{said},"toolUseResult":{}"#, deep("[", "]"))), true),
        ("10,000 levels of objects beside it", row(&format!(r#"{said},"snapshot":{}"#, deep("{\"a\":", "}"))), true),
        (
            "10,000 levels in its content",
            row(&format!(r#""message":{{"content":[{{"type":"text","text":"wanted"}},{}]}}"#, deep("[", "]"))),
            true,
        ),
        (
            "every key twice",
            row(&format!(r#"{said},{said},"timestamp":"2026-11-20T10:01:30Z","timestamp":"2026-11-20T10:01:31Z""#)),
            true,
        ),
        ("lone surrogates", row(r#""message":{"content":"\ud800wanted\udc00 \ud83d"}"#), true),
        (
            "surrogates in keys and names",
            row(&format!(r#""\ud800":"\udfff","cwd":"/home/\ud800dev","gitBranch":"\ud800",{said}"#)),
            true,
        ),
        ("NULs in its text", row(r#""message":{"content":"\u0000wanted\u0000"}"#), true),
        ("bytes that are no text", String::new(), true),
        ("a key of a megabyte", row(&format!(r#""{}":1,{said}"#, "k".repeat(1 << 20))), true),
        (
            "a text of a megabyte of escapes",
            row(&format!(r#""message":{{"content":"wanted {}"}}"#, "\\u001b[31m".repeat(100_000))),
            true,
        ),
        ("a session of 4,000 bytes", row(said).replace(S, &"s".repeat(4000)), false),
        ("a session of nothing", row(said).replace(S, ""), true),
        ("a session that is a number", row(said).replace(&format!("\"{S}\""), "7"), true),
    ];
    for (about, line, here) in cases {
        let line = if line.is_empty() { row(said).replace("wanted", "wanted\u{1}").into_bytes() } else { line.into_bytes() };
        let line: Vec<u8> = line.into_iter().map(|b| if b == 1 { 0xff } else { b }).collect();
        let world = between(&line);
        let ran = world.recall(["digest", "--summarizer", "extract", "--json"]);
        assert!(ran.code == 0 && !ran.err.contains("panicked"), "{about}: {ran:#?}");
        assert_eq!(questions(&world).iter().filter(|q| q.starts_with("Question")).count(), 2, "{about}");
        let everything = world.recall(["export"]).out;
        assert!(everything.contains("wanted"), "{about}: {everything}");
        assert_eq!(questions(&world).len(), if here { 3 } else { 2 }, "{about}: {:?}", questions(&world));
        let again = world.recall(["digest", "--summarizer", "extract"]);
        assert_eq!((again.code, again.err.as_str()), (0, ""), "{about}: a second run says nothing new");
    }
}

#[test]
fn what_cannot_be_read_is_counted_once_and_told_once() {
    let deep = format!("{}1{}\n", "[".repeat(10_000), "]".repeat(10_000));
    let cases: Vec<(&str, Vec<u8>, u64)> = vec![
        ("NULs", vec![0; 10_000].into_iter().chain(*b"\n").collect(), 1),
        ("UTF-16", "{\"type\":\"user\"}\n".encode_utf16().flat_map(u16::to_le_bytes).chain(*b"\n").collect(), 2),
        ("10,000 levels", deep.into_bytes(), 1),
        ("many lines of nothing", b"x\n".repeat(500), 500),
        ("CRs alone", b"{}\r{}\r{}\n".to_vec(), 1),
        ("Latin-1", b"caf\xe9\n".to_vec(), 1),
    ];
    for (about, line, bad) in cases {
        let world = between(&line);
        let ran = world.recall(["digest", "--summarizer", "extract", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.code, &report["rows_bad"]), (1, &bad.into()), "{about}: {ran:#?}");
        assert!(ran.err.lines().count() < 30, "{about}: {}", ran.err.lines().count());
        assert_eq!(questions(&world), numbered([1, 2]), "{about}");
        let again = world.recall(["digest", "--summarizer", "extract"]);
        assert_eq!((again.code, again.err.as_str()), (0, ""), "{about}: a second run says nothing new");
        assert_eq!(world.status()["bad_lines"], bad, "{about}");
    }
}

/// As when two writers meet: the end of the first row's line is missing.
fn glued(rows: &[String]) -> Vec<u8> {
    let all: String = rows.iter().map(|row| row.trim_end()).collect();
    format!("{all}\n").into_bytes()
}

#[test]
fn rows_that_stand_on_one_line_are_all_read() {
    let reply =
        |n: usize| assistant(S, &format!("r{n}"), "2026-11-20T10:05:30Z", &format!("Reply number {n} with {{\"a\":\"}}{{\"}}."));
    let prompts = || [3, 4].map(|n| asked(S, n));
    let summary = "{\"type\":\"mode\",\"mode\":\"normal\"}".to_owned();
    for (about, middle, questions_there) in [
        ("two prompts", glued(&prompts()), vec![1, 2, 3, 4]),
        ("prompt, reply, bookkeeping, prompt", glued(&[asked(S, 3), reply(1), summary, asked(S, 4)]), vec![1, 2, 3, 4]),
        (
            "the half of a row behind a whole one",
            [glued(&[asked(S, 3)]).trim_ascii(), b"{\"type\":\"user\n"].concat(),
            vec![1, 2, 3],
        ),
    ] {
        let world = between(&middle);
        let report = world.digest(&EXTRACT);
        let mut all = questions(&world);
        all.sort();
        assert_eq!(all, numbered(questions_there), "{about}");
        let half = about.starts_with("the half");
        assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&usize::from(half).into(), &0.into()), "{about}");
        // Row by row in its transcript, and to who reads the end of it.
        let raw = world.recall(["show", S, "--raw"]);
        let shown = raw.out.lines().filter(|line| line.contains("Question")).count();
        assert_eq!((raw.code, shown), (0, all.len()), "{about}: {raw:#?}");
        assert!(raw.out.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{about}: {raw:#?}");
    }
}

#[test]
fn a_line_that_goes_on_with_a_second_row_is_read_as_it_grows() {
    let world = World::new();
    let whole = [glued(&[asked(S, 1), asked(S, 2)]), glued(&[asked(S, 3)])].concat();
    for end in (0..whole.len()).step_by(97).chain([whole.len()]) {
        world.transcript(&format!("-p/{S}.jsonl"), &whole[..end]);
        let report = world.digest(&["--ingest-only"]);
        assert_eq!(report["rows_bad"], 0, "cut at {end}");
    }
    assert_eq!(questions(&world), numbered([1, 2, 3]));
}

/// A row of more than 16 MiB, of which nothing is looked into.
fn over_long(text: &str) -> String {
    let row = json!({"type": "user", "uuid": "long", "sessionId": S, "timestamp": "2026-11-20T10:01:30Z",
        "message": {"role": "user", "content": format!("{text}{}", "x".repeat(17 << 20))}});
    format!("{row}\n")
}

#[test]
fn what_answers_a_private_prompt_that_is_too_long_to_be_read_is_not_kept() {
    let answer = assistant(S, "told", "2026-11-20T10:01:40Z", "The password of the vault is on the yellow note.");
    let world = between((over_long("<private>my passwords: ") + &answer).as_bytes());
    world.digest(&EXTRACT);
    assert_eq!(questions(&world), numbered([1, 2]));
    assert!(!world.recall(["export"]).out.contains("yellow note"), "the answer to a private prompt is kept");
    assert!(!world.recall(["show", S, "--raw"]).out.contains("yellow note"), "the answer to a private prompt is shown");

    let open = between((over_long("my notes: ") + &answer).as_bytes());
    open.digest(&EXTRACT);
    assert!(open.recall(["export"]).out.contains("yellow note"), "an answer that is not private is lost");
}

#[test]
fn a_line_too_long_to_be_read_that_never_ends_is_told_and_read_past_once_it_has_ended() {
    let world = World::new();
    let file = world.transcript(&format!("-p/{S}.jsonl"), conversation(S, 2));
    let mut open = fs::File::options().append(true).open(&file).unwrap();
    let start = open.seek(SeekFrom::End(17 << 20)).unwrap();
    open.set_len(start).unwrap();
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert!(ran.code == 1 && ran.err.contains("longer than 16 MiB"), "{ran:#?}");
    let again = world.recall(["digest", "--summarizer", "extract"]);
    assert_eq!((again.code, again.err.as_str()), (0, ""), "a second run says nothing new");
    open.write_all(format!("\n{}", asked(S, 2)).as_bytes()).unwrap();
    world.digest(&["--ingest-only"]);
    assert_eq!(questions(&world), numbered(0..3));
    assert_eq!(world.status()["bad_lines"], 1);
}

#[test]
fn a_mark_of_the_byte_order_and_other_ends_of_lines_change_nothing() {
    let plain = World::new();
    plain.transcript(&format!("-p/{S}.jsonl"), conversation(S, 3));
    plain.digest(&EXTRACT);
    for (about, text) in [
        ("CRLF", conversation(S, 3).replace('\n', "\r\n")),
        ("a BOM", format!("\u{feff}{}", conversation(S, 3))),
        ("a BOM on every line", conversation(S, 3).lines().map(|l| format!("\u{feff}{l}\n")).collect()),
        ("spaces and empty lines", conversation(S, 3).lines().map(|l| format!("\n \t {l}  \n\n")).collect()),
    ] {
        let world = World::new();
        world.transcript(&format!("-p/{S}.jsonl"), text);
        assert_eq!(world.digest(&EXTRACT)["rows_bad"], 0, "{about}");
        assert_eq!(world.pages(), plain.pages(), "{about}");
    }
}

#[test]
fn rows_of_one_uuid_that_say_different_things_are_not_doubled_by_reading_again() {
    let world = World::new();
    let rows = user(S, "same", "2026-11-20T10:00:00Z", "the first of the name")
        + &user(S, "same", "2026-11-20T10:00:01Z", "the second of the name")
        + &asked(S, 1);
    let file = world.transcript(&format!("-p/{S}.jsonl"), &rows);
    world.digest(&EXTRACT);
    let before = world.exported();
    fs::remove_file(&file).unwrap();
    world.transcript(&format!("-p/{S}.jsonl"), format!("no row\n{rows}"));
    world.digest(&EXTRACT);
    assert_eq!(
        world.texts(S, "prompt").len(),
        before[0]["sources"][0]["rows"].as_array().unwrap().iter().filter(|r| r["item"]["kind"] == "prompt").count()
    );
}
