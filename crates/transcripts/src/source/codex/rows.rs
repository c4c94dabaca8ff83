//! One row after the other: whose it is, what it says, and what the next ones need to know of it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::calls::{self, Call, Running};
use super::items;
use super::review::{self, Review};
use crate::privacy::raw::RawText;
use crate::privacy::{Sanitizer, opens_private};
use crate::session::{Evidence, Item, Millis, ParserState, PendingRuns, RecordKey, TitleBy, TitleEvent, Tokens, Turn};
use crate::source::json::{self, Raw};
use crate::source::line::{malformed, text_of_line, timestamp};
use crate::source::parsed::state_with;
use crate::source::row::{NoRecord, RowPlace, Said, tokens_of_call, unknown};
use crate::source::said::{self, reply, told_by_hook};
use crate::source::{LineParser, NO_TYPE, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::{one_line, shorten};

/// Items and events that are read.
const ITEMS: [&str; 7] = [
    "message", "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "function_call_output",
    "custom_tool_call_output",
];
const EVENTS: [&str; 13] = [
    "user_message", "agent_message", "item_completed", "task_started", "turn_started", "turn_aborted", "token_count",
    "thread_rolled_back", "thread_name_updated", "error", "stream_error", "entered_review_mode", "exited_review_mode",
];

/// Rows that are known and hold nothing of the conversation, and such items and events. What they say is said elsewhere, too, or is the
/// client's own: instructions, tools, settings, thinking.
const NO_ROWS: [&str; 5] =
    ["world_state", "thread_settings_applied", "inter_agent_communication_metadata", "ghost_snapshot", "session_state"];
const NO_ITEMS: [&str; 12] = [
    "reasoning", "additional_tools", "agent_message", "ghost_snapshot", "compaction", "compaction_trigger", "context_compaction",
    "compaction_summary", "tool_search_call", "tool_search_output", "image_generation_call", "other",
];
const NO_EVENTS: [&str; 29] = [
    "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break", "task_complete", "turn_complete",
    "context_compacted", "thread_settings_applied", "item_started", "exec_command_begin", "exec_command_end", "patch_apply_begin",
    "patch_apply_end", "mcp_tool_call_begin", "mcp_tool_call_end", "web_search_begin", "web_search_end", "view_image_tool_call",
    "collab_agent_spawn_begin", "collab_agent_spawn_end", "collab_agent_interaction_begin", "collab_agent_interaction_end",
    "collab_waiting_begin", "collab_waiting_end", "collab_close_begin", "collab_close_end", "sub_agent_activity",
    "image_generation_end", "dynamic_tool_call_request", "dynamic_tool_call_response",
];

/// How what the client itself says in the user's name begins.
const CLIENT_STARTS: [&str; 13] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<skill>",
    "<skills_instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<user_action>",
    "<permissions instructions>",
    "<hook_prompt",
    "Warning: apply_patch was requested via ",
];
/// Before the prompt, editors tell which files are open, and the client's app which the user added.
const EDITOR_STARTS: [&str; 3] = ["# Context from my IDE setup:", "# Files mentioned by the user:", "# Files pasted by the user:"];
/// What stands between that and the prompt, in newer releases of the app without its name.
const EDITOR_ENDS: [&str; 2] = ["## My request for Codex:", "\n## My request:\n"];
/// What clients of 0.55 say in the assistant's name once they have compacted.
const COMPACTED: &str = "Compact task completed";
/// The client's words to the model before a recap.
const RECAP_END_OF_PREFACE: &str = "to assist with your own analysis:";

/// The most turns whose beginnings are remembered, for a user who goes back.
const MAX_TURNS_BACK: usize = 16;
/// The most calls whose output is awaited.
const MAX_CALLS: usize = 32;
/// Longest stored words of the client about the model's service, in characters.
const MAX_ERROR_CHARS: usize = 200;

