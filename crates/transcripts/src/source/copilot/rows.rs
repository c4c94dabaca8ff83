//! One event after the other: what it says, and what the next ones need to know of it.

use serde::{Deserialize, Serialize};

use super::tools::{CREATE, PATCH, TOOLS};
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{
    Evidence, FileTouch, Item, MessageUsage, ParserState, PendingRuns, RecordKey, TitleBy, Tokens, ToolClass, ToolUse, Touch,
};
use crate::source::json::{self, Raw};
use crate::source::line::{malformed, text_of_line, timestamp};
use crate::source::parsed::state_with;
use crate::source::patch::{self, absolute, edits};
use crate::source::row::{NoRecord, RowPlace, Said, name_in, parsed, tokens_of_call};
use crate::source::said::{self, reply, told_by_hook};
use crate::source::tool_use::{argument, command_in, describe_arguments, sanitized_text, told_in, tool_name, touch};
use crate::source::{LineParser, NO_TYPE, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::one_line;

/// Rows that are read.
const SAID: [&str; 12] = [
    "session.start", "session.resume", "session.context_changed", "user.message", "assistant.message", "hook.end",
    "tool.execution_start", "tool.execution_complete", "session.usage_record", "session.compaction_complete",
    "session.title_changed", "abort",
];
/// Events that are known and hold nothing of the conversation, or what other events tell: instructions, borders of turns, settings, and what
/// hooks were given; of a compaction, how the model was asked.
const NOTHING_SAID: [&str; 36] = [
    "system.message", "hook.start", "hook.progress", "assistant.turn_start", "assistant.turn_end", "assistant.reasoning",
    "assistant.intent", "assistant.usage", "session.shutdown", "session.model_change", "session.mode_changed",
    "session.truncation", "session.compaction_start", "session.idle", "session.info", "session.usage_info", "session.plan_changed",
    "session.import_legacy", "session.workspace_file_changed", "session.snapshot_rewind", "session.task_complete",
    "subagent.started", "subagent.configured", "subagent.completed", "subagent.failed", "subagent.selected",
    "permission.requested", "permission.completed", "skill.invoked", "model.turn_started", "model.turn_ended",
    "model.model_call_started", "model.model_call_success", "model.message", "model.messages_snapshot", "model.response",
];

/// How the client says that the user turned a tool use down (reported).
const REFUSALS: [&str; 2] = ["The user rejected this tool call", "The tool call required approval from the user, but was rejected"];
/// How the client ends a command's output.
const SHELL_END: &str = "\n<shellId: ";
const SHELL_CODE: &str = "completed with exit code ";

/// What the next events of a file need to know of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    cwd: Option<String>,
    branch: Option<String>,
    version: Option<String>,
}

/// Parses the events of a session in order.
pub(super) struct CopilotLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    state: State,
    /// Commands whose output is still to come.
    runs: PendingRuns,
}

impl LineParser for CopilotLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let names = ["type", "data", "id", "timestamp", "parentId", "agentId"];
        let Ok([kind, data, id, at, parent, agent]) = json::fields(&text, &names) else {
            return malformed(&text);
        };
        let session = &self.place.session;
        let key = match id.and_then(json::text) {
            Some(id) => id.key(session),
            None => RecordKey::from_line(session, line),
        };
        let link = ParentLink { key, parent: parent.and_then(json::text).map(|parent| parent.key(session)) };
        let at = at.and_then(timestamp);
        let agent = json::id(agent, self.sanitizer);
        let kind = kind.and_then(json::text).unwrap_or_default();
        let said = self.said(&kind, data, key, agent.is_some());
        let place = RowPlace {
            link,
            session,
            agent,
            at,
            cwd: self.state.cwd.clone(),
            branch: self.state.branch.clone(),
            version: self.state.version.clone(),
        };
        parsed(said, place, &mut self.runs, self.sanitizer)
    }

    fn state(&self) -> ParserState {
        state_with(&self.runs, &self.state)
    }
}

