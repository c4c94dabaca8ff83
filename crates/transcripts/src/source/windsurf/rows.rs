//! One step after the other: what it says.
//!
//! The file is written anew after each reply. A step has the same key whenever it comes, by its number and by what it was asked for; what came of
//! it is added once it is told.

use serde::{Deserialize, Serialize};

use super::tools::TOOLS;
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{Evidence, FileTouch, Item, ParserState, PendingRuns, RecordKey, ShellRun, ToolClass, ToolUse, Touch};
use crate::source::address::local_path;
use crate::source::json::{self, Raw};
use crate::source::line::{malformed, text_of_line};
use crate::source::parsed::state_with;
use crate::source::patch::absolute;
use crate::source::row::{NoRecord, RowPlace, Said, outcome_of, parsed, printed};
use crate::source::said::{plain_mentions, reply};
use crate::source::tool_use::{argument, describe_arguments, line_and_run, line_of, sanitized_text, tool_name};
use crate::source::{LineParser, NO_TYPE, ParentLink, ParsedLine, TranscriptIdentity};
use text::clean::one_line;

/// Steps by their types; what each holds stands in a field of that name.
const KINDS: [&str; 10] = [
    "user_input", "planner_response", "run_command", "code_action", "view_file", "find", "grep_search", "list_directory",
    "list_resources", "mcp_tool",
];
/// Another type of step with what a search holds.
const SEARCH_TOO: &str = "grep_search_v2";
/// By which fields a step is known again: not by what came of it.
const ASKED: [&str; 12] = [
    "user_response", "response", "command", "path", "new_content", "start_line", "query", "pattern", "search_path",
    "search_directory", "tool_name", "arguments",
];
/// How a step that came to nothing ended.
const FAILED: &str = "error";
/// Between the two contents of a file.
const SEAM: &str = "\n\u{0}\n";

/// What the next steps of a session need to know of those before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// Steps so far.
    rows: u64,
    before: Option<RecordKey>,
}

/// Parses the steps of a session in order.
pub(super) struct WindsurfLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    cwd: Option<String>,
    state: State,
    /// Commands whose end is still to come.
    runs: PendingRuns,
}

