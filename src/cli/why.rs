//! `recall why`: what was said about something and overtaken since, with what stands.

use std::io::Write;

use anyhow::{Result, bail};

use super::reading::print_lines;
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::why::{WhyRequest, why};
use crate::cli::args::WhyArgs;
use crate::config::Config;
use crate::render::chain::Chain;

pub(crate) fn run(args: &WhyArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let words = args.words.join(" ");
    if words.trim().is_empty() {
        bail!("say what it is about: `recall why session cache`");
    }
    let asker = Asker::here(config);
    let reply =
        why(&asker.memory()?, config, &WhyRequest { words: &words, project: args.project.as_deref(), own: &asker.project() })?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        return Ok(Completion::Done);
    }
    let mut told = reply.chains.iter().map(Chain::text).chain(reply.said.iter().map(Chain::text_of_said));
    told.try_for_each(|text| print_lines(&format!("{text}\n"), out))?;
    match (reply.chains.is_empty(), reply.said.is_empty()) {
        (true, true) => writeln!(out, "nothing found on that; try `recall search {words}`")?,
        (true, false) => writeln!(out, "No later change is known, but not every change is found. More: `recall search {words}`")?,
        (false, _) => writeln!(out, "Wrong? Run `recall wrong ID` with the id at the end of a line to mark it as not replaced.")?,
    }
    Ok(Completion::Done)
}
