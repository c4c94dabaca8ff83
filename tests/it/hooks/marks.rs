//! Marks: one for each event, without a word of the session, and what the next digest makes of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::hooks::payloads::{S, end, ends, log, mark_files, marks, payload, transcript, write_talk};
use crate::support::{NOW, World, age};

/// Every event that leaves a mark: its name for us, its name for Claude Code, its own fields, the reason that is kept.
fn events() -> [(&'static str, &'static str, Value, &'static str); 5] {
    [
        ("session-end", "SessionEnd", json!({"reason": "prompt_input_exit"}), "prompt_input_exit"),
        ("pre-compact", "PreCompact", json!({"trigger": "manual", "custom_instructions": "keep SAID-BY-SOMEBODY"}), "manual"),
        ("post-compact", "PostCompact", json!({"trigger": "auto", "compact_summary": "SAID-BY-SOMEBODY"}), "auto"),
        ("stop", "Stop", json!({"stop_hook_active": false, "last_assistant_message": "SAID-BY-SOMEBODY"}), ""),
        (
            "subagent-stop",
            "SubagentStop",
            json!({"stop_hook_active": false, "agent_id": "a6609bf8017d8985e", "agent_transcript_path": "/x", "prompt": "SAID-BY-SOMEBODY"}),
            "",
        ),
    ]
}

fn now() -> i64 {
    NOW.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

#[test]
fn every_event_leaves_one_mark_that_says_where_to_look_and_nothing_that_was_said() {
    for (event, theirs, fields, reason) in events() {
        let world = World::new();
        let file = write_talk(&world, S, "2026-11-21T11:00:00Z", "SAID-BY-SOMEBODY", "SAID-BY-SOMEBODY");
        let ran = world.hook(event, payload(&world, theirs, S, fields).to_string());
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{event}: {ran:#?}");
        let size = fs::metadata(&file).unwrap().len();
        let mark = json!({"session": S, "transcript": file, "offset": size, "event": event, "reason": reason, "at": now()});
        assert_eq!(marks(&world), [mark], "{event}");
        for (file, bytes, _) in world.everything().into_iter().filter(|(file, ..)| file.starts_with(world.data_dir())) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(!text.contains("SAID-BY-SOMEBODY"), "{event}: {}: {text}", file.display());
        }
        assert_eq!(log(&world), [""; 0], "{event}");
    }
}

#[test]
fn a_session_without_a_transcript_yet_leaves_a_mark_at_its_start() {
    let world = World::new();
    end(&world, S);
    assert_eq!((&marks(&world)[0]["offset"], &marks(&world)[0]["session"]), (&json!(0), &json!(S)));
    assert!(!transcript(&world, S).exists());
}

#[test]
fn marks_are_the_owners_alone_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let world = World::new();
        fs::write(world.root().join("payload"), ends(&world, S, "other").to_string()).unwrap();
        let ran =
            world.shell(&format!("umask {umask}; \"$RECALL\" hook session-end < payload; \"$RECALL\" hook nonsense < payload"));
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:#?}");
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let data = world.data_dir();
        for folder in [data.clone(), data.join("marks"), data.join("marks/new"), data.join("marks/tmp")] {
            assert_eq!(mode(&folder), 0o700, "umask {umask}: {}", folder.display());
        }
        for file in [mark_files(&world).remove(0), data.join("hooks.log")] {
            assert_eq!(mode(&file), 0o600, "umask {umask}: {}", file.display());
        }
    }
}

#[test]
fn a_stop_that_a_stop_hook_caused_is_no_end_of_anything() {
    let world = World::new();
    for (event, theirs) in [("stop", "Stop"), ("subagent-stop", "SubagentStop")] {
        let ran = world.hook(event, payload(&world, theirs, S, json!({"stop_hook_active": true})).to_string());
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:#?}");
    }
    assert!(!world.data_dir().exists(), "{:?}", world.everything());
}

