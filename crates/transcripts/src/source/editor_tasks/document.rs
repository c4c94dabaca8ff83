//! The documents of a task, and the lines that are made of them.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::results::is_of_surroundings;
use crate::privacy::raw::RawText;
use crate::source::TranscriptIdentity;
use crate::source::delta::{LineNumbers, MadeLine, MadeLines};
use crate::source::document::{not_whole, value, whole};
use crate::source::json::{self as fields, Raw};
use crate::source::line::timestamp;

/// Longest document of messages that is read, in bytes.
const MAX_BYTES: u64 = 256 << 20;
/// Longest list of tasks that is read, in bytes.
const MAX_LIST_BYTES: u64 = 32 << 20;

/// Before the folder in which a task takes place, among what the extension says of its surroundings.
const FOLDER_STARTS: [&str; 2] = ["# Current Working Directory (", "# Current Workspace Directory ("];
/// Around the model's name there.
const MODEL: (&str, &str) = ("<model>", "</model>");

/// Lines of a task: when it began, then its messages, each reply behind what the calls of the model before it used.
pub(in crate::source) fn lines(place: &TranscriptIdentity, path: &Path) -> io::Result<MadeLines> {
    let text = whole(path, MAX_BYTES)?;
    if text.trim().is_empty() {
        return Ok(MadeLines::new(std::iter::empty()));
    }
    let all = Raw::of(&text).map_err(|_| not_whole())?;
    let messages = match fields::fields(&text, &["messages"]) {
        Ok([messages]) => messages.map(fields::elements).unwrap_or_default(),
        Err(_) if all.is_list() => fields::elements(all),
        Err(_) => return Err(not_whole()),
    };
    let shown = Shown::beside(path);
    let about = about(path);
    let task = json!({"cwd": folder(&messages).or_else(|| entry(path)?.folder)});
    let mut made = Made { task: task.to_string(), lines: Vec::new(), numbers: LineNumbers::default() };
    let began = shown.first.or_else(|| place.agent.as_ref().unwrap_or(&place.session).parse().ok());
    if let Some(began) = began {
        made.add(Some(began), &format!(r#""began":{began}"#));
    }
    let mut model = used_model(&about);
    let mut calls = shown.calls.iter().peekable();
    let mut names = Names::default();
    let mut last = None;
    for (n, message) in messages.iter().enumerate() {
        let [role, at, content] = fields::fields(message, &["role", "ts", "content"]).unwrap_or_default();
        let role = role.and_then(fields::text).unwrap_or_default();
        let at = at.and_then(timestamp).or_else(|| shown.time_of(n, &role)).or(last);
        last = at;
        if let Some(named) = content.and_then(model_in) {
            model = Some(named);
        }
        if role.is("assistant") {
            while let Some(call) = calls.next_if(|call| at.is_none_or(|at| call.at <= at)) {
                made.add_call(call, model.as_deref());
                if at.is_none() {
                    break;
                }
            }
        }
        let id = names.of(&role, content);
        let at_text = at.map_or_else(|| "null".to_owned(), |at| at.to_string());
        made.add(at, &format!(r#""id":"{id}","at":{at_text},"message":{}"#, message.written().in_made_line()));
    }
    // Whether what is not answered yet is private, its message tells.
    calls.filter(|_| !messages.is_empty()).for_each(|call| made.add_call(call, model.as_deref()));
    Ok(MadeLines::new(made.lines.into_iter().map(Ok)))
}

/// The task from which another one was given, the first of them where one gave the next.
pub(super) fn parent(path: &Path) -> Option<String> {
    entry(path)?.parent
}

struct Made {
    task: String,
    lines: Vec<MadeLine>,
    numbers: LineNumbers,
}

impl Made {
    fn add(&mut self, at: Option<i64>, fields: &str) {
        let text = format!(r#"{{"task":{},{fields}}}"#, self.task);
        self.lines.push(MadeLine { at: self.numbers.of(at), text });
    }

    fn add_call(&mut self, call: &Call, model: Option<&str>) {
        let model = call.model.clone().or(model.map(Value::from));
        let call = json!({"ts": call.at, "used": call.used, "model": model});
        self.add(call["ts"].as_i64(), &format!(r#""call":{call}"#));
    }
}

/// Names for messages, which have none: what a message begins with, and how many before began so. What an extension puts behind that when a task
/// is taken up again does not change it.
#[derive(Default)]
struct Names(HashMap<[u8; 32], u32>);

impl Names {
    fn of(&mut self, role: &RawText<'_>, content: Option<Raw<'_>>) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(role.in_made_line().as_bytes());
        let blocks = content.map(fields::elements).unwrap_or_default();
        let mut beginnings = blocks.iter().map(|block| beginning(*block));
        let first = beginnings.next().or_else(|| content.and_then(fields::text)).unwrap_or_default();
        hasher.update(first.in_made_line().as_bytes());
        // A result may have its heading as a block of its own.
        if first.strip_suffix("Result:").is_some() {
            hasher.update(beginnings.next().unwrap_or_default().in_made_line().as_bytes());
        }
        let hash = hasher.finalize();
        let before = self.0.entry(*hash.as_bytes()).or_default();
        *before += 1;
        format!("{}-{before}", &hash.to_hex()[..16])
    }
}

/// What tells a block from others: its text, or the id of the call.
fn beginning(block: Raw<'_>) -> RawText<'_> {
    let told = fields::fields(block, &["text", "id", "tool_use_id", "toolCallId"]).unwrap_or_default();
    told.into_iter().flatten().find_map(fields::text).unwrap_or_else(|| block.written())
}

/// A call of the model.
struct Call {
    at: i64,
    /// What the extension counted, as JSON in its own names.
    used: Value,
    model: Option<Value>,
}

/// What was shown of a task, which has times.
#[derive(Default)]
struct Shown {
    first: Option<i64>,
    calls: Vec<Call>,
    /// By the number of the last message of the user's side when something was shown: when a call of the model began, and when anything was shown.
    asked: HashMap<i64, i64>,
    shown: HashMap<i64, i64>,
}

impl Shown {
    fn beside(path: &Path) -> Self {
        let mut all = Self::default();
        let Ok(text) = whole(&path.with_file_name("ui_messages.json"), MAX_BYTES) else { return all };
        let Ok(messages) = Raw::of(&text) else { return all };
        for message in fields::elements(messages) {
            let names = ["ts", "say", "text", "conversationHistoryIndex", "modelInfo"];
            let Ok([at, say, text, index, model]) = fields::fields(message, &names) else { continue };
            let Some(at) = at.and_then(timestamp) else { continue };
            all.first = all.first.or(Some(at));
            let index = fields::integer(index);
            if let Some(index) = index {
                all.shown.entry(index).or_insert(at);
            }
            if say.and_then(fields::text).is_none_or(|say| !say.is("api_req_started")) {
                continue;
            }
            all.asked.extend(index.map(|index| (index, at)));
            let told = text.and_then(fields::text);
            let told = told.as_ref().and_then(|told| value(Raw::of(told).ok()?)).unwrap_or_default();
            let model = model
                .and_then(|model| fields::fields(model, &["modelId"]).ok())
                .and_then(|[id]| id)
                .filter(|id| id.is_text())
                .and_then(value);
            let names = ["apiProtocol", "tokensIn", "tokensOut", "cacheReads", "cacheWrites"];
            let used: serde_json::Map<String, Value> =
                names.into_iter().filter_map(|name| Some((name.to_owned(), told.get(name)?.clone()))).collect();
            if used.len() > usize::from(used.contains_key("apiProtocol")) {
                all.calls.push(Call { at, used: used.into(), model });
            }
        }
        all
    }

    /// When a message was, in releases that do not write it. What is shown while the model is called, and until its reply is written, has the number
    /// of the message before.
    fn time_of(&self, n: usize, role: &RawText<'_>) -> Option<i64> {
        let before = i64::try_from(n).ok()? - 1;
        if role.is("assistant") { self.shown.get(&before).copied() } else { self.asked.get(&before).copied() }
    }
}

/// What the extension keeps beside the messages: which files it looked at, with which models.
fn about(path: &Path) -> Value {
    let read = || serde_json::from_str(&whole(&path.with_file_name("task_metadata.json"), MAX_LIST_BYTES).ok()?).ok();
    read().unwrap_or_default()
}

fn used_model(about: &Value) -> Option<String> {
    about["model_usage"].as_array()?.first()?["model_id"].as_str().map(str::to_owned)
}

/// The texts in which the extension says what surrounds the task.
fn surroundings<'t>(content: Raw<'t>) -> impl Iterator<Item = String> + 't {
    let text = |block: Raw<'_>| {
        let [text] = fields::fields(block, &["text"]).ok()?;
        text.and_then(fields::text).filter(|text| text.tells(is_of_surroundings)).map(|text| text.in_made_line().to_owned())
    };
    fields::elements(content).into_iter().filter_map(text)
}

fn content_of(message: Raw<'_>) -> Option<Raw<'_>> {
    fields::fields(message, &["content"]).ok()?[0]
}

/// The folder in which a task takes place, as its messages say.
fn folder(messages: &[Raw<'_>]) -> Option<String> {
    let in_text = |text: String| {
        let (_, rest) = FOLDER_STARTS.iter().find_map(|start| text.split_once(start))?;
        let line = rest.lines().next()?;
        // The folder's own name may have brackets.
        let end = line.rfind(") Files").or_else(|| line.rfind(')'))?;
        Some(line[..end].to_owned()).filter(|folder| folder.starts_with('/'))
    };
    messages.iter().filter_map(|message| content_of(*message)).flat_map(surroundings).find_map(in_text)
}

fn model_in(content: Raw<'_>) -> Option<String> {
    let in_text = |text: String| {
        let (_, rest) = text.rsplit_once(MODEL.0)?;
        Some(rest.split_once(MODEL.1)?.0.trim().to_owned()).filter(|name| !name.is_empty())
    };
    surroundings(content).filter_map(in_text).last()
}

/// What a list of tasks says of one.
struct Entry {
    folder: Option<String>,
    parent: Option<String>,
}

/// What is said of a task beside its messages, or in a list of all.
fn entry(path: &Path) -> Option<Entry> {
    let read = |file: &Path| serde_json::from_str::<Value>(&whole(file, MAX_LIST_BYTES).ok()?).ok();
    let folder = path.parent()?;
    let id = folder.file_name()?.to_str()?;
    let in_list = |list: &Value| list.as_array()?.iter().find(|one| one["id"] == id).cloned();
    let own = read(&folder.join("history_item.json"))
        .or_else(|| in_list(&read(&folder.with_file_name("_index.json"))?["entries"]))
        .or_else(|| in_list(&read(&folder.parent()?.with_file_name("state").join("taskHistory.json"))?))?;
    let text = |name: &str| own[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let folder = text("workspace").or_else(|| text("cwdOnTaskInitialization")).filter(|folder| folder.starts_with('/'));
    let parent = text("rootTaskId").filter(|root| *root != id && own["parentTaskId"].is_string()).or_else(|| text("parentTaskId"));
    Some(Entry { folder, parent: parent.filter(|parent| *parent != id) })
}
