//! What every stage shares: rows as they leave a transcript, and sessions as they leave the index.
//!
//! Plain data, no I/O. Times are milliseconds since the Unix epoch, UTC.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
pub type Millis = i64;

/// The identity of a transcript row, the same wherever a copy of the row lies.
///
/// A row that carries a UUID is that UUID; any other row is a hash of its session and its name, or its session and its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowKey(pub [u8; 16]);

impl RowKey {
    /// The key of a row whose `uuid` field is `text`. What is no UUID names a row of its session only.
    pub fn from_uuid(session: &str, text: &str) -> Self {
        match parse_uuid(text) {
            Some(bytes) => Self(bytes),
            None => Self::hashed(&[b"uuid", session.as_bytes(), text.as_bytes()]),
        }
    }

    /// The key of a row without a UUID.
    pub fn from_line(session: &str, line: &[u8]) -> Self {
        Self::hashed(&[b"line", session.as_bytes(), line])
    }

    /// The key under which a title that a summary row gave to a conversation is forgotten: the row itself leaves no other trace.
    pub fn of_title(leaf: RowKey, title: &str) -> Self {
        Self::hashed(&[b"title", &leaf.0, title.as_bytes()])
    }

    fn hashed(parts: &[&[u8]]) -> Self {
        let mut key = [0; 16];
        key.copy_from_slice(&digest_of(parts)[..16]);
        Self(key)
    }
}

impl fmt::Display for RowKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            if matches!(i, 4 | 6 | 8 | 10) {
                out.write_str("-")?;
            }
            write!(out, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl Serialize for RowKey {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RowKey {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        parse_uuid(&text).map(RowKey).ok_or_else(|| serde::de::Error::custom("a row key is 32 hex digits"))
    }
}

fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b'-').collect();
    if digits.len() != 32 || text.len() > 36 {
        return None;
    }
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// A hash over parts that cannot be confused with another split of the same bytes.
pub fn digest_of(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

/// A short, stable, readable id: `prefix` and eight hex digits of a hash over `parts`.
pub fn short_id(prefix: &str, parts: &[&str]) -> String {
    let bytes: Vec<&[u8]> = parts.iter().map(|p| p.as_bytes()).collect();
    let hash = digest_of(&bytes);
    format!("{prefix}{:02x}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2], hash[3])
}

/// One thing a row says that is worth keeping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum Item {
    /// The user's own words.
    Prompt(String),
    /// What the user chose or said inside a dialog: an answered question, a refusal with a reason.
    Answer(String),
    /// The assistant's words.
    Reply(String),
    /// A plan put before the user.
    Plan(String),
    Tool(ToolUse),
    Outcome(Outcome),
    /// The whole to-do list as it stood after this row.
    Todos(Vec<Todo>),
    /// One task created or changed (newer clients; ids are the client's).
    Task(Todo),
    Title(Title),
    /// The recap a compaction left in place of the conversation.
    Recap(String),
    /// The client's own "where things stand", written while the user was away.
    Away(String),
    PullRequest(String),
    Interrupted,
}

impl Item {
    /// The name under which the index stores the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Item::Prompt(_) => "prompt",
            Item::Answer(_) => "answer",
            Item::Reply(_) => "reply",
            Item::Plan(_) => "plan",
            Item::Tool(_) => "tool",
            Item::Outcome(_) => "outcome",
            Item::Todos(_) => "todos",
            Item::Task(_) => "task",
            Item::Title(_) => "title",
            Item::Recap(_) => "recap",
            Item::Away(_) => "away",
            Item::PullRequest(_) => "pr",
            Item::Interrupted => "interrupted",
        }
    }

    /// All words it holds, whoever said them; no ids.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Item::Prompt(text)
            | Item::Answer(text)
            | Item::Reply(text)
            | Item::Plan(text)
            | Item::Recap(text)
            | Item::Away(text)
            | Item::PullRequest(text) => vec![text],
            Item::Tool(tool) => {
                let path = tool.file.as_ref().map(|file| file.path.as_str());
                [tool.name.as_str(), tool.line.as_str()].into_iter().chain(path).collect()
            }
            Item::Outcome(outcome) => vec![&outcome.brief],
            Item::Todos(todos) => todos.iter().map(|todo| todo.text.as_str()).collect(),
            Item::Task(todo) => vec![&todo.text],
            Item::Title(title) => vec![&title.text],
            Item::Interrupted => Vec::new(),
        }
    }
}

/// One use of a tool, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The client's id, by which the result finds it.
    pub id: String,
    pub name: String,
    /// What it was asked to do: the command, the pattern, the address.
    pub line: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileTouch>,
}

/// A file a tool use was about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTouch {
    pub path: String,
    pub how: Touch,
    /// Lines added and removed, where the input tells.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    Read,
    Edited,
    Written,
}

/// How a tool use ended. Absent when the transcript does not tell or nothing was worth keeping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub tool: String,
    pub ok: bool,
    /// The telling lines of the output, a few hundred characters at most.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub brief: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// `pending`, `in_progress`, `completed`, `deleted`; empty where a change leaves it as it was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Title {
    pub text: String,
    pub by: TitleBy,
    /// The last row of the conversation the title is for, when that may lie in another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf: Option<RowKey>,
}

/// Who gave a title; the greater is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleBy {
    Summary,
    Client,
    User,
}

