//! The lines that are made of a session, whichever generation of the client keeps it: the same words in both, so that a session that went from
//! one to the other has the same records.

use serde_json::{Value, json};

use crate::client::Client;
use crate::source::TranscriptIdentity;

/// The most sessions between a subagent's and the one it works for.
const MAX_DEPTH: usize = 8;
/// Milliseconds to nanoseconds.
pub(super) const NS: i64 = 1_000_000;

/// What is said of a session as a whole.
pub(super) struct Head {
    /// What every line repeats.
    session: Value,
    title: String,
    /// In milliseconds.
    began: i64,
    updated: i64,
}

impl Head {
    pub(super) fn of([cwd, version, title]: [String; 3], [began, updated]: [i64; 2]) -> Self {
        Self { session: json!({"cwd": cwd, "version": version}), title, began, updated }
    }

    /// What the lines of its messages begin with.
    pub(super) fn session(&self) -> String {
        self.session.to_string()
    }

    /// The first line, and its time.
    pub(super) fn first(&self) -> (i64, String) {
        (self.began, json!({"session": self.session, "began": self.began}).to_string())
    }

    /// The line behind the messages of a session in which the user went back, and has said nothing since.
    pub(super) fn went_back(&self) -> String {
        json!({"session": self.session, "went_back": true}).to_string()
    }

    /// The last line, and its time.
    pub(super) fn last(&self) -> (i64, String) {
        (self.updated, json!({"session": self.session, "title": self.title}).to_string())
    }
}

/// The line of a message, or of some of its parts.
pub(super) fn line(session: &str, message: &str, parts: &[String]) -> String {
    format!(r#"{{"session":{session},"message":{message},"parts":[{}]}}"#, parts.join(","))
}

/// The same of a prompt that the user took back.
pub(super) fn taken_back(line: &str) -> String {
    line.replacen('{', r#"{"taken_back":true,"#, 1)
}

/// The message from which on all are taken back, as a session says.
pub(super) fn first_taken_back(revert: &Value) -> Option<&str> {
    revert["messageID"].as_str()
}

/// Will nothing be added to a message of the assistant's any more?
pub(super) fn is_done(message: &Value) -> bool {
    !message["time"]["completed"].is_null() || !message["error"].is_null()
}

/// Whose rows those of a session are: those of a subagent belong to the first session of those that lead to it.
pub(super) fn place(id: &str, mut parent_of: impl FnMut(&str) -> Option<String>) -> TranscriptIdentity {
    let mut first = id.to_owned();
    for _ in 0..MAX_DEPTH {
        let Some(parent) = parent_of(&first) else { break };
        first = parent;
    }
    let agent = (first != id).then(|| id.to_owned());
    TranscriptIdentity { client: Client::OpenCode, session: first, agent, cwd: None }
}
