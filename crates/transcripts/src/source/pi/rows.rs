//! One entry after the other: what it says, and what the next ones need to know of it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::tools::{TOOLS, WRITE};
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{
    Evidence, FileTouch, Item, MessageUsage, Millis, ParserState, PendingRuns, RecordKey, TitleBy, Tokens, ToolClass, ToolUse,
    Touch,
};
use crate::source::json::{self, Raw};
use crate::source::line::{malformed, text_of_line, timestamp};
use crate::source::parsed::state_with;
use crate::source::patch::absolute;
use crate::source::row::{NoRecord, RowPlace, Said, name_in, parsed, tokens_of_call};
use crate::source::said::{self, reply, told_by_hook};
use crate::source::tool_use::{command_in, describe_arguments, sanitized_text, tool_name, touch};
use crate::source::{LineParser, NO_TYPE, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::one_line;

/// Entries that are known and hold nothing of the conversation: settings and marks.
const NOTHING_SAID: [&str; 4] = ["model_change", "thinking_level_change", "label", "branch_summary"];
/// What an extension keeps, and what it tells the model: ours does both. Nobody said it.
const OF_EXTENSIONS: [&str; 2] = ["custom", "custom_message"];
/// Messages that neither the user nor the assistant said.
const NOT_SAID: [&str; 4] = ["custom", "branchSummary", "compactionSummary", "bashExecution"];
/// How the client ends the output of a command that failed.
const EXITED: &str = "Command exited with code ";
/// The most entries whose keys are remembered for those that follow them: a user may go back in the tree.
const MAX_BACK: usize = 64;

/// What the next entries of a file need to know of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    cwd: Option<String>,
    /// Ids and times of the last entries.
    before: VecDeque<(String, Millis)>,
}

/// Parses the entries of a session in order.
pub(super) struct PiLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    state: State,
    /// Commands whose output is still to come.
    runs: PendingRuns,
}

impl LineParser for PiLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let names = ["type", "id", "parentId", "timestamp", "cwd", "message", "summary", "name", "content", "data"];
        let Ok([kind, id, parent, at, cwd, message, summary, name, content, data]) = json::fields(&text, &names) else {
            return malformed(&text);
        };
        let (kind, id) = (kind.and_then(json::text).unwrap_or_default(), json::id(id, self.sanitizer));
        let at = at.and_then(timestamp);
        let key = match (&id, at) {
            (Some(id), Some(at)) => key_of(id, at),
            _ => RecordKey::from_line(&self.place.session, line),
        };
        let parent = json::id(parent, self.sanitizer).and_then(|parent| self.key_before(&parent));
        let said = match kind.known(&["session", "message", "compaction", "session_info"]) {
            "session" => {
                self.state.cwd = cwd.and_then(json::text).filter(|cwd| !cwd.is_empty()).map(|cwd| self.sanitizer.redact(&cwd));
                Err(NoRecord::Began)
            }
            "message" => message.ok_or(NoRecord::Known).and_then(|message| self.message(message, key)),
            "compaction" => {
                let recap = summary.and_then(|text| sanitized_text(text, self.sanitizer));
                Ok(Said::only(recap.and_then(|recap| said::recap(&recap))))
            }
            "session_info" => {
                let name = name.and_then(|name| sanitized_text(name, self.sanitizer));
                Ok(Said::only(name.and_then(|name| said::title(&name, TitleBy::User))))
            }
            _ if kind.is_one_of(&OF_EXTENSIONS) => self.told(content, data),
            _ if kind.is_one_of(&NOTHING_SAID) => Err(NoRecord::Known),
            _ => Err(NoRecord::unknown("", Some(kind.clone()).filter(|kind| !kind.is_empty()), NO_TYPE)),
        };
        if let (Some(id), Some(at), false) = (id, at, kind.is("session")) {
            if self.state.before.len() == MAX_BACK {
                self.state.before.pop_front();
            }
            self.state.before.push_back((id.chars().take(MAX_BACK).collect(), at));
        }
        let place = RowPlace {
            link: ParentLink { key, parent },
            session: &self.place.session,
            agent: None,
            at,
            cwd: self.state.cwd.clone(),
            branch: None,
            version: None,
        };
        parsed(said, place, &mut self.runs, self.sanitizer)
    }

    fn state(&self) -> ParserState {
        state_with(&self.runs, &self.state)
    }
}

