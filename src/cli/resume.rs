//! `recall resume`: takes a session up again where it ended.

use std::io::{IsTerminal, Write, stdin, stdout};
use std::path::Path;

use anyhow::{Context, Result};

use super::open_memory;
use crate::app::Completion;
use crate::app::resume::resumption;
use crate::cli::args::ResumeArgs;
use crate::cli::meant;
use crate::config::Config;
use crate::sys::child_process::become_program;

pub(crate) fn run(args: &ResumeArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let memory = open_memory(config)?;
    let id = meant(&memory, config, &args.id)?;
    let resumption = resumption(&memory, config, &id)?;
    drop(memory);
    // Where nobody can type, there is nothing to start.
    if args.print || !stdin().is_terminal() || !stdout().is_terminal() {
        writeln!(out, "{}", resumption.command().line())?;
        return Ok(Completion::Done);
    }
    out.flush()?;
    let failure = become_program(&resumption.program, &resumption.command().args(), Path::new(&resumption.folder));
    Err(failure)
        .with_context(|| format!("cannot start {}: `recall resume {} --print` shows the command", resumption.program, args.id))
}
