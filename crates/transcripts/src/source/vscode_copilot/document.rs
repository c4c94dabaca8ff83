//! The document of a chat, and the lines that are made of it.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::chat::{Answer, answers};
use super::log::replayed;
use crate::source::address::path_of;
use crate::source::delta::{LineNumbers, MadeLine, MadeLines};
use crate::source::document::{not_whole, whole};

/// Longest document that is read, in bytes. All of it is held at once.
const MAX_BYTES: u64 = 128 << 20;
/// Longest description of a window that is read, in bytes.
const MAX_WINDOW_BYTES: u64 = 1 << 20;

/// States of an answer that is still being given, or that waits for the user.
const UNDER_WAY: [u64; 2] = [0, 4];

/// Lines of a chat: when it began, then each request and its answer, then its title.
pub(super) fn lines(path: &Path) -> io::Result<MadeLines> {
    let text = whole(path, MAX_BYTES)?;
    if text.trim().is_empty() {
        return Ok(MadeLines::new(std::iter::empty()));
    }
    let is_log = path.extension().is_some_and(|end| end == "jsonl");
    let document =
        if is_log { replayed(&text) } else { serde_json::from_str(&text).ok() }.filter(Value::is_object).ok_or_else(not_whole)?;
    let folder = document["workingDirectory"].as_str().and_then(path_of).or_else(|| folder_of_window(path));
    let mut made = Made { chat: json!({"cwd": folder}), lines: Vec::new(), numbers: LineNumbers::default() };
    if let Some(began) = document["creationDate"].as_i64() {
        made.add(Some(began), json!({"began": began}));
    }
    let requests = document["requests"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (n, request) in requests.iter().enumerate() {
        let is_last = n + 1 == requests.len();
        made.add_request(n, request, !is_last || is_answered(request));
    }
    if requests.iter().any(is_taken_back) {
        made.add(None, json!({"went_back": true}));
    }
    if let Some(title) = document["customTitle"].as_str().filter(|title| !title.is_empty()) {
        made.add(None, json!({"title": title}));
    }
    Ok(MadeLines::new(made.lines.into_iter().map(Ok)))
}

/// Is all of the answer there?
fn is_answered(request: &Value) -> bool {
    let state = &request["modelState"]["value"];
    state.as_u64().map_or(!state.is_null(), |state| !UNDER_WAY.contains(&state)) || request["result"].is_object()
}

/// Did the user go back to before it? The editor removes it with the next request; one of which it keeps the beginning stays.
fn is_taken_back(request: &Value) -> bool {
    let back = &request["shouldBeRemovedOnSend"];
    back.is_object() && !back["afterUndoStop"].is_string()
}

struct Made {
    chat: Value,
    lines: Vec<MadeLine>,
    numbers: LineNumbers,
}

impl Made {
    fn add(&mut self, at: Option<i64>, mut line: Value) {
        line["chat"] = self.chat.clone();
        self.lines.push(MadeLine { at: self.numbers.of(at), text: line.to_string() });
    }

    fn add_request(&mut self, n: usize, request: &Value, is_answered: bool) {
        let id = request["requestId"].as_str().map_or_else(|| format!("request {n}"), str::to_owned);
        let asked = request["timestamp"].as_i64();
        let text = request["message"]["text"].as_str().or_else(|| request["message"].as_str()).unwrap_or_default();
        // What the editor asks in the user's name, and what a button asks.
        let is_users =
            request["isSystemInitiated"] != true && !request["confirmation"].is_string() && !request["requestSource"].is_string();
        let has_more = request["variableData"]["variables"].as_array().is_some_and(|all| !all.is_empty());
        let prompt = if is_users { Value::from(text) } else { Value::Null };
        let mut line = json!({"id": id, "at": asked, "asked": {"text": prompt, "has_more": has_more}});
        if is_taken_back(request) {
            line["taken_back"] = json!(true);
        }
        self.add(asked, line);
        if !is_answered {
            return;
        }
        for (n, Answer { at, said }) in answers(request).into_iter().enumerate() {
            let at = at.or(asked);
            self.add(at, json!({"id": format!("{id}/{n}"), "at": at, "answer": said}));
        }
        let metadata = &request["result"]["metadata"];
        let either = |own: &str, older: &str| [&request[own], &metadata[older]].into_iter().find_map(Value::as_u64).unwrap_or(0);
        let used = (either("promptTokens", "promptTokens"), either("completionTokens", "outputTokens"));
        if used != (0, 0) {
            let named = request["modelId"].as_str().map(|name| name.strip_prefix("copilot/").unwrap_or(name));
            let model = metadata["resolvedModel"].as_str().or(named);
            self.add(
                asked,
                json!({"id": format!("{id}/used"), "at": asked, "used": {"input": used.0, "output": used.1, "model": model}}),
            );
        }
    }
}

/// The folder of the window to which a chat belongs, as it stands beside the folder of chats.
fn folder_of_window(path: &Path) -> Option<String> {
    let text = whole(&path.parent()?.with_file_name("workspace.json"), MAX_WINDOW_BYTES).ok()?;
    let window: Value = serde_json::from_str(&text).ok()?;
    let of_several = || Some(path_of(window["workspace"].as_str()?)?.rsplit_once('/')?.0.to_owned());
    window["folder"].as_str().and_then(path_of).or_else(of_several).filter(|folder| !folder.is_empty())
}
