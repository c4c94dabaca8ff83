//! `recall how`: the commands that work in a project.

use std::io::Write;

use anyhow::Result;

use super::reading::print_lines;
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::how::{HowRequest, how};
use crate::cli::args::HowArgs;
use crate::config::Config;
use crate::render::known_command::command_lines;

/// The most commands of a class, where none is asked for.
const MAX_OF_CLASS: usize = 5;

pub(crate) fn run(args: &HowArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let asker = Asker::here(config);
    let own = asker.project();
    let asked = HowRequest {
        words: args.word.as_deref().unwrap_or_default(),
        project: args.project.as_deref(),
        all_projects: args.all_projects,
        own: &own,
    };
    let reply = how(&asker.memory()?, config, &asked)?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        return Ok(Completion::Done);
    }
    if reply.commands.is_empty() {
        let hint = if args.all_projects { "" } else { " in this project: try `--all-projects`" };
        let what = if args.word.is_some() { " of this kind" } else { "" };
        writeln!(out, "no passing commands{what} found{hint}")?;
    }
    let most = if args.word.is_some() { usize::MAX } else { MAX_OF_CLASS };
    print_lines(&command_lines(&reply.commands, most).join("\n"), out)?;
    Ok(Completion::Done)
}
