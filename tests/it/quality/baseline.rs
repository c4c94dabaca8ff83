//! The baseline: what anybody gets from SQLite in twenty lines. One document a session with all texts that are kept of it, FTS5 with the
//! tokenizer it has by default, any of the question's words, bm25.

use rusqlite::Connection;
use serde_json::Value;

use crate::quality::metrics::Answer;
use crate::support::World;

pub struct Plain {
    db: Connection,
}

impl Plain {
    pub fn new(world: &World) -> Self {
        let db = Connection::open_in_memory().expect("a database");
        db.execute_batch("CREATE VIRTUAL TABLE doc USING fts5(session UNINDEXED, text, tokenize = 'unicode61')").expect("a table");
        for session in world.exported() {
            let mut texts = Vec::new();
            strings(&session["sources"], &mut texts);
            let id = session["session"].as_str().expect("an id");
            db.execute("INSERT INTO doc VALUES (?1, ?2)", (id, texts.join("\n"))).expect("a document");
        }
        Self { db }
    }

    pub fn search(&self, question: &str) -> Answer {
        let words: Vec<&str> = question.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
        let query: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let sql = "SELECT session, snippet(doc, 1, '', '', '…', 30) FROM doc WHERE doc MATCH ?1 ORDER BY bm25(doc) LIMIT 10";
        let mut statement = self.db.prepare(sql).expect("a statement");
        let row = |row: &rusqlite::Row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let found = statement.query_map([query.join(" OR ")], row).expect("a search");
        let found: Vec<(String, String)> = found.collect::<Result<_, _>>().expect("rows");
        // As it would be shown: the id's start and thirty words.
        let bytes = found.iter().map(|(_, text)| 10 + text.len()).sum();
        Answer { sessions: found.into_iter().map(|(id, _)| id).collect(), bytes: Some(bytes) }
    }
}

/// The texts of what is kept: the items' data, with no keys, ids and times.
fn strings(value: &Value, into: &mut Vec<String>) {
    for row in value.as_array().into_iter().flatten().flat_map(|s| s["rows"].as_array().into_iter().flatten()) {
        leaves(&row["item"]["data"], into);
    }
}

fn leaves(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|v| leaves(v, into)),
        Value::Object(fields) => fields.iter().filter(|(key, _)| *key != "id").for_each(|(_, v)| leaves(v, into)),
        _ => {}
    }
}
