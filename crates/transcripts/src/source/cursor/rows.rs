//! One row after the other: what it says.

use jiff::fmt::strtime;
use serde::{Deserialize, Serialize};

use super::tools::{DELETE, OF_SERVER, TODOS, TOOLS, WRITE};
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer, leaves_private_open};
use crate::session::{Evidence, FileTouch, Item, Millis, ParserState, PendingRuns, RecordKey, ToolClass, ToolUse, Touch};
use crate::source::json::{self, Raw};
use crate::source::line::{MAX_TEXT_CHARS, malformed, plausible, text_of_line};
use crate::source::parsed::state_with;
use crate::source::patch::{self, absolute};
use crate::source::row::{NoRecord, RowPlace, Said, parsed};
use crate::source::said::{begins_with_tag, reply};
use crate::source::tool_use::{argument, command_in, describe_arguments, sanitized_text, todos, told_in, tool_name, touch};
use crate::source::{LineParser, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::{head_and_tail, one_line};

/// Around the user's words, and when they were said.
const QUERY: &str = "user_query";
const TIME: &str = "timestamp";
/// The tags with which texts begin that the client puts before or behind these.
const CLIENT_TAGS: [&str; 18] = [
    "additional_data", "agent_skills", "agent_transcripts", "attached_files", "cursor_commands", "git_status", "hooks_context",
    "image_files", "manually_attached_skills", "mcp_file_system", "open_and_recently_viewed_files", "project_layout", "rules",
    "system_notification", "system_reminder", "task_notification", "terminal_files_information", "user_info",
];
/// A time as the client writes it, without the offset behind it: `Sunday, Aug 2, 2026, 3:51 AM (UTC-7)`.
const TIME_FORM: &str = "%A, %b %d, %Y, %I:%M %p";
/// How far a zone's time is from UTC at most.
const MAX_OFFSET_MINUTES: i64 = 14 * 60;
/// What stands for thoughts that are not written.
const REDACTED: &str = "[REDACTED]";

/// What the next rows of a file need to know of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// Rows so far: what tells one from another that says the same.
    rows: u64,
    before: Option<RecordKey>,
}

/// Parses the rows of a file in order.
pub(super) struct CursorLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    state: State,
    /// Commands whose output is still to come.
    runs: PendingRuns,
}

impl LineParser for CursorLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let Ok([role, message, kind, status, error]) = json::fields(&text, &["role", "message", "type", "status", "error"]) else {
            return malformed(&text);
        };
        self.state.rows += 1;
        let whose = self.place.agent.as_ref().unwrap_or(&self.place.session);
        let key = RecordKey::from_row(whose, self.state.rows, line);
        let content = message.and_then(|message| json::fields(message, &["content"]).ok()).and_then(|[content]| content);
        let blocks = content.map(json::elements).unwrap_or_default();
        let texts: Vec<_> = content.and_then(json::text).into_iter().chain(texts(&blocks)).collect();
        let cwd = self.place.cwd.as_deref().map(|cwd| self.sanitizer.redact(cwd));
        let (role, kind) = (role.and_then(json::text), kind.and_then(json::text));
        let is_of = |word: &'static str| move |raw: &RawText<'_>| raw.known(&[word]);
        let said = match (role.as_ref().map(|role| role.known(&["user", "assistant"])), kind.as_ref().map(is_of("turn_ended"))) {
            // The task of a subagent is the assistant's words, which the tool use holds.
            (Some("user"), _) if self.place.agent.is_some() => Ok(self.results(&blocks)),
            (Some("user"), _) => self.prompt(&texts, &blocks),
            (Some("assistant"), _) => Ok(self.reply(&texts, &blocks, cwd.as_deref())),
            (None, Some("turn_ended")) => {
                let tells = |raw: Option<Raw<'_>>| {
                    raw.and_then(json::text).is_some_and(|text| text.tells(|text| text.to_lowercase().contains("abort")))
                };
                Ok(Said::only((tells(status) || tells(error)).then_some(Item::Interrupted)))
            }
            _ => Err(NoRecord::unknown("", role.or(kind), "(no role)")),
        };
        let place = RowPlace {
            link: ParentLink { key, parent: self.state.before.replace(key) },
            session: &self.place.session,
            agent: self.place.agent.clone(),
            at: texts.iter().find_map(|text| text.tells(|text| inside(text, TIME).next().map(time_of))).flatten(),
            cwd,
            branch: None,
            version: None,
        };
        parsed(said, place, &mut self.runs, self.sanitizer)
    }

    fn state(&self) -> ParserState {
        state_with(&self.runs, &self.state)
    }
}

