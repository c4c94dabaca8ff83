//! Commands that work, by project and class.

use serde::Serialize;

use text::clean::{counted, one_line, without_controls};
use transcripts::shell::CommandClass;

/// A command, with how its runs ended.
#[derive(Debug, Serialize)]
pub(crate) struct KnownCommand {
    /// The project's key.
    pub(crate) project: String,
    /// It is another project than that of whoever asks.
    #[serde(skip)]
    pub(crate) elsewhere: bool,
    pub(crate) class: CommandClass,
    pub(crate) command: String,
    /// Where it ran, as seen from the project; empty for the project's own folder.
    pub(crate) folder: String,
    /// How many runs were seen to end, and how many of them passed.
    pub(crate) ran: usize,
    pub(crate) passed: usize,
    pub(crate) passed_last: bool,
    /// The day on which it ran last.
    pub(crate) last: String,
}

/// Lines for commands that are sorted by project and class; of each class at most so many.
pub(crate) fn command_lines(commands: &[KnownCommand], most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for of_project in commands.chunk_by(|one, next| one.project == next.project) {
        if of_project[0].elsewhere {
            lines.push(format!("in {}:", one_line(&without_controls(&of_project[0].project))));
        }
        for of_class in of_project.chunk_by(|one, next| one.class == next.class) {
            let class = of_class[0].class.name();
            lines.push(class.to_owned());
            lines.extend(of_class.iter().take(most).map(KnownCommand::line));
            if of_class.len() > most {
                lines.push(format!("  and {} more: `recall how {class}`", of_class.len() - most));
            }
        }
    }
    lines
}

impl KnownCommand {
    fn line(&self) -> String {
        let Self { command, folder, ran, passed, passed_last, last, .. } = self;
        let folder = if folder.is_empty() { String::new() } else { format!(" in {folder}") };
        let last = if *passed_last { format!("last on {last}") } else { format!("failed when it ran last, on {last}") };
        format!("  `{command}`{folder}: passed {passed} of {}, {last}", counted(*ran, "run"))
    }
}
