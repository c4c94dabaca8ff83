//! Digests of sessions that go on: after half an hour of work or at a compaction, without a model, and without a trace afterwards.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::support::{NOW, Ran, World, age, assistant, user};
use proptest::prelude::*;
use serde_json::json;

const S: &str = "abcd0000-1111-4111-8111-000000000001";
const EARLIER: &str = "abcd1111-1111-4111-8111-000000000002";
const EXTRACT: &[&str] = &["--summarizer", "extract"];
const CLAUDE: &[&str] = &["--summarizer", "claude"];

/// Minutes after ten, as a time.
fn at(minute: u32) -> String {
    format!("2026-11-20T{:02}:{:02}:00Z", 10 + minute / 60, minute % 60)
}

/// A row of the session, one every few minutes.
fn row(minute: u32) -> String {
    let id = format!("00000000-0000-4000-8000-000000000{minute:03}");
    match minute % 2 {
        0 => user(S, &id, &at(minute), &format!("Step {minute}: make the importer faster still.")),
        _ => {
            let text = format!(
                "I changed the cache of step {minute}; the test of the importer passes.\n\nNext steps:\n- Measure step {}\n",
                minute + 2
            );
            assistant(S, &id, &at(minute), &text)
        }
    }
}

fn rows(minutes: &[u32]) -> String {
    minutes.iter().map(|m| row(*m)).collect()
}

/// A session before this one, in the same project, that left something open.
fn earlier() -> String {
    user(EARLIER, "e1", "2026-11-20T08:00:00Z", "Why is the importer slow?")
        + &assistant(
            EARLIER,
            "e2",
            "2026-11-20T08:05:00Z",
            "The rates are read for every row.\n\nNext steps:\n- Change the cache of the importer\n",
        )
}

fn path() -> String {
    format!("-home-dev-src-shop/{S}.jsonl")
}

/// The transcript as it stands after these rows.
fn write(world: &World, minutes: &[u32]) -> PathBuf {
    let last = |file: &PathBuf, at: &str| {
        let ago = NOW.parse::<jiff::Timestamp>().unwrap().as_second() - at.parse::<jiff::Timestamp>().unwrap().as_second();
        age(file, Duration::from_secs(ago as u64));
    };
    last(&world.transcript(&format!("-home-dev-src-shop/{EARLIER}.jsonl"), earlier()), "2026-11-20T08:05:00Z");
    let file = world.transcript(&path(), rows(minutes));
    last(&file, &at(*minutes.last().expect("a row")));
    file
}

fn run(world: &World, minute: u32, arguments: &[&str]) -> Ran {
    world.recall_with(arguments, &[("RECALL_NOW", &at(minute))])
}

/// How many digests a run at that minute makes.
fn digest(world: &World, minute: u32, arguments: &[&str]) -> i64 {
    let ran = run(world, minute, &[&["digest", "--json"], arguments].concat());
    assert!(ran.code < 2, "{ran:#?}");
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    report["sessions_digested"].as_i64().expect("a number")
}

