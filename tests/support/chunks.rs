//! What bundles hold, read without the program: row by row.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde_json::Value;

const KINDS: [&str; 15] = [
    "prompt", "answer", "reply", "plan", "tool", "outcome", "todos", "task", "title", "recap", "away", "pr", "interrupted",
    "words", "work",
];

pub struct Item {
    pub session: i64,
    pub source: i64,
    pub offset: i64,
    pub part: i64,
    pub key: Vec<u8>,
    pub at: Option<i64>,
    pub kind: &'static str,
    pub text: String,
}

pub struct Used {
    pub session: i64,
    pub message: i64,
    pub model: String,
    pub tokens: [i64; 5],
}

/// Every item of the index.
pub fn items(db: &Connection) -> Vec<Item> {
    let mut query =
        db.prepare("SELECT session, source, moved, rows, said, done FROM bundle WHERE items > 0 ORDER BY pk").expect("bundles");
    let mut all = Vec::new();
    let mut rows = query.query([]).expect("bundles");
    while let Some(r) = rows.next().expect("a bundle") {
        let number = |at| r.get::<_, i64>(at).expect("a number");
        let lines: Vec<u8> = r.get(3).expect("lines");
        let (mut said, mut done) =
            (texts(&r.get::<_, Vec<u8>>(4).unwrap()).into_iter(), texts(&r.get::<_, Vec<u8>>(5).unwrap()).into_iter());
        assert_eq!(lines[0], 1, "the form");
        let mut bytes = lines[1..].iter().copied();
        let (mut key, mut offset, mut at) = (Vec::new(), number(2), 0);
        while let Some(head) = bytes.next() {
            if head & 0x20 == 0 {
                key = bytes.by_ref().take(16).collect();
            }
            let part = step(&mut bytes);
            offset += step(&mut bytes);
            let timed = head & 0x40 != 0;
            at += if timed { step(&mut bytes) } else { 0 };
            assert_eq!(bytes.by_ref().take(4).count(), 4, "a sum");
            let kind = KINDS[usize::from(head & 0x1f)];
            let text = if ["tool", "outcome", "work"].contains(&kind) { done.next() } else { said.next() };
            let text = text.expect("a text").to_string();
            all.push(Item {
                session: number(0),
                source: number(1),
                offset,
                part,
                key: key.clone(),
                at: timed.then_some(at),
                kind,
                text,
            });
        }
    }
    all
}

fn step(bytes: &mut impl Iterator<Item = u8>) -> i64 {
    let (mut number, mut place) = (0_u64, 0);
    loop {
        let byte = bytes.next().expect("a number goes on");
        number |= u64::from(byte & 0x7f) << place;
        place += 7;
        if byte & 0x80 == 0 {
            return (number >> 1) as i64 ^ -((number & 1) as i64);
        }
    }
}

/// What messages took, each with the largest figures of its session.
pub fn used(db: &Connection) -> Vec<Used> {
    let mut query = db.prepare("SELECT session, used FROM bundle WHERE used <> x'' ORDER BY pk").expect("bundles");
    let mut all: BTreeMap<(i64, i64), Used> = BTreeMap::new();
    let mut rows = query.query([]).expect("bundles");
    while let Some(r) = rows.next().expect("a bundle") {
        let session: i64 = r.get(0).expect("a session");
        let packed: Value = serde_json::from_str(&plain(&r.get::<_, Vec<u8>>(1).unwrap())).expect("JSON");
        for one in packed["messages"].as_array().expect("messages") {
            let number = |at: usize| one[at].as_i64().expect("a number");
            let model = packed["models"][number(1) as usize].as_str().expect("a model").to_owned();
            let message = number(0);
            let known = all.entry((session, message)).or_insert(Used { session, message, model, tokens: [0; 5] });
            for (at, tokens) in known.tokens.iter_mut().enumerate() {
                *tokens = number(at + 2).max(*tokens);
            }
        }
    }
    all.into_values().collect()
}

/// All of it, a line each, in words that do not depend on how it is bundled.
pub fn bundled(db: &Connection) -> Vec<String> {
    let names = |sql: &str| -> BTreeMap<i64, String> {
        let mut query = db.prepare(sql).expect("names");
        query.query_map([], |r| Ok((r.get(0)?, r.get(1)?))).and_then(Iterator::collect).expect("names")
    };
    let sessions = names("SELECT pk, id FROM session");
    let sources = names("SELECT pk, file || ' ' || agent FROM source");
    let item = |i: Item| {
        let key: String = i.key.iter().map(|b| format!("{b:02x}")).collect();
        let (session, source) = (&sessions[&i.session], &sources[&i.source]);
        format!("item: {session} {source} {} {} {key} {:?} {} {}", i.offset, i.part, i.at, i.kind, i.text)
    };
    let used = |u: Used| format!("usage: {} {:016x} {} {:?}", sessions[&u.session], u.message, u.model, u.tokens);
    items(db).into_iter().map(item).chain(self::used(db).into_iter().map(used)).collect()
}

/// The texts of a bundle, one each.
pub fn texts(packed: &[u8]) -> Vec<Value> {
    if packed.is_empty() { Vec::new() } else { serde_json::from_str(&plain(packed)).expect("items") }
}

/// A body before it was packed: a byte that says its form, then a sum and JSON, or its length and a frame.
pub fn plain(packed: &[u8]) -> String {
    let bytes = match packed {
        [0, plain @ ..] | [2, _, _, _, _, plain @ ..] => plain.to_vec(),
        [1, a, b, c, d, frame @ ..] => {
            zstd::bulk::decompress(frame, u32::from_le_bytes([*a, *b, *c, *d]) as usize).expect("a frame")
        }
        _ => panic!("a body"),
    };
    String::from_utf8(bytes).expect("UTF-8")
}