impl<'p> CopilotLines<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        Self { place, sanitizer, state: serde_json::from_str(&state.own).unwrap_or_default(), runs: state.runs.clone() }
    }

    fn said(&mut self, kind: &RawText<'_>, data: Option<Raw<'_>>, key: RecordKey, of_agent: bool) -> Result<Said, NoRecord> {
        if kind.is_one_of(&NOTHING_SAID) {
            return Err(NoRecord::Known);
        }
        let Some(data) = data else {
            return Err(NoRecord::unknown("", Some(kind.clone()).filter(|kind| !kind.is_empty()), NO_TYPE));
        };
        match kind.known(&SAID) {
            start @ ("session.start" | "session.resume") => self.begin(start, data),
            "session.context_changed" => {
                self.go_to(data);
                Err(NoRecord::Known)
            }
            // The task of a subagent is the assistant's words, which the tool use holds.
            "user.message" if of_agent => Err(NoRecord::Known),
            "user.message" => self.prompt(data),
            "assistant.message" => {
                let [content] = json::fields(data, &["content"]).map_err(|_| NoRecord::Known)?;
                Ok(Said::only(content.and_then(json::text).and_then(|text| reply(text, self.sanitizer))))
            }
            "hook.end" => {
                let [output] = json::fields(data, &["output"]).map_err(|_| NoRecord::Known)?;
                let told = output.and_then(|output| json::fields(output, &["additionalContext"]).ok()?[0]).and_then(json::text);
                Ok(Said::only(told.and_then(|told| told_by_hook(&[told], self.sanitizer))))
            }
            "tool.execution_start" => self.tool(data),
            "tool.execution_complete" => self.ended(data),
            "session.usage_record" => {
                Ok(Said { usage: Some(usage(data, "usage", key, self.sanitizer).ok_or(NoRecord::Known)?), ..Said::default() })
            }
            "session.compaction_complete" => {
                let recap = argument(data, &["summaryContent", "summary"], self.sanitizer).filter(|_| !of_agent);
                let usage = usage(data, "compactionTokensUsed", key, self.sanitizer);
                Ok(Said { usage, ..Said::only(recap.and_then(|recap| said::recap(&recap))) })
            }
            "session.title_changed" => {
                let title = argument(data, &["title"], self.sanitizer);
                Ok(Said::only(title.and_then(|title| said::title(&title, TitleBy::Client))))
            }
            "abort" if !of_agent => Ok(Said::only([Item::Interrupted])),
            "abort" => Err(NoRecord::Known),
            _ => Err(NoRecord::unknown("", Some(kind.clone()).filter(|kind| !kind.is_empty()), NO_TYPE)),
        }
    }

    fn begin(&mut self, kind: &str, data: Raw<'_>) -> Result<Said, NoRecord> {
        let [context, version] = json::fields(data, &["context", "copilotVersion"]).map_err(|_| NoRecord::Known)?;
        if let Some(context) = context {
            self.go_to(context);
        }
        if let Some(version) = version.and_then(json::text).and_then(|version| self.sanitizer.name(version)) {
            self.state.version = Some(version);
        }
        Err(if kind == "session.start" { NoRecord::Began } else { NoRecord::Known })
    }

    fn go_to(&mut self, context: Raw<'_>) {
        let Ok([cwd, branch]) = json::fields(context, &["cwd", "branch"]) else { return };
        if let Some(cwd) = cwd.and_then(json::text).filter(|cwd| !cwd.is_empty()) {
            self.state.cwd = Some(self.sanitizer.redact(&cwd));
        }
        self.state.branch = branch.and_then(json::text).and_then(|branch| self.sanitizer.name(branch)).filter(|b| b != "HEAD");
    }

    /// The user's words, without what the client put around them for the model.
    fn prompt(&self, data: Raw<'_>) -> Result<Said, NoRecord> {
        let names = ["content", "source", "delivery", "attachments"];
        let [content, source, delivery, attachments] = json::fields(data, &names).map_err(|_| NoRecord::Known)?;
        let is = |raw: Option<Raw<'_>>, what: &str| raw.and_then(json::text).is_none_or(|text| text.is(what));
        // An agent, a skill, the client's own autopilot.
        if !is(source, "user") {
            return Err(NoRecord::Known);
        }
        let passed = self.sanitizer.pass_users(&[content.and_then(json::text).unwrap_or_default()]);
        let has_attachment = attachments.is_some_and(|all| !json::elements(all).is_empty());
        // What comes while the assistant is not idle is said while it works.
        Said::prompt(passed, has_attachment, !is(delivery, "idle"))
    }

    fn tool(&mut self, data: Raw<'_>) -> Result<Said, NoRecord> {
        let names = ["toolCallId", "toolName", "arguments", "mcpServerName", "mcpToolName"];
        let [id, name, arguments, server, of_server] = json::fields(data, &names).map_err(|_| NoRecord::Known)?;
        let (id, sanitizer) = (json::id(id, self.sanitizer).unwrap_or_default(), self.sanitizer);
        let name = match (server.and_then(json::text), of_server.and_then(json::text)) {
            (Some(server), Some(tool)) => RawText::joined(&["mcp".into(), server, tool], "__"),
            _ => name.and_then(json::text).unwrap_or_default(),
        };
        let class = TOOLS.class_of_raw(&name).unwrap_or(ToolClass::Other);
        let name = tool_name(&name, sanitizer);
        let Some(given) = arguments else { return Ok(Said::only([Item::Tool(ToolUse::new(id, name, "", None))])) };
        if sanitizer.excludes_any(|| json::strings(given)) {
            return Ok(Said::only([Item::Tool(ToolUse::new(id, name, EXCLUDED_LINE, None))]));
        }
        if name == PATCH {
            let changes = patch::changes(&RawText::joined(&json::strings(given), "\n"));
            return Ok(Said::only(edits((&id, PATCH), &changes, self.state.cwd.as_deref(), sanitizer)));
        }
        let mut run = None;
        let (line, file) = match class {
            ToolClass::Shell => {
                let is_awaited = argument(given, &["mode"], sanitizer).is_none_or(|mode| mode == "sync");
                let (line, ran) = command_in(given, &id, is_awaited, sanitizer);
                run = ran;
                (line, None)
            }
            ToolClass::Edit if name == CREATE => self.touched(given, Touch::Written),
            ToolClass::Edit => self.touched(given, Touch::Edited),
            ToolClass::Read => self.touched(given, Touch::Read),
            ToolClass::Subagent => (told_in(given, &["description", "prompt"], sanitizer), None),
            _ => (describe_arguments(given, sanitizer), None),
        };
        let tool = Item::Tool(ToolUse::new(id, name, line, file));
        Ok(Said::only(std::iter::once(tool).chain(run.map(|run| Item::Evidence(Evidence::Ran(run))))))
    }

    fn touched(&self, given: Raw<'_>, how: Touch) -> (String, Option<FileTouch>) {
        let Ok([path, old, new, content, inserted]) =
            json::fields(given, &["path", "old_str", "new_str", "file_text", "insert_text"])
        else {
            return (String::new(), None);
        };
        let Some(path) = path.and_then(|path| sanitized_text(path, self.sanitizer)) else {
            return (describe_arguments(given, self.sanitizer), None);
        };
        let path = absolute(&one_line(&path), self.state.cwd.as_deref());
        touch(path, how, &[old], &[new, content, inserted])
    }

    fn ended(&mut self, data: Raw<'_>) -> Result<Said, NoRecord> {
        let names = ["toolCallId", "success", "result", "error", "shellExecution"];
        let [id, success, result, error, shell] = json::fields(data, &names).map_err(|_| NoRecord::Known)?;
        let id = json::id(id, self.sanitizer).unwrap_or_default();
        let [content] = result.and_then(|result| json::fields(result, &["content"]).ok()).unwrap_or_default();
        let [message] = error.and_then(|error| json::fields(error, &["message"]).ok()).unwrap_or_default();
        let [content, message] = [content, message].map(|text| text.and_then(json::text).unwrap_or_default());
        // Its own word for success means that the tool worked, not the command.
        let stated = shell.and_then(|shell| json::fields(shell, &["exitCode"]).ok()).and_then(|[code]| json::integer(code));
        let ([output], told) = content.apart(|content| {
            let (output, code) = without_shell_end(content);
            ([output.into()], code)
        });
        let code = stated.or(told);
        let ok = code.map_or_else(|| json::is_true(success), |code| code == 0);
        let output = if message.is_empty() { &output } else { &message };
        let refused = REFUSALS.iter().any(|words| message.starts_with(words));
        Ok(Said::ended(id, refused, (ok, code, output), &self.runs, self.sanitizer))
    }
}

/// A command's output without the client's last line, and the exit code in that line.
fn without_shell_end(output: &str) -> (&str, Option<i64>) {
    let Some((before, end)) = output.rsplit_once(SHELL_END) else { return (output, None) };
    let code = end.split_once(SHELL_CODE).and_then(|(_, code)| code.trim().trim_end_matches('>').parse().ok());
    if code.is_some() { (before, code) } else { (output, None) }
}

fn usage(data: Raw<'_>, within: &str, key: RecordKey, sanitizer: &Sanitizer) -> Option<MessageUsage> {
    let [usage] = json::fields(data, &[within]).ok()?;
    let names = ["model", "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"];
    let [model, input, output, read, written] = json::fields(usage?, &names).ok()?;
    let count = |raw| json::number(raw).unwrap_or(0);
    let (cache_read, cache_write) = (count(read), count(written));
    let tokens = Tokens {
        // The client counts what the cache holds among the input.
        input: count(input).saturating_sub(cache_read.saturating_add(cache_write)),
        output: count(output),
        cache_write,
        cache_read,
        ..Tokens::default()
    };
    tokens_of_call(key.to_string(), name_in(model, sanitizer), tokens)
}
