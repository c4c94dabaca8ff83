//! One message after the other: what it says.

use serde::{Deserialize, Serialize};

use super::tools::{COMMANDS, READS, TOOLS};
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{
    Evidence, FileTouch, Item, MessageUsage, Millis, ParserState, PendingRuns, RecordKey, TitleBy, Tokens, ToolClass, ToolUse,
    Touch,
};
use crate::source::json::{self, Raw};
use crate::source::line::{malformed, text_of_line, timestamp};
use crate::source::parsed::state_with;
use crate::source::patch::{self, absolute};
use crate::source::row::{NoRecord, RowPlace, Said, name_in, parsed, tokens_of_call};
use crate::source::said::{self, reply, told_by_hook};
use crate::source::tool_use::{
    argument, command_line, describe_arguments, line_of, sanitized_text, shell_run, told_in, tool_name, touch,
};
use crate::source::{LineParser, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::one_line;

/// What stands around the user's words; each has an attribute.
const WRAPPERS: [&str; 2] = ["user_input", "user_command"];
/// What begins in front of a hook's words; it has an attribute.
const HOOK: &str = "<hook_context";
/// How the output of a command that failed begins.
const EXITED: &str = "[Command exited with code ";

/// What the next messages of a session need to know of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    before: Option<RecordKey>,
}

/// Parses the messages of a session in order.
pub(super) struct ClineLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    state: State,
    /// Commands whose output is still to come.
    runs: PendingRuns,
}

