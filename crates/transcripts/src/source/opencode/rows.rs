//! One line after the other: what it says.

use serde::{Deserialize, Serialize};

use super::tools::{QUESTION, TODOS, TOOLS, WRITE};
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{
    Answer, Evidence, FileTouch, Item, MessageUsage, Millis, ParserState, PendingRuns, RecordKey, TitleBy, Tokens, ToolClass,
    ToolUse, Touch, Turn,
};
use crate::source::json::{self, Raw};
use crate::source::line::{MAX_TEXT_CHARS, malformed, text_of_line, timestamp};
use crate::source::parsed::state_with;
use crate::source::patch::{self, absolute};
use crate::source::row::{NoRecord, RowPlace, Said, name_in, parsed, tokens_of_call};
use crate::source::said::{self, reply, told_by_hook};
use crate::source::tool_use::{
    argument, command_in, describe_arguments, line_of, sanitized_text, todos, told_in, tool_name, touch,
};
use crate::source::{LineParser, NO_TYPE, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::{head_and_tail, one_line};

/// Parts that are known and hold nothing of the conversation, or what other parts tell.
const NOTHING_SAID: [&str; 9] = ["agent", "compaction", "file", "patch", "reasoning", "retry", "snapshot", "step-start", "subtask"];
/// The name of the assistant that writes recaps, and those of what a client does for itself.
const COMPACTION: &str = "compaction";
/// How titles begin that stand for none.
const NO_TITLE: [&str; 2] = ["New session - ", "Child session - "];
/// How a tool use ends that the user refused.
const REFUSALS: [&str; 2] = ["The user rejected permission", "The user dismissed this question"];
/// The error of a message that the user broke off.
const ABORTED: &str = "MessageAbortedError";

/// What the next lines of a session need to know of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// Of the last record.
    before: Option<RecordKey>,
    /// What the first prompt followed that the user took back.
    #[serde(skip_serializing_if = "Option::is_none")]
    back: Option<RecordKey>,
    /// The message of the last line, and how many of its lines there were.
    message: (u64, u64),
}

/// Parses the lines of a session in order.
pub(super) struct OpenCodeLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    state: State,
    /// Commands whose output is still to come.
    runs: PendingRuns,
}

/// A message, as it is written.
struct Message<'l> {
    role: Option<RawText<'l>>,
    created: Option<Millis>,
    model: Option<Raw<'l>>,
    cwd: Option<String>,
    is_aborted: bool,
    is_recap: bool,
}

impl LineParser for OpenCodeLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let names = ["session", "began", "title", "message", "parts", "taken_back", "went_back"];
        let Ok([session, began, title, message, parts, taken_back, went_back]) = json::fields(&text, &names) else {
            return malformed(&text);
        };
        if json::is_true(went_back) {
            return self.state.back.filter(|_| self.place.agent.is_none()).map_or(ParsedLine::Empty, ParsedLine::WentBack);
        }
        let [cwd, version] = session.and_then(|session| json::fields(session, &["cwd", "version"]).ok()).unwrap_or_default();
        let message = message.and_then(|message| self.message(message));
        let parts = parts.map(json::elements).unwrap_or_default();
        let cwd = cwd.and_then(json::text).filter(|cwd| !cwd.is_empty()).map(|cwd| self.sanitizer.redact(&cwd));
        let cwd = message.as_ref().and_then(|message| message.cwd.clone()).or(cwd);
        let at = match &message {
            Some(message) => parts.first().and_then(|part| started(*part)).or(message.created),
            None => began.and_then(timestamp),
        };
        let key = match &message {
            Some(message) => self.key_of(message, &parts),
            None => RecordKey::from_line(&self.place.session, line),
        };
        let said = match (&message, title) {
            (Some(message), _) => self.said(message, &parts, key, cwd.as_deref()),
            (None, Some(title)) if self.place.agent.is_none() => {
                let title = sanitized_text(title, self.sanitizer).filter(|title| !NO_TITLE.iter().any(|no| title.starts_with(no)));
                Ok(Said::only(title.and_then(|title| said::title(&title, TitleBy::Client))))
            }
            (None, Some(_)) => Err(NoRecord::Known),
            (None, None) if began.is_some() && self.place.agent.is_none() => Err(NoRecord::Began),
            (None, None) if began.is_some() => Err(NoRecord::Known),
            (None, None) => Err(NoRecord::unknown("", None, "(no message)")),
        };
        // The first message follows the session itself, so that it can be taken back, too.
        let session = &self.place.session;
        let before = self.state.before.unwrap_or_else(|| RecordKey::from_uuid(session, session));
        if json::is_true(taken_back) && said.as_ref().is_ok_and(|said| said.turn != Turn::Continues) {
            self.state.back.get_or_insert(before);
        }
        let place = RowPlace {
            link: ParentLink { key, parent: message.as_ref().map(|_| before) },
            session: &self.place.session,
            agent: self.place.agent.clone(),
            at,
            cwd,
            branch: None,
            version: name_in(version, self.sanitizer),
        };
        if message.is_some() {
            self.state.before = Some(key);
        }
        parsed(said, place, &mut self.runs, self.sanitizer)
    }

    fn state(&self) -> ParserState {
        state_with(&self.runs, &self.state)
    }
}

