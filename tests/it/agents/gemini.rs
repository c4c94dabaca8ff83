//! Gemini CLI: what its client was told to do by a script, what it wrote down, and what is read of that. See `fixtures/README.md`.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use super::recorded::{Counts, Recorded};
use crate::support::{World, files_below, fixtures};

pub const GEMINI: Recorded = Recorded { agent: "gemini", fixtures: "gemini", home: ".gemini" };
pub const VERSION: &str = "0.61.0";

/// What the script had the client do, as its requests say.
fn expected() -> Counts {
    let files = ["larder/parse.py", "tests/test_parse.py"].map(|name| format!("/home/dev/src/larder/{name}"));
    Counts {
        // Another one is all private.
        sessions: 4,
        // Without the private one and the one that is mostly a key.
        prompts: 5,
        // One of them the helper's.
        replies: 11,
        // The same. The command that is mostly a key is not kept.
        commands: 7,
        failed: 1,
        files: files.into(),
        commits: 1,
        subagents: 1,
        recaps: 1,
        forks: 0,
        interrupted: 0,
    }
}

#[test]
fn what_was_done_is_what_is_read() {
    let world = GEMINI.world(VERSION);
    let report = world.digest(&[]);
    assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&Value::from(0), &Value::from(0)), "{report}");
    assert_eq!(GEMINI.counts(&world), expected());
    // No row names the folder: it stands beside them.
    let listed = world.recall(["list", "--agent", "gemini-cli", "--project", "/home/dev/src/larder", "--json"]).out;
    // One of them has no prompt that is kept.
    assert_eq!(listed.lines().count(), expected().sessions - 1, "{listed}");
}

#[test]
fn tokens_are_those_of_the_calls_in_the_files() {
    let world = GEMINI.world(VERSION);
    world.digest(&[]);
    let ran = world.recall(["stats", "--json"]);
    let all = &serde_json::from_str::<Value>(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))["total"];
    let of = |name: &str| all[name].as_u64().expect("a count");
    // The scene's turns and its helper, each call once, without the private turn, of which nothing is kept. What chose a model, summed up a session or
    // compacted it is in no file of the client's: 64,210 tokens in and 5,761 out.
    let (calls, private) = (20 - 1, (1390, 79));
    assert_eq!(of("input") + of("cache_read"), 952_030 + 2710 - private.0);
    assert_eq!(of("cache_read"), 200 * calls);
    assert_eq!(of("output"), 5246 + 151 - private.1 + 10 * calls, "thoughts come on top");
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    GEMINI.keeps_no_secret(VERSION);
}

#[test]
fn nothing_that_a_hook_told_is_anybody_s_words() {
    let world = GEMINI.world(VERSION);
    world.digest(&[]);
    let kept = world.recall(["export"]).out;
    assert!(kept.contains("for a single cup") && !kept.contains("Note of the team") && !kept.contains("hook_context"), "{kept}");
    assert!(!kept.contains("untrusted_context") && !kept.contains("Got it. Thanks"), "{kept}");
}

#[test]
fn it_does_not_matter_in_which_pieces_transcripts_are_read() {
    GEMINI.reads_any_pieces(VERSION);
}

#[test]
fn a_log_that_is_read_line_by_line_is_the_same_session() {
    let at_once = GEMINI.world(VERSION);
    at_once.digest(&[]);
    let world = World::new();
    let from = fixtures().join("gemini").join(VERSION);
    let texts: Vec<_> = files_below(&from).into_iter().map(|file| (fs::read(&file).expect("a file"), file)).collect();
    let most = texts.iter().map(|(text, _)| text.split_inclusive(|b| *b == b'\n').count()).max().expect("files");
    for lines in 1..=most {
        for (text, file) in &texts {
            let to = GEMINI.home_in(&world).join(file.strip_prefix(&from).expect("a fixture"));
            fs::create_dir_all(to.parent().expect("a parent")).expect("the folder");
            let so_far: Vec<u8> = text.split_inclusive(|b| *b == b'\n').take(lines).flatten().copied().collect();
            fs::write(&to, so_far).expect("a transcript");
        }
        GEMINI.age(&world);
        world.digest(&[]);
    }
    assert_eq!(GEMINI.counts(&world), expected());
    assert!(world.pages() == at_once.pages(), "{:#?}", world.pages());
}

#[test]
fn a_session_that_the_client_deleted_stays() {
    let world = GEMINI.world(VERSION);
    world.digest(&[]);
    let before = world.pages();
    let chats = GEMINI.home_in(&world).join("tmp/larder/chats");
    // As it did at its next start, when it also summed up another session.
    for minute in ["14-20", "14-21"] {
        fs::remove_file(chats.join(format!("session-2026-11-18T{minute}-aa051905.jsonl"))).expect("it was there");
    }
    let mut other =
        fs::File::options().append(true).open(chats.join("session-2026-11-18T14-20-40171b38.jsonl")).expect("it is there");
    writeln!(other, "{}", json!({"$set": {"summary": "Mixed amounts"}})).expect("a row");
    GEMINI.age(&world);
    world.digest(&[]);
    assert_eq!(GEMINI.counts(&world), expected());
    let pages = world.pages();
    let of_it =
        |pages: &[(String, String)]| pages.iter().filter(|(name, _)| name.contains("aa051905")).cloned().collect::<Vec<_>>();
    assert!(!of_it(&pages).is_empty() && of_it(&pages) == of_it(&before), "{pages:#?}");
    assert!(pages.iter().any(|(name, page)| name.contains("40171b38") && page.contains("# Mixed amounts")), "{pages:#?}");
}

