//! One line after the other: what it says.

use serde::{Deserialize, Serialize};

use super::tools::{CREATE, MULTI, PATCH, TODOS, TOOLS};
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{
    Evidence, Item, MessageUsage, ParserState, PendingRuns, RecordKey, TitleBy, Tokens, ToolClass, ToolUse, Touch, Turn,
};
use crate::source::json::{self, Raw};
use crate::source::line::{malformed, text_of_line, timestamp};
use crate::source::parsed::state_with;
use crate::source::patch::{self, absolute};
use crate::source::row::{NoRecord, RowPlace, Said, name_in, parsed, tokens_of_call};
use crate::source::said::{self, reply};
use crate::source::tool_use::{argument, command_in, describe_arguments, sanitized_text, todos, told_in, tool_name, touch};
use crate::source::{LineParser, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::one_line;

/// What the next lines of a chat need to know of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    before: Option<RecordKey>,
    /// What the first request followed that the user took back.
    #[serde(skip_serializing_if = "Option::is_none")]
    back: Option<RecordKey>,
}

/// Parses the lines of a chat in order.
pub(super) struct ChatLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    state: State,
    /// Always empty: a command stands in one line with its output.
    runs: PendingRuns,
}

impl LineParser for ChatLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let names = ["chat", "began", "title", "id", "at", "asked", "answer", "used", "taken_back", "went_back"];
        let Ok([chat, began, title, id, at, asked, answer, used, taken_back, went_back]) = json::fields(&text, &names) else {
            return malformed(&text);
        };
        if json::is_true(went_back) {
            return self.state.back.map_or(ParsedLine::Empty, ParsedLine::WentBack);
        }
        let [cwd] = chat.and_then(|chat| json::fields(chat, &["cwd"]).ok()).unwrap_or_default();
        let cwd = cwd.and_then(json::text).filter(|cwd| cwd.starts_with("/")).map(|cwd| self.sanitizer.redact(&cwd));
        let session = &self.place.session;
        let key = match id.and_then(json::text) {
            Some(id) => id.key_in(session, 0),
            None => RecordKey::from_line(session, line),
        };
        let said = if let Some(asked) = asked {
            self.asked(asked)
        } else if let Some(answer) = answer {
            self.answer(answer, key, cwd.as_deref())
        } else if let Some(used) = used {
            usage(used, key, self.sanitizer).map(|usage| Said { usage: Some(usage), ..Said::default() }).ok_or(NoRecord::Known)
        } else if let Some(title) = title {
            let title = sanitized_text(title, self.sanitizer);
            Ok(Said::only(title.and_then(|title| said::title(&title, TitleBy::Client))))
        } else if began.is_some() {
            Err(NoRecord::Began)
        } else {
            Err(NoRecord::Known)
        };
        let is_message = asked.or(answer).or(used).is_some();
        // The first request follows the chat itself, so that it can be taken back, too.
        let before = self.state.before.unwrap_or_else(|| RecordKey::from_uuid(session, session));
        if json::is_true(taken_back) && said.as_ref().is_ok_and(|said| said.turn != Turn::Continues) {
            self.state.back.get_or_insert(before);
        }
        let place = RowPlace {
            link: ParentLink { key, parent: is_message.then_some(before) },
            session,
            agent: None,
            at: at.or(began).and_then(timestamp),
            cwd,
            branch: None,
            version: None,
        };
        if is_message {
            self.state.before = Some(key);
        }
        parsed(said, place, &mut self.runs, self.sanitizer)
    }

    fn state(&self) -> ParserState {
        state_with(&self.runs, &self.state)
    }
}

