//! One step after the other: what it says, and what the next ones need to know of it.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::ends::{self, End};
use super::tools::{OF_SERVER, REPLACE_MANY, TOOLS, WRITE};
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer, leaves_private_open};
use crate::session::{Evidence, FileTouch, Item, ParserState, PendingRuns, RecordKey, TitleBy, ToolClass, ToolUse, Touch};
use crate::source::address::local_path;
use crate::source::json::{self, Raw};
use crate::source::line::{MAX_TEXT_CHARS, malformed, text_of_line, timestamp};
use crate::source::parsed::state_with;
use crate::source::patch::absolute;
use crate::source::row::{NoRecord, RowPlace, Said, parsed};
use crate::source::said::{begins_with_tag, plain_mentions, reply, title};
use crate::source::tool_use::{argument, describe_arguments, line_and_run, line_of, sanitized_text, told_in, tool_name, touch};
use crate::source::{LineParser, NO_TYPE, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::{head_and_tail, one_line};

/// Steps that are known and hold nothing of the conversation: what the client tells its model.
const NOTHING_SAID: [&str; 5] = ["CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", ERROR, "GENERIC", "KNOWLEDGE_ARTIFACTS"];
/// A call that could not be made, or a fault of the client's.
const ERROR: &str = "ERROR_MESSAGE";
/// Steps in which a tool answers, by what it is for; newer releases call all of them `GENERIC`.
const OF_COMMAND: &str = "RUN_COMMAND";
const ANSWERS: [&str; 13] = [
    "CODE_ACTION", "CODEBASE_SEARCH", "FIND", "GREP_SEARCH", "INVOKE_SUBAGENT", "LIST_DIRECTORY", "MCP_TOOL", "READ_URL_CONTENT",
    OF_COMMAND, "SEARCH_WEB", "VIEW_CODE_ITEM", "VIEW_FILE", "VIEW_FILE_OUTLINE",
];
/// Around the user's words, and before what the client adds to them where it writes them without.
const REQUEST: &str = "<USER_REQUEST>";
const REQUEST_END: &str = "</USER_REQUEST>";
const ADDED: [&str; 3] = ["<ADDITIONAL_METADATA>", "<USER_SETTINGS_CHANGE>", "<EPHEMERAL_MESSAGE>"];
/// The tags with which the client begins what it says in the user's name.
const CLIENT_TAGS: [&str; 8] = [
    "ADDITIONAL_METADATA", "EPHEMERAL_MESSAGE", "SYSTEM_MESSAGE", "USER_SETTINGS_CHANGE", "conversation_summaries", "mcp_servers",
    "user_information", "user_rules",
];
/// How what it says there begins without one.
const CLIENT_STARTS: [&str; 2] = ["The following changes were made by the USER to: ", "The following is a <SYSTEM_MESSAGE>"];
/// Before the subject of a conversation, in what the client gives its model once it has shortened it.
const OBJECTIVE: &str = "# USER Objective:";
/// Between the client's folder and what a conversation's own files are called.
const BRAIN: &str = "/brain/";
/// The plan of a conversation, among them.
const PLAN: &str = "/implementation_plan.md";
/// How a step ended.
const FAILED: [&str; 2] = ["ERROR", "INVALID"];
const RUNNING: &str = "RUNNING";
/// The most prompts, calls and tasks that are remembered.
const MAX_BACK: usize = 64;

/// The arguments that are read.
const ARGUMENTS: [&str; 24] = [
    "CommandLine", "Command", "Cwd", "TargetFile", "AbsolutePath", "File", "DirectoryPath", "SearchPath", "SearchDirectory",
    "Query", "Pattern", "Url", "CodeContent", "TargetContent", "ReplacementContent", "ReplacementChunks", "ServerName", "ToolName",
    "Arguments", "Task", "TaskName", "Question", "Subagents", "toolSummary",
];

/// What the next steps of a conversation need to know of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// Steps so far: what tells those without a number apart.
    rows: u64,
    before: Option<RecordKey>,
    /// The last prompts, each with its step and the record that it followed.
    prompts: VecDeque<(u64, RecordKey, RecordKey)>,
    /// Calls that were not answered yet.
    open: VecDeque<Open>,
    /// Tasks in the background by their ids, each with the call that began it.
    tasks: VecDeque<(String, String)>,
}

