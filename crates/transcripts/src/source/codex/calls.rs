//! Calls of tools and their outputs, as the model's API has them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::rows::{CodexLines, texts};
use super::tools::{CODE, PATCH, PLAN, QUESTION, STDIN, TOOLS};
use crate::privacy::raw::RawText;
use crate::privacy::{EXCLUDED_LINE, Sanitizer};
use crate::session::{Answer, Evidence, FileTouch, Item, ToolClass, ToolUse, Touch, Turn};
use crate::source::json::{self, Raw};
use crate::source::line::MAX_TEXT_CHARS;
use crate::source::patch::{self, edits};
use crate::source::row::{NoRecord, Said, unended};
use crate::source::tool_use::{argument, command_line, describe_arguments, line_of, shell_run, todos, told_in, tool_name};
use text::clean::{head_and_tail, one_line};

/// How outputs without an exit code begin when the tool use did not happen or failed.
const FAILURES: [&str; 9] = [
    "apply_patch verification failed", "exec command rejected", "patch rejected", "failed to ", "execution error",
    "unsupported call", "command timed out", "aborted", "error:",
];
/// What they say when the user refused.
const REFUSALS: [&str; 2] = ["rejected by user", "rejected by the user"];
/// Before what the user wrote in a dialog, beside what they chose.
const NOTE: &str = "user_note: ";

/// A call whose output is awaited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) id: String,
    is_command: bool,
    /// The command that it lets run on, or types into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    /// Questions to the user, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    asked: Vec<(String, String)>,
}

/// A command that runs on after its call was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Running {
    /// The client's number of its process.
    pub(super) process: i64,
    pub(super) call: String,
}

/// A call. Where finished items tell what was done, only what they leave out is taken from it.
pub(super) fn begun(lines: &mut CodexLines<'_>, kind: &'static str, payload: Raw<'_>) -> Result<Said, NoRecord> {
    let names = ["name", "namespace", "arguments", "input", "call_id", "id", "action"];
    let [name, namespace, arguments, input, call, id, action] = json::fields(payload, &names).map_err(|_| NoRecord::Known)?;
    let text = |raw: Option<Raw<'_>>| raw.and_then(json::text).map(RawText::into_owned).unwrap_or_default();
    let id = json::id(call, lines.sanitizer).or_else(|| json::id(id, lines.sanitizer)).unwrap_or_default();
    let sanitizer = lines.sanitizer;
    let is_told_again = lines.state.finished;
    if kind == "web_search_call" {
        let query = action.and_then(|action| argument(action, &["query", "url"], sanitizer)).map(|query| line_of(&query));
        return match query {
            Some(query) if !is_told_again => Ok(Said::only([Item::Tool(ToolUse::new(id, "web_search", query, None))])),
            _ => Err(NoRecord::Known),
        };
    }
    let name = match kind {
        "local_shell_call" => RawText::from("local_shell"),
        _ => server_tool(&text(namespace), &text(name)),
    };
    // The arguments are JSON in a string.
    let arguments =
        if kind == "local_shell_call" { action.map(|action| action.written().into_owned()) } else { Some(text(arguments)) };
    let arguments = arguments.unwrap_or_default();
    let given = Raw::of(&arguments).ok().filter(|given| json::is_object(*given));
    let class = TOOLS.class_of_raw(&name).unwrap_or(ToolClass::Other);
    match class {
        _ if name.is(CODE) => Err(NoRecord::Known),
        ToolClass::Shell | ToolClass::Edit | ToolClass::Read if is_told_again => Err(NoRecord::Known),
        _ if is_told_again && name.starts_with("mcp__") => Err(NoRecord::Known),
        _ if name.is(PLAN) => Ok(Said::only(given.and_then(|given| todos(given, "plan", &["step"], sanitizer)))),
        ToolClass::Question if name.is(QUESTION) => Ok(Said::only(question(lines, id, given))),
        ToolClass::Edit => {
            let text = if name.is(PATCH) { text(input) } else { RawText::default() };
            let in_list = || given.map(|given| RawText::joined(&json::strings(given), "\n")).unwrap_or_default();
            let text = if text.is_empty() { in_list() } else { text };
            Ok(patched(lines, id, &text))
        }
        ToolClass::Shell => Ok(command(lines, id, &name, given)),
        ToolClass::Read => {
            let path = given.and_then(|given| argument(given, &["path"], sanitizer)).ok_or(NoRecord::Known)?;
            Ok(Said::only([looked_at(&id, &path)]))
        }
        _ => {
            let line = match given {
                Some(given) if sanitizer.excludes_any(|| json::strings(given)) => EXCLUDED_LINE.to_owned(),
                Some(given) if class == ToolClass::Subagent => told_in(given, &["message", "task_name", "prompt"], sanitizer),
                Some(given) => describe_arguments(given, sanitizer),
                None => line_of(&sanitizer.clean(text(input))),
            };
            let process = given.filter(|_| name.is(STDIN)).and_then(|given| json::fields(given, &["session_id"]).ok());
            let of = process.and_then(|[process]| lines.state.call_of_process(json::integer(process)?));
            lines.state.await_output(Call { of, ..Call::of(&id) });
            Ok(Said::only([Item::Tool(ToolUse::new(id, tool_name(&name, sanitizer), line, None))]))
        }
    }
}

