//! `recall share`: what proved right, as files in the repository for the team.

use std::io::Write;

use anyhow::Result;

use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::share::{Proposal, proposals, share};
use crate::cli::args::ShareArgs;
use crate::config::Config;
use crate::text::clean::{counted, one_line, shorten, without_controls};

/// The most characters of a statement in a list.
const MAX_CHARS: usize = 90;

pub(crate) fn run(args: &ShareArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let asker = Asker::here(config);
    let (memory, project) = (asker.memory()?, asker.project());
    if args.all || !args.ids.is_empty() {
        let written = share(&memory, config, &project, &args.ids)?;
        written.files.iter().try_for_each(|file| writeln!(out, "wrote {file}"))?;
        written.refused.iter().try_for_each(|(id, why)| writeln!(out, "not shared: {id}: {why}"))?;
        match written.files.is_empty() {
            true => writeln!(out, "there is nothing to share")?,
            false => writeln!(out, "Review and commit them: whoever clones the repository reads them as the team's.")?,
        }
        return Ok(Completion::Done);
    }
    let reply = proposals(&memory, config, &project)?;
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&reply)?)?;
        return Ok(Completion::Done);
    }
    reply.proposals.iter().try_for_each(|one| writeln!(out, "{}", line(one)))?;
    match reply.proposals.len() {
        0 => writeln!(out, "nothing new to share; the repository has {}", counted(reply.shared, "statement"))?,
        _ => writeln!(
            out,
            "\n`recall share ID…` writes them to .recall/ in this repository, `--all` all of them: then review and commit."
        )?,
    }
    Ok(Completion::Done)
}

fn line(one: &Proposal) -> String {
    let text = shorten(&one_line(&without_controls(&one.text)), MAX_CHARS);
    let mut remarks = vec![one.day.clone()];
    remarks.extend(Some(one.evidence.clone()).filter(|evidence| !evidence.is_empty()));
    remarks.extend(one.changed.then(|| "changed since it was shared".to_owned()));
    remarks.extend(one.refused.as_ref().map(|why| format!("not shared: {why}")));
    format!("{}  {:10}  {text} ({})", one.id, one.kind, remarks.join("; "))
}
