//! One row after the other: what it says.

use serde::{Deserialize, Serialize};

use super::tools::{FOUND_TOOL, QUESTION, TODOS, TOOLS, WRITE};
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{
    Answer, Evidence, FileTouch, Item, MessageUsage, ParserState, PendingRuns, RecordKey, TitleBy, Tokens, ToolClass, ToolUse,
    Touch, Turn,
};
use crate::source::json::{self, Raw};
use crate::source::line::{MAX_TEXT_CHARS, malformed, text_of_line, timestamp};
use crate::source::parsed::state_with;
use crate::source::patch::absolute;
use crate::source::row::{NoRecord, RowPlace, Said, name_in, parsed, tokens_of_call};
use crate::source::said::{self, reply, told_by_hook};
use crate::source::tool_use::{
    argument, command_in, describe_arguments, line_of, sanitized_text, todos, told_in, tool_name, touch,
};
use crate::source::{LineParser, NO_TYPE, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::{head_and_tail, one_line};

/// Rows of the system's that are known and hold nothing of the conversation, or what other rows tell.
const NOTHING_SAID: [&str; 21] = [
    "attribution_snapshot", "slash_command", "at_command", "rewind", "file_history_snapshot", "session_source",
    "session_sources_snapshot", "session_model", "session_recording_degraded", "session_artifact_snapshot",
    "session_artifact_event", "parent_session", "omni_recall", "goal_turn_end", "goal_state", "goal_runtime", "branch_checkpoint",
    "background_task_completed", "turn_result", "user_text_elements", "notification",
];
/// Rows in the user's name that no person said: a helper is done, a time has come.
const NOT_THE_USERS: [&str; 3] = ["notification", "cron", "goal_runtime"];
/// What the user said while the assistant worked.
const MID_TURN: &str = "mid_turn_user_message";
/// What was said aloud.
const SPOKEN: &str = "realtime_message";

/// How what the client itself adds to a prompt begins.
const CLIENT_STARTS: [&str; 4] = ["<qwen:", "<system-reminder>", "<task-notification>", "This is the Qwen Code."];
/// Before the content of files that the prompt names; what follows is theirs.
const FILES_START: &str = "--- Content from referenced files ---";
/// What the client asks of its model behind a recap.
const RECAP_END: &str = "\n\nResume the prior task using the summary above.";
/// What a refused tool use is answered with.
const REFUSAL: &str = "User did not allow tool call";
/// Events about a call of the model, behind the client's own name.
const CALLED: &str = ".api_response";
/// Before the answers in a dialog.
const ANSWERS_START: &str = "User has provided the following answers:";

/// Parses the rows of a file in order.
pub(super) struct QwenLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    state: State,
    /// Commands whose output is still to come.
    runs: PendingRuns,
}

/// What the next rows of a file need to know of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// The tokens of the next reply are known.
    counted: bool,
}

/// What a row holds, as it is written.
struct Row<'l> {
    subtype: Option<RawText<'l>>,
    provenance: Option<RawText<'l>>,
    parts: Vec<Raw<'l>>,
    payload: Option<Raw<'l>>,
    result: Option<Raw<'l>>,
    model: Option<Raw<'l>>,
    usage: Option<Raw<'l>>,
    key: RecordKey,
    of_agent: bool,
}