impl LineParser for ClineLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let names = ["session", "branch", "began", "title", "message"];
        let Ok([session, branch, began, title, message]) = json::fields(&text, &names) else {
            return malformed(&text);
        };
        let [cwd, version] = session.and_then(|session| json::fields(session, &["cwd", "version"]).ok()).unwrap_or_default();
        let cwd = cwd.and_then(json::text).filter(|cwd| !cwd.is_empty()).map(|cwd| self.sanitizer.redact(&cwd));
        let [id, at] = message.and_then(|message| json::fields(message, &["id", "ts"]).ok()).unwrap_or_default();
        let at = at.or(began).and_then(timestamp);
        let key = match id.and_then(json::text) {
            Some(id) => id.key_in("cline", at.map_or(0, Millis::unsigned_abs)),
            None => RecordKey::from_line(&self.place.session, line),
        };
        let of_agent = self.place.agent.is_some();
        let said = match (message, title) {
            (Some(message), _) => self.message(message, key, cwd.as_deref()),
            (None, Some(_)) if of_agent => Err(NoRecord::Known),
            (None, Some(title)) => {
                let title = sanitized_text(title, self.sanitizer);
                Ok(Said::only(title.and_then(|title| said::title(&title, TitleBy::Client))))
            }
            (None, None) if began.is_some() && !of_agent => Err(NoRecord::Began),
            (None, None) => Err(NoRecord::Known),
        };
        let place = RowPlace {
            link: ParentLink { key, parent: self.state.before.filter(|_| message.is_some()) },
            session: &self.place.session,
            agent: self.place.agent.clone(),
            at,
            cwd,
            branch: name_in(branch, self.sanitizer),
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

impl<'p> ClineLines<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        Self { place, sanitizer, state: serde_json::from_str(&state.own).unwrap_or_default(), runs: state.runs.clone() }
    }

    fn message(&self, message: Raw<'_>, key: RecordKey, cwd: Option<&str>) -> Result<Said, NoRecord> {
        let names = ["role", "content", "modelInfo", "metrics"];
        let [role, content, model, metrics] = json::fields(message, &names).map_err(|_| NoRecord::Known)?;
        let content = content.ok_or(NoRecord::Known)?;
        let blocks = json::elements(content);
        let role = role.and_then(json::text);
        match role.as_ref().map(|role| role.known(&["user", "assistant"])) {
            Some("user") => {
                let mut all = Said::default();
                for block in &blocks {
                    all.add(self.result(*block));
                }
                // The task of a subagent is the assistant's words, which the tool use holds.
                match self.prompt(content, &blocks, all.answered.is_empty()) {
                    Ok(prompt) if self.place.agent.is_none() => all.add(prompt),
                    Err(NoRecord::Unknown(name)) => return Err(NoRecord::Unknown(name)),
                    _ => {}
                }
                let texts: Vec<_> = json::text(content).into_iter().chain(texts(&blocks)).collect();
                let told: Vec<_> = texts.iter().filter_map(|text| text.part(told_in_hook)).collect();
                all.items.extend(told_by_hook(&told, self.sanitizer));
                if all.tells() { Ok(all) } else { Err(NoRecord::Known) }
            }
            Some("assistant") => {
                let said: Vec<_> = json::text(content).into_iter().chain(texts(&blocks)).collect();
                let tools = blocks.iter().flat_map(|block| self.tool(*block, cwd));
                let items = reply(RawText::joined(&said, "\n"), self.sanitizer).into_iter().chain(tools).collect();
                let model = model.and_then(|model| json::fields(model, &["id"]).ok()).and_then(|[id]| id);
                let usage = metrics.and_then(|metrics| usage(metrics, model, key, self.sanitizer));
                Ok(Said { items, usage, ..Said::default() })
            }
            _ => Err(NoRecord::unknown("message ", role, "(no role)")),
        }
    }

    /// The user's words, which the client wraps: what else is said in the user's name is the client's.
    fn prompt(&self, content: Raw<'_>, blocks: &[Raw<'_>], may_be_alone: bool) -> Result<Said, NoRecord> {
        let all: Vec<_> = json::text(content).into_iter().chain(texts(blocks)).collect();
        let written: Vec<_> = all.iter().filter_map(|text| text.part(unwrapped)).collect();
        let is_image = |block: &Raw<'_>| kind_of(*block).is_some_and(|kind| kind.is("image"));
        let has_more = may_be_alone && !written.is_empty() && blocks.iter().any(is_image);
        Said::prompt(self.sanitizer.pass_users(&written), has_more, false)
    }

    /// A block of the assistant's, if it is a call of a tool: as many uses as it runs commands or reads files.
    fn tool(&self, block: Raw<'_>, cwd: Option<&str>) -> Vec<Item> {
        let Ok([kind, id, name, given]) = json::fields(block, &["type", "id", "name", "input"]) else { return Vec::new() };
        if kind.and_then(json::text).is_none_or(|kind| !kind.is("tool_use")) {
            return Vec::new();
        }
        let (id, name) = (json::id(id, self.sanitizer).unwrap_or_default(), name.and_then(json::text).unwrap_or_default());
        let sanitizer = self.sanitizer;
        let class = TOOLS.class_of_raw(&name).unwrap_or(ToolClass::Other);
        let kept = tool_name(&name, sanitizer);
        let Some(given) = given else { return vec![Item::Tool(ToolUse::new(id, kept, "", None))] };
        if sanitizer.excludes_any(|| json::strings(given)) {
            return vec![Item::Tool(ToolUse::new(id, kept, EXCLUDED_LINE, None))];
        }
        if let Some(patch) = argument(given, &["input", "patch"], sanitizer).filter(|_| name.is("apply_patch")) {
            return patch::edits((&id, &kept), &patch::changes(&patch.into()), cwd, sanitizer);
        }
        match name.known(&[COMMANDS, READS]) {
            COMMANDS => {
                let commands = listed(given, "commands");
                let one = |(n, command): (usize, &Raw<'_>)| {
                    let [inner] = json::fields(command, &["command"]).unwrap_or_default();
                    let command = sanitized_text(inner.unwrap_or(*command), sanitizer);
                    let line = command_line(command.as_deref(), sanitizer);
                    let tool = ToolUse::new(use_id(&id, n, commands.len()), kept.clone(), line, None);
                    let run = command.and_then(|command| shell_run(&tool, &command, true, sanitizer));
                    std::iter::once(Item::Tool(tool)).chain(run.map(|run| Item::Evidence(Evidence::Ran(run))))
                };
                commands.iter().enumerate().flat_map(one).collect()
            }
            READS => {
                let files = listed(given, "files");
                let one = |(n, file): (usize, &Raw<'_>)| {
                    let (line, file) = self.touched(*file, Touch::Read, cwd);
                    Item::Tool(ToolUse::new(use_id(&id, n, files.len()), kept.clone(), line, file))
                };
                files.iter().enumerate().map(one).collect()
            }
            _ => {
                let (line, file) = match class {
                    // Without the old text the file is written whole.
                    ToolClass::Edit if json::fields(given, &["old_text"]).is_ok_and(|[old]| old.is_none()) => {
                        self.touched(given, Touch::Written, cwd)
                    }
                    ToolClass::Edit => self.touched(given, Touch::Edited, cwd),
                    ToolClass::Subagent => (told_in(given, &["task", "prompt"], sanitizer), None),
                    ToolClass::Question => (told_in(given, &["question"], sanitizer), None),
                    ToolClass::Search => (line_of(&searched(given, sanitizer)), None),
                    _ => (describe_arguments(given, sanitizer), None),
                };
                vec![Item::Tool(ToolUse::new(id, kept, line, file))]
            }
        }
    }

    fn touched(&self, given: Raw<'_>, how: Touch, cwd: Option<&str>) -> (String, Option<FileTouch>) {
        let Ok([path, old, new]) = json::fields(given, &["path", "old_text", "new_text"]) else {
            return (String::new(), None);
        };
        match path.and_then(|path| sanitized_text(path, self.sanitizer)) {
            Some(path) => touch(absolute(&one_line(&path), cwd), how, &[old], &[new]),
            None => (describe_arguments(given, self.sanitizer), None),
        }
    }

    /// A block in the user's name, if it is the result of a call: as many ends as the call has uses.
    fn result(&self, block: Raw<'_>) -> Said {
        let Ok([kind, id, content, is_error]) = json::fields(block, &["type", "tool_use_id", "content", "is_error"]) else {
            return Said::default();
        };
        if kind.and_then(json::text).is_none_or(|kind| !kind.is("tool_result")) {
            return Said::default();
        }
        let id = json::id(id, self.sanitizer).unwrap_or_default();
        let failed = json::is_true(is_error);
        let parts = content.map(json::elements).unwrap_or_default();
        let mut all = Said::default();
        for (n, part) in parts.iter().enumerate() {
            all.add(self.ended(use_id(&id, n, parts.len()), &part.written(), failed));
        }
        // A single end is written as a text.
        if let Some(text) = content.and_then(json::text).filter(|_| parts.is_empty()) {
            all.add(self.ended(id, &text, failed));
        }
        all
    }

    fn ended(&self, id: String, end: &RawText<'_>, failed: bool) -> Said {
        let [result, text, error, success] = json::fields(end, &["result", "text", "error", "success"]).unwrap_or_default();
        let error = error.and_then(json::text);
        let output = match result.or(text).and_then(json::text) {
            Some(output) => output,
            None if Raw::of(end).is_ok_and(json::is_object) => error.clone().unwrap_or_default(),
            None => end.clone(),
        };
        let ([output], code) = output.apart(|output| {
            let (code, output) = without_exit(output);
            ([output.into()], code)
        });
        let ok = !failed && error.is_none() && success.is_none_or(|success| json::is_true(Some(success)));
        Said::ended(id, false, (ok && code.is_none_or(|code| code == 0), code, &output), &self.runs, self.sanitizer)
    }
}

