//! `recall wrong`: takes out what a model or Claude said in a session and is not so, brings it back, or lists what they said.

use std::io::Write;

use anyhow::{Result, bail};

use super::open_memory;
use super::reading::print_hanging;
use crate::app::Completion;
use crate::app::open_memory::OpenMemory;
use crate::app::wrong::{
    Denial, ModelStatement, SaidOfSession, StillQuoted, TurnReply, bring_back, change_replies, find, find_denials, find_replies,
    is_link_id, is_statement_id, refuse_notes, said_of, still_quoted, take_out,
};
use crate::cli::args::WrongArgs;
use crate::cli::meant;
use crate::config::Config;
use crate::render::quoted::quote;
use crate::sys::messages::Ui;
use text::clean::{id8, one_line, shorten, without_controls};

/// What is said of words that a digest made elsewhere, or anew, does not hold.
const NO_WORDS: &str = "(its words are not in this index)";
const TAKEN_OUT: &str = "Hidden:";
const TOLD_AGAIN: &str = "Shown again:";
/// The most characters of a reply in the list.
const MAX_REPLY_CHARS: usize = 200;

pub(crate) fn run(args: &WrongArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let memory = open_memory(config)?;
    refuse_notes(&memory, &args.ids)?;
    if !args.reply.is_empty() {
        return run_on_replies(args, memory, config, out);
    }
    if let [session] = args.ids.as_slice()
        && !is_statement_id(session)
        && !args.undo
    {
        list(&said_of(&memory, &meant(&memory, config, session)?)?, out)?;
        return Ok(Completion::Done);
    }
    if let Some(other) = args.ids.iter().find(|id| !is_statement_id(id)) {
        bail!("`{other}` is not a statement id: `recall wrong SESSION` lists them, for one session");
    }
    let ui = Ui::default();
    if args.undo {
        let denials = find_denials(&memory, &args.ids)?;
        drop(memory);
        bring_back(&denials, config, &ui)?;
        told_again(&denials, config, out)?;
    } else {
        let doomed = find(&memory, &args.ids)?;
        let still_quoted = still_quoted(&memory, &doomed)?;
        drop(memory);
        take_out(&doomed, config, &ui)?;
        writeln!(out, "{TAKEN_OUT}")?;
        doomed.iter().try_for_each(|one| line(&one.statement, out))?;
        still_quoted.iter().try_for_each(|one| still_quoted_lines(one, out))?;
    }
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

fn run_on_replies(args: &WrongArgs, memory: OpenMemory, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let [session] = args.ids.as_slice() else { bail!("`--reply` is for one session: `recall wrong SESSION --reply N`") };
    let session = &meant(&memory, config, session)?;
    let found = find_replies(&memory, session, &args.reply, args.undo)?;
    drop(memory);
    let ui = Ui::default();
    let changed = change_replies(found, args.undo, config, &ui)?;
    writeln!(out, "{}", if args.undo { TOLD_AGAIN } else { TAKEN_OUT })?;
    changed.iter().try_for_each(|reply| reply_line(reply, out))?;
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

fn list(said: &SaidOfSession, out: &mut impl Write) -> Result<()> {
    let (gone, told): (Vec<&TurnReply>, Vec<&TurnReply>) = said.replies.iter().partition(|reply| reply.is_taken_out());
    said.statements.iter().try_for_each(|statement| line(statement, out))?;
    told.into_iter().try_for_each(|reply| reply_line(reply, out))?;
    writeln!(out, "\nHide a wrong statement with `recall wrong ID`, a reply with `recall wrong SESSION --reply N`.")?;
    if !said.denials.is_empty() {
        writeln!(out, "\nHidden statements (to show one again: `recall wrong --undo ID`):")?;
    }
    said.denials.iter().try_for_each(|denial| denial_lines(denial, out))?;
    if !gone.is_empty() {
        writeln!(out, "\nHidden replies (to show one again: `recall wrong --undo SESSION --reply N`):")?;
    }
    gone.into_iter().try_for_each(|reply| reply_line(reply, out))
}

fn still_quoted_lines(one: &StillQuoted, out: &mut impl Write) -> Result<()> {
    let (replies, hide) =
        if one.turns.len() == 1 { ("The reply that says so is", "it") } else { ("The replies that say so are", "them") };
    let turns: String = one.turns.iter().map(|turn| format!(" --reply {turn}")).collect();
    Ok(writeln!(out, "{replies} still quoted; to hide {hide} too: `recall wrong {}{turns}`", id8(&one.session))?)
}

/// What it takes out, under its own id: in whatever words it is said now.
fn denial_lines(denial: &Denial, out: &mut impl Write) -> Result<()> {
    if is_link_id(&denial.id) {
        writeln!(out, "{} {:12} that a later statement replaces an earlier one", denial.id, "overtaken")?;
    } else if denial.hides.is_empty() {
        writeln!(out, "{} {NO_WORDS}", denial.id)?;
    }
    denial.hides.iter().try_for_each(|one| line_with(&denial.id, one, out))
}

fn reply_line(reply: &TurnReply, out: &mut impl Write) -> Result<()> {
    let text = if reply.is_taken_out() { format!("(to {})", quote(&reply.to, MAX_REPLY_CHARS)) } else { reply.text.clone() };
    let text = shorten(&one_line(&without_controls(&text)), MAX_REPLY_CHARS);
    print_item(&format!("turn {}", reply.turn), "reply", &text, out)
}

fn told_again(denials: &[Denial], config: &Config, out: &mut impl Write) -> Result<()> {
    if denials.iter().any(|denial| !denial.hides.is_empty()) {
        writeln!(out, "{TOLD_AGAIN}")?;
    }
    denials.iter().flat_map(|denial| &denial.hides).try_for_each(|one| line(one, out))?;
    for denial in denials.iter().filter(|denial| is_link_id(&denial.id)) {
        writeln!(out, "{} the later statement is again shown with the earlier one", denial.id)?;
    }
    for denial in denials.iter().filter(|denial| denial.hides.is_empty() && !is_link_id(&denial.id)) {
        let session = id8(&denial.session.id);
        writeln!(
            out,
            "{} is no longer hidden {NO_WORDS}: a new digest may contain this statement again; `recall digest --session {session} --summarizer {}` makes one",
            denial.id,
            config.digest.summarizer.word_of_model()
        )?;
    }
    Ok(())
}

fn line(statement: &ModelStatement, out: &mut impl Write) -> Result<()> {
    line_with(&statement.id, statement, out)
}

fn line_with(id: &str, statement: &ModelStatement, out: &mut impl Write) -> Result<()> {
    print_item(id, statement.kind, &without_controls(&statement.text), out)
}

fn print_item(id: &str, kind: &str, text: &str, out: &mut impl Write) -> Result<()> {
    let begins = format!("{id:9} {kind:12} ");
    print_hanging(&begins, &" ".repeat(begins.len()), text, out)
}
