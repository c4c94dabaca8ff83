//! What is heard of a session: everything `recall` stores, says and gives to the model.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::data_folder::{Held, columns, files, terms};
use crate::support::rows::{FOLDER, Rows, SHOP, put};
use crate::support::stand_in::{COST, StandIn, form, report};
use crate::support::{World, files_below};

pub const CONFIG: &str = "[hooks]\ndeadline_ms = 5000\n";

/// A world with a model that answers, and this config.
pub fn listener(config: &str) -> StandIn {
    let listener = StandIn::new(&[], "cat \"$here/good\"");
    listener.put("good", &report(&form(), COST));
    listener.world.configure(&format!("{CONFIG}{config}"));
    listener
}

/// A session of one turn, for whatever is said in it.
pub fn turn(n: usize, prompt: &str, reply: &str) -> Rows {
    let mut rows = Rows::new(n);
    rows.user(json!(prompt));
    rows.assistant(reply);
    rows
}

/// Puts the session there, digests it, and listens.
pub fn check(rows: &Rows) {
    check_with("", rows);
}

/// The same with more of a config.
pub fn check_with(config: &str, rows: &Rows) {
    let listener = listener(config);
    put(&listener.world, &rows.id, &rows.text);
    digest_and_listen(&listener);
}

/// Digests what there is: every `hush…` is nowhere, every `loud…` is kept.
pub fn digest_and_listen(listener: &StandIn) {
    let ran = listener.world.recall(["digest", "--json"]);
    assert!(ran.code < 2, "{ran:#?}");
    listen(listener, &words_of(&listener.world, "hush"), &words_of(&listener.world, "loud"));
}

/// These words are nowhere, and those are kept.
pub fn listen(listener: &StandIn, hushed: &BTreeSet<String>, loud: &BTreeSet<String>) {
    let world = &listener.world;
    let exported = world.recall(["export"]);
    assert_eq!(exported.code, 0, "{exported:#?}");
    let lost: Vec<_> = loud.iter().filter(|word| !exported.out.contains(word.as_str())).collect();
    assert!(lost.is_empty(), "not kept: {lost:?}\n{}", exported.out);
    let mut heard = Vec::new();
    for (name, bytes) in all_of(listener) {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        heard.extend(hushed.iter().filter(|word| text.contains(word.as_str())).map(|word| format!("{word}: {name}")));
    }
    assert!(heard.is_empty(), "heard: {heard:#?}\n{}", exported.out);
}

/// The words of all transcripts that begin so.
pub fn words_of(world: &World, start: &str) -> BTreeSet<String> {
    let transcripts = files_below(&world.claude_dir()).into_iter().map(|file| std::fs::read(file).expect("a transcript"));
    let text: Vec<String> = transcripts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    let words = text.iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()));
    // `\n` of JSON stands before a word.
    words
        .flat_map(|word| [word, word.strip_prefix('n').unwrap_or(word)])
        .filter(|w| w.starts_with(start))
        .map(str::to_owned)
        .collect()
}

fn all_of(listener: &StandIn) -> Vec<Held> {
    let world = &listener.world;
    let mut all = columns(world);
    all.extend(files(world));
    all.push(("terms of the index".into(), terms(world).join("\n").into_bytes()));
    for call in listener.calls() {
        all.push(("the model's stdin".into(), call.stdin.into_bytes()));
        all.push(("the model's arguments".into(), call.arguments.join("\n").into_bytes()));
    }
    let mut runs = vec![
        ("export", world.recall(["export"])),
        ("status", world.recall(["status", "--json"])),
        ("context", world.recall(["context", "--cwd", SHOP])),
        ("doctor", world.recall(["doctor", "--json"])),
    ];
    for session in world.exported() {
        let id = session["session"].as_str().expect("an id").to_owned();
        for how in ["--json", "--full", "--raw"] {
            runs.push((how, world.recall(["show", &id, how])));
        }
        runs.push(("show", world.recall(["show", &id])));
        runs.push(("timeline", world.recall(["timeline", &id])));
        for source in ["compact", "startup"] {
            runs.push(("hook session-start", world.hook("session-start", starts(world, &id, source).to_string())));
        }
    }
    all.extend(runs.into_iter().map(|(name, ran)| (name.to_owned(), [ran.out, ran.err].concat().into_bytes())));
    all
}

fn starts(world: &World, session: &str, source: &str) -> Value {
    let transcript = world.claude_dir().join(format!("projects/{FOLDER}/{session}.jsonl"));
    json!({"session_id": session, "transcript_path": transcript, "cwd": SHOP, "hook_event_name": "SessionStart", "source": source})
}
