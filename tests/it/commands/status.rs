//! `recall status`: what is stored, what waits and why.

use serde_json::json;

use crate::support::{World, user};

fn world() -> World {
    let world = World::with_fixtures(&["plain", "retry"]);
    world.transcript(
        "-p/unanswered-session.jsonl",
        user("unanswered-session", "u1", "2026-11-20T10:00:00Z", "hello?") + "garbage\n{\"type\":\"hologram\"}\n",
    );
    world.digest(&["--summarizer", "extract"]);
    world
}

#[test]
fn status_on_a_screen() {
    let world = world();
    let ran = world.recall(["status"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    // Sizes depend on the version of SQLite.
    let steady = |line: &str| {
        if line.starts_with("index") {
            "index       [sizes] in 3 files".to_owned()
        } else if let Some((_, made)) = line.strip_prefix("copy").and_then(|rest| rest.split_once("B, ")) {
            format!("copy        [size], {made}")
        } else {
            line.replace(world.root().to_str().unwrap(), "[world]")
        }
    };
    let shown: Vec<String> = ran.out.lines().map(steady).collect();
    insta::assert_snapshot!("status", shown.join("\n"));
}

#[test]
fn status_for_programs() {
    let status = world().status();
    let expected = json!({"sessions": 3, "digests": 2, "files": 3, "waiting_for_digest": 0, "waiting_for_model": 0, "bad_lines": 1, "marks_waiting": 0, "spent_usd": 0.0, "failing": [], "unknown_rows": {"hologram": 1}});
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&status[key], value, "{key}: {status:#}");
    }
    assert_eq!(status["skipped"], json!([{"why": "nothing answered the prompt", "sessions": 1}]));
    assert_eq!(status["last_run"]["report"]["sessions_digested"], 2);
    assert!(status["database_bytes"].as_u64().unwrap() > 0 && status["transcript_bytes"].as_u64().unwrap() > 100_000);
}

#[test]
fn a_reason_goes_when_it_no_longer_holds() {
    let world = world();
    let text = user("unanswered-session", "u1", "2026-11-20T10:00:00Z", "hello?") + "garbage\n{\"type\":\"hologram\"}\n";
    let reply = crate::support::assistant("unanswered-session", "a1", "2026-11-20T10:00:05Z", "Hello. The tests pass.");
    world.transcript("-p/unanswered-session.jsonl", text + &reply);
    world.digest(&["--summarizer", "extract"]);
    let status = world.status();
    assert_eq!((&status["skipped"], &status["digests"]), (&json!([]), &3.into()), "{status:#}");
}
