//! `recall remember`: stores a note for a person, a script or an agent, changes one, or lists those that there are.

use std::io::{Read, Write, stdin};

use anyhow::{Context, Result, ensure};

use super::open_memory;
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::consent;
use crate::app::contributor::Contributor;
use crate::app::notes::{
    Audience, MAX_LENGTH, NoteList, NoteMarks, NoteRecord, Refusal, RememberReply, RememberRequest, WriteScope, check_folder,
    edit_note, list_notes, not_remembered, remember,
};
use crate::cli::args::RememberArgs;
use crate::config::{Agent, Config, agent};
use crate::model::note::{EVERYWHERE, NoteKind, project_label};
use crate::model::time_spec::parse_day_ahead;
use crate::sys::messages::{self, Ui};
use text::clean::{one_line, without_controls};

pub(crate) fn run(args: &RememberArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let marks = marks(args, config)?;
    if let Some(id) = &args.edit {
        return edit(id, args, &marks, config, out);
    }
    if args.text.is_empty() {
        return list(args, config, out);
    }
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
    let usual = if marks.due.is_some() { NoteKind::Todo } else { NoteKind::default() };
    let kind = Some(args.kind.unwrap_or(usual).name().to_owned());
    let new = RememberRequest { text: text(args)?, marks, kind, audience, author, reach };
    let kept = remember_or_ask(new, agent.as_ref(), config)?;
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string(&kept)?)?,
        false if kept.known => writeln!(out, "not saved: note {} already says this", kept.id)?,
        false => writeln!(out, "{} saved for {}", kept.id, without_controls(&kept.project))?,
    }
    Ok(Completion::Done)
}

/// # Errors
/// When the day cannot be read, or goes with something that is not to be done.
fn marks(args: &RememberArgs, config: &Config) -> Result<NoteMarks> {
    let due = args.due.as_deref().map(|day| parse_day_ahead(day, config.now(), &config.time_zone)).transpose().context("--due")?;
    ensure!(due.is_none() || args.kind.is_none_or(|kind| kind == NoteKind::Todo), "only a todo can have a due day");
    Ok(NoteMarks { tags: args.tags.clone(), due })
}

fn edit(id: &str, args: &RememberArgs, marks: &NoteMarks, config: &Config, out: &mut impl Write) -> Result<Completion> {
    ensure!(
        !args.text.is_empty() || !marks.tags.is_empty() || marks.due.is_some(),
        "nothing to change: give a text, `--tag` or `--due`"
    );
    let text = if args.text.is_empty() { String::new() } else { text(args)? };
    let ui = Ui::default();
    let note = edit_note(config, open_memory(config)?, id, &text, marks, &ui)?;
    writeln!(out, "{} says now: {}", note.id, one_line(&without_controls(&note.text)))?;
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

/// Lists the notes of a project, with those for all projects.
fn list(args: &RememberArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    ensure!(args.due.is_none(), "`--due` goes with a text, or with `--edit ID`");
    let here = Asker::here(config).project();
    let project = match &args.project {
        _ if args.everywhere => EVERYWHERE.to_owned(),
        Some(folder) => Asker::in_folder(config, &std::path::absolute(folder)?).project(),
        None => here,
    };
    let asked = NoteList { project, kind: args.kind, tags: args.tags.clone() };
    let notes = list_notes(&open_memory(config)?, &asked)?;
    for note in &notes {
        if args.json {
            writeln!(out, "{}", serde_json::to_string(&NoteRecord::of(note))?)?;
            continue;
        }
        let everywhere = if note.project.key == EVERYWHERE && !args.everywhere { ", all projects" } else { "" };
        let done = if note.closed.is_some() { ", done" } else { "" };
        let day = config.local_time(Some(note.at), "%Y-%m-%d");
        writeln!(
            out,
            "{}  {day}  {}: {} ({}{everywhere}{done})",
            note.id,
            note.kind,
            one_line(&without_controls(&note.text)),
            note.author.text()
        )?;
    }
    if notes.is_empty() {
        messages::report(match (args.tags.is_empty(), args.kind) {
            (true, None) => "no notes: `recall remember TEXT` keeps one",
            _ => "no notes of this kind, or with this tag",
        });
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
            messages::report(format!("{refused}: sessions of other projects would get this note"));
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
