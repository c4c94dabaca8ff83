//! `--session`, `--project`, `--before`: whole sessions go.

use std::fs;
use std::time::Duration;

use crate::forget::scene::{EXTRACT, FORK, OTHER, TELLS, WORD, path_of, told_world, transcripts};
use crate::support::data_folder::assert_gone;
use crate::support::{World, age, assistant, user};

fn ids(world: &World) -> Vec<String> {
    let mut ids: Vec<String> = world.exported().iter().map(|s| s["session"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

/// Makes a transcript go on and digests it.
fn goes_on(world: &World, session: &str) -> serde_json::Value {
    let file = world.claude_dir().join("projects").join(path_of(session));
    let more = user(session, &crate::forget::scene::id("99"), "2026-11-20T15:00:00Z", "And the zanzibarquux lagoon again?");
    fs::write(&file, fs::read_to_string(&file).unwrap() + &more).unwrap();
    age(&file, Duration::from_secs(1200));
    world.digest(&EXTRACT)
}

#[test]
fn a_session_goes_by_its_id_the_start_of_it_or_its_digests_id() {
    let by_id: fn(&World) -> String = |_| TELLS.to_owned();
    let by_start = |_: &World| TELLS[..8].to_owned();
    let by_digest = |world: &World| world.show(TELLS)["digest_id"].as_str().unwrap().to_owned();
    for name in [by_id, by_start, by_digest] {
        let world = told_world(&EXTRACT);
        let ran = world.recall(["forget", "--yes", "--session", &name(&world)]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
        assert!(ran.out.starts_with("forgot 1 session whole: "), "{ran:#?}");
        assert_eq!(ids(&world), [FORK, OTHER]);
        // Neither in the copies that a fork holds.
        assert_gone(&world, WORD);
        assert!(world.pages().iter().all(|(path, page)| !path.contains("aaaaaaaa") && !page.contains("importer slow")));
        assert_eq!(world.show(FORK)["prompts"], 1);
        assert_eq!(world.show(FORK)["usage"].as_object().unwrap().len(), 1);
    }
}

#[test]
fn a_forgotten_session_stays_so_when_it_is_resumed_forked_or_moved() {
    let world = told_world(&EXTRACT);
    world.recall(["forget", "--yes", "--session", TELLS]);
    let shown = world.recall(["show", "--full", TELLS]);
    assert!(shown.err.contains("you deleted the session"), "{shown:#?}");
    let report = goes_on(&world, TELLS);
    assert_eq!((&report["rows_new"], &report["bytes_read"]), (&0.into(), &0.into()), "not even read: {report}");
    let [(_, text), ..] = transcripts();
    // The client gives a fork a title of its own.
    let text: String = text.split_inclusive('\n').filter(|line| line.contains("\"uuid\"")).collect();
    // A new fork of it, and its rows in the file of another session.
    let fork = "dddddddd-1111-4111-8111-000000000004";
    let own = user(fork, &crate::forget::scene::id("98"), "2026-11-20T16:00:00Z", "Something of its own.")
        + &assistant(fork, &crate::forget::scene::id("97"), "2026-11-20T16:01:00Z", "Done.");
    world.transcript(&path_of(fork), text.replace(TELLS, fork) + &own);
    world.transcript(&format!("-elsewhere/{fork}.jsonl"), text);
    world.digest(&EXTRACT);
    assert_eq!(ids(&world), [FORK, OTHER, fork]);
    assert_eq!(world.texts(fork, "prompt"), ["Something of its own."]);
    assert_gone(&world, WORD);
    let hook = serde_json::json!({
        "session_id": TELLS, "transcript_path": world.claude_dir().join("projects").join(path_of(TELLS)), "cwd": "/home/dev/src/shop",
        "hook_event_name": "SessionEnd", "reason": "exit",
    });
    world.hook("session-end", hook.to_string());
    // What just ended is read from its transcript: of this one nothing is told.
    let context = world.recall(["context", "--cwd", "/home/dev/src/shop"]);
    assert!(context.out.contains("Something of its own"), "{context:#?}");
    assert!(!context.out.to_lowercase().contains(WORD), "{context:#?}");
    world.digest(&EXTRACT);
    assert_gone(&world, WORD);
}

#[test]
fn rows_that_were_forgotten_are_not_told_from_the_transcript_either() {
    let world = told_world(&EXTRACT);
    let path = world.claude_dir().join("projects").join(path_of(OTHER));
    goes_on(&world, OTHER);
    let mut hook = serde_json::json!({
        "session_id": OTHER, "transcript_path": path, "cwd": "/home/dev/src/shop", "hook_event_name": "SessionEnd", "reason": "exit",
    });
    world.hook("session-end", hook.to_string());
    world.recall(["forget", "--yes", "--match", WORD]);
    let context = world.recall(["context", "--cwd", "/home/dev/src/shop"]);
    assert!(context.out.contains("button"), "{context:#?}");
    assert!(!context.out.to_lowercase().contains(WORD), "{context:#?}");
    hook["hook_event_name"] = "SessionStart".into();
    hook["source"] = "compact".into();
    let told = world.hook("session-start", hook.to_string());
    assert!(told.out.contains("button"), "{told:#?}");
    assert!(!told.out.to_lowercase().contains(WORD), "{told:#?}");
}

#[test]
fn a_session_that_was_never_read_is_kept_out_by_its_whole_id() {
    let world = World::new();
    crate::forget::scene::write(&world);
    for file in [FORK, OTHER] {
        fs::remove_file(world.claude_dir().join("projects").join(path_of(file))).unwrap();
    }
    let ran = world.recall(["forget", "--yes", "--session", TELLS]);
    assert_eq!(ran.out, "forgot 1 session that was never read: 0 transcript lines, 0 digests, 0 pages\n");
    assert_eq!(world.digest(&EXTRACT)["rows_new"], 0);
    assert_eq!(ids(&world), [""; 0]);
    assert_gone(&world, WORD);
}

#[test]
fn a_project_goes_with_all_its_sessions() {
    let world = told_world(&EXTRACT);
    let elsewhere = "eeeeeeee-1111-4111-8111-000000000005";
    let text = user(elsewhere, &crate::forget::scene::id("e1"), "2026-11-20T10:00:00Z", "A button.")
        + &assistant(elsewhere, &crate::forget::scene::id("e2"), "2026-11-20T10:01:00Z", "There it is.");
    world.transcript(&format!("-home-dev-src-till/{elsewhere}.jsonl"), text.replace("src/shop", "src/till"));
    let ran = world.recall(["forget", "--yes", "--project", "shop"]);
    assert!(ran.out.starts_with("forgot 3 sessions whole: "), "{ran:#?}");
    assert_eq!(ids(&world), [elsewhere]);
    assert_gone(&world, WORD);
    assert_eq!(world.count("SELECT count(*) FROM project"), 1);
    world.digest(&EXTRACT);
    assert_eq!(ids(&world), [elsewhere]);
}

#[test]
fn what_was_last_active_before_a_day_goes() {
    for (before, left) in [
        ("2026-11-20", [TELLS, FORK, OTHER].as_slice()),
        // The day of the world's clock is the 21st; its time is an hour ahead of UTC.
        ("2026-11-21", &[]),
        ("25h", &[FORK, OTHER]),
        ("23h", &[]),
    ] {
        let world = told_world(&EXTRACT);
        let ran = world.recall(["forget", "--yes", "--before", before]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        assert_eq!(ids(&world), left, "{before}: {ran:#?}");
    }
}

#[test]
fn notes_on_a_forgotten_sessions_page_move_to_its_day() {
    let world = told_world(&EXTRACT);
    let (page, _) = world.pages().into_iter().find(|(path, _)| path.contains("aaaaaaaa")).unwrap();
    let file = world.data_dir().join(&page);
    fs::write(&file, fs::read_to_string(&file).unwrap() + "\n## Notes\n\nmine\n").unwrap();
    world.recall(["forget", "--yes", "--session", TELLS]);
    assert!(!file.exists());
    let pages = world.pages();
    let (_, day) = pages.iter().find(|(path, _)| !path.contains("/sessions/")).unwrap();
    assert!(day.ends_with("\n## Notes\n\nmine\n"), "{day}");
}

#[test]
fn importing_brings_back_what_an_export_holds() {
    let world = told_world(&EXTRACT);
    let export = world.recall(["export"]).out;
    let pages = world.pages();
    fs::write(world.root().join("all.jsonl"), &export).unwrap();
    for what in [["--session", TELLS], ["--match", WORD]] {
        world.recall(["forget", "--yes"].into_iter().chain(what));
        assert_gone(&world, WORD);
        let ran = world.recall(["import", "all.jsonl"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        world.digest(&["--summarizer", "extract", "--rebuild-pages"]);
        assert_eq!(world.pages(), pages, "after {what:?}");
    }
}

#[test]
fn exactly_one_thing_is_asked_for() {
    let world = told_world(&EXTRACT);
    for arguments in [&["forget"][..], &["forget", "--session", TELLS, "--match", "x y"], &["forget", "--dry-run"]] {
        assert_eq!(world.recall(arguments).code, 2);
    }
    for arguments in [["--session", "ffffffff"], ["--project", "nothing"], ["--before", "2020-01-01"], ["--match", "no such text"]]
    {
        let ran = world.recall(["forget", "--yes"].into_iter().chain(arguments));
        assert_eq!((ran.code, ran.out.as_str()), (0, "nothing found\n"), "{ran:#?}");
    }
    assert_eq!(world.recall(["forget", "--yes", "--before", "gestern"]).code, 2);
    assert_eq!(ids(&world).len(), 3);
}
