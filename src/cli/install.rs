//! `recall install`: installs the hooks and a timer, for one agent or for all that are used here.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::reading::print_hanging;
use crate::app::agents::undecided;
use crate::app::{Completion, consent};
use crate::cli::args::InstallArgs;
use crate::config::Config;
use crate::setup::agent_hosts::is_used;
use crate::setup::lock::InstallLock;
use crate::setup::plan::{InstallPlan, InstallRequest};
use crate::setup::{Host, InstallScope, Timer, apply, inspect, plan, timer_calendar};
use crate::sys::messages::Ui;
use text::clean::without_controls;
use transcripts::client::Client;

/// How long the name of a part is with the spaces behind it.
const PART_CHARS: usize = 10;

pub(crate) fn run(args: &InstallArgs, config: &Config, out: &mut impl Write) -> Result<Completion> {
    if args.all && !args.yes && !args.dry_run && !consent::has_terminal() {
        bail!(
            "`--all` asks about each agent, and there is no terminal to ask on: `--yes` installs for all, `--dry-run` shows what would change"
        );
    }
    if args.allow && !args.agent.is_usual() {
        bail!(
            "`--allow` is for Claude Code alone: leave it out, and set in {} itself which calls it may make without asking",
            args.agent.name()
        );
    }
    let ui = Ui::default();
    let host = Host::new(config)?;
    let _lock = if args.dry_run { None } else { Some(InstallLock::acquire(config)?) };
    if args.all {
        return install_all(args, &host, &ui, out);
    }
    let scope = InstallScope::of(args.agent, args.scope).with_context(|| no_hooks(args.agent))?;
    let request = InstallRequest { scope, timer: args.timer, mcp: args.mcp, allow: args.allow, is_one_of_all: false };
    let plan = plan::plan(&request, &host)?;
    if !plan.is_for_sessions() {
        bail!("{}", server_only(args.agent));
    }
    plan.warnings.iter().for_each(|warning| ui.warn(warning));
    plan.notes.iter().for_each(|note| ui.note(note));
    other_copilot(args.agent, &host).iter().for_each(|note| ui.note(note));
    if args.dry_run {
        plan.show(out)?;
        if !plan.is_empty() {
            end_dry_run(&ui, out)?;
        }
    } else {
        let change = what_changes(args.agent, &plan);
        let timer = install_and_tell(plan, &host, &ui, out)?;
        if let Some(change) = change {
            print_next_steps(&change, timer, config, out)?;
        }
        print_undecided(args, &host, out)?;
    }
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

/// Installs for each agent that is used here, once its change was shown and agreed to. What cannot be done for one is a warning.
fn install_all(args: &InstallArgs, host: &Host<'_>, ui: &Ui, out: &mut impl Write) -> Result<Completion> {
    let (mut told, mut timer, mut is_timer_shown, mut is_change_shown) = (BTreeSet::new(), None, false, false);
    let scopes = inspect::used(host);
    if scopes.is_empty() {
        writeln!(out, "no agent is used here: `recall install` installs for Claude Code, `--agent` for another")?;
    }
    for (at, scope) in scopes.into_iter().enumerate() {
        let name = scope.agent().name();
        let request = InstallRequest { scope, timer: args.timer, mcp: args.mcp, allow: false, is_one_of_all: true };
        let mut plan = match plan::plan(&request, host) {
            Ok(plan) => plan,
            Err(e) => {
                ui.warn(&format!("{name}: {e:#}"));
                continue;
            }
        };
        if !plan.is_for_sessions() {
            continue;
        }
        plan.warnings.iter().filter(|warning| told.insert((*warning).clone())).for_each(|warning| ui.warn(warning));
        plan.notes.iter().filter(|note| told.insert((*note).clone())).for_each(|note| ui.note(note));
        if args.dry_run && std::mem::replace(&mut is_timer_shown, true) {
            plan = plan.without_timer();
        }
        writeln!(out, "{}{name}", if at > 0 { "\n" } else { "" })?;
        plan.show(out)?;
        is_change_shown |= !plan.is_empty();
        if args.dry_run || plan.is_empty() {
            continue;
        }
        match install_if_agreed(plan, name, args.yes, host, ui, out) {
            Ok(installed) => timer = installed.or(timer),
            Err(e) => ui.warn(&format!("{name}: {e:#}")),
        }
    }
    if args.dry_run && is_change_shown {
        end_dry_run(ui, out)?;
    }
    timer.iter().try_for_each(|timer| print_next_steps(WITH_NOTES, *timer, host.config, out))?;
    if timer.is_some() {
        print_undecided(args, host, out)?;
    }
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

/// To stderr, behind what would change: stdout has nothing but that.
fn end_dry_run(ui: &Ui, out: &mut impl Write) -> Result<()> {
    out.flush()?;
    ui.note("nothing was changed: run it without `--dry-run` to install this");
    Ok(())
}

/// The timer that runs then; `None` where the user does not want it.
fn install_if_agreed(
    plan: InstallPlan,
    name: &str,
    yes: bool,
    host: &Host<'_>,
    ui: &Ui,
    out: &mut impl Write,
) -> Result<Option<Timer>> {
    if !yes && !consent::agrees(&format!("Install this for {name}?"))? {
        writeln!(out, "not installed")?;
        return Ok(None);
    }
    install_and_tell(plan, host, ui, out).map(Some)
}

/// Each line of what was done begins with its part.
fn install_and_tell(plan: InstallPlan, host: &Host<'_>, ui: &Ui, out: &mut impl Write) -> Result<Timer> {
    let mut done = Vec::new();
    let timer = apply::install(plan, host, ui, &mut done);
    for line in String::from_utf8_lossy(&done).lines() {
        let (part, rest) = line.split_at_checked(PART_CHARS).unwrap_or(("", line));
        print_hanging(part, &" ".repeat(part.len()), rest, out)?;
    }
    timer
}

/// Of a name that two agents go by: which two there are, where only the other one is used here.
fn other_copilot(agent: Client, host: &Host<'_>) -> Option<String> {
    let (cli, chat) = (Client::CopilotCli, Client::VscodeCopilot);
    (agent == cli && !is_used(cli, host) && is_used(chat, host)).then(|| {
        format!(
            "this is for {}, the program `copilot`, which is not used here; {} is: `--agent {}` names it",
            cli.name(),
            chat.name(),
            chat.key()
        )
    })
}

/// Why nothing is installed for an agent.
pub(super) fn no_hooks(agent: Client) -> String {
    format!("recall has no hooks for {}: its sessions are read by `recall digest`", agent.name())
}

/// Why nothing is installed for an agent that runs the hooks of another, unless the server is asked for.
fn server_only(agent: Client) -> String {
    let (name, key) = (agent.name(), agent.key());
    format!(
        "{name} needs no hooks of its own: it runs those of Claude Code, which `recall install` adds; `recall install --agent {key} --mcp` lets it search the memory itself"
    )
}

/// What is different for a session of an agent whose hooks tell it something.
const WITH_NOTES: &str = "From now on a session leaves a mark when it ends, and starts with notes on the ones before it.";

/// What is different for a session of an agent; `None` where it only can search the memory now.
fn what_changes(agent: Client, plan: &InstallPlan) -> Option<String> {
    let name = agent.name();
    let Some(rules) = &plan.rules else { return plan.hooks.as_ref().map(|_| WITH_NOTES.to_owned()) };
    let told = rules.refused.is_none().then(|| format!("a rule tells {name} to ask recall when a session starts"));
    let marks = plan.hooks.as_ref().map(|_| "a session leaves a mark after each reply".to_owned());
    let all: Vec<String> = marks.into_iter().chain(told).collect();
    (!all.is_empty()).then(|| format!("From now on {}. Start {name} again, so that it reads this.", all.join(", and ")))
}

fn print_next_steps(change: &str, timer: Timer, config: &Config, out: &mut impl Write) -> Result<()> {
    writeln!(out)?;
    print_hanging("", "", change, out)?;
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

/// Tells a person on the terminal how to let the model see the sessions of other agents, until the config says something of it: recall itself
/// does not write that file.
fn print_undecided(args: &InstallArgs, host: &Host<'_>, out: &mut impl Write) -> Result<()> {
    let undecided = if args.yes || !consent::has_terminal() { Vec::new() } else { undecided(host) };
    let names = undecided.iter().map(|client| client.name()).collect::<Vec<_>>().join(", ");
    if names.is_empty() {
        return Ok(());
    }
    let (file, command) = (host.config.config_file.display(), &host.config.digest.claude);
    let why = format!(
        "No model sees what was said in sessions of {names}: it stays here. To have `{command} -p` digest them, put this into {file}; with `false`, you are not told again:"
    );
    writeln!(out)?;
    print_hanging("", "", &without_controls(&why), out)?;
    undecided.iter().try_for_each(|client| Ok(writeln!(out, "\n[sources.{}]\nmodel = true", client.key())?))
}
