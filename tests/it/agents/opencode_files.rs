//! OpenCode before 1.2, which kept a file for each session, message and part: what its client was told to do by a script, and what is read of
//! that. A newer version took these sessions over into its database. See `fixtures/README.md`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::opencode::OPENCODE;
use super::recorded::Counts;
use crate::support::{World, copy_tree, files_below, fixtures};

pub const VERSION: &str = "1.1.65";
/// The version that took the sessions over.
const NEWER: &str = "1.2.4";
/// The session in which the fault was found, and the project's folder.
const FIRST: &str = "ses_de04e8afcffeWCdJGvFqUarY3a";
const PROJECT: &str = "6868200b9be844617d38b0bd59364bbb41f18686";

/// What the script had the client do, as its requests say.
fn expected() -> Counts {
    let files = ["larder/parse.py", "tests/test_parse.py"].map(|name| format!("/home/dev/src/larder/{name}"));
    Counts {
        // Another one is all private.
        sessions: 4,
        // Without the private one and the one that is mostly a key.
        prompts: 4,
        // Two of them the helper's and about it, one about the key.
        replies: 9,
        // Without the one that is mostly a key.
        commands: 6,
        failed: 1,
        files: files.into(),
        commits: 1,
        subagents: 1,
        recaps: 0,
        forks: 1,
        interrupted: 0,
    }
}

fn storage(world: &World) -> PathBuf {
    OPENCODE.home_in(world).join("storage")
}

fn write(path: &Path, document: &Value) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("the folder");
    fs::write(path, format!("{document:#}")).expect("a file");
}

/// Has the client write a prompt in the first session, and nothing else.
fn prompt(world: &World, id: &str, text: &str) {
    let at = 1_795_052_000_000_u64;
    let storage = storage(world);
    let message = json!({"id": format!("msg_{id}"), "sessionID": FIRST, "role": "user", "time": {"created": at}});
    write(&storage.join(format!("message/{FIRST}/msg_{id}.json")), &message);
    let part =
        json!({"id": format!("prt_{id}"), "sessionID": FIRST, "messageID": format!("msg_{id}"), "type": "text", "text": text});
    write(&storage.join(format!("part/msg_{id}/prt_{id}.json")), &part);
}

/// Has the user go back in the first session to before a message, or forward again.
fn revert(world: &World, message: Option<&str>) {
    let file = storage(world).join(format!("session/{PROJECT}/{FIRST}.json"));
    let mut session: Value = serde_json::from_str(&fs::read_to_string(&file).expect("a session")).expect("JSON");
    session["revert"] = message.map_or(Value::Null, |message| json!({"messageID": message, "snapshot": "abc"}));
    write(&file, &session);
}

/// Puts the database beside the files, as the newer version does.
fn take_over(world: &World) {
    copy_tree(&fixtures().join("opencode").join(NEWER), &OPENCODE.home_in(world));
}

#[test]
fn what_was_done_is_what_is_read() {
    let (counts, tokens) = OPENCODE.read(VERSION);
    assert_eq!(counts, expected());
    // The turns and the helper's, without the private one: 18 calls, each of the same size.
    assert_eq!((tokens.input, tokens.cached, tokens.output), (18 * 1200, 18 * 200, 18 * 70));
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    OPENCODE.keeps_no_secret(VERSION);
    OPENCODE.keeps_no_secret(NEWER);
}

