//! The single steps that set up or remove a timer: shown by a dry run, else taken in order.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::diff::{write_diff, write_file_diff};
use super::file::FileSnapshot;
use super::manifest::{CRONTAB, FileEdit, Manifest};
use super::strict_json::Shapes;
use super::{Host, cron};
use crate::sys::messages::Ui;

#[derive(Debug)]
pub(crate) enum TimerStep {
    Write(FileSnapshot, Vec<u8>),
    Delete(FileSnapshot),
    /// Removes a link of a timer's manager that its own command may have left.
    Unlink(PathBuf),
    Crontab {
        before: Option<String>,
        after: Option<String>,
    },
    /// Runs a command that must succeed.
    Run(Vec<String>),
    /// Runs a command that may fail: what it would stop may not be running.
    Try(Vec<String>),
}

impl TimerStep {
    /// Prints what the step would do.
    pub(crate) fn show(&self, out: &mut impl Write) -> Result<()> {
        match self {
            TimerStep::Write(file, after) => write_file_diff(out, file, Some(after)),
            TimerStep::Delete(file) => write_file_diff(out, file, None),
            TimerStep::Unlink(_) => Ok(()),
            TimerStep::Crontab { before, after } => {
                write_diff(out, "crontab", before.as_deref().map(str::as_bytes), after.as_deref().map(str::as_bytes))
            }
            TimerStep::Run(command) | TimerStep::Try(command) => Ok(writeln!(out, "$ {}", command.join(" "))?),
        }
    }

    fn run(self, host: &Host<'_>, manifest: &mut Manifest, out: &mut impl Write) -> Result<()> {
        match self {
            TimerStep::Write(file, bytes) => {
                manifest.folders.extend(file.write(&bytes)?);
                manifest.save(&host.config.data_dir)?;
                writeln!(out, "wrote     {}", file.path.display())?;
            }
            TimerStep::Delete(file) => {
                file.delete()?;
                writeln!(out, "deleted   {}", file.path.display())?;
            }
            TimerStep::Unlink(path) => {
                let _ = fs::remove_file(path);
            }
            TimerStep::Crontab { before, after } => write_crontab(before, after, host, manifest, out)?,
            TimerStep::Run(command) | TimerStep::Try(command) => {
                run_command(&command, host)?;
                writeln!(out, "ran       {}", command.join(" "))?;
            }
        }
        Ok(())
    }
}

/// Takes the steps in order. The first error of a step that must succeed ends them and is returned.
pub(crate) fn run_all(
    steps: Vec<TimerStep>,
    host: &Host<'_>,
    manifest: &mut Manifest,
    ui: &Ui,
    out: &mut impl Write,
) -> Result<()> {
    for step in steps {
        let may_fail = matches!(step, TimerStep::Try(_));
        match step.run(host, manifest, out) {
            Err(e) if may_fail => ui.note(&format!("{e:#}")),
            other => other?,
        }
    }
    Ok(())
}

/// Runs a command of a timer's manager. launchd may still be busy with the one before, so its `bootstrap` is tried three times.
fn run_command(command: &[String], host: &Host<'_>) -> Result<()> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let mut tries = if words.contains(&"bootstrap") { 3 } else { 1 };
    loop {
        tries -= 1;
        match host.timer_cli().run(&words, None) {
            Err(_) if tries > 0 => std::thread::sleep(Duration::from_secs(1)),
            ran => return ran.map(drop),
        }
    }
}

fn write_crontab(
    before: Option<String>,
    after: Option<String>,
    host: &Host<'_>,
    manifest: &mut Manifest,
    out: &mut impl Write,
) -> Result<()> {
    let name = PathBuf::from(CRONTAB);
    let has_block = |table: &Option<String>| table.as_deref().is_some_and(|table| cron::find(table).is_some());
    if has_block(&after) {
        let bytes = after.clone().unwrap_or_default().into_bytes();
        let fresh = !has_block(&before);
        let edit =
            FileEdit { before: before.as_deref().map(str::as_bytes), after: &bytes, fresh, shapes: &Shapes::new(), copy: true };
        manifest.record(&host.config.data_dir, &name, &edit)?;
        manifest.save(&host.config.data_dir)?;
    }
    host.timer_cli().write_crontab(before.as_deref(), after.as_deref())?;
    if !has_block(&after) {
        manifest.forget(&host.config.data_dir, &name)?;
    }
    writeln!(out, "wrote     crontab")?;
    Ok(())
}