impl LineParser for QwenLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let names = [
            "type", "uuid", "parentUuid", "timestamp", "cwd", "version", "gitBranch", "agentId", "message", "subtype",
            "provenance", "systemPayload", "toolCallResult", "model", "usageMetadata",
        ];
        let Ok([kind, id, parent, at, cwd, version, branch, agent, message, subtype, provenance, payload, result, model, usage]) =
            json::fields(&text, &names)
        else {
            return malformed(&text);
        };
        let session = &self.place.session;
        let key = match id.and_then(json::text) {
            Some(id) => id.key(session),
            None => RecordKey::from_line(session, line),
        };
        let agent = self.place.agent.clone().or_else(|| json::id(agent, self.sanitizer));
        let place = RowPlace {
            link: ParentLink { key, parent: parent.and_then(json::text).map(|parent| parent.key(session)) },
            session,
            agent,
            at: at.and_then(timestamp),
            cwd: cwd.and_then(json::text).filter(|cwd| !cwd.is_empty()).map(|cwd| self.sanitizer.redact(&cwd)),
            branch: name_in(branch, self.sanitizer).filter(|branch| branch != "HEAD"),
            version: name_in(version, self.sanitizer),
        };
        let parts = message.and_then(|message| json::fields(message, &["parts"]).ok()).and_then(|[parts]| parts);
        let row = Row {
            subtype: subtype.and_then(json::text),
            provenance: provenance.and_then(json::text),
            parts: parts.map(json::elements).unwrap_or_default(),
            payload,
            result,
            model,
            usage,
            key,
            of_agent: place.agent.is_some(),
        };
        let kind = kind.and_then(json::text);
        let said = match kind.as_ref().map(|kind| kind.known(&["user", "assistant", "tool_result", "system"])) {
            // The task of a subagent is the assistant's words, which the tool use holds.
            Some("user") if row.of_agent => Err(NoRecord::Known),
            Some("user") => self.prompt(&row),
            Some("assistant") => Ok(self.reply(&row, place.cwd.as_deref())),
            Some("tool_result") => Ok(self.results(&row)),
            Some("system") => self.told(&row),
            _ => Err(NoRecord::unknown("", kind, NO_TYPE)),
        };
        parsed(said, place, &mut self.runs, self.sanitizer)
    }

    fn state(&self) -> ParserState {
        state_with(&self.runs, &self.state)
    }
}