/// The name of a server's tool as other clients write it.
fn server_tool(namespace: &RawText<'_>, name: &RawText<'_>) -> RawText<'static> {
    if namespace.starts_with("mcp__") && !name.starts_with("mcp__") {
        let server = namespace.part(|namespace| Some(namespace.trim_end_matches('_'))).unwrap_or_default();
        return RawText::joined(&[server, name.into()], "__");
    }
    name.clone().into_owned()
}

/// A picture that the assistant looked at.
pub(super) fn looked_at(id: &str, path: &str) -> Item {
    let path = one_line(path);
    let touch = FileTouch { path: path.clone(), how: Touch::Read, added: 0, removed: 0 };
    Item::Tool(ToolUse::new(id, "view_image", path, Some(touch)))
}

fn patched(lines: &mut CodexLines<'_>, id: String, text: &RawText<'_>) -> Said {
    let (changes, cwd) = (patch::changes(text), lines.state.cwd.clone());
    let items = edits((&id, PATCH), &changes, cwd.as_deref(), lines.sanitizer);
    lines.state.await_output(Call::of(&id));
    Said::only(items)
}

fn command(lines: &mut CodexLines<'_>, id: String, name: &RawText<'_>, given: Option<Raw<'_>>) -> Said {
    let sanitizer = lines.sanitizer;
    let [command, cmd, folder, other_folder] =
        given.and_then(|given| json::fields(given, &["command", "cmd", "workdir", "working_directory"]).ok()).unwrap_or_default();
    let raw = command.or(cmd).and_then(command_of).unwrap_or_default();
    // A patch that comes through the shell.
    if raw.tells(|raw| raw.trim_start().starts_with(PATCH)) && !patch::changes(&raw).is_empty() {
        return patched(lines, id, &raw);
    }
    let command = Some(sanitizer.clean(raw)).filter(|command| !command.is_empty());
    let tool = ToolUse::new(id.as_str(), tool_name(name, sanitizer), command_line(command.as_deref(), sanitizer), None);
    let folder = folder.or(other_folder).and_then(json::text).map(|folder| sanitizer.redact(&folder)).filter(|f| !f.is_empty());
    let elsewhere = folder.filter(|folder| lines.state.cwd.as_deref().is_some_and(|cwd| cwd != folder));
    let run = command.and_then(|command| shell_run(&tool, &typed(&command, elsewhere), true, sanitizer));
    lines.state.await_output(Call { is_command: true, ..Call::of(&id) });
    Said::only(std::iter::once(Item::Tool(tool)).chain(run.map(|run| Item::Evidence(Evidence::Ran(run)))))
}

