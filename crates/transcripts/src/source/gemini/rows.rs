//! One row after the other: what it says, and what the next ones need to know of it.
//!
//! A message that comes again has the key that it had, and each of its items the number: what is stored already is known by them, what came
//! to it is new.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::tools::{TODOS, TOOLS, WRITE};
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{
    Answer, Evidence, FIRST_EVIDENCE_PART, FileTouch, Item, MessageUsage, ParserState, PendingRuns, RecordKey, ShellRun, TitleBy,
    Tokens, ToolClass, ToolUse, Touch, Turn,
};
use crate::source::json::{self, Raw};
use crate::source::line::{MAX_TEXT_CHARS, malformed, text_of_line, timestamp};
use crate::source::parsed::state_with;
use crate::source::patch::absolute;
use crate::source::row::{NoRecord, RowPlace, Said, name_in, outcome_of, parsed, printed, seen_end, tokens_of_call, unended};
use crate::source::said::{self, reply, told_by_hook};
use crate::source::tool_use::{
    argument, command_in, describe_arguments, line_of, sanitized_text, todos, told_in, tool_name, touch,
};
use crate::source::{LineParser, NO_TYPE, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::{head_and_tail, one_line};

/// Messages that neither the user nor the assistant said.
const NOT_SAID: [&str; 3] = ["info", "error", "warning"];
/// How what the client itself asks its model begins, in the user's name.
pub(super) const CLIENT_STARTS: [&str; 2] = ["<session_context>", "System: Potential loop detected."];
/// The same in full: a turn that the model has not ended.
const CLIENT_SAYS: &str = "Please continue.";
/// Around what a hook told, whose own angle brackets are entities.
const HOOK_START: &str = "<hook_context>";
const HOOK_END: &str = "</hook_context>";
/// Before the content of files that the prompt names; what follows is theirs.
const FILES_START: &str = "--- Content from referenced files ---";
/// With what the client lets its model answer a recap.
pub(super) const RECAP_ANSWER: &str = "Got it. Thanks for the additional context!";
/// Around what a tool printed.
const OUTPUT_START: &str = "<untrusted_context>\n";
const OUTPUT_END: &str = "\n</untrusted_context>";
/// The client's lines behind a command's own output.
const SHELL_LINES: [&str; 4] = ["Error: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];
const EXIT_LINE: &str = "Exit Code: ";
/// What stands for the output of a command that printed nothing.
const NO_OUTPUT: &str = "(empty)";
/// What a refused tool use is answered with.
const REFUSAL: &str = "User denied execution";

/// Numbers of items that a call takes up, used or not: its use comes first, then how it ended.
const PARTS_OF_CALL: i64 = 16;
/// The same of evidence: that it ran, and what it printed.
const EVIDENCE_OF_CALL: i64 = 2;
/// The most prompts that are remembered: a user may go back to one.
const MAX_BACK: usize = 64;

/// What the next rows of a file need to know of those before. Messages are known by the keys of their records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// The last message, and the one before it.
    last: Option<String>,
    before: Option<String>,
    /// The last prompts, each with the message that it followed.
    prompts: VecDeque<(String, Option<String>)>,
}

/// Parses the rows of a file in order.
pub(super) struct GeminiLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    cwd: Option<String>,
    /// The subagent whose row is read, of a document in which all say what they say.
    subagent: Option<String>,
    state: State,
    /// Commands whose output is still to come.
    runs: PendingRuns,
}

/// What a message says, with the number of each item.
#[derive(Default)]
struct Numbered {
    said: Said,
    parts: Vec<i64>,
}

/// A call of a tool, as the message has it.
struct Call<'l> {
    id: String,
    name: String,
    class: ToolClass,
    given: Option<Raw<'l>>,
}

