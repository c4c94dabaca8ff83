//! The sessions that are fed in slices, and the stand-in for the model.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::support::{assistant, committed, files_below, fixtures, tasks, user};

/// All of them: `fork` holds the session of `plain`, byte for byte.
pub const FIXTURES: [&str; 6] = ["fork", "compact", "clear", "subagent", "hooks", "retry"];
pub const EXTRACT: &[&str] = &["--summarizer", "extract"];
pub const CLAUDE: &[&str] = &["--summarizer", "claude"];
pub const RICH: &str = "[digest]\nmax_sessions = 1000\nmax_cost_usd = 1000.0\nmax_cost_usd_per_day = 1000.0\nbacklog = 1000\n";

/// A stand-in whose reply is a function of what it is asked about, which is its stdin without the lists of what earlier sessions left open
/// and said: it cites rows and leaves something open. It closes and replaces nothing: what is listed is known only as runs go on, and an
/// answer that is paid for is kept. `summarizer::closes` and `summarizer::replaces` are about that.
pub const SCRIPTED: &str = r#"#!/bin/sh
text=$(sed -e '/^Open items of earlier/,/^<record-/d' -e '/^Said in earlier/,/^<record-/d' -e '/^<record-/d')
mark=$(printf '%s\n' "$text" | cksum | tr -d ' ')
files=$(printf '%s\n' "$text" | grep -o '[a-z_/]*\.py' | head -n 3 | sed 's/.*/\\"&\\"/' | paste -sd, -)
form="{\\\"title\\\":\\\"Work $mark\\\",\\\"request\\\":\\\"Asked $mark\\\",\\\"completed\\\":[\\\"Done $mark\\\"],\\\"learned\\\":[\\\"Learned $mark\\\"],\
\\\"decisions\\\":[{\\\"text\\\":\\\"Decided $mark\\\",\\\"rows\\\":[1,2]}],\\\"files\\\":[$files],\\\"blockers\\\":[{\\\"text\\\":\\\"Blocked ${mark%???????}\\\",\\\"rows\\\":[1]}],\
\\\"next_steps\\\":[{\\\"text\\\":\\\"Next ${mark%?????}\\\",\\\"rows\\\":[2]},{\\\"text\\\":\\\"Unsupported ${mark%??????}\\\",\\\"rows\\\":[]}],\
\\\"questions\\\":[\\\"what is $mark?\\\"]}"
printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","total_cost_usd":0.001}\n' "$form"
"#;

/// Transcripts by path below the config directory.
pub type Files = Vec<(PathBuf, Vec<u8>)>;

pub fn recorded(names: &[&str]) -> Files {
    let all = names.iter().flat_map(|name| {
        let root = fixtures().join("claude-code-2.1.197").join(name);
        files_below(&root).into_iter().map(move |f| (f.strip_prefix(&root).unwrap().to_owned(), fs::read(&f).unwrap()))
    });
    all.filter(|(path, _)| path.extension().is_some_and(|e| e == "jsonl")).collect()
}

const OPENS: &str = "aaaa0000-1111-4111-8111-000000000001";
const CLOSES: &str = "bbbb0000-1111-4111-8111-000000000002";
const LAST: &str = "cccc0000-1111-4111-8111-000000000003";

/// The uuid of a row of a made-up session.
fn row_id(name: &str) -> String {
    format!("00000000-0000-4000-8000-0000000000{name}")
}

/// A session that leaves things open.
fn opens() -> String {
    let first = "I cached the rates, because they were read for every row.";
    let left =
        ["Add a test for the currency cache", "Write the changelog entry for the import", "Measure the importer", "Tidy the log"];
    let second =
        "The log level is now warning.\n\nRemaining: add a test for the currency cache; the importer still reads the file twice.";
    user(OPENS, &row_id("a1"), "2026-11-20T08:00:00Z", "Make the import faster. ünïcödé ✓")
        + &tasks(OPENS, &row_id("a5"), "2026-11-20T08:04:00Z", &left)
        + &assistant(OPENS, &row_id("a2"), "2026-11-20T08:05:00Z", first)
        + &user(OPENS, &row_id("a3"), "2026-11-20T08:06:00Z", "Fine. One more thing: the log is too chatty.")
        + &assistant(OPENS, &row_id("a4"), "2026-11-20T08:09:00Z", second)
}

