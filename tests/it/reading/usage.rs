//! What messages took: each counted once, wherever the client told of it, and for what it cost.

use serde_json::{Value, json};

use crate::support::{World, user};

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const FILE: &str = "-home-dev-src-shop/aaaaaaaa-0000-4000-8000-000000000001.jsonl";
const OPUS: &str = "claude-opus-4-5-20251101";
const HAIKU: &str = "claude-haiku-4-5-20251001";

fn uuid(n: usize) -> String {
    format!("aaaaaaaa-0000-4000-8000-0000001{n:05}")
}

fn row(n: usize, more: Value) -> String {
    let mut row = json!({
        "uuid": uuid(n), "sessionId": SESSION, "timestamp": format!("2026-11-19T10:{:02}:{:02}Z", n / 60, n % 60),
        "cwd": "/home/dev/src/shop", "version": "2.1.29", "isSidechain": false, "userType": "external",
    });
    row.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    format!("{row}\n")
}

fn message(id: &str, model: &str, usage: &Value) -> Value {
    json!({"id": id, "type": "message", "role": "assistant", "model": model, "content": [{"type": "text", "text": "I look."}], "usage": usage})
}

fn said(n: usize, id: &str, model: &str, usage: Value) -> String {
    row(n, json!({"type": "assistant", "requestId": format!("req_{id}"), "message": message(id, model, &usage)}))
}

/// As clients from 2.1.12 to 2.1.49 tell of a subagent.
fn progress(n: usize, id: &str, model: &str, usage: Value) -> String {
    let envelope = json!({"type": "assistant", "timestamp": "2026-11-19T10:00:00Z", "message": message(id, model, &usage), "requestId": "req", "uuid": uuid(n + 500)});
    let data = json!({"message": envelope, "normalizedMessages": [], "type": "agent_progress", "prompt": "Look at it", "agentId": "a1b2c3d"});
    row(n, json!({"type": "progress", "data": data, "toolUseID": "agent_msg", "parentToolUseID": "toolu_1"}))
}

fn tokens(input: u64, output: u64, written: u64, read: u64) -> Value {
    json!({"input_tokens": input, "output_tokens": output, "cache_creation_input_tokens": written, "cache_read_input_tokens": read})
}

fn shown(rows: &[String]) -> Value {
    let world = World::new();
    let began = user(SESSION, &uuid(0), "2026-11-19T10:00:00Z", "Why is the feed empty?");
    world.transcript(FILE, [&[began], rows].concat().concat());
    world.digest(&[]);
    let once = world.show(SESSION);
    // Read again from the start, it is the same.
    let db = rusqlite::Connection::open(world.data_dir().join("recall.db")).expect("the index");
    db.execute_batch("UPDATE file SET size = -1, offset = 0").expect("to be read again");
    drop(db);
    world.digest(&[]);
    assert_eq!(world.show(SESSION)["usage"], once["usage"]);
    once
}

fn counts(shown: &Value, model: &str) -> [u64; 5] {
    ["input", "output", "cache_write", "cache_write_hour", "cache_read"]
        .map(|name| shown["usage"][model][name].as_u64().unwrap_or_else(|| panic!("no {name} of {model}: {shown:#}")))
}

fn costs(shown: &Value, usd: f64) {
    assert_eq!(shown["session_cost_complete"], true, "{shown:#}");
    let told = shown["session_cost_usd"].as_f64().expect("a cost");
    assert!((told - usd).abs() < 1e-9, "{told} is not {usd}: {shown:#}");
}

#[test]
fn what_a_subagent_took_counts_that_only_rows_of_its_progress_tell_of() {
    let shown = shown(&[
        said(1, "msg_1", OPUS, tokens(10, 5, 100, 1_000)),
        progress(2, "msg_2", HAIKU, tokens(3, 2, 500, 0)),
        progress(3, "msg_2", HAIKU, tokens(3, 42, 500, 0)),
        progress(4, "msg_3", HAIKU, tokens(4, 40, 0, 500)),
        // The main conversation's own message, told once more.
        progress(5, "msg_1", OPUS, tokens(10, 5, 100, 1_000)),
        // Rows of other kinds of progress, and of this one without a message.
        row(6, json!({"type": "progress", "data": {"type": "hook_progress", "hookEvent": "Stop", "command": "x"}})),
        row(7, json!({"type": "progress", "data": {"type": "agent_progress", "message": "none"}})),
        row(8, json!({"type": "progress", "data": 7})),
        said(9, "msg_4", OPUS, tokens(1, 1, 0, 0)),
    ]);
    assert_eq!(counts(&shown, HAIKU), [7, 82, 500, 0, 500]);
    assert_eq!(counts(&shown, OPUS), [11, 6, 100, 0, 1_000]);
    assert_eq!(shown["prompts"], 1, "nothing of it is told as said: {shown:#}");
}

#[test]
fn rows_of_a_message_that_divide_its_cache_differently_count_once() {
    let split = |hour: u64| {
        let mut usage = tokens(1, 1, 1_000, 0);
        usage["cache_creation"] = json!({"ephemeral_5m_input_tokens": 1_000 - hour, "ephemeral_1h_input_tokens": hour});
        usage
    };
    for (rows, expected) in [
        ([tokens(1, 1, 1_000, 0), split(1_000)], [1, 1, 0, 1_000, 0]),
        ([split(1_000), tokens(1, 9, 1_000, 0)], [1, 9, 0, 1_000, 0]),
        ([split(400), tokens(1, 1, 1_200, 0)], [1, 1, 1_200, 0, 0]),
    ] {
        let [first, second] = rows.map(|usage| usage);
        let shown = shown(&[said(1, "msg_1", OPUS, first), said(2, "msg_1", OPUS, second)]);
        assert_eq!(counts(&shown, OPUS), expected);
    }
}

