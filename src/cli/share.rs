//! `recall share`: what proved right, as files in the repository for the team.

use std::io::Write;

use anyhow::Result;

use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::share::{Proposal, SharedStatement, proposals, remove, share};
use crate::cli::args::ShareArgs;
use crate::config::Config;
use text::clean::{counted, one_line, shorten, without_controls};

/// The most characters of a statement in a list.
const MAX_CHARS: usize = 90;

pub(crate) fn run(args: &ShareArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let asker = Asker::here(config);
    let project = asker.project();
    if !args.remove.is_empty() {
        remove(&project, &args.remove)?.iter().try_for_each(|file| writeln!(out, "deleted {file}"))?;
        writeln!(out, "Commit that: for others it takes effect with their next digest.")?;
        return Ok(Completion::Done);
    }
    let memory = asker.memory()?;
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
    let is_listed = |one: &&SharedStatement| reply.proposals.iter().all(|other| other.file != one.file);
    reply.shared.iter().filter(is_listed).try_for_each(|one| writeln!(out, "{}", shared_line(one)))?;
    match reply.proposals.len() {
        0 => writeln!(out, "nothing new to share; {} shared", counted(reply.shared.len(), "item"))?,
        _ => writeln!(
            out,
            "\n`recall share ID…` writes them to .recall/ in this repository, `--all` all of them: then review and commit."
        )?,
    }
    if !reply.shared.is_empty() {
        writeln!(out, "`recall share --remove ID…` deletes the files of those that are shared.")?;
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

fn shared_line(one: &SharedStatement) -> String {
    let SharedStatement { id, kind, day, .. } = one;
    let day = if day.is_empty() { String::new() } else { format!("{day}; ") };
    format!("{id}  {kind:10}  {} ({day}shared)", shorten(&one.text, MAX_CHARS))
}