#[test]
fn a_session_is_continued_by_gemini_and_a_subagent_belongs_to_the_session_that_began_it() {
    let world = GEMINI.world(VERSION);
    world.digest(&[]);
    let pages = world.pages();
    let command = "cd /home/dev/src/larder && gemini --resume 40171b38-9df8-440d-9f0b-0dcd23a14a48";
    assert!(pages.iter().any(|(_, page)| page.contains(command)), "{pages:#?}");
    let found = world.recall(["search", "turns every amount into a float", "--json"]).out;
    let found: Value = serde_json::from_str(found.lines().next().expect("a result")).expect("JSON");
    assert_eq!(found["session"], "b9e7cf9e-bd6c-4f54-b3c7-ac1b4d2b5112", "{found}");
}

#[test]
fn a_conversation_that_stands_in_a_list_alone_is_read() {
    let id = "0f4ea2d1-6c0b-4c35-9d55-2f8f1f3f7a10";
    let at = |minute: u32| format!("2026-11-18T16:{minute:02}:00.000Z");
    let user =
        |id: &str, minute: u32, text: &str| json!({"id": id, "timestamp": at(minute), "type": "user", "content": [{"text": text}]});
    let says = |id: &str, minute: u32, text: &str| json!({"id": id, "timestamp": at(minute), "type": "gemini", "content": text});
    let rows = [
        json!({"sessionId": id, "projectHash": "x", "startTime": at(1), "lastUpdated": at(1), "kind": "main"}),
        json!({"$set": {"messages": [
            user("m0", 1, "<session_context>\nThis is the client."),
            user("m1", 2, "The story so far: teaspoons were counted."),
            says("m2", 2, "Got it. Thanks for the additional context!"),
            user("m3", 3, "Count the tablespoons"),
            says("m4", 4, "Tablespoons are counted."),
        ], "lastUpdated": at(4)}}),
        user("m5", 5, "And the ladles"),
        says("m6", 6, "Ladles are counted."),
    ];
    let lines: Vec<String> = rows.iter().map(|row| format!("{row}\n")).collect();
    let shown = |moments: &[usize]| {
        let world = GEMINI.world(VERSION);
        let chats = GEMINI.home_in(&world).join("tmp/larder/chats");
        assert!(chats.is_dir());
        for rows in moments {
            fs::write(chats.join("session-2026-11-18T16-01-0f4ea2d1.jsonl"), lines[..*rows].concat()).expect("a log");
            GEMINI.age(&world);
            let report = world.digest(&[]);
            assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&0.into(), &0.into()), "{report}");
        }
        world.recall(["show", id, "--full"]).out
    };
    let at_once = shown(&[4]);
    for told in ["Count the tablespoons", "Tablespoons are counted.", "And the ladles", "Ladles are counted."] {
        assert!(at_once.contains(told), "{told}: {at_once}");
    }
    assert!(!at_once.contains("This is the client") && at_once.contains("turn 2 of 2"), "{at_once}");
    assert_eq!(shown(&[1, 2, 3, 4]), at_once);
}

#[test]
fn a_prompt_that_was_taken_back_is_none() {
    let world = GEMINI.world(VERSION);
    let file = GEMINI.home_in(&world).join("tmp/larder/chats/session-2026-11-18T14-20-b9e7cf9e.jsonl");
    let mut log = fs::File::options().append(true).open(&file).expect("a transcript");
    let said = |id: &str, kind: &str, text: &str| json!({"id": id, "timestamp": "2026-11-18T14:25:00.000Z", "type": kind, "content": [{"text": text}]});
    for row in [
        said("0c1de9b2-5f4a-4c1b-9a57-2b0d5f7e6a11", "user", "Paint it moonstone"),
        said("7be0a7c4-91d3-4e0f-8a4b-61c2f3d9e822", "gemini", "It is moonstone now."),
        json!({"$rewindTo": "0c1de9b2-5f4a-4c1b-9a57-2b0d5f7e6a11"}),
        said("c94f1b3a-2d7e-4a6c-b1f8-05e9d8c7b633", "user", "Paint it feldspar"),
        said("e2a85d6f-7c40-4b9d-93e1-f4b6a1c0d944", "gemini", "It is feldspar now."),
    ] {
        writeln!(log, "{row}").expect("a row");
    }
    GEMINI.age(&world);
    world.digest(&[]);
    let pages = world.pages();
    let text: String = pages.iter().map(|(_, page)| page.as_str()).collect();
    assert!(text.contains("feldspar") && !text.contains("It is moonstone now."), "{pages:#?}");
}

#[test]
fn a_session_that_was_forgotten_stays_out_though_its_file_has_the_start_of_its_id_alone() {
    let (read, unread) = ("40171b38-9df8-440d-9f0b-0dcd23a14a48", "aa051905-282f-458e-95c3-ac3e038b7c94");
    let world = GEMINI.world(VERSION);
    let forget = |session: &str| world.recall(["forget", "--yes", "--session", session]);
    assert_eq!(forget(unread).code, 0, "{:#?}", forget(unread));
    world.digest(&[]);
    assert_eq!(forget(read).code, 0);
    let chats = GEMINI.home_in(&world).join("tmp/larder/chats");
    for (n, file) in files_below(&chats).into_iter().enumerate() {
        let row = json!({"id": format!("more {n}"), "type": "gemini", "content": "One thing more."});
        writeln!(fs::File::options().append(true).open(file).expect("it is there"), "{row}").expect("a row");
    }
    GEMINI.age(&world);
    world.digest(&[]);
    let kept = world.recall(["export"]).out;
    assert!(kept.contains("One thing more.") && !kept.contains("a single cup") && !kept.contains("8 oz cheese"), "{kept}");
}
