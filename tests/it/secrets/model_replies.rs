//! What the model and its client answer is no safer than what a session says, and failures are told, logged and kept.

use serde_json::{Value, json};

use crate::secrets::forms::{Form, written};
use crate::secrets::kinds::KINDS;
use crate::secrets::outputs::{kept, leaks, said};
use crate::secrets::places::Planted;
use crate::secrets::table::{CONFIG, started, tell};
use crate::support::data_folder::files;
use crate::support::files_below;
use crate::support::rows::{Rows, SHOP, put};
use crate::support::stand_in::{StandIn, eventually, refused, report};

/// Kinds with a form of their own, of which a failure may speak.
const SPOKEN_OF: [&str; 7] =
    ["anthropic", "github personal", "postgres url", "jwt", "NAME=password", "bearer header", "slack webhook"];

/// How often each failure is repeated.
const ROUNDS: usize = 3;

/// How a call fails: its name, and what the client does with `$text`.
type Failure = (&'static str, fn(&StandIn, &str));

const FAILURES: &[Failure] = &[
    ("prose", |client, text| {
        speaks(
            client,
            &json!({"type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 0.01,
        "result": format!("I am sorry: {text} is no session I can sum up.")}),
        )
    }),
    ("an unfinished form", |client, text| {
        speaks(
            client,
            &json!({"type": "result", "subtype": "success", "is_error": false,
        "total_cost_usd": 0.01, "result": format!("{{\"title\": \"{text}\", \"request\": ")}),
        )
    }),
    ("a field of the wrong kind", |client, text| {
        speaks(
            client,
            &json!({"type": "result", "subtype": "success", "is_error": false,
        "total_cost_usd": 0.01, "result": json!([text]).to_string()}),
        )
    }),
    ("a notice of a limit", |client, text| {
        speaks(
            client,
            &json!({"type": "result", "subtype": "success", "is_error": false,
        "total_cost_usd": 0.01, "result": format!("Usage limit reached for {text}")}),
        )
    }),
    ("an error", |client, text| client.put("said", &refused(&format!("API Error: no such thing as {text}"), None))),
    ("a refused login", |client, text| client.put("said", &refused(&format!("Invalid API key {text}"), Some(401)))),
    ("the name of an error", |client, text| speaks(client, &json!({"type": "result", "subtype": text, "is_error": true}))),
    ("no JSON", |client, text| client.put("said", &format!("cannot read the settings: {text}"))),
    ("stderr", |client, text| {
        client.put("said", "");
        client.put("complained", &format!("error: {text} was refused\n"));
    }),
    ("stderr beside an answer", |client, text| {
        client.put("said", &refused("it did not work", None));
        client.put("complained", &format!("warning: {text} has expired\n"));
    }),
    ("an option", |client, text| {
        client.put("said", "");
        client.put("complained", &format!("error: unknown option '{text}'\n"));
    }),
];

fn speaks(client: &StandIn, report: &Value) {
    client.put("said", &report.to_string());
}

fn a_session(client: &StandIn) -> Rows {
    let mut rows = Rows::new(1);
    rows.user(json!("The list of orders breaks on the first page; please mend it."));
    rows.assistant("The list of orders is mended; all 14 tests pass.");
    put(&client.world, &rows.id, &rows.text);
    client.world.configure(CONFIG);
    rows
}

#[test]
fn nor_from_a_failure_of_the_client_or_a_reply_that_is_none() {
    let (mut all, mut sinks) = (Vec::new(), Vec::new());
    for (at, (name, fails)) in FAILURES.iter().enumerate() {
        let client =
            StandIn::new(&[], "cat \"$here/said\"; [ ! -e \"$here/complained\" ] || { cat \"$here/complained\" >&2; exit 1; }");
        a_session(&client);
        for (n, kind) in SPOKEN_OF.iter().cycle().skip(3 * at).take(ROUNDS).enumerate() {
            let kind = KINDS.iter().find(|one| one.name == *kind).expect("a kind");
            let grown = kind.grown(name);
            let text = written(Form::Start, kind, &grown.text);
            all.push(Planted { kind: kind.name, place: (*name).to_owned(), form: String::new(), parts: grown.parts });
            fails(&client, &text);
            // Each failure is told after a while, when the one before it is old.
            let ran = client
                .world
                .recall_with(["digest", "--summarizer", "claude"], &[("RECALL_NOW", &format!("2026-11-2{}T12:00:00Z", 1 + n))]);
            sinks.extend(said("digest", &ran));
            // What one failure leaves, the next may replace.
            sinks.extend(kept(&client.world));
            for args in [&["status", "--json"][..], &["doctor", "--json"], &["context", "--cwd", SHOP]] {
                sinks.extend(said(args[0], &client.world.recall(args)));
            }
            sinks.extend(said("hook session-start", &started(&client.world, "5e550000-0000-4000-8000-000000000000", "startup")));
        }
        assert!(client.calls().len() >= SPOKEN_OF.len(), "{name}: the client was called {} times", client.calls().len());
    }
    tell(&all, &leaks(&all, &sinks));
}

#[test]
fn nor_from_the_name_of_the_model_that_answered() {
    let client = StandIn::new(&[], "cat \"$here/said\"");
    let rows = a_session(&client);
    let kind = KINDS.iter().find(|one| one.name == "openai user").expect("a kind");
    let grown = kind.grown("model");
    let form = crate::support::stand_in::form().to_string();
    speaks(
        &client,
        &json!({"type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 0.01, "result": form,
        "modelUsage": {grown.text.as_str(): {"inputTokens": 4, "outputTokens": 10, "costUSD": 0.01}}}),
    );
    let ran = client.world.recall(["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let all = [Planted { kind: kind.name, place: "model".into(), form: String::new(), parts: grown.parts }];
    let mut sinks = kept(&client.world);
    for args in
        [&["status", "--json"][..], &["show", &rows.id], &["show", &rows.id, "--full"], &["show", &rows.id, "--json"], &["export"]]
    {
        sinks.extend(said(args[0], &client.world.recall(args)));
    }
    tell(&all, &leaks(&all, &sinks));
}

#[test]
fn nor_from_a_reply_that_waits_on_disk_for_the_next_run() {
    let client = StandIn::new(&[], "until [ -e \"$here/go\" ]; do sleep 0.05; done; cat \"$here/said\"");
    a_session(&client);
    let mut all = Vec::new();
    let mut form = crate::support::stand_in::form();
    for kind in SPOKEN_OF {
        let kind = KINDS.iter().find(|one| one.name == kind).expect("a kind");
        let grown = kind.grown("waiting reply");
        let text = written(Form::Start, kind, &grown.text);
        form["learned"].as_array_mut().expect("a list").push(json!(text));
        all.push(Planted { kind: kind.name, place: "waiting reply".into(), form: String::new(), parts: grown.parts });
    }
    client.put("said", &report(&form, 0.01));
    let mut run = client.world.process().arg("digest").spawn().expect("recall starts");
    eventually("the client was called", || !client.calls().is_empty());
    // Nothing can come of the reply while the database is locked.
    let database = rusqlite::Connection::open(client.world.data_dir().join("recall.db")).expect("the database");
    database.busy_timeout(std::time::Duration::from_secs(10)).expect("a time limit");
    database.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    client.put("go", "");
    let replies = client.world.data_dir().join("replies");
    eventually("the reply is on disk", || files_below(&replies).iter().any(|file| file.extension().is_some_and(|e| e == "json")));
    run.kill().expect("kill -9");
    run.wait().expect("it is gone");
    database.execute_batch("ROLLBACK").expect("the lock is gone");
    tell(&all, &leaks(&all, &files(&client.world)));
}