/// The mark of a compaction, as the hook leaves it.
fn compact(world: &World, minute: u32) {
    let payload = json!({
        "session_id": S, "transcript_path": world.claude_dir().join("projects").join(path()), "cwd": "/home/dev/src/shop",
        "hook_event_name": "PreCompact", "trigger": "auto",
    });
    let mut command = world.process();
    command.args(["hook", "pre-compact"]).env("RECALL_NOW", at(minute));
    let ran = crate::support::fed(command, payload.to_string().as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:#?}");
}

fn page(world: &World) -> String {
    world.pages().into_iter().find(|(path, _)| path.contains("-abcd0000.md")).map(|(_, page)| page).unwrap_or_default()
}

const HALF_AN_HOUR: [u32; 7] = [0, 5, 10, 15, 20, 25, 31];

#[test]
fn half_an_hour_of_work_gets_a_digest_so_far() {
    let world = World::new();
    write(&world, &HALF_AN_HOUR[..6]);
    assert_eq!(digest(&world, 27, EXTRACT), 1, "the earlier session");
    assert_eq!(page(&world), "");
    write(&world, &HALF_AN_HOUR);
    assert_eq!(digest(&world, 32, EXTRACT), 1);
    let shown = world.show(S);
    assert_eq!(
        (&shown["interim"], &shown["summarizer"], &shown["waits_for_model"]),
        (&true.into(), &"extract".into(), &false.into())
    );
    assert!(page(&world).contains("\ninterim: true\n") && page(&world).contains("*So far: the session went on after 11:31.*"));
    let pages = world.pages();
    let (_, day) = pages.iter().find(|(path, _)| !path.contains("/sessions/")).unwrap();
    assert!(day.contains("11:00–11:31 so far, it goes on · "), "{day}");
    let context = run(&world, 33, &["context", "--cwd", "/home/dev/src/shop"]);
    assert!(context.out.contains("(2026-11-20 11:31, abcd0000, branch main, so far)"), "{context:#?}");
    assert!(run(&world, 33, &["search", "importer"]).out.contains("abcd0000"));
    let status = world.status();
    assert_eq!((&status["digests"], &status["interim_digests"], &status["waiting_for_digest"]), (&2.into(), &1.into(), &1.into()));
    assert!(world.recall(["status"]).out.contains("1 of them cover only the first part, because the session is still running"));
    assert_eq!(world.show(EARLIER)["interim"], false);
    // Not again before there is as much work again.
    assert_eq!(digest(&world, 34, EXTRACT), 0);
    write(&world, &[0, 5, 10, 15, 20, 25, 31, 36]);
    assert_eq!(digest(&world, 37, EXTRACT), 0);
    assert_eq!(world.show(S)["interim"], true);
}

#[test]
fn a_pause_is_no_work() {
    let world = World::new();
    write(&world, &[0, 50, 100, 110]);
    assert_eq!(digest(&world, 111, EXTRACT), 1, "the earlier session");
    assert_eq!(page(&world), "");
}

#[test]
fn the_final_digest_comes_when_the_session_settles_and_nothing_shows_that_there_were_others() {
    let never = World::new();
    write(&never, &HALF_AN_HOUR);
    assert_eq!(digest(&never, 60, EXTRACT), 2);
    let world = World::new();
    write(&world, &HALF_AN_HOUR);
    assert_eq!(digest(&world, 32, EXTRACT), 2);
    assert_ne!(world.pages(), never.pages());
    let so_far = world.show(S)["digest_id"].as_str().unwrap().to_owned();
    // Nothing was added meanwhile.
    assert_eq!(digest(&world, 60, EXTRACT), 1);
    assert_eq!(world.pages(), never.pages());
    assert_eq!(world.show(S)["interim"], false);
    assert_eq!(world.count("SELECT count(*) FROM digest"), 2);
    assert_eq!(world.status()["waiting_for_digest"], 0);
    assert_eq!(world.show(&so_far)["session"], S, "who has the id of an earlier digest still finds the session");
    assert_eq!(digest(&world, 61, EXTRACT), 0);
}

#[test]
fn a_compaction_gets_a_digest_so_far_and_settles_nothing() {
    let world = World::new();
    write(&world, &[0, 1]);
    compact(&world, 2);
    // Long enough for a session that has ended.
    assert_eq!(digest(&world, 3, EXTRACT), 2);
    assert_eq!(world.show(S)["interim"], true);
    assert_eq!(world.count("SELECT count(*) FROM session WHERE ended_at IS NOT NULL"), 0);
    assert_eq!(digest(&world, 4, EXTRACT), 0, "once");
    // With nothing new there is nothing new to tell.
    compact(&world, 5);
    assert_eq!(digest(&world, 6, EXTRACT), 0);
    write(&world, &[0, 1, 7]);
    assert_eq!(digest(&world, 8, EXTRACT), 1);
    assert_eq!(digest(&world, 9, EXTRACT), 0);
    assert_eq!(world.show(S)["interim"], true);
    assert_eq!(digest(&world, 17, EXTRACT), 1);
    assert_eq!(world.show(S)["interim"], false);
}

#[test]
fn a_compaction_that_was_marked_before_anything_was_read_is_heeded() {
    let world = World::new();
    write(&world, &[0, 1]);
    compact(&world, 2);
    let ran = run(&world, 2, &["digest", "--ingest-only"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(digest(&world, 3, EXTRACT), 2);
    assert_eq!(world.show(S)["interim"], true);
}

/// A stand-in for the model that notes each call.
fn model(world: &World) {
    let reply = r#"{\"title\":\"By the model\",\"request\":\"r\",\"completed\":[\"Done\"]}"#;
    let answer = format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{reply}","total_cost_usd":0.001}}"#);
    world.fake_claude(&format!("#!/bin/sh\ncat > /dev/null\necho call >> \"$0.calls\"\ncat <<'REPLY'\n{answer}\nREPLY\n"));
}

fn calls(world: &World) -> usize {
    fs::read_to_string(world.bin().join("claude.calls")).unwrap_or_default().lines().count()
}

#[test]
fn the_model_is_asked_for_the_final_digest_alone() {
    let world = World::new();
    model(&world);
    write(&world, &HALF_AN_HOUR);
    assert_eq!(digest(&world, 32, CLAUDE), 2);
    assert_eq!((calls(&world), &world.show(S)["summarizer"]), (1, &"extract".into()));
    assert_eq!(digest(&world, 60, CLAUDE), 1);
    assert_eq!((calls(&world), &world.show(S)["summarizer"]), (2, &"claude".into()));
    assert_eq!(world.count("SELECT count(*) FROM digest"), 2);
    // Resumed: what was paid for stays until there is something new to tell.
    compact(&world, 70);
    write(&world, &HALF_AN_HOUR);
    assert_eq!(digest(&world, 71, CLAUDE), 0);
    assert_eq!(world.show(S)["summarizer"], "claude");
    let longer: Vec<u32> = HALF_AN_HOUR.into_iter().chain([72]).collect();
    write(&world, &longer);
    assert_eq!(digest(&world, 73, CLAUDE), 1);
    assert_eq!((calls(&world), &world.show(S)["interim"]), (2, &true.into()));
    assert_eq!(digest(&world, 90, CLAUDE), 1);
    assert_eq!((calls(&world), &world.show(S)["summarizer"]), (3, &"claude".into()));
}

#[test]
fn a_rehearsal_names_it_and_an_export_keeps_it() {
    let world = World::new();
    write(&world, &HALF_AN_HOUR);
    let rehearsed = run(&world, 32, &["digest", "--dry-run", "--json"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&rehearsed.out).unwrap()["interim"], json!([S]), "{rehearsed:#?}");
    assert!(run(&world, 32, &["digest", "--dry-run"]).out.contains("so far  abcd0000"));
    digest(&world, 32, EXTRACT);
    let other = World::new();
    fs::write(other.root().join("all.jsonl"), world.recall(["export"]).out).unwrap();
    assert_eq!(other.recall(["import", "all.jsonl"]).code, 0);
    assert_eq!(other.show(S)["interim"], true);
    assert_eq!(digest(&other, 60, EXTRACT), 1);
    assert_eq!(other.show(S)["interim"], false);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, max_shrink_iters: 12, ..ProptestConfig::default() })]

    #[test]
    fn whenever_digests_run_and_the_client_compacts_the_pages_end_the_same(
        gaps in prop::collection::vec(1u32..14, 6..20),
        runs in prop::collection::vec((1u32..9, any::<bool>()), 4..14),
        with_model in any::<bool>(),
    ) {
        let minutes: Vec<u32> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
        let arguments = if with_model { CLAUDE } else { EXTRACT };
        let end = minutes[minutes.len() - 1] + 30;
        let once = World::new();
        model(&once);
        write(&once, &minutes);
        digest(&once, end, arguments);
        let world = World::new();
        model(&world);
        let mut now = 0;
        for (wait, compacts) in runs {
            now += wait;
            let there: Vec<u32> = minutes.iter().copied().filter(|m| *m <= now).collect();
            if there.is_empty() {
                continue;
            }
            write(&world, &there);
            if compacts {
                compact(&world, now);
            }
            digest(&world, now, arguments);
        }
        write(&world, &minutes);
        digest(&world, end.max(now), arguments);
        prop_assert_eq!(world.pages(), once.pages());
        prop_assert_eq!(world.count("SELECT count(*) FROM digest WHERE interim_until IS NOT NULL"), 0);
    }
}