#[test]
fn our_own_child_leaves_nothing_whatever_happens_to_it() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let before = world.everything();
    let all = events().map(|(event, theirs, fields, _)| (event, payload(&world, theirs, S, fields).to_string()));
    let start = ("session-start", crate::hooks::payloads::starts(&world, S, "startup").to_string());
    for (event, stdin) in all.into_iter().chain([start, ("session-end", "no JSON".into()), ("nonsense", String::new())]) {
        for value in ["1", ""] {
            let mut command = world.process();
            command.args(["hook", event]).env("RECALL_CHILD", value);
            let ran = crate::support::fed(command, stdin.as_bytes());
            assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{event}: {ran:#?}");
        }
    }
    assert_eq!(crate::support::changed(&before, &world.everything()), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_marked_session_is_settled_and_its_page_says_how_it_ended() {
    let world = World::new();
    let file = write_talk(&world, S, "2026-11-21T11:50:00Z", "Make it faster.", "It is faster now, because the rates are cached.");
    age(&file, std::time::Duration::from_secs(40));
    let extract = ["--summarizer", "extract"];
    assert_eq!(world.digest(&extract)["sessions_digested"], 0, "it may still go on");

    let mark = world.hook("session-end", ends(&world, S, "logout").to_string());
    assert_eq!(mark.code, 0, "{mark:#?}");
    assert_eq!(world.status()["marks_waiting"], 1);
    assert_eq!(world.digest(&extract)["sessions_digested"], 1);
    assert_eq!((mark_files(&world).len(), world.status()["marks_waiting"].as_i64()), (0, Some(0)), "a mark is used up");
    let page = world.pages().into_iter().find(|(name, _)| name.contains("/sessions/")).expect("the session's page").1;
    assert!(page.contains("\nended_by: \"logout\"\n"), "{page}");
}

#[test]
fn a_mark_that_comes_after_the_digest_gets_onto_the_page_as_well() {
    let world = World::new();
    write_talk(&world, S, "2026-11-21T11:50:00Z", "Make it faster.", "It is faster now, because the rates are cached.");
    let extract = ["--summarizer", "extract", "--settle", "0s"];
    assert_eq!(world.digest(&extract)["sessions_digested"], 1);
    world.hook("session-end", ends(&world, S, "logout").to_string());
    world.digest(&extract);
    let page = world.pages().into_iter().find(|(name, _)| name.contains("/sessions/")).expect("the session's page").1;
    assert!(page.contains("\nended_by: \"logout\"\n"), "{page}");
}

#[test]
fn a_reason_is_a_word_and_no_place_to_hide_a_text_in() {
    let world = World::new();
    let long = format!("logout\n---\n\u{1b}[31mevil: {}", "x".repeat(5000));
    world.hook("session-end", ends(&world, S, &long).to_string());
    let reason = marks(&world)[0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.chars().count() <= 41 && !reason.contains(char::is_control), "{reason}");
}

#[test]
fn a_payload_with_keys_of_a_newer_client_is_as_good() {
    let world = World::new();
    let more =
        json!({"reason": "exit_of_the_future", "prompt_id": "p1", "effort": {"level": "high"}, "hologram": [1, {"deep": null}]});
    let ran = world.hook("session-end", format!("\u{feff}{}\n\n", payload(&world, "SessionEnd", S, more)));
    assert_eq!((ran.code, log(&world).len()), (0, 0), "{ran:#?}");
    assert_eq!(marks(&world)[0]["reason"], "exit_of_the_future");
}

#[test]
fn a_digest_clears_away_what_hooks_that_were_killed_left_behind() {
    let world = World::new();
    end(&world, S);
    let (tmp, started) = (world.data_dir().join("marks/tmp"), world.data_dir().join("marks/started"));
    fs::create_dir_all(&started).unwrap();
    let old = |file: &std::path::Path, hours: u64| {
        fs::write(file, "{\"session\":").unwrap();
        let at = std::time::SystemTime::now() - std::time::Duration::from_secs(3600 * hours);
        fs::File::options().write(true).open(file).and_then(|f| f.set_modified(at)).unwrap();
    };
    for (folder, name, hours) in
        [(&tmp, "abandoned.json", 2), (&tmp, "being-written.json", 0), (&started, "over", 2), (&started, "now", 0)]
    {
        old(&folder.join(name), hours);
    }
    world.digest(&["--summarizer", "extract"]);
    let names = |dir: &std::path::Path| {
        let files = crate::support::files_below(dir);
        files.iter().map(|f| f.file_name().unwrap().to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((names(&tmp), names(&started)), (vec!["being-written.json".to_owned()], vec!["now".to_owned()]));
}