impl<'p> QwenLines<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        Self { place, sanitizer, state: serde_json::from_str(&state.own).unwrap_or_default(), runs: state.runs.clone() }
    }

    /// The user's words, without what the client and hooks put beside them, and what a hook of ours told.
    fn prompt(&self, row: &Row<'_>) -> Result<Said, NoRecord> {
        match &row.subtype {
            Some(other) if other.is_one_of(&NOT_THE_USERS) => return Err(NoRecord::Known),
            Some(other) if !other.is_one_of(&[MID_TURN, SPOKEN]) => {
                return Err(NoRecord::unknown("user ", Some(other.clone()), ""));
            }
            _ => {}
        }
        if row.provenance.as_ref().is_some_and(|whose| !whose.is("real_user")) {
            return Err(NoRecord::Known);
        }
        let [shown, hook] =
            row.payload.and_then(|payload| json::fields(payload, &["displayText", "hookContext"]).ok()).unwrap_or_default();
        let written = || {
            let texts = texts(&row.parts).take_while(|text| !text.trim().starts_with(FILES_START));
            texts.filter(|text| !CLIENT_STARTS.iter().any(|start| text.trim().starts_with(start))).collect::<Vec<_>>()
        };
        let shown = shown.and_then(json::text).filter(|text| !text.trim().is_empty());
        let passed = self.sanitizer.pass_users(&shown.map_or_else(written, |text| vec![text]));
        let has_more = row.parts.iter().any(|part| json::fields(part, &["text"]).is_ok_and(|[text]| text.is_none()));
        let mut said = Said::prompt(passed, has_more, row.subtype.as_ref().is_some_and(|kind| kind.is(MID_TURN)))?;
        // Seen with 0.24.4: the client writes the angle brackets of what hooks tell as entities.
        let hook = hook.and_then(json::text).unwrap_or_default();
        let hook = hook.made(|hook| hook.trim_start().replace("&lt;", "<").replace("&gt;", ">").into());
        said.items.extend(told_by_hook(&[hook], self.sanitizer));
        Ok(said)
    }

    fn reply(&mut self, row: &Row<'_>, cwd: Option<&str>) -> Said {
        let said = RawText::joined(&texts(&row.parts).collect::<Vec<_>>(), "\n");
        let called = row.parts.iter().filter_map(|part| json::fields(part, &["functionCall"]).ok()?[0]);
        let tools = called.flat_map(|call| self.tool(call, cwd));
        let items = reply(&said, self.sanitizer).into_iter().chain(tools).collect();
        // Those of a subagent are told by the file of its session, with the model.
        let is_counted = std::mem::take(&mut self.state.counted) || row.of_agent;
        let usage = if is_counted { None } else { usage(row, self.sanitizer) };
        Said { items, usage, ..Said::default() }
    }

    fn tool(&self, call: Raw<'_>, cwd: Option<&str>) -> Vec<Item> {
        let [id, name, given] = json::fields(call, &["id", "name", "args"]).unwrap_or_default();
        let (id, name) = (json::id(id, self.sanitizer).unwrap_or_default(), name.and_then(json::text).unwrap_or_default());
        let (name, given) = given.filter(|_| name.is(FOUND_TOOL)).and_then(found_tool).unwrap_or((name, given));
        let sanitizer = self.sanitizer;
        let class = TOOLS.class_of_raw(&name).unwrap_or(ToolClass::Other);
        let name = tool_name(&name, sanitizer);
        let Some(given) = given else { return vec![Item::Tool(ToolUse::new(id, name, "", None))] };
        if name == TODOS {
            return todos(given, "todos", &["content"], sanitizer).into_iter().collect();
        }
        if sanitizer.excludes_any(|| json::strings(given)) {
            return vec![Item::Tool(ToolUse::new(id, name, EXCLUDED_LINE, None))];
        }
        let (mut run, mut plan) = (None, None);
        let (line, file) = match class {
            ToolClass::Shell => {
                let is_background = json::fields(given, &["is_background"]).is_ok_and(|[is]| json::is_true(is));
                let (line, ran) = command_in(given, &id, !is_background, sanitizer);
                run = ran;
                (line, None)
            }
            ToolClass::Edit if name == WRITE => self.touched(given, Touch::Written, cwd),
            ToolClass::Edit => self.touched(given, Touch::Edited, cwd),
            ToolClass::Read => self.touched(given, Touch::Read, cwd),
            ToolClass::Subagent => (told_in(given, &["description", "prompt"], sanitizer), None),
            ToolClass::Plan => {
                plan = argument(given, &["plan"], sanitizer).map(|plan| Item::Plan(head_and_tail(&plan, MAX_TEXT_CHARS)));
                ("plan".to_owned(), None)
            }
            ToolClass::Question => (line_of(&questions(given, sanitizer).join(" / ")), None),
            _ => (describe_arguments(given, sanitizer), None),
        };
        let tool = Item::Tool(ToolUse::new(id, name, line, file));
        plan.into_iter().chain([tool]).chain(run.map(|run| Item::Evidence(Evidence::Ran(run)))).collect()
    }

    fn touched(&self, given: Raw<'_>, how: Touch, cwd: Option<&str>) -> (String, Option<FileTouch>) {
        let names = ["file_path", "absolute_path", "notebook_path", "old_string", "new_string", "content", "new_source"];
        let Ok([path, older, notebook, old, new, content, cell]) = json::fields(given, &names) else {
            return (String::new(), None);
        };
        match path.or(older).or(notebook).and_then(|path| sanitized_text(path, self.sanitizer)) {
            Some(path) => touch(absolute(&one_line(&path), cwd), how, &[old], &[new, content, cell]),
            None => (describe_arguments(given, self.sanitizer), None),
        }
    }

    /// How the tool uses of a reply ended. The row's own result belongs to one of them.
    fn results(&self, row: &Row<'_>) -> Said {
        let [of, status, display] =
            row.result.and_then(|result| json::fields(result, &["callId", "status", "resultDisplay"]).ok()).unwrap_or_default();
        let (of, status) = (of.and_then(json::text).map(|of| self.sanitizer.id(of)), status.and_then(json::text));
        let mut all = Said::default();
        for response in row.parts.iter().filter_map(|part| json::fields(part, &["functionResponse"]).ok()?[0]) {
            let [id, name, response] = json::fields(response, &["id", "name", "response"]).unwrap_or_default();
            let [output, error] =
                response.and_then(|response| json::fields(response, &["output", "error"]).ok()).unwrap_or_default();
            let (id, error) = (json::id(id, self.sanitizer).unwrap_or_default(), error.and_then(json::text));
            let text = error.clone().or_else(|| output.and_then(json::text)).unwrap_or_default();
            if name.and_then(json::text).is_some_and(|name| name.is(QUESTION)) && text.trim().starts_with(ANSWERS_START) {
                all.add(answers(id, &text, self.sanitizer));
                continue;
            }
            let is_own = of.as_deref().is_none_or(|of| of == id);
            let ([output], told) = text.apart(|text| {
                let (code, output) = shell_output(text);
                ([output.into()], code)
            });
            let code = display.filter(|_| is_own).and_then(exit_code).or(told);
            let failed = error.is_some() || is_own && status.as_ref().is_some_and(|status| !status.is("success"));
            let ok = code.map_or(!failed, |code| code == 0);
            let refused = text.contains(REFUSAL) && !ok && code.is_none();
            all.add(Said::ended(id, refused, (ok, code, &output), &self.runs, self.sanitizer));
        }
        all
    }

    /// Tokens of a call of the model, be it of the conversation, of a subagent, of a compaction or for the client's own memory.
    fn called(&mut self, payload: Raw<'_>, key: RecordKey) -> Result<Said, NoRecord> {
        let [event] = json::fields(payload, &["uiEvent"]).map_err(|_| NoRecord::Known)?;
        let names = [
            "event.name", "model", "input_token_count", "output_token_count", "cached_content_token_count", "subagent_name",
            "subagent_id",
        ];
        let [name, model, input, output, cached, agent, agent_id] =
            json::fields(event.ok_or(NoRecord::Known)?, &names).map_err(|_| NoRecord::Known)?;
        name.and_then(json::text).filter(|name| name.strip_suffix(CALLED).is_some()).ok_or(NoRecord::Known)?;
        self.state.counted |= agent.or(agent_id).is_none();
        let usage = tokens_of([input, output, cached], model, key, self.sanitizer).ok_or(NoRecord::Known)?;
        Ok(Said { usage: Some(usage), ..Said::default() })
    }

    fn told(&mut self, row: &Row<'_>) -> Result<Said, NoRecord> {
        let payload = row.payload.filter(|_| !row.of_agent);
        let told = row.subtype.as_ref().map(|kind| kind.known(&["ui_telemetry", "chat_compression", "custom_title"]));
        match (told, payload) {
            (Some("ui_telemetry"), Some(payload)) => self.called(payload, row.key),
            (Some("chat_compression"), Some(payload)) => recap(payload, self.sanitizer).map(|recap| Said::only([recap])),
            (Some("custom_title"), Some(payload)) => {
                let [source] = json::fields(payload, &["titleSource"]).map_err(|_| NoRecord::Known)?;
                let by = if source.and_then(json::text).is_some_and(|by| by.is("auto")) { TitleBy::Client } else { TitleBy::User };
                let title = argument(payload, &["customTitle"], self.sanitizer);
                Ok(Said::only(title.and_then(|title| said::title(&title, by))))
            }
            (Some("ui_telemetry" | "chat_compression" | "custom_title"), None) => Err(NoRecord::Known),
            _ if row.subtype.as_ref().is_some_and(|kind| kind.is_one_of(&NOTHING_SAID)) => Err(NoRecord::Known),
            _ => Err(NoRecord::unknown("system ", row.subtype.clone(), "(no subtype)")),
        }
    }
}

