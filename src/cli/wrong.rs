//! `recall wrong`: takes out what a model said of a session and is not so, brings it back, or lists what it said, with ids.

use std::io::Write;

use anyhow::{Result, bail};

use crate::app::Completion;
use crate::app::wrong::{Denial, ModelStatement, bring_back, denials, find, find_denials, is_statement_id, statements, take_out};
use crate::cli::args::WrongArgs;
use crate::config::Config;
use crate::privacy::View;
use crate::store::Memory;
use crate::store::load::SessionHead;
use crate::sys::messages::Ui;
use crate::text::clean::without_controls;

/// What is said of words that a digest made elsewhere, or anew, does not hold.
const NO_WORDS: &str = "(its words are not in this index)";

pub(crate) fn run(args: &WrongArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let here = std::env::current_dir().unwrap_or_default();
    let memory = Memory::open(&config.database(), &config.policy(View::InFolder(&here.to_string_lossy())))?;
    if let [session] = args.ids.as_slice()
        && !is_statement_id(session)
        && !args.undo
    {
        list(&memory, &memory.find_session(session)?, out)?;
        return Ok(Completion::Done);
    }
    if let Some(other) = args.ids.iter().find(|id| !is_statement_id(id)) {
        bail!("`{other}` is no id of a statement: `recall wrong SESSION` lists them, for one session");
    }
    let ui = Ui::default();
    if args.undo {
        let denials = find_denials(&memory, &args.ids)?;
        drop(memory);
        bring_back(&denials, config, &ui)?;
        told_again(&denials, out)?;
    } else {
        let doomed = find(&memory, &args.ids)?;
        drop(memory);
        take_out(&doomed, config, &ui)?;
        writeln!(out, "Taken out:")?;
        doomed.iter().try_for_each(|one| line(&one.statement, out))?;
    }
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

fn list(memory: &Memory, head: &SessionHead, out: &mut impl Write) -> Result<()> {
    statements(memory, head)?.iter().try_for_each(|statement| line(statement, out))?;
    writeln!(out, "\nWhat is not so, `recall wrong ID` takes out.")?;
    let taken_out = denials(memory, head)?;
    if !taken_out.is_empty() {
        writeln!(out, "\nTaken out, and brought back by `recall wrong --undo ID`:")?;
    }
    for denial in &taken_out {
        // Under the id of what was denied, in whatever words it is said now.
        let mut hidden = denial.hides.iter().map(|one| ModelStatement { id: denial.id.clone(), ..one.clone() });
        match denial.hides.is_empty() {
            true => writeln!(out, "{} {NO_WORDS}", denial.id)?,
            false => hidden.try_for_each(|one| line(&one, out))?,
        }
    }
    Ok(())
}

fn told_again(denials: &[Denial], out: &mut impl Write) -> Result<()> {
    if denials.iter().any(|denial| !denial.hides.is_empty()) {
        writeln!(out, "Told again:")?;
    }
    denials.iter().flat_map(|denial| &denial.hides).try_for_each(|one| line(one, out))?;
    for denial in denials.iter().filter(|denial| denial.hides.is_empty()) {
        let session = denial.session.id.get(..8).unwrap_or(&denial.session.id);
        writeln!(
            out,
            "{} may be told again {NO_WORDS}: `recall digest --session {session} --summarizer claude` asks the model anew",
            denial.id
        )?;
    }
    Ok(())
}

fn line(statement: &ModelStatement, out: &mut impl Write) -> Result<()> {
    Ok(writeln!(out, "{} {:12} {}", statement.id, statement.kind, without_controls(&statement.text))?)
}