/// Copies in a fork have the same.
fn key_of(id: &str, at: Millis) -> RecordKey {
    RecordKey::from_row("pi", at.unsigned_abs(), id.as_bytes())
}

impl<'p> PiLines<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        Self { place, sanitizer, state: serde_json::from_str(&state.own).unwrap_or_default(), runs: state.runs.clone() }
    }

    fn key_before(&self, id: &str) -> Option<RecordKey> {
        self.state.before.iter().rev().find(|(known, _)| known == id).map(|(id, at)| key_of(id, *at))
    }

    fn message(&self, message: Raw<'_>, key: RecordKey) -> Result<Said, NoRecord> {
        let names = ["role", "content", "toolCallId", "isError", "stopReason", "usage", "model"];
        let [role, content, call, is_error, stop, usage, model] = json::fields(message, &names).map_err(|_| NoRecord::Known)?;
        let role = role.and_then(json::text);
        match role.as_ref().map(|role| role.known(&["user", "assistant", "toolResult"])) {
            Some("user") => self.prompt(content.ok_or(NoRecord::Known)?),
            Some("assistant") => {
                let parts = content.map(json::elements).unwrap_or_default();
                let said = RawText::joined(&texts(&parts).collect::<Vec<_>>(), "\n");
                let tools = parts.iter().flat_map(|part| self.tool(*part));
                let aborted = stop.and_then(json::text).is_some_and(|stop| stop.is("aborted")).then_some(Item::Interrupted);
                let items = reply(&said, self.sanitizer).into_iter().chain(tools).chain(aborted).collect();
                let usage = usage.and_then(|usage| tokens_of(usage, model, key, self.sanitizer));
                Ok(Said { items, usage, ..Said::default() })
            }
            Some("toolResult") => {
                let parts = content.map(json::elements).unwrap_or_default();
                let text = RawText::joined(&texts(&parts).collect::<Vec<_>>(), "\n");
                let ([output], code) = text.apart(|text| {
                    let (output, code) = without_exit(text);
                    ([output.into()], code)
                });
                let id = json::id(call, self.sanitizer).unwrap_or_default();
                Ok(Said::ended(id, false, (!json::is_true(is_error), code, &output), &self.runs, self.sanitizer))
            }
            _ if role.as_ref().is_some_and(|role| role.is_one_of(&NOT_SAID)) => Err(NoRecord::Known),
            _ => Err(NoRecord::unknown("message ", role, "(no role)")),
        }
    }

    /// What a hook of ours told, of an extension that keeps it or tells the model.
    fn told(&self, content: Option<Raw<'_>>, data: Option<Raw<'_>>) -> Result<Said, NoRecord> {
        let kept = data.and_then(|data| json::fields(data, &["text"]).ok()?[0]);
        let texts: Vec<_> = [content, kept].into_iter().flatten().filter_map(json::text).collect();
        told_by_hook(&texts, self.sanitizer).map(|told| Said::only(Some(told))).ok_or(NoRecord::Known)
    }

    fn prompt(&self, content: Raw<'_>) -> Result<Said, NoRecord> {
        let parts = json::elements(content);
        let written: Vec<_> = json::text(content).map_or_else(|| texts(&parts).collect(), |text| vec![text]);
        let passed = self.sanitizer.pass_users(&written);
        Said::prompt(passed, parts.len() > written.len(), false)
    }

    /// A part of the assistant's message, if it is a call of a tool.
    fn tool(&self, part: Raw<'_>) -> Vec<Item> {
        let Ok([kind, id, name, given]) = json::fields(part, &["type", "id", "name", "arguments"]) else { return Vec::new() };
        if kind.and_then(json::text).is_none_or(|kind| !kind.is("toolCall")) {
            return Vec::new();
        }
        let (id, name) = (json::id(id, self.sanitizer).unwrap_or_default(), name.and_then(json::text).unwrap_or_default());
        let sanitizer = self.sanitizer;
        let class = TOOLS.class_of_raw(&name).unwrap_or(ToolClass::Other);
        let name = tool_name(&name, sanitizer);
        let Some(given) = given else { return vec![Item::Tool(ToolUse::new(id, name, "", None))] };
        if sanitizer.excludes_any(|| json::strings(given)) {
            return vec![Item::Tool(ToolUse::new(id, name, EXCLUDED_LINE, None))];
        }
        let mut run = None;
        let (line, file) = match class {
            ToolClass::Shell => {
                let (line, ran) = command_in(given, &id, true, sanitizer);
                run = ran;
                (line, None)
            }
            ToolClass::Edit if name == WRITE => self.touched(given, Touch::Written),
            ToolClass::Edit => self.touched(given, Touch::Edited),
            ToolClass::Read => self.touched(given, Touch::Read),
            _ => (describe_arguments(given, sanitizer), None),
        };
        let tool = Item::Tool(ToolUse::new(id, name, line, file));
        std::iter::once(tool).chain(run.map(|run| Item::Evidence(Evidence::Ran(run)))).collect()
    }

    fn touched(&self, given: Raw<'_>, how: Touch) -> (String, Option<FileTouch>) {
        let Ok([path, edits, content]) = json::fields(given, &["path", "edits", "content"]) else {
            return (String::new(), None);
        };
        let Some(path) = path.and_then(|path| sanitized_text(path, self.sanitizer)) else {
            return (describe_arguments(given, self.sanitizer), None);
        };
        // One edit stands in the arguments themselves.
        let edits = edits.map_or_else(|| vec![given], json::elements);
        let (old, mut new): (Vec<_>, Vec<_>) =
            edits.iter().map(|edit| json::fields(edit, &["oldText", "newText"]).unwrap_or_default()).map(|[a, b]| (a, b)).unzip();
        new.push(content);
        touch(absolute(&one_line(&path), self.state.cwd.as_deref()), how, &old, &new)
    }
}