/// The tool that the model had looked for, and what it is given.
fn found_tool<'l>(given: Raw<'l>) -> Option<(RawText<'l>, Option<Raw<'l>>)> {
    let [name, inner] = json::fields(given, &["name", "arguments"]).ok()?;
    Some((json::text(name?)?, inner))
}

/// The texts of a message's parts, without thoughts.
fn texts<'l>(parts: &[Raw<'l>]) -> impl Iterator<Item = RawText<'l>> {
    parts.iter().filter_map(|part| {
        let [text, thought] = json::fields(part, &["text", "thought"]).ok()?;
        text.filter(|_| !json::is_true(thought)).and_then(json::text)
    })
}

/// The recap with which the conversation went on: the first words of the history that took its place.
fn recap(payload: Raw<'_>, sanitizer: &Sanitizer) -> Result<Item, NoRecord> {
    let [history] = json::fields(payload, &["compressedHistory"]).map_err(|_| NoRecord::Known)?;
    let first = history.map(json::elements).unwrap_or_default().into_iter().next().ok_or(NoRecord::Known)?;
    let [parts] = json::fields(first, &["parts"]).map_err(|_| NoRecord::Known)?;
    let text = RawText::joined(&texts(&parts.map(json::elements).unwrap_or_default()).collect::<Vec<_>>(), "\n");
    let text = text.part(|text| Some(text.split(RECAP_END).next()?.trim()));
    said::recap(&sanitizer.clean(text.unwrap_or_default())).ok_or(NoRecord::Known)
}