impl<'p> OpenCodeLines<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        Self { place, sanitizer, state: serde_json::from_str(&state.own).unwrap_or_default(), runs: state.runs.clone() }
    }

    fn message<'l>(&self, message: Raw<'l>) -> Option<Message<'l>> {
        let names = ["role", "time", "modelID", "path", "error", "mode", "agent", "summary"];
        let [role, time, model, path, error, mode, agent, summary] = json::fields(message, &names).ok()?;
        let inner = |of: Option<Raw<'l>>, name: &str| json::fields(of?, &[name]).ok()?[0];
        let says = |of: Option<Raw<'l>>, what: &str| of.and_then(json::text).is_some_and(|text| text.is(what));
        let cwd = inner(path, "cwd").and_then(json::text).filter(|cwd| !cwd.is_empty());
        Some(Message {
            role: role.and_then(json::text),
            created: inner(time, "created").and_then(timestamp),
            model,
            cwd: cwd.map(|cwd| self.sanitizer.redact(&cwd)),
            is_aborted: says(inner(error, "name"), ABORTED),
            is_recap: says(mode, COMPACTION) || says(agent, COMPACTION) || json::is_true(summary),
        })
    }

    /// The key of a line. A fork copies messages and parts under other ids, with the times and all that is in them.
    fn key_of(&mut self, message: &Message<'_>, parts: &[Raw<'_>]) -> RecordKey {
        let created = message.created.map_or(0, Millis::unsigned_abs);
        let number = if self.state.message.0 == created { self.state.message.1 + 1 } else { 0 };
        self.state.message = (created, number);
        let part = parts.first().and_then(|part| json::fields(part, &["type", "callID", "text"]).ok());
        let [kind, call, text] = part.unwrap_or_default().map(|field| field.and_then(json::text).unwrap_or_default());
        // A call changes until it has ended.
        let what = if call.is_empty() { text } else { call };
        RawText::joined(&[number.to_string().into(), kind, what], " ").key_in("opencode", created)
    }

    fn said(&self, message: &Message<'_>, parts: &[Raw<'_>], key: RecordKey, cwd: Option<&str>) -> Result<Said, NoRecord> {
        match message.role.as_ref().map(|role| role.known(&["user", "assistant"])) {
            // The task of a subagent is the assistant's words, which the tool use holds.
            Some("user") if self.place.agent.is_some() => Err(NoRecord::Known),
            Some("user") => self.prompt(parts),
            Some("assistant") => {
                let mut all = Said::default();
                for part in parts {
                    all.add(self.part(message, *part, key, cwd)?);
                }
                if parts.is_empty() {
                    all.items.extend(message.is_aborted.then_some(Item::Interrupted));
                }
                Ok(all)
            }
            _ => Err(NoRecord::unknown("message ", message.role.clone(), "(no role)")),
        }
    }

    /// The user's words, without what the client says in the user's name.
    fn prompt(&self, parts: &[Raw<'_>]) -> Result<Said, NoRecord> {
        let (mut written, mut told, mut has_more) = (Vec::new(), Vec::new(), false);
        for part in parts {
            let Ok([kind, text, synthetic, ignored]) = json::fields(part, &["type", "text", "synthetic", "ignored"]) else {
                continue;
            };
            match (kind.and_then(json::text).map(|kind| kind.known(&["text", "file", "agent"])), text.and_then(json::text)) {
                (Some("text"), Some(text)) if json::is_true(synthetic) || json::is_true(ignored) => told.push(text),
                (Some("text"), Some(text)) => written.push(unquoted(text)),
                (Some("file" | "agent"), _) => has_more = true,
                _ => {}
            }
        }
        let passed = self.sanitizer.pass_users(&written);
        let mut said = Said::prompt(passed, has_more, false)?;
        let told: Vec<_> = told.iter().map(RawText::trim).collect();
        said.items.extend(told_by_hook(&told, self.sanitizer));
        Ok(said)
    }

    /// A part of a message of the assistant's.
    fn part(&self, message: &Message<'_>, part: Raw<'_>, key: RecordKey, cwd: Option<&str>) -> Result<Said, NoRecord> {
        let names = ["type", "text", "tool", "callID", "state", "tokens", "cost"];
        let [kind, text, tool, call, state, tokens, cost] = json::fields(part, &names).map_err(|_| NoRecord::Known)?;
        let kind = kind.and_then(json::text);
        match kind.as_ref().map(|kind| kind.known(&["text", "tool", "step-finish"])) {
            Some("text") => {
                let text = text.and_then(json::text).unwrap_or_default();
                let item = match message.is_recap {
                    true if self.place.agent.is_some() => None,
                    true => said::recap(&self.sanitizer.clean(text)),
                    false => reply(text, self.sanitizer),
                };
                Ok(Said::only(item))
            }
            Some("tool") => {
                let name = tool.and_then(json::text).unwrap_or_default();
                let id = json::id(call, self.sanitizer).unwrap_or_default();
                Ok(self.tool(id, &name, state.ok_or(NoRecord::Known)?, cwd))
            }
            Some("step-finish") => {
                let usage = tokens.and_then(|tokens| usage(tokens, cost, message.model, key, self.sanitizer));
                Ok(Said { usage, ..Said::default() })
            }
            _ if kind.as_ref().is_some_and(|kind| kind.is_one_of(&NOTHING_SAID)) => Err(NoRecord::Known),
            _ => Err(NoRecord::unknown("part ", kind, NO_TYPE)),
        }
    }

    /// A use of a tool, and how it ended if it has.
    fn tool(&self, id: String, tool: &RawText<'_>, state: Raw<'_>, cwd: Option<&str>) -> Said {
        let names = ["status", "input", "output", "error", "metadata"];
        let [status, given, output, error, more] = json::fields(state, &names).unwrap_or_default();
        let status = status.and_then(json::text).unwrap_or_default();
        // What it is given is still being written.
        let Some(given) = given.filter(|_| !status.is("pending")) else { return Said::default() };
        let mut said = Said::only(self.used(&id, tool, given, cwd));
        let [code, answers] = more.and_then(|more| json::fields(more, &["exit", "answers"]).ok()).unwrap_or_default();
        let error = error.and_then(json::text);
        let output = error.clone().or_else(|| output.and_then(json::text)).unwrap_or_default();
        match status.known(&["completed", "error"]) {
            "completed" if tool.is(QUESTION) => said.add(self.answers(id, given, answers)),
            "completed" | "error" => {
                let code = json::integer(code);
                let ok = status.is("completed") && code.is_none_or(|code| code == 0);
                let refused = REFUSALS.iter().any(|refusal| error.as_ref().is_some_and(|error| error.starts_with(refusal)));
                // The use and its end are one line: what it ran is not pending before.
                let mut runs = self.runs.clone();
                said.note_runs(&mut runs);
                said.add(Said::ended(id, refused, (ok, code, &output), &runs, self.sanitizer));
            }
            _ => {}
        }
        said
    }

    fn used(&self, id: &str, tool: &RawText<'_>, given: Raw<'_>, cwd: Option<&str>) -> Vec<Item> {
        let sanitizer = self.sanitizer;
        let class = TOOLS.class_of_raw(tool).unwrap_or(ToolClass::Other);
        let name = tool_name(tool, sanitizer);
        if tool.is(TODOS) {
            return todos(given, "todos", &["content"], sanitizer).into_iter().collect();
        }
        if sanitizer.excludes_any(|| json::strings(given)) {
            return vec![Item::Tool(ToolUse::new(id, name, EXCLUDED_LINE, None))];
        }
        if let Some(patch) = argument(given, &["patchText"], sanitizer) {
            return patch::edits((id, &name), &patch::changes(&patch.into()), cwd, sanitizer);
        }
        let mut run = None;
        let (line, file) = match class {
            ToolClass::Shell => {
                let (line, ran) = command_in(given, id, true, sanitizer);
                run = ran;
                (line, None)
            }
            ToolClass::Edit if tool.is(WRITE) => self.touched(given, Touch::Written, cwd),
            ToolClass::Edit => self.touched(given, Touch::Edited, cwd),
            ToolClass::Read => self.touched(given, Touch::Read, cwd),
            ToolClass::Subagent => (told_in(given, &["description", "prompt"], sanitizer), None),
            ToolClass::Question => (line_of(&questions(given, sanitizer).join(" / ")), None),
            _ => (describe_arguments(given, sanitizer), None),
        };
        let tool = Item::Tool(ToolUse::new(id, name, line, file));
        std::iter::once(tool).chain(run.map(|run| Item::Evidence(Evidence::Ran(run)))).collect()
    }

    fn touched(&self, given: Raw<'_>, how: Touch, cwd: Option<&str>) -> (String, Option<FileTouch>) {
        let Ok([path, edits, old, new, content]) = json::fields(given, &["filePath", "edits", "oldString", "newString", "content"])
        else {
            return (String::new(), None);
        };
        let Some(path) = path.and_then(|path| sanitized_text(path, self.sanitizer)) else {
            return (describe_arguments(given, self.sanitizer), None);
        };
        let edits = edits.map(json::elements).unwrap_or_default();
        let (mut removed, mut added): (Vec<_>, Vec<_>) = edits
            .iter()
            .map(|edit| json::fields(edit, &["oldString", "newString"]).unwrap_or_default())
            .map(|[old, new]| (old, new))
            .unzip();
        removed.push(old);
        added.extend([new, content]);
        touch(absolute(&one_line(&path), cwd), how, &removed, &added)
    }

    /// What the user chose or wrote: a list for each question.
    fn answers(&self, id: String, given: Raw<'_>, answers: Option<Raw<'_>>) -> Said {
        let mut all = Said { answered: vec![id], ..Said::default() };
        let chosen = answers.map(json::elements).unwrap_or_default();
        for (asked, said) in questions(given, self.sanitizer).into_iter().zip(chosen) {
            let said: Vec<_> = json::elements(said).into_iter().filter_map(json::text).collect();
            let passed = self.sanitizer.pass(RawText::joined(&said, ", "));
            if passed.is_all_private() {
                all.turn = Turn::BeginsPrivate;
            } else if !passed.text.trim().is_empty() {
                all.items.push(Item::Answer(Answer { said: head_and_tail(passed.text.trim(), MAX_TEXT_CHARS), asked }));
            }
            all.fenced.push_str(&passed.fenced);
        }
        if all.turn == Turn::BeginsPrivate {
            all.items.clear();
        }
        all
    }
}