impl<'p> ChatLines<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        Self { place, sanitizer, state: serde_json::from_str(&state.own).unwrap_or_default(), runs: state.runs.clone() }
    }

    /// The user's words; what the editor asks in the user's name has none.
    fn asked(&self, asked: Raw<'_>) -> Result<Said, NoRecord> {
        let [text, has_more] = json::fields(asked, &["text", "has_more"]).map_err(|_| NoRecord::Known)?;
        let words = text.and_then(json::text).ok_or(NoRecord::Known)?;
        Said::prompt(self.sanitizer.pass_users(&[words]), json::is_true(has_more), false)
    }

    fn answer(&self, answer: Raw<'_>, key: RecordKey, cwd: Option<&str>) -> Result<Said, NoRecord> {
        let [text, call] = json::fields(answer, &["text", "call"]).map_err(|_| NoRecord::Known)?;
        match (text.and_then(json::text), call) {
            (Some(text), _) => Ok(Said::only(reply(text.trim(), self.sanitizer))),
            (None, Some(call)) => self.call(call, key, cwd),
            (None, None) => Err(NoRecord::Known),
        }
    }

    /// A call, and how it ended.
    fn call(&self, call: Raw<'_>, key: RecordKey, cwd: Option<&str>) -> Result<Said, NoRecord> {
        let [id, name, given, ended] = json::fields(call, &["id", "name", "given", "ended"]).map_err(|_| NoRecord::Known)?;
        let (id, name) =
            (json::id(id, self.sanitizer).unwrap_or_else(|| key.to_string()), name.and_then(json::text).unwrap_or_default());
        let mut said = Said::only(self.used_tool(&id, &name, given, cwd));
        let mut runs = PendingRuns::default();
        said.note_runs(&mut runs);
        let [output, code, refused, failed] =
            ended.and_then(|ended| json::fields(ended, &["output", "code", "refused", "failed"]).ok()).unwrap_or_default();
        let code = json::integer(code);
        let (output, refused) = (output.and_then(json::text), json::is_true(refused));
        if output.is_some() || code.is_some() || refused {
            let ok = !json::is_true(failed) && code.is_none_or(|code| code == 0);
            said.add(Said::ended(id, refused, (ok, code, &output.unwrap_or_default()), &runs, self.sanitizer));
        }
        Ok(said)
    }

    fn used_tool(&self, id: &str, name: &RawText<'_>, given: Option<Raw<'_>>, cwd: Option<&str>) -> Vec<Item> {
        let sanitizer = self.sanitizer;
        let (class, kept) = (TOOLS.class_of_raw(name).unwrap_or(ToolClass::Other), tool_name(name, sanitizer));
        let plain = |line: String| vec![Item::Tool(ToolUse::new(id, kept.clone(), line, None))];
        let Some(given) = given.filter(|given| json::is_object(*given)) else { return plain(String::new()) };
        if sanitizer.excludes_any(|| json::strings(given)) {
            return plain(EXCLUDED_LINE.to_owned());
        }
        if name.is(TODOS) {
            return self.todos(given).map_or_else(|| plain(String::new()), |todos| vec![todos]);
        }
        if name.is(PATCH) {
            let patch = argument(given, &["input", "patch"], sanitizer).unwrap_or_default();
            return patch::edits((id, &kept), &patch::changes(&patch.into()), cwd, sanitizer);
        }
        if name.is(MULTI) {
            let [all] = json::fields(given, &["replacements"]).unwrap_or_default();
            let all = all.map(json::elements).unwrap_or_default();
            return all.iter().flat_map(|one| self.touched(id, &kept, *one, Touch::Edited, cwd)).collect();
        }
        match class {
            ToolClass::Shell => {
                let is_background = json::fields(given, &["isBackground"]).is_ok_and(|[is]| json::is_true(is));
                let (line, run) = command_in(given, id, !is_background, sanitizer);
                let tool = Item::Tool(ToolUse::new(id, kept.clone(), line, None));
                std::iter::once(tool).chain(run.map(|run| Item::Evidence(Evidence::Ran(run)))).collect()
            }
            ToolClass::Edit if name.is(CREATE) => self.touched(id, &kept, given, Touch::Written, cwd),
            ToolClass::Edit => self.touched(id, &kept, given, Touch::Edited, cwd),
            ToolClass::Read => self.touched(id, &kept, given, Touch::Read, cwd),
            ToolClass::Subagent => plain(told_in(given, &["prompt", "description", "query"], sanitizer)),
            ToolClass::Search => plain(told_in(given, &["query", "symbolName", "path", "description"], sanitizer)),
            _ => plain(describe_arguments(given, sanitizer)),
        }
    }

    fn touched(&self, id: &str, name: &str, given: Raw<'_>, how: Touch, cwd: Option<&str>) -> Vec<Item> {
        let names = ["filePath", "path", "oldString", "newString", "content", "code"];
        let [path, older, old, new, content, code] = json::fields(given, &names).unwrap_or_default();
        let (line, file) = match path.or(older).and_then(|path| sanitized_text(path, self.sanitizer)) {
            Some(path) => touch(absolute(&one_line(&path), cwd), how, &[old], &[new, content, code]),
            None => (describe_arguments(given, self.sanitizer), None),
        };
        vec![Item::Tool(ToolUse::new(id, name, line, file))]
    }

    fn todos(&self, given: Raw<'_>) -> Option<Item> {
        let Item::Todos(mut all) = todos(given, "todoList", &["title", "description"], self.sanitizer)? else { return None };
        for todo in &mut all {
            match todo.status.as_str() {
                "not-started" => "pending",
                "in-progress" => "in_progress",
                _ => continue,
            }
            .clone_into(&mut todo.status);
        }
        Some(Item::Todos(all))
    }
}

fn usage(used: Raw<'_>, key: RecordKey, sanitizer: &Sanitizer) -> Option<MessageUsage> {
    let [input, output, model] = json::fields(used, &["input", "output", "model"]).ok()?;
    let count = |raw| json::number(raw).unwrap_or(0);
    let tokens = Tokens { input: count(input), output: count(output), ..Tokens::default() };
    tokens_of_call(key.to_string(), name_in(model, sanitizer), tokens)
}
