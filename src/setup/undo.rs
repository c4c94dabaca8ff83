//! What uninstall would do, and doing it: files as they were where nobody else wrote to them since, else ours taken out of them.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use super::apply::run_all;
use super::file::{File, again_when_changed, remove_empty};
use super::manifest::{self, Before, CRONTAB, Manifest};
use super::plan::{located, settings_file, show, show_difference, text_of};
use super::register;
use super::servers;
use super::settings;
use super::timer::{self, Step};
use super::{Host, Scope, Timer};
use crate::sys::messages::Ui;

#[derive(Debug)]
pub struct Undo {
    /// Files with ours in them, and the bytes they are to have; none: to be deleted.
    pub settings: Vec<Edited>,
    pub timers: Vec<Step>,
    pub manifest: Manifest,
    /// Where it is undone; none: everywhere, and nothing is to be left of it.
    scope: Option<Scope>,
    /// What cannot be undone, and what is not ours to undo.
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
}

/// Works out what there is to undo: in one scope, or everywhere.
///
/// # Errors
/// When the manifest cannot be read.
pub fn plan(scope: Option<Scope>, host: &Host<'_>) -> Result<Undo> {
    let manifest = Manifest::load(&host.config.data_dir)?;
    let mut undo = Undo {
        settings: Vec::new(),
        timers: Vec::new(),
        notes: if scope.is_none() { committed(&manifest, host) } else { Vec::new() },
        manifest,
        scope,
        warnings: Vec::new(),
    };
    for path in files(scope, &undo.manifest, host)? {
        if register::is_servers_file(&path) {
            undo.notes.extend(register::strangers(&path, host));
        }
        match edited(path.clone(), scope, &undo.manifest, host) {
            Ok(found) => {
                let after = found.as_ref().map_or_else(|| std::fs::read(&path).ok(), |(_, after)| after.clone());
                undo.warnings.extend(after.and_then(|after| still_there(&path, &after)));
                undo.settings.extend(found);
            }
            Err(e) => undo.warnings.push(format!("{e:#}")),
        }
    }
    for timer in Timer::ALL.into_iter().filter(|_| scope.is_none()) {
        match timer::remove(timer, &undo.manifest, host) {
            Ok(steps) => undo.timers.extend(steps.into_iter().map(|step| exact(step, &undo.manifest, host))),
            Err(e) => undo.warnings.push(format!("cannot remove the {timer} timer: {e:#}")),
        }
    }
    Ok(undo)
}

/// The files that may hold hooks of ours, or a server.
fn files(scope: Option<Scope>, manifest: &Manifest, host: &Host<'_>) -> Result<BTreeSet<PathBuf>> {
    if let Some(scope) = scope {
        return Ok([settings_file(scope, host)?, register::site(scope, host).0].into());
    }
    let noted = manifest.edited.keys().filter(|path| path.is_absolute()).cloned();
    let here = settings_file(Scope::Local, host);
    let user = settings_file(Scope::User, host);
    let servers = register::client_file(host);
    let settings = host.config.claude_dirs.iter().map(|dir| dir.join("settings.json"));
    Ok(settings.chain(user).chain(here).chain([servers]).chain(noted).collect())
}

/// Hooks in the project's settings that no install of this user put there: a team's. A server in its file is the same.
fn committed(manifest: &Manifest, host: &Host<'_>) -> Vec<String> {
    let theirs = |path: PathBuf| {
        let text = text_of(&File::read(&path).ok()?).ok()?;
        (!manifest.edited.contains_key(&path)).then_some((path, text))
    };
    let hooks = settings_file(Scope::Project, host).ok().and_then(theirs);
    let hooks = hooks.filter(|(_, text)| settings::state(text).is_ok_and(|state| !state.hooks.is_empty()));
    let (path, place) = register::site(Scope::Project, host);
    let server = theirs(path).filter(|(_, text)| {
        servers::state(text, &place, &|program| register::is_known(program, host)).is_ok_and(|server| server.is_some())
    });
    let note =
        |path: &Path, what: &str| format!("{} keeps its {what}: `recall uninstall --scope project` takes that out", path.display());
    let hooks = hooks.map(|(path, _)| note(&path, "hooks"));
    hooks.into_iter().chain(server.map(|(path, _)| note(&path, "server"))).collect()
}

/// A file that is to be edited, and what it is to become; no bytes: it goes.
type Edited = (File, Option<Vec<u8>>);

fn edited(path: PathBuf, scope: Option<Scope>, manifest: &Manifest, host: &Host<'_>) -> Result<Option<Edited>> {
    let file = File::read(&path)?;
    if !register::is_servers_file(&path) {
        return settings(file, manifest, host);
    }
    let Some(text) = file.bytes.as_ref().map(|_| register::without(&file, scope, manifest, host)).transpose()?.flatten() else {
        return Ok(None);
    };
    let empty = manifest.created(&path) && matches!(text.trim(), "" | "{}");
    Ok(Some((file, (!empty).then(|| text.into_bytes()))))
}

