//! Finished items, with which newer clients tell what was said and done.

use super::calls::{command_of, looked_at, typed};
use super::review;
use super::rows::{CodexLines, texts};
use super::tools::{COMMAND, PATCH};
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{Evidence, Item, ToolUse};
use crate::source::json::{self, Raw};
use crate::source::line::MAX_TEXT_CHARS;
use crate::source::patch::{Change, ChangeKind, edits};
use crate::source::row::{NoRecord, Said, outcome_of, printed};
use crate::source::said::reply;
use crate::source::tool_use::{argument, command_line, describe_arguments, line_of, shell_run};
use text::clean::head_and_tail;

/// Items that are read.
const SAID: [&str; 10] = [
    "UserMessage", "AgentMessage", "Plan", "CommandExecution", "FileChange", "McpToolCall", "WebSearch", "ImageView",
    "EnteredReviewMode", "ExitedReviewMode",
];
/// Items that say nothing else: thinking, and what other rows tell.
const NOTHING_SAID: [&str; 6] =
    ["Reasoning", "SubAgentActivity", "ContextCompaction", "CollabAgentToolCall", "HookPrompt", "ImageGeneration"];

pub(super) fn finished(lines: &mut CodexLines<'_>, item: Raw<'_>) -> Result<Said, NoRecord> {
    let Ok([kind, content, text]) = json::fields(item, &["type", "content", "text"]) else { return Err(NoRecord::Known) };
    let kind = kind.and_then(json::text).unwrap_or_default();
    lines.state.finished = true;
    match kind.known(&SAID) {
        "UserMessage" => {
            let parts = content.map(json::elements).unwrap_or_default();
            let said = content.map(texts).unwrap_or_default();
            let has_image = parts.len() > said.len();
            lines.prompt(&said, has_image)
        }
        "AgentMessage" => {
            let mut said = content.map(texts).unwrap_or_default();
            said.retain(|text| !review::is_told(lines, text));
            Ok(Said::only(said.iter().filter_map(|text| reply(text, lines.sanitizer))))
        }
        "Plan" => {
            let plan = text.and_then(json::text).map(|text| lines.sanitizer.clean(text)).filter(|plan| !plan.is_empty());
            Ok(Said::only(plan.map(|plan| Item::Plan(head_and_tail(&plan, MAX_TEXT_CHARS)))))
        }
        "EnteredReviewMode" => review::begun(lines, item),
        "ExitedReviewMode" => review::ended(lines, item),
        "CommandExecution" => command(lines, item),
        "FileChange" => changes(lines, item),
        "McpToolCall" => server(lines, item),
        "WebSearch" => {
            let query = argument(item, &["query"], lines.sanitizer).map(|query| line_of(&query)).unwrap_or_default();
            Ok(Said::only([Item::Tool(ToolUse::new(id_of(item, lines.sanitizer), "web_search", query, None))]))
        }
        "ImageView" => {
            let path = argument(item, &["path"], lines.sanitizer).ok_or(NoRecord::Known)?;
            Ok(Said::only([looked_at(&id_of(item, lines.sanitizer), &path)]))
        }
        _ if kind.is_one_of(&NOTHING_SAID) => Err(NoRecord::Known),
        _ => Err(NoRecord::unknown("item_completed/", Some(kind), "")),
    }
}

fn id_of(item: Raw<'_>, sanitizer: &Sanitizer) -> String {
    json::fields(item, &["id"]).ok().and_then(|[id]| json::id(id, sanitizer)).unwrap_or_default()
}

/// Did it succeed, by its own word? A command's exit code says it better.
fn succeeded(item: Raw<'_>) -> bool {
    let status = json::fields(item, &["status"]).ok().and_then(|[status]| json::text(status?));
    status.is_none_or(|status| !status.is_one_of(&["failed", "declined"]))
}

