//! Gemini CLI as it wrote before there were logs: a document for each session. What its client was told to do by a script, and what is read of
//! that. See `fixtures/README.md`.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::gemini::GEMINI;
use super::recorded::Counts;
use crate::support::{World, files_below, fixtures};

const VERSION: &str = "0.15.3";

/// What the script had the client do, as its requests say.
fn expected() -> Counts {
    let files = ["larder/parse.py", "tests/test_parse.py"].map(|name| format!("/home/dev/src/larder/{name}"));
    Counts {
        // Another one is all private.
        sessions: 4,
        // Without the private one and the one that is mostly a key; the helper's task is none.
        prompts: 3,
        // Two of them the helper's.
        replies: 9,
        // The command that is mostly a key is not kept.
        commands: 4,
        // Two of them the client itself refused.
        failed: 3,
        files: files.into(),
        subagents: 1,
        ..Counts::default()
    }
}

fn documents(world: &World) -> Vec<PathBuf> {
    files_below(&GEMINI.home_in(world)).into_iter().filter(|file| file.extension().is_some_and(|end| end == "json")).collect()
}

fn read(file: &PathBuf) -> Value {
    serde_json::from_str(&fs::read_to_string(file).expect("a document")).expect("JSON")
}

#[test]
fn what_was_done_is_what_is_read() {
    let (counts, tokens) = GEMINI.read(VERSION);
    assert_eq!(counts, expected());
    // Of the calls that the client keeps: one for each message, without the private one.
    assert_eq!((tokens.input, tokens.cached, tokens.output), (11 * 1200, 11 * 200, 11 * 70));
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    GEMINI.keeps_no_secret(VERSION);
}

#[test]
fn the_folder_is_the_one_whose_hash_the_client_calls_it_by() {
    let world = GEMINI.world(VERSION);
    world.digest(&[]);
    let listed = world.recall(["list", "--agent", "gemini-cli", "--project", "/home/dev/src/larder", "--json"]).out;
    // One of them has no prompt that is kept.
    assert_eq!(listed.lines().count(), expected().sessions - 1, "{listed}");
    // Nothing names it.
    let other = World::new();
    let name = "session-2026-11-19T01-07-c47c6045.json";
    let file = GEMINI.home_in(&other).join("tmp").join("0a".repeat(32)).join("chats").join(name);
    fs::create_dir_all(file.parent().expect("a parent")).expect("the folder");
    let from = documents(&world).into_iter().find(|file| file.ends_with(name)).expect("a document");
    fs::copy(from, &file).expect("a copy");
    GEMINI.age(&other);
    // It may be one that the config excludes: then it is not taken, and this is said.
    other.configure("[privacy]\nexclude_projects = [\"/home/dev/src/clinic\"]\n");
    let told = other.recall(["digest"]).out;
    assert!(told.contains("1 file not read, possibly from a project that you exclude"), "{told}");
    let doctor = other.recall(["doctor"]).out;
    assert!(doctor.contains("1 not read (1 of Gemini CLI), possibly from an excluded project"), "{doctor}");
    assert_eq!(other.items(), 0);
    other.configure("");
    other.digest(&[]);
    assert!(other.recall(["export"]).out.contains("Nothing has been pushed."));
}

#[test]
fn what_the_helper_said_is_not_what_the_assistant_said() {
    let world = GEMINI.world(VERSION);
    world.digest(&[]);
    let kept = world.recall(["export"]).out;
    assert!(!kept.contains("Your task is to do") && !kept.contains("one final chance"), "{kept}");
    let session: Value = kept
        .lines()
        .find(|line| line.contains("hand this to a subagent"))
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .expect("the session");
    let sources = session["sources"].as_array().expect("sources");
    let of_agent = |text: &str| {
        let source = sources.iter().find(|source| source["rows"].to_string().contains(text));
        source.unwrap_or_else(|| panic!("{text}: {session:#}"))["agent"].is_string()
    };
    assert!(of_agent("turns every amount into a float"), "{session:#}");
    assert!(!of_agent("A helper can look") && !of_agent("The helper says") && !of_agent("codebase_investigator"), "{session:#}");
}

