//! Hooks, server, command and timer: what is installed, and whether it still fits this program.

use std::path::Path;

use super::{Finding, Repair};
use crate::config::PROGRAM;
use crate::setup::codex_trust::{self, Trust};
use crate::setup::inspect::{self, InstalledRule, InstalledTimer, RulesState, ServerRegistration, SettingsFile};
use crate::setup::manifest::Manifest;
use crate::setup::settings::SettingsState;
use crate::setup::{Host, InstallScope, Timer};
use crate::sys::child_process::which;
use crate::sys::paths::is_same_file;

pub(crate) fn hooks(host: &Host<'_>) -> Vec<Finding> {
    let files = inspect::settings(host);
    let mut all: Vec<Finding> = files.iter().filter_map(|file| settings_finding(file, host)).collect();
    all.extend(trust(host));
    all.extend(inspect::without_hooks(host, &files).into_iter().map(|scope| {
        let (name, option) = (scope.agent().name(), scope.option());
        Finding::ok("hooks", format!("{name} has none: after `recall install {option}`, its sessions start with notes"))
    }));
    match hooks_in(&files) {
        Hooks::InSettings => {}
        Hooks::ByPlugin => all.push(Finding::ok("hooks", "by the plugin")),
        // Whoever only uses another agent has no folder of Claude Code's.
        Hooks::None if !all.is_empty() && !host.environment.claude_dir(host.config).exists() => {}
        Hooks::None => {
            all.push(Finding::problem(
                "hooks",
                "none: nothing tells recall when a session ends, and sessions start without context",
                "`recall install`",
            ));
        }
    }
    all
}

/// What keeps Codex from running hooks of ours that are there. Without that it says nothing.
fn trust(host: &Host<'_>) -> Option<Finding> {
    let (trust, events) = codex_trust::trust(host)?;
    let events = events.join(", ");
    let found = match trust {
        Trust::Accepted => return None,
        Trust::Off => return Some(Finding::ok("hooks", format!("Codex does not run {events}: switched off in `/hooks`"))),
        Trust::Changed => format!("Codex does not run {events}: you accepted another form of these hooks than they have now"),
        Trust::Missing => format!("Codex does not run {events}: nobody accepted these hooks"),
    };
    Some(Finding::warning("hooks", found, codex_trust::ACCEPT))
}

/// Does no session run any hook of ours?
pub(crate) fn lacks_hooks(host: &Host<'_>) -> bool {
    hooks_in(&inspect::settings(host)) == Hooks::None
}

/// Where sessions find our hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hooks {
    InSettings,
    ByPlugin,
    None,
}

fn hooks_in(files: &[SettingsFile]) -> Hooks {
    let of_claude = || files.iter().filter(|file| file.scope.agent().is_usual());
    let has = |has: fn(&SettingsState) -> bool| of_claude().any(|file| file.state.as_ref().is_ok_and(has));
    if has(|state| !state.hooks.is_empty()) {
        Hooks::InSettings
    } else if has(|state| state.plugin) {
        Hooks::ByPlugin
    } else {
        Hooks::None
    }
}

fn settings_finding(file: &SettingsFile, host: &Host<'_>) -> Option<Finding> {
    let path = file.path.display();
    let state = match &file.state {
        Ok(state) => state,
        Err(broken) => {
            return Some(Finding::problem("settings", broken.as_str(), "correct the file: its hooks do not run until then"));
        }
    };
    if state.disabled {
        let found = format!("{path}: all hooks are switched off (`disableAllHooks`)");
        return Some(Finding::problem("hooks", found, "remove `disableAllHooks`, or go on without context"));
    }
    if state.hooks.is_empty() {
        return None;
    }
    Some(match why_stale(file.scope, state, file, host) {
        Some(why) => Finding::problem("hooks", format!("{path}: {why}"), advice(file.scope)).fixed_by(Repair::Install),
        None => Finding::ok("hooks", format!("{path}: {}", events(state))),
    })
}

fn events(state: &SettingsState) -> String {
    let mut names: Vec<&str> = state.hooks.iter().map(|h| h.event.as_str()).collect();
    names.dedup();
    names.join(", ")
}

fn advice(scope: InstallScope) -> String {
    format!("`recall install {}` repairs it", scope.option())
}