/// A call that was not answered yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Open {
    id: String,
    /// The step that is expected to answer it.
    answer: Option<u64>,
    is_command: bool,
}

/// Parses the steps of a conversation in order.
pub(super) struct AntigravityLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    cwd: Option<String>,
    state: State,
    /// Commands whose output is still to come.
    runs: PendingRuns,
}

/// A step in which a tool may have answered.
struct Answer<'l> {
    kind: RawText<'l>,
    step: Option<u64>,
    status: &'static str,
    code: Option<i64>,
    text: RawText<'l>,
}

impl LineParser for AntigravityLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let names = ["step_index", "source", "type", "status", "created_at", "content", "tool_calls", "exit_code"];
        let Ok([step, source, kind, status, at, content, calls, code]) = json::fields(&text, &names) else {
            return malformed(&text);
        };
        self.state.rows += 1;
        let step = json::number(step);
        let kind = kind.and_then(json::text).unwrap_or_default();
        let whose = self.place.agent.as_ref().unwrap_or(&self.place.session);
        // A number comes again where the user went back to a prompt, and where a step is told while it goes on and once it has ended.
        let key = match step {
            Some(step) => {
                let began = at.and_then(json::text).unwrap_or_default();
                RawText::joined(&[RawText::from(&kind), began], " ").key_in(whose, step)
            }
            None => RecordKey::from_row(whose, self.state.rows, line),
        };
        let source = source.and_then(json::text);
        let is_by = |name: &str| source.as_ref().is_some_and(|source| source.is(name));
        let content = content.and_then(json::text).unwrap_or_default();
        let parent = self.follow(key, step.filter(|_| kind.is("USER_INPUT")));
        let said = match kind.known(&["", "USER_INPUT", "PLANNER_RESPONSE", "CHECKPOINT", "SYSTEM_MESSAGE"]) {
            // The task of a subagent is the assistant's words, which the tool use holds; from others come what hooks and the client say.
            "USER_INPUT" if self.place.agent.is_none() && (source.is_none() || is_by("USER_EXPLICIT")) => self.prompt(&content),
            "USER_INPUT" => Err(NoRecord::Known),
            "PLANNER_RESPONSE" => Ok(self.reply(&content, calls, key, step)),
            "CHECKPOINT" => {
                let subject = content.part(|text| text.split_once(OBJECTIVE)?.1.trim_start().lines().next());
                Ok(Said::only(subject.and_then(|subject| title(&self.sanitizer.clean(subject), TitleBy::Client))))
            }
            "SYSTEM_MESSAGE" => self.ended_task(&content).ok_or(NoRecord::Known),
            _ if kind.is_empty() => Err(NoRecord::unknown("", None, NO_TYPE)),
            _ => {
                let is_answer = kind.is_one_of(&ANSWERS);
                let status = status.and_then(json::text).map_or("", |status| status.known(&[FAILED[0], FAILED[1], RUNNING]));
                let answer = Answer { kind: RawText::from(&kind), step, status, code: json::integer(code), text: content };
                let said = if is_by("MODEL") || is_answer || kind.is(ERROR) { self.answered(&answer) } else { None };
                let is_known = is_answer || kind.is_one_of(&NOTHING_SAID);
                said.ok_or_else(|| if is_known { NoRecord::Known } else { NoRecord::unknown("", Some(answer.kind), NO_TYPE) })
            }
        };
        let place = RowPlace {
            link: ParentLink { key, parent: Some(parent) },
            session: &self.place.session,
            agent: self.place.agent.clone(),
            at: at.and_then(timestamp),
            cwd: self.cwd.clone(),
            branch: None,
            version: None,
        };
        parsed(said, place, &mut self.runs, self.sanitizer)
    }

    fn state(&self) -> ParserState {
        state_with(&self.runs, &self.state)
    }
}

