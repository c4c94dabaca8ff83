//! The extensions Cline, Roo Code and Kilo Code: tasks made by hand after their published forms, and what is read of them. See
//! `fixtures/README.md`.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::recorded::{Counts, Recorded};
use crate::support::{World, age, files_below};

const USER: &str = if cfg!(target_os = "macos") { "Library/Application Support/Code/User" } else { ".config/Code/User" };
const CLINE: Recorded = Recorded { agent: "cline", fixtures: "cline", home: USER };
const ROO: Recorded = Recorded { agent: "roo-code", fixtures: "roo-code", home: USER };
const KILO: Recorded = Recorded { agent: "kilo-code", fixtures: "kilo-code", home: USER };
pub const ALL: [(Recorded, &str); 3] = [(CLINE, "extension"), (ROO, "made"), (KILO, "made")];

fn files(names: &[&str]) -> std::collections::BTreeSet<String> {
    names.iter().map(|name| format!("/home/dev/src/larder/{name}")).collect()
}

/// All tokens of a client, with those that the cache held.
fn tokens(world: &World) -> [u64; 3] {
    let stats: Value = serde_json::from_str(&world.recall(["stats", "--json", "--since", "2026-11-01"]).out).expect("JSON");
    ["input", "cache_read", "output"].map(|name| stats["total"][name].as_u64().expect("a count"))
}

#[test]
fn what_was_done_is_what_is_read() {
    let (parser, test) = ("larder/parse.py", "tests/test_parse.py");
    // Of the prompt that is mostly a key nothing is kept.
    let expected = [
        Counts { sessions: 3, prompts: 2 + 2, replies: 5 + 1 + 2, commands: 3 + 1 + 1, failed: 1 + 1, ..Counts::default() },
        Counts {
            sessions: 3,
            prompts: 2 + 1,
            replies: 4 + 1 + 1 + 2,
            commands: 3 + 1,
            failed: 1 + 1,
            subagents: 1,
            recaps: 1,
            ..Counts::default()
        },
        Counts { sessions: 3, prompts: 1 + 1, replies: 4 + 1 + 2, commands: 3 + 1, failed: 1 + 1, ..Counts::default() },
    ];
    let changed = [files(&[parser, test]), files(&[parser, test, "larder/shopping.py"]), files(&[parser])];
    let used = [[4600, 13_300, 610], [5200, 12_600, 550], [4100, 9400, 350]];
    for (((client, version), (expected, files)), used) in ALL.iter().zip(expected.into_iter().zip(changed)).zip(used) {
        let world = client.world(version);
        let report = world.digest(&[]);
        assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&0.into(), &0.into()), "{}: {report}", client.agent);
        assert_eq!(client.counts(&world), Counts { files, commits: 1, ..expected }, "{}", client.agent);
        assert_eq!(tokens(&world), used, "{}", client.agent);
    }
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    ALL.iter().for_each(|(client, version)| client.keeps_no_secret(version));
}

/// Writes the documents as they were once each had so many messages.
fn write_until(client: &Recorded, version: &str, world: &World, messages: usize) {
    let whole = client.world(version);
    for file in files_below(&client.home_in(&whole)) {
        let to = client.home_in(world).join(file.strip_prefix(client.home_in(&whole)).expect("a document"));
        let mut document: Value = serde_json::from_slice(&fs::read(&file).expect("a document")).expect("JSON");
        let in_list = if document["messages"].is_array() { &mut document["messages"] } else { &mut document };
        if let Some(all) = in_list.as_array_mut().filter(|_| file.ends_with("api_conversation_history.json")) {
            all.truncate(messages);
        }
        fs::create_dir_all(to.parent().expect("a folder")).expect("the folder");
        fs::write(to, document.to_string()).expect("a document");
    }
    client.age(world);
}

#[test]
fn it_does_not_matter_how_often_documents_were_written_in_between() {
    for (client, version) in &ALL {
        let at_once = World::new();
        write_until(client, version, &at_once, usize::MAX);
        at_once.digest(&[]);
        let world = World::new();
        for messages in [0, 1, 2, 5, 8, usize::MAX] {
            write_until(client, version, &world, messages);
            world.digest(&[]);
        }
        assert!(world.pages() == at_once.pages(), "{}: {:#?}", client.agent, world.pages());
    }
}