fn texts<'l>(parts: &[Raw<'l>]) -> impl Iterator<Item = RawText<'l>> {
    parts.iter().filter_map(|part| {
        let [kind, text] = json::fields(part, &["type", "text"]).ok()?;
        text.filter(|_| kind.and_then(json::text).is_some_and(|kind| kind.is("text"))).and_then(json::text)
    })
}

/// An output without the client's last line, and the exit code in that line.
fn without_exit(text: &str) -> (&str, Option<i64>) {
    let (before, last) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
    match last.strip_prefix(EXITED).and_then(|code| code.trim().parse().ok()) {
        Some(code) => (before.trim_end(), Some(code)),
        None => (text, None),
    }
}

fn tokens_of(usage: Raw<'_>, model: Option<Raw<'_>>, key: RecordKey, sanitizer: &Sanitizer) -> Option<MessageUsage> {
    let [cost, counts @ ..] = json::fields(usage, &["cost", "input", "output", "cacheRead", "cacheWrite"]).ok()?;
    let [input, output, cache_read, cache_write] = counts.map(|count| json::number(count).unwrap_or(0));
    let cost = cost.and_then(|cost| json::fields(cost, &["total"]).ok()).and_then(|[total]| total);
    let stated_cost = json::millionths(cost);
    let tokens = Tokens { input, output, cache_read, cache_write, stated_cost, ..Tokens::default() };
    tokens_of_call(key.to_string(), name_in(model, sanitizer), tokens)
}