impl LineParser for GeminiLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let names = [
            "$set", "$rewindTo", "sessionId", "startTime", "id", "timestamp", "type", "content", "displayContent", "tokens",
            "model", "toolCalls", "$subagent",
        ];
        let Ok([set, back, session, began, id, at, kind, content, shown, tokens, model, calls, subagent]) =
            json::fields(&text, &names)
        else {
            return malformed(&text);
        };
        self.subagent = self.place.agent.clone().or_else(|| subagent.and_then(json::text).map(|id| self.sanitizer.redact(&id)));
        if let Some(id) = back.and_then(json::text) {
            self.go_back(&id);
            return ParsedLine::Empty;
        }
        let at = at.or(began).and_then(timestamp);
        let Some(id) = id.and_then(json::text) else {
            let key = RecordKey::from_line(&self.place.session, line);
            return match (set, session) {
                (Some(set), _) => self.update(set, key),
                (None, Some(_)) if self.place.agent.is_none() => self.parsed(Err(NoRecord::Began), (key, None), at),
                (None, Some(_)) => ParsedLine::Empty,
                (None, None) => self.parsed(Err(NoRecord::unknown("", None, NO_TYPE)), (key, None), at),
            };
        };
        let key = id.key(&self.place.session);
        let is_known = self.is_known_prompt(key);
        let parent = self.follow(key);
        let parts = content.map(parts_of).unwrap_or_default();
        let kind = kind.and_then(json::text);
        let said = match kind.as_ref().map(|kind| kind.known(&["user", "gemini"])) {
            // The task of a subagent is the assistant's words, which the tool use holds.
            Some("user") if is_known || self.subagent.is_some() => Err(NoRecord::Known),
            Some("user") => self.prompt(&parts, shown).map(Numbered::from),
            Some("gemini") => Ok(self.reply(&parts, calls, tokens.and_then(|tokens| usage(tokens, model, key, self.sanitizer)))),
            _ if kind.as_ref().is_some_and(|kind| kind.is_one_of(&NOT_SAID)) => Err(NoRecord::Known),
            _ => Err(NoRecord::unknown("", kind, NO_TYPE)),
        };
        if said
            .as_ref()
            .is_ok_and(|all| matches!(all.said.turn, Turn::Begins | Turn::BeginsPrivate) && all.said.answered.is_empty())
        {
            self.note_prompt(key);
        }
        self.parsed(said, (key, parent), at)
    }

    fn state(&self) -> ParserState {
        state_with(&self.runs, &self.state)
    }
}

impl From<Said> for Numbered {
    fn from(said: Said) -> Self {
        Self { said, parts: Vec::new() }
    }
}

impl Numbered {
    fn add(&mut self, part: i64, item: Option<Item>) {
        self.parts.extend(item.as_ref().map(|_| part));
        self.said.items.extend(item);
    }
}