/// What the next rows of a file need to know of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// Whose rows follow: a fork may begin with a copy of those of another thread.
    thread: String,
    /// How many rows of it came before.
    rows: u64,
    /// How many tokens the thread had used at its last call, and how often the client began again at nothing.
    #[serde(skip_serializing_if = "is_zero")]
    used: u64,
    #[serde(skip_serializing_if = "is_zero")]
    restarts: u64,
    /// Rows with a lower number are the parent's, which a subagent's file repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    own_from: Option<u64>,
    /// The subagent's own thread then, whose calls the file tells of.
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<String>,
    /// The rows have no envelopes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    bare: bool,
    /// Of rows without envelopes: how many marks of the client's own came before, two at most. The first rows up to the second mark were
    /// there before the session: what the client says itself, and the rows of the session that it takes up.
    #[serde(skip_serializing_if = "is_zero")]
    marks: u64,
    /// What all of them up to the last one are known by, in a copy, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<RecordKey>,
    /// One of them has an id, which the model gave it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    named: bool,
    /// What was said and done is told by finished items.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) finished: bool,
    pub(super) cwd: Option<String>,
    branch: Option<String>,
    version: Option<String>,
    /// When the thread began: the only time that rows without envelopes have.
    began: Option<Millis>,
    model: Option<String>,
    /// The turn, by the client's id of the one that the user began.
    turn: Option<String>,
    /// The user's prompt of this turn was said.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) prompted: bool,
    /// The review of this turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) review: Option<Review>,
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub(super) calls: VecDeque<Call>,
    /// Commands that run on.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    running: VecDeque<Running>,
    /// The last record, and the one before each of the last turns.
    last: Option<RecordKey>,
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    before: VecDeque<RecordKey>,
}

impl State {
    /// Remembers a call until its output comes.
    pub(super) fn await_output(&mut self, call: Call) {
        if self.calls.len() == MAX_CALLS {
            self.calls.pop_front();
        }
        self.calls.push_back(call);
    }

    /// Remembers a command until its end is told.
    pub(super) fn runs_on(&mut self, running: Running) {
        if self.running.len() == MAX_CALLS {
            self.running.pop_front();
        }
        self.running.push_back(running);
    }

    /// The call of the command that runs as this process of the client's.
    pub(super) fn call_of_process(&self, process: i64) -> Option<String> {
        self.running.iter().rfind(|running| running.process == process).map(|running| running.call.clone())
    }

    /// The command of this call runs no more.
    pub(super) fn ends(&mut self, call: &str) {
        self.running.retain(|running| running.call != call);
    }

    /// The call with this id, which is awaited no more.
    pub(super) fn answered(&mut self, id: &str) -> Option<Call> {
        let at = self.calls.iter().position(|call| call.id == id)?;
        self.calls.remove(at)
    }
}

/// What a rollout's first row says of it.
pub(super) struct Meta<'l> {
    id: String,
    at: Option<Millis>,
    cwd: Option<Raw<'l>>,
    version: Option<Raw<'l>>,
    git: Option<Raw<'l>>,
    source: Option<Raw<'l>>,
    session_id: Option<Raw<'l>>,
    parent: Option<Raw<'l>>,
    own_from: Option<u64>,
}

impl<'l> Meta<'l> {
    /// Of a whole line of a rollout with envelopes.
    pub(super) fn of_line(line: &'l RawText<'_>) -> Option<Self> {
        let [kind, payload] = json::fields(line, &["type", "payload"]).ok()?;
        kind.and_then(json::text).filter(|kind| kind.is("session_meta"))?;
        Self::of(payload?)
    }

    fn of(payload: Raw<'l>) -> Option<Self> {
        let names = [
            "id", "timestamp", "cwd", "cli_version", "git", "source", "session_id", "parent_thread_id",
            "subagent_history_start_ordinal",
        ];
        let [id, at, cwd, version, git, source, session_id, parent, own_from] = json::fields(payload, &names).ok()?;
        let (id, at, own_from) = (json::text(id?)?.id(), at.and_then(timestamp), json::number(own_from));
        Some(Self { id, at, cwd, version, git, source, session_id, parent, own_from })
    }

    /// The session for which a subagent worked: the one that the user began.
    pub(super) fn worked_for(&self) -> Option<String> {
        let [subagent] = json::fields(self.source?, &["subagent"]).ok()?;
        let spawned = json::fields(subagent?, &["thread_spawn"]).ok().and_then(|[spawned]| spawned);
        let parent = spawned.and_then(|spawned| json::fields(spawned, &["parent_thread_id"]).ok()).and_then(|[id]| id);
        let ids = [self.session_id, self.parent, parent].into_iter().flatten().filter_map(json::text);
        ids.map(|id| id.id()).find(|id| !id.is_empty() && *id != self.id)
    }
}