#[test]
fn a_prompt_is_told_without_the_quotation_marks_of_the_command_line() {
    let world = OPENCODE.world(VERSION);
    world.digest(&[]);
    let kept = world.recall(["export"]).out;
    assert!(kept.contains(r#"The recipe reader takes \"1 1/2 cups flour\" for"#) && !kept.contains(r#"\\\"1 1/2"#), "{kept}");
}

#[test]
fn a_session_has_changed_if_any_of_its_files_has() {
    let world = OPENCODE.world(VERSION);
    assert_eq!(world.digest(&[])["files_read"], 6);
    assert_eq!(world.digest(&[])["files_read"], 0);
    prompt(&world, "zz1", "Add pounds, too");
    let report = world.digest(&[]);
    assert_eq!((&report["files_read"], &report["rows_new"]), (&1.into(), &1.into()), "{report}");
    assert!(world.recall(["search", "pounds"]).out.contains("Add pounds, too"));
    // A part that was there, in place.
    let part = files_below(&storage(&world).join("part")).pop().expect("a part");
    fs::write(&part, fs::read(&part).expect("a part")).expect("a part");
    assert_eq!(world.digest(&[])["files_read"], 1);
    // What is gone is kept.
    let before = OPENCODE.counts(&world);
    fs::remove_dir_all(storage(&world)).expect("they were there");
    world.digest(&[]);
    assert_eq!(OPENCODE.counts(&world), before);
}

/// The files in the order in which the client wrote them first: ids begin with their time. Those of sessions come before all others.
fn in_order() -> Vec<PathBuf> {
    let mut all = files_below(&fixtures().join("opencode").join(VERSION));
    let time = |file: &Path| {
        let name = file.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
        (name.starts_with("msg_") || name.starts_with("prt_")).then(|| name[4..].to_owned())
    };
    all.sort_by_key(|file| time(file));
    all
}

/// What a file held when so much was written: a session has its title once it has a prompt, a message is ended after its last part.
fn as_it_was(file: &Path, written: &[PathBuf], parts: &Path) -> String {
    let text = fs::read_to_string(file).expect("a file");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let own = parts.join(file.file_stem().expect("a name"));
    let of_session =
        |file: &PathBuf| file.starts_with(parts) && fs::read_to_string(file).expect("a part").contains(id_in(&document));
    if document["title"].is_string() && !written.iter().any(of_session) {
        document["title"] = json!("New session - 2026-11-19T01:07:33.251Z");
    }
    if document["role"] == "assistant" && files_below(&own).iter().any(|part| !written.contains(part)) {
        document["time"] = json!({"created": document["time"]["created"]});
    }
    format!("{document:#}")
}

fn id_in(document: &Value) -> &str {
    document["id"].as_str().expect("an id")
}

#[test]
fn it_does_not_matter_at_which_moments_the_files_are_read() {
    let at_once = OPENCODE.world(VERSION);
    at_once.digest(&[]);
    let world = World::new();
    let (all, from) = (in_order(), fixtures().join("opencode").join(VERSION));
    let parts = from.join("storage/part");
    let sessions = files_below(&from.join("storage/session")).len();
    let to = |file: &Path| OPENCODE.home_in(&world).join(file.strip_prefix(&from).expect("a fixture"));
    for end in (sessions..all.len()).step_by(5).chain([all.len()]) {
        let written = &all[..end];
        for file in written {
            fs::create_dir_all(to(file).parent().expect("a parent")).expect("the folder");
            fs::write(to(file), as_it_was(file, written, &parts)).expect("a file");
        }
        // The next one is half written.
        if let Some(next) = all.get(end) {
            let text = as_it_was(next, written, &parts);
            fs::create_dir_all(to(next).parent().expect("a parent")).expect("the folder");
            fs::write(to(next), &text[..text.len() / 2]).expect("a file");
        }
        OPENCODE.age(&world);
        let report = world.digest(&[]);
        assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&Value::from(0), &Value::from(0)), "{end}: {report}");
    }
    assert_eq!(OPENCODE.counts(&world), expected());
    assert!(world.pages() == at_once.pages(), "{:#?}", world.pages());
}

#[test]
fn a_file_that_was_never_written_to_its_end_is_counted_once_the_session_went_on() {
    let world = OPENCODE.world(VERSION);
    let part = files_below(&storage(&world).join("part"))
        .into_iter()
        .find(|part| fs::read_to_string(part).expect("a part").contains("reproduce it in a test"))
        .expect("the first reply");
    fs::write(&part, "{\"id\": \"prt_").expect("the part");
    OPENCODE.age(&world);
    let report = world.digest(&[]);
    assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&Value::from(0), &Value::from(1)), "{report}");
    assert_eq!(OPENCODE.counts(&world), expected(), "the fork has it");
}

#[test]
fn a_session_that_a_newer_version_took_over_is_told_once() {
    let world = OPENCODE.world(VERSION);
    world.digest(&[]);
    let pages = world.pages();
    take_over(&world);
    let report = world.digest(&[]);
    assert_eq!((&report["files_read"], &report["rows_new"]), (&6.into(), &0.into()), "{report}");
    assert!(world.pages() == pages, "{:#?}", world.pages());
    assert_eq!(OPENCODE.counts(&world), expected());
    // Both at once: the database alone is read.
    let both = OPENCODE.world(VERSION);
    take_over(&both);
    assert_eq!(both.digest(&[])["files_read"], 6);
    assert!(both.pages() == pages, "{:#?}", both.pages());
    assert_eq!(both.digest(&[])["files_read"], 0);
}

#[test]
fn what_is_said_in_the_files_of_a_session_that_was_taken_over_is_read() {
    let world = OPENCODE.world(VERSION);
    take_over(&world);
    world.digest(&[]);
    // Somebody goes back to the older version.
    let file = storage(&world).join(format!("session/{PROJECT}/{FIRST}.json"));
    let mut session: Value = serde_json::from_str(&fs::read_to_string(&file).expect("a session")).expect("JSON");
    session["time"]["updated"] = json!(1_795_052_000_000_u64);
    write(&file, &session);
    prompt(&world, "zz1", "Add pounds, too");
    let report = world.digest(&[]);
    assert_eq!((&report["files_read"], &report["rows_new"]), (&1.into(), &1.into()), "{report}");
    assert_eq!(OPENCODE.counts(&world).prompts, expected().prompts + 1);
}

#[test]
fn what_the_user_took_back_last_is_undone_until_it_is_redone() {
    let world = OPENCODE.world(VERSION);
    prompt(&world, "z", "Add pounds, too");
    OPENCODE.age(&world);
    world.digest(&[]);
    let page = |world: &World| world.recall(["show", &FIRST[FIRST.len() - 8..]]).out;
    let before = page(&world);
    assert!(before.contains("Add pounds, too"), "{before}");
    revert(&world, Some("msg_z"));
    OPENCODE.age(&world);
    world.digest(&[]);
    let undone = page(&world);
    assert!(!undone.contains("Add pounds, too"), "{undone}");
    let fresh = OPENCODE.world(VERSION);
    prompt(&fresh, "z", "Add pounds, too");
    revert(&fresh, Some("msg_z"));
    OPENCODE.age(&fresh);
    fresh.digest(&[]);
    assert_eq!(page(&fresh), undone);
    revert(&world, None);
    OPENCODE.age(&world);
    world.digest(&[]);
    assert_eq!(page(&world), before);
}
