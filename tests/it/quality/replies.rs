//! Digests as a model would make them: a line of `replies.jsonl` has the first eight characters of a session's id, and what the model says
//! of it, word for word. To read one: `jq 'select(.session == "067fc476").reply' tests/it/quality/replies.jsonl`.
//! Written by somebody who had not seen the questions, so that the questions a digest brings are measured fairly.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;
use serde_json::value::RawValue;
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

/// A line of the file.
#[derive(Deserialize)]
struct Line<'a> {
    session: &'a str,
    #[serde(borrow)]
    reply: &'a RawValue,
}

/// How many sessions a reply is there for.
pub fn count() -> usize {
    let all = replies();
    beginnings().iter().filter(|(_, id)| all.contains_key(&id[..8])).count()
}

/// What the model says of each session, by the first eight characters of its id.
fn replies() -> BTreeMap<String, String> {
    let text = fs::read_to_string(here().join("replies.jsonl")).expect("the replies");
    let all = text.lines().map(|line| serde_json::from_str::<Line>(line).unwrap_or_else(|e| panic!("{e}: {line}")));
    all.map(|line| (line.session.to_owned(), line.reply.get().to_owned())).collect()
}

/// Puts a `claude` into the world that says these replies; returns the config under which every session is digested by it.
///
/// Without `questions`, those a reply brings are left out.
pub fn stand_in(world: &World, questions: bool) -> String {
    let to = world.root().join("replies");
    fs::create_dir_all(&to).expect("a folder");
    let all = replies();
    for (name, id) in beginnings() {
        let Some(mut words) = all.get(&id[..8]).cloned() else { continue };
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