impl<'p> CursorLines<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        Self { place, sanitizer, state: serde_json::from_str(&state.own).unwrap_or_default(), runs: state.runs.clone() }
    }

    /// The user's words, without what the client puts around them.
    fn prompt(&self, texts: &[RawText<'_>], blocks: &[Raw<'_>]) -> Result<Said, NoRecord> {
        let mut all = self.results(blocks);
        let queries: Vec<RawText<'_>> = texts.iter().flat_map(|text| text.parts(queries)).collect();
        let passed = if queries.is_empty() {
            let own: Vec<_> = texts.iter().filter_map(|text| text.part(plain)).collect();
            let others: Vec<_> = texts.iter().filter(|text| text.tells(|text| plain(text).is_none())).cloned().collect();
            self.sanitizer.pass_users_beside(&own, &others)
        } else {
            self.sanitizer.pass_users(&queries)
        };
        let is_image = |block: &Raw<'_>| {
            json::fields(block, &["type"]).is_ok_and(|[kind]| kind.and_then(json::text).is_some_and(|kind| kind.is("image")))
        };
        match Said::prompt(passed, blocks.iter().any(is_image), false) {
            Ok(said) => all.add(said),
            Err(_) if all.tells() => {}
            Err(no) => return Err(no),
        }
        Ok(all)
    }

    fn reply(&self, texts: &[RawText<'_>], blocks: &[Raw<'_>], cwd: Option<&str>) -> Said {
        let said: Vec<_> =
            texts.iter().filter_map(|text| text.part(|text| Some(text.trim_end().trim_end_matches(REDACTED).trim_end()))).collect();
        let mut all = Said::only(reply(RawText::joined(&said, "\n").trim(), self.sanitizer));
        for (n, block) in blocks.iter().enumerate() {
            all.items.extend(self.tool(*block, n, cwd));
        }
        all.add(self.results(blocks));
        all
    }

    /// A block of the assistant's, if it is a call of a tool. Where calls have no ids, their place is one.
    fn tool(&self, block: Raw<'_>, n: usize, cwd: Option<&str>) -> Vec<Item> {
        let Ok([kind, id, name, given]) = json::fields(block, &["type", "id", "name", "input"]) else { return Vec::new() };
        if kind.and_then(json::text).is_none_or(|kind| !kind.is("tool_use")) {
            return Vec::new();
        }
        let id = json::id(id, self.sanitizer).unwrap_or_else(|| format!("{}/{n}", self.state.rows));
        let name = name.and_then(json::text).unwrap_or_default();
        let (name, given) = given.filter(|_| name.is(OF_SERVER)).and_then(of_server).unwrap_or((name, given));
        let (class, sanitizer) = (TOOLS.class_of_raw(&name).unwrap_or(ToolClass::Other), self.sanitizer);
        let kept = tool_name(&name, sanitizer);
        let Some(given) = given else { return vec![Item::Tool(ToolUse::new(id, kept, "", None))] };
        if name.is(TODOS) {
            return todos(given, "todos", &["content"], sanitizer).into_iter().collect();
        }
        if sanitizer.excludes_any(|| json::strings(given)) {
            return vec![Item::Tool(ToolUse::new(id, kept, EXCLUDED_LINE, None))];
        }
        let patch = json::text(given).or_else(|| argument(given, &["patch", "input"], sanitizer).map(RawText::from));
        if let Some(patch) = patch.filter(|patch| patch.contains("*** Begin Patch")) {
            return patch::edits((&id, &kept), &patch::changes(&sanitizer.clean(patch).into()), cwd, sanitizer);
        }
        let (mut run, mut plan) = (None, None);
        let (line, file) = match class {
            ToolClass::Shell => {
                let (line, ran) = command_in(given, &id, true, sanitizer);
                run = ran;
                (line, None)
            }
            ToolClass::Edit if name.is(DELETE) => (format!("delete {}", told_in(given, &["path"], sanitizer)), None),
            ToolClass::Edit if name.is(WRITE) => self.touched(given, Touch::Written, cwd),
            ToolClass::Edit => self.touched(given, Touch::Edited, cwd),
            ToolClass::Read => self.touched(given, Touch::Read, cwd),
            ToolClass::Subagent => (told_in(given, &["description", "prompt"], sanitizer), None),
            ToolClass::Plan => {
                plan =
                    argument(given, &["plan", "overview"], sanitizer).map(|plan| Item::Plan(head_and_tail(&plan, MAX_TEXT_CHARS)));
                ("plan".to_owned(), None)
            }
            _ => (describe_arguments(given, sanitizer), None),
        };
        let tool = Item::Tool(ToolUse::new(id, kept, line, file));
        plan.into_iter().chain([tool]).chain(run.map(|run| Item::Evidence(Evidence::Ran(run)))).collect()
    }

    fn touched(&self, given: Raw<'_>, how: Touch, cwd: Option<&str>) -> (String, Option<FileTouch>) {
        let names = ["path", "file_path", "target_notebook", "old_string", "new_string", "contents"];
        let Ok([path, file, notebook, old, new, contents]) = json::fields(given, &names) else {
            return (String::new(), None);
        };
        match path.or(file).or(notebook).and_then(|path| sanitized_text(path, self.sanitizer)) {
            Some(path) => touch(absolute(&one_line(&path), cwd), how, &[old], &[new, contents]),
            None => (describe_arguments(given, self.sanitizer), None),
        }
    }

    /// The results among blocks, of releases that write them.
    fn results(&self, blocks: &[Raw<'_>]) -> Said {
        let mut all = Said::default();
        for block in blocks {
            let names = ["type", "tool_use_id", "content", "is_error"];
            let Ok([kind, id, content, is_error]) = json::fields(block, &names) else { continue };
            let is_result = kind.and_then(json::text).is_some_and(|kind| kind.is("tool_result"));
            let Some(id) = id.and_then(json::text).filter(|_| is_result) else { continue };
            let parts = content.map(json::elements).unwrap_or_default();
            let texts: Vec<_> = content.and_then(json::text).into_iter().chain(texts(&parts)).collect();
            let output = RawText::joined(&texts, "\n");
            all.add(Said::ended(
                self.sanitizer.id(id),
                false,
                (!json::is_true(is_error), None, &output),
                &self.runs,
                self.sanitizer,
            ));
        }
        all
    }
}