#[test]
fn long_prompts_fast_answers_and_the_place_of_the_model_have_their_price() {
    let with = |mut usage: Value, name: &str, value: &str| {
        usage[name] = json!(value);
        usage
    };
    let shown = shown(&[
        said(1, "msg_1", "claude-haiku-5-5", tokens(1_000, 1_000, 0, 99_000)),
        said(2, "msg_2", "claude-haiku-5-5", tokens(1_001, 1_000, 0, 99_000)),
    ]);
    costs(&shown, (1_000.0 * 0.1 + 1_000.0 * 0.5 + 99_000.0 * 0.01 + 1_001.0 * 0.5 + 1_000.0 * 2.5 + 99_000.0 * 0.05) / 1e6);
    let shown = self::shown(&[
        said(1, "msg_1", "claude-opus-5-5", with(tokens(1_000, 0, 0, 10_000), "speed", "standard")),
        said(2, "msg_2", "claude-opus-5-5", with(tokens(1_000, 0, 0, 10_000), "speed", "fast")),
        said(3, "msg_3", "claude-opus-5-5", with(tokens(1_000, 0, 0, 10_000), "inference_geo", "us")),
        said(4, "msg_4", "claude-opus-5-5", with(tokens(1_000, 0, 0, 10_000), "inference_geo", "not_available")),
    ]);
    assert_eq!(counts(&shown, "claude-opus-5-5-fast"), [1_000, 0, 0, 0, 10_000]);
    // A read costs a twentieth of what is put in, here.
    costs(&shown, (2.0 * (4_000.0 + 2_000.0) + 8_000.0 + 4_000.0 + (4_000.0 + 2_000.0) * 1.1) / 1e6);
}

/// As the client writes it at the end of a run: what it reckons itself.
fn reckoned(by_model: Value, guessed: bool) -> String {
    let row = json!({"type": "cost-state", "sessionId": SESSION, "totalCostUSD": 1, "modelUsage": by_model, "hasUnknownModelCost": guessed});
    format!("{row}\n")
}

#[test]
fn where_the_client_reckons_otherwise_the_doctor_says_so() {
    let of_opus = |usd: f64| json!({OPUS: {"costUSD": usd, "webSearchRequests": 0}, HAIKU: {"costUSD": 0.3}});
    let one = |n: usize| said(n, &format!("msg_{n}"), OPUS, tokens(1_000_000, 0, 0, 0));
    let apart =
        |client: &str, own: &str| vec![format!("warning: Claude Code counts ${client} for session {SESSION}, recall ${own}")];
    let searched = json!({OPUS: {"costUSD": 4.0, "webSearchRequests": 2}});
    for (rows, expected) in [
        (vec![one(1)], vec![]),
        // What it asked another model for is told by no message.
        (vec![one(1), reckoned(of_opus(5.0), false)], vec![]),
        (vec![one(1), reckoned(of_opus(4.95), false)], vec![]),
        (vec![one(1), reckoned(of_opus(4.0), false)], apart("4.00", "5.00")),
        (vec![one(1), reckoned(of_opus(5.5), false)], apart("5.50", "5.00")),
        // The last one counts, and none that the session went on from.
        (vec![one(1), reckoned(of_opus(4.0), false), reckoned(of_opus(5.0), false)], vec![]),
        (vec![one(1), reckoned(of_opus(5.0), false), one(2)], vec![]),
        (vec![one(1), reckoned(of_opus(5.0), false), one(2), reckoned(of_opus(8.0), false)], apart("8.00", "10.00")),
        // Where it does not know itself, or tells of what costs by the piece, nothing can be compared.
        (vec![one(1), reckoned(of_opus(4.0), true)], vec![]),
        (vec![one(1), reckoned(searched, false)], vec![]),
        (vec![one(1), reckoned(json!({OPUS: "cheap"}), false)], vec![]),
    ] {
        let world = World::new();
        let began = user(SESSION, &uuid(0), "2026-11-19T10:00:00Z", "Why is the feed empty?");
        let mut so_far = began;
        // In one run, and row by row.
        for row in &rows {
            so_far += row;
            world.transcript(FILE, &so_far);
            world.digest(&["--ingest-only"]);
        }
        assert_eq!(world.findings("prices", &[]), expected, "{rows:#?}");
        let at_once = World::new();
        at_once.transcript(FILE, &so_far);
        assert_eq!(at_once.digest(&["--ingest-only"])["rows_unknown"], 0);
        assert_eq!(at_once.findings("prices", &[]), expected, "{rows:#?}");
        // The user's own price goes before the list's.
        at_once.configure(&format!("[prices.\"{OPUS}\"]\ninput = 4.0\noutput = 20.0\n"));
        let own = at_once.findings("prices", &[]);
        assert!(expected != apart("4.00", "5.00") || own.is_empty(), "{own:#?}");
    }
}
