//! Sessions of one project, of which some speak of what is to be forgotten.

use std::path::PathBuf;

use serde_json::json;

use crate::support::{World, assistant, tasks, user};

/// One word of the text: if it is nowhere, neither is the text.
pub const WORD: &str = "zanzibarquux";
pub const TEXT: &str = "Zanzibarquux lagoon";

/// Speaks of it in every way there is.
pub const TELLS: &str = "aaaaaaaa-1111-4111-8111-000000000001";
/// A fork of it that goes on with something else.
pub const FORK: &str = "bbbbbbbb-1111-4111-8111-000000000002";
/// Never does.
pub const OTHER: &str = "cccccccc-1111-4111-8111-000000000003";

pub const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

pub fn id(name: &str) -> String {
    format!("00000000-0000-4000-8000-0000000000{name}")
}

fn at(minute: u32) -> String {
    format!("2026-11-20T10:{minute:02}:00Z")
}

/// A use of a tool with its result.
fn tool(session: &str, name: &str, minute: u32, input: &serde_json::Value, result: &str) -> String {
    let row = |kind: &str, uuid: String, content: serde_json::Value| {
        let message =
            json!({"id": format!("msg_{uuid}"), "role": kind, "model": "claude-haiku-4-5-20251001", "content": [content]});
        let row = json!({
            "type": kind, "uuid": uuid, "sessionId": session, "timestamp": at(minute), "cwd": "/home/dev/src/shop",
            "gitBranch": "main", "message": message,
        });
        format!("{row}\n")
    };
    let tool = if input["command"].is_string() { "Bash" } else { "Edit" };
    row(
        "assistant",
        id(&format!("{name}0")[1..]),
        json!({"type": "tool_use", "id": format!("toolu_{name}"), "name": tool, "input": input}),
    ) + &row(
        "user",
        id(&format!("{name}1")[1..]),
        json!({"type": "tool_result", "tool_use_id": format!("toolu_{name}"), "is_error": true, "content": result}),
    )
}

/// The rows that a fork copies.
fn told(session: &str) -> String {
    let heredoc = json!({"command": "cat > note.txt <<'EOF'\nthe Zanzibarquux\nlagoon is deep\nEOF"});
    let edit = json!({"file_path": "/home/dev/src/shop/zanzibarquux lagoon/plan.py", "old_string": "a", "new_string": "b"});
    user(session, &id("a1"), &at(0), "Why is the importer slow?")
        + &assistant(session, &id("a2"), &at(1), "I cached the rates in `import.py`, because they were read for every row.")
        + &user(session, &id("a3"), &at(2), "Now about the zanzibarQUUX\n  lagoon: who owns it?")
        + &assistant(session, &id("a4"), &at(3), "I found that the Zanzibarquux lagoon belongs to nobody.")
        + &tool(session, "xa", 4, &heredoc, "note.txt: permission denied in the Zanzibarquux lagoon")
        + &tool(session, "xb", 5, &edit, "no such file")
        + &assistant(session, &id("a9"), &at(8), "I decided to keep the cache for an hour.")
        + &tasks(
            session,
            &id("aa"),
            &at(9),
            &["Ask for the Zanzibarquux lagoon at the office", "Add a test for the currency cache"],
        )
}

pub fn path_of(session: &str) -> String {
    format!("-home-dev-src-shop/{session}.jsonl")
}

/// The transcripts: one that tells, its fork, and one of something else that holds a title for the first.
pub fn transcripts() -> [(String, String); 3] {
    let title = json!({"type": "ai-title", "aiTitle": "The Zanzibarquux lagoon and the importer", "sessionId": TELLS});
    let stamp = json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-20T11:00:00Z", "sessionId": FORK});
    let summary = json!({"type": "summary", "summary": "Zanzibarquux lagoon found", "leafUuid": id("a9")});
    [
        (path_of(TELLS), told(TELLS) + &format!("{title}\n")),
        (
            path_of(FORK),
            format!("{stamp}\n")
                + &told(FORK)
                + &user(FORK, &id("f1"), "2026-11-20T11:01:00Z", "Write the changelog entry for the importer.")
                + &assistant(FORK, &id("f2"), "2026-11-20T11:02:00Z", "I wrote the changelog entry."),
        ),
        (
            path_of(OTHER),
            user(OTHER, &id("c1"), "2026-11-20T12:00:00Z", "Add a button to the order list.")
                + &assistant(
                    OTHER,
                    &id("c2"),
                    "2026-11-20T12:05:00Z",
                    "I added the button to `orders.py`.\n\nNext steps:\n- Style the button\n",
                )
                + &format!("{summary}\n"),
        ),
    ]
}

/// A world in which all of it is read and digested.
pub fn told_world(arguments: &[&str]) -> World {
    let world = World::new();
    write(&world);
    world.digest(arguments);
    world
}

pub fn write(world: &World) -> Vec<PathBuf> {
    transcripts().into_iter().map(|(path, text)| world.transcript(&path, text)).collect()
}
