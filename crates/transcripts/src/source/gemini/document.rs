//! Sessions as older versions write them: one document with the messages, whole each time. Lines are made of it as newer versions write them.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::source::delta::{LineNumbers, MadeLine, MadeLines};
use crate::source::document::{not_whole, value, whole};
use crate::source::json::{self as fields, Raw};
use crate::source::line::timestamp;

/// Longest document that is read, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// How the task of the one subagent begins that these versions have, and what is said to it once it has ended without a report. Both are
/// written as messages of the user's, and what it says among what the assistant says.
const TASK_START: &str = "Your task is to do a deep investigation of the codebase to find all relevant files";
const WARNING: &str = "You have one final chance to complete the task with a short grace period.";
/// The tool that starts it.
const SUBAGENT: &str = "codebase_investigator";

/// What parts a path from the text around it.
const AROUND_PATHS: [char; 16] = ['"', '\'', '`', '\\', ' ', '\t', '\n', '\r', '(', ')', '<', '>', ',', ':', '=', '|'];

/// Lines of a document.
pub(super) fn lines(path: &Path) -> io::Result<MadeLines> {
    let text = whole(path, MAX_BYTES)?;
    let [session, began, messages, summary] =
        fields::fields(&text, &["sessionId", "startTime", "messages", "summary"]).map_err(|_| not_whole())?;
    let (session, messages) = session.filter(|id| id.is_text()).and_then(value).zip(messages).ok_or_else(not_whole)?;
    let mut made = Made { lines: Vec::new(), numbers: LineNumbers::default(), subagent: None };
    let start = began.filter(|time| time.is_text()).and_then(value);
    made.add(began.and_then(timestamp), json!({"sessionId": session, "startTime": start}));
    for message in fields::elements(messages) {
        made.add_message(message);
    }
    if let Some(summary) = summary.filter(|summary| summary.is_text()).and_then(value) {
        made.add(None, json!({"$set": {"summary": summary}}));
    }
    Ok(MadeLines::new(made.lines.into_iter().map(Ok)))
}

struct Made {
    lines: Vec<MadeLine>,
    numbers: LineNumbers,
    /// The subagent that is at work, by the message with its task.
    subagent: Option<String>,
}

impl Made {
    fn add(&mut self, at: Option<i64>, mut line: Value) {
        if let Some(subagent) = &self.subagent
            && let Value::Object(line) = &mut line
        {
            line.insert("$subagent".to_owned(), json!(subagent));
        }
        self.lines.push(MadeLine { at: self.numbers.of(at), text: line.to_string() });
    }

    fn add_message(&mut self, message: Raw<'_>) {
        let at = fields::fields(message, &["timestamp"]).ok().and_then(|[at]| at).and_then(timestamp);
        let Some(mut message) = value(message) else { return };
        let said = message["content"].as_str().unwrap_or_default();
        if message["type"] == "user" {
            if said.starts_with(TASK_START) {
                self.subagent = message["id"].as_str().map(str::to_owned);
            } else if !said.contains(WARNING) {
                self.subagent = None;
            }
        }
        // How the use of the tool that started it ended stands in the last message of the subagent's.
        let is_end = |call: &Value| call["name"] == SUBAGENT;
        let has_ended = self.subagent.is_some() && message["toolCalls"].as_array().is_some_and(|calls| calls.iter().any(is_end));
        if !has_ended {
            return self.add(at, message);
        }
        let (id, calls) = (message["id"].as_str().unwrap_or_default().to_owned(), message["toolCalls"].take());
        self.add(at, message.clone());
        self.subagent = None;
        self.add(at, json!({"id": format!("{id}-calls"), "timestamp": message["timestamp"], "type": "gemini", "toolCalls": calls}));
    }
}

/// The folder that the client calls by this hash, if it is one of these or a document names a file in it.
pub(super) fn folder_of_hash(
    hash: &str,
    known: impl IntoIterator<Item = String>,
    documents: impl IntoIterator<Item = PathBuf>,
) -> Option<String> {
    let is_it = |folder: &str| hex_hash(folder) == hash;
    let mut tried = HashSet::new();
    let mut find_in = |text: &str| {
        // Behind an escaped end of line or tab its letter is still there.
        let unescaped = |piece: &str| piece.strip_prefix(['n', 'r', 't']).filter(|rest| rest.starts_with('/')).map_or(0, |_| 1);
        let mut paths = text.split(AROUND_PATHS).map(|piece| &piece[unescaped(piece)..]).filter(|piece| piece.starts_with('/'));
        paths.find_map(|path| {
            let folders = Path::new(path).ancestors().filter_map(Path::to_str);
            folders.take_while(|folder| tried.insert((*folder).to_owned())).find(|folder| is_it(folder)).map(str::to_owned)
        })
    };
    let known = known.into_iter().find(|folder| is_it(folder));
    known.or_else(|| documents.into_iter().filter_map(|document| whole(&document, MAX_BYTES).ok()).find_map(|text| find_in(&text)))
}

/// SHA-256 in hexadecimal digits, as the client calls folders.
fn hex_hash(folder: &str) -> String {
    Sha256::digest(folder).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_known_by_its_hash_wherever_its_files_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let document = folder.path().join("session.json");
        let find = |text: &str, known: &[&str]| {
            std::fs::write(&document, text).expect("a document");
            folder_of_hash(&hex_hash("/p/shop"), known.iter().map(|folder| (*folder).to_owned()), [document.clone()])
        };
        let shop = Some("/p/shop".to_owned());
        assert_eq!(find("", &["/p", "/p/shop"]), shop);
        assert_eq!(find(r#"{"args": {"file_path": "/p/shop/src/a.rs"}}"#, &[]), shop);
        assert_eq!(find(r#"{"output": "in /p/cart/b.rs and\n/p/shop/a.rs."}"#, &["/p/cart"]), shop);
        for other in ["/p/shopping/a.rs", "p/shop/a.rs", "/q/p/shop/a.rs", ""] {
            assert_eq!(find(other, &[]), None, "{other}");
        }
    }
}
