//! Tool uses, each in one line, and the files they concern.

use super::fields::{Field, LineFields};
use super::outcome;
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{Evidence, FileTouch, Item, Todo, ToolClass, ToolUse, Touch};
use crate::source::json::{self, Raw};
use crate::source::json_cursor::NameTable;
use crate::source::line::MAX_TEXT_CHARS;
use crate::source::tool_use::{
    MAX_COMMAND_CHARS, ToolTable, argument, describe_arguments, line_and_run, line_of, sanitized_text, todos, told_in, tool_name,
    touch,
};
use text::clean::{head_and_tail, one_line, shorten};

/// What each tool is for, of this client and of others that write its oldest layout.
pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &["Bash", "PowerShell"]),
    (ToolClass::Edit, &["Edit", "Write", "MultiEdit", "NotebookEdit", "replace", "write_file"]),
    (ToolClass::Read, &["Read", "NotebookRead", "read_file"]),
    (ToolClass::Search, &["Grep", "Glob", "LS"]),
    (ToolClass::Web, &["WebFetch", "WebSearch"]),
    (ToolClass::Subagent, &["Task", "Agent", "Workflow"]),
    (ToolClass::Plan, &["ExitPlanMode", "exit_plan_mode"]),
    (ToolClass::Todo, &["TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList"]),
    (ToolClass::Question, &["AskUserQuestion"]),
    (
        ToolClass::Bookkeeping,
        &[
            "BashOutput", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree", "ExitWorktree", "KillBash",
            "KillShell", "ListMcpResources", "ListMcpResourcesTool", "Monitor", "ReadMcpResource", "ReadMcpResourceTool",
            "ScheduleWakeup", "SendMessage", "SendUserFile", "Skill", "SlashCommand", "StructuredOutput", "TaskOutput", "TaskStop",
            "TeamCreate", "TeamDelete", "ToolSearch",
        ],
    ),
])
// The client's own servers, and ours, whose replies are not ingested again.
.with_servers(&[(ToolClass::Bookkeeping, &["mcp__ide__", "mcp__ccd_session__", "mcp__recall__", "mcp__plugin_recall_recall__"])]);
/// The tool of our server that reads records by their ids.
const LOOKS_UP: [&str; 2] = ["mcp__recall__get", "mcp__plugin_recall_recall__get"];

/// Those of the tools that edit a file which write it whole.
const WRITES_WHOLE: [&str; 2] = ["Write", "write_file"];

/// Tools to take by name from a client that shall only answer and has no flag for a client without tools.
pub const ACTING: &str = "Bash,Edit,MultiEdit,Write,NotebookEdit,Read,Glob,Grep,LS,Task,Agent,WebFetch,WebSearch,TodoWrite";

/// The items of a tool use block: usually one line; for to-do lists and plans, their content.
pub(super) fn items_of_use(id: &str, name: &RawText<'_>, input: Option<Raw<'_>>, sanitizer: &Sanitizer) -> Vec<Item> {
    let Some(input) = input else { return Vec::new() };
    match name.known(&["TodoWrite", "TaskCreate", "TaskUpdate"]) {
        "TodoWrite" => todos(input, "todos", &["content", "subject"], sanitizer).into_iter().collect(),
        "TaskCreate" => task(input, "subject", "pending", sanitizer).into_iter().collect(),
        "TaskUpdate" => task(input, "taskId", "", sanitizer).into_iter().collect(),
        _ if name.is_one_of(&LOOKS_UP) => {
            let ids = RawText::joined(&json::strings(input), " ").looked_up_ids();
            if ids.is_empty() { Vec::new() } else { vec![Item::Evidence(Evidence::LookedUp(ids))] }
        }
        _ => match TOOLS.class_of_raw(name).unwrap_or(ToolClass::Other) {
            ToolClass::Plan => plan(id, name, input, sanitizer),
            ToolClass::Shell => command(id, name, input, sanitizer),
            class => vec![Item::Tool(tool_use(id, name, class, input, sanitizer))],
        },
    }
}

