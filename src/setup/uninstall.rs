//! What uninstall would do, and doing it.
//!
//! A file that nobody else wrote to since gets the bytes it had before the install; from any other only what is ours is removed.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use super::agent_hosts::is_rules_file;
use super::diff::write_file_diff;
use super::file::{FileSnapshot, remove_empty_folders, retry_when_changed};
use super::hook_command::may_name_us;
use super::locations::{client_file, has_hooks, is_servers_file, servers_file, settings_file, shares_file};
use super::manifest::{self, CRONTAB, Manifest, Original};
use super::timer_steps::{TimerStep, run_all};
use super::{Host, InstallScope, Timer, registration, rules_file, settings, timer};
use crate::sys::messages::Ui;

#[derive(Debug)]
pub(crate) struct UninstallPlan {
    files: Vec<Restoration>,
    timers: Vec<TimerStep>,
    manifest: Manifest,
    /// Where to uninstall; `None`: everywhere, and nothing is to be left.
    scope: Option<InstallScope>,
    /// What cannot be undone.
    pub(crate) warnings: Vec<String>,
    /// What is not ours to undo.
    pub(crate) notes: Vec<String>,
}

/// A file with something of ours in it, and what it is to become; `None`: it is deleted.
#[derive(Debug)]
struct Restoration {
    file: FileSnapshot,
    after: Option<Vec<u8>>,
}

/// Works out what there is to undo: in one scope, or everywhere.
///
/// # Errors
/// When the manifest cannot be read.
pub(crate) fn plan(scope: Option<InstallScope>, host: &Host<'_>) -> Result<UninstallPlan> {
    let manifest = Manifest::load(&host.config.data_dir)?;
    let mut plan = UninstallPlan {
        files: Vec::new(),
        timers: Vec::new(),
        notes: if scope.is_none() { notes_on_committed(&manifest, host) } else { Vec::new() },
        manifest,
        scope,
        warnings: Vec::new(),
    };
    for path in candidates(scope, &plan.manifest, host)? {
        if is_servers_file(&path) {
            plan.notes.extend(registration::notes_on_foreign(&path, host));
        }
        match restoration(&path, scope, &plan.manifest, host) {
            Ok(found) => {
                let after = found.as_ref().map_or_else(|| fs::read(&path).ok(), |found| found.after.clone());
                plan.warnings.extend(after.and_then(|after| warning_on_mixed(&path, &after)));
                plan.files.extend(found);
            }
            Err(e) => plan.warnings.push(format!("{e:#}")),
        }
    }
    for timer in Timer::ALL.into_iter().filter(|_| scope.is_none()) {
        match timer::remove(timer, &plan.manifest, host) {
            Ok(steps) => plan.timers.extend(steps.into_iter().map(|step| with_original_crontab(step, &plan.manifest, host))),
            Err(e) => plan.warnings.push(format!("cannot remove the {timer} timer: {e:#}")),
        }
    }
    Ok(plan)
}

/// The files that may hold hooks of ours, a server, or a rule.
fn candidates(scope: Option<InstallScope>, manifest: &Manifest, host: &Host<'_>) -> Result<BTreeSet<PathBuf>> {
    if let Some(scope) = scope {
        let servers = servers_file(scope, host).map(|(path, _)| path);
        let hooks = has_hooks(scope).then(|| settings_file(scope, host)).transpose()?;
        return Ok(hooks.into_iter().chain(servers).chain(rules_file::path(scope, host)).collect());
    }
    let recorded = manifest.edited.keys().filter(|path| path.is_absolute()).cloned();
    let here = settings_file(InstallScope::Local, host);
    let user = settings_file(InstallScope::User, host);
    let others = InstallScope::of_others().flat_map(|scope| {
        let servers = servers_file(scope, host).map(|(path, _)| path);
        settings_file(scope, host).into_iter().chain(servers).chain(rules_file::path(scope, host))
    });
    let settings = host.config.claude_dirs.iter().map(|dir| dir.join("settings.json"));
    Ok(settings.chain(user).chain(others).chain(here).chain([client_file(host)]).chain(recorded).collect())
}

/// Notes on hooks and a server in the project's files that no install of this user put there: a team's.
fn notes_on_committed(manifest: &Manifest, host: &Host<'_>) -> Vec<String> {
    let theirs = |path: PathBuf| {
        let text = FileSnapshot::read(&path).ok()?.text().ok()?;
        (!manifest.edited.contains_key(&path)).then_some((path, text))
    };
    let hooks = settings_file(InstallScope::Project, host).ok().and_then(theirs);
    let hooks = hooks.filter(|(_, text)| settings::state(text).is_ok_and(|state| !state.hooks.is_empty()));
    let server = servers_file(InstallScope::Project, host).and_then(|(path, location)| {
        let holds_ours =
            |(path, text): &(PathBuf, String)| registration::find(path, text, &location, host).is_ok_and(|s| s.is_some());
        theirs(path).filter(holds_ours)
    });
    let note = |path: &Path, what: &str| {
        format!("{} keeps its {what}: `recall uninstall --scope project` removes the {what}", path.display())
    };
    let hooks = hooks.map(|(path, _)| note(&path, "hooks"));
    hooks.into_iter().chain(server.map(|(path, _)| note(&path, "server"))).collect()
}

