//! The document of a session, and the lines that are made of it.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::source::delta::{LineNumbers, MadeLine, MadeLines};
use crate::source::document::{not_whole, value, whole};
use crate::source::json as fields;
use crate::source::line::timestamp;

/// Longest document that is read, in bytes.
const MAX_BYTES: u64 = 256 << 20;
/// Longest description of a session that is read, in bytes: it lists a client's own marks.
const MAX_HEAD_BYTES: u64 = 4 << 20;

/// Lines of a document of messages.
pub(super) fn lines(path: &Path) -> io::Result<MadeLines> {
    let text = whole(path, MAX_BYTES)?;
    let [messages, origin] = fields::fields(&text, &["messages", "origin"]).map_err(|_| not_whole())?;
    let origin: Value = origin.and_then(value).unwrap_or_default();
    let head = head(path);
    let session = json!({"cwd": head["cwd"], "version": origin["version"]});
    let all = messages.map(fields::elements).unwrap_or_default();
    let mut numbers = LineNumbers::default();
    let mut lines = Vec::with_capacity(all.len() + 2);
    if let Some(began) = head["started_at"].as_str() {
        lines.push((0, json!({"session": session, "began": began}).to_string()));
    }
    for (n, message) in all.iter().enumerate() {
        let at = fields::fields(message, &["ts"]).ok().and_then(|[at]| at).and_then(timestamp);
        // Where the session is now, and not where it was at earlier messages.
        let branch = if n + 1 == all.len() { &head["metadata"]["git"]["branch"] } else { &Value::Null };
        let text = format!(r#"{{"session":{session},"branch":{branch},"message":{}}}"#, message.written().in_made_line());
        lines.push((numbers.of(at), text));
    }
    // Until somebody gives it one, its title is the first prompt.
    let title = head["metadata"]["title"].as_str().unwrap_or_default();
    let is_own =
        ![&head["prompt"], &head["metadata"]["prompt"]].iter().any(|prompt| prompt.as_str().is_some_and(|p| p.contains(title)));
    if is_own {
        lines.push((numbers.of(None), json!({"session": session, "title": title}).to_string()));
    }
    Ok(MadeLines::new(lines.into_iter().map(|(at, text)| Ok(MadeLine { at, text }))))
}

/// What the document beside it says of the session; nothing where there is none.
fn head(path: &Path) -> Value {
    let read = || {
        let folder = path.parent()?;
        let file = folder.join(format!("{}.json", folder.file_name()?.to_str()?));
        serde_json::from_str(&whole(&file, MAX_HEAD_BYTES).ok()?).ok()
    };
    read().unwrap_or_default()
}
