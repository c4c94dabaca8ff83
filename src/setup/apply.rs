//! Doing what was planned, and noting it, so that uninstall can undo it even when this ends half-way.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;

use super::file::again_when_changed;
use super::manifest::{CRONTAB, Edit, Manifest};
use super::plan::{Hooks, Plan};
use super::strict_json::Shapes;
use super::timer::Step;
use super::{Host, Timer};
use crate::sys::messages::Ui;

/// Does what the plan says and tells of each part. Returns the timer that is there in the end.
///
/// # Errors
/// When the settings cannot be written. A timer that cannot be started is a warning: the hooks work without it.
pub fn install(mut plan: Plan, host: &Host<'_>, ui: &Ui, out: &mut impl Write) -> Result<Timer> {
    let mut manifest = plan.manifest.clone();
    let mut done = "already installed".to_owned();
    if plan.hooks.changes() {
        put_in_hooks(&mut plan, host, &mut manifest)?;
        done = plan.hooks_done();
    }
    writeln!(out, "hooks     {}: {done}", plan.hooks.file.path.display())?;
    if let Some(server) = plan.server.take() {
        let path = server.file.path.display().to_string();
        let done = if server.changes() { "registered" } else { "already registered" };
        if server.changes() {
            server.apply(host, &mut manifest)?;
        }
        writeln!(out, "mcp       {path}: {done}")?;
    }
    let noted = plan.manifest.clone();
    let timer = timers(plan, host, &mut manifest, ui, out)?;
    if manifest != noted {
        manifest.save(&host.config.data_dir)?;
    }
    Ok(timer)
}

/// Puts the hooks in, and notes it first; into what somebody else has made of the file meanwhile, where they have.
fn put_in_hooks(plan: &mut Plan, host: &Host<'_>, manifest: &mut Manifest) -> Result<()> {
    let data_dir = &host.config.data_dir;
    let mut first = true;
    again_when_changed(|| {
        if !std::mem::take(&mut first) {
            plan.hooks.look_again(host)?;
        }
        let Hooks { file, added, before, .. } = &plan.hooks;
        let fresh = before.hooks.is_empty();
        let (before, after) = (file.bytes.as_deref(), added.text.as_bytes());
        manifest.note(data_dir, &file.path, &Edit { before, after, fresh, shapes: &added.shapes, copy: true })?;
        manifest.save(data_dir)?;
        let written = file.write(after).inspect_err(|_| {
            take_back(&plan.manifest, &file.path, manifest, data_dir);
            *manifest = plan.manifest.clone();
        });
        manifest.folders.extend(written?);
        Ok(())
    })
}

/// What was noted did not happen. Where that cannot be noted either, the next uninstall finds nothing of ours in the file.
fn take_back(before: &Manifest, path: &Path, noted: &mut Manifest, data_dir: &Path) {
    if !before.edited.contains_key(path) {
        let _ = noted.forget(data_dir, path);
    }
    let mut before = before.clone();
    let _ = if before == Manifest::default() { before.delete(data_dir) } else { before.save(data_dir) };
}

/// Starts the new timer, and only then takes away the old ones.
fn timers(plan: Plan, host: &Host<'_>, manifest: &mut Manifest, ui: &Ui, out: &mut impl Write) -> Result<Timer> {
    let old = plan.old_timers.first().map_or(Timer::None, |(timer, _)| *timer);
    let Some(steps) = plan.new_timer else { return Ok(old) };
    let state = if steps.is_empty() { "already installed".to_owned() } else { host.config.schedule.to_string() };
    if let Err(e) = run_all(steps, host, manifest, ui, out) {
        match old {
            Timer::None => ui.warn(&format!("no timer runs: {e:#}; `recall install` tries again, and `--timer` takes another")),
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

/// Takes the steps in turn. One that must succeed and does not ends them, and is what comes back.
pub fn run_all(steps: Vec<Step>, host: &Host<'_>, manifest: &mut Manifest, ui: &Ui, out: &mut impl Write) -> Result<()> {
    for step in steps {
        let may_fail = matches!(step, Step::Try(_));
        match run(step, host, manifest, out) {
            Err(e) if may_fail => ui.note(&format!("{e:#}")),
            other => other?,
        }
    }
    Ok(())
}

fn run(step: Step, host: &Host<'_>, manifest: &mut Manifest, out: &mut impl Write) -> Result<()> {
    let data_dir = &host.config.data_dir;
    match step {
        Step::Write(file, bytes) => {
            manifest.folders.extend(file.write(&bytes)?);
            manifest.save(data_dir)?;
            writeln!(out, "wrote     {}", file.path.display())?;
        }
        Step::Delete(file) => {
            file.delete()?;
            writeln!(out, "deleted   {}", file.path.display())?;
        }
        Step::Unlink(path) => {
            let _ = fs::remove_file(path);
        }
        Step::Crontab { before, after } => crontab(before, after, host, manifest, out)?,
        Step::Run(command) | Step::Try(command) => {
            tell(&command, host)?;
            writeln!(out, "ran       {}", command.join(" "))?;
        }
    }
    Ok(())
}

/// launchd may still be busy with what it was told before: it answers and goes on.
fn tell(command: &[String], host: &Host<'_>) -> Result<()> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let mut tries = if words.contains(&"bootstrap") { 3 } else { 1 };
    loop {
        tries -= 1;
        match host.tools().run(&words, None) {
            Err(_) if tries > 0 => std::thread::sleep(Duration::from_secs(1)),
            said => return said.map(drop),
        }
    }
}

fn crontab(
    before: Option<String>,
    after: Option<String>,
    host: &Host<'_>,
    manifest: &mut Manifest,
    out: &mut impl Write,
) -> Result<()> {
    let name = PathBuf::from(CRONTAB);
    let ours = |table: &Option<String>| table.as_deref().is_some_and(|t| super::cron::find(t).is_some());
    if ours(&after) {
        let bytes = after.clone().unwrap_or_default().into_bytes();
        let was_ours = ours(&before);
        let before = before.as_deref().map(str::as_bytes);
        let edit = Edit { before, after: &bytes, fresh: !was_ours, shapes: &Shapes::new(), copy: true };
        manifest.note(&host.config.data_dir, &name, &edit)?;
        manifest.save(&host.config.data_dir)?;
    }
    host.tools().write_crontab(before.as_deref(), after.as_deref())?;
    if !ours(&after) {
        manifest.forget(&host.config.data_dir, &name)?;
    }
    writeln!(out, "wrote     crontab")?;
    Ok(())
}
