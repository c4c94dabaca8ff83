//! The JSON payload of a hook: a foreign format, parsed leniently, and the check that it comes from a client of ours.

use std::path::{Component, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use crate::config::Config;
use crate::sys::paths::is_same_path;
use transcripts::client::Client;
use transcripts::source::discover::ClientFolder;
use transcripts::source::{homes_of, source_of};

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

/// Cursor's names of its events, by its documentation. Hooks of Claude Code that it runs have Claude Code's: they are told nothing, as it is
/// not known what it does with their answers.
const CURSOR_EVENTS: [(Event, &str); 2] = [(Event::SessionStart, "sessionStart"), (Event::SessionEnd, "sessionEnd")];
/// By these keys it is known.
const CURSOR_KEYS: [&str; 2] = ["cursor_version", CURSOR_ID];
const CURSOR_ID: &str = "conversation_id";

/// The events of VS Code's that we answer or note, by its documentation. At a prompt it takes nothing into the conversation.
const VS_CODE_EVENTS: [(Event, &str); 2] = [(Event::SessionStart, "SessionStart"), (Event::PreCompact, "PreCompact")];
/// By these keys it is known, and by having none of that for the id.
const VS_CODE_KEYS: [&str; 2] = [VS_CODE_EVENT, BARE_ID];
const VS_CODE_EVENT: &str = "hookEventName";
const USUAL_ID: &str = "session_id";

/// The event of Windsurf's that we note, by its documentation; it names the event under this key, and the transcript among what the event
/// is about.
const WINDSURF_EVENTS: [(Event, &str); 1] = [(Event::Stop, "post_cascade_response_with_transcript")];
const WINDSURF_EVENT: &str = "agent_action_name";
const WINDSURF_ID: &str = "trajectory_id";
const WINDSURF_DETAILS: &str = "tool_info";

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
    form: Form,
}

/// Whose keys a payload has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Claude Code's, which others have, too.
    Usual,
    /// It names neither its event nor a transcript, as of a client that leaves both to us.
    Bare,
    Cursor,
    /// VS Code's, which runs the hooks of Claude Code's settings.
    VsCode,
    Windsurf,
    /// No client's of ours.
    Foreign,
}

impl Form {
    fn of(fields: &Map<String, Value>) -> Self {
        let has = |key: &&str| fields.contains_key(*key);
        // Seen with Copilot CLI 1.0.102.
        let is_bare = FOREIGN_KEYS.iter().chain(&NO_BARE_KEYS).all(|key| has(key) == (*key == BARE_ID));
        if CURSOR_KEYS.iter().all(has) {
            Self::Cursor
        } else if has(&WINDSURF_EVENT) {
            Self::Windsurf
        } else if VS_CODE_KEYS.iter().all(has) && !has(&USUAL_ID) {
            Self::VsCode
        } else if is_bare {
            Self::Bare
        } else if FOREIGN_KEYS.iter().any(has) {
            Self::Foreign
        } else {
            Self::Usual
        }
    }

