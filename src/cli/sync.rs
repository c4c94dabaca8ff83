//! `recall sync`: one memory on several machines.

use std::fs;
use std::io::{Read, Write, stdin};
use std::path::Path;

use anyhow::{Context, Result};

use crate::app::Completion;
use crate::app::sync::{self, AddedPlace, Encryption, MachineStatus, PlaceRequest, RemovedPlace, SyncStatus};
use crate::cli::args::{SyncAction, SyncAddArgs, SyncArgs};
use crate::config::Config;
use crate::inputs::sync_places::is_folder;
use crate::setup::Host;
use crate::setup::inspect::is_barred_by_systemd;
use crate::sys::messages::Ui;
use text::clean::{counted, one_line, without_controls};

/// So that figures stand below the address of their place.
const MIN_NAME_CHARS: usize = 10;

pub(crate) fn run(args: &SyncArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    match &args.action {
        None => {
            let ui = Ui::default();
            let (done, completion) = sync::run(config, &ui)?;
            writeln!(out, "{}", done.in_words())?;
            ui.finish();
            return Ok(completion);
        }
        Some(SyncAction::Add(args)) => add(args, config, out)?,
        Some(SyncAction::Status { json }) => show(&sync::status(config)?, *json, config, out)?,
        Some(SyncAction::Key { output: None }) => writeln!(out, "{}", sync::key_text(config)?)?,
        Some(SyncAction::Key { output: Some(file) }) => {
            sync::write_key(config, file)?;
            let file = shown(&file.display().to_string());
            writeln!(out, "wrote {file}, which only you can read. Delete it when your other machines have the key.")?;
        }
        Some(SyncAction::Remove { place }) => {
            let RemovedPlace { address, was_there } = sync::remove(config, place)?;
            let address = shown(&address);
            if !was_there {
                writeln!(
                    out,
                    "This machine no longer uses {address}, which is not there: nothing was deleted. If its disk is not mounted, what this machine wrote is still on it: mount it, add the place again and remove it. What came from other machines stays."
                )?;
                return Ok(Completion::Partly);
            }
            writeln!(
                out,
                "This machine no longer uses {address}; what it wrote there is deleted. What came from other machines stays."
            )?;
        }
        Some(SyncAction::Project { there, here }) => {
            sync::choose_project(config, there, here)?;
            writeln!(out, "Sessions of {} are now under {} here; `recall sync` moves them.", shown(there), shown(here))?;
        }
        Some(SyncAction::ForgetMachine { name }) => {
            let files = sync::forget_machine(config, name)?;
            writeln!(out, "deleted {}. What your other machines know of it stays.", counted(files, "file"))?;
        }
    }
    Ok(Completion::Done)
}

fn add(args: &SyncAddArgs, config: &Config, out: &mut impl Write) -> Result<()> {
    let encryption = match &args.key {
        _ if args.unencrypted => Encryption::Off,
        Some(file) => Encryption::With(key_in(file)?),
        None => Encryption::Own,
    };
    let asked = PlaceRequest { address: &args.place, encryption, name: args.name.as_deref(), keeps_history: args.keeps_history };
    let added = sync::add(config, &asked)?;
    tell_added(&added, args.keeps_history, out)?;
    if is_folder(&added.address) && is_barred_by_systemd(&added.address, &Host::new(config)?) {
        writeln!(out, "The timer may not write to this folder yet: run `recall install`.")?;
    }
    Ok(())
}

fn tell_added(added: &AddedPlace, keeps_history: bool, out: &mut impl Write) -> Result<()> {
    let place = shown(&added.address);
    if let Some(change) = &added.change {
        if change.renamed {
            writeln!(
                out,
                "This machine is called {} from now on. `recall sync` tells your other machines, which show it after their next exchange.",
                shown(&added.machine)
            )?;
        }
        if change.looked {
            tell_history(added, out)?;
        }
        return Ok(());
    }
    writeln!(out, "{place} is set up; this machine is called {} there.", shown(&added.machine))?;
    if keeps_history {
        tell_history(added, out)?;
    }
    if !added.encrypted {
        writeln!(out, "Nothing is encrypted: whoever sees the place can read it.")?;
    }
    if added.new_key {
        writeln!(out, "A key was made. Your other machines need it:")?;
        writeln!(out, "  recall sync key --output FILE            here, then move FILE there")?;
        writeln!(out, "  recall sync add PLACE --key FILE         there, then delete FILE")?;
    }
    writeln!(out, "`recall sync` exchanges now, and every `recall digest` from now on.")?;
    Ok(())
}

/// Whether the place keeps what is deleted, for somebody who said so.
fn tell_history(added: &AddedPlace, out: &mut impl Write) -> Result<()> {
    match &added.history {
        Some(history) => writeln!(out, "What you forget stays there: {}.", shown(&history.to_string()))?,
        None => writeln!(out, "No version history was found there.")?,
    }
    Ok(())
}

fn key_in(file: &Path) -> Result<String> {
    let mut text = String::new();
    match file.as_os_str() == "-" {
        true => stdin().lock().read_to_string(&mut text).map(drop).context("cannot read the key from standard input")?,
        false => text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?,
    }
    Ok(text)
}

fn show(status: &SyncStatus, json: bool, config: &Config, out: &mut impl Write) -> Result<()> {
    if json {
        serde_json::to_writer_pretty(&mut *out, status)?;
        return Ok(writeln!(out)?);
    }
    if status.places.is_empty() {
        return Ok(writeln!(out, "No place is set up: `recall sync add DIR` exchanges over a folder that your machines share.")?);
    }
    let time = |at| config.local_time(Some(at), "%Y-%m-%d %H:%M");
    let names = status.places.iter().flat_map(|place| &place.machines).map(|machine| &machine.name).chain([&status.machine]);
    let longest = names.map(|name| shown(name).chars().count()).max().unwrap_or_default().max(MIN_NAME_CHARS);
    writeln!(out, "this machine  {}", shown(&status.machine))?;
    for place in &status.places {
        let encrypted = if place.encrypted { "encrypted" } else { "not encrypted" };
        let last = place.exchanged_at.map_or_else(|| "no exchange yet".to_owned(), |at| format!("last exchange {}", time(at)));
        let keeps = place.history.as_ref().map(|keeper| format!(", keeps what was deleted ({keeper})")).unwrap_or_default();
        writeln!(out, "place         {}, {encrypted}{keeps}, {last}", shown(&place.address))?;
        writeln!(out, "  {:longest$}  {} (this machine)", shown(&status.machine), counted(place.records, "record"))?;
        for MachineStatus { name, records, news_at, .. } in &place.machines {
            let news = news_at.map(|at| format!(", last news {}", time(at))).unwrap_or_default();
            writeln!(out, "  {:longest$}  {}{news}", shown(name), counted(*records, "record"))?;
        }
    }
    writeln!(out, "from others   {}", counted(status.sessions, "session"))?;
    if !status.projects.is_empty() {
        writeln!(out, "projects      those whose paths differ between your machines:")?;
    }
    for (there, here) in &status.projects {
        writeln!(out, "              {} is {} here", shown(there), shown(here))?;
    }
    Ok(())
}

fn shown(text: &str) -> String {
    one_line(&without_controls(text))
}