/// Why our hooks are out of date, if they are.
pub(crate) fn why_stale(scope: InstallScope, state: &SettingsState, file: &SettingsFile, host: &Host<'_>) -> Option<String> {
    for hook in &state.hooks {
        let program = hook.call.program.as_str();
        if program.starts_with('/') && !Path::new(program).exists() {
            return Some(format!("{program} is gone"));
        }
        // In a project's settings each user has a program path of their own.
        let other = scope != InstallScope::Project
            && program.starts_with('/')
            && !is_same_file(Path::new(program), &host.environment.program);
        if other {
            // Not started to ask for its version: a repository's settings may name any program.
            return Some(format!("the hooks run {program}, not this program, {}", host.environment.program.display()));
        }
    }
    let missing = state.missing(file.form);
    if !missing.is_empty() {
        return Some(format!("no hook for {}", missing.join(", ")));
    }
    let wanted = |hook: &crate::setup::settings::Hook| {
        file.invocation.as_ref().is_none_or(|invocation| invocation.command(&hook.call.argument) == hook.command)
    };
    let changed = state.hooks.iter().any(|hook| hook.call.is_generated && !wanted(hook));
    changed.then(|| "the folders or the form of the commands have changed".to_owned())
}

/// The MCP server, as far as it is registered.
pub(crate) fn servers(host: &Host<'_>) -> Vec<Finding> {
    let (of_claude, of_others): (Vec<_>, Vec<_>) = inspect::servers(host).into_iter().partition(|one| one.scope.agent().is_usual());
    let mut all = servers_of_claude(&of_claude, host);
    all.extend(of_others.iter().map(|registered| server_finding(registered, host)));
    all.extend(inspect::without_server(host, &of_others).into_iter().map(|(scope, refused)| {
        let (name, option) = (scope.agent().name(), scope.option());
        Finding::ok(
            "mcp",
            refused.map_or_else(
                || {
                    let asked = if inspect::needs_server(scope) { "" } else { " --mcp" };
                    format!("not registered with {name}: `recall install {option}{asked}` lets it search the memory itself")
                },
                |why| format!("not registered with {name}: {why}"),
            ),
        )
    }));
    all
}

fn servers_of_claude(all: &[ServerRegistration], host: &Host<'_>) -> Vec<Finding> {
    let by_plugin = || inspect::settings(host).iter().any(|file| file.state.as_ref().is_ok_and(|state| state.plugin));
    if all.is_empty() && by_plugin() {
        return vec![Finding::ok("mcp", "by the plugin")];
    }
    if let Some(file) = inspect::overwritten_registration(host).filter(|_| all.is_empty()) {
        let found = format!("{}: was registered there, but is missing now", file.display());
        let advice = "run `recall install --mcp` to register it again: a session running meanwhile wrote back the old file";
        return vec![Finding::warning("mcp", found, advice).fixed_by(Repair::Install)];
    }
    if all.is_empty() {
        return vec![Finding::ok("mcp", "not registered (optional): `recall install --mcp` lets Claude search the memory itself")];
    }
    all.iter().map(|registered| server_finding(registered, host)).collect()
}

fn server_finding(registered: &ServerRegistration, host: &Host<'_>) -> Finding {
    let path = registered.path.display();
    let server = match &registered.server {
        Ok(server) => server,
        Err(broken) => {
            return Finding::problem("mcp", broken.as_str(), "correct the file: until then, no MCP server in this file starts");
        }
    };
    let repairs = format!("`recall install --mcp {}` repairs it", registered.scope.option());
    let program = Path::new(&server.program);
    if program.is_absolute() && !program.exists() {
        return Finding::problem("mcp", format!("{path}: {} is gone", server.program), repairs).fixed_by(Repair::Install);
    }
    if registered.scope != InstallScope::Project && program.is_absolute() && !is_same_file(program, &host.environment.program) {
        let found =
            format!("{path}: `{}` runs {}, not this program, {}", server.name, server.program, host.environment.program.display());
        return Finding::problem("mcp", found, repairs).fixed_by(Repair::Install);
    }
    if !registered.current && registered.scope != InstallScope::Project {
        return Finding::warning("mcp", format!("{path}: the program or the folders have changed"), repairs)
            .fixed_by(Repair::Install);
    }
    Finding::ok("mcp", format!("{path}: registered as `{}`", server.name))
}

/// The rules by which agents know of the server that are told nothing by hooks.
pub(crate) fn rules(host: &Host<'_>) -> Vec<Finding> {
    inspect::rules(host).into_iter().map(|rule| rule_finding(&rule)).collect()
}

