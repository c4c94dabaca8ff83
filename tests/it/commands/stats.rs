//! `recall stats`: what was done and what it cost, each message on the day on which it was written, each counted once.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::answers::on_terminal;
use crate::support::rows::{Rows, bash, put};
use crate::support::{World, age, committed, user};

const NIGHT: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const LATER: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const OPUS: &str = "claude-opus-4-5-20251101";
const HAIKU: &str = "claude-haiku-4-5-20251001";

fn said(session: &str, n: usize, at: &str, model: &str, [input, output, written, read]: [u64; 4]) -> String {
    let usage = json!({"input_tokens": input, "output_tokens": output, "cache_creation_input_tokens": written, "cache_read_input_tokens": read});
    let row = json!({
        "type": "assistant", "uuid": format!("{}-{n:012}", &session[..23]), "sessionId": session, "timestamp": at, "requestId": format!("req_{n}"),
        "cwd": "/home/dev/src/shop", "version": "2.1.197", "gitBranch": "main", "message": {"id": format!("msg_{n}"), "type": "message",
        "role": "assistant", "model": model, "content": [{"type": "text", "text": format!("Step {n} is done, on to the next one.")}], "usage": usage},
    });
    format!("{row}\n")
}

fn uuid(session: &str, n: usize) -> String {
    format!("{}-{n:012}", &session[..23])
}

/// A session over midnight in Berlin, and one a week later that began as a copy of it.
fn world() -> World {
    let world = World::new();
    let night = [
        user(NIGHT, &uuid(NIGHT, 100), "2026-11-10T22:50:00Z", "Page the order list by key."),
        said(NIGHT, 1, "2026-11-10T22:51:00Z", OPUS, [10, 1_000, 2_000, 30_000]),
        // The same message, told once more as it grew.
        said(NIGHT, 2, "2026-11-10T22:52:00Z", OPUS, [1, 1, 0, 0]).replace("msg_2", "msg_1"),
        said(NIGHT, 3, "2026-11-10T23:05:00Z", HAIKU, [5, 400, 0, 50_000]),
        committed(NIGHT, "aaaaaaaa-0000-4000-8000-00000000030", "2026-11-10T23:06:00Z", "Page by key"),
    ];
    world.transcript(&format!("-home-dev-src-shop/{NIGHT}.jsonl"), night.concat());
    let later = [
        user(LATER, &uuid(LATER, 100), "2026-11-18T10:00:00Z", "Count the invoices as well."),
        said(LATER, 1, "2026-11-10T22:51:00Z", OPUS, [10, 1_000, 2_000, 30_000]),
        said(LATER, 9, "2026-11-18T10:01:00Z", HAIKU, [7, 70, 700, 7_000]),
        said(LATER, 10, "2026-11-18T10:02:00Z", "no-such-model", [1, 2, 3, 4]),
    ];
    world.transcript(&format!("-home-dev-src-shop/{LATER}.jsonl"), later.concat());
    world.digest(&["--summarizer", "extract"]);
    world
}