/// When a part began.
fn started(part: Raw<'_>) -> Option<Millis> {
    let [time, state] = json::fields(part, &["time", "state"]).ok()?;
    let of_state = || json::fields(state?, &["time"]).ok()?[0];
    let time = time.or_else(of_state)?;
    let [start] = json::fields(time, &["start"]).ok()?;
    start.and_then(timestamp)
}

/// What stands in quotation marks, if all of a text does: `opencode run` has its prompt as its command line had it. Versions before 1.2 end
/// the line, too.
pub(super) fn quoted(text: &str) -> Option<&str> {
    let inner = text.trim_end().strip_prefix('"')?.strip_suffix('"')?;
    (!inner.replace("\\\"", "").contains('"')).then_some(inner)
}

/// A prompt without the quotation marks around it.
fn unquoted(text: RawText<'_>) -> RawText<'_> {
    let inner = text.part(quoted).map(|inner| inner.made(|inner| inner.replace("\\\"", "\"").into()).into_owned());
    inner.unwrap_or(text)
}

fn questions(given: Raw<'_>, sanitizer: &Sanitizer) -> Vec<String> {
    let all = json::fields(given, &["questions"]).ok().and_then(|[all]| all).map(json::elements).unwrap_or_default();
    all.into_iter().filter_map(|one| argument(one, &["question", "header"], sanitizer)).collect()
}

/// What a step used, and what the client says that it cost.
fn usage(
    tokens: Raw<'_>,
    cost: Option<Raw<'_>>,
    model: Option<Raw<'_>>,
    key: RecordKey,
    sanitizer: &Sanitizer,
) -> Option<MessageUsage> {
    let [input, output, reasoning, cache] = json::fields(tokens, &["input", "output", "reasoning", "cache"]).ok()?;
    let [read, write] = cache.and_then(|cache| json::fields(cache, &["read", "write"]).ok()).unwrap_or_default();
    let [input, output, reasoning, cache_read, cache_write] =
        [input, output, reasoning, read, write].map(|count| json::number(count).unwrap_or(0));
    // The client counts neither the cache among the input nor thoughts among the output.
    let stated_cost = json::millionths(cost);
    let tokens = Tokens { input, output: output + reasoning, cache_read, cache_write, stated_cost, ..Tokens::default() };
    tokens_of_call(key.to_string(), name_in(model, sanitizer), tokens)
}