impl<'p> AntigravityLines<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        let cwd = place.cwd.as_ref().map(|cwd| sanitizer.redact(cwd));
        Self { place, sanitizer, cwd, state: serde_json::from_str(&state.own).unwrap_or_default(), runs: state.runs.clone() }
    }

    /// The record that this one follows. A prompt with the number of an earlier one: the user went back to before that.
    fn follow(&mut self, key: RecordKey, prompt: Option<u64>) -> RecordKey {
        let session = &self.place.session;
        let prompts = &mut self.state.prompts;
        if prompt.is_some()
            && let Some((.., parent)) = prompts.iter().find(|(_, known, _)| *known == key)
        {
            return *parent;
        }
        if let Some(step) = prompt
            && let Some(at) = prompts.iter().position(|(earlier, ..)| *earlier >= step)
        {
            self.state.before = Some(prompts[at].2);
            prompts.truncate(at);
        }
        let parent = self.state.before.replace(key).unwrap_or_else(|| RecordKey::from_uuid(session, session));
        if let Some(step) = prompt {
            remember(prompts, (step, key, parent));
        }
        parent
    }

    /// The user's words, without what the client puts around them.
    fn prompt(&self, content: &RawText<'_>) -> Result<Said, NoRecord> {
        if content.tells(|content| request_in(content).is_none() && begins_with_tag(content, &CLIENT_TAGS)) {
            return Said::prompt(self.sanitizer.pass_users_beside(&[], std::slice::from_ref(content)), false, false);
        }
        let words = content.part(request).ok_or(NoRecord::Known)?;
        Said::prompt(self.sanitizer.pass_users(&[words.made(plain_mentions)]), false, false)
    }

    fn reply(&mut self, content: &RawText<'_>, calls: Option<Raw<'_>>, key: RecordKey, step: Option<u64>) -> Said {
        let mut all = Said::only(reply(content.trim(), self.sanitizer));
        let calls = calls.map(json::elements).unwrap_or_default();
        if !calls.is_empty() {
            self.state.open.clear();
        }
        for (n, call) in (0..).zip(calls) {
            let id = format!("{key}/{n}");
            let (items, class) = self.tool(call, &id);
            let answer = step.map(|step| step + 1 + n);
            remember(&mut self.state.open, Open { id, answer, is_command: class == ToolClass::Shell });
            all.items.extend(items);
        }
        all
    }

    /// A call of a tool, and what the tool is for.
    fn tool(&self, call: Raw<'_>, id: &str) -> (Vec<Item>, ToolClass) {
        let sanitizer = self.sanitizer;
        let [name, given] = json::fields(call, &["name", "args"]).unwrap_or_default();
        let name = name.and_then(json::text).unwrap_or_default();
        let name = name.made(plain_name);
        let class = TOOLS.class_of_raw(&name).unwrap_or(ToolClass::Other);
        let Some(given) = given else { return (vec![Item::Tool(ToolUse::new(id, tool_name(&name, sanitizer), "", None))], class) };
        let decoded = decoded(given);
        let given = decoded.as_ref().and_then(|text| Raw::of(text).ok()).unwrap_or(given);
        let (name, given) = if name.is(OF_SERVER) { of_server(&name, given) } else { (name, given) };
        let kept = tool_name(&name, sanitizer);
        if sanitizer.excludes_any(|| json::strings(given)) {
            return (vec![Item::Tool(ToolUse::new(id, kept, EXCLUDED_LINE, None))], class);
        }
        let (mut run, mut plan) = (None, None);
        let (line, file) = match class {
            ToolClass::Shell => {
                let command = argument(given, &["CommandLine", "Command"], sanitizer);
                let (line, ran) = line_and_run(id, command.as_deref(), true, sanitizer);
                run = ran;
                (line, None)
            }
            ToolClass::Edit => {
                let how = if name.is(WRITE) { Touch::Written } else { Touch::Edited };
                let (line, file) = self.touched(given, how, name.is(REPLACE_MANY));
                // The conversation's own files are no work of it.
                let is_own = file.as_ref().is_some_and(|file| file.path.contains(BRAIN));
                if is_own && name.is(WRITE) && line.ends_with(PLAN) {
                    let text = argument(given, &["CodeContent"], sanitizer);
                    plan = text.map(|plan| Item::Plan(head_and_tail(&plan, MAX_TEXT_CHARS)));
                }
                (line, file.filter(|_| !is_own))
            }
            ToolClass::Read => self.touched(given, Touch::Read, false),
            ToolClass::Subagent => (told_in(given, &["TaskName", "Task", "Subagents", "toolSummary"], sanitizer), None),
            ToolClass::Search | ToolClass::Web | ToolClass::Question => (self.described(given), None),
            _ => (describe_arguments(given, sanitizer), None),
        };
        let tool = Item::Tool(ToolUse::new(id, kept, line, file));
        (plan.into_iter().chain([tool]).chain(run.map(|run| Item::Evidence(Evidence::Ran(run)))).collect(), class)
    }

    fn touched(&self, given: Raw<'_>, how: Touch, in_parts: bool) -> (String, Option<FileTouch>) {
        let names =
            ["TargetFile", "AbsolutePath", "File", "TargetContent", "ReplacementContent", "CodeContent", "ReplacementChunks"];
        let Ok([target, path, file, old, new, content, chunks]) = json::fields(given, &names) else {
            return (String::new(), None);
        };
        let Some(path) = target.or(path).or(file).and_then(|path| sanitized_text(path, self.sanitizer)) else {
            return (self.described(given), None);
        };
        let path = absolute(&one_line(&local_path(&path)), self.cwd.as_deref());
        if !in_parts {
            return touch(path, how, &[old], &[new, content]);
        }
        // Some releases write the list as JSON in a string.
        let written = chunks.and_then(json::text);
        let chunks = written.as_ref().and_then(|text| Raw::of(text).ok()).or(chunks).map(json::elements).unwrap_or_default();
        let parts = chunks.iter().map(|chunk| json::fields(chunk, &["TargetContent", "ReplacementContent"]).unwrap_or_default());
        let (old, new): (Vec<_>, Vec<_>) = parts.map(|[old, new]| (old, new)).unzip();
        touch(path, how, &old, &new)
    }

    /// What a search was for, and where.
    fn described(&self, given: Raw<'_>) -> String {
        let names = ["Query", "Pattern", "Url", "Question", "DirectoryPath", "SearchPath", "SearchDirectory"];
        let Ok(found) = json::fields(given, &names) else { return String::new() };
        let texts = found.into_iter().flatten().filter_map(|text| sanitized_text(text, self.sanitizer)).take(2);
        line_of(&texts.map(|text| line_of(&text)).collect::<Vec<_>>().join(" · "))
    }

    /// What a step says as the answer to a call; `None` if none waits for it.
    fn answered(&mut self, answer: &Answer<'_>) -> Option<Said> {
        let ([printed, task], end) = answer.text.apart(ends::of_step);
        let is_command = match end {
            End::Command(_) => Some(true),
            End::InBackground => None,
            End::Other if answer.kind.is(OF_COMMAND) => Some(true),
            End::Other if answer.kind.is_one_of(&ANSWERS) => Some(false),
            End::Other => None,
        };
        let fits = |open: &Open| is_command.is_none_or(|is_command| open.is_command == is_command);
        let is_next = |open: &&Open| answer.step.is_some() && open.answer == answer.step && fits(open);
        let is_error = answer.kind.is(ERROR);
        let open = &self.state.open;
        let at = open.iter().position(|open| is_next(&open)).or_else(|| open.iter().position(|open| fits(open) && !is_error))?;
        if end == End::InBackground {
            let open = self.state.open.remove(at)?;
            remember(&mut self.state.tasks, (self.sanitizer.id(task), open.id));
            return None;
        }
        if answer.status == RUNNING {
            return None;
        }
        let open = self.state.open.remove(at)?;
        let code = if let End::Command(code) = end { Some(code) } else { answer.code.filter(|_| open.is_command) };
        let ok = code.map_or(!is_error && !FAILED.contains(&answer.status), |code| code == 0);
        Some(Said::ended(open.id, false, (ok, code, &printed), &self.runs, self.sanitizer))
    }

    /// What a message of the client says, if a task in the background has ended.
    fn ended_task(&mut self, content: &RawText<'_>) -> Option<Said> {
        let ([task, told], ran) = content.apart(ends::of_task);
        let (ran, task) = (ran?, self.sanitizer.id(task));
        let at = self.state.tasks.iter().position(|(known, _)| *known == task)?;
        let (_, id) = self.state.tasks.remove(at)?;
        let ([printed, _], end) = told.apart(ends::of_step);
        let code = if let End::Command(code) = end { Some(code) } else { None };
        Some(Said::ended(id, false, (ran && code.is_none_or(|code| code == 0), code, &printed), &self.runs, self.sanitizer))
    }
}