    /// The key of the session's id.
    fn id(self) -> &'static str {
        match self {
            Self::Usual | Self::Foreign => USUAL_ID,
            Self::Bare | Self::VsCode => BARE_ID,
            Self::Cursor => CURSOR_ID,
            Self::Windsurf => WINDSURF_ID,
        }
    }

    /// The key of the event's name.
    fn event(self) -> &'static str {
        match self {
            Self::VsCode => VS_CODE_EVENT,
            Self::Windsurf => WINDSURF_EVENT,
            Self::Usual | Self::Bare | Self::Cursor | Self::Foreign => "hook_event_name",
        }
    }

    /// Is an event called so?
    fn calls(self, event: Event, name: &str) -> bool {
        match self {
            Self::Usual => EVENTS.iter().any(|(known, _, theirs)| *known == event && theirs.contains(&name)),
            Self::Bare => true,
            Self::Cursor => CURSOR_EVENTS.contains(&(event, name)),
            Self::VsCode => VS_CODE_EVENTS.contains(&(event, name)),
            Self::Windsurf => WINDSURF_EVENTS.contains(&(event, name)),
            Self::Foreign => false,
        }
    }
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
        let form = Form::of(fields);
        let named =
            || fields.get(WINDSURF_DETAILS).and_then(|details| details.get("transcript_path")?.as_str()).unwrap_or_default();
        let root = || fields.get("workspace_roots").and_then(|roots| roots.get(0)?.as_str()).unwrap_or_default().to_owned();
        Ok(Self {
            event: text(form.event()),
            session: text(form.id()),
            transcript: PathBuf::from(if form == Form::Windsurf { named().to_owned() } else { text("transcript_path") }),
            cwd: Some(text("cwd")).filter(|cwd| form != Form::Cursor || !cwd.is_empty()).unwrap_or_else(root),
            // Cursor does not say it: it calls the hook for a new conversation.
            source: if form == Form::Cursor { "startup".to_owned() } else { text("source") },
            reason: if fields.contains_key("reason") { word("reason") } else { word("trigger") },
            stop_hook_active: fields.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false),
            prompt: text("prompt"),
            prompt_id: Some(text("prompt_id")).filter(|id| !id.is_empty()).unwrap_or_else(|| text("turn_id")),
            form,
        })
    }

    /// With the session's transcript, if it names none: where the client keeps one of this id that does not say it.
    pub(crate) fn placed(mut self, config: &Config) -> Self {
        if self.form == Form::Bare && self.has_session_id() {
            let place = |folder: ClientFolder| {
                let below = source_of(folder.client).unnamed_transcript(&self.session).filter(|_| is_used(&folder));
                below.map(|below| folder.path.join(below))
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
        let goes_up = self.transcript.components().any(|part| part == Component::ParentDir);
        self.form.calls(event, &self.event) && self.has_session_id() && !goes_up
    }

    /// Whether the transcript that it names is the session's own, below this folder.
    fn is_of(&self, folder: &ClientFolder) -> bool {
        let is_own = || homes_of(folder.client, &self.transcript, &self.session).any(|root| is_same_path(&folder.path, root));
        let is_below = || self.transcript.ancestors().any(|above| is_same_path(&folder.path, above));
        match (self.form, folder.client) {
            // It may name none, so that it has to be used here.
            (Form::Cursor, Client::Cursor) => is_used(folder) && (self.transcript.as_os_str().is_empty() || is_own()),
            // Which file it names is not known: one of the editor's.
            (Form::VsCode, Client::VscodeCopilot) => is_used(folder) && (self.transcript.as_os_str().is_empty() || is_below()),
            (Form::Windsurf, Client::Windsurf) => is_below(),
            (Form::Windsurf, _) | (_, Client::Windsurf) => false,
            (Form::Cursor | Form::VsCode, _) | (_, Client::Cursor | Client::VscodeCopilot) => false,
            _ => source_of(folder.client).calls_hooks(&self.transcript) && is_own(),
        }
    }

    /// Whether this is Claude Code's payload for the event. If so, its transcript is `projects/<folder>/<session>.jsonl` below
    /// one of these config directories, which we may read.
    pub fn is_claude_codes(&self, event: Event, dirs: &[PathBuf]) -> bool {
        self.may_be_ours(event) && self.form == Form::Usual && self.is_transcript_below(dirs)
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

/// Whether the client of a folder keeps sessions in it.
fn is_used(folder: &ClientFolder) -> bool {
    source_of(folder.client).layouts().iter().any(|layout| folder.path.join(layout).is_dir())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn windsurf_names_the_transcript_among_what_the_event_is_about() {
        let named = json!({
            "agent_action_name": "post_cascade_response_with_transcript", "trajectory_id": "7f2c", "execution_id": "e", "timestamp": "t",
            "tool_info": {"transcript_path": "/home/x/.windsurf/transcripts/7f2c.jsonl"}, "hook_event_name": "Stop",
        });
        let read = |value: &Value| Payload::read(value.to_string().as_bytes()).expect("an object");
        let payload = read(&named);
        assert_eq!((payload.session.as_str(), payload.event.as_str()), ("7f2c", "post_cascade_response_with_transcript"));
        assert_eq!(payload.transcript, PathBuf::from("/home/x/.windsurf/transcripts/7f2c.jsonl"));
        assert!(payload.may_be_ours(Event::Stop) && !payload.may_be_ours(Event::SessionEnd));
        // Whatever else it sends, it is never taken for another client, and nothing fails.
        for info in [json!(null), json!([]), json!({"transcript_path": 7}), json!("text")] {
            let mut named = named.clone();
            named["tool_info"] = info;
            assert_eq!(read(&named).transcript, PathBuf::new());
        }
        assert!(!read(&named).is_claude_codes(Event::Stop, &[PathBuf::from("/home/x")]));
    }
}
