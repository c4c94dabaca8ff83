//! Lines that are not what they should be cost themselves and nothing else.

use serde_json::json;

use crate::support::{World, assistant, user};

const S: &str = "22222222-aaaa-4aaa-8aaa-222222222222";

fn before() -> String {
    user(S, "u1", "2026-11-20T10:00:00Z", "the neighbour before")
}

fn after() -> String {
    assistant(S, "a1", "2026-11-20T10:00:05Z", "The neighbour after.")
        + &user(S, "u2", "2026-11-20T10:00:06Z", "the neighbour after that")
}

/// A world with one transcript: a good row, these bytes, two good rows.
fn between(middle: &[u8]) -> World {
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), [before().as_bytes(), middle, after().as_bytes()].concat());
    world
}

fn assert_neighbours_are_kept(world: &World, about: &str) {
    let prompts = world.texts(S, "prompt");
    assert!(prompts.iter().any(|p| p == "the neighbour before"), "{about}: {prompts:?}");
    assert!(prompts.iter().any(|p| p == "the neighbour after that"), "{about}: {prompts:?}");
    assert_eq!(world.texts(S, "reply"), ["The neighbour after."], "{about}");
}

#[test]
fn corrupt_lines_are_counted_and_located() {
    let world = between(b"{\"type\":\"user\",\"mess\n[1,2]\n\"text\"\nplain words\n");
    let ran = world.recall(["digest", "--ingest-only", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &report["rows_bad"], &report["rows_new"]), (1, &4.into(), &3.into()), "{ran:#?}");
    assert_neighbours_are_kept(&world, "corrupt");

    let status = world.status();
    let first = before().len() as u64;
    let second = first + "{\"type\":\"user\",\"mess\n".len() as u64;
    assert_eq!(status["bad_lines"], 4, "{status:#}");
    assert_eq!(status["bad_lines_at"][0]["offset"], first);
    assert_eq!(status["bad_lines_at"][1]["offset"], second);
    assert_eq!(status["bad_lines_at"][1]["why"], "not an object");
    assert!(status["bad_lines_at"][0]["path"].as_str().unwrap().ends_with(&format!("{S}.jsonl")));
    let told: Vec<&str> = ran.err.lines().filter(|line| line.contains("skipped")).collect();
    assert!(told.len() == 1 && told[0].ends_with(&format!("4 lines skipped; the first, at byte {first}, is not JSON")), "{ran:#?}");
}

#[test]
fn bad_lines_are_no_news_to_the_next_run() {
    let world = between(b"plain words\n");
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert!(ran.code == 1 && ran.err.contains(&format!("the line at byte {} is not JSON, skipped", before().len())), "{ran:#?}");
    let again = world.recall(["digest", "--summarizer", "extract", "--json"]);
    assert_eq!(again.code, 0, "{again:#?}");
    assert_eq!(world.status()["bad_lines"], 1);
}

#[test]
fn a_line_over_sixteen_mebibytes_is_skipped_and_the_rows_after_it_are_read() {
    // The second is only just too long, and ends in the middle of what one read brings.
    for length in [40 << 20, (16 << 20) + 100] {
        let long = json!({"type": "user", "uuid": "big", "sessionId": S, "timestamp": "2026-11-20T10:00:01Z", "message": {"role": "user", "content": "x".repeat(length)}});
        let world = between(format!("{long}\n").as_bytes());
        let ran = world.recall(["digest", "--ingest-only", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.code, &report["rows_bad"]), (1, &1.into()), "a line of {length} bytes: {ran:#?}");
        assert_neighbours_are_kept(&world, "over-long");
        let at = &world.status()["bad_lines_at"][0];
        assert_eq!(at["offset"], before().len(), "{at}");
        assert!(at["why"].as_str().unwrap().contains("16 MiB"), "{at}");
    }
}

#[test]
fn a_line_just_below_the_limit_is_read() {
    let long = json!({"type": "user", "uuid": "big", "sessionId": S, "timestamp": "2026-11-20T10:00:01Z", "message": {"role": "user", "content": "x".repeat((16 << 20) - 1000)}});
    let world = between(format!("{long}\n").as_bytes());
    let report = world.digest(&["--ingest-only"]);
    assert_eq!((&report["rows_bad"], &report["rows_new"]), (&0.into(), &4.into()), "{report}");
}

#[test]
fn unknown_types_of_rows_are_counted_by_name() {
    let world = between(
        b"{\"type\":\"hologram\"}\n{\"type\":\"hologram\",\"x\":1}\n{\"type\":\"smell\"}\n{\"no\":\"type\"}\n{\"type\":7}\n",
    );
    let ran = world.recall(["digest", "--ingest-only", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &report["rows_unknown"], &report["rows_bad"]), (0, &5.into(), &0.into()), "{ran:#?}");
    assert_eq!(world.status()["unknown_rows"], json!({"hologram": 2, "smell": 1, "(no type)": 2}));
    assert_neighbours_are_kept(&world, "unknown");
}