/// A command as it was typed: without the shell that runs it.
pub(super) fn command_of(raw: Raw<'_>) -> Option<RawText<'_>> {
    if let Some(text) = json::text(raw) {
        return Some(text);
    }
    let words: Vec<RawText<'_>> = json::elements(raw).into_iter().filter_map(json::text).collect();
    match words.as_slice() {
        [] => None,
        [shell, flag, script] if shell.tells(is_shell) && flag.is_one_of(&["-lc", "-c", "-Command"]) => Some(script.clone()),
        _ => Some(RawText::joined(&words.iter().map(|word| word.made(quoted)).collect::<Vec<_>>(), " ")),
    }
}

/// A command with the folder it was run in, where that is another than the session's.
pub(super) fn typed(command: &str, elsewhere: Option<String>) -> String {
    elsewhere.map_or_else(|| command.to_owned(), |folder| format!("cd {} && {command}", quoted(&folder)))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> Cow<'_, str> {
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(name.trim_end_matches(".exe"), "bash" | "sh" | "zsh" | "fish" | "dash" | "pwsh" | "powershell")
}

fn question(lines: &mut CodexLines<'_>, id: String, given: Option<Raw<'_>>) -> Option<Item> {
    let [questions] = json::fields(given?, &["questions"]).ok()?;
    let of_one = |one: Raw<'_>| {
        let [id, question] = json::fields(one, &["id", "question"]).ok()?;
        Some((lines.sanitizer.id(json::text(id?)?), lines.sanitizer.clean(json::text(question?)?)))
    };
    let asked: Vec<(String, String)> = json::elements(questions?).into_iter().filter_map(of_one).collect();
    let line = line_of(&asked.iter().map(|(_, question)| question.as_str()).collect::<Vec<_>>().join(" / "));
    lines.state.await_output(Call { asked, ..Call::of(&id) });
    Some(Item::Tool(ToolUse::new(id, QUESTION, line, None)))
}

/// The output of a call that is awaited.
pub(super) fn ended(lines: &mut CodexLines<'_>, payload: Raw<'_>) -> Result<Said, NoRecord> {
    let [call, output] = json::fields(payload, &["call_id", "output"]).map_err(|_| NoRecord::Known)?;
    let id = json::id(call, lines.sanitizer).unwrap_or_default();
    let Some(call) = lines.state.answered(&id) else { return Err(NoRecord::Known) };
    let sanitizer = lines.sanitizer;
    let text = output.map(|output| RawText::joined(&texts(output), "\n")).unwrap_or_default();
    if !call.asked.is_empty() {
        return Ok(answers(call, &text, sanitizer));
    }
    let Ended { end, code, text } = Ended::of(&text, call.is_command);
    let ok = match end {
        // Its end may be told later, so it stays awaited.
        End::RunsOn(process) if lines.runs.of(&call.id).is_some() => {
            lines.state.runs_on(Running { process, call: call.id.clone() });
            return Ok(Said::only([unended(call.id)]));
        }
        End::RunsOn(_) => return Ok(Said { answered: vec![call.id], ..Said::default() }),
        End::Seen(ok) => ok,
    };
    if let Some(command) = call.of.filter(|_| code.is_some()) {
        lines.state.ends(&command);
        let mut said = Said::ended(command, false, (ok, code, &text), &lines.runs, sanitizer);
        said.answered.push(call.id);
        return Ok(said);
    }
    let refused = !ok && REFUSALS.iter().any(|words| text.contains(words)) && code.is_none();
    Ok(Said::ended(call.id, refused, (ok, code, &text), &lines.runs, sanitizer))
}

