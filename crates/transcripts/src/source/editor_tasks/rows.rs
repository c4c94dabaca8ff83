//! One line after the other: what it says.

use serde::{Deserialize, Serialize};

use super::calls::{Open, told};
use super::results::{Ended, ended, heading, is_of_surroundings, words};
use super::tools::TOOLS;
use super::xml::raw_calls_in;
use crate::privacy::Sanitizer;
use crate::privacy::raw::RawText;
use crate::session::{Answer, Item, MessageUsage, ParserState, PendingRuns, RecordKey, Tokens, ToolClass, Turn};
use crate::source::json::{self, Raw};
use crate::source::line::{MAX_TEXT_CHARS, malformed, text_of_line, timestamp};
use crate::source::parsed::state_with;
use crate::source::row::{NoRecord, RowPlace, Said, name_in, parsed, tokens_of_call};
use crate::source::said::{recap, reply};
use crate::source::tool_use::tool_name;
use crate::source::{LineParser, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::head_and_tail;

/// What the next lines of a task need to know of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    before: Option<RecordKey>,
    /// The calls of the last message, of those that wait for a result.
    open: Vec<Open>,
}

/// Parses the lines of a task in order.
pub(in crate::source) struct TaskLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    state: State,
    /// Commands whose output is still to come.
    runs: PendingRuns,
}

/// What a message of the user's side tells.
#[derive(Default)]
struct Gathered<'t> {
    said: Said,
    /// The user's words, outside of dialogs.
    words: Vec<RawText<'t>>,
    has_image: bool,
}

impl LineParser for TaskLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let names = ["task", "began", "call", "id", "at", "message"];
        let Ok([task, began, call, id, at, message]) = json::fields(&text, &names) else { return malformed(&text) };
        let [cwd] = task.and_then(|task| json::fields(task, &["cwd"]).ok()).unwrap_or_default();
        let cwd = cwd.and_then(json::text).filter(|cwd| cwd.starts_with("/")).map(|cwd| self.sanitizer.redact(&cwd));
        let whose = self.place.agent.as_ref().unwrap_or(&self.place.session).clone();
        let [called] = call.and_then(|call| json::fields(call, &["ts"]).ok()).unwrap_or_default();
        let key = match (id.and_then(json::text), called) {
            (Some(id), _) => id.key_in(&whose, 0),
            (None, Some(called)) => called.written().key_in(&whose, 1),
            _ => RecordKey::from_line(&whose, line),
        };
        let said = match (message, call) {
            (Some(message), _) => self.message(message, key, cwd.as_deref()),
            (None, Some(call)) => {
                used(call, key, self.sanitizer).map(|usage| Said { usage: Some(usage), ..Said::default() }).ok_or(NoRecord::Known)
            }
            (None, None) if began.is_some() && self.place.agent.is_none() => Err(NoRecord::Began),
            (None, None) => Err(NoRecord::Known),
        };
        let place = RowPlace {
            link: ParentLink { key, parent: self.state.before },
            session: &self.place.session,
            agent: self.place.agent.clone(),
            at: at.or(called).or(began).and_then(timestamp),
            cwd,
            branch: None,
            // The extension counts its releases apart from its command line, and nobody has tried any.
            version: None,
        };
        if message.is_some() || call.is_some() {
            self.state.before = Some(key);
        }
        parsed(said, place, &mut self.runs, self.sanitizer)
    }

    fn state(&self) -> ParserState {
        state_with(&self.runs, &self.state)
    }
}