fn exit_code(display: Raw<'_>) -> Option<i64> {
    let [code] = json::fields(display, &["exitCode"]).ok()?;
    json::integer(code)
}

/// A command's own output, without the client's lines around it, and the exit code in them.
fn shell_output(text: &str) -> (Option<i64>, &str) {
    let whole = || {
        let (_, rest) = text.strip_prefix("Command: ")?.split_once("\nOutput: ")?;
        let (output, tail) = rest.rsplit_once("\nError: ")?;
        let code = tail.lines().find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok());
        Some((code, if output == "(empty)" { "" } else { output }))
    };
    whole().unwrap_or((None, text))
}

fn questions(given: Raw<'_>, sanitizer: &Sanitizer) -> Vec<String> {
    let all = json::fields(given, &["questions"]).ok().and_then(|[all]| all).map(json::elements).unwrap_or_default();
    all.into_iter().filter_map(|one| argument(one, &["question", "header"], sanitizer)).collect()
}

/// What the user chose or wrote in a dialog: a line for each answer, behind the name of its question.
fn answers(id: String, text: &RawText<'_>, sanitizer: &Sanitizer) -> Said {
    let given = text.part(|text| Some(text.trim_start().trim_start_matches(ANSWERS_START).trim()));
    let given = given.unwrap_or_default();
    let passed = sanitizer.pass(&given);
    let has_private = || given.parts(answers_in).iter().any(|answer| sanitizer.pass(answer).is_all_private());
    let private = passed.is_all_private() || passed.private && has_private();
    let said = passed.text.lines().filter_map(|line| {
        let (asked, said) = line.trim().strip_prefix("**")?.split_once("**: ")?;
        Some(Item::Answer(Answer { said: head_and_tail(said.trim(), MAX_TEXT_CHARS), asked: asked.to_owned() }))
    });
    let turn = if private { Turn::BeginsPrivate } else { Turn::Continues };
    let items = if private { Vec::new() } else { said.collect() };
    Said { items, answered: vec![id], fenced: passed.fenced, turn, ..Said::default() }
}

/// The answers in a text by themselves, without the names of their questions. Nothing is stored of them: a private one may go on in what looks
/// like the next.
fn answers_in(given: &str) -> Vec<&str> {
    let starts: Vec<usize> =
        given.match_indices("**").map(|(at, _)| at).filter(|at| *at == 0 || given[..*at].ends_with('\n')).collect();
    let ends = starts.iter().skip(1).copied().chain([given.len()]);
    let answers = starts.iter().zip(ends).map(|(start, end)| &given[*start..end]);
    answers.map(|answer| answer.split_once("**: ").map_or(answer, |(_, said)| said)).collect()
}

fn usage(row: &Row<'_>, sanitizer: &Sanitizer) -> Option<MessageUsage> {
    let names = ["promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount"];
    tokens_of(json::fields(row.usage?, &names).ok()?, row.model, row.key, sanitizer)
}

fn tokens_of(counts: [Option<Raw<'_>>; 3], model: Option<Raw<'_>>, key: RecordKey, sanitizer: &Sanitizer) -> Option<MessageUsage> {
    let [input, output, cached] = counts.map(|count| json::number(count).unwrap_or(0));
    // The client counts what the cache holds among the input.
    let tokens = Tokens { input: input.saturating_sub(cached), output, cache_read: cached, ..Tokens::default() };
    tokens_of_call(key.to_string(), name_in(model, sanitizer), tokens)
}
