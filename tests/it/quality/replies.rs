//! Digests as a model would make them: `replies/<first eight of the session's id>.json` holds what it says of a session, word for word.
//! Written by somebody who had not seen the questions, so that the questions a digest brings are measured fairly.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::quality::corpus::{beginnings, here};
use crate::support::World;

/// Answers by the first line of what it is given, which names the project and the time a session began.
const SCRIPT: &str = r#"#!/bin/sh
IFS= read -r head
cat > /dev/null
name=$(printf '%s' "$head" | sed 's/^Project \([^,]*\),.*\([0-9]\{4\}-[0-9-]*\) \([0-9:]*\) UTC to .*/\1 \2 \3/')
cat "{folder}/$name" 2>/dev/null || { echo "no reply for $name" >&2; exit 1; }
"#;

fn folder() -> PathBuf {
    here().join("replies")
}

/// How many sessions a reply is there for.
pub fn count() -> usize {
    beginnings().iter().filter(|(_, id)| words(id).is_some()).count()
}

/// What the model says of a session.
fn words(id: &str) -> Option<String> {
    fs::read_to_string(folder().join(format!("{}.json", &id[..8]))).ok()
}

/// Puts a `claude` into the world that says these replies; returns the config under which every session is digested by it.
///
/// Without `questions`, those a reply brings are left out.
pub fn stand_in(world: &World, questions: bool) -> String {
    let to = world.root().join("replies");
    fs::create_dir_all(&to).expect("a folder");
    for (name, id) in beginnings() {
        let Some(mut words) = words(&id) else { continue };
        if !questions {
            let mut form: Value = serde_json::from_str(&words).unwrap_or_else(|e| panic!("{id}: {e}"));
            form["questions"] = json!([]);
            words = form.to_string();
        }
        let reply = json!({
            "type": "result", "subtype": "success", "is_error": false, "duration_ms": 1000, "num_turns": 1, "result": words,
            "session_id": "1b921730-27cb-4cd8-b8ea-521e71951572", "total_cost_usd": 0.01,
            "modelUsage": {"claude-haiku-4-5-20251001": {"inputTokens": 4, "outputTokens": 10, "costUSD": 0.01}},
        });
        fs::write(to.join(name), reply.to_string()).expect("a reply");
    }
    world.fake_claude(&SCRIPT.replace("{folder}", to.to_str().expect("UTF-8")));
    "[digest]\nsummarizer = \"claude\"\nbacklog = 1000\nmax_sessions = 1000\nmax_cost_usd = 100.0\nmax_cost_usd_per_day = 100.0\n"
        .to_owned()
}