fn command(lines: &mut CodexLines<'_>, item: Raw<'_>) -> Result<Said, NoRecord> {
    let names = ["command", "cwd", "exit_code", "aggregated_output", "status"];
    let [command, cwd, code, output, status] = json::fields(item, &names).map_err(|_| NoRecord::Known)?;
    let (id, sanitizer) = (id_of(item, lines.sanitizer), lines.sanitizer);
    let command = command.and_then(command_of).map(|command| sanitizer.clean(command)).filter(|command| !command.is_empty());
    let tool = ToolUse::new(id.as_str(), COMMAND, command_line(command.as_deref(), sanitizer), None);
    let code = json::integer(code);
    let is_declined = status.and_then(json::text).is_some_and(|status| status.is("declined"));
    let folder = cwd
        .and_then(json::text)
        .map(|cwd| sanitizer.redact(cwd.part(|cwd| Some(cwd.strip_prefix("file://").unwrap_or(cwd))).unwrap_or_default()));
    let elsewhere = folder.filter(|folder| lines.state.cwd.as_deref().is_some_and(|cwd| cwd != folder));
    let run = command.filter(|_| !is_declined).and_then(|command| shell_run(&tool, &typed(&command, elsewhere), true, sanitizer));
    let output = output.and_then(json::text).unwrap_or_default();
    let ok = code.map_or_else(|| succeeded(item), |code| code == 0);
    let outcome = outcome_of(&id, is_declined, (ok, code, &output), sanitizer);
    let printed = run.as_ref().and_then(|run| printed(&id, ok, &output, run.kinds(), sanitizer));
    let run = run.map(|run| Item::Evidence(Evidence::Ran(run)));
    let items = [Some(Item::Tool(tool)), outcome, run, printed].into_iter().flatten();
    Ok(Said { answered: vec![id], ..Said::only(items) })
}

fn changes(lines: &mut CodexLines<'_>, item: Raw<'_>) -> Result<Said, NoRecord> {
    let [changes] = json::fields(item, &["changes"]).map_err(|_| NoRecord::Known)?;
    let (id, sanitizer, cwd) = (id_of(item, lines.sanitizer), lines.sanitizer, lines.state.cwd.clone());
    let ok = succeeded(item);
    let all: Vec<Change> = changes
        .and_then(json::fields_by_name)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(path, change)| of_file(&path, change))
        .collect();
    let mut items = edits((&id, PATCH), &all, cwd.as_deref(), sanitizer);
    items.extend(if ok { None } else { outcome_of(&id, false, (false, None, &RawText::default()), sanitizer) });
    Ok(Said { answered: vec![id], ..Said::only(items) })
}

fn of_file(path: &RawText<'_>, change: Raw<'_>) -> Option<Change> {
    let [kind, diff, content, moved] = json::fields(change, &["type", "unified_diff", "content", "move_path"]).ok()?;
    let kind = match json::text(kind?)?.known(&["add", "delete"]) {
        "add" => ChangeKind::Add,
        "delete" => ChangeKind::Delete,
        _ => ChangeKind::Update,
    };
    let moved = moved.and_then(json::text);
    let mut change = Change::new(moved.as_ref().unwrap_or(path), kind);
    match kind {
        ChangeKind::Update => diff.and_then(json::text).unwrap_or_default().lines().for_each(|line| change.count(&line)),
        _ => change.added = content.map_or(0, json::lines_in),
    }
    Some(change)
}

/// A tool of a server, under the name by which other clients call it.
fn server(lines: &mut CodexLines<'_>, item: Raw<'_>) -> Result<Said, NoRecord> {
    let names = ["server", "tool", "arguments", "error"];
    let [server, tool, arguments, error] = json::fields(item, &names).map_err(|_| NoRecord::Known)?;
    let (id, sanitizer) = (id_of(item, lines.sanitizer), lines.sanitizer);
    let (Some(server), Some(tool)) = (server.and_then(json::text), tool.and_then(json::text)) else { return Err(NoRecord::Known) };
    let name = sanitizer.clean(RawText::joined(&["mcp".into(), server, tool], "__"));
    let line = match arguments {
        Some(arguments) if sanitizer.excludes_any(|| json::strings(arguments)) => EXCLUDED_LINE.to_owned(),
        Some(arguments) => describe_arguments(arguments, sanitizer),
        None => String::new(),
    };
    let failed = error.is_some_and(|error| !error.is("null")) || !succeeded(item);
    let words = error.map(|error| RawText::joined(&json::strings(error), " ")).unwrap_or_default();
    let outcome = if failed { outcome_of(&id, false, (false, None, &words), sanitizer) } else { None };
    let items = std::iter::once(Item::Tool(ToolUse::new(id.as_str(), name, line, None))).chain(outcome);
    Ok(Said { answered: vec![id], ..Said::only(items) })
}