impl<'p> GeminiLines<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        let cwd = place.cwd.as_ref().map(|cwd| sanitizer.redact(cwd));
        let own = serde_json::from_str(&state.own).unwrap_or_default();
        Self { place, sanitizer, cwd, subagent: place.agent.clone(), state: own, runs: state.runs.clone() }
    }

    fn parsed(
        &mut self,
        said: Result<Numbered, NoRecord>,
        (key, parent): (RecordKey, Option<RecordKey>),
        at: Option<i64>,
    ) -> ParsedLine {
        let place = RowPlace {
            link: ParentLink { key, parent },
            session: &self.place.session,
            agent: self.subagent.clone(),
            at,
            cwd: self.cwd.clone(),
            branch: None,
            version: None,
        };
        let mut parts = Vec::new();
        let said = said.map(|all| {
            parts = all.parts;
            all.said
        });
        let mut line = parsed(said, place, &mut self.runs, self.sanitizer);
        if let ParsedLine::Record(row) = &mut line
            && !parts.is_empty()
        {
            // Evidence stands last in a record, and its numbers are the highest.
            parts.sort_unstable();
            row.parts = parts;
        }
        line
    }

    /// The message that this one follows; the first follows the session itself, so that it can be taken back, too.
    fn follow(&mut self, key: RecordKey) -> Option<RecordKey> {
        let key = key.to_string();
        // One that comes again follows what it followed.
        if self.state.last.as_ref() != Some(&key) {
            self.state.before = self.state.last.replace(key);
        }
        let session = &self.place.session;
        Some(self.state.before.as_deref().and_then(RecordKey::read).unwrap_or_else(|| RecordKey::from_uuid(session, session)))
    }

    fn is_known_prompt(&self, key: RecordKey) -> bool {
        let key = key.to_string();
        self.state.prompts.iter().any(|(prompt, _)| *prompt == key)
    }

    fn note_prompt(&mut self, key: RecordKey) {
        if self.state.prompts.len() == MAX_BACK {
            self.state.prompts.pop_front();
        }
        self.state.prompts.push_back((key.to_string(), self.state.before.clone()));
    }

    /// The user took a prompt back, and all behind it: what comes next follows what the prompt did.
    fn go_back(&mut self, id: &RawText<'_>) {
        let key = id.key(&self.place.session).to_string();
        if let Some(at) = self.state.prompts.iter().rposition(|(prompt, _)| *prompt == key) {
            self.state.last = self.state.prompts[at].1.clone();
            self.state.before = None;
            self.state.prompts.truncate(at);
        }
    }

    /// What is set for the whole session. A list of messages has nothing new but a recap: the client leaves out of it what it needs no more,
    /// and copies some under other ids.
    fn update(&mut self, set: Raw<'_>, key: RecordKey) -> ParsedLine {
        if self.place.agent.is_some() {
            return ParsedLine::Empty;
        }
        let [messages, summary] = json::fields(set, &["messages", "summary"]).unwrap_or_default();
        if let Some((id, at, recap)) = messages.and_then(|messages| recap_in(messages, self.sanitizer)) {
            let key = id.key(&self.place.session);
            let parent = self.state.last.as_deref().and_then(RecordKey::read);
            return self.parsed(Ok(Said::only([recap]).into()), (key, parent), at);
        }
        let title = summary.and_then(|text| sanitized_text(text, self.sanitizer));
        match title.and_then(|title| said::title(&title, TitleBy::Client)) {
            Some(title) => self.parsed(Ok(Said::only([title]).into()), (key, None), None),
            None => ParsedLine::Empty,
        }
    }

    /// The user's words as they were shown, without what the client and hooks put beside them, and what a hook of ours told.
    fn prompt(&self, parts: &[Raw<'_>], shown: Option<Raw<'_>>) -> Result<Said, NoRecord> {
        let has = |part: &Raw<'_>, name: &str| json::fields(part, &[name]).is_ok_and(|[value]| value.is_some());
        // Results of tools, which the calls have, too.
        if parts.iter().any(|part| has(part, "functionResponse")) {
            return Err(NoRecord::Known);
        }
        let mut told = Vec::new();
        let written: Vec<RawText<'_>> =
            texts(parts).take_while(|text| !text.trim().starts_with(FILES_START)).map(|text| own(text, &mut told)).collect();
        let shown: Vec<RawText<'_>> =
            texts(&shown.map(parts_of).unwrap_or_default()).map(|text| own(text, &mut Vec::new())).collect();
        let is_said = |text: &&RawText<'_>| !text.trim().is_empty();
        let mut words = if shown.iter().any(|text| is_said(&text)) { shown } else { written };
        words.retain(|text| is_said(&text));
        if words.first().is_some_and(|text| text.is(CLIENT_SAYS) || CLIENT_STARTS.iter().any(|start| text.starts_with(start))) {
            return Err(NoRecord::Known);
        }
        let has_more = parts.iter().any(|part| json::is_object(*part) && !has(part, "text"));
        let mut said = Said::prompt(self.sanitizer.pass_users(&words), has_more, false)?;
        said.items.extend(told_by_hook(&told, self.sanitizer));
        Ok(said)
    }

    fn reply(&self, parts: &[Raw<'_>], calls: Option<Raw<'_>>, usage: Option<MessageUsage>) -> Numbered {
        let said = RawText::joined(&texts(parts).collect::<Vec<_>>(), "\n");
        let mut all = Numbered { said: Said { usage, ..Said::default() }, parts: Vec::new() };
        all.add(0, reply(&said, self.sanitizer));
        for (n, call) in (0..).zip(calls.map(json::elements).unwrap_or_default()) {
            self.add_call(call, n, &mut all);
        }
        all
    }

    /// Adds the `n`th call of a message, and how it ended, if it has.
    fn add_call(&self, call: Raw<'_>, n: i64, all: &mut Numbered) {
        let [id, name, given, result, status] = json::fields(call, &["id", "name", "args", "result", "status"]).unwrap_or_default();
        let name = name.and_then(json::text).unwrap_or_default();
        let name = name.made(of_server);
        let class = TOOLS.class_of_raw(&name).unwrap_or(ToolClass::Other);
        let call =
            Call { id: json::id(id, self.sanitizer).unwrap_or_default(), name: tool_name(&name, self.sanitizer), class, given };
        let (part, evidence) = (1 + n * PARTS_OF_CALL, FIRST_EVIDENCE_PART + n * EVIDENCE_OF_CALL);
        let (used, run) = self.tool(&call);
        all.add(part, Some(used));
        let kinds = run.as_ref().map(ShellRun::kinds);
        all.add(evidence, run.map(|run| Item::Evidence(Evidence::Ran(run))));
        let status = status.and_then(json::text).map_or("", |status| status.known(&["success", "error", "cancelled"]));
        if status.is_empty() {
            return;
        }
        let (text, is_error) = result.map(output_of).unwrap_or_default();
        all.said.answered.push(call.id.clone());
        if call.class == ToolClass::Question
            && let Some((said, private)) = answers(&call, &text, self.sanitizer)
        {
            all.said.fenced.push_str(&private.fenced);
            if private.turn == Turn::BeginsPrivate {
                all.said.turn = Turn::BeginsPrivate;
            }
            (part + 1..part + PARTS_OF_CALL).zip(said).for_each(|(part, answer)| all.add(part, Some(answer)));
            return;
        }
        let ([output], code) = match call.class {
            ToolClass::Shell => text.apart(|text| {
                let (code, output) = shell_output(text);
                ([output], code)
            }),
            _ => ([RawText::from(&text)], None),
        };
        // The client calls a command that failed a success.
        let ok = code.map_or(!is_error && status == "success", |code| code == 0);
        let refused = status == "cancelled" && text.contains(REFUSAL);
        let Some(ok) = kinds.map_or(Some(ok), |_| seen_end(ok, code, &text)) else {
            all.add(evidence + 1, Some(unended(call.id)));
            return;
        };
        all.add(part + 1, outcome_of(&call.id, refused, (ok, code, &output), self.sanitizer));
        let told = kinds.filter(|_| !refused).and_then(|kinds| printed(&call.id, ok, &output, kinds, self.sanitizer));
        all.add(evidence + 1, told);
    }

    fn tool(&self, call: &Call<'_>) -> (Item, Option<ShellRun>) {
        let (sanitizer, id, name) = (self.sanitizer, call.id.as_str(), call.name.as_str());
        let plain = |line: &str| (Item::Tool(ToolUse::new(id, name, line, None)), None);
        let Some(given) = call.given else { return plain("") };
        if name == TODOS
            && let Some(todos) = todos(given, "todos", &["description"], sanitizer)
        {
            return (todos, None);
        }
        if sanitizer.excludes_any(|| json::strings(given)) {
            return plain(EXCLUDED_LINE);
        }
        let mut run = None;
        let (line, file) = match call.class {
            ToolClass::Shell => {
                let is_background = json::fields(given, &["is_background"]).is_ok_and(|[is]| json::is_true(is));
                let (line, ran) = command_in(given, id, !is_background, sanitizer);
                run = ran;
                (line, None)
            }
            ToolClass::Edit if name == WRITE => self.touched(given, Touch::Written),
            ToolClass::Edit => self.touched(given, Touch::Edited),
            ToolClass::Read => self.touched(given, Touch::Read),
            ToolClass::Subagent => (told_in(given, &["prompt", "objective", "agent_name"], sanitizer), None),
            ToolClass::Plan => ("plan".to_owned(), None),
            ToolClass::Question => (line_of(&questions(given, sanitizer).join(" / ")), None),
            _ => (describe_arguments(given, sanitizer), None),
        };
        (Item::Tool(ToolUse::new(id, name, line, file)), run)
    }

    fn touched(&self, given: Raw<'_>, how: Touch) -> (String, Option<FileTouch>) {
        let names = ["file_path", "absolute_path", "old_string", "new_string", "content"];
        let [path, older, old, new, content] = json::fields(given, &names).unwrap_or_default();
        match path.or(older).and_then(|path| sanitized_text(path, self.sanitizer)) {
            Some(path) => touch(absolute(&one_line(&path), self.cwd.as_deref()), how, &[old], &[new, content]),
            None => (describe_arguments(given, self.sanitizer), None),
        }
    }
}

/// The parts of a content: one, or a list.
fn parts_of(content: Raw<'_>) -> Vec<Raw<'_>> {
    if content.is_list() { json::elements(content) } else { vec![content] }
}

/// The texts of parts, without thoughts.
fn texts<'l>(parts: &[Raw<'l>]) -> impl Iterator<Item = RawText<'l>> {
    parts.iter().filter_map(|part| {
        json::text(*part).or_else(|| {
            let [text, thought] = json::fields(part, &["text", "thought"]).ok()?;
            text.filter(|_| !json::is_true(thought)).and_then(json::text)
        })
    })
}

