//! `recall remember`: stores a note for a person, a script or an agent.

use std::io::{Read, Write, stdin};

use anyhow::{Context, Result};

use crate::app::Completion;
use crate::app::consent;
use crate::app::contributor::Contributor;
use crate::app::notes::{
    Audience, MAX_LENGTH, Refusal, RememberReply, RememberRequest, WriteScope, check_folder, not_remembered, remember,
};
use crate::cli::args::RememberArgs;
use crate::config::{Agent, Config, agent};
use crate::model::note::project_label;
use crate::sys::messages;
use crate::text::clean::without_controls;

pub(crate) fn run(args: &RememberArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let audience = match (&args.project, args.everywhere) {
        (_, true) => Audience::Everywhere,
        (Some(dir), _) => Audience::ProjectOf(dir.clone()),
        (None, _) => Audience::Here(std::env::current_dir().context("the current folder is gone")?),
    };
    let agent = agent();
    if agent.is_none() {
        warn_of_excluded(config)?;
    }
    let Contributor { author, reach } = Contributor::current(config, agent.as_ref()).map_err(not_remembered)?;
    let new = RememberRequest { text: text(args)?, kind: Some(args.kind.name().to_owned()), audience, author, reach };
    let kept = remember_or_ask(new, agent.as_ref(), config)?;
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string(&kept)?)?,
        false if kept.known => writeln!(out, "{} says so already", kept.id)?,
        false => writeln!(out, "{} is remembered for {}", kept.id, without_controls(&kept.project))?,
    }
    Ok(Completion::Done)
}

/// Stores the note. Asks a person about what an agent may not do on its own.
fn remember_or_ask(new: RememberRequest, agent: Option<&Agent>, config: &Config) -> Result<RememberReply> {
    let refused = match remember(config, &new) {
        Err(refused) => refused,
        kept => return kept,
    };
    if let (Some(Refusal::Elsewhere { project, .. }), Some(agent)) = (refused.downcast_ref(), agent) {
        consent::ask(&agent.name, &format!("remember something for {}", project_label(project))).context("not remembered")?;
        return remember(config, &RememberRequest { reach: WriteScope::AllProjects, ..new });
    }
    Err(refused)
}

/// Warns a person that a note written in an excluded project will be shown elsewhere. The decision is theirs.
fn warn_of_excluded(config: &Config) -> Result<()> {
    let Ok(here) = std::env::current_dir() else { return Ok(()) };
    match check_folder(&here, config).map_err(anyhow::Error::downcast::<Refusal>) {
        Err(Ok(refused @ Refusal::Excluded(_))) => {
            messages::report(format!("{refused}: sessions elsewhere are told this note"));
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
    // Bounded: reads just enough of an overlong text to reject it.
    stdin().lock().take(16 * MAX_LENGTH as u64).read_to_end(&mut bytes).context("cannot read stdin")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