#[test]
fn a_task_that_is_taken_up_again_is_read_once() {
    let world = KILO.world("made");
    world.digest(&[]);
    let before = KILO.counts(&world);
    let task = files_below(&KILO.home_in(&world))
        .into_iter()
        .find(|file| file.to_string_lossy().ends_with("b104/api_conversation_history.json"));
    let task = task.expect("a task");
    let mut messages: Value = serde_json::from_slice(&fs::read(&task).expect("a document")).expect("JSON");
    let all = messages.as_array_mut().expect("messages");
    // The last message of the user's side is written anew, at another time and with more in it.
    let last = &mut all[4];
    last["ts"] = (last["ts"].as_i64().expect("a time") + 3_600_000).into();
    let goes_on = "<user_message>\nAnd which does it not know?\n</user_message>";
    last["content"].as_array_mut().expect("blocks").push(json!({"type": "text", "text": goes_on}));
    all[5] = json!({"role": "assistant", "ts": 1_795_174_000_000_i64, "content": [{"type": "text", "text": "Ounces."}]});
    fs::write(&task, messages.to_string()).expect("the document");
    age(&task, Duration::from_secs(3600));
    world.digest(&[]);
    let after = KILO.counts(&world);
    assert_eq!((after.prompts, after.replies), (before.prompts + 1, before.replies + 1));
    assert_eq!((after.commands, after.sessions), (before.commands, before.sessions));
}

#[test]
fn a_document_that_is_just_being_written_is_read_the_next_time() {
    let world = ROO.world("made");
    let documents = files_below(&ROO.home_in(&world)).into_iter().filter(|file| file.ends_with("api_conversation_history.json"));
    let document = documents.max_by_key(|file| fs::metadata(file).expect("a file").len()).expect("a document");
    let whole = fs::read(&document).expect("a document");
    fs::write(&document, &whole[..whole.len() / 2]).expect("half of it");
    let ran = world.recall(["digest"]);
    assert!(ran.code == 1 && ran.err.contains("not written to its end yet"), "{ran:#?}");
    fs::write(&document, whole).expect("all of it");
    ROO.age(&world);
    assert_eq!(world.recall(["digest"]).code, 0);
    assert_eq!(ROO.counts(&world).commits, 1);
}

#[test]
fn a_task_of_cline_is_named_by_the_end_of_its_id_and_not_continued_by_the_command_line() {
    let world = CLINE.world("extension");
    world.digest(&[]);
    // The first characters of an id are the time.
    let listed = world.recall(["list"]).out;
    let id =
        listed.lines().find(|line| line.contains("1 1/2 cups")).and_then(|line| line.split_whitespace().nth(2)).expect("an id");
    assert!(id == "93000000" && world.recall(["show", id]).code == 0, "{listed}");
    assert!(world.pages().iter().all(|(_, page)| !page.contains("cline --id")));
}

#[test]
fn a_task_belongs_to_its_folder_and_its_client_continues_it() {
    let world = ROO.world("made");
    world.digest(&[]);
    let listed = world.recall(["list", "--agent", "roo", "--project", "/home/dev/src/larder"]).out;
    assert!(listed.contains("\"1/2 tsp\" cannot be read") && listed.contains("(Roo Code)"), "{listed}");
    let shown = world.recall(["show", "019a7b5e", "--full"]).out;
    for part in ["Roo's last reply", "Commit it now?", "Yes", "`larder/parse.py`"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let ran = world.recall(["resume", "019a7b5e", "--print"]);
    assert!(ran.code == 2 && ran.err.contains("recall cannot resume sessions of Roo Code"), "{ran:#?}");
}

#[test]
fn tasks_are_found_where_somebody_keeps_them() {
    let world = World::new();
    let elsewhere = world.home().join("elsewhere");
    let recorded = crate::support::fixtures().join("kilo-code/made/globalStorage/kilocode.kilo-code");
    crate::support::copy_tree(&recorded, &elsewhere);
    world.configure(&format!("[sources.kilo-code]\ndirs = [{elsewhere:?}]\n"));
    for file in files_below(&elsewhere) {
        age(&file, Duration::from_secs(3600));
    }
    let report = world.digest(&[]);
    assert_eq!(report["files_seen"], 4, "{report}");
    assert_eq!(KILO.counts(&world).sessions, 3);
}
