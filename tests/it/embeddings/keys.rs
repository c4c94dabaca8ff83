//! The key, and who may ask at all.

use serde_json::json;

use crate::embeddings::scene::{EXTRACT, embedded, three_sessions};
use crate::support::embeddings::{Does, Endpoint};
use crate::support::{World, files_below};

/// No form that redaction knows.
const KEY: &str = "plover-quince-42";

fn with_key() -> (World, Endpoint) {
    let (world, endpoint) = (three_sessions(), Endpoint::start());
    world.configure(&format!("{}key_env = \"MY_KEY\"\n", endpoint.config()));
    (world, endpoint)
}

#[test]
fn the_key_is_sent_and_neither_shown_nor_kept() {
    let (world, endpoint) = with_key();
    let variables = [("MY_KEY", KEY)];
    let mut said = String::new();
    for arguments in [
        &["digest", "--summarizer", "extract"][..],
        &["search", "zebra"],
        &["config"],
        &["config", "--json"],
        &["status"],
        &["doctor"],
        &["export"],
    ] {
        let ran = world.recall_with(arguments, &variables);
        said += &format!("{arguments:?}: {}{}", ran.out, ran.err);
    }
    let repeated = format!(r#"{{"error": "the key {KEY} is not known"}}"#);
    endpoint.behave(Does::Say(401, repeated.into_bytes()));
    for arguments in [&["search", "zebra"][..], &["doctor"]] {
        let ran = world.recall_with(arguments, &variables);
        assert!(format!("{}{}", ran.out, ran.err).contains("it answered 401: the key … is not known"), "{ran:#?}");
        said += &format!("{}{}", ran.out, ran.err);
    }
    assert!(!said.contains(KEY), "{said}");
    assert!(endpoint.asked().iter().all(|asked| asked.raw.to_lowercase().contains(&format!("authorization: bearer {KEY}"))));
    for file in files_below(world.root()) {
        let bytes = std::fs::read(&file).expect("a file");
        assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "{}", file.display());
    }
}

#[test]
fn a_key_that_is_not_set_is_told_of_and_nobody_is_asked() {
    let (world, endpoint) = with_key();
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains("$MY_KEY, which `embeddings.key_env` names, is not set"), "{}", ran.err);
    assert!(endpoint.asked().is_empty());
}

#[test]
fn without_a_key_none_is_sent() {
    let (world, endpoint) = embedded();
    world.recall_with(["search", "zebra"], &[("MY_KEY", KEY), ("OPENAI_API_KEY", KEY), ("OLLAMA_API_KEY", KEY)]);
    assert!(endpoint.asked().iter().all(|asked| !asked.raw.to_lowercase().contains("authorization") && !asked.raw.contains(KEY)));
}

#[test]
fn a_key_in_the_config_is_an_error_that_does_not_repeat_it() {
    let world = three_sessions();
    for line in [
        "key_env = \"sk-proj-plover\"",
        "endpoint = \"https://me:sk-proj-plover@example.com\"",
        "endpoint = \"https://example.com?key=sk-proj-plover\"",
    ] {
        world.configure(&format!("[embeddings]\nmodel = \"m\"\n{line}\n"));
        let ran = world.recall(["config"]);
        assert_eq!(ran.code, 2, "{ran:#?}");
        assert!(ran.err.contains("config.toml:3: `embeddings.") && !ran.err.contains("plover"), "{}", ran.err);
    }
}

#[test]
fn no_hook_ever_asks() {
    let (world, endpoint) = embedded();
    world.transcript(
        "-p/new.jsonl",
        crate::support::user("eeee5555", "u1", "2026-11-20T12:00:00Z", "Where did we leave off on the zebra?"),
    );
    let transcript = world.claude_dir().join("projects/-p/new.jsonl");
    let event = json!({
        "session_id": "eeee5555", "transcript_path": transcript, "cwd": "/home/dev/src/shop", "source": "startup", "reason": "other",
        "prompt": "where did we leave off on the zebra?", "trigger": "manual",
    });
    for hook in ["session-start", "user-prompt-submit", "session-end", "pre-compact", "stop", "subagent-stop", "post-compact"] {
        let mut event = event.clone();
        event["hook_event_name"] = json!(hook);
        world.hook(hook, event.to_string());
    }
    for arguments in [&["context", "--cwd", "/home/dev/src/shop"][..], &["show", "aaaa1111"], &["status"], &["config"], &["export"]]
    {
        world.recall(arguments);
    }
    assert!(endpoint.asked().is_empty(), "{:?}", endpoint.asked());
    world.digest(&EXTRACT);
    assert!(!endpoint.asked().is_empty());
}
