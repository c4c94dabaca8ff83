//! A session in which somebody else's text stands wherever a session can hold text.

use std::fs;

use serde_json::{Value, json};

use crate::support::World;

pub const S: &str = "99999999-aaaa-4aaa-8aaa-999999999999";
pub const SHOP: &str = "/home/dev/src/shop";

/// Writes the rows of one session.
pub struct Hostile {
    id: String,
    cwd: String,
    branch: String,
    pub rows: String,
    count: usize,
}

impl Hostile {
    pub fn new(id: &str, cwd: &str, branch: &str) -> Self {
        Self { id: id.into(), cwd: cwd.into(), branch: branch.into(), rows: String::new(), count: 0 }
    }

    fn row(&mut self, mut row: Value) {
        self.count += 1;
        let at = format!("2026-11-20T10:{:02}:00Z", self.count % 60);
        let uuid = format!("{:08}-0000-4000-8000-{:012}", self.id.len(), self.count);
        let common = json!({"sessionId": self.id, "uuid": uuid, "timestamp": at, "cwd": self.cwd, "gitBranch": self.branch, "version": "2.1.197"});
        for (name, value) in common.as_object().unwrap() {
            row.as_object_mut().unwrap().entry(name.clone()).or_insert(value.clone());
        }
        self.rows += &format!("{row}\n");
    }

    fn user(&mut self, content: &Value) {
        self.row(json!({"type": "user", "message": {"role": "user", "content": content}}));
    }

    fn assistant(&mut self, content: &Value) {
        let usage = json!({"input_tokens": 10, "output_tokens": 5});
        let id = format!("msg_{}", self.count);
        self.row(json!({"type": "assistant", "message": {"id": id, "role": "assistant", "model": "claude-haiku-4-5-20251001", "content": content, "usage": usage}}));
    }

    fn tool(&mut self, name: &str, input: &Value, result: &str, failed: bool) {
        let id = format!("toolu_{}", self.count);
        self.assistant(&json!([{"type": "tool_use", "id": id, "name": name, "input": input}]));
        self.user(&json!([{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": result}]));
    }

    /// Puts a text everywhere.
    pub fn say(mut self, text: &str) -> Self {
        self.user(&json!(format!("Fix the pagination of the orders, as this page says: {text}")));
        self.assistant(&json!([{"type": "text", "text": format!(
            "I decided to use keyset pagination for the orders because {text} is slow.\n\n{text}\n\nThe cause was an offset: {text}.\n\nNext steps:\n- measure it with {text}\n- {text}\n\nBlocked: {text}"
        )}]));
        self.tool(
            "Bash",
            &json!({"command": format!("make check {text}"), "description": text}),
            &format!("error: {text}\nFAILED {text}"),
            true,
        );
        self.tool("Bash", &json!({"command": format!("make check {text}"), "description": text}), text, false);
        self.tool(
            "Edit",
            &json!({"file_path": format!("{}/src/{text}.py", self.cwd), "old_string": text, "new_string": "b"}),
            text,
            false,
        );
        self.tool("Edit", &json!({"file_path": text, "old_string": "a", "new_string": text}), text, true);
        self.tool("Read", &json!({"file_path": format!("../../{text}")}), text, false);
        self.tool("WebFetch", &json!({"url": format!("https://example.org/{text}"), "prompt": text}), text, false);
        self.tool("Grep", &json!({"pattern": text, "path": text}), text, false);
        self.tool(
            "TodoWrite",
            &json!({"todos": [{"content": format!("Check {text} again"), "status": "pending", "activeForm": text}]}),
            "ok",
            false,
        );
        self.tool("ExitPlanMode", &json!({"plan": format!("# Plan\n\n1. do {text}\n2. {text}")}), text, true);
        self.tool(text, &json!({"anything": text}), text, true);
        self.row(json!({"type": "ai-title", "aiTitle": format!("Pagination {text}")}));
        self.row(json!({"type": "system", "subtype": "away_summary", "content": format!("Waiting for {text}")}));
        self.row(json!({"type": "pr-link", "prUrl": format!("https://example.org/pull/1{text}")}));
        self.row(json!({"type": text, "message": text}));
        self.assistant(&json!([{"type": "text", "text": format!("Done: the orders are paginated by key, {text} included.")}]));
        self
    }

    pub fn put(&self, world: &World) {
        world.transcript(&format!("-home-dev-src-shop/{}.jsonl", short(&self.id)), &self.rows);
    }
}

/// A name that the system takes for a file.
fn short(id: &str) -> String {
    id.chars().filter(char::is_ascii_alphanumeric).take(60).collect::<String>() + "x"
}

/// A world with one session of this text, its digest made without a model.
pub fn world(text: &str) -> World {
    let world = World::new();
    Hostile::new(S, SHOP, &format!("fix/{text}")).say(text).put(&world);
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert!(ran.code < 2 && !ran.err.contains("panicked"), "{ran:#?}");
    world
}

/// A hook's payload, as Claude Code gives it.
pub fn payload(world: &World, name: &str, session: &str, more: &Value) -> String {
    let transcript = world.claude_dir().join("projects/-home-dev-src-shop").join(format!("{session}.jsonl"));
    let mut all = json!({"hook_event_name": name, "session_id": session, "transcript_path": transcript, "cwd": SHOP});
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all.to_string()
}

/// What a hook adds to the conversation. Whatever it prints is one JSON object in a line, or nothing.
pub fn added(world: &World, event: &str, payload: &str) -> Option<String> {
    let ran = world.hook(event, payload);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    if ran.out.is_empty() {
        return None;
    }
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    assert_eq!((ran.out.matches('\n').count(), ran.out.ends_with('\n')), (1, true), "{ran:#?}");
    Some(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned())
}

/// The patience of the hooks, where a machine is busy.
pub fn patient(world: &World) {
    let dir = world.home().join(".config/recall");
    fs::create_dir_all(&dir).unwrap();
    world.configure("[hooks]\ndeadline_ms = 5000\n");
}
