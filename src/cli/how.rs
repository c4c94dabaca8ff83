//! `recall how`: the commands that work in a project.

use std::io::Write;

use anyhow::Result;

use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::how::{HowRequest, KnownCommand, how};
use crate::cli::args::HowArgs;
use crate::config::Config;
use crate::text::clean::{counted, one_line, without_controls};

/// The most commands of a class, where none is asked for.
const MAX_OF_CLASS: usize = 5;

pub(crate) fn run(args: &HowArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let asker = Asker::here(config);
    let own = asker.project();
    let asked =
        HowRequest { word: args.word.as_deref(), project: args.project.as_deref(), all_projects: args.all_projects, own: &own };
    let reply = how(&asker.memory()?, config, &asked)?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        return Ok(Completion::Done);
    }
    if reply.commands.is_empty() {
        writeln!(out, "no command is known to have passed here: `recall search` finds what was said about it")?;
    }
    let most = if args.word.is_some() { usize::MAX } else { MAX_OF_CLASS };
    for (n, of_class) in reply.commands.chunk_by(|one, next| (&one.project, one.class) == (&next.project, next.class)).enumerate() {
        let first = &of_class[0];
        let is_new =
            n == 0 || !reply.commands.iter().take_while(|one| !std::ptr::eq(*one, first)).any(|one| one.project == first.project);
        if first.elsewhere && is_new {
            writeln!(out, "in {}:", one_line(&without_controls(&first.project)))?;
        }
        let class = first.class.name();
        writeln!(out, "{class}")?;
        of_class.iter().take(most).try_for_each(|one| tell(one, out))?;
        if of_class.len() > most {
            writeln!(out, "  and {} more: `recall how {class}`", of_class.len() - most)?;
        }
    }
    Ok(Completion::Done)
}

fn tell(one: &KnownCommand, out: &mut impl Write) -> Result<()> {
    let KnownCommand { command, folder, ran, passed, passed_last, last, .. } = one;
    let folder = if folder.is_empty() { String::new() } else { format!(" in {folder}") };
    let last = if *passed_last { format!("last on {last}") } else { format!("failed when it ran last, on {last}") };
    Ok(writeln!(out, "  `{command}`{folder}: passed {passed} of {}, {last}", counted(*ran, "run"))?)
}
