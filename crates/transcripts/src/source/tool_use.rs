//! Tool uses as they are kept, whatever the client: what each is for, a command in one line and as evidence, other arguments in one line,
//! to-do lists.

use super::json::{self, Raw};
use super::json_cursor::NameTable;
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{FileTouch, Item, ShellRun, Todo, ToolClass, ToolUse, Touch};
use crate::shell;
use text::clean::{head_and_tail, one_line, shorten};

/// Longest stored command, in characters: heredocs and inline scripts exceed it.
pub(super) const MAX_COMMAND_CHARS: usize = 500;
const MAX_ARGUMENT_CHARS: usize = 160;
const MAX_TOOL_NAME_CHARS: usize = 80;

/// What each of a client's tools is for. All else asks for the class and no name.
pub struct ToolTable {
    pub(super) named: Classes,
    /// Tools of servers, by how their names begin.
    pub(super) served: Classes,
    /// Those of another form in which the client writes, too.
    also: Option<&'static ToolTable>,
}

type Classes = &'static [(ToolClass, &'static [&'static str])];

impl ToolTable {
    pub(super) const fn of(named: Classes) -> Self {
        Self { named, served: &[], also: None }
    }

    pub(super) const fn with_servers(self, served: Classes) -> Self {
        Self { served, ..self }
    }

    pub(super) const fn with(self, also: &'static Self) -> Self {
        Self { also: Some(also), ..self }
    }

    /// What a tool is for; `None` if it is unknown.
    pub(super) fn class_of(&self, name: &str) -> Option<ToolClass> {
        let named = || self.named.iter().find(|(_, names)| names.contains(&name));
        let served = || self.served.iter().find(|(_, starts)| starts.iter().any(|start| name.starts_with(start)));
        named().or_else(served).map(|(class, _)| *class).or_else(|| self.also?.class_of(name))
    }

    /// The same by a name as the transcript has it.
    pub(super) fn class_of_raw(&'static self, name: &RawText<'_>) -> Option<ToolClass> {
        name.tells_by(self, |name, table| table.class_of(name))
    }

    /// The tools whose uses are no memory, in the order of their names, then those of servers; `*` stands for any ending.
    pub(super) fn of_no_memory(&self) -> Vec<String> {
        let mut tools: Vec<String> = of_no_memory(self.named).map(str::to_owned).collect();
        tools.sort_by_cached_key(|name| name.to_lowercase());
        tools.extend(of_no_memory(self.served).map(|start| format!("{start}*")));
        tools.extend(self.also.map(Self::of_no_memory).unwrap_or_default());
        tools
    }

    /// The names of those that no server has.
    pub(super) fn named_of_no_memory(&self) -> Vec<&'static str> {
        of_no_memory(self.named).chain(self.also.map(Self::named_of_no_memory).unwrap_or_default()).collect()
    }

    /// How the names of those begin that servers have.
    pub(super) fn served_of_no_memory(&self) -> Vec<&'static str> {
        of_no_memory(self.served).chain(self.also.map(Self::served_of_no_memory).unwrap_or_default()).collect()
    }
}

fn of_no_memory(all: Classes) -> impl Iterator<Item = &'static str> {
    all.iter().filter(|(class, _)| class.is_no_memory()).flat_map(|(_, names)| names.iter().copied())
}

/// A tool's name as it is kept: those of our own server in one way, so that its replies are not read again.
pub(super) fn tool_name<'t>(name: impl Into<RawText<'t>>, sanitizer: &Sanitizer) -> String {
    let name = shorten(&one_line(&sanitizer.clean(name)), MAX_TOOL_NAME_CHARS);
    sanitizer.own_tool(&name).unwrap_or(name)
}

/// The first of the named arguments that says something, in one line.
pub(super) fn told_in<const N: usize>(input: Raw<'_>, names: &[&str; N], sanitizer: &Sanitizer) -> String {
    argument(input, names, sanitizer).map(|text| line_of(&text)).unwrap_or_default()
}

/// The command that the tool of this id was given as `command`, in one line, and what is evidence of it.
pub(super) fn command_in(input: Raw<'_>, id: &str, awaited: bool, sanitizer: &Sanitizer) -> (String, Option<ShellRun>) {
    line_and_run(id, argument(input, &["command"], sanitizer).as_deref(), awaited, sanitizer)
}

