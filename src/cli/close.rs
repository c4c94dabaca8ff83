//! `recall close`: marks open items as done, or as open again, and records who said so; without ids it lists what is open.

use std::io::Write;

use anyhow::Result;

use super::open_memory;
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::close_items::{ClosingRequest, open_in};
use crate::app::consent;
use crate::app::contributor::Contributor;
use crate::app::notes::Refusal;
use crate::cli::args::CloseArgs;
use crate::config::{Config, agent};
use crate::sys::messages::{self, Ui};
use text::clean::{one_line, without_controls};

pub(crate) fn run(args: &CloseArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    if args.ids.is_empty() {
        return list(config, out);
    }
    // Resolves all ids first, so that a typo changes nothing.
    let known = open_memory(config)?;
    let closing = ClosingRequest::resolve(&args.ids, &known)?;
    let agent = agent();
    let writer = Contributor::current(config, agent.as_ref())?;
    if let (Err(e), Some(agent)) = (closing.check(&writer, args.undo, &known), &agent) {
        let refused: Refusal = e.downcast()?;
        consent::ask(&agent.name, &format!("close or open `{}` ({refused})", args.ids.join(" ")))?;
    }
    let (done, already) = match args.undo {
        true => ("open again", "was not closed by you"),
        false => ("closed", "was closed already"),
    };
    drop(known);
    let ui = Ui::default();
    let all = closing.apply(&writer, args.undo, config, &ui)?;
    for one in &all {
        writeln!(out, "{} {}: {}", one.id, if one.changed { done } else { already }, without_controls(&one.text))?;
    }
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

/// Lists what is open in the project of this folder.
fn list(config: &Config, out: &mut impl Write) -> Result<Completion> {
    let asker = Asker::here(config);
    let open = open_in(&asker.memory()?, &asker.project())?;
    let day = |at| config.local_time(Some(at), "%Y-%m-%d");
    for item in &open {
        let (first, last) = (day(item.first_at), day(item.last_at));
        let again = if first == last { String::new() } else { format!(" (last said {last})") };
        writeln!(out, "{}  {first}  {}: {}{again}", item.id, item.kind, one_line(&without_controls(&item.text)))?;
    }
    if open.is_empty() {
        messages::report("nothing is open in the project of this folder");
    } else {
        messages::report("`recall close ID` marks one as done");
    }
    Ok(Completion::Done)
}
