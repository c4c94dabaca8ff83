//! The off switch: for one session, for a while, and for the session one is in.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::hooks::payloads::{S, SHOP, end, ends, log, marks, patient, payload, starts, told, transcript, write_talk};
use crate::support::held::held_at;
use crate::support::{Ran, World, age, fed};

const OTHER: &str = "66660000-aaaa-4aaa-8aaa-555511110000";
const EARLIER: &str = "77770000-aaaa-4aaa-8aaa-555511110000";
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
const OFF: [(&str, &str); 1] = [("RECALL_OFF", "1")];

/// A world in which a session has something to hear of.
fn scene() -> World {
    let world = World::new();
    patient(&world);
    write_talk(&world, EARLIER, "2026-11-20T10:00:00Z", "Make the list faster.", "It is faster now, because the rates are cached.");
    world.digest(&EXTRACT);
    world
}

fn hook_with(world: &World, event: &str, payload: &Value, variables: &[(&str, &str)]) -> Ran {
    let mut command = world.process();
    command.args(["hook", event]).envs(variables.iter().copied());
    fed(command, payload.to_string().as_bytes())
}

/// Every hook of a session's life.
fn lives(world: &World, session: &str, source: &str, variables: &[(&str, &str)]) -> String {
    let prompt =
        payload(world, "UserPromptSubmit", session, json!({"prompt": "What did we decide about the cached rates of the list?"}));
    let compacts = payload(world, "PreCompact", session, json!({"trigger": "manual"}));
    let all = [
        ("session-start", starts(world, session, source)),
        ("user-prompt-submit", prompt),
        ("pre-compact", compacts),
        ("session-end", ends(world, session, "prompt_input_exit")),
    ];
    let heard = all.iter().map(|(event, payload)| {
        let ran = hook_with(world, event, payload, variables);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{event}: {ran:#?}");
        ran.out
    });
    heard.collect()
}

fn kept(world: &World) -> Vec<String> {
    let mut all: Vec<String> = world.exported().iter().filter_map(|s| s["session"].as_str().map(str::to_owned)).collect();
    all.sort();
    all
}

#[test]
fn a_session_that_is_switched_off_hears_nothing_leaves_no_mark_and_is_never_kept() {
    let world = scene();
    assert!(told(&world, &starts(&world, OTHER, "startup")).is_some(), "there is something to hear");
    write_talk(&world, S, "2026-11-21T09:00:00Z", "The zeppelin has a leak.", "It is mended with tape.");
    write_talk(&world, OTHER, "2026-11-21T09:00:00Z", "And the export?", "The export is faster too.");
    assert_eq!(lives(&world, S, "startup", &OFF), "");
    assert_eq!((marks(&world), log(&world)), (Vec::new(), Vec::new()));
    end(&world, OTHER);
    world.digest(&EXTRACT);
    assert_eq!(kept(&world), [OTHER, EARLIER]);
    // Nor when it is resumed by somebody who does not think of it.
    write_talk(&world, S, "2026-11-21T09:30:00Z", "The zeppelin flies.", "It does, and is in the log of flights.");
    end(&world, S);
    let start = told(&world, &starts(&world, "88880000-aaaa-4aaa-8aaa-555511110000", "startup")).unwrap_or_default();
    assert!(start.contains("export") && !start.contains("zeppelin"), "{start}");
    world.digest(&EXTRACT);
    assert_eq!(kept(&world), [OTHER, EARLIER]);
    assert_eq!(world.recall(["search", "zeppelin"]).out, "");
}

/// A digest may have looked for transcripts before the session began.
#[test]
fn a_session_that_is_switched_off_while_a_digest_runs_is_not_kept() {
    let world = scene();
    write_talk(&world, OTHER, "2026-11-21T09:00:00Z", "And the export?", "The export is faster too.");
    write_talk(&world, S, "2026-11-21T09:00:00Z", "The zeppelin has a leak.", "It is mended with tape.");
    let ran = held_at(&world, "transcripts found", &["digest", "--summarizer", "extract"], || {
        assert_eq!(hook_with(&world, "session-start", &starts(&world, S, "resume"), &OFF).code, 0);
    });
    assert_eq!(ran.code, 0, "{ran:#?}");
    for _ in 0..2 {
        assert_eq!(kept(&world), [OTHER, EARLIER]);
        world.digest(&EXTRACT);
    }
    assert_eq!(world.recall(["search", "zeppelin"]).out, "");
}

#[test]
fn it_stays_switched_off_before_a_digest_and_with_a_config_that_cannot_be_read() {
    let world = scene();
    world.configure("what = is this\n");
    write_talk(&world, S, "2026-11-21T09:00:00Z", "The zeppelin has a leak.", "It is mended with tape.");
    assert_eq!(lives(&world, S, "startup", &OFF), "");
    patient(&world);
    // A mark that somebody left all the same leads nobody to it.
    end(&world, S);
    let start = told(&world, &starts(&world, OTHER, "startup")).unwrap_or_default();
    assert!(!start.contains("zeppelin"), "{start}");
    world.digest(&EXTRACT);
    assert_eq!(kept(&world), [EARLIER]);
}

#[test]
fn a_variable_that_says_no_switches_nothing_off() {
    let world = scene();
    for (n, value) in ["", "0", "false"].into_iter().enumerate() {
        let start = starts(&world, &format!("{n}{}", &OTHER[1..]), "startup");
        let heard = hook_with(&world, "session-start", &start, &[("RECALL_OFF", value)]);
        assert!(heard.code == 0 && heard.out.contains("rates"), "{value}: {heard:#?}");
    }
    write_talk(&world, S, "2026-11-21T09:00:00Z", "The zeppelin has a leak.", "It is mended with tape.");
    lives(&world, S, "startup", &[("RECALL_OFF", "0")]);
    world.digest(&EXTRACT);
    assert_eq!(kept(&world), [S, EARLIER]);
}

#[test]
fn in_a_pause_nothing_is_said_and_what_begins_in_it_is_not_kept() {
    let world = scene();
    let said = world.recall(["pause", "2h"]);
    assert!(said.code == 0 && said.out.starts_with("paused until 2026-11-21 15:00: "), "{said:#?}");
    write_talk(&world, S, "2026-11-21T09:00:00Z", "The zeppelin has a leak.", "It is mended with tape.");
    write_talk(&world, OTHER, "2026-11-21T09:00:00Z", "And the export?", "The export is faster too.");
    assert_eq!(lives(&world, S, "startup", &[]), "");
    // It was there before: it hears nothing either, and is kept.
    assert_eq!(lives(&world, OTHER, "resume", &[]), "");
    assert_eq!((marks(&world), log(&world)), (Vec::new(), Vec::new()));
    world.digest(&EXTRACT);
    assert_eq!(kept(&world), [OTHER, EARLIER]);

    let status: Value = world.status();
    assert_eq!(status["paused_until"], 1_795_269_600_000_i64, "{status}");
    assert!(world.recall(["status"]).out.contains("paused      until 2026-11-21 15:00"));
    assert_eq!(world.findings("paused", &[]).len(), 1);
    let later = [("RECALL_NOW", "2026-11-21T14:00:01Z")];
    assert!(world.findings("paused", &later).is_empty(), "it ends by itself");
    let next = "99990000-aaaa-4aaa-8aaa-555511110000";
    assert!(hook_with(&world, "session-start", &starts(&world, next, "startup"), &later).out.contains("export"));

    assert!(world.recall(["pause", "--off"]).out.contains("pause ended"));
    assert!(world.recall(["pause", "--off"]).out.contains("was not paused"));
    assert!(told(&world, &starts(&world, "98980000-aaaa-4aaa-8aaa-555511110000", "startup")).is_some());
}

#[test]
fn a_pause_that_cannot_be_read_is_one_and_a_time_that_is_none_changes_nothing() {
    let world = scene();
    for time in ["soon", "2", "-1h", "99999999999999999w"] {
        let ran = world.recall(["pause", "--", time]);
        assert_eq!(ran.code, 2, "{time}: {ran:#?}");
    }
    assert!(world.recall(["pause"]).out.contains("not paused"));
    fs::write(world.data_dir().join("paused.json"), "{").unwrap();
    assert_eq!(told(&world, &starts(&world, OTHER, "startup")), None);
    assert!(world.recall(["pause"]).out.contains("until somebody ends it"));
    world.recall(["pause", "--off"]);
    assert!(told(&world, &starts(&world, S, "startup")).is_some());
}

#[test]
fn an_agent_hears_nothing_by_commands_either_and_does_not_pause_by_itself() {
    let world = scene();
    let agent = [("CLAUDECODE", "1"), ("RECALL_OFF", "1")];
    for args in [
        vec!["search", "rates"],
        vec!["context", "--cwd", SHOP],
        vec!["show", EARLIER],
        vec!["export"],
        vec!["remember", "The rates are cached"],
    ] {
        let ran = world.recall_with(&args, &agent);
        assert!(ran.code == 2 && ran.out.is_empty() && ran.err.contains("switched off"), "{args:?}: {ran:#?}");
        // A person's own commands go on.
        let ran = world.recall_with(&args[..], &[("RECALL_OFF", "1")]);
        assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
    }
    for args in [["pause", "9999d"], ["pause", "--off"]] {
        let ran = world.recall_with(args, &[("CLAUDECODE", "1")]);
        assert!(ran.code == 2 && ran.err.contains("person"), "{ran:#?}");
    }
    world.recall(["pause", "1h"]);
    let ran = world.recall_with(["search", "rates"], &[("CLAUDECODE", "1")]);
    assert!(ran.code == 2 && ran.err.contains("paused until 2026-11-21 14:00"), "{ran:#?}");
}

#[test]
fn the_session_one_is_in_is_forgotten_whether_it_was_read_or_not() {
    let world = scene();
    let here = world.root().canonicalize().unwrap();
    let inside =
        |session: &str| world.recall_with(["forget", "--this"], &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", session)]);
    let works_here = |session: &str, prompt: &str, reply: &str| {
        let file = write_talk(&world, session, "2026-11-21T11:50:00Z", prompt, reply);
        fs::write(&file, fs::read_to_string(&file).unwrap().replace(SHOP, here.to_str().unwrap())).unwrap();
        age(&file, Duration::from_secs(60));
    };
    works_here(S, "The zeppelin has a leak.", "It is mended with tape.");
    world.digest(&["--ingest-only"]);
    let ran = inside(S);
    assert!(ran.code == 0 && ran.out.contains("1 session whole"), "{ran:#?}");
    works_here(OTHER, "And the export?", "The export is faster too.");
    let ran = inside(OTHER);
    assert!(ran.code == 0 && ran.out.contains("1 session that was never read"), "{ran:#?}");
    world.digest(&EXTRACT);
    assert_eq!(kept(&world), [EARLIER]);
    assert!(transcript(&world, S).exists(), "transcripts are the client's");
}

#[test]
fn outside_a_session_the_newest_of_the_folder_is_meant_and_nothing_goes_without_a_word() {
    let world = World::new();
    let here = world.root().canonicalize().unwrap();
    let file = write_talk(&world, S, "2026-11-21T09:00:00Z", "Mend it.", "It is mended, because the rates are cached.");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace(SHOP, here.to_str().unwrap())).unwrap();
    write_talk(&world, OTHER, "2026-11-21T09:30:00Z", "And the export?", "The export is faster too.");
    world.digest(&EXTRACT);
    let ran = world.recall(["forget", "--this"]);
    assert!(ran.code == 2 && ran.err.contains(&format!("recall forget --session {S}")), "{ran:#?}");
    let looked = world.recall(["forget", "--this", "--dry-run"]);
    assert!(looked.code == 0 && looked.out.contains("would forget 1 session whole"), "{looked:#?}");
    assert_eq!(kept(&world).len(), 2);
}