#[test]
fn what_the_helper_did_for_a_private_prompt_is_private() {
    let world = GEMINI.world(VERSION);
    let is_it = |file: &PathBuf| file.ends_with("session-2026-11-19T01-07-71413543.json");
    let file = documents(&world).into_iter().find(is_it).expect("a document");
    let mut document = read(&file);
    document["messages"][0]["content"] = json!("<private>Please hand this to a subagent</private>");
    fs::write(&file, document.to_string()).expect("the document");
    GEMINI.age(&world);
    world.digest(&[]);
    let kept = world.recall(["export"]).out;
    for said in ["turns every amount into a float", "A helper can look", "The helper says", "where larder/shopping.py rounds"] {
        assert!(!kept.contains(said), "{said}: {kept}");
    }
    assert!(kept.contains("for a single cup"), "{kept}");
}

#[test]
fn it_does_not_matter_at_which_moments_a_document_is_read() {
    let at_once = GEMINI.world(VERSION);
    at_once.digest(&[]);
    let world = World::new();
    let from = fixtures().join("gemini").join(VERSION);
    let most = 7;
    for messages in 1..=most {
        for file in files_below(&from) {
            let to = GEMINI.home_in(&world).join(file.strip_prefix(&from).expect("a fixture"));
            fs::create_dir_all(to.parent().expect("a parent")).expect("the folder");
            let mut document = read(&file);
            let all = document["messages"].as_array_mut().expect("messages");
            assert!(all.len() <= most);
            all.truncate(messages);
            // The last one gets its calls later.
            if messages < most
                && let Some(calls) = all.last_mut().and_then(|last| last["toolCalls"].as_array_mut())
            {
                calls.truncate(1);
            }
            fs::write(&to, document.to_string()).expect("a document");
        }
        GEMINI.age(&world);
        world.digest(&[]);
    }
    assert_eq!(GEMINI.counts(&world), expected());
    assert!(world.pages() == at_once.pages(), "{:#?}", world.pages());
}

#[test]
fn a_document_that_is_half_written_is_read_by_the_next_digest() {
    let world = GEMINI.world(VERSION);
    let file = documents(&world).pop().expect("a document");
    let text = fs::read_to_string(&file).expect("a document");
    fs::write(&file, &text[..text.len() / 2]).expect("half of it");
    let ran = world.recall(["digest"]);
    assert!(ran.err.contains("cannot read") && ran.err.contains("not written to its end"), "{ran:#?}");
    fs::write(&file, text).expect("all of it");
    GEMINI.age(&world);
    world.digest(&[]);
    assert_eq!(GEMINI.counts(&world), expected());
}

#[test]
fn a_session_that_goes_on_as_a_log_is_told_once() {
    let world = GEMINI.world(VERSION);
    world.digest(&[]);
    let before = GEMINI.counts(&world);
    let file =
        documents(&world).into_iter().find(|file| file.ends_with("session-2026-11-19T01-07-d8915c64.json")).expect("a document");
    let document = read(&file);
    let head = json!({"sessionId": document["sessionId"], "startTime": document["startTime"]});
    let said = json!({"id": "more", "timestamp": "2026-11-19T01:12:00.000Z", "type": "gemini", "content": "One thing more."});
    let rows = [&[head][..], document["messages"].as_array().expect("messages"), &[said]].concat();
    let log: String = rows.iter().map(|row| format!("{row}\n")).collect();
    fs::write(file.with_extension("jsonl"), log).expect("a log");
    GEMINI.age(&world);
    let report = world.digest(&[]);
    assert_eq!(report["rows_new"], 1, "{report}");
    assert_eq!(GEMINI.counts(&world), Counts { replies: before.replies + 1, ..before });
}