/// A text of the user's without what hooks told before it, which is added to `told`.
fn own<'t>(text: RawText<'t>, told: &mut Vec<RawText<'static>>) -> RawText<'t> {
    if !text.trim().starts_with(HOOK_START) {
        return text;
    }
    told.extend(text.all_made(|text| {
        let mut told = Vec::new();
        without_hooks(text, |hook| told.push(hook.replace("&lt;", "<").replace("&gt;", ">").trim_start().to_owned()));
        told
    }));
    text.part(|text| Some(without_hooks(text, |_| {}))).unwrap_or_default().into_owned()
}

/// A text of the user's without what hooks told before it, each of which is handed over.
pub(super) fn without_hooks(text: &str, mut told: impl FnMut(&str)) -> &str {
    let mut rest = text;
    while let Some((hook, after)) = rest.trim_start().strip_prefix(HOOK_START).and_then(|rest| rest.split_once(HOOK_END)) {
        told(hook);
        rest = after.trim_start();
    }
    rest
}

/// The recap in a list of messages with which a conversation goes on: its id, its time and its words.
fn recap_in<'l>(messages: Raw<'l>, sanitizer: &Sanitizer) -> Option<(RawText<'l>, Option<i64>, Item)> {
    let all: Vec<_> = json::elements(messages)
        .into_iter()
        .filter_map(|message| json::fields(message, &["id", "timestamp", "type", "content"]).ok())
        .collect();
    let text =
        |content: Option<Raw<'_>>| RawText::joined(&texts(&content.map(parts_of).unwrap_or_default()).collect::<Vec<_>>(), "\n");
    let is = |kind: Option<Raw<'_>>, what: &str| kind.and_then(json::text).is_some_and(|kind| kind.is(what));
    all.windows(2).find_map(|pair| {
        let [[id, at, kind, content], [_, _, answered_by, answer]] = pair else { return None };
        let is_recap = is(*kind, "user") && is(*answered_by, "gemini") && text(*answer).trim().is(RECAP_ANSWER);
        let id = id.filter(|_| is_recap).and_then(json::text)?;
        let recap = said::recap(sanitizer.clean(text(*content)).trim())?;
        Some((id, at.and_then(timestamp), recap))
    })
}

