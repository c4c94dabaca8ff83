//! `recall uninstall`: removes what install added, and with `--purge` the data.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

use crate::app::{Completion, consent};
use crate::cli::args::UninstallArgs;
use crate::cli::install::no_hooks;
use crate::config::Config;
use crate::setup::lock::InstallLock;
use crate::setup::{Host, InstallScope, purge, uninstall};
use crate::sys::messages::Ui;

pub(crate) fn run(args: &UninstallArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let ui = Ui::default();
    let host = Host::new(config)?;
    // Without a data folder there is nothing to lock, and none is created for the lock.
    let at_work = !args.dry_run && config.data_dir.is_dir();
    let _lock = at_work.then(|| InstallLock::acquire(config)).transpose()?;
    // Check first: data that may not be deleted stops everything before anything is undone.
    let data = if args.purge { purge::folder(&host)? } else { None };
    let of_agent = |agent| InstallScope::of(agent, InstallScope::User).with_context(|| no_hooks(agent));
    let plan = uninstall::plan(args.agent.map(of_agent).transpose()?.or(args.scope), &host)?;
    plan.warnings.iter().for_each(|warning| ui.warn(warning));
    plan.notes.iter().for_each(|note| ui.note(note));
    data.iter().flat_map(|folder| purge::stays_elsewhere(folder)).for_each(|what| ui.note(what));
    if args.dry_run {
        plan.show(out)?;
        data.iter().try_for_each(|folder| writeln!(out, "would delete {}", folder.display()))?;
        return Ok(if ui.warned() { Completion::Partly } else { Completion::Done });
    }
    if let Some(folder) = data.as_deref().filter(|_| !args.yes) {
        confirm_delete(folder)?;
    }
    plan.apply(&host, &ui, out)?;
    match data.filter(|folder| folder.exists()) {
        Some(folder) if ui.warned() => {
            ui.warn(&format!("{} is not deleted, because it contains the information needed to remove the rest", folder.display()));
        }
        Some(folder) => {
            purge::delete(&folder, &host)?;
            writeln!(out, "deleted   {}", folder.display())?;
        }
        None => {}
    }
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

/// Asks whether the data folder may be deleted.
fn confirm_delete(folder: &Path) -> Result<()> {
    let folder = folder.display();
    let otherwise = format!("{folder} holds all digests and pages: `--yes` deletes it without asking");
    consent::confirm_change(&format!("Delete {folder} with all digests, pages and your notes in them?"), &otherwise)
}
