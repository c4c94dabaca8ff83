//! What holds, tried on a real server. These tests are ignored unless they are asked for:
//! `RECALL_TEST_POSTGRES=1 cargo test -p team -- --include-ignored`.
#![cfg(unix)]

mod deadlines;
mod installed;
mod meaning;
mod records;
mod rows;
mod server;
mod storm;
mod tls;
mod usage;

use serde_json::json;
use team::{Client, Pushed, Record, RecordId, Withdrawal};

fn id(project: &str, id: &str) -> RecordId {
    RecordId { project: project.into(), kind: "note".into(), id: id.into() }
}

fn note(project: &str, name: &str, version: i64, text: &str) -> Record {
    Record { id: id(project, name), version, body: json!({ "text": text }), search: text.into() }
}

fn gone(project: &str, name: &str, version: i64) -> Withdrawal {
    Withdrawal { id: id(project, name), version }
}

/// The ids of records that were refused.
fn refused(pushed: &Pushed) -> Vec<&str> {
    pushed.refused.iter().map(|(id, _)| id.id.as_str()).collect()
}

/// Id, version and text of what a client pulls, from the beginning.
fn pulled(client: &mut Client, project: &str) -> Vec<(String, i64, Option<String>)> {
    let all = client.pull(project, 0, 10_000).unwrap_or_else(|error| panic!("{project}: {error}"));
    assert!(!all.more);
    let text = |body: &serde_json::Value| body["text"].as_str().expect("a text").to_owned();
    all.records.into_iter().map(|record| (record.id, record.version, record.body.as_ref().map(text))).collect()
}
