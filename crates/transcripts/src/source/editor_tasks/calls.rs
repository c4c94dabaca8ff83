//! Calls of tools: what each did.

use serde::{Deserialize, Serialize};

use super::tools::{OF_SERVER, PATCH, SAYS, TODOS, TOOLS, WRITE};
use super::xml::inside;
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{Evidence, FileTouch, Item, Todo, ToolClass, ToolUse, Touch};
use crate::source::json::{self, Raw};
use crate::source::patch::{self, absolute};
use crate::source::tool_use::{argument, command_in, describe_arguments, line_of, sanitized_text, told_in, tool_name, touch};
use text::clean::one_line;

/// A call that waits for its result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Open {
    pub(super) id: String,
    /// As it is kept.
    pub(super) name: String,
    /// What the user is asked; it has passed the sanitizer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) asked: String,
}

impl Open {
    pub(super) fn class(&self) -> ToolClass {
        TOOLS.class_of(&self.name).unwrap_or(ToolClass::Other)
    }

    /// Is its result what the user says to what the assistant said?
    pub(super) fn says(&self) -> bool {
        SAYS.contains(&self.name.as_str())
    }
}

/// What a call tells: what was done, and what the assistant said by it.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) open: Open,
    pub(super) items: Vec<Item>,
    /// As it stands in the transcript.
    pub(super) said: Option<RawText<'static>>,
}

/// A call of a tool with this id and name, given these arguments.
pub(super) fn told(id: &str, name: &RawText<'_>, given: Raw<'_>, cwd: Option<&str>, sanitizer: &Sanitizer) -> Told {
    let name = tool_name(of_server(name, given), sanitizer);
    let class = TOOLS.class_of(&name).unwrap_or(ToolClass::Other);
    let mut told = Told { open: Open { id: id.to_owned(), name: name.clone(), asked: String::new() }, ..Told::default() };
    if sanitizer.excludes_any(|| json::strings(given)) {
        told.items.push(Item::Tool(ToolUse::new(id, name, EXCLUDED_LINE, None)));
        return told;
    }
    if told.open.says() {
        let [result, response] = json::fields(given, &["result", "response"]).unwrap_or_default();
        told.said = result.or(response).and_then(json::text).map(|text| text.trim().into_owned());
    } else if name == TODOS {
        told.items.extend(todos(given, "todos", sanitizer));
    } else if name == PATCH {
        let patch = argument(given, &["patch", "input"], sanitizer).unwrap_or_default();
        told.items = patch::edits((id, &name), &patch::changes(&patch.into()), cwd, sanitizer);
    } else if class == ToolClass::Shell {
        let (line, run) = command_in(given, id, true, sanitizer);
        told.items.push(Item::Tool(ToolUse::new(id, name, line, None)));
        told.items.extend(run.map(|run| Item::Evidence(Evidence::Ran(run))));
    } else if matches!(class, ToolClass::Edit | ToolClass::Read) {
        told.items = files(id, &name, class, given, cwd, sanitizer);
    } else {
        let line = match class {
            ToolClass::Question => argument(given, &["question"], sanitizer).unwrap_or_default(),
            ToolClass::Search => told_in(given, &["regex", "query", "path"], sanitizer),
            ToolClass::Subagent => told_in(given, &["message", "context", "prompt_1"], sanitizer),
            _ => describe_arguments(given, sanitizer),
        };
        if class == ToolClass::Question {
            told.open.asked = line_of(&line);
        }
        told.items.push(Item::Tool(ToolUse::new(id, name, line_of(&line), None)));
    }
    // Any call may bring the list along.
    told.items.extend(todos(given, "task_progress", sanitizer));
    told
}

/// The name of a tool of a server as all clients' are kept.
fn of_server<'n>(name: &'n RawText<'_>, given: Raw<'_>) -> RawText<'n> {
    let served = || {
        let [server, tool] = json::fields(given, &["server_name", "tool_name"]).ok()?;
        Some(RawText::joined(&["mcp".into(), json::text(server?)?.trim(), json::text(tool?)?.trim()], "__"))
    };
    let parts = || {
        let served = name.strip_prefix("mcp--")?;
        served.split_once("--").map(|(server, tool)| RawText::joined(&["mcp".into(), server, tool], "__"))
    };
    if name.is(OF_SERVER) { served() } else { parts() }.unwrap_or_else(|| name.into())
}