/// Adds to what is remembered, of which the oldest goes.
fn remember<T>(all: &mut VecDeque<T>, one: T) {
    if all.len() == MAX_BACK {
        all.pop_front();
    }
    all.push_back(one);
}

/// What the user typed where the client marks it. A tag in what the user wrote as private is not the client's.
fn request_in(content: &str) -> Option<&str> {
    let (before, rest) = content.split_once(REQUEST)?;
    let is_marked = begins_with_tag(content, &CLIENT_TAGS) || !leaves_private_open(before);
    is_marked.then(|| rest.split(REQUEST_END).next().unwrap_or_default().trim())
}

/// What the user typed; `None` for what the client says in the user's name.
fn request(content: &str) -> Option<&str> {
    let words = request_in(content).unwrap_or_else(|| {
        let end = ADDED.iter().filter_map(|added| content.find(added)).min().unwrap_or(content.len());
        content[..end].trim()
    });
    (!CLIENT_STARTS.iter().any(|start| words.starts_with(start))).then_some(words)
}

/// A tool's name without where it is from, and that of a server's tool as such tools are called.
fn plain_name(name: &str) -> Cow<'_, str> {
    let name = name.strip_prefix("default_api:").unwrap_or(name);
    let parts = name.strip_prefix("mcp_").filter(|rest| !rest.starts_with('_')).and_then(|rest| rest.split_once('_'));
    parts.map_or(Cow::Borrowed(name), |(server, tool)| format!("mcp__{server}__{tool}").into())
}