fn plan(id: &str, name: &RawText<'_>, input: Raw<'_>, sanitizer: &Sanitizer) -> Vec<Item> {
    let plan = argument(input, &["plan"], sanitizer).map(|plan| head_and_tail(&plan, MAX_TEXT_CHARS));
    plan.map(|plan| vec![Item::Plan(plan), Item::Tool(ToolUse::new(id, tool_name(name, sanitizer), "plan", None))])
        .unwrap_or_default()
}

fn command(id: &str, name: &RawText<'_>, input: Raw<'_>, sanitizer: &Sanitizer) -> Vec<Item> {
    let is_kept = !sanitizer.excludes_any(|| json::strings(input));
    let [command, background] = json::fields(input, &["command", "run_in_background"]).unwrap_or_default();
    let command = command.filter(|_| is_kept).and_then(|command| sanitized_text(command, sanitizer));
    let (line, run) = line_and_run(id, command.as_deref(), !json::is_true(background), sanitizer);
    let tool = ToolUse::new(id, tool_name(name, sanitizer), line, None);
    std::iter::once(Item::Tool(tool)).chain(run.map(|run| Item::Evidence(Evidence::Ran(run)))).collect()
}

fn tool_use(id: &str, name: &RawText<'_>, class: ToolClass, input: Raw<'_>, sanitizer: &Sanitizer) -> ToolUse {
    let (line, file) = match class {
        _ if sanitizer.excludes_any(|| json::strings(input)) => (EXCLUDED_LINE.to_owned(), None),
        ToolClass::Edit if name.is_one_of(&WRITES_WHOLE) => touched(input, Touch::Written, sanitizer),
        ToolClass::Edit => touched(input, Touch::Edited, sanitizer),
        ToolClass::Read => touched(input, Touch::Read, sanitizer),
        ToolClass::Subagent => (told_in(input, &["description", "prompt"], sanitizer), None),
        ToolClass::Question => (questions(input, sanitizer), None),
        _ => (describe_arguments(input, sanitizer), None),
    };
    ToolUse::new(id, tool_name(name, sanitizer), line, file)
}