/// A command in one line, and what is evidence of it. It has passed the sanitizer; `None` is one of which nothing may be kept.
pub(super) fn line_and_run(id: &str, command: Option<&str>, awaited: bool, sanitizer: &Sanitizer) -> (String, Option<ShellRun>) {
    let Some(command) = command else { return (EXCLUDED_LINE.to_owned(), None) };
    match sanitizer.withheld_command(command) {
        Some(withheld) => (shorten(&withheld, MAX_COMMAND_CHARS), None),
        None => {
            let line = line_of_command(command);
            let run = if may_have_run(id, &line) { shell::run(id, command, awaited) } else { None };
            (line, run)
        }
    }
}

/// A command in one line; `None` is one of which nothing may be kept. It has passed the sanitizer.
pub(super) fn command_line(command: Option<&str>, sanitizer: &Sanitizer) -> String {
    let Some(command) = command else { return EXCLUDED_LINE.to_owned() };
    let withheld = sanitizer.withheld_command(command);
    withheld.map_or_else(|| line_of_command(command), |withheld| shorten(&withheld, MAX_COMMAND_CHARS))
}

fn line_of_command(command: &str) -> String {
    let first_line_matters = command.lines().count() > 12;
    let text = if first_line_matters { &head_and_tail(command, MAX_COMMAND_CHARS) } else { command };
    shorten(&one_line(text), MAX_COMMAND_CHARS)
}

/// What is evidence of a command, which is looked at as a whole. Nothing of one that is withheld is. `awaited`: the client waited for its end.
pub(super) fn shell_run(tool: &ToolUse, command: &str, awaited: bool, sanitizer: &Sanitizer) -> Option<ShellRun> {
    let is_kept = may_have_run(&tool.id, &tool.line) && sanitizer.withheld_command(command).is_none();
    if is_kept { shell::run(&tool.id, command, awaited) } else { None }
}

fn may_have_run(id: &str, line: &str) -> bool {
    !id.is_empty() && line != EXCLUDED_LINE
}

/// The first of the named arguments that is a string and not empty once sanitized.
pub(super) fn argument<const N: usize>(input: Raw<'_>, names: &[&str; N], sanitizer: &Sanitizer) -> Option<String> {
    let found = json::fields(input, names).ok()?;
    found.into_iter().flatten().find_map(|value| sanitized_text(value, sanitizer))
}

pub(super) fn sanitized_text(value: Raw<'_>, sanitizer: &Sanitizer) -> Option<String> {
    json::text(value).map(|t| sanitizer.clean(&t)).filter(|t| !t.is_empty())
}

/// An argument in one line.
pub(super) fn line_of(text: &str) -> String {
    shorten(&one_line(text), MAX_ARGUMENT_CHARS)
}

/// For any other tool: the string arguments that usually say what it is about.
pub(super) fn describe_arguments(input: Raw<'_>, sanitizer: &Sanitizer) -> String {
    const TELLING: NameTable<12> = NameTable::of([
        "pattern", "query", "url", "path", "description", "title", "command", "name", "prompt", "text", "skill", "id",
    ]);
    let Ok(found) = json::fields(input, &TELLING) else { return String::new() };
    // Of a tool that is given a private file, only the path is shown.
    if let Some(path) = json::strings(input).into_iter().find(|text| sanitizer.is_private_file(text)) {
        return line_of(&sanitizer.clean(path));
    }
    let texts = found.into_iter().flatten().filter_map(json::text).map(|t| sanitizer.clean(&t)).filter(|t| !t.is_empty()).take(3);
    line_of(&texts.map(|t| shorten(&one_line(&t), 100)).collect::<Vec<_>>().join(" · "))
}

/// The list of what is to be done, in an argument of this name; each item has its text in the first of the named fields.
pub(super) fn todos<const N: usize>(input: Raw<'_>, list: &str, texts: &[&str; N], sanitizer: &Sanitizer) -> Option<Item> {
    let [list] = json::fields(input, &[list]).ok()?;
    let all = json::elements(list?).into_iter().filter_map(|todo| {
        let text = line_of(&argument(todo, texts, sanitizer)?);
        Some(Todo { id: String::new(), text, status: argument(todo, &["status"], sanitizer).unwrap_or_default() })
    });
    Some(Item::Todos(all.collect()))
}

/// A file that a tool touched at this path, and the lines that it took away and put there; all of it has passed the sanitizer.
pub(super) fn touch(
    path: String,
    how: Touch,
    removed: &[Option<Raw<'_>>],
    added: &[Option<Raw<'_>>],
) -> (String, Option<FileTouch>) {
    let count = |texts: &[Option<Raw<'_>>]| texts.iter().flatten().map(|text| json::lines_in(*text)).sum();
    let (added, removed) = if how == Touch::Read { (0, 0) } else { (count(added), count(removed)) };
    (path.clone(), Some(FileTouch { path, how, added, removed }))
}
