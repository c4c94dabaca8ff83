//! `recall completions` and `recall man`: generated from the definition of the command line, so that they cannot differ from it.

use std::io::Write;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::app::Completion;
use crate::cli::args::{Cli, CompletionsArgs, ManArgs};
use crate::cli::examples::with_examples;

pub(crate) fn completions(args: &CompletionsArgs, out: &mut impl Write) -> Result<Completion> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_examples(Cli::command()), "recall", &mut script);
    out.write_all(&script)?;
    Ok(Completion::Done)
}

pub(crate) fn pages(args: &ManArgs, out: &mut impl Write) -> Result<Completion> {
    match &args.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)
                .and_then(|()| clap_mangen::generate_to(with_examples(Cli::command()), dir))
                .with_context(|| format!("cannot write manual pages into {}", dir.display()))?;
        }
        None => clap_mangen::Man::new(with_examples(Cli::command())).render(out)?,
    }
    Ok(Completion::Done)
}