fn settings(file: File, manifest: &Manifest, host: &Host<'_>) -> Result<Option<Edited>> {
    let path = file.path.clone();
    let Some(now) = &file.bytes else { return Ok(None) };
    let after = match manifest.before(&host.config.data_dir, &path, now) {
        Before::Bytes(bytes) => Some(bytes),
        Before::Missing => None,
        Before::Unknown => {
            let text = text_of(&file)?;
            // Whatever form it has got since, what names no hook of ours holds none.
            if !(text.contains("recall") && text.contains(" hook ")) {
                return Ok(None);
            }
            let spliced = settings::remove(&text, &manifest.shapes(&path)).map_err(|broken| {
                anyhow!("{}\nit is left as it is: take the lines with `recall hook` out by hand", located(&path, &broken))
            })?;
            let empty = manifest.created(&path) && matches!(spliced.trim(), "" | "{}");
            (!empty).then(|| spliced.into_bytes())
        }
    };
    Ok((after.as_ref() != Some(now)).then_some((file, after)))
}

/// Commands of the user's own that call recall among other things: what they are without it, only the user knows.
fn still_there(path: &Path, after: &[u8]) -> Option<String> {
    let state = settings::state(std::str::from_utf8(after).ok()?).ok()?;
    let mixed = state.hooks.iter().find(|hook| hook.call.mixed)?;
    Some(format!("{}: `{}` does something else as well: take `recall hook` out of it by hand", path.display(), mixed.command))
}

/// Makes the edit, of what somebody else has made of the file meanwhile, where they have. Returns what was done, if there was anything left
/// to do.
fn put_back(edit: Edited, scope: Option<Scope>, manifest: &Manifest, host: &Host<'_>) -> Result<Option<Edited>> {
    let path = edit.0.path.clone();
    let mut planned = Some(edit);
    again_when_changed(|| {
        let now = planned.take().map_or_else(|| edited(path.clone(), scope, manifest, host), |edit| Ok(Some(edit)))?;
        let Some((file, after)) = now else { return Ok(None) };
        match &after {
            Some(bytes) => file.write(bytes).map(drop)?,
            None => file.delete()?,
        }
        Ok(Some((file, after)))
    })
}

/// The crontab as it was, when nobody else changed it.
fn exact(step: Step, manifest: &Manifest, host: &Host<'_>) -> Step {
    let Step::Crontab { before: Some(now), after } = step else { return step };
    let after = match manifest.before(&host.config.data_dir, CRONTAB.as_ref(), now.as_bytes()) {
        Before::Bytes(bytes) => String::from_utf8(bytes).ok(),
        Before::Missing => None,
        Before::Unknown => after,
    };
    Step::Crontab { before: Some(now), after }
}

impl Undo {
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty() && self.timers.is_empty()
    }

    /// Prints every difference and every command.
    pub fn show(&self, out: &mut impl Write) -> Result<()> {
        if self.is_empty() && self.warnings.is_empty() {
            writeln!(out, "nothing is installed")?;
        }
        for (file, after) in &self.settings {
            show_difference(out, &file.path.display().to_string(), file.bytes.as_deref(), after.as_deref())?;
        }
        self.timers.iter().try_for_each(|step| show(out, step))
    }

    /// Does it. What cannot be undone is a warning, stays, and stays noted.
    ///
    /// # Errors
    /// When the data folder or stdout cannot be written.
    pub fn apply(mut self, host: &Host<'_>, ui: &Ui, out: &mut impl Write) -> Result<()> {
        let data_dir = &host.config.data_dir;
        let nothing = self.is_empty() && self.warnings.is_empty();
        for edit in self.settings {
            let path = edit.0.path.clone();
            let (file, after) = match put_back(edit, self.scope, &self.manifest, host) {
                Ok(Some(done)) => done,
                Ok(None) => continue,
                Err(e) => {
                    ui.warn(&format!("{e:#}"));
                    continue;
                }
            };
            writeln!(out, "{}  {}", if after.is_some() { "restored" } else { "deleted " }, path.display())?;
            // What is left in another scope still has to be given back as it was.
            if !after.is_some_and(|bytes| register::holds_ours(&file.path, &bytes, host))
                && let Err(e) = self.manifest.forget(data_dir, &file.path)
            {
                ui.warn(&format!("{e:#}"));
            }
        }
        if let Err(e) = run_all(self.timers, host, &mut self.manifest, ui, out) {
            ui.warn(&format!("the timer is still there: {e:#}"));
        }
        remove_empty(&self.manifest.folders);
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
