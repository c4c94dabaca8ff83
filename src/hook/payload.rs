//! The JSON payload of a hook: a foreign format, parsed leniently, and the check that it comes from a client of ours.

use std::path::{Component, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::config::Config;
use crate::model::client::Client;
use crate::source::discover::ClientFolder;
use crate::source::{homes_of, source_of};
use crate::sys::paths::is_same_path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    SessionStart,
    UserPromptSubmit,
    SessionEnd,
    PreCompact,
    PostCompact,
    Stop,
    SubagentStop,
}

/// Event, its name on our command line, its names in the payload: Claude Code's, and Gemini CLI's where it has another.
const EVENTS: [(Event, &str, &[&str]); 7] = [
    (Event::SessionStart, "session-start", &["SessionStart"]),
    (Event::UserPromptSubmit, "user-prompt-submit", &["UserPromptSubmit", "BeforeAgent"]),
    (Event::SessionEnd, "session-end", &["SessionEnd"]),
    (Event::PreCompact, "pre-compact", &["PreCompact", "PreCompress"]),
    (Event::PostCompact, "post-compact", &["PostCompact"]),
    (Event::Stop, "stop", &["Stop"]),
    (Event::SubagentStop, "subagent-stop", &["SubagentStop"]),
];

/// Keys that only other hosts of the same hooks send.
const FOREIGN_KEYS: [&str; 6] =
    ["cursor_version", "conversation_id", "generation_id", "workspace_roots", "hookEventName", "sessionId"];

/// The session's id in a payload that says neither its event nor its transcript, and what no such payload has.
const BARE_ID: &str = "sessionId";
const NO_BARE_KEYS: [&str; 4] = ["hook_event_name", "session_id", "transcript_path", "transcriptPath"];

/// Longest accepted session id in bytes. Claude Code's ids are UUIDs.
const MAX_ID_BYTES: usize = 128;
/// Longest accepted reason or trigger in bytes.
const MAX_REASON_BYTES: usize = 40;

impl Event {
    /// All events by their names on our command line.
    pub fn names() -> impl Iterator<Item = &'static str> {
        EVENTS.iter().map(|(_, ours, _)| *ours)
    }

    pub fn from_name(name: &str) -> Option<Self> {
        EVENTS.iter().find(|(_, ours, _)| *ours == name).map(|(event, ..)| *event)
    }

    pub fn name(self) -> &'static str {
        EVENTS.iter().find(|(event, ..)| *event == self).map_or("", |(_, ours, _)| ours)
    }
}

/// The fields in use. Unknown keys are ignored; missing ones are empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Payload {
    /// As the client calls it.
    pub event: String,
    pub session: String,
    pub transcript: PathBuf,
    pub cwd: String,
    /// How the session starts: `startup`, `resume`, `clear`, `compact`, `fork`. Some clients also send where a prompt comes from.
    pub source: String,
    /// Why the session ends, or what triggered the compaction.
    pub reason: String,
    pub stop_hook_active: bool,
    /// The user's new prompt.
    pub prompt: String,
    /// The client's id of the prompt, if it sends one.
    pub prompt_id: String,
    foreign: bool,
    /// It names neither its event nor a transcript, as of a client that leaves both to us.
    bare: bool,
}

impl Payload {
    /// # Errors
    /// If the bytes are not a JSON object.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let value: Value =
            serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).context("stdin is not JSON")?;
        let fields = value.as_object().context("stdin is not a JSON object")?;
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        // Only a word like `prompt_input_exit`: any other text might be private, and marks hold no text.
        let is_word = |text: &String| text.len() <= MAX_REASON_BYTES && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        let word = |name: &str| Some(text(name)).filter(is_word).unwrap_or_default();
        // Seen with Copilot CLI 1.0.102.
        let is_bare = |key: &str| fields.contains_key(key) == (key == BARE_ID);
        let bare = FOREIGN_KEYS.iter().chain(&NO_BARE_KEYS).all(|key| is_bare(key));
        Ok(Self {
            event: text("hook_event_name"),
            session: text(if bare { BARE_ID } else { "session_id" }),
            transcript: PathBuf::from(text("transcript_path")),
            cwd: text("cwd"),
            source: text("source"),
            reason: if fields.contains_key("reason") { word("reason") } else { word("trigger") },
            stop_hook_active: fields.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false),
            prompt: text("prompt"),
            prompt_id: Some(text("prompt_id")).filter(|id| !id.is_empty()).unwrap_or_else(|| text("turn_id")),
            foreign: !bare && FOREIGN_KEYS.iter().any(|key| fields.contains_key(*key)),
            bare,
        })
    }

    /// With the session's transcript, if it names none: where the client keeps one of this id that does not say it.
    pub(crate) fn placed(mut self, config: &Config) -> Self {
        if self.bare && self.has_session_id() {
            let place = |folder: ClientFolder| {
                let source = source_of(folder.client);
                let is_used = source.layouts().iter().any(|layout| folder.path.join(layout).is_dir());
                source.unnamed_transcript(&self.session).filter(|_| is_used).map(|below| folder.path.join(below))
            };
            self.transcript = config.client_folders().into_iter().find_map(place).unwrap_or_default();
        }
        self
    }

    /// Whose payload for the event this is; `None` of one that no client of ours sends.
    pub(crate) fn client(&self, event: Event, config: &Config) -> Option<Client> {
        if self.is_claude_codes(event, &config.session_dirs()) {
            return Some(Client::ClaudeCode);
        }
        if !self.may_be_ours(event) {
            return None;
        }
        let folders = config.client_folders();
        let mut others = folders.iter().filter(|folder| !folder.client.is_usual());
        others.find(|folder| self.is_of(folder)).map(|folder| folder.client)
    }

    /// Whether it is for the event and has nothing that no client of ours sends.
    fn may_be_ours(&self, event: Event) -> bool {
        let named = EVENTS.iter().any(|(known, _, theirs)| *known == event && theirs.contains(&self.event.as_str()));
        let goes_up = self.transcript.components().any(|part| part == Component::ParentDir);
        (named || self.bare) && !self.foreign && self.has_session_id() && !goes_up
    }

    /// Whether the transcript that it names is the session's own, below this folder.
    fn is_of(&self, folder: &ClientFolder) -> bool {
        source_of(folder.client).calls_hooks(&self.transcript)
            && homes_of(folder.client, &self.transcript, &self.session).any(|root| is_same_path(&folder.path, root))
    }

    /// Whether this is Claude Code's payload for the event. If so, its transcript is `projects/<folder>/<session>.jsonl` below
    /// one of these config directories, which we may read.
    pub fn is_claude_codes(&self, event: Event, dirs: &[PathBuf]) -> bool {
        self.may_be_ours(event) && !self.bare && self.is_transcript_below(dirs)
    }

    /// Whether it names a session, by an id like Claude Code's.
    pub(crate) fn has_session_id(&self) -> bool {
        (1..=MAX_ID_BYTES).contains(&self.session.len())
            && self.session.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    }

    fn is_transcript_below(&self, dirs: &[PathBuf]) -> bool {
        let names = self.transcript.file_stem().is_some_and(|stem| stem == self.session.as_str());
        let ends = self.transcript.extension().is_some_and(|e| e == "jsonl");
        let Some(root) = self.transcript.ancestors().nth(3).filter(|_| names && ends) else { return false };
        let below_projects = self.transcript.starts_with(root.join("projects"));
        below_projects && dirs.iter().any(|dir| is_same_path(dir, root))
    }
}
