//! The sessions that questions are asked of: made-up ones, from the plain text in `corpus/`, and the recorded fixtures.
//!
//! A file of `corpus/` is one project. What a line is, its first character says:
//!
//! ```text
//! cwd: /home/mara/work/bazaar
//!
//! == 3f1a9c02 orders-keyset / 2026-02-03 09:12 / main      a session: id, name, time (UTC), branch
//! title: …       the title Claude Code gave it             .. 2026-02-04 08:30    it goes on at this time
//! > …            what the user asks                        < …                    what the assistant says
//! $ …            a command                                 $! …                   one that fails
//! | …            its output                                @ ~ + …                a file read, edited, written
//! * …            the recap Claude Code wrote while the user was away
//! ```
//!
//! Two spaces go on with the line before.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::support::World;

/// What the fixtures' sessions are called in the questions, and their ids.
const FIXTURES: [(&str, &str); 8] = [
    ("shop/plain", "64b0b6d9-e371-40e8-affe-78e0505dfb3f"),
    ("shop/fork", "45c26014-54cd-4c3c-8c18-6cc6c1c48130"),
    ("shop/compact", "959386ce-0cd8-4cbc-9d78-7e0a84b4bfae"),
    ("shop/retry", "e1f1ab06-7af1-4a7a-b6b5-6ca5bb65c0e1"),
    ("shop/subagent", "f518df9a-b229-40f4-ae26-378c520c4ac8"),
    ("shop/hooks", "9453e46c-fdc6-4021-9aa5-568b44ee5ca7"),
    ("shop/settings", "86346661-0031-4c66-8611-00c865b6181e"),
    ("shop/readme", "a6c9dc42-64f5-4a1a-963b-8eb9816ce445"),
];

/// When they began, in UTC.
const BEGINNINGS: [(&str, &str); 7] = [
    ("shop/plain", "2026-11-17 22:23"),
    ("shop/fork", "2026-11-17 22:25"),
    ("shop/compact", "2026-11-18 22:26"),
    ("shop/retry", "2026-11-18 22:28"),
    ("shop/subagent", "2026-11-19 22:31"),
    ("shop/settings", "2026-11-19 22:32"),
    ("shop/readme", "2026-11-19 22:33"),
];

/// The folders they lie in.
pub const RECORDED: [&str; 7] = ["plain", "fork", "compact", "retry", "subagent", "hooks", "clear"];

/// One session that was made up.
pub struct Session {
    /// `project/name`, as the questions call it.
    pub name: String,
    pub id: String,
    cwd: String,
    branch: String,
    began: Timestamp,
    lines: Vec<(String, String)>,
}

/// All made-up sessions.
pub fn sessions() -> Vec<Session> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(here().join("corpus")).expect("the corpus").map(|f| f.expect("a file").path()).collect();
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

/// The folder of this test.
pub fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/quality")
}

/// The names and ids of all sessions, recorded ones too.
pub fn names() -> Vec<(String, String)> {
    let recorded = FIXTURES.iter().map(|(name, id)| ((*name).to_owned(), (*id).to_owned()));
    sessions().into_iter().map(|s| (s.name, s.id)).chain(recorded).collect()
}

/// Project and beginning of each session, as the first line of a request to the model has them, and the session's id. The recorded session
/// `hooks` is left out: another one of its project began in the same minute.
pub fn beginnings() -> Vec<(String, String)> {
    let made_up = sessions().into_iter().map(|s| {
        let project = s.cwd.rsplit('/').next().unwrap_or_default();
        (format!("{project} {}", s.began.strftime("%Y-%m-%d %H:%M")), s.id)
    });
    let recorded = BEGINNINGS.iter().map(|(name, at)| {
        let (_, id) = FIXTURES.iter().find(|(n, _)| n == name).expect("a fixture");
        (format!("shop {at}"), (*id).to_owned())
    });
    made_up.chain(recorded).collect()
}

/// Puts all sessions where Claude Code would keep them.
pub fn world() -> World {
    let world = World::with_fixtures(&RECORDED);
    for session in sessions() {
        let folder: String = session.cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        world.transcript(&format!("{folder}/{}.jsonl", session.id), session.transcript());
    }
    world
}

fn read(file: &Path) -> Vec<Session> {
    let project = file.file_stem().and_then(|s| s.to_str()).expect("a project's name");
    let text = fs::read_to_string(file).expect("a file of the corpus");
    let mut lines = text.lines();
    let cwd = lines.next().and_then(|l| l.strip_prefix("cwd: ")).expect("the folder comes first");
    let mut sessions: Vec<Session> = Vec::new();
    for line in lines.filter(|l| !l.is_empty()) {
        if let Some(head) = line.strip_prefix("== ") {
            sessions.push(begin(project, cwd, head));
            continue;
        }
        let told = &mut sessions.last_mut().unwrap_or_else(|| panic!("{project}: before the first session: {line}")).lines;
        if let Some(more) = line.strip_prefix("  ") {
            let (_, text) = told.last_mut().unwrap_or_else(|| panic!("{project}: goes on with nothing: {line}"));
            text.push_str(&format!("\n{more}"));
        } else {
            let (mark, text) = line.split_once(' ').unwrap_or_else(|| panic!("{project}: no mark: {line}"));
            told.push((mark.to_owned(), text.to_owned()));
        }
    }
    sessions
}