/// What a file is to become; `None` when nothing of ours is in it.
fn restoration(path: &Path, scope: Option<InstallScope>, manifest: &Manifest, host: &Host<'_>) -> Result<Option<Restoration>> {
    let file = FileSnapshot::read(path)?;
    let Some(now) = &file.bytes else { return Ok(None) };
    // No copy is kept of a file of servers, so its original is always unknown.
    let after = match manifest.original(&host.config.data_dir, path, now) {
        Original::Bytes(bytes) => Some(bytes),
        Original::Missing => None,
        Original::Unknown => {
            let without_ours = if is_servers_file(path) {
                registration::without_ours(&file, scope, manifest, host)?
            } else if is_rules_file(path) {
                rules_file::without_ours(&file, manifest)?
            } else {
                without_hooks(&file, manifest, host)?
            };
            let Some(text) = without_ours else { return Ok(None) };
            let empty = manifest.was_created(path) && matches!(text.trim(), "" | "{}");
            (!empty).then(|| text.into_bytes())
        }
    };
    Ok((after.as_ref() != Some(now)).then_some(Restoration { file, after }))
}

/// A file of hooks without ours, and without our server where it has servers as well. `None` when there are none.
fn without_hooks(file: &FileSnapshot, manifest: &Manifest, host: &Host<'_>) -> Result<Option<String>> {
    let text = file.text()?;
    let shapes = manifest.shapes(&file.path);
    let mut of_agents = InstallScope::of_others().filter(|scope| shares_file(*scope));
    let has_servers = registration::is_beside_hooks(&shapes)
        || of_agents.any(|scope| settings_file(scope, host).is_ok_and(|path| path == file.path));
    // What does not contain these words holds nothing of ours, in whatever form it is by now.
    if !(may_name_us(&text) && (has_servers || text.contains(" hook "))) {
        return Ok(None);
    }
    let without_server = if has_servers { registration::removed_beside_hooks(&text, &shapes, host) } else { Ok(text) };
    let without = without_server.and_then(|text| settings::remove(&text, &shapes)).map_err(|broken| {
        anyhow!("{}\nit is left as it is: take the lines with `recall hook` out by hand", broken.located(&file.path))
    })?;
    Ok(Some(without))
}

/// A command of the user's own that calls recall among other things: what it is without it, only the user knows.
fn warning_on_mixed(path: &Path, after: &[u8]) -> Option<String> {
    let state = settings::state(std::str::from_utf8(after).ok()?).ok()?;
    let mixed = state.hooks.iter().find(|hook| hook.call.does_more)?;
    Some(format!("{}: `{}` does something else as well: take `recall hook` out of it by hand", path.display(), mixed.command))
}

/// Writes the file. Where somebody changed it meanwhile the edit is worked out again. Returns what was done, if anything was left to do.
fn restore(planned: Restoration, scope: Option<InstallScope>, manifest: &Manifest, host: &Host<'_>) -> Result<Option<Restoration>> {
    let path = planned.file.path.clone();
    let mut planned = Some(planned);
    retry_when_changed(|| {
        let now = planned.take().map_or_else(|| restoration(&path, scope, manifest, host), |planned| Ok(Some(planned)))?;
        let Some(now) = now else { return Ok(None) };
        match &now.after {
            Some(bytes) => now.file.write(bytes).map(drop)?,
            None => now.file.delete()?,
        }
        Ok(Some(now))
    })
}

/// The step with the crontab as it was before the install, if nobody else changed it since.
fn with_original_crontab(step: TimerStep, manifest: &Manifest, host: &Host<'_>) -> TimerStep {
    let TimerStep::Crontab { before: Some(now), after } = step else { return step };
    let after = match manifest.original(&host.config.data_dir, CRONTAB.as_ref(), now.as_bytes()) {
        Original::Bytes(bytes) => String::from_utf8(bytes).ok(),
        Original::Missing => None,
        Original::Unknown => after,
    };
    TimerStep::Crontab { before: Some(now), after }
}

impl UninstallPlan {
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.timers.is_empty()
    }

    /// Prints every difference and every command.
    pub(crate) fn show(&self, out: &mut impl Write) -> Result<()> {
        if self.is_empty() && self.warnings.is_empty() {
            writeln!(out, "nothing is installed")?;
        }
        for Restoration { file, after } in &self.files {
            write_file_diff(out, file, after.as_deref())?;
        }
        self.timers.iter().try_for_each(|step| step.show(out))
    }

    /// Carries it out. What cannot be undone is a warning, stays, and stays recorded.
    ///
    /// # Errors
    /// When the data folder or stdout cannot be written.
    pub(crate) fn apply(mut self, host: &Host<'_>, ui: &Ui, out: &mut impl Write) -> Result<()> {
        let data_dir = &host.config.data_dir;
        let nothing = self.is_empty() && self.warnings.is_empty();
        for planned in self.files {
            let Restoration { file, after } = match restore(planned, self.scope, &self.manifest, host) {
                Ok(Some(done)) => done,
                Ok(None) => continue,
                Err(e) => {
                    ui.warn(&format!("{e:#}"));
                    continue;
                }
            };
            writeln!(out, "{}  {}", if after.is_some() { "restored" } else { "deleted " }, file.path.display())?;
            // What is left in another scope still has to be given back as it was.
            if !after.is_some_and(|bytes| registration::holds_ours(&file.path, &bytes, host))
                && let Err(e) = self.manifest.forget(data_dir, &file.path)
            {
                ui.warn(&format!("{e:#}"));
            }
        }
        if let Err(e) = run_all(self.timers, host, &mut self.manifest, ui, out) {
            ui.warn(&format!("the timer is still there: {e:#}"));
        }
        remove_empty_folders(&self.manifest.folders);
        self.manifest.folders.retain(|folder| folder.exists());
        if self.scope.is_none() && !ui.warned() {
            self.manifest.delete(data_dir)?;
        } else if manifest::file(data_dir).exists() {
            self.manifest.save(data_dir)?;
        }
        if nothing {
            writeln!(out, "nothing is installed")?;
        }
        Ok(())
    }
}
