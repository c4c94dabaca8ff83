//! Transcripts row by row, as Claude Code writes them.

use serde_json::{Value, json};

use crate::support::World;

pub const FOLDER: &str = "-home-dev-src-shop";
pub const SHOP: &str = "/home/dev/src/shop";

/// Writes the rows of a session, each with its own id and time.
pub struct Rows {
    pub id: String,
    /// The last row's.
    pub uuid: String,
    day: usize,
    hour: usize,
    count: usize,
    pub text: String,
}

impl Rows {
    /// `n` tells sessions apart, and which came first.
    pub fn new(n: usize) -> Self {
        let id = format!("{n:08}-5ec0-4000-8000-000000000000");
        Self { id, uuid: String::new(), day: 1 + n / 3 % 20, hour: 8 + 4 * (n % 3), count: 0, text: String::new() }
    }

    /// A row as it is, with what every row has.
    pub fn row(&mut self, mut row: Value) {
        self.count += 1;
        self.uuid = format!("{}{:012}", &self.id[..24], self.count);
        let at = format!("2026-11-{:02}T{:02}:{:02}:{:02}Z", self.day, self.hour, self.count / 60, self.count % 60);
        let fields = row.as_object_mut().expect("an object");
        let (id, uuid) = (self.id.clone(), self.uuid.clone());
        for (name, value) in [
            ("sessionId", id),
            ("uuid", uuid),
            ("timestamp", at),
            ("cwd", SHOP.into()),
            ("gitBranch", "main".into()),
            ("version", "2.1.197".into()),
        ] {
            fields.entry(name).or_insert(json!(value));
        }
        self.text += &format!("{row}\n");
    }

    pub fn user(&mut self, content: Value) {
        self.row(json!({"type": "user", "message": {"role": "user", "content": content}}));
    }

    pub fn assistant(&mut self, text: &str) {
        self.blocks(json!([{"type": "text", "text": text}]));
    }

    pub fn blocks(&mut self, content: Value) {
        let message = json!({"id": format!("msg_{}_{}", &self.id[..8], self.count), "role": "assistant",
            "model": "claude-haiku-4-5-20251001", "content": content, "usage": {"input_tokens": 10, "output_tokens": 5}});
        self.row(json!({"type": "assistant", "message": message}));
    }

    /// Commands of the shell, each with what it printed.
    pub fn runs(&mut self, calls: &[(&str, &str)]) {
        for (tool, (command, printed)) in calls.iter().enumerate() {
            self.uses(tool, &bash(command));
            self.result(tool, printed, false);
        }
    }

    /// The same, where the client says in which folder, and on which branch, the session was before each.
    pub fn runs_in(&mut self, calls: &[(&str, &str, &str, &str)]) {
        for (tool, (folder, branch, command, printed)) in calls.iter().enumerate() {
            let call = json!({"type": "tool_use", "id": format!("toolu_{tool}"), "name": "Bash", "input": {"command": command}});
            let message = json!({"role": "assistant", "content": [call]});
            self.row(json!({"type": "assistant", "cwd": folder, "gitBranch": branch, "message": message}));
            self.result(tool, printed, false);
        }
    }

    pub fn uses(&mut self, tool: usize, block: &Value) {
        let tool = format!("toolu_{tool}");
        self.blocks(json!([{"type": "tool_use", "id": tool, "name": block["name"], "input": block["input"]}]));
    }

    pub fn result(&mut self, tool: usize, text: &str, failed: bool) {
        self.user(json!([{"type": "tool_result", "tool_use_id": format!("toolu_{tool}"), "is_error": failed, "content": text}]));
    }
}

/// A use of the shell.
pub fn bash(command: &str) -> Value {
    json!({"name": "Bash", "input": {"command": command, "description": "Do what was asked"}})
}

/// Puts a session where Claude Code keeps it.
pub fn put(world: &World, id: &str, rows: &str) {
    world.transcript(&format!("{FOLDER}/{id}.jsonl"), rows);
}
