//! What is installed and in what state, read without changing anything: for the doctor.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::agent_hosts::is_used;
use super::file::FileSnapshot;
use super::hook_command::{HookForm, Invocation, may_name_us};
use super::locations::{self, client_file, form, invocation, servers_file, settings_file};
use super::manifest::Manifest;
use super::rules_file::{self, RulesEdit};
use super::servers::McpServer;
use super::settings::{self, SettingsState};
use super::timer::{is_active, is_loaded, launchd_file, launchd_target, systemd_folder};
use super::timer_job::TimerJob;
use super::{Host, InstallScope, Timer, cron, launchd, registration, systemd, timer_calendar};

/// A settings file that exists.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    pub(crate) scope: InstallScope,
    pub(crate) path: PathBuf,
    /// What of ours it holds, or where it is broken.
    pub(crate) state: Result<SettingsState, String>,
    /// How `recall install` would call the program there.
    pub(crate) invocation: Option<Invocation>,
    /// The hooks that it would put there.
    pub(crate) form: HookForm,
}

/// A timer that is installed.
#[derive(Debug)]
pub(crate) struct InstalledTimer {
    pub(crate) timer: Timer,
    /// The file that defines it, or `crontab`.
    pub(crate) location: String,
    /// Its times, in its own words.
    pub(crate) schedule: String,
    /// Is it what `recall install` would write now?
    pub(crate) current: bool,
    /// Does its manager know it and wait for its time? cron cannot be asked.
    pub(crate) active: Option<bool>,
    /// As its manager says them.
    pub(crate) last: Option<String>,
    pub(crate) next: Option<String>,
    /// How the last run ended, when it failed.
    pub(crate) failure: Option<String>,
}

/// The settings files that exist for sessions started here.
pub(crate) fn settings(host: &Host<'_>) -> Vec<SettingsFile> {
    let mut all = Vec::new();
    let of_claude = [InstallScope::User, InstallScope::Project, InstallScope::Local];
    for scope in of_claude.into_iter().chain(InstallScope::of_others()) {
        let Ok(path) = settings_file(scope, host) else { continue };
        let read = FileSnapshot::read(&path).and_then(|file| Ok((file.bytes.is_some(), file.text()?)));
        let state = match read {
            Ok((false, _)) => continue,
            Ok((true, text)) => {
                settings::state_in(form(scope), &text).map_err(|broken| settings::located(&path, scope.agent(), &broken))
            }
            Err(e) => Err(format!("{e:#}")),
        };
        all.push(SettingsFile { scope, state, invocation: invocation(scope, host).ok(), form: form(scope), path });
    }
    all
}

/// Other agents whose sessions are read and start without notes, for all that they could have them.
pub(crate) fn without_hooks(host: &Host<'_>, files: &[SettingsFile]) -> Vec<InstallScope> {
    let could_have = InstallScope::of_others().filter(|scope| locations::tells_start(*scope));
    could_have.filter(|scope| is_used(scope.agent(), host) && !has_hooks(*scope, files)).collect()
}

fn has_hooks(scope: InstallScope, files: &[SettingsFile]) -> bool {
    files.iter().any(|file| file.scope == scope && file.state.as_ref().is_ok_and(|state| !state.hooks.is_empty()))
}

/// The agents that are used here, among those that could have hooks: all sessions of each.
pub(crate) fn used(host: &Host<'_>) -> Vec<InstallScope> {
    let scopes = std::iter::once(InstallScope::User).chain(InstallScope::of_others());
    scopes.filter(|scope| is_used(scope.agent(), host)).collect()
}

/// Other agents that are used here or have our hooks, and with which the server is not registered; why it cannot be, if so.
pub(crate) fn without_server(host: &Host<'_>, registered: &[ServerRegistration]) -> Vec<(InstallScope, Option<String>)> {
    let files = settings(host);
    let is_known = |scope: &InstallScope| is_used(scope.agent(), host) || has_hooks(*scope, &files);
    let lacks = |scope: &InstallScope| servers_file(*scope, host).is_some() && registered.iter().all(|one| one.scope != *scope);
    let scopes = InstallScope::of_others().filter(|scope| is_known(scope) && lacks(scope));
    scopes.map(|scope| (scope, registration::why_refused(scope, host))).collect()
}

/// Can sessions of a scope have hooks of ours?
pub(crate) fn can_have_hooks(scope: InstallScope) -> bool {
    locations::has_hooks(scope)
}

/// Is the server registered whether or not somebody asks for it?
pub(crate) fn needs_server(scope: InstallScope) -> bool {
    locations::needs_server(scope)
}

