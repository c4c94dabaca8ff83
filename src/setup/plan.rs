//! What install would do: worked out from what is there, without changing anything.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Result, anyhow, bail};

use super::command::{EVENTS, Form};
use super::file::{File, PAUSE, TRIES};
use super::job::text;
use super::manifest::Manifest;
use super::register::{self, Registration};
use super::settings::{self, State};
use super::strict_json::{Broken, Insertion};
use super::timer::{self, Step, choose};
use super::{Host, Scope, Timer};

#[derive(Debug)]
pub struct Plan {
    pub hooks: Hooks,
    /// Where the server is to be registered, or is.
    pub server: Option<Registration>,
    pub timer: Timer,
    /// The timer to remember: none when there is only none to be had.
    pub chosen: Option<Timer>,
    /// What the timer needs; `None` when it cannot be had.
    pub new_timer: Option<Vec<Step>>,
    /// Timers of another kind, and how they go once the new one is there.
    pub old_timers: Vec<(Timer, Vec<Step>)>,
    pub manifest: Manifest,
    /// What makes this less than was asked for, and what is only good to know.
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
}

/// The edit of a settings file.
#[derive(Debug)]
pub struct Hooks {
    pub file: File,
    pub added: Insertion,
    /// What of ours it held before.
    pub before: State,
    scope: Scope,
}

impl Hooks {
    pub fn changes(&self) -> bool {
        self.file.bytes.as_deref() != Some(self.added.text.as_bytes())
    }

    /// Works the edit out again, from what is there now.
    ///
    /// # Errors
    /// As `plan`.
    pub fn look_again(&mut self, host: &Host<'_>) -> Result<()> {
        *self = hooks(self.scope, host)?;
        Ok(())
    }
}

/// Works out what there is to do.
///
/// # Errors
/// When a settings file is broken, or something cannot be read: then nothing of it is to be done.
pub fn plan(request: &InstallRequest, host: &Host<'_>) -> Result<Plan> {
    let manifest = Manifest::load(&host.config.data_dir)?;
    let hooks = hooks(request.scope, host)?;
    let server = register::plan(request.scope, request.mcp, host)?;
    let (timer, missing) = choose(request.timer, manifest.timer, host);
    let mut plan = Plan {
        notes: notes(request.scope, &hooks, timer, host),
        warnings: missing.map(str::to_owned).into_iter().collect(),
        hooks,
        server,
        timer,
        chosen: missing.is_none().then_some(timer),
        new_timer: None,
        old_timers: Vec::new(),
        manifest,
    };
    for other in Timer::ALL.into_iter().filter(|other| *other != timer) {
        match timer::remove(other, &plan.manifest, host) {
            Ok(steps) if steps.is_empty() => {}
            Ok(steps) => plan.old_timers.push((other, steps)),
            Err(e) => plan.warnings.push(format!("cannot tell whether {other} starts it too: {e:#}")),
        }
    }
    match timer::install(timer, host) {
        Ok(steps) => plan.new_timer = Some(steps),
        // Somebody who asked for a timer that cannot be has hooks nevertheless, and keeps the timer they have.
        Err(e) => plan.warnings.push(format!("{timer} cannot start the digest: {e:#}")),
    }
    Ok(plan)
}

fn hooks(scope: Scope, host: &Host<'_>) -> Result<Hooks> {
    let path = settings_file(scope, host)?;
    let file = settled(&path)?;
    let text = text_of(&file)?;
    let broken = |broken| anyhow!("{}\nit is left as it is, and nothing was installed", located(&path, &broken));
    let before = settings::state(&text).map_err(broken)?;
    let added = settings::add(&text, &form(scope, host)?).map_err(broken)?;
    Ok(Hooks { file, added, before, scope })
}

/// A file as somebody left it who may be writing it just now: one that is empty or no JSON is looked at until it stays so.
fn settled(path: &Path) -> Result<File> {
    let (mut file, mut pause) = (File::read(path)?, PAUSE);
    // Half a second of peace is enough.
    for _ in 1..TRIES {
        let is_whole = text_of(&file).is_ok_and(|text| !text.trim().is_empty() && settings::state(&text).is_ok());
        if file.bytes.is_none() || is_whole {
            break;
        }
        thread::sleep(pause);
        pause *= 2;
        file = File::read(path)?;
    }
    Ok(file)
}

/// What is to be set up.
#[derive(Debug, Clone)]
pub struct InstallRequest {
    /// Whose sessions get the hooks.
    pub scope: Scope,
    /// What starts the digest; as before, or `auto` at first, where it is not given.
    pub timer: Option<crate::setup::TimerChoice>,
    /// Register the MCP server for the same sessions.
    pub mcp: bool,
}

/// The settings as text; nothing when there is no file.
pub fn text_of(file: &File) -> Result<String> {
    let bytes = file.bytes.clone().unwrap_or_default();
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
        anyhow!("{}:{line}: not UTF-8", file.path.display())
    })
}

/// `path:line:column: what`, as compilers say it.
pub fn located(path: &Path, broken: &Broken) -> String {
    let Broken { line, column, what } = broken;
    format!("{}:{line}:{column}: {what} (Claude Code ignores a settings file that is not strict JSON)", path.display())
}

