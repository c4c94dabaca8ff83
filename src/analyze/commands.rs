//! The commands that a session ran and of which it was seen how they ended: checks, and what builds, formats, runs, deploys or
//! migrates something. Pure.

use serde::{Deserialize, Serialize};

use crate::analyze::failures::{End, Ended, RunKey, Runs, class_of, relative};
use text::clean::{one_line, shorten};
use transcripts::session::{Item, Millis, Session, ShellStep, ToolUse};
use transcripts::shell::{CommandClass, SameRun, activation, only_lists, single_step, variables};

const MAX_LINE_CHARS: usize = 200;
/// The most commands that are kept of a session.
const MAX_COMMANDS: usize = 60;

/// A command, however it was written, with how its runs ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedCommand {
    /// By what it is known again in its project.
    pub(crate) same: String,
    pub(crate) class: CommandClass,
    /// Its newest form that passed, else its newest.
    pub(crate) line: String,
    /// Where it ran, as seen from the project; empty for the project's own folder.
    pub(crate) folder: String,
    pub(crate) ran: usize,
    pub(crate) passed: usize,
    pub(crate) passed_last: bool,
    pub(crate) at: Option<Millis>,
}

impl UsedCommand {
    /// Takes in later runs of the same.
    pub(crate) fn add(&mut self, later: Self) {
        self.ran += later.ran;
        self.passed += later.passed;
        if later.passed > 0 || self.passed == later.passed {
            (self.line, self.class) = (later.line, later.class);
        }
        (self.passed_last, self.at) = (later.passed_last, later.at);
    }
}

/// The commands of a session, each once, in the order in which they ran first.
pub(super) fn of(session: &Session, runs: &Runs<'_>) -> Vec<UsedCommand> {
    let mut all: Vec<UsedCommand> = Vec::new();
    for (entry, ended) in session.entries.iter().zip(runs.ends()) {
        let (Item::Tool(tool), Some(ended)) = (&entry.item, ended) else { continue };
        for (line, folder, class, end) in used(runs, tool, ended).into_iter().filter(|(line, ..)| !only_lists(line)) {
            let folder = place(session, &folder);
            let passed = end == End::Passed;
            let by = activation(&tool.line);
            let same = SameRun::of(&line, &folder, |path| relative(session, path)).text();
            let variables = variables(by.as_deref(), &line);
            let same = if variables.is_empty() { same } else { format!("{same}\u{1f}{variables}") };
            let line = by.map_or(line.clone(), |by| format!("{by} && {line}"));
            let line = shorten(&one_line(&line), MAX_LINE_CHARS);
            let run = UsedCommand { same, class, line, folder, ran: 1, passed: passed.into(), passed_last: passed, at: entry.at };
            match all.iter_mut().find(|known| known.same == run.same) {
                Some(known) => known.add(run),
                None => all.push(run),
            }
        }
    }
    all.truncate(MAX_COMMANDS);
    all
}

/// Line, folder, class and end of what a command ran, of which it was seen how it ended.
fn used(runs: &Runs<'_>, tool: &ToolUse, ended: &Ended) -> Vec<(String, String, CommandClass, End)> {
    let work = runs.work(tool);
    let seen = work.iter().zip(&ended.steps).filter(|(_, (_, end))| *end != End::Unknown);
    let told = |step: &ShellStep, end| class_of(step).map(|class| (step.line.clone(), step.folder.clone(), class, end));
    match &ended.key {
        // Stored before steps were kept of it.
        RunKey::Line(line) if work.is_empty() && ended.end != End::Unknown => {
            let class = single_step(line).and_then(|words| CommandClass::of(&words));
            // A line without the folder that it went to first tells where it ran only if it went nowhere.
            let stays = !tool.line.trim_start().starts_with("cd ");
            class.filter(|_| stays).map(|class| (line.clone(), String::new(), class, ended.end)).into_iter().collect()
        }
        _ => seen.filter_map(|(step, (_, end))| told(step, *end)).collect(),
    }
}

/// A folder as seen from the project.
fn place(session: &Session, folder: &str) -> String {
    let cwd = session.cwd.as_deref().unwrap_or_default();
    let here = folder.trim_start_matches("./").trim_end_matches('/');
    let path = match here {
        "" | "." => cwd.to_owned(),
        path if path.starts_with(['/', '~', '$', '`']) => path.to_owned(),
        path => format!("{cwd}/{path}"),
    };
    let key = session.project.key.as_str();
    path.strip_prefix(key).map_or(path.clone(), |inside| inside.trim_start_matches('/').to_owned())
}