fn touched(input: Raw<'_>, how: Touch, sanitizer: &Sanitizer) -> (String, Option<FileTouch>) {
    // Such an input may hold a whole file, so it is scanned once.
    const NAMES: NameTable<10> = NameTable::of([
        "file_path", "notebook_path", "absolute_path", "path", "filePath", "edits", "old_string", "new_string", "content",
        "new_source",
    ]);
    let Ok([paths @ .., edits, old, new, content, source]) = json::fields(input, &NAMES) else {
        return (describe_arguments(input, sanitizer), None);
    };
    let paths: [Option<Raw<'_>>; 5] = paths;
    let Some(path) = paths.into_iter().flatten().find_map(|path| sanitized_text(path, sanitizer)) else {
        return (describe_arguments(input, sanitizer), None);
    };
    let edits = edits.map(json::elements).unwrap_or_default();
    let edits = edits.iter().map(|edit| json::fields(edit, &["old_string", "new_string", "content", "new_source"]));
    let (mut removed, mut added) = (vec![old], vec![new, content, source]);
    for [old, new, content, source] in edits.flatten() {
        removed.push(old);
        added.extend([new, content, source]);
    }
    touch(one_line(&path), how, &removed, &added)
}

fn questions(input: Raw<'_>, sanitizer: &Sanitizer) -> String {
    let Ok([list]) = json::fields(input, &["questions"]) else { return String::new() };
    let list = list.map(json::elements).unwrap_or_default();
    let asked: Vec<String> = list.into_iter().filter_map(|q| argument(q, &["question"], sanitizer)).collect();
    shorten(&one_line(&asked.join(" / ")), MAX_COMMAND_CHARS)
}

/// A task created or changed. The client numbers tasks in the result of their creation, which [`outcome`] reads.
fn task(input: Raw<'_>, name: &str, status: &str, sanitizer: &Sanitizer) -> Option<Item> {
    let value = argument(input, &[name], sanitizer)?;
    let status = argument(input, &["status"], sanitizer).unwrap_or_else(|| status.to_owned());
    Some(Item::Task(match name {
        "taskId" => Todo {
            id: value,
            text: argument(input, &["subject"], sanitizer).map(|text| line_of(&text)).unwrap_or_default(),
            status,
        },
        _ => Todo { id: String::new(), text: line_of(&value), status },
    }))
}

/// Lines that are a single tool use or result: the oldest layout, and that of another client.
///
/// They carry no id; it is derived from the tool's name and input, which the result repeats.
pub(super) fn parse_old_line(fields: &LineFields<'_>, kind: &str) -> Vec<Item> {
    let nested = fields.raw(Field::Message).filter(|m| json::is_object(*m));
    let inner = nested.and_then(|m| json::fields(m, &["tool_name", "tool_input", "tool_output", "status"]).ok());
    let [name, input, output, status] =
        inner.unwrap_or([fields.raw(Field::ToolName), fields.raw(Field::ToolInput), fields.raw(Field::ToolOutput), None]);
    let (Some(name), Some(input)) = (name.and_then(json::text), input) else { return Vec::new() };
    let id = input.key_in(&name).to_string();
    let failed = status.and_then(json::text).is_some_and(|s| s.is_one_of(&["error", "failed"]));
    let used =
        if kind == "tool_result" { Vec::new() } else { items_of_use(&id, &current_name(&name), Some(input), fields.sanitizer) };
    let ended = output.map(|output| outcome::told_by(&id, !failed, Some(output), fields));
    used.into_iter().chain(ended.into_iter().flatten()).collect()
}

/// Maps tool names to today's spelling: the oldest layout writes them in lower case.
fn current_name<'n>(name: &'n RawText<'_>) -> RawText<'n> {
    const KNOWN: [&str; 11] =
        ["Bash", "Read", "Edit", "MultiEdit", "Write", "Grep", "Glob", "Task", "WebFetch", "WebSearch", "TodoWrite"];
    name.part(|name| KNOWN.into_iter().find(|known| known.eq_ignore_ascii_case(name))).unwrap_or_else(|| name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_in_one_class() {
        let names: Vec<&str> = TOOLS.named.iter().chain(TOOLS.served).flat_map(|(_, names)| *names).copied().collect();
        for (n, name) in names.iter().enumerate() {
            assert!(!names[..n].contains(name), "{name} stands there twice");
        }
        assert!(WRITES_WHOLE.iter().all(|name| TOOLS.class_of(name) == Some(ToolClass::Edit)));
        let skipped = TOOLS.of_no_memory();
        assert!(skipped.iter().any(|name| name == "Skill") && skipped.iter().any(|name| name == "mcp__ide__*"), "{skipped:?}");
        // One's outcome says whether a plan was approved, the other's line what another agent was asked.
        assert!(!skipped.iter().any(|name| ["ExitPlanMode", "Task"].contains(&name.as_str())), "{skipped:?}");
        assert_eq!(TOOLS.class_of("mcp__ide__getDiagnostics"), Some(ToolClass::Bookkeeping));
        assert_eq!(
            (TOOLS.class_of("mcp__ide"), TOOLS.class_of("Skills"), TOOLS.class_of("bash"), TOOLS.class_of("")),
            (None, None, None, None)
        );
    }

    #[test]
    fn a_tool_use_that_is_read_back_has_the_class_of_its_name_though_it_is_not_stored() {
        for (class, names) in TOOLS.named {
            for name in *names {
                let stored = format!(r#"{{"id":"t","name":"{name}","line":"x"}}"#);
                let tool: ToolUse = serde_json::from_str(&stored).expect("a tool use");
                assert_eq!((tool.class(), serde_json::to_string(&tool).expect("JSON")), (*class, stored));
            }
        }
        let other: ToolUse = serde_json::from_str(r#"{"id":"t","name":"mcp__memory__search","line":"x"}"#).expect("a tool use");
        assert_eq!((other.class(), other.is_of_server()), (ToolClass::Other, true));
    }
}
