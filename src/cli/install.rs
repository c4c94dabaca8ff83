//! `recall install`: installs the hooks and a timer.

use std::io::Write;

use anyhow::{Context, Result};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::app::Completion;
use crate::cli::args::InstallArgs;
use crate::config::Config;
use crate::model::client::Client;
use crate::setup::lock::InstallLock;
use crate::setup::plan::InstallRequest;
use crate::setup::{Host, InstallScope, Timer, apply, plan, timer_calendar};
use crate::sys::messages::Ui;

pub(crate) fn run(args: &InstallArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let ui = Ui::default();
    let host = Host::new(config)?;
    let _lock = if args.dry_run { None } else { Some(InstallLock::acquire(config)?) };
    let scope = InstallScope::of(args.agent, args.scope).with_context(|| no_hooks(args.agent))?;
    let plan = plan::plan(&InstallRequest { scope, timer: args.timer, mcp: args.mcp, allow: args.allow }, &host)?;
    plan.warnings.iter().for_each(|warning| ui.warn(warning));
    plan.notes.iter().for_each(|note| ui.note(note));
    if args.dry_run {
        plan.show(out)?;
    } else {
        let timer = apply::install(plan, &host, &ui, out)?;
        print_next_steps(timer, config, out)?;
    }
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

/// Why nothing is installed for an agent.
pub(super) fn no_hooks(agent: Client) -> String {
    format!("recall has no hooks for {}: its sessions are read by `recall digest`", agent.name())
}

fn print_next_steps(timer: Timer, config: &Config, out: &mut impl Write) -> Result<()> {
    writeln!(out, "\nFrom now on a session leaves a mark when it ends, and starts with notes on the ones before it.")?;
    if timer == Timer::None {
        writeln!(out, "Nothing starts the digest: run `recall digest` from time to time.")?;
    } else {
        // Timers follow the system's time zone, whatever zone the pages use.
        let now = Timestamp::from_millisecond(config.now())?.to_zoned(TimeZone::system());
        let next = timer_calendar::next(config.schedule, &now).strftime("%H:%M").to_string();
        writeln!(out, "The next digest runs at {next}; `recall digest` reads past sessions now.")?;
    }
    writeln!(out, "`recall doctor` says whether all is well.")?;
    Ok(())
}
