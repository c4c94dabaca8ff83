//! What install would do, worked out without changing anything.

use std::io::Write;
use std::path::Path;
use std::thread;

use anyhow::{Result, anyhow};

use super::codex_trust;
use super::diff::write_file_diff;
use super::file::{FileSnapshot, PAUSE, TRIES};
use super::hook_command::HookLayout;
use super::inspect;
use super::locations::{form, has_hooks, invocation, project, servers_file, settings_file};
use super::manifest::Manifest;
use super::registration::{self, BesideHooks, Registration};
use super::rules_file::{self, RulesEdit};
use super::settings::{self, SettingsState};
use super::strict_json::{Broken, Insertion};
use super::timer::{self, choose};
use super::timer_steps::TimerStep;
use super::{Host, InstallScope, Timer, TimerChoice};

/// What is to be installed.
#[derive(Debug, Clone)]
pub(crate) struct InstallRequest {
    /// Which sessions get the hooks.
    pub(crate) scope: InstallScope,
    /// What starts the digest; `None`: as before, or `auto` the first time.
    pub(crate) timer: Option<TimerChoice>,
    /// Register the MCP server for the same sessions.
    pub(crate) mcp: bool,
    /// Permit the calls of its tools.
    pub(crate) allow: bool,
    /// Every agent that is used here gets what is installed, one after the other.
    pub(crate) is_one_of_all: bool,
}

#[derive(Debug)]
pub(crate) struct InstallPlan {
    /// `None` of an agent that has no file for them.
    pub(crate) hooks: Option<HooksEdit>,
    /// Where the server is to be registered, or is.
    pub(crate) server: Option<Registration>,
    /// What an agent is told by a rule that it is not told by a hook.
    pub(crate) rules: Option<RulesEdit>,
    pub(crate) timer: Timer,
    /// The timer to remember: `None` when no timer can be had here.
    pub(crate) chosen: Option<Timer>,
    /// What the timer needs; `None` when it cannot be had.
    pub(crate) new_timer: Option<Vec<TimerStep>>,
    /// Timers of other kinds, and how they are removed once the new one is there.
    pub(crate) old_timers: Vec<(Timer, Vec<TimerStep>)>,
    pub(crate) manifest: Manifest,
    /// What makes this less than was asked for.
    pub(crate) warnings: Vec<String>,
    /// What is only good to know.
    pub(crate) notes: Vec<String>,
}

/// The edit of a settings file.
#[derive(Debug)]
pub(crate) struct HooksEdit {
    pub(crate) file: FileSnapshot,
    pub(crate) insertion: Insertion,
    /// What of ours it held before.
    pub(crate) before: SettingsState,
    /// Is the rule added that permits calls of the server's tools?
    pub(crate) permits: bool,
    /// Our server, where the file has servers as well and ours is to be there.
    pub(crate) server: Option<BesideHooks>,
    /// Do hooks change?
    hooks_change: bool,
    scope: InstallScope,
    allow: bool,
    mcp: bool,
}

impl HooksEdit {
    /// Do the settings name the server's tools already?
    fn allows_mcp(&self) -> bool {
        self.file.bytes.as_ref().is_some_and(|bytes| memchr::memmem::find(bytes, settings::RULE.as_bytes()).is_some())
    }

    fn new(scope: InstallScope, allow: bool, mcp: bool, host: &Host<'_>) -> Result<Self> {
        let path = settings_file(scope, host)?;
        let file = read_settled(&path)?;
        let text = file.text()?;
        let located = |broken: Broken| match form(scope).layout {
            HookLayout::Plugin(_) => broken.located(&path),
            _ => settings::located(&path, scope.agent(), &broken),
        };
        let broken = |broken| anyhow!("{}\nit is left as it is, and nothing was installed", located(broken));
        let before = settings::state_in(form(scope), &text).map_err(broken)?;
        let invocation = invocation(scope, host)?;
        let hooks_change = settings::add(&text, &invocation, form(scope), false).map_err(broken)?.text != text;
        let insertion = settings::add(&text, &invocation, form(scope), allow).map_err(broken)?;
        let (insertion, server) = registration::beside_hooks(&text, insertion, &path, scope, mcp, host)?;
        let permits = allow && !before.permitted;
        Ok(Self { file, insertion, before, permits, server, hooks_change, scope, allow, mcp })
    }

    pub(crate) fn changes(&self) -> bool {
        self.file.bytes.as_deref() != Some(self.insertion.text.as_bytes())
    }