/// A use for each file that a call names.
fn files(id: &str, name: &str, class: ToolClass, given: Raw<'_>, cwd: Option<&str>, sanitizer: &Sanitizer) -> Vec<Item> {
    let how = match class {
        ToolClass::Read => Touch::Read,
        _ if name == WRITE => Touch::Written,
        _ => Touch::Edited,
    };
    let all = paths(given, sanitizer);
    let one = |(n, path): (usize, &String)| {
        let path = absolute(&one_line(path), cwd);
        let (line, file) = if all.len() == 1 { touched(path, how, given) } else { touch(path, how, &[], &[]) };
        let id = if n == 0 { id.to_owned() } else { format!("{id}/{n}") };
        Item::Tool(ToolUse::new(id, name, line, file))
    };
    if all.is_empty() {
        return vec![Item::Tool(ToolUse::new(id, name, describe_arguments(given, sanitizer), None))];
    }
    all.iter().enumerate().map(one).collect()
}

/// The paths that a call names: one, a list of files, or a list as XML.
fn paths(given: Raw<'_>, sanitizer: &Sanitizer) -> Vec<String> {
    let [path, file, files, args] = json::fields(given, &["path", "file_path", "files", "args"]).unwrap_or_default();
    if let Some(path) = path.or(file).and_then(|path| sanitized_text(path, sanitizer)) {
        return vec![path];
    }
    let of_file = |file: Raw<'_>| argument(file, &["path"], sanitizer).or_else(|| sanitized_text(file, sanitizer));
    let listed: Vec<_> = files.map(json::elements).unwrap_or_default().into_iter().filter_map(of_file).collect();
    let args = args.and_then(json::text).unwrap_or_default();
    let in_xml = args.parts(|args| inside(args, "path")).into_iter().map(|path| sanitizer.clean(path));
    listed.into_iter().chain(in_xml).filter(|path| !path.trim().is_empty()).collect()
}

fn touched(path: String, how: Touch, given: Raw<'_>) -> (String, Option<FileTouch>) {
    let names = ["content", "diff", "old_string", "search", "new_string", "replace"];
    let [content, diff, old, search, new, replace] = json::fields(given, &names).unwrap_or_default();
    let (line, file) = touch(path, how, &[old, search], &[content, new, replace]);
    let (removed, added) = diff.and_then(json::text).map_or((0, 0), |diff| diff.tells(replaced_lines));
    (line, file.map(|file| FileTouch { added: file.added + added, removed: file.removed + removed, ..file }))
}

/// How many lines the blocks of a diff take away and put there.
fn replaced_lines(diff: &str) -> (u32, u32) {
    let (mut removed, mut added, mut within) = (0, 0, None);
    for line in diff.lines() {
        let is_mark = |end: &str| line.ends_with(end) && line.starts_with(['<', '>', '-', '+']);
        if is_mark(" SEARCH") {
            within = Some(false);
        } else if is_mark(" REPLACE") {
            within = None;
        } else if line == "=======" {
            within = within.map(|_| true);
        } else if line.starts_with(":start_line:") || line.starts_with(":end_line:") || line == "-------" {
            // Where the block belongs.
        } else if let Some(is_new) = within {
            *if is_new { &mut added } else { &mut removed } += 1;
        }
    }
    (removed, added)
}

/// A list of what is to be done, as markdown.
fn todos(given: Raw<'_>, name: &str, sanitizer: &Sanitizer) -> Option<Item> {
    let list = argument(given, &[name], sanitizer)?;
    let of_line = |line: &str| {
        let line = line.trim_start().trim_start_matches(['-', '*']).trim_start().strip_prefix('[')?;
        let (mark, text) = line.split_once(']')?;
        let status = match mark.trim() {
            "" => "pending",
            "x" | "X" => "completed",
            _ => "in_progress",
        };
        Some(Todo { id: String::new(), text: line_of(text.trim()), status: status.to_owned() })
    };
    let all: Vec<Todo> = list.lines().filter_map(of_line).filter(|todo| !todo.text.is_empty()).collect();
    (!all.is_empty()).then_some(Item::Todos(all))
}
