//! Logs in which the first messages stand in a list alone, as of a conversation that was taken over from elsewhere. Lines are made of them: a row for
//! each message of the list, and then the others as they are.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::rows::{CLIENT_STARTS, RECAP_ANSWER};
use crate::source::delta::{self, LineNumbers, MadeLine, MadeLines};
use crate::source::document::{value, whole};
use crate::source::json::{self as fields, Raw};
use crate::source::line::{is_complete, timestamp};

/// Longest log that is read so, in bytes.
const MAX_BYTES: u64 = 256 << 20;
/// How much of a log is read to see whether it begins with such a list, in bytes.
const HEAD_BYTES: u64 = 64 << 10;

/// How a row begins that sets something for the whole session, and what names a list of messages in it.
const SET_START: &str = r#"{"$set":{"#;
const LIST_NAME: &str = r#""messages":["#;

/// The lines of a log that begins with a list of messages; `None` of any other.
pub(super) fn lines(path: &Path) -> Option<io::Result<MadeLines>> {
    let head = delta::head_of(path, HEAD_BYTES).ok()?;
    begins_with_list(&String::from_utf8_lossy(&head)).then(|| whole(path, MAX_BYTES).map(|text| made(&text)))
}

/// Does a list with something that was said come before any message that has a row?
fn begins_with_list(head: &str) -> bool {
    for line in head.lines() {
        let Ok([set, id]) = fields::fields(line, &["$set", "id"]) else {
            // It is longer than the head.
            return line.starts_with(SET_START) && line.contains(LIST_NAME);
        };
        if id.is_some() {
            return false;
        }
        if set.and_then(messages_in).is_some_and(|messages| messages.into_iter().filter_map(value).any(|message| is_said(&message)))
        {
            return true;
        }
    }
    false
}

fn messages_in(set: Raw<'_>) -> Option<Vec<Raw<'_>>> {
    fields::fields(set, &["messages"]).ok()?[0].map(fields::elements)
}

/// Is it a message that the user or the assistant said, and not what the client tells its model first?
fn is_said(message: &Value) -> bool {
    let of_client = || CLIENT_STARTS.iter().any(|start| text_of(message).trim_start().starts_with(start));
    message["type"] == "gemini" || message["type"] == "user" && !of_client()
}

fn text_of(message: &Value) -> &str {
    let content = &message["content"];
    content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default()
}

fn made(text: &str) -> MadeLines {
    let (mut lines, mut numbers, mut has_rows) = (Vec::new(), LineNumbers::default(), false);
    let mut add = |at: Option<i64>, text: String| lines.push(MadeLine { at: numbers.of(at), text });
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let [set, id, at, began] = fields::fields(line, &["$set", "id", "timestamp", "startTime"]).unwrap_or_default();
        has_rows |= id.is_some();
        match set.and_then(messages_in).filter(|_| !has_rows) {
            Some(messages) => of_list(messages).into_iter().for_each(|(at, line)| add(at, line)),
            // One that is not written to its end yet is read the next time.
            None if is_complete(line.as_bytes()) || text.ends_with('\n') => add(at.or(began).and_then(timestamp), line.to_owned()),
            None => {}
        }
    }
    MadeLines::new(lines.into_iter().map(Ok))
}

/// Rows for the messages of a list. A recap stays in a list with its answer, by which it is known.
fn of_list(messages: Vec<Raw<'_>>) -> Vec<(Option<i64>, String)> {
    let at = |message: &Raw<'_>| fields::fields(message, &["timestamp"]).ok().and_then(|[at]| at).and_then(timestamp);
    let mut messages = messages.into_iter().filter_map(|message| Some((at(&message), value(message)?))).peekable();
    let mut rows = Vec::new();
    while let Some((at, message)) = messages.next() {
        let answer = messages.next_if(|(_, next)| next["type"] == "gemini" && text_of(next).trim() == RECAP_ANSWER);
        let row = match answer.filter(|_| message["type"] == "user") {
            Some((_, answer)) => json!({"$set": {"messages": [message, answer]}}),
            None => message,
        };
        rows.push((at, row.to_string()));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_log_that_begins_with_what_was_said_in_a_list_is_read_so() {
        let list =
            |text: &str| json!({"$set": {"messages": [{"id": "1", "type": "user", "content": [{"text": text}]}]}}).to_string();
        let (said, told) = (list("Rename it"), list("<session_context>\nThis is the client."));
        let meta = json!({"sessionId": "s", "startTime": "2026-11-18T10:00:00.000Z"}).to_string();
        let row = json!({"id": "2", "type": "user", "content": "Rename it"}).to_string();
        assert!(begins_with_list(&format!("{meta}\n{told}\n{said}\n{row}")));
        assert!(begins_with_list(&format!("{meta}\n{}", &said[..40])));
        for other in [format!("{meta}\n{told}\n{row}\n{said}"), format!("{meta}\n{row}\n{said}"), meta.clone(), String::new()] {
            assert!(!begins_with_list(&other), "{other}");
        }
    }
}
