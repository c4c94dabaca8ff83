//! Nothing is deleted without a question: on a terminal it shows what would go and asks, elsewhere it needs `--yes`.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::forget::scene::{EXTRACT, FORK, OTHER, TELLS, TEXT, told_world};
use crate::support::answers::{Answered, answered};
use crate::support::{Ran, World, age, assistant, user};

/// Every way to say what shall go, each of which finds something.
fn ways() -> [[&'static str; 2]; 5] {
    [["--session", TELLS], ["--project", "shop"], ["--before", "1h"], ["--match", TEXT], ["--note", "NOTE"]]
}

fn with_a_note() -> (World, String) {
    let world = told_world(&EXTRACT);
    let ran = world.recall(["remember", "--project", "/home/dev/src/shop", "Deploys go through Gitea"]);
    let note = ran.out.split_whitespace().next().unwrap_or_else(|| panic!("{ran:#?}")).to_owned();
    (world, note)
}

fn on_a_terminal(world: &World, args: &[&str], answer: &str) -> Answered {
    answered(world, world.root(), &[], &[&["forget"], args].concat(), answer)
}

#[test]
fn without_a_terminal_nothing_goes_unless_it_is_said_beforehand() {
    let (world, note) = with_a_note();
    let before = world.recall(["export"]).out;
    for way in ways() {
        let [option, what] = way.map(|word| if word == "NOTE" { note.as_str() } else { word });
        let ran = world.recall(["forget", option, what]);
        assert!(ran.code == 2 && ran.out.is_empty(), "{option}: {ran:#?}");
        assert!(ran.err.contains("`--yes`") && ran.err.contains("`--dry-run`"), "{option}: {ran:#?}");
        assert_eq!(world.recall(["export"]).out, before, "{option}");
    }
    let ran = world.recall(["forget", "--yes", "--project", "shop"]);
    assert!(ran.code == 0 && ran.out.starts_with("forgot 3 sessions whole: "), "{ran:#?}");
}

#[test]
fn on_a_terminal_it_shows_what_would_go_and_asks() {
    let (world, note) = with_a_note();
    let before = world.recall(["export"]).out;
    for way in ways() {
        let way = way.map(|word| if word == "NOTE" { note.as_str() } else { word });
        for answer in ["", "n", "maybe"] {
            let ran = on_a_terminal(&world, &way, answer);
            assert!(ran.code == 2 && ran.shown.contains("[y/N]") && ran.shown.contains("nothing was changed"), "{way:?}: {ran:#?}");
            assert!(ran.shown.contains("would forget "), "{way:?}: {ran:#?}");
            assert_eq!(world.recall(["export"]).out, before, "{way:?}");
        }
    }
    let ran = on_a_terminal(&world, &["--before", "1h"], "n");
    for part in ["aaaaaaaa  2026-11-20  shop  all ", "would forget 3 sessions whole: "] {
        assert!(ran.shown.contains(part), "{part}: {ran:#?}");
    }
    assert_eq!(on_a_terminal(&world, &["--session", TELLS], "y").code, 0);
    let left = world.recall(["export"]).out;
    assert!(!left.contains(TELLS) && left.contains(OTHER) && left.contains(FORK), "{left}");
}

#[test]
fn of_many_sessions_it_shows_some_and_how_many_there_are() {
    let world = World::new();
    for n in 10..40 {
        let id = format!("{n}aaaaaa-1111-4111-8111-0000000000{n}");
        let rows = user(&id, &format!("u{n}"), "2026-11-20T10:00:00Z", &format!("Mend part {n} of the importer."))
            + &assistant(&id, &format!("a{n}"), "2026-11-20T10:05:00Z", "It is mended.");
        world.transcript(&format!("-home-dev-src-shop/{id}.jsonl"), rows);
    }
    world.digest(&EXTRACT);
    let ran = on_a_terminal(&world, &["--project", "shop"], "n");
    assert!(ran.shown.contains("would forget 30 sessions whole") && ran.shown.contains("and 20 more"), "{ran:#?}");
    assert!(ran.shown.lines().count() < 20, "{ran:#?}");
}

#[test]
fn where_nothing_is_found_nothing_is_asked() {
    let world = told_world(&EXTRACT);
    let ran = on_a_terminal(&world, &["--session", "ffffffff"], "n");
    assert!(ran.code == 0 && !ran.shown.contains("[y/N]"), "{ran:#?}");
}

/// A session of the world's own folder that was last written so long ago.
fn session_here(world: &World, id: &str, minutes: u64) -> PathBuf {
    let here = world.root().canonicalize().unwrap();
    let rows = user(id, &format!("{id}1"), "2026-11-21T11:00:00Z", "Mend the pump.")
        + &assistant(id, &format!("{id}2"), "2026-11-21T11:05:00Z", "It is mended.");
    let file = world.transcript(&format!("-here/{id}.jsonl"), rows.replace("/home/dev/src/shop", here.to_str().unwrap()));
    age(&file, Duration::from_secs(minutes * 60));
    file
}

#[test]
fn an_agent_forgets_a_session_that_is_live_in_its_folder_and_no_other() {
    let world = told_world(&EXTRACT);
    let (live, quiet, ended) = ("11111111-aaaa", "22222222-aaaa", "33333333-aaaa");
    session_here(&world, live, 1);
    session_here(&world, quiet, 60);
    let transcript = session_here(&world, ended, 1);
    let end = serde_json::json!({"session_id": ended, "transcript_path": transcript, "cwd": world.root(),
        "hook_event_name": "SessionEnd", "reason": "exit"});
    world.hook("session-end", end.to_string());
    let inside = |session: &str| {
        world.recall_with(["forget", "--this", "--yes"], &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", session)])
    };
    // Of another folder, quiet for long, ended, unknown, and no id at all.
    let before = world.recall(["export"]).out;
    for session in [TELLS, quiet, ended, "44444444-aaaa", "x; rm -r .", "../11111111-aaaa"] {
        let ran = inside(session);
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains("person"), "{session}: {ran:#?}");
        let is_named = ran.err.contains(&format!("`recall forget --session {session}`"));
        assert_eq!(is_named, !session.contains([' ', '.']), "{session}: {ran:#?}");
        assert_eq!(world.recall(["export"]).out, before, "{session}");
    }
    let ran = inside(live);
    assert!(ran.code == 0 && ran.out.contains("1 session that was never read"), "{ran:#?}");
    assert!(fs::exists(transcript).unwrap());
}

#[test]
fn an_agent_of_another_client_forgets_its_own_live_session() {
    const ID: &str = "01a2059c-b240-7761-a3ba-28ca785d3559";
    let world = World::new();
    let here = world.root().canonicalize().unwrap();
    let row = |kind: &str, payload: serde_json::Value| {
        format!("{}\n", serde_json::json!({"timestamp": "2026-11-21T11:55:00.000Z", "type": kind, "payload": payload}))
    };
    let rows = row("session_meta", serde_json::json!({"id": ID, "cwd": here}))
        + &row("event_msg", serde_json::json!({"type": "user_message", "message": "Mend the pump."}));
    let file = world.home().join(format!(".codex/sessions/2026/11/21/rollout-2026-11-21T11-55-00-{ID}.jsonl"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, rows).unwrap();
    age(&file, Duration::from_secs(60));
    let inside = |folder: &std::path::Path| {
        let ran = world.process().current_dir(folder).env("CODEX_THREAD_ID", ID).args(["forget", "--this", "--yes"]).output();
        Ran::of(ran.unwrap())
    };
    let elsewhere = inside(&world.home());
    assert!(elsewhere.code == 2 && elsewhere.err.contains("does not run in"), "{elsewhere:#?}");
    let ran = inside(&here);
    assert!(ran.code == 0 && ran.out.contains("1 session that was never read"), "{ran:#?}");
}

#[test]
fn the_newest_session_of_a_folder_is_a_guess_that_a_person_confirms() {
    let world = World::new();
    session_here(&world, "11111111-aaaa", 60);
    world.digest(&EXTRACT);
    let alone = world.recall(["forget", "--this", "--yes"]);
    assert!(alone.code == 2 && alone.err.contains("`recall forget --session 11111111-aaaa`"), "{alone:#?}");
    for args in [&["--this"][..], &["--this", "--yes"]] {
        let ran = on_a_terminal(&world, args, "n");
        assert!(ran.code == 2 && ran.shown.contains("newest session of this folder"), "{ran:#?}");
        assert!(ran.shown.contains("would forget 1 session whole"), "{ran:#?}");
        assert!(world.recall(["export"]).out.contains("11111111-aaaa"));
    }
    assert_eq!(on_a_terminal(&world, &["--this"], "y").code, 0);
    assert!(!world.recall(["export"]).out.contains("11111111-aaaa"));
}