/// Tokens of one API message. Rows of one message repeat it while it grows: the largest counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub message: String,
    pub model: String,
    pub tokens: Tokens,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    /// Written to the cache for five minutes.
    pub cache_write: u64,
    /// Written to the cache for an hour, at a higher price.
    pub cache_write_hour: u64,
    pub cache_read: u64,
}

impl Tokens {
    pub fn total(&self) -> u64 {
        self.input + self.output + self.cache_write + self.cache_write_hour + self.cache_read
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_write += other.cache_write;
        self.cache_write_hour += other.cache_write_hour;
        self.cache_read += other.cache_read;
    }
}

/// Where a row stands in the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Turn {
    #[default]
    GoesOn,
    /// The user's prompt.
    Begins,
    /// A prompt of which `<private>` left nothing.
    BeginsPrivate,
    /// What the user said while the turn went on.
    Joins,
}

/// A transcript row that is worth keeping, on its way into the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub key: RowKey,
    pub session: String,
    /// The subagent whose row this is; `None` for the main conversation.
    pub agent: Option<String>,
    pub at: Option<Millis>,
    pub cwd: Option<String>,
    pub branch: Option<String>,
    pub version: Option<String>,
    pub turn: Turn,
    /// Tool uses whose results are in this row, by the client's id.
    pub answered: Vec<String>,
    pub items: Vec<Item>,
    pub usage: Option<Usage>,
}

impl Row {
    /// A row of just one item, of which nothing else is known.
    pub fn of(key: RowKey, item: Item) -> Self {
        Self {
            key,
            session: String::new(),
            agent: None,
            at: None,
            cwd: None,
            branch: None,
            version: None,
            turn: Turn::GoesOn,
            answered: Vec::new(),
            items: vec![item],
            usage: None,
        }
    }
}

/// A project: everything that shares one git common directory, else one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The root's path, or the transcript folder's name where no path is known.
    pub key: String,
}

impl Project {
    /// The last part of the key, for people. Never an identity.
    pub fn name(&self) -> &str {
        let name = self.key.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        if name.is_empty() { &self.key } else { name }
    }
}

/// A stored session, whole, in the order of its rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub id: String,
    pub project: Project,
    pub cwd: Option<String>,
    pub branches: Vec<String>,
    pub versions: Vec<String>,
    /// The reason the client gave when the session ended, where a mark told it.
    pub end_reason: Option<String>,
    pub entries: Vec<Entry>,
    pub usage: BTreeMap<String, Tokens>,
    /// How many subagents worked for it.
    pub agents: usize,
}

/// One kept item in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: RowKey,
    pub at: Option<Millis>,
    pub agent: Option<String>,
    pub item: Item,
    /// For a tool use: how it ended.
    pub outcome: Option<Outcome>,
}

impl Entry {
    pub fn is_main(&self) -> bool {
        self.agent.is_none()
    }

    /// The user's own words: a prompt or an answer of the main conversation.
    pub fn user_words(&self) -> Option<&str> {
        match &self.item {
            Item::Prompt(text) | Item::Answer(text) if self.is_main() => Some(text),
            _ => None,
        }
    }
}

impl Session {
    pub fn prompts(&self) -> impl Iterator<Item = (&Entry, &str)> {
        self.entries.iter().filter_map(|e| match &e.item {
            Item::Prompt(text) if e.is_main() => Some((e, text.as_str())),
            _ => None,
        })
    }

    /// When the user first spoke, else when the first kept row was written.
    pub fn began_at(&self) -> Option<Millis> {
        self.prompts().find_map(|(e, _)| e.at).or_else(|| self.entries.iter().find_map(|e| e.at))
    }

    pub fn last_at(&self) -> Option<Millis> {
        self.entries.iter().filter_map(|e| e.at).max()
    }

    /// Did anything answer the user: words or a tool use?
    pub fn has_work(&self) -> bool {
        self.entries.iter().any(|e| matches!(e.item, Item::Reply(_) | Item::Tool(_) | Item::Plan(_)))
    }

    /// Files with what was done to them, strongest deed first, then by name.
    pub fn files(&self) -> Vec<(String, FileTouch)> {
        let mut files: BTreeMap<&str, FileTouch> = BTreeMap::new();
        for entry in &self.entries {
            let Item::Tool(ToolUse { file: Some(touch), .. }) = &entry.item else { continue };
            if entry.outcome.as_ref().is_some_and(|o| !o.ok) {
                continue;
            }
            let known = files.entry(&touch.path).or_insert_with(|| FileTouch { added: 0, removed: 0, ..touch.clone() });
            known.how = known.how.max(touch.how);
            known.added += touch.added;
            known.removed += touch.removed;
        }
        let mut list: Vec<_> = files.into_values().map(|t| (self.relative(&t.path).to_owned(), t)).collect();
        list.sort_by(|a, b| b.1.how.cmp(&a.1.how).then_with(|| a.0.cmp(&b.0)));
        list
    }

    /// A path as the project's people say it.
    pub fn relative<'a>(&'a self, path: &'a str) -> &'a str {
        let roots = [self.cwd.as_deref(), Some(self.project.key.as_str())];
        roots
            .into_iter()
            .flatten()
            .filter(|root| root.len() > 1)
            .find_map(|root| path.strip_prefix(root)?.strip_prefix('/'))
            .unwrap_or(path)
    }
}
