//! `[retention] days`: sessions that are older are forgotten by the digest itself.

use std::fs;
use std::time::Duration;

use crate::forget::scene::{EXTRACT, WORD, path_of};
use crate::support::data_folder::assert_gone;
use crate::support::{World, age, assistant, user};

pub(super) const OLD: &str = "11111111-1111-4111-8111-000000000001";
pub(super) const NEW: &str = "22222222-1111-4111-8111-000000000002";
pub(super) const DAY: Duration = Duration::from_secs(24 * 3600);

pub(super) fn rows(session: &str, day: &str, text: &str) -> String {
    user(session, &crate::forget::scene::id(&format!("{}1", &session[..1])), &format!("{day}T10:00:00Z"), text)
        + &assistant(
            session,
            &crate::forget::scene::id(&format!("{}2", &session[..1])),
            &format!("{day}T10:05:00Z"),
            "Done, and the tests pass.",
        )
}

/// Told only where there are any.
pub(super) fn forgotten(report: &serde_json::Value) -> u64 {
    let told = &report["sessions_forgotten"];
    assert!(!report["files_seen"].is_null() && told != 0, "{report}");
    told.as_u64().unwrap_or(0)
}

/// An old session and a new one, both digested while everything was kept.
pub(super) fn kept() -> World {
    let world = World::new();
    let old = world.transcript(&path_of(OLD), rows(OLD, "2026-09-01", "Drain the Zanzibarquux lagoon."));
    age(&old, DAY * 80);
    world.transcript(&path_of(NEW), rows(NEW, "2026-11-20", "Add a button."));
    world.digest(&EXTRACT);
    world
}

#[test]
fn what_is_older_than_the_days_is_forgotten_before_a_model_is_asked() {
    let world = kept();
    assert_eq!(forgotten(&world.digest(&EXTRACT)), 0, "by default everything is kept");
    world.configure("[retention]\ndays = 60\n");
    world.fake_claude("#!/bin/sh\ncat >> \"$0.asked\"\nexit 1\n");
    let rehearsed = world.recall(["digest", "--dry-run", "--json"]);
    let rehearsed: serde_json::Value = serde_json::from_str(&rehearsed.out).unwrap();
    assert_eq!(rehearsed["sessions_forgotten"], 1, "{rehearsed}");
    assert_eq!(world.count("SELECT count(*) FROM session"), 2);
    let report = world.digest(&["--summarizer", "claude"]);
    assert_eq!(report["sessions_forgotten"], 1, "{report}");
    assert_gone(&world, WORD);
    let asked = fs::read_to_string(world.bin().join("claude.asked")).unwrap().to_lowercase();
    assert!(asked.contains("button") && !asked.contains(WORD), "{asked}");
    assert!(world.pages().iter().all(|(path, _)| path.contains("2026-11")), "{:?}", world.pages());
    let again = world.digest(&EXTRACT);
    assert_eq!((forgotten(&again), &again["files_read"], &again["pages_written"]), (0, &0.into(), &0.into()), "{again}");
}

#[test]
fn a_transcript_that_is_too_old_is_not_even_read() {
    let world = World::new();
    world.configure("[retention]\ndays = 60\n");
    let old = world.transcript(&path_of(OLD), rows(OLD, "2026-09-01", "Drain the Zanzibarquux lagoon."));
    age(&old, DAY * 80);
    let report = world.digest(&EXTRACT);
    assert_eq!(
        (&report["files_seen"], &report["files_read"], &report["sessions_new"]),
        (&1.into(), &0.into(), &0.into()),
        "{report}"
    );
    assert_gone(&world, WORD);
    // A copy of the file with another time, as a restored backup has it.
    age(&old, DAY);
    let report = world.digest(&EXTRACT);
    assert_eq!((&report["files_read"], forgotten(&report), &report["sessions_digested"]), (&1.into(), 1, &0.into()), "{report}");
    assert_gone(&world, WORD);
    let report = world.digest(&EXTRACT);
    assert_eq!((&report["files_read"], forgotten(&report)), (&0.into(), 0), "{report}");
}

#[test]
fn an_old_session_that_goes_on_comes_back_with_what_is_new() {
    let world = kept();
    world.configure("[retention]\ndays = 60\n");
    world.digest(&EXTRACT);
    let more = user(OLD, &crate::forget::scene::id("31"), "2026-11-21T09:00:00Z", "What about the reeds?")
        + &assistant(OLD, &crate::forget::scene::id("32"), "2026-11-21T09:05:00Z", "They are cut.");
    let file = world.claude_dir().join("projects").join(path_of(OLD));
    fs::write(&file, fs::read_to_string(&file).unwrap() + &more).unwrap();
    age(&file, Duration::from_secs(3600));
    let report = world.digest(&EXTRACT);
    assert_eq!((&report["rows_new"], &report["sessions_digested"]), (&2.into(), &1.into()), "{report}");
    assert_eq!(world.texts(OLD, "prompt"), ["What about the reeds?"]);
    assert_gone(&world, WORD);
}

#[test]
fn the_doctor_does_not_wait_for_transcripts_that_are_not_read() {
    let world = kept();
    world.configure("[retention]\ndays = 60\n");
    world.digest(&EXTRACT);
    let old = world.claude_dir().join("projects").join(path_of(OLD));
    age(&old, DAY * 70);
    world.recall(["forget", "--yes", "--session", NEW]);
    age(&world.claude_dir().join("projects").join(path_of(NEW)), DAY);
    assert_eq!(world.findings("transcripts", &[]), ["ok: all 0 are read"]);
}