/// How the hooks of a scope call the program.
pub fn form(scope: Scope, host: &Host<'_>) -> Result<Form> {
    Ok(match scope {
        Scope::Project => Form::Shared,
        Scope::User | Scope::Local => {
            let program = text(&host.around.program)?;
            Form::Own { program, environment: host.around.carried.clone() }
        }
    })
}

/// The settings file of a scope.
///
/// # Errors
/// When there is no such scope here.
pub fn settings_file(scope: Scope, host: &Host<'_>) -> Result<PathBuf> {
    // Where Claude Code itself looks: `claude_dirs` only says what is read.
    let user = host.around.claude_dir(host.config).join("settings.json");
    let name = match scope {
        Scope::User => return Ok(user),
        Scope::Project => "settings.json",
        Scope::Local => "settings.local.json",
    };
    let file = project(host).join(".claude").join(name);
    // Claude Code takes the settings in the home for the user's, whatever lies beside them.
    if file.parent() == user.parent() {
        bail!("{} is the folder of your own settings, not of a project: go to the project, or use `--scope user`", file.display());
    }
    Ok(file)
}

/// The nearest folder from here upwards that is a repository, else the current one.
pub fn project(host: &Host<'_>) -> PathBuf {
    let here = &host.around.current_dir;
    here.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(here).to_owned()
}

fn notes(scope: Scope, hooks: &Hooks, timer: Timer, host: &Host<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if hooks.before.disabled {
        notes.push(format!("{}: `disableAllHooks` keeps every hook from running", hooks.file.path.display()));
    }
    for other in [Scope::User, Scope::Project, Scope::Local].into_iter().filter(|other| *other != scope) {
        let Ok(path) = settings_file(other, host) else { continue };
        let state = File::read(&path).and_then(|f| text_of(&f)).map(|t| settings::state(&t).unwrap_or_default());
        if state.is_ok_and(|state| !state.hooks.is_empty()) {
            let path = path.display();
            notes.push(format!("{path} has the hooks too, once is enough: `recall uninstall --scope {other}` takes them out"));
        }
    }
    if scope != Scope::User && project(host) != host.around.current_dir {
        // Seen with 2.1.197: a project's settings are those of the folder it is started in.
        notes.push(format!("the hooks are for sessions that are started in {}, not in a folder below it", project(host).display()));
    }
    if timer != Timer::None && !host.around.login.is_empty() {
        let names = host.around.login.join(", ");
        notes.push(format!("the timer runs without {names}: what `claude` needs of it belongs under `env` in its settings.json"));
    }
    notes
}

impl Plan {
    /// Is there anything to do?
    pub fn is_empty(&self) -> bool {
        !self.hooks.changes() && !self.server_changes() && self.new_timer.is_some() && self.timer_steps().next().is_none()
    }

    fn server_changes(&self) -> bool {
        self.server.as_ref().is_some_and(Registration::changes)
    }

    fn timer_steps(&self) -> impl Iterator<Item = &Step> {
        let old = self.old_timers.iter().flat_map(|(_, steps)| steps);
        self.new_timer.iter().flat_map(move |new| new.iter().chain(old.clone()))
    }

    /// Prints every difference and every command.
    pub fn show(&self, out: &mut impl Write) -> Result<()> {
        if self.is_empty() {
            writeln!(out, "already installed")?;
        }
        if self.hooks.changes() {
            show_file(out, &self.hooks.file, self.hooks.added.text.as_bytes())?;
        }
        for server in self.server.iter().filter(|server| server.changes()) {
            show_file(out, &server.file, server.added.text.as_bytes())?;
        }
        self.timer_steps().try_for_each(|step| show(out, step))
    }

    /// The events that got a hook, or those whose hook was mended.
    pub fn hooks_done(&self) -> String {
        let missing = self.hooks.before.missing();
        let mended = EVENTS.iter().map(|(event, _)| *event).filter(|event| !missing.contains(event)).collect::<Vec<_>>();
        match (missing.is_empty(), mended.is_empty()) {
            (false, true) => missing.join(", "),
            (false, false) => format!("{}; mended {}", missing.join(", "), mended.join(", ")),
            (true, _) => "mended".to_owned(),
        }
    }
}

/// Prints what a step would do.
pub fn show(out: &mut impl Write, step: &Step) -> Result<()> {
    match step {
        Step::Write(file, after) => show_file(out, file, after)?,
        Step::Delete(file) => show_difference(out, &file.path.display().to_string(), file.bytes.as_deref(), None)?,
        Step::Unlink(_) => {}
        Step::Crontab { before, after } => {
            show_difference(out, "crontab", before.as_deref().map(str::as_bytes), after.as_deref().map(str::as_bytes))?;
        }
        Step::Run(command) | Step::Try(command) => writeln!(out, "$ {}", command.join(" "))?,
    }
    Ok(())
}

pub fn show_file(out: &mut impl Write, file: &File, after: &[u8]) -> Result<()> {
    show_difference(out, &file.path.display().to_string(), file.bytes.as_deref(), Some(after))
}

pub fn show_difference(out: &mut impl Write, name: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<()> {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let title = |bytes: Option<&[u8]>| if bytes.is_some() { name } else { "/dev/null" };
    let (old, new) = (text(before), text(after));
    let difference = similar::TextDiff::from_lines(&old, &new);
    write!(out, "{}", difference.unified_diff().header(title(before), title(after)))?;
    Ok(())
}
