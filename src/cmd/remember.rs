//! `recall remember`: keeps a note, for a person or a script.

use std::io::{Read, Write, stdin};

use anyhow::{Context, Result};

use super::Ended;
use crate::clean::plain;
use crate::cli::RememberArgs;
use crate::config::Config;
use crate::notes::{MAX_LENGTH, New, Refused, check_folder, remember, told_project};

pub fn run(args: &RememberArgs, config: &Config, out: &mut impl Write) -> Result<Ended> {
    let project = match (&args.project, args.everywhere) {
        (_, true) => None,
        (Some(dir), _) => Some(dir.clone()),
        (None, _) => Some(std::env::current_dir().context("the current folder is gone")?),
    };
    let new = New { text: text(args)?, kind: Some(args.kind.name().to_owned()), project };
    warn_of_excluded(config)?;
    let kept = remember(config, &new).map_err(|e| match e.downcast::<Refused>() {
        Ok(refused) => anyhow::anyhow!("not remembered: {refused}"),
        Err(e) => e,
    })?;
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string(&kept)?)?,
        false if kept.known => writeln!(out, "{} says so already", kept.id)?,
        false => writeln!(out, "{} is remembered for {}", kept.id, plain(told_project(&kept.project)))?,
    }
    Ok(Ended::Done)
}

/// What is said in an excluded project may go no further: a person is told, and decides.
fn warn_of_excluded(config: &Config) -> Result<()> {
    let Ok(here) = std::env::current_dir() else { return Ok(()) };
    match check_folder(&here, config).map_err(anyhow::Error::downcast::<Refused>) {
        Err(Ok(refused @ Refused::Excluded(_))) => {
            eprintln!("recall: {}: sessions elsewhere are told this note", plain(&refused.to_string()));
            Ok(())
        }
        Err(Err(e)) => Err(e),
        Ok(()) | Err(Ok(_)) => Ok(()),
    }
}

fn text(args: &RememberArgs) -> Result<String> {
    if args.text != ["-"] {
        return Ok(args.text.join(" "));
    }
    let mut bytes = Vec::new();
    // Of what is too long anyway, no more than tells that it is.
    stdin().lock().take(16 * MAX_LENGTH as u64).read_to_end(&mut bytes).context("cannot read stdin")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