/// Parses the lines of a rollout in order.
pub(super) struct CodexLines<'p> {
    place: &'p TranscriptIdentity,
    pub(super) sanitizer: &'p Sanitizer,
    pub(super) state: State,
    /// Commands whose output is still to come.
    pub(super) runs: PendingRuns,
}

impl LineParser for CodexLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let names = ["timestamp", "type", "payload", "ordinal", "record_type", "id"];
        let Ok([at, kind, payload, ordinal, record_type, id]) = json::fields(&text, &names) else {
            return malformed(&text);
        };
        let at = at.and_then(timestamp);
        let kind = kind.and_then(json::text).unwrap_or_default();
        let Ok(whole) = Raw::of(&text) else { return ParsedLine::Malformed("not JSON") };
        if payload.is_none() && kind.is_empty() && record_type.is_none() && id.is_some() {
            self.state.bare = true;
            return self.begin(whole);
        }
        if kind.is("session_meta") {
            return payload.map_or(ParsedLine::Empty, |payload| self.begin(payload));
        }
        self.state.rows += 1;
        if record_type.is_some() {
            self.state.marks = (self.state.marks + 1).min(2);
            return ParsedLine::Empty;
        }
        if self.state.bare {
            let before = self.state.chain.map(|key| key.to_string()).unwrap_or_default();
            self.state.chain = Some(RecordKey::from_line(&before, line));
            self.state.named |= id.and_then(json::text).is_some_and(|id| !id.is_empty());
        }
        if self.is_copy(json::number(ordinal)) {
            return ParsedLine::Empty;
        }
        let said = match payload {
            None if self.state.bare => self.item(whole),
            None => Err(NoRecord::Unknown(RawText::joined(&[kind, " without payload".into()], ""))),
            Some(payload) => self.said(&kind, payload),
        };
        match said {
            Ok(said) if self.is_said_elsewhere(&said) => ParsedLine::Empty,
            Ok(said) => self.record(at, payload.ok_or(line), said),
            Err(NoRecord::Unknown(name)) => unknown(&name, self.sanitizer),
            Err(NoRecord::Known | NoRecord::Began) => ParsedLine::Empty,
        }
    }

    fn state(&self) -> ParserState {
        state_with(&self.runs, &self.state)
    }
}