/// The tool of a server that is called by the client's own, and what it is given.
fn of_server<'l>(name: &RawText<'l>, given: Raw<'l>) -> (RawText<'l>, Raw<'l>) {
    let [server, tool, arguments] = json::fields(given, &["ServerName", "ToolName", "Arguments"]).unwrap_or_default();
    match (server.and_then(json::text), tool.and_then(json::text)) {
        (Some(server), Some(tool)) => (RawText::joined(&["mcp".into(), server, tool], "__"), arguments.unwrap_or(given)),
        _ => (name.clone(), given),
    }
}

/// The arguments of a call where each is written as JSON in a string; `None` where they are as they were given.
fn decoded(given: Raw<'_>) -> Option<RawText<'static>> {
    let found = json::fields(given, &ARGUMENTS).ok()?;
    let mut all = Vec::new();
    for (name, value) in ARGUMENTS.into_iter().zip(found) {
        let Some(value) = value else { continue };
        let inner = json::text(value).filter(|text| Raw::of(text).is_ok())?;
        all.push(RawText::joined(&["\"".into(), name.into(), "\":".into(), inner], ""));
    }
    let fields = RawText::joined(&all, ",");
    (!all.is_empty()).then(|| RawText::joined(&["{".into(), fields, "}".into()], ""))
}