fn rule_finding(rule: &InstalledRule) -> Finding {
    let (path, name, option) = (rule.path.display(), rule.scope.agent().name(), rule.scope.option());
    let again = format!("`recall install {option}` writes it again");
    match &rule.state {
        Err(why) => Finding::problem("rules", why.as_str(), format!("until then, {name} may not know of recall")),
        Ok(RulesState::Current) => Finding::ok("rules", format!("{path}: tells {name} to ask recall")),
        Ok(RulesState::Changed) => {
            let found = format!("{path}: the rule of recall is not the one that this version writes");
            Finding::warning("rules", found, again).fixed_by(Repair::Install)
        }
        Ok(RulesState::Gone) => {
            let found = format!("{path}: the rule of recall was there, but is missing now");
            Finding::warning("rules", found, again).fixed_by(Repair::Install)
        }
        Ok(RulesState::Missing) => {
            Finding::ok("rules", format!("{path}: has no rule of recall: `recall install {option}` tells {name} to ask it"))
        }
        Ok(RulesState::Refused(why)) => Finding::warning("rules", why.as_str(), "shorten the file"),
    }
}

/// Checks that `recall` is on the PATH: injected notes tell Claude to run it, and hooks shared by a team look for it by name.
pub(crate) fn command(host: &Host<'_>) -> Option<Finding> {
    if which(PROGRAM, &host.config.search_path).is_some() {
        return None;
    }
    let program = &host.environment.program;
    let advice = match program.parent() {
        Some(folder) if program.ends_with(PROGRAM) => format!("put {} on the PATH", folder.display()),
        _ => format!("put a link to {} on the PATH, with the name `recall`", program.display()),
    };
    Some(Finding::warning("command", "`recall` is not on the PATH, so Claude cannot use it to look up more", advice))
}

/// State of the installed timers.
pub(crate) fn timers(timers: &[InstalledTimer], host: &Host<'_>) -> Vec<Finding> {
    let chosen = Manifest::load(&host.config.data_dir).ok().and_then(|manifest| manifest.timer);
    if timers.is_empty() && chosen == Some(Timer::None) {
        return vec![Finding::ok("timer", "none, as you chose: run `recall digest` from time to time")];
    }
    if timers.is_empty() && host.config.hooks.digest_at_end {
        return vec![Finding::ok("timer", "none: a digest runs when a session has ended (`digest_at_end`)")];
    }
    if timers.is_empty() {
        let advice = "`recall install` sets one up; or run `recall digest` yourself, or set `digest_at_end` under [hooks]";
        return vec![Finding::warning("timer", "none: nothing starts the digest", advice)];
    }
    let mut all: Vec<Finding> = timers.iter().map(timer_finding).collect();
    if timers.len() > 1 {
        all.push(
            Finding::warning(
                "timer",
                "more than one timer: digests run twice without any use",
                "run `recall install --timer …` to keep one timer and remove the other",
            )
            .fixed_by(Repair::Install),
        );
    }
    if timers.iter().any(|t| t.timer == Timer::Systemd) && inspect::lingers(host) == Some(false) {
        let advice = "`loginctl enable-linger` lets it run always";
        all.push(Finding::ok("timer", format!("runs only while you are logged in: {advice}")));
    }
    all
}

fn timer_finding(timer: &InstalledTimer) -> Finding {
    let times = [
        Some(format!("{}, {}", timer.timer, timer.schedule)),
        timer.last.as_ref().map(|at| format!("last {at}")),
        timer.next.as_ref().map(|at| format!("next {at}")),
    ];
    let times = times.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if timer.active == Some(false) {
        return Finding::problem("timer", format!("{} is there but not active", timer.location), "`recall install` starts it")
            .fixed_by(Repair::Install);
    }
    if !timer.current {
        let found = format!("{}: does not match the config and this program", timer.location);
        return Finding::warning("timer", found, "`recall install` renews it").fixed_by(Repair::Install);
    }
    match &timer.failure {
        Some(failure) => {
            let advice = match timer.timer {
                Timer::Systemd => "`journalctl --user -u recall-digest` says why",
                _ => "run `recall digest` to see why",
            };
            Finding::problem("timer", format!("{times}; its last run failed ({failure})"), advice)
        }
        None => Finding::ok("timer", times),
    }
}