    /// Works the edit out again, from what the file holds now.
    pub(crate) fn recompute(&mut self, host: &Host<'_>) -> Result<()> {
        *self = Self::new(self.scope, self.allow, self.mcp, host)?;
        Ok(())
    }

    /// The events that got a hook, or those whose hook was updated.
    pub(crate) fn summary(&self) -> String {
        if !self.hooks_change {
            return "already installed".to_owned();
        }
        let missing = self.before.missing(form(self.scope));
        let updated =
            form(self.scope).events.iter().map(|event| event.name).filter(|event| !missing.contains(event)).collect::<Vec<_>>();
        match (missing.is_empty(), updated.is_empty()) {
            (false, true) => missing.join(", "),
            (false, false) => format!("{}; repaired {}", missing.join(", "), updated.join(", ")),
            (true, _) => "mended".to_owned(),
        }
    }
}

/// Reads a file that somebody may be writing just now: one that is empty or no JSON is read again until it stays so.
fn read_settled(path: &Path) -> Result<FileSnapshot> {
    let (mut file, mut pause) = (FileSnapshot::read(path)?, PAUSE);
    // Half a second without a change is enough.
    for _ in 1..TRIES {
        let is_whole = file.text().is_ok_and(|text| !text.trim().is_empty() && settings::state(&text).is_ok());
        if file.bytes.is_none() || is_whole {
            break;
        }
        thread::sleep(pause);
        pause *= 2;
        file = FileSnapshot::read(path)?;
    }
    Ok(file)
}

/// Works out what there is to do.
///
/// # Errors
/// When a settings file is broken, or something cannot be read: then nothing of it is to be done.
pub(crate) fn plan(request: &InstallRequest, host: &Host<'_>) -> Result<InstallPlan> {
    let manifest = Manifest::load(&host.config.data_dir)?;
    let edit = || HooksEdit::new(request.scope, request.allow, request.mcp, host);
    let hooks = has_hooks(request.scope).then(edit).transpose()?;
    let agent = request.scope.agent();
    let server = registration::plan(request.scope, request.mcp, host)?;
    let rules = rules_file::plan(request.scope, host).map_err(|e| anyhow!("{e:#}, and nothing was installed"))?;
    let (timer, missing) = choose(request.timer, manifest.timer, host);
    let mut plan = InstallPlan {
        notes: notes(request.scope, hooks.as_ref(), timer, host),
        warnings: rules.iter().filter_map(|rules| rules.refused.clone()).collect(),
        hooks,
        server,
        rules,
        timer,
        chosen: missing.is_none().then_some(timer),
        new_timer: None,
        old_timers: Vec::new(),
        manifest,
    };
    match &plan.hooks {
        Some(hooks) if agent.is_usual() => plan.notes.extend(notes_on_claude(request, hooks, host)),
        Some(hooks) => plan.notes.extend(notes_on_other(hooks)),
        None => {}
    }
    if request.mcp && servers_file(request.scope, host).is_none() {
        let missing = format!("{} takes no MCP servers: it can run `recall search` in a shell", agent.name());
        if request.is_one_of_all { plan.notes.push(missing) } else { plan.warnings.push(missing) }
    }
    // Nothing is wrong with a machine that has none, and a digest at a session's end does as well.
    plan.notes.extend(missing.filter(|_| !host.config.hooks.digest_at_end).map(str::to_owned));
    for other in Timer::ALL.into_iter().filter(|other| *other != timer) {
        match timer::remove(other, &plan.manifest, host) {
            Ok(steps) if steps.is_empty() => {}
            Ok(steps) => plan.old_timers.push((other, steps)),
            Err(e) => plan.warnings.push(format!("cannot tell whether {other} starts it too: {e:#}")),
        }
    }
    match timer::install(timer, host) {
        Ok(steps) => plan.new_timer = Some(steps),
        // Without the timer that was asked for the hooks are installed nevertheless, and the timer that runs stays.
        Err(e) => plan.warnings.push(format!("{timer} cannot start the digest: {e:#}")),
    }
    Ok(plan)
}

