//! `recall digest`: what it reports, what it would do, and which sessions it takes.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::support::{World, age, assistant, changed, user};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// Three sessions in three projects, on three days.
fn three() -> World {
    let world = World::new();
    for (id, at) in
        [("aaaa1111", "2026-11-01T10:00:00Z"), ("bbbb2222", "2026-11-15T10:00:00Z"), ("cccc3333", "2026-11-20T10:00:00Z")]
    {
        let rows = user(id, &format!("{id}u"), at, "Make it faster.")
            + &assistant(id, &format!("{id}a"), at, "It is faster now, because the rates are cached.");
        let file =
            world.transcript(&format!("-p/{id}.jsonl"), rows.replace("/home/dev/src/shop", &format!("/home/dev/src/{}", &id[..4])));
        // As old as what it holds.
        let ago = "2026-11-21T12:00:00Z".parse::<jiff::Timestamp>().unwrap() - at.parse::<jiff::Timestamp>().unwrap();
        crate::support::age(&file, ago.try_into().unwrap());
    }
    world
}

fn digested(world: &World) -> Vec<String> {
    let sessions = world.exported();
    sessions.iter().filter(|s| !s["digest"].is_null()).map(|s| s["session"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_report_has_these_keys_and_no_others() {
    let world = World::with_fixtures(&["plain"]);
    let report = world.digest(&EXTRACT);
    let keys: BTreeSet<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    let wanted = "files_seen files_read bytes_read rows_new rows_unknown rows_bad sessions_new sessions_digested digests_by_model digests_without_model waiting_for_model waiting_cost_usd sessions_skipped sessions_waiting sessions_failed pages_written cost_usd elapsed_ms";
    assert_eq!(keys, wanted.split(' ').collect());
    let size = std::fs::metadata(world.claude_dir().join("projects/-home-dev-src-shop/64b0b6d9-e371-40e8-affe-78e0505dfb3f.jsonl"))
        .unwrap()
        .len();
    for (key, value) in [
        ("files_seen", 1),
        ("files_read", 1),
        ("bytes_read", size),
        ("sessions_new", 1),
        ("sessions_digested", 1),
        ("pages_written", 2),
        ("rows_bad", 0),
    ] {
        assert_eq!(report[key], value, "{key}: {report}");
    }
    assert_eq!(report["cost_usd"], 0.0);
}

#[test]
fn nothing_but_the_result_is_on_stdout() {
    let world = World::with_fixtures(&["plain"]);
    world.transcript("-p/bad.jsonl", "garbage\n");
    let ran = world.recall(["digest", "--json", "--summarizer", "extract"]);
    assert_eq!(ran.out.lines().count(), 1, "{ran:#?}");
    assert!(!ran.err.contains('\u{1b}') && ran.err.lines().all(|l| l.starts_with("recall: ")), "{ran:#?}");
    let plain = World::with_fixtures(&["plain"]).recall(["digest", "--summarizer", "extract"]);
    let labels: Vec<&str> = plain.out.lines().map(|l| l.split_whitespace().next().unwrap_or_default()).collect();
    assert_eq!((labels, plain.err.as_str()), (vec!["read", "digested", "wrote"], ""), "{plain:#?}");
}

#[test]
fn pages_that_are_made_anew_are_counted_with_those_that_changed() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&EXTRACT);
    let (path, text) = world.pages().remove(0);
    let rebuild = ["digest", "--summarizer", "extract", "--rebuild-pages"];
    let wrote = || world.recall(rebuild).out.lines().last().unwrap_or_default().to_owned();
    assert_eq!(wrote(), "rebuilt   2 pages, 0 of them changed");
    std::fs::write(world.data_dir().join(&path), "# Somebody else's\n").unwrap();
    assert_eq!(wrote(), "rebuilt   2 pages, 1 of them changed");
    assert_eq!(world.pages()[0], (path, text));
    let report = world.digest(&rebuild[1..]);
    assert_eq!((&report["pages_rebuilt"], &report["pages_written"]), (&2.into(), &0.into()), "{report}");
}

#[test]
fn a_dry_run_changes_nothing() {
    let world = three();
    let before = world.everything();
    let ran = world.recall(["digest", "--dry-run", "--summarizer", "extract"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(
        changed(&before, &world.everything()),
        Vec::<std::path::PathBuf>::new(),
        "on a machine that recall has never run on"
    );
    assert!(!world.data_dir().exists());

    world.digest(&EXTRACT);
    world.transcript("-p/dddd4444.jsonl", user("dddd4444", "d1", "2026-11-20T12:00:00Z", "And this?") + "garbage\n");
    let before = world.everything();
    world.recall(["digest", "--dry-run", "--rebuild-pages"]);
    let mut after = changed(&before, &world.everything());
    // SQLite's own notes of who reads, which the next writer clears away; they hold nothing.
    after.retain(|f| {
        !(f.ends_with("recall.db-shm") || f.ends_with("recall.db-wal") && std::fs::metadata(f).is_ok_and(|m| m.len() == 0))
    });
    assert_eq!(after, Vec::<std::path::PathBuf>::new(), "on an index that is there");
}

#[test]
fn a_dry_run_tells_a_reason_once_with_a_few_examples_and_its_json_all() {
    let world = three();
    world.digest(&EXTRACT);
    for n in 10..40 {
        let id = format!("dddd{n}44-1111-4111-8111-000000000001");
        world.transcript(&format!("-p/{id}.jsonl"), user(&id, &format!("d{n}"), "2026-11-20T12:00:00Z", "And this?"));
    }
    for n in 10..15 {
        let id = format!("eeee{n}55-1111-4111-8111-000000000001");
        let rows = user(&id, &format!("u{n}"), "2026-11-21T11:50:00Z", "And this?")
            + &assistant(&id, &format!("a{n}"), "2026-11-21T11:55:00Z", "It is mended.");
        // Each has another time to go.
        age(&world.transcript(&format!("-p/{id}.jsonl"), rows), Duration::from_secs(n));
    }
    let file = world.claude_dir().join("projects/-p/aaaa1111.jsonl");
    let more = assistant("aaaa1111", "a99", "2026-11-20T13:00:00Z", "And one thing more is mended.");
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + &more.replace("src/shop", "src/aaaa")).unwrap();
    age(&file, Duration::from_secs(3600));
    let ran = world.recall(["digest", "--dry-run", "--summarizer", "extract"]);
    for part in [
        "skip    30 sessions: nothing answered the prompt",
        "wait    5 sessions: not settled yet",
        "and 20 more: `--verbose` names them all",
        // The newest first, by their first words.
        "not settled yet\n          eeee1455  2026-11-21  shop  And this?\n          eeee1355",
    ] {
        assert!(ran.out.contains(part), "{part}: {ran:#?}");
    }
    assert_eq!(ran.out.matches("nothing answered").count(), 1, "{ran:#?}");
    assert!(!ran.out.contains("-1111-4111-8111-") && ran.out.lines().count() < 26, "{ran:#?}");
    let all = world.recall(["digest", "--dry-run", "--verbose", "--summarizer", "extract"]);
    assert!(all.out.matches("  And this?\n").count() == 35 && !all.out.contains(" more: "), "{all:#?}");
    let alone = world.recall(["digest", "--verbose"]);
    assert!(alone.code == 2 && alone.err.contains("--dry-run"), "{alone:#?}");
    assert!(ran.out.contains("digest  aaaa1111  2026-11-01  aaaa  Make it faster. (without the model: "), "{ran:#?}");
    let json = world.recall(["digest", "--dry-run", "--json", "--summarizer", "extract"]);
    let plan: Value = serde_json::from_str(&json.out).unwrap_or_else(|e| panic!("{e}: {json:#?}"));
    assert_eq!(plan["skip"].as_array().unwrap().len(), 35, "{plan:#}");
}

#[test]
fn a_dry_run_says_what_the_real_one_then_does() {
    let world = three();
    world.transcript("-p/dddd4444.jsonl", user("dddd4444", "d1", "2026-11-20T12:00:00Z", "And this?"));
    world.fake_claude("#!/bin/sh\nexit 1\n");
    let ran = world.recall(["digest", "--dry-run"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    for words in [
        "would read      4 of 4 files",
        "would digest    3 sessions: 3 by the model",
        "would cost",
        "skip    dddd4444  2026-11-20  shop  And this? (nothing answered the prompt)",
    ] {
        assert!(ran.out.contains(words), "{words}: {ran:#?}");
    }
    let json = world.recall(["digest", "--dry-run", "--json", "--summarizer", "extract"]);
    let plan: Value = serde_json::from_str(&json.out).unwrap_or_else(|e| panic!("{e}: {json:#?}"));
    let chosen: BTreeSet<&str> = plan["digest"].as_array().unwrap().iter().map(|d| d["session"].as_str().unwrap()).collect();
    assert_eq!(chosen, BTreeSet::from(["aaaa1111", "bbbb2222", "cccc3333"]));
    assert_eq!((&plan["skip"][0]["session"], &plan["calls"]), (&"dddd4444".into(), &0.into()), "{plan:#}");

    let real = world.digest(&EXTRACT);
    for key in ["files_seen", "files_read", "bytes_read", "rows_new"] {
        assert_eq!(plan[key], real[key], "{key}");
    }
    assert_eq!((&real["sessions_digested"], &real["sessions_skipped"]), (&3.into(), &1.into()));
}

#[test]
fn a_dry_run_of_a_backlog_where_there_is_no_model_says_that_there_is_none() {
    let world = three();
    world.configure("[digest]\nbacklog = 2\n");
    let ran = world.recall(["digest", "--dry-run"]);
    assert!(ran.out.contains("3 sessions: without the model: ") && ran.out.contains("claude"), "{ran:#?}");
    assert!(!ran.out.contains("too many at once"), "nobody can ask for it: {ran:#?}");
}

#[test]
fn a_dry_run_knows_the_price() {
    let world = three();
    world.fake_claude("#!/bin/sh\nexit 1\n");
    let ran = world.recall(["digest", "--dry-run", "--json", "--summarizer", "claude"]);
    let plan: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    let (likely, worst) = (plan["likely_cost_usd"].as_f64().unwrap(), plan["worst_cost_usd"].as_f64().unwrap());
    assert!(plan["calls"] == 3 && likely > 0.0 && worst > likely && worst < 1.0, "{plan:#}");

    world.configure("[digest]\nmodel = \"a-model-of-tomorrow\"\n");
    let ran = world.recall(["digest", "--dry-run", "--summarizer", "claude"]);
    assert!(ran.out.contains("0 by the model, 3 without it"), "what has no price is not bought: {ran:#?}");
    assert!(ran.out.contains("the price of `a-model-of-tomorrow` is unknown"), "an unknown price is not zero: {ran:#?}");
}

#[test]
fn since_takes_what_was_active_since() {
    let world = three();
    world.digest(&["--summarizer", "extract", "--since", "7d"]);
    assert_eq!(digested(&world), ["bbbb2222", "cccc3333"]);
    let by_date = three();
    by_date.digest(&["--summarizer", "extract", "--since", "2026-11-20"]);
    assert_eq!(digested(&by_date), ["cccc3333"]);
}

#[test]
fn project_takes_the_projects_that_match() {
    let world = three();
    world.digest(&["--summarizer", "extract", "--project", "bbbb"]);
    assert_eq!(digested(&world), ["bbbb2222"]);
    world.digest(&["--summarizer", "extract", "--project", "/home/dev/src/c*"]);
    assert_eq!(digested(&world), ["bbbb2222", "cccc3333"]);
    assert_eq!(world.recall(["digest", "--project", "["]).code, 2, "what is not a glob is refused");
}

#[test]
fn session_takes_one_settled_or_not() {
    let world = three();
    let file = world.transcript(
        "-p/dddd4444.jsonl",
        user("dddd4444", "d1", "2026-11-20T12:00:00Z", "And this?")
            + &assistant("dddd4444", "d2", "2026-11-20T12:00:01Z", "This too works."),
    );
    crate::support::age(&file, std::time::Duration::ZERO);
    world.digest(&["--summarizer", "extract", "--session", "dddd"]);
    assert_eq!(digested(&world), ["dddd4444"]);
    let unknown = world.recall(["digest", "--session", "eeee"]);
    assert!(unknown.code == 2 && unknown.err.contains("eeee"), "{unknown:#?}");
}

#[test]
fn limit_takes_the_newest() {
    let world = three();
    let report = world.digest(&["--summarizer", "extract", "--limit", "1"]);
    assert_eq!(digested(&world), ["cccc3333"]);
    assert_eq!((&report["sessions_waiting"], &report["sessions_skipped"]), (&2.into(), &0.into()), "{report}");
    assert_eq!(
        world.status()["waiting_reasons"],
        serde_json::json!([{"why": "over the number of sessions for one run", "sessions": 2}])
    );
    world.digest(&["--summarizer", "extract", "--limit", "1"]);
    assert_eq!(digested(&world), ["bbbb2222", "cccc3333"], "the next run goes on");
}

#[test]
fn what_was_left_out_is_stored_all_the_same() {
    let world = three();
    world.digest(&["--summarizer", "extract", "--project", "bbbb"]);
    assert_eq!(world.exported().len(), 3);
    assert!(world.recall(["search", "faster"]).out.contains("aaaa1111"), "its prompt is found");
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let world = three();
    for arguments in [
        &["digest", "--since", "soon"][..],
        &["digest", "--settle", "5"],
        &["digest", "--max-cost", "-1"],
        &["digest", "--max-cost", "NaN"],
        &["digest", "--summarizer", "oracle"],
        &["digest", "--limit", "many"],
        &["frobnicate"],
        &[],
    ] {
        let ran = world.recall(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}: {ran:#?}");
        assert!(!ran.err.is_empty());
    }
}
