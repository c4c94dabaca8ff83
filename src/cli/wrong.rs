//! `recall wrong`: takes out what a model said of a session and is not so, or lists what it said, with ids.

use std::io::Write;

use anyhow::{Result, bail};

use super::open_memory;
use crate::app::Completion;
use crate::app::wrong::{ModelStatement, find, is_statement_id, statements, take_out};
use crate::cli::args::WrongArgs;
use crate::config::Config;
use crate::sys::messages::Ui;
use crate::text::clean::without_controls;

pub(crate) fn run(args: &WrongArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let memory = open_memory(config)?;
    if let [session] = args.ids.as_slice()
        && !is_statement_id(session)
    {
        let head = memory.find_session(session)?;
        statements(&memory, &head)?.iter().try_for_each(|statement| line(statement, out))?;
        writeln!(out, "\nWhat is not so, `recall wrong ID` takes out.")?;
        return Ok(Completion::Done);
    }
    if let Some(other) = args.ids.iter().find(|id| !is_statement_id(id)) {
        bail!("`{other}` is no id of a statement: `recall wrong SESSION` lists them, for one session");
    }
    let doomed = find(&memory, &args.ids)?;
    drop(memory);
    let ui = Ui::default();
    take_out(&doomed, config, &ui)?;
    writeln!(out, "Taken out:")?;
    doomed.iter().try_for_each(|one| line(&one.statement, out))?;
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

fn line(statement: &ModelStatement, out: &mut impl Write) -> Result<()> {
    Ok(writeln!(out, "{} {:12} {}", statement.id, statement.kind, without_controls(&statement.text))?)
}
