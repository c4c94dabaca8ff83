//! `recall why`: what was said about something and overtaken since, with what stands.

use std::io::Write;

use anyhow::{Result, bail};

use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::why::{Chain, ChainLink, WhyRequest, why};
use crate::cli::args::WhyArgs;
use crate::config::Config;
use crate::text::clean::{one_line, shorten, without_controls};

/// The most characters of a statement.
const MAX_STATEMENT_CHARS: usize = 300;

pub(crate) fn run(args: &WhyArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let words = args.words.join(" ");
    if words.trim().is_empty() {
        bail!("say what it is about: `recall why session cache`");
    }
    let asker = Asker::here(config);
    let reply = why(&asker.memory()?, config, &WhyRequest { words: &words, own: &asker.project() })?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        return Ok(Completion::Done);
    }
    reply.chains.iter().try_for_each(|chain| tell(chain, out))?;
    match reply.chains.is_empty() {
        true => {
            writeln!(out, "nothing that was said about this is known to be overtaken: `recall search {words}` finds what was said")?
        }
        false => writeln!(out, "Not so? `recall wrong ID` with the id behind a line parts it from what stands.")?,
    }
    Ok(Completion::Done)
}

/// What stands first, below it what it overtook, newest first.
fn tell(chain: &Chain, out: &mut impl Write) -> Result<()> {
    if let Some(project) = &chain.elsewhere {
        writeln!(out, "in {project}:")?;
    }
    for link in &chain.statements {
        let ChainLink { day, by, turn, text, overtaken, .. } = link;
        let turn = turn.map(|turn| format!(", turn {turn}")).unwrap_or_default();
        let text = shorten(&one_line(&without_controls(text)), MAX_STATEMENT_CHARS);
        match overtaken {
            Some(one) => writeln!(out, "  until {}: {day} {by}{turn}: {text} [{}]", one.day, one.id)?,
            None => writeln!(out, "stands: {day} {by}{turn}: {text}")?,
        }
    }
    Ok(writeln!(out)?)
}
