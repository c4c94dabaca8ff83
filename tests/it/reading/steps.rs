//! How much the index has to do for a reading: no statement looks through all that a session has so far for each thing that it gains.
//!
//! Counted are SQLite's own instructions, which are the same for the same files however fast the machine is.

use std::collections::BTreeMap;
use std::fs;

use jiff::{Span, Timestamp};
use serde_json::{Value, json};

use crate::support::rows::{FOLDER, SHOP, put};
use crate::support::size::is_whole;
use crate::support::{World, steps_in};

/// How many of a thing the smaller of two sessions has, and how many in a plain run where fewer tell as much.
const FEW: usize = 300;
const FEWER: usize = 100;
/// What twice as much may take, by how much once as much took: sorting takes a little more than twice as long.
const TWICE: u64 = 3;
/// What a statement may take for one reading in any case.
const SMALL: u64 = 20_000;

/// The instructions of every statement of a first reading.
fn steps(write: impl Fn(&World)) -> BTreeMap<String, u64> {
    let world = World::new();
    write(&world);
    let file = world.root().join("steps");
    let ran = world.process().args(["digest", "--ingest-only"]).env("RECALL_STEPS", &file).output().expect("recall runs");
    assert!(ran.status.code() < Some(2), "{ran:?}");
    steps_in(&file)
}

/// Rows of a session, each behind the one before it, with ids that differ from the first byte on, as real ones do.
struct Lines {
    session: String,
    count: usize,
    last: Option<String>,
    text: String,
}

impl Lines {
    /// Of the `n`-th session, which begins after those before it.
    fn of(n: usize) -> Self {
        Self { session: format!("{n:08x}-5ec0-4000-8000-000000000000"), count: n * 10, last: None, text: String::new() }
    }

    fn row(&mut self, row: Value) {
        self.count += 1;
        let id = format!("{:08x}-0000-4000-8000-000000000000", self.count);
        let at = "2026-11-01T08:00:00Z".parse::<Timestamp>().expect("a time") + Span::new().seconds(self.count as i64);
        let common = json!({"sessionId": self.session, "uuid": id, "parentUuid": self.last, "timestamp": at.to_string(), "cwd": SHOP,
            "version": "2.1.197"});
        let mut fields = row.as_object().expect("an object").clone();
        for (name, value) in common.as_object().expect("an object") {
            fields.entry(name).or_insert_with(|| value.clone());
        }
        self.line(&json!(fields));
        self.last = Some(id);
    }

    fn line(&mut self, line: &Value) {
        self.text += &format!("{line}\n");
    }

