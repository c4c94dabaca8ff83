//! What was answered to a request: texts, and calls of tools with how they ended, in order.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::tools::{EDIT_BY_EDITOR, RUN};
use crate::source::address::path_of;

/// A text, or a call.
pub(super) struct Answer {
    pub(super) at: Option<i64>,
    pub(super) said: Value,
}

/// What is shown of a call of a tool.
const CALL: &str = "toolInvocationSerialized";
/// Kinds of text that are shown: the first two are the assistant's words.
const MARKDOWN: [&str; 2] = ["markdownContent", "markdownVuln"];

/// What was answered: as it was said to the model, or else as it was shown.
pub(super) fn answers(request: &Value) -> Vec<Answer> {
    let shown = list(&request["response"]);
    let metadata = &request["result"]["metadata"];
    let rounds = list(&metadata["toolCallRounds"]);
    let end = request["modelState"]["completedAt"]
        .as_i64()
        .or_else(|| Some(request["timestamp"].as_i64()? + request["result"]["timings"]["totalElapsed"].as_i64()?));
    let mut all = if rounds.iter().any(|round| !list(&round["toolCalls"]).is_empty()) {
        in_rounds(rounds, &metadata["toolCallResults"], &Shown::of(shown))
    } else {
        as_shown(shown)
    };
    if let Some(last) = all.last_mut().filter(|last| last.said["text"].is_string()) {
        last.at = end.or(last.at);
    }
    all
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn in_rounds(rounds: &[Value], results: &Value, shown: &Shown<'_>) -> Vec<Answer> {
    let mut all = Vec::new();
    for round in rounds {
        let at = round["timestamp"].as_i64();
        if let Some(text) = round["response"].as_str().filter(|text| !text.trim().is_empty()) {
            all.push(Answer { at, said: json!({"text": text}) });
        }
        for call in list(&round["toolCalls"]) {
            let (id, name) = (call["id"].as_str().unwrap_or_default(), call["name"].as_str().unwrap_or_default());
            let given: Value = match &call["arguments"] {
                Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
                other => other.clone(),
            };
            let result = results.get(id);
            let shown = shown.by_id.get(id).copied().or_else(|| shown.by_command.get(given["command"].as_str()?).copied());
            let state = shown.map(ended_as_shown).unwrap_or_default();
            let output = result.map(text_in).or_else(|| state["output"].as_str().map(str::to_owned));
            let ended = json!({"output": output, "code": state["code"], "refused": state["refused"], "failed": state["failed"]});
            all.push(Answer { at, said: json!({"call": {"id": id, "name": name, "given": given, "ended": ended}}) });
        }
    }
    all
}

/// All texts in a result: it is one, or a tree of what a model was told.
fn text_in(result: &Value) -> String {
    fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
        match value {
            Value::Array(all) => all.iter().for_each(|one| collect(one, texts)),
            Value::Object(fields) => fields.iter().for_each(|(name, one)| match one {
                Value::String(text) if ["value", "text"].contains(&name.as_str()) => texts.push(text),
                one => collect(one, texts),
            }),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    collect(&result["content"], &mut texts);
    texts.join("\n")
}

/// Calls as they were shown, which alone tell how commands ended.
#[derive(Default)]
struct Shown<'v> {
    by_id: HashMap<&'v str, &'v Value>,
    by_command: HashMap<&'v str, &'v Value>,
}

impl<'v> Shown<'v> {
    fn of(parts: &'v [Value]) -> Self {
        let mut all = Self::default();
        for part in parts.iter().filter(|part| part["kind"] == CALL) {
            all.by_id.extend(part["toolCallId"].as_str().map(|id| (id, part)));
            // The last run of the same command: its end is what counts.
            all.by_command.extend(command_in(&part["toolSpecificData"], false).map(|command| (command, part)));
        }
        all
    }
}

/// The command of a terminal: as the model wrote it, or as it was run.
fn command_in(data: &Value, as_run: bool) -> Option<&str> {
    let line = &data["commandLine"];
    let run = [&line["userEdited"], &line["toolEdited"]].into_iter().find_map(Value::as_str).filter(|_| as_run);
    run.or_else(|| line["original"].as_str()).or_else(|| data["command"].as_str())
}

/// How a call ended, as it was shown.
fn ended_as_shown(part: &Value) -> Value {
    let (data, details) = (&part["toolSpecificData"], &part["resultDetails"]);
    let of_terminal = data["terminalCommandOutput"]["text"].as_str().map(str::to_owned);
    let of_details = || {
        let texts: Vec<&str> = list(&details["output"]).iter().filter_map(|one| one["value"].as_str()).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    };
    let refused = part["isConfirmed"] == false || part["isConfirmed"]["type"] == 0;
    let output = of_terminal.or_else(of_details).or_else(|| data["result"].as_str().map(str::to_owned));
    json!({"output": output, "code": data["terminalCommandState"]["exitCode"], "refused": refused, "failed": details["isError"]})
}

/// The parts of an answer as they were shown: texts that follow each other are one.
fn as_shown(parts: &[Value]) -> Vec<Answer> {
    let mut all: Vec<Answer> = Vec::new();
    let mut said = String::new();
    let mut edited: Vec<String> = Vec::new();
    let flush = |said: &mut String, all: &mut Vec<Answer>| {
        let text = std::mem::take(said);
        if !text.trim().is_empty() {
            all.push(Answer { at: None, said: json!({"text": text}) });
        }
    };
    for part in parts {
        match part["kind"].as_str() {
            None => said.push_str(part["value"].as_str().unwrap_or_default()),
            Some(kind) if MARKDOWN.contains(&kind) => said.push_str(part["content"]["value"].as_str().unwrap_or_default()),
            // A name within a sentence.
            Some("inlineReference") => said.push_str(&reference(part).map(|name| format!("`{name}`")).unwrap_or_default()),
            Some(CALL) => {
                flush(&mut said, &mut all);
                let call = call_as_shown(part);
                edited.extend(call["given"]["filePath"].as_str().map(str::to_owned));
                all.push(Answer { at: None, said: json!({"call": call}) });
            }
            Some("textEditGroup") => {
                let path = part["uri"]["fsPath"].as_str().or_else(|| part["uri"]["path"].as_str()).unwrap_or_default();
                if !path.is_empty() && !edited.iter().any(|known| known == path) {
                    flush(&mut said, &mut all);
                    edited.push(path.to_owned());
                    let call = json!({"id": "", "name": EDIT_BY_EDITOR, "given": {"filePath": path}, "ended": null});
                    all.push(Answer { at: None, said: json!({"call": call}) });
                }
            }
            _ => {}
        }
    }
    flush(&mut said, &mut all);
    all
}

fn reference(part: &Value) -> Option<&str> {
    let target = &part["inlineReference"];
    let path = [&target["fsPath"], &target["path"], &target["uri"]["path"]].into_iter().find_map(Value::as_str);
    part["name"].as_str().or_else(|| target["name"].as_str()).or_else(|| path?.rsplit('/').next())
}

/// A call of which only that is known what was shown of it.
fn call_as_shown(part: &Value) -> Value {
    let data = &part["toolSpecificData"];
    let message = |name: &str| part[name]["value"].as_str().or_else(|| part[name].as_str());
    let described = message("pastTenseMessage").or_else(|| message("invocationMessage"));
    let files =
        ["pastTenseMessage", "invocationMessage"].into_iter().find_map(|name| part[name]["uris"].as_object()?.keys().next());
    let given = if let Some(command) = command_in(data, true) {
        json!({"command": command})
    } else if data["todoList"].is_array() {
        json!({"todoList": data["todoList"]})
    } else if data["prompt"].is_string() {
        json!({"prompt": data["prompt"], "description": data["description"]})
    } else if data["rawInput"].is_object() {
        data["rawInput"].clone()
    } else if let Some(path) = files.and_then(|file| path_of(file)) {
        json!({"filePath": path})
    } else {
        json!({"description": described})
    };
    let name = if data["kind"] == "terminal" { RUN } else { part["toolId"].as_str().unwrap_or_default() };
    json!({"id": part["toolCallId"], "name": name, "given": given, "ended": ended_as_shown(part)})
}