#[test]
fn the_types_the_client_writes_are_all_known() {
    let world = World::with_fixtures(&["plain", "fork", "compact", "clear", "subagent", "hooks", "retry"]);
    let report = world.digest(&["--ingest-only"]);
    assert_eq!((&report["rows_unknown"], &report["rows_bad"]), (&0.into(), &0.into()), "{report}");
}

#[test]
fn hostile_lines_never_stop_the_run_and_keep_their_neighbours() {
    let deep = format!(
        "{{\"type\":\"user\",\"uuid\":\"d\",\"sessionId\":\"{S}\",\"message\":{}1{}}}\n",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let deep_objects = format!("{{\"type\":\"user\",\"message\":{}1{}}}\n", "{\"content\":".repeat(10_000), "}".repeat(10_000));
    let unclosed = format!("{}\n", "[".repeat(100_000));
    let lines: Vec<(&str, Vec<u8>)> = vec![
        ("NUL bytes", b"\0\0\0\0\n".to_vec()),
        ("NUL in a row", b"{\"type\":\"user\",\"message\":{\"content\":\"a\0b\"}}\n".to_vec()),
        ("bytes that are no UTF-8", b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\xfe\"}}\n".to_vec()),
        ("10,000 levels of arrays", deep.into_bytes()),
        ("10,000 levels of objects", deep_objects.into_bytes()),
        ("100,000 open brackets", unclosed.into_bytes()),
        ("empty lines", b"\n\n  \n\r\n".to_vec()),
        ("everything of the wrong type", b"{\"type\":\"assistant\",\"uuid\":[],\"sessionId\":{},\"timestamp\":[1],\"cwd\":4,\"message\":{\"content\":{\"a\":1},\"usage\":[],\"model\":3,\"id\":{}}}\n".to_vec()),
        ("numbers out of range", b"{\"type\":\"user\",\"timestamp\":1e400,\"message\":{\"content\":\"\"}}\n{\"type\":\"queue-operation\",\"timestamp\":99999999999999999999}\n".to_vec()),
        ("a date out of range", b"{\"type\":\"queue-operation\",\"timestamp\":9223372036854775807}\n{\"type\":\"user\",\"timestamp\":\"+999999-01-01T00:00:00Z\",\"message\":{\"content\":\"\"}}\n".to_vec()),
    ];
    for (about, line) in lines {
        let world = between(&line);
        let ran = world.recall(["digest", "--summarizer", "extract"]);
        assert!(ran.code < 2 && !ran.err.contains("panicked"), "{about}: {ran:#?}");
        assert_neighbours_are_kept(&world, about);
        assert!(!world.pages().is_empty(), "{about}: {ran:#?}");
    }
}

#[test]
fn rows_of_unusual_form_are_still_rows() {
    let row = |fields: &str| format!("{{\"type\":\"user\",\"sessionId\":\"{S}\",{fields}}}\n");
    let cases = [
        (
            "a duplicate key: the last counts",
            row(r#""uuid":"x","message":{"content":"first"},"message":{"content":"wanted"},"timestamp":"2026-11-20T10:00:01Z""#),
            "wanted",
        ),
        ("seconds since the epoch", row(r#""uuid":"x","timestamp":1795000000,"message":{"content":"wanted"}"#), "wanted"),
        ("milliseconds since the epoch", row(r#""uuid":"x","timestamp":1795000000000,"message":{"content":"wanted"}"#), "wanted"),
        (
            "a lone surrogate",
            row(r#""uuid":"x","timestamp":"2026-11-20T10:00:01Z","message":{"content":"wan\ud800ted"}"#),
            "wan\u{fffd}ted",
        ),
        (
            "a CR before the newline",
            row(r#""uuid":"x","timestamp":"2026-11-20T10:00:01Z","message":{"content":"wanted"}"#).replace('\n', "\r\n"),
            "wanted",
        ),
        ("no uuid", row(r#""timestamp":"2026-11-20T10:00:01Z","message":{"content":[{"type":"text","text":"wanted"}]}"#), "wanted"),
    ];
    for (about, line, expected) in cases {
        let world = between(line.as_bytes());
        let report = world.digest(&["--summarizer", "extract"]);
        assert_eq!(report["rows_bad"], 0, "{about}: {report}");
        assert!(world.texts(S, "prompt").iter().any(|p| p == expected), "{about}: {:?}", world.texts(S, "prompt"));
        assert_neighbours_are_kept(&world, about);
    }
}

#[test]
fn a_byte_order_mark_at_the_start_is_no_part_of_the_first_row() {
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), format!("\u{feff}{}{}", before(), after()));
    let report = world.digest(&["--ingest-only"]);
    assert_eq!((&report["rows_bad"], &report["rows_new"]), (&0.into(), &3.into()), "{report}");
    assert_neighbours_are_kept(&world, "BOM");
}