/// A server of ours that is registered with the client.
#[derive(Debug)]
pub(crate) struct ServerRegistration {
    pub(crate) scope: InstallScope,
    pub(crate) path: PathBuf,
    /// What it runs, or where the file is broken.
    pub(crate) server: Result<McpServer, String>,
    /// Is it what an install would write now?
    pub(crate) current: bool,
}

/// What of ours is out of date, broken or gone of agents that are told nothing by hooks.
pub(crate) fn without_start(host: &Host<'_>) -> Vec<InstallScope> {
    let alone = servers(host).into_iter().filter(|one| !locations::tells_start(one.scope));
    let outdated = alone.filter(|one| one.server.is_ok() && !one.current).map(|one| one.scope);
    let rules = rules(host).into_iter().filter(|one| matches!(one.state, Ok(RulesState::Changed | RulesState::Gone)));
    let all: BTreeMap<_, _> = outdated.chain(rules.map(|one| one.scope)).map(|scope| (scope.option(), scope)).collect();
    all.into_values().collect()
}

/// The rule of an agent that something of ours is installed for.
#[derive(Debug)]
pub(crate) struct InstalledRule {
    pub(crate) scope: InstallScope,
    pub(crate) path: PathBuf,
    /// Or why the file cannot be edited.
    pub(crate) state: Result<RulesState, String>,
}

/// What an agent's file of rules has of ours.
#[derive(Debug)]
pub(crate) enum RulesState {
    /// What an install would write now.
    Current,
    /// Something else between our marks.
    Changed,
    /// Nothing, though an install wrote it.
    Gone,
    /// Nothing, and no install wrote it.
    Missing,
    /// Nothing, and why it would not be written.
    Refused(String),
}

/// The rules of ours, and those that are missing beside a server of ours.
pub(crate) fn rules(host: &Host<'_>) -> Vec<InstalledRule> {
    let edited = Manifest::load(&host.config.data_dir).map(|manifest| manifest.edited).unwrap_or_default();
    let registered: Vec<InstallScope> = servers(host).into_iter().map(|one| one.scope).collect();
    let rule = |scope: InstallScope| {
        let path = rules_file::path(scope, host)?;
        let (was_written, is_wanted) = (edited.contains_key(&path), registered.contains(&scope));
        let state = match rules_file::plan(scope, host) {
            Ok(edit) => Ok(match edit? {
                RulesEdit { was_there: false, .. } if !was_written && !is_wanted => return None,
                RulesEdit { refused: Some(why), .. } => RulesState::Refused(why),
                edit if !edit.changes() => RulesState::Current,
                RulesEdit { was_there: true, .. } => RulesState::Changed,
                _ if was_written => RulesState::Gone,
                _ => RulesState::Missing,
            }),
            Err(_) if !was_written && !is_wanted => return None,
            Err(e) => Err(format!("{e:#}")),
        };
        Some(InstalledRule { scope, path, state })
    };
    InstallScope::of_others().filter_map(rule).collect()
}

/// Our servers for sessions started here. A broken file counts only where its text contains our name.
pub(crate) fn servers(host: &Host<'_>) -> Vec<ServerRegistration> {
    let mut all = Vec::new();
    let of_claude = [InstallScope::User, InstallScope::Project, InstallScope::Local];
    for scope in of_claude.into_iter().chain(InstallScope::of_others()) {
        let Some((path, location)) = servers_file(scope, host) else { continue };
        let Ok(text) = FileSnapshot::read(&path).and_then(|file| file.text()) else { continue };
        let server = match registration::find(&path, &text, &location, host) {
            Ok(None) => continue,
            Ok(Some(server)) => Ok(server),
            Err(_) if !may_name_us(&text) => continue,
            Err(broken) => Err(broken.located(&path)),
        };
        let current =
            invocation(scope, host).is_ok_and(|invocation| server.as_ref().is_ok_and(|server| server.matches(&invocation)));
        all.push(ServerRegistration { scope, path, server, current });
    }
    all
}

/// The client's own file, where our server was registered in it and is gone.
pub(crate) fn overwritten_registration(host: &Host<'_>) -> Option<PathBuf> {
    let manifest = Manifest::load(&host.config.data_dir).ok()?;
    registration::was_overwritten(&manifest, host).then(|| client_file(host))
}