impl<'p> TaskLines<'p> {
    pub(in crate::source) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        Self { place, sanitizer, state: serde_json::from_str(&state.own).unwrap_or_default(), runs: state.runs.clone() }
    }

    fn message(&mut self, message: Raw<'_>, key: RecordKey, cwd: Option<&str>) -> Result<Said, NoRecord> {
        let names = ["role", "content", "type", "isSummary", "isTruncationMarker"];
        let [role, content, kind, is_recap, is_marker] = json::fields(message, &names).map_err(|_| NoRecord::Known)?;
        let role = role.and_then(json::text);
        if role.is_none() && kind.is_some() || json::is_true(is_marker) {
            return Err(NoRecord::Known);
        }
        let content = content.ok_or(NoRecord::Known)?;
        if json::is_true(is_recap) {
            let texts: Vec<_> = texts(content).into_iter().filter(|text| !text.tells(is_of_surroundings)).collect();
            return Ok(Said::only(recap(self.sanitizer.clean(RawText::joined(&texts, "\n\n")).trim())));
        }
        match role.as_ref().map(|role| role.known(&["user", "tool", "assistant"])) {
            Some("user" | "tool") => self.users_side(content),
            Some("assistant") => Ok(self.assistants_side(content, key, cwd)),
            _ => Err(NoRecord::unknown("message ", role, "(no role)")),
        }
    }

    /// What is sent to the model: results of tools, what the user said, and what the extension says in the user's name.
    fn users_side(&mut self, content: Raw<'_>) -> Result<Said, NoRecord> {
        let is_first = self.state.before.is_none();
        let mut all = Gathered::default();
        let mut headed = None;
        for block in blocks_of(content) {
            let [kind, text] = json::fields(block, &["type", "text"]).unwrap_or_default();
            // A message of one text has no blocks.
            let text = text.unwrap_or(block);
            match kind.and_then(json::text).map(|kind| kind.known(&["tool_result", "tool-result", "image", "text"])) {
                Some("tool_result" | "tool-result") => self.result_block(block, &mut all),
                Some("image") => all.has_image = true,
                Some("text") | None => {
                    let text = json::text(text).unwrap_or_default();
                    match headed.take() {
                        Some(open) => self.end(&open, &text, false, &mut all),
                        None => headed = self.text_block(&text, &mut all),
                    }
                }
                _ => {}
            }
        }
        if let Some(open) = headed {
            self.end(&open, &RawText::default(), false, &mut all);
        }
        // What a task of a task begins with are the assistant's words, which the call there holds.
        if is_first && self.place.agent.is_some() {
            all.words.clear();
        }
        self.with_prompt(all)
    }

    /// Takes a text of the user's side apart; a call of which it is only the heading is returned.
    fn text_block(&mut self, text: &RawText<'_>, all: &mut Gathered<'_>) -> Option<Open> {
        if text.tells(is_of_surroundings) {
            return None;
        }
        let ([name, rest], is_headed) = text.apart(|text| match heading(text) {
            Some((name, rest)) => ([name.into(), rest.into()], TOOLS.class_of(name).is_some()),
            None => Default::default(),
        });
        if is_headed {
            let open = self.opened(|open| name.is(&open.name));
            let open = open.unwrap_or_else(|| Open { name: tool_name(name, self.sanitizer), ..Open::default() });
            if rest.is_empty() {
                return Some(open);
            }
            self.end(&open, &rest, false, all);
            return None;
        }
        all.words.extend(text.part(words).map(RawText::into_owned));
        None
    }

    fn result_block(&mut self, block: Raw<'_>, all: &mut Gathered<'_>) {
        let names = ["tool_use_id", "toolCallId", "content", "output", "is_error"];
        let [id, newer_id, content, output, is_error] = json::fields(block, &names).unwrap_or_default();
        let id = json::id(id.or(newer_id), self.sanitizer).unwrap_or_default();
        let open = self.opened(|open| open.id == id).unwrap_or_else(|| Open { id, ..Open::default() });
        let text = content.or(output).map(|content| {
            let [value] = json::fields(content, &["value"]).unwrap_or_default();
            RawText::joined(&texts(value.unwrap_or(content)), "\n")
        });
        self.end(&open, &text.unwrap_or_default(), json::is_true(is_error), all);
    }

    fn opened(&mut self, is: impl Fn(&Open) -> bool) -> Option<Open> {
        let at = self.state.open.iter().position(is)?;
        Some(self.state.open.remove(at))
    }

    /// Adds how a call ended, and what the user said to it.
    fn end(&mut self, open: &Open, text: &RawText<'_>, failed: bool, all: &mut Gathered<'_>) {
        let Ended { refused, ok, code, output, words, goes_on } = ended(open, text, failed);
        if open.says() && !refused {
            all.words.extend(words.map(RawText::into_owned));
            return;
        }
        if let Some(words) = words {
            all.said.add(self.answer(&open.asked, &words));
        }
        if goes_on {
            self.state.open.insert(0, open.clone());
            return;
        }
        all.said.add(match open.class() {
            ToolClass::Question if !refused && ok => Said { answered: vec![open.id.clone()], ..Said::default() },
            _ => Said::ended(open.id.clone(), refused, (ok, code, &output), &self.runs, self.sanitizer),
        });
    }

    /// What the user said in a dialog.
    fn answer(&self, asked: &str, words: &RawText<'_>) -> Said {
        let passed = self.sanitizer.pass(words.trim());
        let turn = if passed.is_all_private() { Turn::BeginsPrivate } else { Turn::Continues };
        let said = (turn == Turn::Continues && !passed.text.is_empty())
            .then(|| Item::Answer(Answer { said: head_and_tail(&passed.text, MAX_TEXT_CHARS), asked: asked.to_owned() }));
        Said { turn, fenced: passed.fenced, ..Said::only(said) }
    }

    fn with_prompt(&self, all: Gathered<'_>) -> Result<Said, NoRecord> {
        let Gathered { mut said, words, has_image } = all;
        let has_more = has_image && said.answered.is_empty();
        if words.is_empty() && !has_more {
            return if said.tells() { Ok(said) } else { Err(NoRecord::Known) };
        }
        if self.place.agent.is_some() {
            // The user may look on and say something.
            said.add(self.answer("", &RawText::joined(&words, "\n\n")));
        } else if let Ok(prompt) = Said::prompt(self.sanitizer.pass_users(&words), has_more, false) {
            // First the results, for which the user did not wait.
            said.add(prompt);
        }
        if said.tells() { Ok(said) } else { Err(NoRecord::Known) }
    }

    /// The assistant's words, and its calls of tools: blocks, or XML in the text.
    fn assistants_side(&mut self, content: Raw<'_>, key: RecordKey, cwd: Option<&str>) -> Said {
        self.state.open.clear();
        let (mut said, mut items) = (Vec::new(), Vec::new());
        let blocks = blocks_of(content);
        let mut calls: Vec<(String, RawText<'_>, RawText<'_>)> =
            blocks.iter().filter_map(|block| native_call(*block, self.sanitizer)).collect();
        let is_native = !calls.is_empty();
        for text in texts(content) {
            if is_native {
                said.push(text.into_owned());
                continue;
            }
            let (words, in_text) = raw_calls_in(&text);
            said.push(words);
            for [name, given] in in_text {
                calls.push((format!("{key}/{}", calls.len()), name, given));
            }
        }
        for (id, name, given) in &calls {
            let Ok(given) = Raw::of(given) else { continue };
            let told = told(id, name, given, cwd, self.sanitizer);
            said.extend(told.said);
            items.extend(told.items);
            self.state.open.push(told.open);
        }
        said.retain(|text| !text.trim().is_empty());
        let words = RawText::joined(&said.iter().map(RawText::trim).collect::<Vec<_>>(), "\n\n");
        Said::only(reply(&words, self.sanitizer).into_iter().chain(items))
    }
}

