//! What `recall --help` lists: the commands by what they are for, each in a line.

use clap::{Command, CommandFactory};
use textwrap::wrap;

use crate::cli::args::Cli;
use crate::cli::examples::with_examples;

/// The commands that people use, by what for; in the order in which they are listed. Those of the last group are named alone.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Daily use", &["day", "list", "show", "serve", "resume", "todo", "report", "close", "remember", "wrong", "rules"]),
    ("Finding", &["search", "timeline", "context", "why", "fix", "how"]),
    ("Keeping it running", &["digest", "install", "status", "doctor", "stats", "pause", "forget"]),
    (
        OTHERS,
        &[
            "config", "embed", "eval", "export", "friction", "import", "mcp", "redact", "share", "sync", "team", "uninstall",
            "completions", "man", "help",
        ],
    ),
];
const OTHERS: &str = "Other commands";
/// The width of a terminal at which no line is broken.
const WIDTH: usize = 80;

/// The command line, with that list in its help.
pub(super) fn command() -> Command {
    let plain = with_examples(Cli::command());
    let help = format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{options}}\n\n{MORE}\n", groups(&plain));
    plain.override_usage("recall <COMMAND>").help_template(help)
}

const MORE: &str = "See `recall help COMMAND` for details.";

fn groups(plain: &Command) -> String {
    let about = |name: &str| {
        let found = plain.get_subcommands().find(|known| known.get_name() == name);
        found.and_then(Command::get_about).map(ToString::to_string).unwrap_or_default()
    };
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for (group, names) in GROUPS {
        text += &format!("{group}:\n");
        // Some are left out of the program by its features.
        let is_there = |name: &&&str| **name == "help" || plain.get_subcommands().any(|known| known.get_name() == **name);
        let names: Vec<&str> = names.iter().filter(is_there).copied().collect();
        match group {
            OTHERS => wrap(&names.join(", "), WIDTH - 2).iter().for_each(|line| text += &format!("  {line}\n")),
            _ => names.iter().for_each(|name| text += &format!("  {name:width$}  {}\n", about(name))),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_is_listed_once_and_no_line_is_too_long_for_a_terminal() {
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().filter(|name| *name != "help").collect();
        let plain = Cli::command();
        let known: BTreeSet<&str> = plain.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        assert_eq!(listed.len(), known.len());
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), known);
        let visible = GROUPS.iter().filter(|(group, _)| *group != OTHERS).flat_map(|(_, names)| *names).count();
        assert!(visible <= 24, "{visible} are more than anybody reads");
        for line in groups(&plain).lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}
