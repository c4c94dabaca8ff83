//! `recall embed`: the model on this machine by which search compares meaning.

use std::io::Write;

use anyhow::{Result, bail};

use crate::app::Completion;
use crate::app::embedding_model::{install, installed, known, remove};
use crate::cli::args::{EmbedAction, EmbedArgs};
use crate::config::Config;
use crate::sys::messages::report;

pub(crate) fn run(args: &EmbedArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    match (args.action, &args.model) {
        (Some(EmbedAction::Install), model) => {
            let name = install(config, model.as_deref(), |what| report(format!("fetching {what}")))?;
            writeln!(
                out,
                "{name} is installed. `recall digest` embeds what is stored; from then on `recall search` compares meaning, too."
            )?;
        }
        (Some(EmbedAction::Remove), None) => match remove(config)? {
            true => writeln!(out, "The model is deleted. The next `recall digest` deletes its vectors.")?,
            false => writeln!(out, "No model is installed.")?,
        },
        (Some(EmbedAction::Remove), Some(_)) => bail!("`recall embed remove` takes no model: it deletes all of them"),
        (None, _) => show(config, out)?,
    }
    Ok(Completion::Done)
}

fn show(config: &Config, out: &mut impl Write) -> Result<()> {
    match installed(config)? {
        Some(model) => {
            writeln!(out, "model     {}", model.name)?;
            match model.program {
                Some(program) => writeln!(out, "run by    {}", program.display())?,
                None => writeln!(
                    out,
                    "run by    nothing: `{}` was not found beside `recall` or on the PATH",
                    config.embeddings.program
                )?,
            }
            if let Some((embedded, all)) = model.embedded {
                writeln!(out, "embedded  {embedded} of {all} sessions and notes")?;
            }
        }
        None if config.embeddings.is_on() => writeln!(out, "The config names an endpoint: {}", config.embeddings.endpoint)?,
        None => {
            writeln!(out, "No model is installed: search compares words only. `recall embed install NAME` fetches one:\n")?;
            for (name, bytes, about) in known() {
                writeln!(out, "  {name:22} {:>4} MB  {about}", bytes / 1_000_000)?;
            }
        }
    }
    Ok(())
}
