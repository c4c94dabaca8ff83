//! What no digest has seen yet: sessions told straight from their transcripts, marks, and what hooks are given and complain of.

use serde_json::{Value, json};

use crate::secrets::forms::{Form, written};
use crate::secrets::kinds::{KINDS, Shape};
use crate::secrets::outputs::{leaks, said};
use crate::secrets::places::Planted;
use crate::secrets::table::{CONFIG, started, tell};
use crate::support::World;
use crate::support::data_folder::files;
use crate::support::rows::{FOLDER, Rows, SHOP, put};

/// Kinds that a session may end with.
const KEPT: [&str; 5] = ["github personal", "postgres url", "aws secret access key", "NAME=thought-up password", "jwt"];

fn grown(name: &str, place: &str) -> (String, Planted) {
    let kind = KINDS.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("no kind {name}"));
    let grown = kind.grown(place);
    let form = if kind.shape == Shape::Text { Form::Start } else { Form::Assigned };
    let text = written(form, kind, &grown.text);
    (text, Planted { kind: kind.name, place: place.to_owned(), form: String::new(), parts: grown.parts })
}

fn payload(world: &World, event: &str, session: &str, more: &Value) -> String {
    let transcript = world.claude_dir().join(format!("projects/{FOLDER}/{session}.jsonl"));
    let mut all = json!({"session_id": session, "transcript_path": transcript, "cwd": SHOP, "hook_event_name": event});
    all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    all.to_string()
}

#[test]
fn nor_from_a_session_that_no_digest_has_seen() {
    let world = World::new();
    world.configure(CONFIG);
    let (mut all, mut sinks) = (Vec::new(), Vec::new());
    for (n, name) in KEPT.into_iter().enumerate() {
        let mut rows = Rows::new(n);
        let (asked, prompt) = grown(name, "last prompt");
        let (told, reply) = grown(name, "last reply");
        // There is more of these words than of any of the secrets.
        let words = "It was seen by two customers on Monday, and again by the night shift. Nobody has touched that module since the move to the new warehouse. Please keep the change small and write down what you find.";
        rows.user(json!(format!("The list of orders breaks on page {n}; please mend it. {words} {asked}")));
        rows.assistant(&format!("The list of orders is mended: page {n} is right again, all tests pass. {words}\n\n{told}"));
        all.extend([prompt, reply]);
        put(&world, &rows.id, &rows.text);
        let ran = world.hook("session-end", payload(&world, "SessionEnd", &rows.id, &json!({"reason": "other"})));
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{ran:#?}");
        sinks.extend(said("hook session-start (compact)", &started(&world, &rows.id, "compact")));
    }
    let ran = started(&world, "5e550000-0000-4000-8000-000000000000", "startup");
    sinks.extend(said("hook session-start", &ran));
    sinks.extend(said("context", &world.recall(["context", "--cwd", SHOP])));
    sinks.extend(files(&world));
    let told: Vec<usize> = (0..KEPT.len()).filter(|n| sinks.iter().any(|(_, b)| holds(b, &format!("page {n}")))).collect();
    assert_eq!(told.len(), KEPT.len(), "sessions are told, without their secrets: {told:?}");
    tell(&all, &leaks(&all, &sinks));
}

fn holds(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}

#[test]
fn nor_from_what_a_hook_is_given() {
    let world = World::new();
    world.configure(CONFIG);
    let (mut all, mut sinks) = (Vec::new(), Vec::new());
    let session = "5e551111-0000-4000-8000-000000000000";
    let events = [
        ("post-compact", "PostCompact", "compact_summary"),
        ("pre-compact", "PreCompact", "custom_instructions"),
        ("stop", "Stop", "last_assistant_message"),
        ("subagent-stop", "SubagentStop", "last_assistant_message"),
        ("session-end", "SessionEnd", "reason"),
        ("pre-compact", "PreCompact", "trigger"),
        ("session-start", "SessionStart", "source"),
        ("session-start", "SessionStart", "session_title"),
        ("session-end", "SessionEnd", "hook_event_name"),
    ];
    for name in KEPT {
        for (event, theirs, field) in events {
            let (text, one) = grown(name, &format!("{event}: {field}"));
            all.push(one);
            sinks.extend(said(event, &world.hook(event, payload(&world, theirs, session, &json!({field: text})))));
        }
        // What is no payload is complained of in the log.
        for (place, around) in [("no payload", ""), ("half a payload", "{\"session_id\": \"")] {
            let (text, one) = grown(name, place);
            all.push(one);
            sinks.extend(said("hook session-end", &world.hook("session-end", format!("{around}{text}"))));
        }
    }
    sinks.extend(files(&world));
    sinks.extend(said("doctor", &world.recall(["doctor", "--json"])));
    tell(&all, &leaks(&all, &sinks));
}