/// The id of one of several uses that are one call.
fn use_id(call: &str, n: usize, all: usize) -> String {
    if all == 1 { call.to_owned() } else { format!("{call}/{n}") }
}

/// What a call lists: one of it may stand there without a list.
fn listed<'l>(given: Raw<'l>, name: &str) -> Vec<Raw<'l>> {
    let Some(list) = json::fields(given, &[name]).ok().and_then(|[list]| list) else { return Vec::new() };
    let all = json::elements(list);
    if all.is_empty() && !list.is("[]") { vec![list] } else { all }
}

fn searched(given: Raw<'_>, sanitizer: &Sanitizer) -> String {
    let all = listed(given, "queries").into_iter().filter_map(|query| sanitized_text(query, sanitizer));
    all.collect::<Vec<_>>().join(" / ")
}

fn kind_of(block: Raw<'_>) -> Option<RawText<'_>> {
    json::fields(block, &["type"]).ok()?[0].and_then(json::text)
}

fn texts<'l>(blocks: &[Raw<'l>]) -> impl Iterator<Item = RawText<'l>> {
    blocks.iter().filter_map(|block| {
        let [kind, text] = json::fields(block, &["type", "text"]).ok()?;
        text.filter(|_| kind.and_then(json::text).is_some_and(|kind| kind.is("text"))).and_then(json::text)
    })
}

/// What a hook told in a text of the client's; `None` if none did.
fn told_in_hook(text: &str) -> Option<&str> {
    let (_, told) = text.trim_start().strip_prefix(HOOK)?.split_once('>')?;
    Some(told.trim_start())
}

/// The user's words in a text of the client's; `None` if it has none.
fn unwrapped(text: &str) -> Option<&str> {
    let of = |name: &&str| {
        let (_, inside) = text.split_once(&format!("<{name} "))?;
        let (_, inside) = inside.split_once('>')?;
        Some(inside.rsplit_once(&format!("</{name}>")).map_or(inside, |(inside, _)| inside))
    };
    WRAPPERS.iter().find_map(of)
}

/// An output without the client's first line, and the exit code in that line.
fn without_exit(text: &str) -> (Option<i64>, &str) {
    let whole = || {
        let (code, rest) = text.trim_start().strip_prefix(EXITED)?.split_once(']')?;
        Some((Some(code.trim().parse().ok()?), rest.trim_start()))
    };
    whole().unwrap_or((None, text))
}

fn usage(metrics: Raw<'_>, model: Option<Raw<'_>>, key: RecordKey, sanitizer: &Sanitizer) -> Option<MessageUsage> {
    let names = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"];
    let [input, output, cache_read, cache_write] =
        json::fields(metrics, &names).ok()?.map(|count| json::number(count).unwrap_or(0));
    // The client counts what the cache holds among the input.
    let input = input.saturating_sub(cache_read).saturating_sub(cache_write);
    let tokens = Tokens { input, output, cache_read, cache_write, ..Tokens::default() };
    tokens_of_call(key.to_string(), name_in(model, sanitizer), tokens)
}