/// `3f1a9c02 orders-keyset / 2026-02-03 09:12 / main`
fn begin(project: &str, cwd: &str, head: &str) -> Session {
    let parts: Vec<&str> = head.split(" / ").collect();
    let [who, at, branch] = parts[..] else { panic!("{project}: no head: {head}") };
    let (id, name) = who.split_once(' ').unwrap_or_else(|| panic!("{project}: no name: {head}"));
    Session {
        name: format!("{project}/{name}"),
        id: format!("{id}-7e57-4000-8000-0000{id}"),
        cwd: cwd.to_owned(),
        branch: branch.to_owned(),
        began: time(at),
        lines: Vec::new(),
    }
}

fn time(text: &str) -> Timestamp {
    let civil = DateTime::strptime("%Y-%m-%d %H:%M", text).unwrap_or_else(|e| panic!("{text}: {e}"));
    civil.to_zoned(TimeZone::UTC).expect("a time").timestamp()
}

impl Session {
    /// All that is said in it; names in camelCase once more in parts.
    pub fn words(&self) -> String {
        let text: Vec<&str> = self.lines.iter().map(|(_, text)| text.as_str()).collect();
        let text = text.join("\n");
        let mut parts = String::new();
        for (before, after) in text.chars().zip(text.chars().skip(1)) {
            parts.push(before);
            if before.is_lowercase() && after.is_uppercase() {
                parts.push(' ');
            }
        }
        format!("{text}\n{parts}")
    }

    /// The rows Claude Code would have written.
    fn transcript(&self) -> String {
        let mut writer = Writer { session: self, at: self.began, rows: 0, tools: 0, text: String::new() };
        let mut lines = self.lines.iter().peekable();
        while let Some((mark, text)) = lines.next() {
            let mut output = Vec::new();
            while let Some((_, line)) = lines.next_if(|(mark, _)| mark == "|") {
                output.push(line.as_str());
            }
            writer.line(mark, text, &output.join("\n"));
        }
        writer.text
    }
}

struct Writer<'a> {
    session: &'a Session,
    at: Timestamp,
    rows: usize,
    tools: usize,
    text: String,
}

impl Writer<'_> {
    fn line(&mut self, mark: &str, text: &str, output: &str) {
        let path = || if text.starts_with('/') { text.to_owned() } else { format!("{}/{text}", self.session.cwd) };
        match mark {
            "title:" => self.row(json!({"type": "ai-title", "aiTitle": text})),
            "*" => self.row(json!({"type": "system", "subtype": "away_summary", "content": text})),
            ".." => self.at = time(text),
            ">" => self.user(json!(text)),
            "<" => self.assistant(json!([{"type": "text", "text": text}])),
            "$" | "$!" => {
                let input = json!({"command": text, "description": "Do what was asked"});
                self.tool("Bash", input, output, mark == "$!");
            }
            "@" => self.tool("Read", json!({"file_path": path()}), "1\t…", false),
            "~" => {
                let input = json!({"file_path": path(), "old_string": "before", "new_string": "after"});
                self.tool("Edit", input, &format!("The file {} has been updated successfully.", path()), false);
            }
            "+" => {
                let made = format!("File created successfully at: {}", path());
                self.tool("Write", json!({"file_path": path(), "content": "…"}), &made, false);
            }
            _ => panic!("{}: unknown mark {mark} before {text}", self.session.name),
        }
    }

    fn user(&mut self, content: Value) {
        self.row(json!({"type": "user", "message": {"role": "user", "content": content}}));
    }

    fn assistant(&mut self, content: Value) {
        let message = json!({"id": format!("msg_{}_{}", &self.session.id[..8], self.rows), "role": "assistant",
            "model": "claude-haiku-4-5-20251001", "content": content, "usage": {"input_tokens": 10, "output_tokens": 5}});
        self.row(json!({"type": "assistant", "message": message}));
    }

    fn tool(&mut self, name: &str, input: Value, output: &str, failed: bool) {
        self.tools += 1;
        let id = format!("toolu_{}_{}", &self.session.id[..8], self.tools);
        self.assistant(json!([{"type": "tool_use", "id": id, "name": name, "input": input}]));
        self.user(json!([{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": output}]));
    }

    /// A row with what every row has; the next one comes twenty seconds later.
    fn row(&mut self, mut row: Value) {
        self.rows += 1;
        let session = self.session;
        let fields = row.as_object_mut().expect("an object");
        for (name, value) in [
            ("sessionId", session.id.clone()),
            ("uuid", format!("{}{:012}", &session.id[..24], self.rows)),
            ("timestamp", self.at.to_string()),
            ("cwd", session.cwd.clone()),
            ("gitBranch", session.branch.clone()),
            ("version", "2.1.197".to_owned()),
        ] {
            fields.insert(name.to_owned(), json!(value));
        }
        self.at += jiff::SignedDuration::from_secs(20);
        self.text += &format!("{row}\n");
    }
}