/// The timers that are installed: one, if all is well.
pub(crate) fn timers(host: &Host<'_>) -> Vec<InstalledTimer> {
    let job = TimerJob::new(host).ok();
    Timer::ALL
        .into_iter()
        .filter_map(|timer| match timer {
            Timer::Systemd => inspect_systemd(job.as_ref(), host),
            Timer::Launchd => inspect_launchd(job.as_ref(), host),
            Timer::Cron => inspect_cron(job.as_ref(), host),
            Timer::None => None,
        })
        .collect()
}

/// Do the user's timers run while they are not logged in? `None` when systemd does not say.
pub(crate) fn lingers(host: &Host<'_>) -> Option<bool> {
    let user = rustix::process::getuid().as_raw().to_string();
    let said = host.timer_cli().output(&["loginctl", "show-user", &user, "--property=Linger", "--value"], None).ok()?;
    said.succeeded.then(|| String::from_utf8_lossy(&said.stdout).trim() == "yes")
}

/// Is a service of ours installed that may not write to this folder?
pub(crate) fn is_barred_by_systemd(dir: &str, host: &Host<'_>) -> bool {
    let service = std::fs::read_to_string(systemd_folder(host).join(systemd::SERVICE_NAME));
    service.is_ok_and(|service| !systemd::lets_write(&service, dir))
}

fn inspect_systemd(job: Option<&TimerJob>, host: &Host<'_>) -> Option<InstalledTimer> {
    let folder = systemd_folder(host);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let timer = read(systemd::TIMER_NAME)?;
    let wanted = job.and_then(|job| systemd::units(job).ok());
    let current = wanted.is_some_and(|units| units.iter().all(|(name, text)| read(name).as_ref() == Some(text)));
    let said = host.timer_cli().output(
        &[
            "systemctl",
            "--user",
            "show",
            systemd::TIMER_NAME,
            systemd::SERVICE_NAME,
            "--property=LastTriggerUSec,NextElapseUSecRealtime,Result",
        ],
        None,
    );
    let said = said.map(|s| String::from_utf8_lossy(&s.stdout).into_owned()).unwrap_or_default();
    let value = |key: &str| systemd::value(&said, key).filter(|v| !v.is_empty() && *v != "n/a").map(str::to_owned);
    let results = said.lines().filter_map(|line| line.strip_prefix("Result="));
    Some(InstalledTimer {
        timer: Timer::Systemd,
        location: folder.join(systemd::TIMER_NAME).display().to_string(),
        schedule: systemd::value(&timer, "OnCalendar").unwrap_or_default().to_owned(),
        current,
        active: Some(is_active(host)),
        last: value("LastTriggerUSec"),
        next: value("NextElapseUSecRealtime"),
        failure: results.filter(|result| *result != "success").map(str::to_owned).next(),
    })
}

fn inspect_launchd(job: Option<&TimerJob>, host: &Host<'_>) -> Option<InstalledTimer> {
    let path = launchd_file(host);
    let text = std::fs::read_to_string(&path).ok()?;
    let said = host.timer_cli().output(&["launchctl", "print", &launchd_target()], None).ok();
    let said = said.map(|s| String::from_utf8_lossy(&s.stdout).into_owned()).unwrap_or_default();
    let code = said.lines().find_map(|line| line.trim().strip_prefix("last exit code = "));
    let current = job.is_some_and(|job| launchd::plist(job) == text);
    Some(InstalledTimer {
        timer: Timer::Launchd,
        location: path.display().to_string(),
        // The plist says it in many lines; when it is the current one, it is the config's.
        schedule: if current { host.config.schedule.to_string() } else { String::new() },
        current,
        active: Some(is_loaded(host)),
        last: None,
        next: None,
        failure: code
            .filter(|c| c.starts_with(|d: char| d.is_ascii_digit()) && !matches!(*c, "0" | "1"))
            .map(|c| format!("exit code {c}")),
    })
}

fn inspect_cron(job: Option<&TimerJob>, host: &Host<'_>) -> Option<InstalledTimer> {
    let table = host.timer_cli().crontab().ok()??;
    let block = cron::find(&table)?;
    let fields = cron::fields(&block).unwrap_or_default();
    let now = jiff::Timestamp::from_millisecond(host.config.now()).ok()?.to_zoned(jiff::tz::TimeZone::system());
    let current = job.is_some_and(|job| cron::block(job).is_ok_and(|now| now == block));
    Some(InstalledTimer {
        timer: Timer::Cron,
        location: "crontab".to_owned(),
        next: current.then(|| timer_calendar::next(host.config.schedule, &now).strftime("%Y-%m-%d %H:%M").to_string()),
        schedule: fields,
        current,
        active: None,
        last: None,
        failure: None,
    })
}
