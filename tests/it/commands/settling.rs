//! When a session is quiet enough for a digest, and what a mark of its end adds.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::support::{NOW, World, age, assistant, user};

const S: &str = "55551111-aaaa-4aaa-8aaa-555511110000";
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

fn rows() -> String {
    user(S, "u1", "2026-11-21T11:50:00Z", "Make it faster.")
        + &assistant(S, "a1", "2026-11-21T11:51:00Z", "It is faster now, because the rates are cached.")
}

/// A world with one session that grew this long ago.
fn grown(ago: u64) -> (World, PathBuf) {
    let world = World::new();
    let file = world.transcript(&format!("-p/{S}.jsonl"), rows());
    age(&file, Duration::from_secs(ago));
    (world, file)
}

/// Leaves a mark, as a hook does, from this long ago.
fn mark(world: &World, event: &str, reason: &str, ago: i64) -> PathBuf {
    let now = NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let dir = world.data_dir().join("marks/new");
    fs::create_dir_all(&dir).unwrap();
    for place in [world.data_dir(), world.data_dir().join("marks"), dir.clone()] {
        fs::set_permissions(place, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
    let file = dir.join(format!("{event}-{ago}.json"));
    let mark =
        json!({"session": S, "transcript": "/gone.jsonl", "offset": 7, "event": event, "reason": reason, "at": now - ago * 1000});
    fs::write(&file, mark.to_string()).unwrap();
    file
}

fn counts(world: &World) -> (i64, i64) {
    let report = world.digest(&EXTRACT);
    (report["sessions_digested"].as_i64().unwrap(), report["sessions_waiting"].as_i64().unwrap())
}

fn session_page(world: &World) -> String {
    world.pages().into_iter().find(|(name, _)| name.contains("/sessions/")).expect("a session page").1
}

#[test]
fn a_session_that_grew_just_now_waits_and_says_so() {
    let (world, file) = grown(0);
    assert_eq!(counts(&world), (0, 1));
    assert_eq!(world.status()["waiting_reasons"], json!([{"why": "not settled yet", "sessions": 1}]));
    let shown = world.recall(["status"]).out;
    assert!(shown.contains("waiting     1 session for a digest\n            1: not settled yet\n"), "{shown}");
    assert!(!shown.contains("skipped"), "{shown}");
    assert_eq!(world.texts(S, "prompt"), ["Make it faster."], "it is stored all the same");

    // Ten minutes later nothing has changed but the clock.
    let later = world.recall_with(["digest", "--summarizer", "extract", "--json"], &[("RECALL_NOW", "2026-11-21T12:10:00Z")]);
    assert!(later.code == 0 && later.out.contains("\"sessions_digested\":1"), "{later:#?}");
    assert!(later.out.contains("\"bytes_read\":0"), "{later:#?}");
    assert!(file.exists());
}

#[test]
fn ten_quiet_minutes_settle_a_session() {
    assert_eq!(counts(&grown(599).0), (0, 1));
    assert_eq!(counts(&grown(600).0), (1, 0));
}

#[test]
fn the_quiet_time_can_be_chosen() {
    let (world, _) = grown(120);
    assert_eq!(world.digest(&["--summarizer", "extract", "--settle", "3m"])["sessions_digested"], 0);
    assert_eq!(world.digest(&["--summarizer", "extract", "--settle", "2m"])["sessions_digested"], 1);
    let (configured, _) = grown(120);
    configured.configure("[digest]\nsettle_minutes = 2\n");
    assert_eq!(counts(&configured), (1, 0));
}

#[test]
fn a_marked_end_settles_a_session_after_half_a_minute() {
    let (early, _) = grown(29);
    mark(&early, "session-end", "logout", 29);
    assert_eq!(counts(&early), (0, 1));

    let (world, _) = grown(30);
    let file = mark(&world, "session-end", "prompt_input_exit", 30);
    assert_eq!(counts(&world), (1, 0));
    assert!(session_page(&world).contains("\nended_by: \"prompt_input_exit\"\n"), "{}", session_page(&world));
    assert!(!file.exists(), "a mark is used up");
    assert_eq!(world.status()["marks_waiting"], 0);
}

#[test]
fn a_mark_is_remembered_until_the_session_has_settled() {
    let (world, _) = grown(10);
    mark(&world, "session-end", "clear", 10);
    assert_eq!(counts(&world), (0, 1));
    let later = world.recall_with(["digest", "--summarizer", "extract", "--json"], &[("RECALL_NOW", "2026-11-21T12:00:21Z")]);
    assert!(later.out.contains("\"sessions_digested\":1"), "{later:#?}");
    assert!(session_page(&world).contains("ended_by: \"clear\""));
}

#[test]
fn a_mark_that_comes_before_its_session_was_ever_read_counts() {
    let world = World::new();
    mark(&world, "session-end", "other", 40);
    let file = world.transcript(&format!("-p/{S}.jsonl"), rows());
    age(&file, Duration::from_secs(40));
    assert_eq!(counts(&world), (1, 0));
}

#[test]
fn a_session_that_goes_on_after_its_end_is_not_at_its_end() {
    let (world, _) = grown(60);
    mark(&world, "session-end", "logout", 300);
    assert_eq!(counts(&world), (0, 1));
}

#[test]
fn a_mark_of_a_compaction_ends_nothing() {
    let (world, _) = grown(60);
    let file = mark(&world, "pre-compact", "auto", 60);
    // What is digested is the session so far.
    assert_eq!(counts(&world), (1, 0));
    assert_eq!(world.show(S)["interim"], true);
    assert!(!file.exists());
}

#[test]
fn marks_that_make_no_sense_are_no_hindrance() {
    let (world, _) = grown(700);
    let sane = mark(&world, "session-end", "logout\n---\nx: y", 700);
    let dir = sane.parent().unwrap();
    fs::write(dir.join("half.json"), "{\"session\":").unwrap();
    fs::write(dir.join("empty.json"), "").unwrap();
    fs::write(
        dir.join("other.json"),
        json!({"session": "nobody's", "transcript": "", "offset": 0, "event": "session-end", "at": -5}).to_string(),
    )
    .unwrap();
    assert_eq!(counts(&world), (1, 0));
    assert_eq!(fs::read_dir(dir).unwrap().count(), 0, "they do not pile up");
    let front: Vec<String> = session_page(&world).lines().take_while(|l| !l.starts_with("# ")).map(str::to_owned).collect();
    assert_eq!(front.iter().filter(|l| *l == "---").count(), 2, "{front:#?}");
}

#[test]
fn a_dry_run_heeds_marks_and_leaves_them() {
    let (world, _) = grown(60);
    let file = mark(&world, "session-end", "logout", 60);
    let ran = world.recall(["digest", "--dry-run", "--summarizer", "extract"]);
    assert!(ran.out.contains("would digest    1 session:"), "{ran:#?}");
    assert!(file.exists());
}

fn append(file: &Path, text: &str, ago: u64) {
    let before = fs::read_to_string(file).unwrap();
    fs::write(file, before + text).unwrap();
    age(file, Duration::from_secs(ago));
}

#[test]
fn growth_after_a_digest_queues_the_session_again() {
    let (world, file) = grown(3600);
    assert_eq!(counts(&world), (1, 0));
    append(&file, &user(S, "u2", "2026-11-21T11:59:00Z", "And the export?"), 60);
    assert_eq!(counts(&world), (0, 1), "it has to settle again");
    assert!(!session_page(&world).contains("And the export?"));
    age(&file, Duration::from_secs(0));
    let later = world.recall_with(["digest", "--summarizer", "extract"], &[("RECALL_NOW", "2026-11-21T12:10:00Z")]);
    assert_eq!(later.code, 0, "{later:#?}");
    assert!(session_page(&world).contains("And the export?"), "{}", session_page(&world));
}