/// One that closes some of it; with CRLF, rows without uuids, bad and unknown lines, a title for another session, rows out of order.
fn closes() -> String {
    let asked =
        user(CLOSES, "none", "2026-11-20T09:00:00Z", "Now add the test for the currency cache.").replace(r#","uuid":"none""#, "");
    let title = json!({"type": "ai-title", "aiTitle": "Test for the currency cache", "sessionId": CLOSES});
    let done = "I added a test for the currency cache; it passes. Next: write the changelog entry for the import.";
    let unknown = json!({"type": "hologram", "sessionId": CLOSES});
    let summary = json!({"type": "summary", "summary": "Currency cache tested", "leafUuid": row_id("a4")});
    let commit = committed(CLOSES, &row_id("b4"), "2026-11-20T09:04:00Z", "Add a test for the currency cache");
    (asked + &format!("{title}\n") + &commit + &assistant(CLOSES, &row_id("b2"), "2026-11-20T09:05:00Z", done))
        .replace('\n', "\r\n")
        + &format!("garbage in between\n{unknown}\n{summary}\n")
        + &user(CLOSES, &row_id("b3"), "2026-11-20T09:02:00Z", "(written out of order)")
}

fn last() -> String {
    let done = "I wrote the changelog entry for the import. The importer no longer reads the file twice.";
    user(LAST, &row_id("c1"), "2026-11-20T23:30:00Z", "Write the changelog entry for the import.")
        + &committed(LAST, &row_id("c3"), "2026-11-20T23:40:00Z", "Changelog entry for the import")
        + &assistant(LAST, &row_id("c2"), "2026-11-20T23:50:00Z", done)
}

/// The old layout, without a newline at the end.
const OLD: &str = concat!(
    r#"{"type":"user","timestamp":"2026-01-05T10:00:00.000Z","content":"make the build pass"}"#,
    "\n",
    r#"{"type":"tool_use","timestamp":"2026-01-05T10:00:02.000Z","tool_name":"Bash","tool_input":{"command":"cargo build"}}"#,
    "\n",
    r#"{"type":"tool_result","timestamp":"2026-01-05T10:00:09.000Z","tool_name":"Bash","tool_input":{"command":"cargo build"},"tool_output":{"output":"error[E0432]: unresolved import"}}"#,
);

/// Sessions made to be hard.
pub fn synthetic() -> Files {
    let project = |name: &str| PathBuf::from(format!("projects/-home-dev-src-shop/{name}.jsonl"));
    let texts = [
        (project(OPENS), opens()),
        (project(CLOSES), closes()),
        (project(LAST), last()),
        ("transcripts/ses_0123456789ab.jsonl".into(), OLD.to_owned()),
    ];
    texts.into_iter().map(|(path, text)| (path, text.into_bytes())).collect()
}

/// A session of some megabytes, most of them progress of tools: more than one batch and one transaction.
pub fn large() -> Files {
    let id = "eeee0000-1111-4111-8111-000000000005";
    let progress = json!({"type": "progress", "sessionId": id, "data": "compiling ".repeat(10_000)});
    let turn = |n: u32| {
        let at = format!("2026-11-20T10:{:02}:{:02}Z", n / 60, n % 60);
        user(id, &format!("{id}-u{n}"), &at, &format!("Question {n}: why is it slow?"))
            + &format!("{progress}\n")
            + &assistant(id, &format!("{id}-a{n}"), &at, &format!("Answer {n}: because the rates are read for every row."))
    };
    vec![(format!("projects/-home-dev-src-shop/{id}.jsonl").into(), (0..100).map(turn).collect::<String>().into_bytes())]
}