impl LineParser for WindsurfLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let Ok([kind, status]) = json::fields(&text, &["type", "status"]) else { return malformed(&text) };
        self.state.rows += 1;
        let kind = kind.and_then(json::text).unwrap_or_default();
        let known = if kind.is(SEARCH_TOO) { "grep_search" } else { kind.known(&KINDS) };
        let held = json::fields(&text, &KINDS).ok();
        let held = held
            .and_then(|all| KINDS.iter().position(|kind| *kind == known).and_then(|at| all[at]))
            .filter(|held| json::is_object(*held));
        let (session, rows) = (&self.place.session, self.state.rows);
        let key = match held.and_then(|held| json::fields(held, &ASKED).ok()) {
            Some(asked) => {
                let text = |one: Raw<'_>| json::text(one).unwrap_or_else(|| one.written()).into_owned();
                let asked: Vec<_> = asked.into_iter().map(|one| one.map(text).unwrap_or_default()).collect();
                RawText::joined(&[known.into(), RawText::joined(&asked, "\n")], " ").key_in(session, rows)
            }
            None => RecordKey::from_row(session, rows, line),
        };
        let failed = status.and_then(json::text).is_some_and(|status| status.is(FAILED));
        let said = match (known, held) {
            ("", _) => Err(NoRecord::unknown("", Some(kind).filter(|kind| !kind.is_empty()), NO_TYPE)),
            (_, None) => Err(NoRecord::Known),
            ("user_input", Some(held)) => self.prompt(held),
            ("planner_response", Some(held)) => Ok(self.reply(held)),
            (name, Some(held)) => Ok(self.step(name, held, failed, &key.to_string())),
        };
        let place = RowPlace {
            link: ParentLink { key, parent: self.state.before.replace(key) },
            session,
            agent: None,
            at: None,
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

impl<'p> WindsurfLines<'p> {
    pub(super) fn new(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Self {
        let cwd = place.cwd.as_ref().map(|cwd| sanitizer.redact(cwd));
        Self { place, sanitizer, cwd, state: serde_json::from_str(&state.own).unwrap_or_default(), runs: state.runs.clone() }
    }

    fn prompt(&self, held: Raw<'_>) -> Result<Said, NoRecord> {
        let [words] = json::fields(held, &["user_response"]).unwrap_or_default();
        let words = words.and_then(json::text).ok_or(NoRecord::Known)?;
        Said::prompt(self.sanitizer.pass_users(&[words.trim().made(plain_mentions)]), false, false)
    }

    fn reply(&self, held: Raw<'_>) -> Said {
        let [words] = json::fields(held, &["response"]).unwrap_or_default();
        Said::only(words.and_then(json::text).and_then(|words| reply(words.trim(), self.sanitizer)))
    }

    /// What the assistant did in a step, and what came of it.
    fn step(&self, name: &'static str, held: Raw<'_>, failed: bool, id: &str) -> Said {
        let sanitizer = self.sanitizer;
        if name == "mcp_tool" {
            return self.of_server(held, failed, id);
        }
        // What a tool read is not what it was asked for.
        let [asked, pattern, query, cwd, folder, search_path] =
            json::fields(held, &["path", "pattern", "query", "cwd", "search_directory", "search_path"]).unwrap_or_default();
        let given: Vec<_> = [asked, pattern, query, cwd, folder, search_path].into_iter().flatten().collect();
        let texts = || given.iter().filter_map(|raw| json::text(*raw)).collect::<Vec<_>>();
        if sanitizer.excludes_any(texts) {
            return Said::only([Item::Tool(ToolUse::new(id, name, EXCLUDED_LINE, None))]);
        }
        match TOOLS.class_of(name) {
            Some(ToolClass::Shell) => self.command(name, held, failed, id),
            Some(class @ (ToolClass::Edit | ToolClass::Read)) => {
                let (line, file) = self.touched(held, class);
                self.done(Item::Tool(ToolUse::new(id, name, line, file)), failed, id)
            }
            _ => {
                let told = [query, pattern, asked, folder, search_path].into_iter().flatten();
                let told = told.filter_map(|raw| sanitized_text(raw, sanitizer)).map(|text| local_path(&text).into_owned()).take(2);
                let line = line_of(&told.collect::<Vec<_>>().join(" · "));
                self.done(Item::Tool(ToolUse::new(id, name, line, None)), failed, id)
            }
        }
    }

    /// A tool use, and that it came to nothing, if it did: what it read is not told.
    fn done(&self, tool: Item, failed: bool, id: &str) -> Said {
        let outcome = failed.then(|| outcome_of(id, false, (false, None, &RawText::default()), self.sanitizer)).flatten();
        Said { answered: vec![id.to_owned()], ..Said::only([tool].into_iter().chain(outcome)) }
    }

    fn command(&self, name: &str, held: Raw<'_>, failed: bool, id: &str) -> Said {
        let names = ["exit_code", "output", "user_rejected"];
        let [code, output, rejected] = json::fields(held, &names).unwrap_or_default();
        let command = argument(held, &["command"], self.sanitizer);
        let (line, run) = line_and_run(id, command.as_deref(), true, self.sanitizer);
        let refused = json::is_true(rejected);
        let run = run.filter(|_| !refused);
        let (kinds, code) = (run.as_ref().map(ShellRun::kinds), json::integer(code));
        let tool = Item::Tool(ToolUse::new(id, name, line, None));
        let mut all = Said::only([tool].into_iter().chain(run.map(|run| Item::Evidence(Evidence::Ran(run)))));
        // A command that goes on has no code yet.
        if code.is_none() && !refused && !failed {
            return all;
        }
        let output = output.and_then(json::text).unwrap_or_default();
        let ok = code == Some(0) && !failed;
        all.items.extend(outcome_of(id, refused, (ok, code, &output), self.sanitizer));
        all.items.extend(kinds.and_then(|kinds| printed(id, ok, &output, kinds, self.sanitizer)));
        all.answered.push(id.to_owned());
        all
    }

    fn touched(&self, held: Raw<'_>, class: ToolClass) -> (String, Option<FileTouch>) {
        let [path, old, new] = json::fields(held, &["path", "original_content", "new_content"]).unwrap_or_default();
        let Some(path) = path.and_then(|path| sanitized_text(path, self.sanitizer)) else { return (String::new(), None) };
        let path = absolute(&one_line(&local_path(&path)), self.cwd.as_deref());
        let text = |raw: Option<Raw<'_>>| raw.and_then(json::text).map(RawText::into_owned).unwrap_or_default();
        let (old, new) = (text(old), text(new));
        let how = match class {
            ToolClass::Read => Touch::Read,
            _ if old.is_empty() => Touch::Written,
            _ => Touch::Edited,
        };
        let (added, removed) = RawText::joined(&[old, new], SEAM).tells(changed_lines);
        let (added, removed) = if how == Touch::Read { (0, 0) } else { (added, removed) };
        (path.clone(), Some(FileTouch { path, how, added, removed }))
    }

    /// A call of a server's tool.
    fn of_server(&self, held: Raw<'_>, failed: bool, id: &str) -> Said {
        let [server, tool, given] = json::fields(held, &["server_name", "tool_name", "arguments"]).unwrap_or_default();
        let tool = tool.and_then(json::text).unwrap_or_default();
        let name = match server.and_then(json::text) {
            Some(server) => RawText::joined(&["mcp".into(), server, tool], "__"),
            None => RawText::joined(&["mcp".into(), tool], "__"),
        };
        // They are JSON in a string.
        let written = given.and_then(json::text);
        let given = written.as_ref().and_then(|text| Raw::of(text).ok()).or(given);
        let is_left_out = given.is_some_and(|given| self.sanitizer.excludes_any(|| json::strings(given)));
        let line = match given {
            _ if is_left_out => EXCLUDED_LINE.to_owned(),
            Some(given) => describe_arguments(given, self.sanitizer),
            None => String::new(),
        };
        self.done(Item::Tool(ToolUse::new(id, tool_name(name, self.sanitizer), line, None)), failed, id)
    }
}

/// Lines added and removed, of the contents of a file before and after: without those at both ends that stayed.
fn changed_lines(both: &str) -> (u32, u32) {
    let (old, new) = both.split_once(SEAM).unwrap_or((both, ""));
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let start = same(&mut old.iter().zip(&new));
    let end = same(&mut old[start..].iter().rev().zip(new[start..].iter().rev()));
    let rest = |lines: &[&str]| u32::try_from(lines.len() - start - end).unwrap_or(u32::MAX);
    (rest(&new), rest(&old))
}