/// The name of a tool of a server as all clients' are kept, and what it is given.
fn of_server<'l>(given: Raw<'l>) -> Option<(RawText<'l>, Option<Raw<'l>>)> {
    let [server, tool, inner] = json::fields(given, &["server", "toolName", "arguments"]).ok()?;
    let (server, tool) = (json::text(server?)?, json::text(tool?)?);
    // Who registered it stands before its name.
    let server = server.strip_prefix("user-").map_or_else(|| server.clone().into_owned(), RawText::into_owned);
    Some((RawText::joined(&["mcp".into(), server, tool], "__"), inner))
}

fn texts<'l>(blocks: &[Raw<'l>]) -> impl Iterator<Item = RawText<'l>> {
    blocks.iter().filter_map(|block| {
        let [kind, text] = json::fields(block, &["type", "text"]).ok()?;
        text.filter(|_| kind.and_then(json::text).is_some_and(|kind| kind.is("text"))).and_then(json::text)
    })
}

/// What stands inside the tags of this name.
fn inside<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&open)?;
        let (inner, after) = after.split_once(&close).unwrap_or((after, ""));
        rest = after;
        Some(inner)
    })
}

/// The user's words where the client marks them. Tags in what the user wrote as private are not the client's.
fn queries(text: &str) -> Vec<&str> {
    let before = text.split_once(&format!("<{QUERY}>")).map_or("", |(before, _)| before);
    if plain(text).is_some() && leaves_private_open(before) {
        return Vec::new();
    }
    inside(text, QUERY).map(str::trim).collect()
}

/// The user's words in a row of an older release, which does not mark them; `None` for a text of the client's.
fn plain(text: &str) -> Option<&str> {
    let timed = text.trim_start().strip_prefix(&format!("<{TIME}>")).and_then(|rest| rest.split_once(&format!("</{TIME}>")));
    let words = timed.map_or(text, |(_, words)| words);
    (!begins_with_tag(words, &CLIENT_TAGS)).then_some(words)
}

/// The time that the client wrote for people.
fn time_of(text: &str) -> Option<Millis> {
    let (time, zone) = text.trim().strip_suffix(')')?.split_once(" (UTC")?;
    let said = strtime::parse(TIME_FORM, time).ok()?.to_datetime().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    plausible(said.timestamp().as_millisecond() - offset_of(zone)? * 60_000)
}

/// By how many minutes a zone's time is ahead of UTC; a zone is written as nothing, `-7` or `+5:30`.
fn offset_of(zone: &str) -> Option<i64> {
    let (sign, zone) =
        if let Some(west) = zone.strip_prefix('-') { (-1, west) } else { (1, zone.strip_prefix('+').unwrap_or(zone)) };
    let number = |digits: &str| if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse::<u8>().ok() } else { None };
    let (hours, minutes) = match zone.split_once(':') {
        Some((hours, minutes)) => (number(hours)?, number(minutes)?),
        None if zone.is_empty() => (0, 0),
        None => (number(zone)?, 0),
    };
    let all = i64::from(hours) * 60 + i64::from(minutes);
    (minutes < 60 && all <= MAX_OFFSET_MINUTES).then_some(sign * all)
}