fn stats(world: &World, args: &[&str]) -> Value {
    let ran = world.recall([&["stats", "--json", "--since", "2026-11-01"], args].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
}

/// Name, sessions, and the tokens of each row.
fn rows(stats: &Value) -> Vec<(String, u64, [u64; 4])> {
    let number = |row: &Value, name: &str| row[name].as_u64().expect("a number");
    let row = |row: &Value| {
        let tokens = ["input", "output", "cache_write", "cache_read"].map(|name| number(row, name));
        (row["name"].as_str().expect("a name").to_owned(), number(row, "sessions"), tokens)
    };
    stats["rows"].as_array().expect("rows").iter().map(row).collect()
}

#[test]
fn a_message_counts_once_and_on_its_own_day() {
    let world = world();
    let by_day = stats(&world, &[]);
    assert_eq!(
        rows(&by_day),
        [
            ("2026-11-10".into(), 1, [10, 1_000, 2_000, 30_000]),
            ("2026-11-11".into(), 1, [5, 400, 0, 50_000]),
            ("2026-11-18".into(), 1, [8, 72, 703, 7_004]),
        ]
    );
    // 5 and 25 dollars for a million tokens, 6.25 to write and 0.5 to read.
    let first = (10.0 * 5.0 + 1_000.0 * 25.0 + 2_000.0 * 6.25 + 30_000.0 * 0.5) / 1e6;
    let told = by_day["rows"][0]["cost_usd"].as_f64().expect("a cost");
    assert!((told - first).abs() < 1e-9, "{told} is not {first}");
    assert_eq!(by_day["rows"][2]["unpriced"], json!(["no-such-model"]));
    assert_eq!(
        (&by_day["total"]["sessions"], &by_day["total"]["turns"], &by_day["total"]["commits"]),
        (&json!(2), &json!(2), &json!(1))
    );
    let parts: f64 = by_day["rows"].as_array().expect("rows").iter().map(|row| row["cost_usd"].as_f64().expect("a cost")).sum();
    assert!((parts - by_day["total"]["cost_usd"].as_f64().expect("a cost")).abs() < 1e-9, "{by_day:#}");
}

#[test]
fn figures_are_grouped_by_what_was_asked() {
    let world = world();
    let names = |by: &str| -> Vec<String> { rows(&stats(&world, &["--by", by])).into_iter().map(|(name, ..)| name).collect() };
    assert_eq!(names("week"), ["2026-W46", "2026-W47"]);
    assert_eq!(names("month"), ["2026-11"]);
    assert_eq!(names("project"), ["/home/dev/src/shop"]);
    assert_eq!(names("branch"), ["shop main"]);
    assert_eq!(names("pr"), ["(no pull request)"]);
    assert_eq!(names("model"), [OPUS, HAIKU, "no-such-model"]);
    let since = world.recall(["stats", "--json", "--since", "2026-11-11", "--by", "model"]);
    let since: Value = serde_json::from_str(&since.out).expect("JSON");
    assert_eq!(rows(&since).iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>(), [HAIKU, "no-such-model"]);
    assert_eq!(rows(&stats(&world, &["--project", "elsewhere"])), []);
}

/// What an index of an older program does not tell is counted where its session was active last.
#[test]
fn tokens_without_a_time_count_where_their_session_ended() {
    let world = world();
    let exported = world.recall(["export"]).out;
    let imported = |text: &str| {
        let world = World::new();
        let file = world.root().join("exported.jsonl");
        std::fs::write(&file, text).expect("an export");
        let ran = world.recall(["import", file.to_str().expect("a path")]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        world
    };
    let other = imported(&without_minutes(&exported));
    let used = rows(&stats(&other, &[])).into_iter().filter(|(.., tokens)| tokens.iter().any(|count| *count > 0));
    let days: Vec<String> = used.map(|(name, ..)| name).collect();
    assert_eq!(days, ["2026-11-11", "2026-11-18"]);
    assert_eq!(rows(&stats(&imported(&exported), &[])), rows(&stats(&world, &[])));
}

/// An export without the minutes of messages.
fn without_minutes(exported: &str) -> String {
    let mut lines = Vec::new();
    for line in exported.lines() {
        let mut value: Value = serde_json::from_str(line).expect("JSON");
        if let Some(usage) = value["usage"].as_array_mut() {
            usage.iter_mut().for_each(|one| drop(one.as_object_mut().expect("usage").remove("minute")));
        }
        lines.push(format!("{value}\n"));
    }
    lines.concat()
}

#[test]
fn a_terminal_shows_a_table_with_bars_that_fits() {
    let world = world();
    for (columns, has_bars) in [(80, true), (120, true), (66, false)] {
        let lines = on_terminal(&world, world.root(), (columns, 40), &[], &["stats", "--since", "2026-11-01"]);
        assert!(lines.iter().all(|line| line.chars().count() <= usize::from(columns)), "{lines:#?}");
        assert_eq!(lines.iter().any(|line| line.contains('█')), has_bars, "{lines:#?}");
    }
    let ran = world.recall(["stats", "--since", "2026-11-01"]);
    assert_eq!(
        ran.out,
        "\
since 1 Nov  sessions    turns  commits    files   tokens     cost
2026-11-10          1        1        0        0    33.0k    $0.05
2026-11-11          1        0        1        0    50.4k    $0.01
2026-11-18          1        1        0        0     7.8k  unknown
total               2        2        1        0    91.2k   >$0.06

recall itself: 0 calls to the model, $0.0000
"
    );
    assert!(ran.err.contains("unknown price for no-such-model"), "{}", ran.err);
    let cost = world.recall(["stats", "--since", "2026-11-01", "--cost", "--limit", "1"]);
    assert!(cost.out.starts_with("since 1 Nov  sessions    input   output to cache   cached     cost\n2026-11-18          1        8       72      703     7.0k"), "{}", cost.out);
    assert!(cost.err.contains("2 more: `--limit N`"), "{}", cost.err);
}

#[test]
fn what_recall_itself_spent_and_what_came_of_it_is_told() {
    let world = World::new();
    let mut rows = Rows::new(0);
    rows.user(json!("Run the checks."));
    rows.uses(1, &bash("pytest -q"));
    rows.result(1, "4 passed in 0.2s", false);
    rows.assistant("All of the checks passed, so nothing is left to do in this session.");
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let db = rusqlite::Connection::open(world.data_dir().join("recall.db")).expect("the index");
    db.execute("INSERT INTO spend(at, session, model, reserved_usd, actual_usd) SELECT 1794000000000, id, 'haiku', 0.05, 0.0123 FROM session", []).expect("spent");
    let own = &stats(&world, &[])["own"];
    assert_eq!(own, &json!({"calls": 1, "cost_usd": 0.0123}));
    assert!(world.recall(["stats", "--since", "2026-11-01"]).out.contains("recall itself: 1 call to the model, $0.0123"));
}

#[test]
fn sessions_that_wait_for_a_digest_are_named() {
    let world = World::new();
    for n in 0..2 {
        let mut rows = Rows::new(n);
        rows.user(json!("Run the checks of the shop, please."));
        rows.assistant("All of the checks of the shop passed.");
        put(&world, &rows.id, &rows.text);
        let args: &[&str] = if n == 0 { &["--summarizer", "extract"] } else { &["--ingest-only"] };
        world.digest(args);
    }
    let ran = world.recall(["stats", "--since", "2026-11-01"]);
    assert!(ran.err.contains("1 session not digested yet, counted without turns, commits and files"), "{ran:#?}");
    assert_eq!(stats(&world, &[])["undigested"], 1);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(stats(&world, &[])["undigested"], 0);
}

/// Only its tokens are known, and when its file was written says nothing of when they were used.
#[test]
fn tokens_of_no_known_time_count_on_no_day() {
    let world = World::new();
    let row = json!({"type": "assistant", "isSidechain": true, "agentId": "a1b2c3d4", "sessionId": "77777777-aaaa-4aaa-8aaa-777777777777",
        "uuid": "a1", "parentUuid": null, "timestamp": "2025-11-19T00:36:52.966Z", "cwd": "/home/dev/src/shop", "version": "2.0.44",
        "message": {"id": "msg_1", "role": "assistant", "model": "claude-haiku-4-5-20251001",
            "content": [{"type": "text", "text": "Ready."}], "usage": {"input_tokens": 2545, "output_tokens": 266}}});
    let file = world.transcript("-p/agent-a1b2c3d4.jsonl", format!("{row}\n"));
    age(&file, Duration::from_secs(3600));
    world.digest(&["--summarizer", "extract"]);
    let stats: Value =
        serde_json::from_str(&world.recall(["stats", "--by", "day", "--since", "2020-01-01", "--json"]).out).expect("JSON");
    assert_eq!(stats["rows"], json!([]), "{stats}");
}