/// The blocks of a content; itself where it is one text.
fn blocks_of(content: Raw<'_>) -> Vec<Raw<'_>> {
    if content.is_list() { json::elements(content) } else { vec![content] }
}

/// The texts of a content, without thoughts.
fn texts(content: Raw<'_>) -> Vec<RawText<'_>> {
    blocks_of(content)
        .into_iter()
        .filter_map(|block| {
            json::text(block).or_else(|| {
                let [kind, text, value] = json::fields(block, &["type", "text", "value"]).ok()?;
                text.or(value).filter(|_| kind.and_then(json::text).is_some_and(|kind| kind.is("text"))).and_then(json::text)
            })
        })
        .collect()
}

/// The id, the name and the arguments of a block, if it is a call.
fn native_call<'l>(block: Raw<'l>, sanitizer: &Sanitizer) -> Option<(String, RawText<'l>, RawText<'l>)> {
    let names = ["type", "id", "toolCallId", "name", "toolName", "input"];
    let [kind, id, newer_id, name, newer_name, input] = json::fields(block, &names).ok()?;
    let is_call = kind.and_then(json::text).is_some_and(|kind| kind.is_one_of(&["tool_use", "tool-call"]));
    let (id, name) = (json::id(id.or(newer_id), sanitizer), name.or(newer_name).and_then(json::text));
    let given = input.map_or("{}".into(), Raw::written);
    is_call.then(|| (id.unwrap_or_default(), name.unwrap_or_default(), given))
}

/// What a call of the model used.
fn used(call: Raw<'_>, key: RecordKey, sanitizer: &Sanitizer) -> Option<MessageUsage> {
    let [used, model] = json::fields(call, &["used", "model"]).ok()?;
    let names = ["apiProtocol", "cost", "tokensIn", "tokensOut", "cacheReads", "cacheWrites"];
    let [protocol, cost, input, output, cache_read, cache_write] = json::fields(used?, &names).ok()?;
    let [input, output, cache_read, cache_write] =
        [input, output, cache_read, cache_write].map(|count| json::number(count).unwrap_or(0));
    // Those that say in which form a provider counts have counted the cache among the input.
    let cached = if protocol.is_some() { cache_read + cache_write } else { 0 };
    let (input, stated_cost) = (input.saturating_sub(cached), json::millionths(cost));
    let tokens = Tokens { input, output, cache_read, cache_write, stated_cost, ..Tokens::default() };
    tokens_of_call(key.to_string(), name_in(model, sanitizer), tokens)
}