impl<'p> CodexLines<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        let own = serde_json::from_str(&state.own).unwrap_or_default();
        Self { place, sanitizer, state: own, runs: state.runs.clone() }
    }

    /// Is the row one of the parent's, in the file of a subagent?
    fn is_copy(&self, ordinal: Option<u64>) -> bool {
        self.state.own_from.zip(ordinal).is_some_and(|(own, ordinal)| ordinal < own)
    }

    /// Is it the first prompt of a session that is taken up here in another file? Nothing tells it from the same words in other sessions; what
    /// follows it does. A private one stays, as it says what else is.
    fn is_said_elsewhere(&self, said: &Said) -> bool {
        let is_copy = self.state.bare && self.state.marks == 1 && !self.state.named;
        is_copy && said.turn == Turn::Begins && said.fenced.is_empty()
    }

    pub(super) fn is_of_subagent(&self) -> bool {
        self.place.agent.is_some()
    }

    /// The first row, or that of a thread whose rows are repeated here.
    fn begin(&mut self, payload: Raw<'_>) -> ParsedLine {
        let Some(meta) = Meta::of(payload) else { return ParsedLine::Unknown("session_meta without id".to_owned()) };
        let is_first = self.state.thread.is_empty();
        if is_first && self.is_of_subagent() && meta.own_from.is_some() {
            self.state.own = Some(meta.id.clone());
        }
        if self.state.thread != meta.id {
            (self.state.thread, self.state.rows) = (meta.id, 0);
            (self.state.used, self.state.restarts) = (0, 0);
        }
        if !is_first {
            return ParsedLine::Empty;
        }
        self.state.own_from = meta.own_from.filter(|_| self.is_of_subagent());
        self.state.began = meta.at.filter(|_| self.state.bare);
        self.go_to(meta.cwd);
        let branch = meta.git.and_then(|git| json::fields(git, &["branch"]).ok()).and_then(|[branch]| branch);
        self.state.branch = branch.and_then(json::text).and_then(|branch| self.sanitizer.name(branch)).filter(|b| b != "HEAD");
        self.state.version = meta.version.and_then(json::text).and_then(|version| self.sanitizer.name(version));
        let session = self.place.session.clone();
        meta.at.filter(|_| !self.is_of_subagent()).map_or(ParsedLine::Empty, |at| ParsedLine::SessionStart { session, at })
    }

    fn go_to(&mut self, cwd: Option<Raw<'_>>) {
        if let Some(cwd) = cwd.and_then(json::text).filter(|cwd| !cwd.is_empty()) {
            self.state.cwd = Some(self.sanitizer.redact(&cwd));
        }
    }

    fn said(&mut self, kind: &RawText<'_>, payload: Raw<'_>) -> Result<Said, NoRecord> {
        match kind.known(&["response_item", "event_msg", "turn_context", "compacted", "token_usage_record"]) {
            "response_item" => self.item(payload),
            "event_msg" => self.event(payload),
            "turn_context" => {
                let [cwd, model] = json::fields(payload, &["cwd", "model"]).map_err(|_| NoRecord::Known)?;
                self.go_to(cwd);
                self.state.model =
                    model.and_then(json::text).and_then(|model| self.sanitizer.name(model)).or(self.state.model.take());
                Err(NoRecord::Known)
            }
            "compacted" => self.recap(payload),
            "token_usage_record" => {
                let [usage, all] = json::fields(payload, &["usage", "thread_token_usage"]).map_err(|_| NoRecord::Known)?;
                self.usage(usage, all)
            }
            _ if kind.is_one_of(&NO_ROWS) => Err(NoRecord::Known),
            _ => Err(NoRecord::unknown("", Some(kind.clone()).filter(|kind| !kind.is_empty()), NO_TYPE)),
        }
    }

    /// An item of the model's API: a message, a call, its output.
    fn item(&mut self, payload: Raw<'_>) -> Result<Said, NoRecord> {
        let Ok([kind]) = json::fields(payload, &["type"]) else { return Err(NoRecord::Known) };
        let kind = kind.and_then(json::text).unwrap_or_default();
        match kind.known(&ITEMS) {
            "message" => self.message(payload),
            call @ ("function_call" | "custom_tool_call" | "local_shell_call" | "web_search_call") => {
                calls::begun(self, call, payload)
            }
            "function_call_output" | "custom_tool_call_output" => calls::ended(self, payload),
            _ if kind.is_one_of(&NO_ITEMS) => Err(NoRecord::Known),
            _ => Err(NoRecord::unknown("response_item/", Some(kind), "")),
        }
    }

    /// With envelopes, words are told as events, too, which hold nothing that the client said in somebody's name.
    fn message(&mut self, payload: Raw<'_>) -> Result<Said, NoRecord> {
        let [role, content] = json::fields(payload, &["role", "content"]).map_err(|_| NoRecord::Known)?;
        let texts = content.map(texts).unwrap_or_default();
        match role.and_then(json::text).map(|role| role.known(&["user", "assistant", "developer"])) {
            Some("user") if self.state.bare => {
                let folder =
                    texts.iter().find_map(|text| text.part(|text| Some(text.split_once("<cwd>")?.1.split_once("</cwd>")?.0)));
                if let Some(cwd) = folder.filter(|_| texts.iter().any(|text| text.starts_with(CLIENT_STARTS[0]))) {
                    self.state.cwd = Some(self.sanitizer.redact(cwd));
                }
                self.prompt(&texts, false)
            }
            Some("assistant") if self.state.bare => Ok(Said::only(texts.iter().filter_map(|text| reply(text, self.sanitizer)))),
            // What hooks told, and the client's own instructions.
            Some("developer") => Ok(Said::only(told_by_hook(&texts, self.sanitizer))),
            _ => Err(NoRecord::Known),
        }
    }

    fn event(&mut self, payload: Raw<'_>) -> Result<Said, NoRecord> {
        let names = ["type", "message", "images", "item", "turn_id", "root_turn_id", "reason", "info", "num_turns", "thread_name"];
        let Ok([kind, message, images, item, turn, root, reason, info, turns, name]) = json::fields(payload, &names) else {
            return Err(NoRecord::Known);
        };
        let kind = kind.and_then(json::text).unwrap_or_default();
        match kind.known(&EVENTS) {
            "user_message" => {
                let has_image = images.is_some_and(|images| !json::elements(images).is_empty());
                self.prompt(&[message.and_then(json::text).unwrap_or_default()], has_image)
            }
            "entered_review_mode" => review::begun(self, payload),
            "exited_review_mode" => review::ended(self, payload),
            "agent_message" => {
                let words = message.and_then(json::text).filter(|text| !text.is(COMPACTED) && !review::is_told(self, text));
                Ok(Said::only(words.and_then(|text| reply(text, self.sanitizer))))
            }
            "item_completed" => items::finished(self, item.ok_or(NoRecord::Known)?),
            "task_started" | "turn_started" => {
                self.state.turn = json::id(root, self.sanitizer).or_else(|| json::id(turn, self.sanitizer));
                self.state.prompted = false;
                self.state.review = None;
                Err(NoRecord::Known)
            }
            "turn_aborted"
                if !self.is_of_subagent() && reason.and_then(json::text).is_some_and(|reason| reason.is("interrupted")) =>
            {
                Ok(Said::only([Item::Interrupted]))
            }
            "turn_aborted" => Err(NoRecord::Known),
            "token_count" => {
                let info = info.ok_or(NoRecord::Known)?;
                let [last, all] = json::fields(info, &["last_token_usage", "total_token_usage"]).map_err(|_| NoRecord::Known)?;
                self.usage(last, all)
            }
            "thread_rolled_back" => {
                self.go_back(json::number(turns).unwrap_or(1));
                Err(NoRecord::Known)
            }
            "thread_name_updated" => {
                let title = name.and_then(json::text).and_then(|name| said::title(&self.sanitizer.clean(name), TitleBy::User));
                Ok(Said { sign: Some(TitleEvent::Renamed), ..Said::only(title) })
            }
            "error" | "stream_error" => {
                let words =
                    message.and_then(json::text).map(|text| shorten(&one_line(&self.sanitizer.clean(text)), MAX_ERROR_CHARS));
                let words = words.filter(|words| !words.is_empty());
                Ok(Said::only(words.map(|words| Item::Evidence(Evidence::ApiError(words)))))
            }
            _ if kind.is_one_of(&NO_EVENTS) => Err(NoRecord::Known),
            _ => Err(NoRecord::unknown("event_msg/", Some(kind), "")),
        }
    }

    /// The user's words. Those of a subagent's task are the assistant's, which its parent's call holds.
    pub(super) fn prompt(&mut self, texts: &[RawText<'_>], has_image: bool) -> Result<Said, NoRecord> {
        if self.is_of_subagent() {
            return Err(NoRecord::Known);
        }
        let own: Vec<_> = texts.iter().filter_map(|text| text.part(|text| Some(without_editor(text)))).collect();
        // As it is written: what stands behind something private is the user's.
        let first = own.iter().map(RawText::trim).find(|text| !text.is_empty()).unwrap_or_default();
        if CLIENT_STARTS.iter().any(|start| first.starts_with(start)) {
            return Err(NoRecord::Known);
        }
        let passed = self.sanitizer.pass_users(&own);
        let goes_on = self.state.turn.is_some() && self.state.prompted;
        let joins = goes_on && !passed.text.trim().is_empty();
        let said = Said::prompt(passed, has_image, joins)?;
        self.state.prompted = true;
        Ok(said)
    }

    fn recap(&self, payload: Raw<'_>) -> Result<Said, NoRecord> {
        let [message] = json::fields(payload, &["message"]).map_err(|_| NoRecord::Known)?;
        let recap = message.and_then(json::text).filter(|_| !self.is_of_subagent()).ok_or(NoRecord::Known)?;
        let recap = recap.part(|text| Some(text.split_once(RECAP_END_OF_PREFACE).map_or(text, |(_, recap)| recap).trim()));
        Ok(Said::only(said::recap(&self.sanitizer.clean(recap.unwrap_or_default()))))
    }

    /// Tokens of one call. Clients repeat such rows, and so do forks: calls are known by how many tokens the thread has used with them. Some
    /// clients forget that number when they resume.
    fn usage(&mut self, last: Option<Raw<'_>>, all: Option<Raw<'_>>) -> Result<Said, NoRecord> {
        let names = ["input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "total_tokens"];
        let counts = |usage: Option<Raw<'_>>| json::fields(usage?, &names).ok().map(|found| found.map(json::number));
        let (Some([input, cached, written, output, _]), Some([.., total])) = (counts(last), counts(all)) else {
            return Err(NoRecord::Known);
        };
        let (cached, written) = (cached.unwrap_or(0), written.unwrap_or(0));
        let tokens = Tokens {
            // The client counts what the cache holds among the input.
            input: input.unwrap_or(0).saturating_sub(cached.saturating_add(written)),
            output: output.unwrap_or(0),
            cache_write: written,
            cache_read: cached,
            ..Tokens::default()
        };
        let total = total.unwrap_or(0);
        self.state.restarts += u64::from(total < self.state.used);
        self.state.used = total;
        // A subagent counts from nothing, as its parent does, whose rows its file repeats: both may come by the same number.
        let thread = self.state.own.as_ref().unwrap_or(&self.state.thread);
        let message = match self.state.restarts {
            0 => format!("{thread} {total}"),
            again => format!("{thread} {total} {again}"),
        };
        let usage = tokens_of_call(message, self.state.model.clone(), tokens).ok_or(NoRecord::Known)?;
        Ok(Said { usage: Some(usage), ..Said::default() })
    }

    /// The user took back the last turns: the next prompt follows what was before them.
    fn go_back(&mut self, turns: u64) {
        for _ in 0..turns {
            let Some(before) = self.state.before.pop_back() else { break };
            self.state.last = Some(before);
        }
    }

    fn record(&mut self, at: Option<Millis>, row: Result<Raw<'_>, &[u8]>, said: Said) -> ParsedLine {
        if !said.tells() {
            return ParsedLine::Empty;
        }
        // By its place, not by its time: a fork that repeats rows gives them new times.
        let place = || match row {
            Ok(payload) => payload.written().key_in(&self.state.thread, self.state.rows),
            Err(line) => RecordKey::from_row(&self.state.thread, self.state.rows, line),
        };
        let key = self.state.chain.filter(|_| self.state.named).unwrap_or_else(place);
        let begins = matches!(said.turn, Turn::Begins | Turn::BeginsPrivate) && said.answered.is_empty();
        let parent = begins.then(|| self.state.last.unwrap_or_else(|| RecordKey::from_row(&self.state.thread, 0, b"")));
        if let Some(parent) = parent {
            if self.state.before.len() == MAX_TURNS_BACK {
                self.state.before.pop_front();
            }
            self.state.before.push_back(parent);
        }
        self.state.last = Some(key);
        said.note_runs(&mut self.runs);
        let place = RowPlace {
            link: ParentLink { key, parent },
            session: &self.place.session,
            agent: self.place.agent.clone(),
            at: at.or(self.state.began),
            cwd: self.state.cwd.clone(),
            branch: self.state.branch.clone(),
            version: self.state.version.clone(),
        };
        said.record(place, self.state.turn.clone())
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The texts of a message's parts.
pub(super) fn texts(content: Raw<'_>) -> Vec<RawText<'_>> {
    match json::text(content) {
        Some(text) => vec![text],
        None => json::elements(content).into_iter().filter_map(text_of_part).collect(),
    }
}

fn text_of_part(part: Raw<'_>) -> Option<RawText<'_>> {
    json::text(json::fields(part, &["text"]).ok()?[0]?)
}

/// A prompt without what an editor or the app put before it.
fn without_editor(text: &str) -> &str {
    let rest = EDITOR_STARTS.iter().find_map(|start| text.trim_start().strip_prefix(start));
    let parts =
        rest.and_then(|rest| EDITOR_ENDS.iter().filter_map(|end| rest.split_once(end)).min_by_key(|(before, _)| before.len()));
    match parts {
        // A private tag before it is not passed over.
        Some((before, own)) if !opens_private(before) => own.trim_start(),
        _ => text,
    }
}
