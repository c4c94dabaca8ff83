//! `recall timeline`: a session among its neighbours in its project.

use std::io::Write;

use anyhow::Result;

use super::open_memory;
use super::reading::print_lines;
use crate::app::Completion;
use crate::app::timeline::{TimelineRequest, timeline};
use crate::cli::args::TimelineArgs;
use crate::cli::meant;
use crate::config::Config;

pub(crate) fn run(args: &TimelineArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let memory = open_memory(config)?;
    let id = meant(&memory, config, &args.id)?;
    let asked = TimelineRequest { id: &id, before: args.before, after: args.after };
    let told = timeline(&memory, config, &asked)?;
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(&told)?)?,
        false => print_lines(&told.render(), out)?,
    }
    Ok(Completion::Done)
}
