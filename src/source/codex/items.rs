//! Finished items, with which newer clients tell what was said and done.

use super::calls::{command_of, looked_at, typed};
use super::rows::{CodexLines, texts};
use super::tools::{COMMAND, PATCH};
use crate::model::session::{Evidence, Item, ToolUse};
use crate::privacy::EXCLUDED_LINE;
use crate::source::json::{self, Raw};
use crate::source::line::MAX_TEXT_CHARS;
use crate::source::patch::{Change, ChangeKind, edits};
use crate::source::row::{NoRecord, Said, outcome_of, printed};
use crate::source::said::reply;
use crate::source::tool_use::{argument, command_line, describe_arguments, line_of, shell_run};
use crate::text::clean::head_and_tail;

/// Items that say nothing else: thinking, and what other rows tell.
const NOTHING_SAID: [&str; 8] = [
    "Reasoning", "SubAgentActivity", "ContextCompaction", "CollabAgentToolCall", "EnteredReviewMode", "ExitedReviewMode",
    "HookPrompt", "ImageGeneration",
];

pub(super) fn finished(lines: &mut CodexLines<'_>, item: Raw<'_>) -> Result<Said, NoRecord> {
    let Ok([kind, content, text]) = json::fields(item.get(), &["type", "content", "text"]) else { return Err(NoRecord::Known) };
    let kind = kind.and_then(json::text).unwrap_or_default();
    lines.state.finished = true;
    match kind.as_ref() {
        "UserMessage" => {
            let parts = content.map(json::elements).unwrap_or_default();
            let said = content.map(texts).unwrap_or_default();
            let said: Vec<&str> = said.iter().map(AsRef::as_ref).collect();
            let has_image = parts.len() > said.len();
            lines.prompt(&said, has_image)
        }
        "AgentMessage" => {
            let said = content.map(texts).unwrap_or_default();
            Ok(Said::only(said.iter().filter_map(|text| reply(text, lines.sanitizer))))
        }
        "Plan" => {
            let plan = text.and_then(json::text).map(|text| lines.sanitizer.clean(&text)).filter(|plan| !plan.is_empty());
            Ok(Said::only(plan.map(|plan| Item::Plan(head_and_tail(&plan, MAX_TEXT_CHARS)))))
        }
        "CommandExecution" => command(lines, item),
        "FileChange" => changes(lines, item),
        "McpToolCall" => server(lines, item),
        "WebSearch" => {
            let query = argument(item, &["query"], lines.sanitizer).map(|query| line_of(&query)).unwrap_or_default();
            Ok(Said::only([Item::Tool(ToolUse::new(id_of(item), "web_search", query, None))]))
        }
        "ImageView" => {
            let path = argument(item, &["path"], lines.sanitizer).ok_or(NoRecord::Known)?;
            Ok(Said::only([looked_at(&id_of(item), &path)]))
        }
        known if NOTHING_SAID.contains(&known) => Err(NoRecord::Known),
        other => Err(NoRecord::Unknown(format!("item_completed/{other}"))),
    }
}

fn id_of(item: Raw<'_>) -> String {
    let id = json::fields(item.get(), &["id"]).ok().and_then(|[id]| json::text(id?).map(std::borrow::Cow::into_owned));
    id.unwrap_or_default()
}

/// Did it succeed, by its own word? A command's exit code says it better.
fn succeeded(item: Raw<'_>) -> bool {
    let status = json::fields(item.get(), &["status"]).ok().and_then(|[status]| json::text(status?));
    status.is_none_or(|status| !matches!(status.as_ref(), "failed" | "declined"))
}

fn command(lines: &mut CodexLines<'_>, item: Raw<'_>) -> Result<Said, NoRecord> {
    let names = ["command", "cwd", "exit_code", "aggregated_output", "status"];
    let [command, cwd, code, output, status] = json::fields(item.get(), &names).map_err(|_| NoRecord::Known)?;
    let (id, sanitizer) = (id_of(item), lines.sanitizer);
    let command = command.and_then(command_of).map(|command| sanitizer.clean(&command)).filter(|command| !command.is_empty());
    let tool = ToolUse::new(id.as_str(), COMMAND, command_line(command.as_deref(), sanitizer), None);
    let code = code.and_then(|code| code.get().parse::<i64>().ok());
    let is_declined = status.and_then(json::text).is_some_and(|status| status == "declined");
    let folder = cwd.and_then(json::text).map(|cwd| sanitizer.redact(cwd.strip_prefix("file://").unwrap_or(&cwd)));
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
    let [changes] = json::fields(item.get(), &["changes"]).map_err(|_| NoRecord::Known)?;
    let (id, sanitizer, cwd) = (id_of(item), lines.sanitizer, lines.state.cwd.clone());
    let ok = succeeded(item);
    let all: Vec<Change> = changes
        .and_then(json::fields_by_name)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(path, change)| of_file(&path, change))
        .collect();
    let mut items = edits((&id, PATCH), &all, cwd.as_deref(), sanitizer);
    items.extend(if ok { None } else { outcome_of(&id, false, (false, None, ""), sanitizer) });
    Ok(Said { answered: vec![id], ..Said::only(items) })
}

fn of_file(path: &str, change: Raw<'_>) -> Option<Change> {
    let [kind, diff, content, moved] = json::fields(change.get(), &["type", "unified_diff", "content", "move_path"]).ok()?;
    let kind = match json::text(kind?)?.as_ref() {
        "add" => ChangeKind::Add,
        "delete" => ChangeKind::Delete,
        _ => ChangeKind::Update,
    };
    let moved = moved.and_then(json::text);
    let mut change = Change::new(moved.as_deref().unwrap_or(path), kind);
    match kind {
        ChangeKind::Update => diff.and_then(json::text).unwrap_or_default().lines().for_each(|line| change.count(line)),
        _ => change.added = content.map_or(0, json::lines_in),
    }
    Some(change)
}

/// A tool of a server, under the name by which other clients call it.
fn server(lines: &mut CodexLines<'_>, item: Raw<'_>) -> Result<Said, NoRecord> {
    let names = ["server", "tool", "arguments", "error"];
    let [server, tool, arguments, error] = json::fields(item.get(), &names).map_err(|_| NoRecord::Known)?;
    let (id, sanitizer) = (id_of(item), lines.sanitizer);
    let (Some(server), Some(tool)) = (server.and_then(json::text), tool.and_then(json::text)) else { return Err(NoRecord::Known) };
    let name = sanitizer.clean(&format!("mcp__{server}__{tool}"));
    let line = match arguments {
        Some(arguments) if sanitizer.excludes_any(|| json::strings(arguments)) => EXCLUDED_LINE.to_owned(),
        Some(arguments) => describe_arguments(arguments, sanitizer),
        None => String::new(),
    };
    let failed = error.is_some_and(|error| error.get() != "null") || !succeeded(item);
    let words = error.map(|error| json::strings(error).join(" ")).unwrap_or_default();
    let outcome = if failed { outcome_of(&id, false, (false, None, &words), sanitizer) } else { None };
    let items = std::iter::once(Item::Tool(ToolUse::new(id.as_str(), name, line, None))).chain(outcome);
    Ok(Said { answered: vec![id], ..Said::only(items) })
}