    fn prompt(&mut self, text: &str) {
        self.row(json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    fn reply(&mut self, n: usize) {
        self.row(json!({"type": "assistant", "message": message(n)}));
    }

    fn put(&self, world: &World) {
        put(world, &self.session, &self.text);
    }
}

fn message(n: usize) -> Value {
    let text = format!("Step {n} reads the orders of day {n}.");
    json!({"id": format!("msg_{n}"), "role": "assistant", "model": "claude-haiku-4-5-20251001",
        "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 10, "output_tokens": 5}})
}

fn step(n: usize) -> String {
    format!("Look at step {n} of the importer.")
}

/// A session of `n` turns.
fn turns(world: &World, n: usize, turn: impl Fn(&mut Lines, usize)) {
    let mut lines = Lines::of(1);
    (0..n).for_each(|n| turn(&mut lines, n));
    lines.put(world);
}

fn prompts(world: &World, n: usize) {
    turns(world, n, |lines, n| {
        lines.prompt(&step(n));
        lines.reply(n);
    });
}

/// Prompts of which each is sent in the place of the one before.
fn undone_prompts(world: &World, n: usize) {
    turns(world, n, |lines, n| {
        let first = "ffffffff-0000-4000-8000-000000000000";
        lines.row(json!({"type": "user", "parentUuid": first, "message": {"role": "user", "content": step(n)}}));
    });
}

/// Every other prompt is all private.
fn private_prompts(world: &World, n: usize) {
    turns(world, n, |lines, n| {
        lines.prompt(&format!("<private>The key of customer {n}</private>"));
        lines.reply(2 * n);
        lines.prompt(&step(n));
        lines.reply(2 * n + 1);
    });
}

/// Prompts with a private part each, so long that few have room in a chunk.
fn private_parts(world: &World, n: usize) {
    turns(world, n, |lines, n| {
        let long = "It reads the orders of the day again and again. ".repeat(60);
        lines.prompt(&format!("{} {long} <private>Customer Quetzal{n}</private>", step(n)));
        lines.reply(n);
    });
}

/// A title that was given in another session, which the client repeats at every turn. So long that they are read in several parts.
fn repeated_titles(world: &World, n: usize) {
    turns(world, n, |lines, n| {
        let title = json!({"type": "custom-title", "customTitle": "The importer", "sessionId": lines.session});
        if n == 0 {
            lines.line(&title);
            lines.prompt("<command-name>/clear</command-name>");
        }
        lines.prompt(&format!("{} {}", step(n), "It reads the orders of the day again and again. ".repeat(300)));
        lines.line(&title);
        lines.reply(n);
    });
}

/// Titles by an older client, each for another row of one session.
fn titles_of_rows(world: &World, n: usize) {
    let mut titles = String::new();
    for at in 1..=n {
        let leaf = format!("{:08x}-0000-4000-8000-000000000000", 10 + 2 * at);
        titles += &format!("{}\n", json!({"type": "summary", "summary": format!("Step {at}"), "leafUuid": leaf}));
    }
    prompts(world, n);
    put(world, &Lines::of(2).session, &titles);
}

fn subagents(world: &World, n: usize) {
    prompts(world, 1);
    for agent in 0..n {
        let mut lines = Lines { count: 100 + agent, ..Lines::of(1) };
        let name = format!("{agent:08x}");
        lines.row(json!({"type": "assistant", "isSidechain": true, "agentId": name, "message": message(agent)}));
        world.transcript(&format!("{FOLDER}/{}/subagents/agent-{name}.jsonl", lines.session), &lines.text);
    }
}

/// A session that goes on in another file after each turn.
fn files_of_a_session(world: &World, n: usize) {
    for file in 0..n {
        let mut lines = Lines { count: 2 * file, ..Lines::of(1) };
        lines.prompt(&step(file));
        lines.reply(file);
        put(world, &Lines::of(file).session, &lines.text);
    }
}

/// Sessions of one project.
fn sessions(world: &World, n: usize) {
    for session in 0..n {
        let mut lines = Lines::of(session);
        lines.prompt(&step(session));
        lines.reply(session);
        lines.put(world);
    }
}

/// Lines that cannot be read, and rows of unknown kinds.
fn unreadable_lines(world: &World, n: usize) {
    turns(world, n, |lines, n| {
        lines.prompt(&step(n));
        lines.text += "{\"type\": \"user\", \n";
        lines.row(json!({"type": format!("kind-{n}")}));
    });
}

/// A name, how many of a thing it has in a plain run, and what writes them.
type Shape = (&'static str, usize, fn(&World, usize));

const SHAPES: [Shape; 10] = [
    ("prompts", FEWER, prompts),
    ("undone prompts", FEWER, undone_prompts),
    ("private prompts", FEWER, private_prompts),
    ("private parts of prompts", FEWER, private_parts),
    ("repeated titles", FEW, repeated_titles),
    ("titles of rows", FEWER, titles_of_rows),
    ("subagents", FEWER, subagents),
    ("files of a session", FEWER, files_of_a_session),
    ("sessions", FEWER, sessions),
    ("unreadable lines", FEWER, unreadable_lines),
];

#[test]
fn twice_as_much_takes_no_statement_four_times_as_long() {
    let mut slow = Vec::new();
    for (name, plain, write) in SHAPES {
        let few = if is_whole() { FEW } else { plain };
        let [once, twice] = [few, 2 * few].map(|n| steps(|world| write(world, n)));
        assert!(once.keys().any(|sql| sql.starts_with("INSERT INTO session")), "{name}: {once:#?}");
        for (sql, steps) in twice {
            let before = once.get(&sql).copied().unwrap_or_default();
            if steps > SMALL && steps > TWICE * before {
                slow.push(format!("{name}: {before}, then {steps}: {sql}"));
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

/// How many times a first run over sessions that are too short for a digest waits for the disk: for each transaction that writes, and for each
/// statement that writes in none.
fn writes_of_sessions_left_out(sessions: usize) -> usize {
    let world = World::new();
    for n in 0..sessions {
        let mut lines = Lines::of(n);
        lines.prompt(&step(n));
        lines.put(&world);
    }
    let file = world.root().join("statements");
    let mut digest = world.process();
    digest.args(["digest", "--summarizer", "extract", "--jobs", "1"]).env("RECALL_STATEMENTS", &file);
    assert_eq!(digest.output().expect("recall runs").status.code(), Some(0));
    assert_eq!(world.count("SELECT count(*) FROM session WHERE skip IS NOT NULL AND NOT dirty"), sessions as i64);
    let (mut writes, mut is_open) = (0, false);
    for statement in fs::read_to_string(file).expect("statements").lines() {
        match statement.split(' ').next().unwrap_or_default() {
            "BEGIN" => {
                is_open = true;
                writes += usize::from(statement == "BEGIN IMMEDIATE");
            }
            "COMMIT" | "ROLLBACK" => is_open = false,
            "INSERT" | "UPDATE" | "DELETE" => writes += usize::from(!is_open),
            _ => {}
        }
    }
    writes
}

#[test]
fn that_sessions_are_left_out_is_stored_for_many_at_once() {
    let (few, many) = (writes_of_sessions_left_out(4), writes_of_sessions_left_out(60));
    assert!(few > 0);
    assert_eq!(many, few);
}