/// A tool of a server's under the name that such tools have: `mcp_<server>_<tool>` is the client's own.
fn of_server(name: &str) -> Cow<'_, str> {
    let parts = name.strip_prefix("mcp_").filter(|rest| !rest.starts_with('_')).and_then(|rest| rest.split_once('_'));
    parts.map_or(Cow::Borrowed(name), |(server, tool)| format!("mcp__{server}__{tool}").into())
}

/// What a tool answered, without what the client puts around it, and whether it is an error.
fn output_of(result: Raw<'_>) -> (RawText<'_>, bool) {
    let responses: Vec<_> = parts_of(result).into_iter().filter_map(response_in).collect();
    let is_error = responses.iter().any(|[_, error]| error.is_some());
    let told = responses.iter().filter_map(|[output, error]| error.or(*output).and_then(json::text));
    let text = json::text(result).unwrap_or_else(|| RawText::joined(&told.collect::<Vec<_>>(), "\n"));
    let within = text.part(|text| text.trim().strip_prefix(OUTPUT_START)?.strip_suffix(OUTPUT_END)).map(RawText::into_owned);
    (within.unwrap_or(text), is_error)
}

/// The output and the error in a part that is a tool's response.
fn response_in(part: Raw<'_>) -> Option<[Option<Raw<'_>>; 2]> {
    let [response] = json::fields(part, &["functionResponse"]).ok()?;
    let [response] = json::fields(response?, &["response"]).ok()?;
    json::fields(response?, &["output", "error"]).ok()
}

