//! Carries an install plan out, and records each edit first, so that uninstall can undo one that was interrupted.

use std::io::Write;

use anyhow::Result;

use super::file::retry_when_changed;
use super::manifest::{FileEdit, Manifest};
use super::plan::{HooksEdit, InstallPlan};
use super::settings::RULE;
use super::timer_steps::run_all;
use super::{Host, Timer};
use crate::sys::messages::Ui;

/// Carries the plan out and reports each part. Returns the timer that runs in the end.
///
/// # Errors
/// When the settings cannot be written. A timer that cannot be started is a warning: the hooks work without it.
pub(crate) fn install(mut plan: InstallPlan, host: &Host<'_>, ui: &Ui, out: &mut impl Write) -> Result<Timer> {
    let mut manifest = plan.manifest.clone();
    let mut server = None;
    if plan.hooks.is_some() {
        write_hooks(&mut plan, host, &mut manifest)?;
    }
    if let Some(hooks) = &plan.hooks {
        let done = if hooks.changes() { hooks.summary() } else { "already installed".to_owned() };
        writeln!(out, "hooks     {}: {done}", hooks.file.path.display())?;
        server = hooks.server.map(|server| (hooks.file.path.clone(), server.changes));
    }
    if let Some(apart) = plan.server.take() {
        server = Some((apart.file.path.clone(), apart.changes()));
        if apart.changes() {
            apart.apply(host, &mut manifest)?;
        }
    }
    if let Some((path, changes)) = server {
        writeln!(out, "mcp       {}: {}", path.display(), if changes { "registered" } else { "already registered" })?;
    }
    if let Some(rules) = plan.rules.take() {
        let done = match (&rules.refused, rules.changes()) {
            (Some(_), _) => "not written",
            (None, true) => "written",
            (None, false) => "already written",
        };
        writeln!(out, "rules     {}: {done}", rules.file.path.display())?;
        rules.apply(host, &mut manifest)?;
    }
    if let Some(hooks) = plan.hooks.as_ref().filter(|hooks| hooks.permits) {
        writeln!(out, "permitted {}: {RULE}", hooks.file.path.display())?;
    }
    let recorded = plan.manifest.clone();
    let timer = replace_timers(plan, host, &mut manifest, ui, out)?;
    if manifest != recorded {
        manifest.save(&host.config.data_dir)?;
    }
    Ok(timer)
}

/// Records and writes the edit of the settings, if there is any. Where somebody changed the file meanwhile the edit is worked out again.
fn write_hooks(plan: &mut InstallPlan, host: &Host<'_>, manifest: &mut Manifest) -> Result<()> {
    let data_dir = &host.config.data_dir;
    let Some(hooks) = plan.hooks.as_mut().filter(|hooks| hooks.changes()) else { return Ok(()) };
    let mut first = true;
    retry_when_changed(|| {
        if !std::mem::take(&mut first) {
            hooks.recompute(host)?;
        }
        let HooksEdit { file, insertion, before, server, .. } = &*hooks;
        let fresh = before.hooks.is_empty() && !server.is_some_and(|server| server.was_there);
        let (before, after) = (file.bytes.as_deref(), insertion.text.as_bytes());
        let edit = FileEdit { before, after, fresh, shapes: &insertion.shapes, copy: true };
        manifest.write(data_dir, file, &edit)
    })
}

/// Starts the new timer, and only then removes the old ones.
fn replace_timers(plan: InstallPlan, host: &Host<'_>, manifest: &mut Manifest, ui: &Ui, out: &mut impl Write) -> Result<Timer> {
    let old = plan.old_timers.first().map_or(Timer::None, |(timer, _)| *timer);
    let Some(steps) = plan.new_timer else { return Ok(old) };
    let state = if steps.is_empty() { "already installed".to_owned() } else { host.config.schedule.to_string() };
    if let Err(e) = run_all(steps, host, manifest, ui, out) {
        match old {
            Timer::None => ui.warn(&format!("no timer runs: {e:#}; `recall install` tries again; `--timer` selects another timer")),
            old => ui.warn(&format!("{} does not start, and {old} stays: {e:#}", plan.timer)),
        }
        manifest.timer = manifest.timer.filter(|_| old != Timer::None).or(plan.chosen);
        return Ok(old);
    }
    manifest.timer = plan.chosen;
    for (old, steps) in plan.old_timers {
        if let Err(e) = run_all(steps, host, manifest, ui, out) {
            ui.warn(&format!("the {old} timer is still there: {e:#}"));
        }
    }
    if plan.timer != Timer::None {
        writeln!(out, "timer     {}: {state}", plan.timer)?;
    }
    Ok(plan.timer)
}