fn notes(scope: InstallScope, hooks: Option<&HooksEdit>, timer: Timer, host: &Host<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(hooks) = hooks.filter(|hooks| hooks.before.disabled) {
        notes.push(format!("{}: `disableAllHooks` keeps every hook from running", hooks.file.path.display()));
    }
    let scopes = [InstallScope::User, InstallScope::Project, InstallScope::Local];
    let others = scopes.into_iter().filter(|other| *other != scope && scope.agent().is_usual());
    for other in others {
        let Ok(path) = settings_file(other, host) else { continue };
        let state = FileSnapshot::read(&path).and_then(|file| file.text()).map(|text| settings::state(&text).unwrap_or_default());
        if state.is_ok_and(|state| !state.hooks.is_empty()) {
            let path = path.display();
            notes.push(format!("{path} has the hooks too, once is enough: `recall uninstall --scope {other}` removes them"));
        }
    }
    if matches!(scope, InstallScope::Project | InstallScope::Local) && project(host) != host.environment.current_dir {
        // Seen with 2.1.197: a project's settings are those of the folder it is started in.
        notes.push(format!("the hooks are for sessions that are started in {}, not in a folder below it", project(host).display()));
    }
    let names = login_of_the_shell(host);
    if timer != Timer::None && !names.is_empty() {
        let names = names.join(", ");
        notes.push(format!("the timer runs without {names}: if `claude` needs them, set them under `env` in its settings.json"));
    }
    notes
}

/// What Claude Code needs besides its hooks, and who else could have hooks here.
fn notes_on_claude(request: &InstallRequest, hooks: &HooksEdit, host: &Host<'_>) -> Vec<String> {
    let without_hooks = if request.is_one_of_all { Vec::new() } else { inspect::without_hooks(host, &inspect::settings(host)) };
    let others = without_hooks.into_iter().map(|scope| {
        let (name, option) = (scope.agent().name(), scope.option());
        format!("{name} is used here, too: after `recall install {option}`, its sessions start with notes")
    });
    let asks = (request.mcp && !request.allow && !hooks.allows_mcp()).then(|| {
        let file = hooks.file.path.display();
        format!(
            "Claude Code asks before it calls recall: `recall install --mcp --allow` adds \"mcp__recall\" to `permissions.allow` in {file}"
        )
    });
    asks.into_iter().chain(others).collect()
}

/// What another agent needs besides its hooks.
fn notes_on_other(hooks: &HooksEdit) -> Vec<String> {
    let mut notes = Vec::new();
    if codex_trust::is_asked_by(hooks.scope.agent()) && hooks.hooks_change {
        // Seen with 0.169: without that, hooks do not run, and nothing says so.
        notes.push(format!("Codex runs a hook only once you trust it as it stands: {}", codex_trust::ACCEPT));
    }
    notes
}

/// The variables of a login that only the shell knows: the client of a timer reads those of the user's settings itself.
fn login_of_the_shell(host: &Host<'_>) -> Vec<&'static str> {
    let settings = settings_file(InstallScope::User, host).and_then(|path| FileSnapshot::read(&path)?.text());
    let known = settings.ok().and_then(|text| settings::variables(&text).ok()).unwrap_or_default();
    host.environment.login_variables.iter().copied().filter(|name| !known.iter().any(|known| known == name)).collect()
}

impl InstallPlan {
    /// Is there something for the sessions of the agent, whether it changes or not? The timer is for all.
    pub(crate) fn is_for_sessions(&self) -> bool {
        self.hooks.is_some() || self.server.is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        let server_changes = self.server.as_ref().is_some_and(Registration::changes);
        !self.hooks.as_ref().is_some_and(HooksEdit::changes)
            && !server_changes
            && !self.rules.as_ref().is_some_and(RulesEdit::changes)
            && self.new_timer.is_some()
            && self.timer_steps().next().is_none()
    }

    fn timer_steps(&self) -> impl Iterator<Item = &TimerStep> {
        let old = self.old_timers.iter().flat_map(|(_, steps)| steps);
        self.new_timer.iter().flat_map(move |new| new.iter().chain(old.clone()))
    }

    /// Leaves the timer as it is, once that of another plan was shown.
    pub(crate) fn without_timer(mut self) -> Self {
        self.new_timer = self.new_timer.map(|_| Vec::new());
        self.old_timers.clear();
        self
    }

    /// Prints every difference and every command.
    pub(crate) fn show(&self, out: &mut impl Write) -> Result<()> {
        if self.is_empty() {
            writeln!(out, "already installed")?;
        }
        for hooks in self.hooks.iter().filter(|hooks| hooks.changes()) {
            write_file_diff(out, &hooks.file, Some(hooks.insertion.text.as_bytes()))?;
        }
        for server in self.server.iter().filter(|server| server.changes()) {
            write_file_diff(out, &server.file, Some(server.insertion.text.as_bytes()))?;
        }
        for rules in self.rules.iter().filter(|rules| rules.changes()) {
            write_file_diff(out, &rules.file, Some(rules.after.as_bytes()))?;
        }
        self.timer_steps().try_for_each(|step| step.show(out))
    }
}