/// A command's own output, without the client's lines behind it, and the exit code in them.
fn shell_output(text: &str) -> (Option<i64>, Cow<'_, str>) {
    let Some(mut output) = text.strip_prefix("Output: ") else {
        return older_shell_output(text).unwrap_or((None, Cow::Borrowed(text)));
    };
    let mut code = None;
    while let Some((before, last)) = output.trim_end().rsplit_once('\n') {
        match last.strip_prefix(EXIT_LINE).and_then(|code| code.trim().parse().ok()) {
            Some(told) if code.is_none() => code = Some(told),
            None if code.is_none() && SHELL_LINES.iter().any(|start| last.starts_with(start)) => {}
            _ => break,
        }
        output = before;
    }
    (code, Cow::Borrowed(if output == NO_OUTPUT { "" } else { output }))
}

/// The same as older versions told it: the command and its folder first, then what it printed, in the oldest as two streams, then all lines
/// about it.
fn older_shell_output(text: &str) -> Option<(Option<i64>, Cow<'_, str>)> {
    let (_, rest) = text.strip_prefix("Command: ")?.split_once("\nDirectory: ")?;
    let (_, mut rest) = rest.split_once('\n')?;
    let mut code = None;
    while let Some((before, last)) = rest.rsplit_once('\n') {
        match last.strip_prefix(EXIT_LINE) {
            Some(told) => code = told.trim().parse().ok(),
            None if SHELL_LINES.iter().any(|start| last.starts_with(start)) => {}
            None => break,
        }
        rest = before;
        // It is the first of them.
        if last.starts_with(SHELL_LINES[0]) {
            break;
        }
    }
    let streams = match rest.strip_prefix("Stdout: ") {
        Some(rest) => rest.split_once("\nStderr: ").map_or([rest, ""], |(out, err)| [out, err]),
        None => [rest.strip_prefix("Output: ")?, ""],
    };
    let printed = |text: &&str| !text.is_empty() && *text != NO_OUTPUT;
    Some((code, Cow::Owned(streams.into_iter().filter(printed).collect::<Vec<_>>().join("\n"))))
}

fn questions(given: Raw<'_>, sanitizer: &Sanitizer) -> Vec<String> {
    let all = json::fields(given, &["questions"]).ok().and_then(|[all]| all).map(json::elements).unwrap_or_default();
    all.into_iter().filter_map(|one| argument(one, &["question", "header"], sanitizer)).collect()
}

/// What the user chose or wrote in a dialog, each behind the question; `None` if it was no answer.
fn answers(call: &Call<'_>, text: &RawText<'_>, sanitizer: &Sanitizer) -> Option<(Vec<Item>, Said)> {
    let [given] = json::fields(text, &["answers"]).ok()?;
    let given = json::fields_by_name(given?)?;
    let asked = call.given.map(|given| questions(given, sanitizer)).unwrap_or_default();
    let (mut items, mut rest) = (Vec::new(), Said::default());
    for (number, answer) in given {
        let Some(answer) = json::text(answer) else { continue };
        let passed = sanitizer.pass(answer.trim());
        rest.fenced.push_str(&passed.fenced);
        if passed.is_all_private() {
            rest.turn = Turn::BeginsPrivate;
        } else if !passed.text.is_empty() {
            let asked = number.tells(|number| number.parse::<usize>().ok()).and_then(|n| asked.get(n)).cloned().unwrap_or_default();
            items.push(Item::Answer(Answer { said: head_and_tail(&passed.text, MAX_TEXT_CHARS), asked }));
        }
    }
    Some((if rest.turn == Turn::BeginsPrivate { Vec::new() } else { items }, rest))
}

fn usage(tokens: Raw<'_>, model: Option<Raw<'_>>, key: RecordKey, sanitizer: &Sanitizer) -> Option<MessageUsage> {
    let counts = json::fields(tokens, &["input", "output", "cached", "thoughts", "tool"]).ok()?;
    let [input, output, cached, thoughts, tool] = counts.map(|count| json::number(count).unwrap_or(0));
    // The client counts what the cache holds among the input, and neither thoughts nor what tools put in among the rest.
    let tokens =
        Tokens { input: (input + tool).saturating_sub(cached), output: output + thoughts, cache_read: cached, ..Tokens::default() };
    tokens_of_call(key.to_string(), name_in(model, sanitizer), tokens)
}
