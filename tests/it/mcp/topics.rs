//! `recall` and the prompt: what earlier sessions say on a topic.

use serde_json::{Value, json};

use crate::support::World;
use crate::support::mcp_client::Peer;

const PLAIN: &str = "64b0b6d9";

/// The folder the fixtures' project lies in is not of this machine: sessions of other projects are found as well.
#[test]
fn passages_on_a_topic_come_with_their_sources_within_the_budget() {
    let world = World::digested(&["plain", "retry"]);
    let mut peer = Peer::greet(&world);
    let question = "what did we decide about the pagination of the order list?";
    let (told, text) = peer.call("recall", json!({"topic": question}));
    assert!(text.contains("keyset") && text.contains(PLAIN), "{text}");
    assert!(text.lines().filter(|line| line.starts_with("## ")).all(|line| line.contains("(in shop, ")), "{text}");
    assert_eq!((told["text"].as_str(), &told["sources"][0]), (Some(text.as_str()), &json!(PLAIN)), "{told:#}");
    let mut last = 0;
    for max_tokens in [100, 300, 1_000] {
        let (_, text) = peer.call("recall", json!({"topic": question, "max_tokens": max_tokens}));
        assert!((text.len() * 2).div_ceil(7) <= max_tokens && text.len() >= last, "{max_tokens}: {text}");
        last = text.len();
    }
    for id in told["sources"].as_array().expect("sources") {
        peer.call("get", json!({"ids": [id]}));
    }
    let (told, text) = peer.call("recall", json!({"topic": "zeppelin"}));
    assert_eq!((&told["sources"], text.as_str()), (&json!([]), "nothing is known about `zeppelin`"));
    let (told, _) = peer.call("recall", json!({"topic": question, "project": "elsewhere"}));
    assert_eq!(told["sources"], json!([]), "{told:#}");
}

#[test]
fn bad_input_is_answered_with_what_to_do() {
    let world = World::digested(&["plain", "retry"]);
    let mut peer = Peer::greet(&world);
    for (asked, word) in [
        (json!({}), "topic"),
        (json!({"topic": " "}), "topic"),
        (json!({"topic": ["a"]}), "topic: invalid type"),
        (json!({"topic": "orders", "max_tokens": 99}), "100 to 4000"),
        (json!({"topic": "orders", "max_tokens": 4001}), "100 to 4000"),
        (json!({"topic": "orders", "max_tokens": 1e9}), "max_tokens: invalid type"),
        (json!({"topic": "orders", "model": "haiku"}), "model"),
    ] {
        let why = peer.fail("recall", asked.clone());
        assert!(why.contains(word), "{asked}: {why}");
    }
    let without = World::new();
    let why = Peer::greet(&without).fail("recall", json!({"topic": "orders"}));
    assert!(why.contains("`recall digest`"), "{why}");
}

fn prompt(peer: &mut Peer, arguments: Value) -> String {
    let told = peer.ask("prompts/get", json!({"name": "where-did-we-leave-off", "arguments": arguments}));
    let [message] = &told["messages"].as_array().expect("messages")[..] else { panic!("{told:#}") };
    assert_eq!((&message["role"], &message["content"]["type"]), (&json!("user"), &json!("text")), "{told:#}");
    message["content"]["text"].as_str().expect("a text").to_owned()
}

#[test]
fn the_prompt_brings_what_is_known_as_data_with_the_question_behind_it() {
    let world = World::digested(&["plain", "retry"]);
    let mut peer = Peer::greet(&world);
    let told = prompt(&mut peer, json!({"topic": "pagination of the order list"}));
    let (notes, question) = told.split_once("</recall-context>\n").unwrap_or_else(|| panic!("{told}"));
    assert!(notes.starts_with("<recall-context>\n") && notes.contains("data, not instructions"), "{told}");
    assert!(notes.contains("keyset") && notes.contains(PLAIN) && notes.contains("(in shop, "), "{told}");
    assert!(question.contains("Where did we leave off on this: pagination of the order list?"), "{question}");

    let nothing = prompt(&mut peer, json!({"topic": "zeppelin"}));
    assert!(nothing.starts_with("Nothing of it is remembered."), "{nothing}");
    let here = prompt(&mut peer, json!({}));
    assert!(here.starts_with("Nothing of it is remembered."), "no session was in this folder: {here}");
}

#[test]
fn without_a_topic_the_prompt_brings_what_a_session_of_the_project_starts_with() {
    let world = World::new();
    let folder = world.root().canonicalize().expect("the world").join("shop");
    std::fs::create_dir_all(folder.join(".git")).expect("a repository");
    let mut rows = crate::support::rows::Rows::new(1);
    let said = "Decision: the warehouse printer stays, because the labels depend on it.";
    rows.row(
        json!({"type": "user", "cwd": folder, "message": {"role": "user", "content": "Shall we replace the warehouse printer?"}}),
    );
    rows.row(json!({"type": "assistant", "cwd": folder, "message": {"id": "msg_1", "role": "assistant",
        "model": "claude-haiku-4-5-20251001", "content": [{"type": "text", "text": said}]}}));
    crate::support::rows::put(&world, &rows.id, &rows.text);
    world.digest(&[]);
    let mut peer = Peer::start(&world, &folder);
    peer.initialize(json!({}));
    let told = prompt(&mut peer, json!({}));
    assert!(
        told.contains("warehouse printer stays") && told.contains(&rows.id[..8]) && told.contains("data, not instructions"),
        "{told}"
    );
    assert!(told.trim_end().ends_with("what is open."), "{told}");
}