/// What the user chose or wrote in a dialog. One answer that is private takes the others along: what follows tells of all.
fn answers(call: Call, text: &RawText<'_>, sanitizer: &Sanitizer) -> Said {
    let given = Raw::of(text).ok().and_then(|raw| json::fields(raw, &["answers"]).ok()).and_then(|[answers]| answers);
    let mut all = Said { answered: vec![call.id], ..Said::default() };
    for (id, answer) in given.and_then(json::fields_by_name).unwrap_or_default() {
        let id = sanitizer.id(id);
        let said = json::strings(answer);
        let said: Vec<_> = said.iter().filter_map(|text| text.part(|text| Some(text.strip_prefix(NOTE).unwrap_or(text)))).collect();
        let passed = sanitizer.pass(RawText::joined(&said, "; "));
        all.fenced.push_str(&passed.fenced);
        if passed.is_all_private() {
            all.turn = Turn::BeginsPrivate;
        } else if !passed.text.is_empty() {
            let asked = call.asked.iter().find(|(of, _)| *of == id).map(|(_, question)| question.clone()).unwrap_or_default();
            all.items.push(Item::Answer(Answer { said: head_and_tail(&passed.text, MAX_TEXT_CHARS), asked }));
        }
    }
    if all.turn == Turn::BeginsPrivate {
        all.items.clear();
    }
    all
}

/// Whether a tool use has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Seen(bool),
    /// With the client's number of its process.
    RunsOn(i64),
}

/// How a tool use ended, by its output.
struct Ended<'t> {
    end: End,
    code: Option<i64>,
    /// The output itself.
    text: RawText<'t>,
}

impl Call {
    /// Of which no more is known.
    fn of(id: &str) -> Self {
        Self { id: id.to_owned(), is_command: false, of: None, asked: Vec::new() }
    }
}

impl<'t> Ended<'t> {
    fn of(text: &'t RawText<'_>, is_command: bool) -> Self {
        Self::in_json(text).or_else(|| Self::in_head(text)).unwrap_or_else(|| {
            let failed = text.tells(|text| {
                FAILURES.iter().any(|start| text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)))
            });
            // A command's output without a code is the client's words: the command did not run.
            Self {
                end: End::Seen(!(failed || is_command && REFUSALS.iter().any(|words| text.contains(words)))),
                code: None,
                text: text.into(),
            }
        })
    }

    /// `{"output": …, "metadata": {"exit_code": …}}`
    fn in_json(text: &RawText<'_>) -> Option<Self> {
        let [output, metadata] = json::fields(text, &["output", "metadata"]).ok()?;
        let code = json::fields(metadata?, &["exit_code"]).ok().and_then(|[code]| json::integer(code))?;
        Some(Self { end: End::Seen(code == 0), code: Some(code), text: json::text(output?)?.into_owned() })
    }

    /// Lines of the client, the last of them `Output:`.
    fn in_head(text: &'t RawText<'_>) -> Option<Self> {
        let ([text], ended) = text.apart(|text| match Self::below_head(text) {
            Some((output, end, code)) => ([output.into()], Some((end, code))),
            None => ([text.into()], None),
        });
        ended.map(|(end, code)| Self { end, code, text })
    }

    fn below_head(text: &str) -> Option<(&str, End, Option<i64>)> {
        let (head, output) = text.split_once("Output:\n").or_else(|| Some((text.strip_suffix("Output:")?, "")))?;
        let number = |start: &str| head.lines().find_map(|line| line.strip_prefix(start)?.trim().parse::<i64>().ok());
        let is_head = head.lines().count() <= 8 && head.lines().any(|line| line.starts_with("Wall time"));
        if !is_head {
            return None;
        }
        let code = number("Process exited with code ").or_else(|| number("Exit code: "));
        let runs_on = number("Process running with session ID ").filter(|_| code.is_none());
        Some((output, runs_on.map_or(End::Seen(code.is_none_or(|code| code == 0)), End::RunsOn), code))
    }
}
