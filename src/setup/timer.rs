//! The steps that set up or remove a timer: files, and the few commands that tell its manager.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use super::file::FileSnapshot;
use super::manifest::{CRONTAB, Manifest};
use super::timer_job::TimerJob;
use super::timer_steps::TimerStep;
use super::{Host, Timer, TimerChoice, cron, launchd, systemd};

/// The timer that a choice comes to, and a warning when none can be had.
pub(crate) fn choose(choice: Option<TimerChoice>, before: Option<Timer>, host: &Host<'_>) -> (Timer, Option<&'static str>) {
    match choice {
        Some(TimerChoice::Systemd) => (Timer::Systemd, None),
        Some(TimerChoice::Launchd) => (Timer::Launchd, None),
        Some(TimerChoice::Cron) => (Timer::Cron, None),
        Some(TimerChoice::None) => (Timer::None, None),
        // The last choice holds.
        None if before.is_some() => (before.unwrap_or(Timer::None), None),
        Some(TimerChoice::Auto) | None if cfg!(target_os = "macos") => (Timer::Launchd, None),
        Some(TimerChoice::Auto) | None if systemd_answers(host) => (Timer::Systemd, None),
        Some(TimerChoice::Auto) | None if host.timer_cli().has("crontab") => (Timer::Cron, None),
        Some(TimerChoice::Auto) | None => (
            Timer::None,
            Some(
                "no timer: systemd does not run for this user and there is no `crontab`. Run `recall digest` yourself, or set `digest_at_end = true` under [hooks] in the config: a digest then runs when a session ends",
            ),
        ),
    }
}

fn systemd_answers(host: &Host<'_>) -> bool {
    host.timer_cli().output(&["systemctl", "--user", "show", "--property=Version"], None).is_ok_and(|said| said.succeeded)
}

/// The folder for units: the one the user's systemd looks in, which may not know `$XDG_CONFIG_HOME` of the shell.
pub(crate) fn systemd_folder(host: &Host<'_>) -> PathBuf {
    let [ours, usual] = [&host.environment.config_home, &host.config.home.join(".config")].map(|dir| dir.join("systemd/user"));
    if ours == usual {
        return ours;
    }
    let said = host.timer_cli().run(&["systemctl", "--user", "show", "--property=UnitPath", "--value"], None).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let looks_in = |folder: &Path| folder.to_str().is_some_and(|folder| said.split_whitespace().any(|looked| looked == folder));
    let holds = |folder: &Path| folder.join(systemd::TIMER_NAME).exists();
    let only = |is: &dyn Fn(&Path) -> bool| is(&usual) && !is(&ours);
    if only(&looks_in) || (!looks_in(&ours) && only(&holds)) { usual } else { ours }
}

pub(crate) fn launchd_file(host: &Host<'_>) -> PathBuf {
    host.config.home.join(launchd::FILE)
}

/// The steps that are missing for this timer.
///
/// # Errors
/// When its files or the crontab cannot be read, or it cannot run the job.
pub(crate) fn install(timer: Timer, host: &Host<'_>) -> Result<Vec<TimerStep>> {
    match timer {
        Timer::None => Ok(Vec::new()),
        Timer::Systemd => install_systemd(&TimerJob::new(host)?, host),
        Timer::Launchd => install_launchd(&TimerJob::new(host)?, host),
        Timer::Cron => install_cron(&TimerJob::new(host)?, host),
    }
}

fn install_systemd(job: &TimerJob, host: &Host<'_>) -> Result<Vec<TimerStep>> {
    let folder = systemd_folder(host);
    let units = systemd::units(job).map_err(|e| anyhow!(e))?;
    let mut steps = write_steps(&units.map(|(name, text)| (folder.join(name), text)))?;
    if !steps.is_empty() || !is_active(host) {
        steps.push(TimerStep::Run(command(&["systemctl", "--user", "daemon-reload"])));
        steps.push(TimerStep::Run(command(&["systemctl", "--user", "enable", systemd::TIMER_NAME])));
        // Not only a start, because a timer that runs goes on with the times it knows.
        steps.push(TimerStep::Run(command(&["systemctl", "--user", "restart", systemd::TIMER_NAME])));
    }
    Ok(steps)
}

fn install_launchd(job: &TimerJob, host: &Host<'_>) -> Result<Vec<TimerStep>> {
    let file = launchd_file(host);
    let mut steps = write_steps(&[(file.clone(), launchd::plist(job))])?;
    let loaded = is_loaded(host);
    if !steps.is_empty() || !loaded {
        steps.extend(loaded.then(|| TimerStep::Try(command(&["launchctl", "bootout", &launchd_target()]))));
        steps.push(TimerStep::Try(command(&["launchctl", "enable", &launchd_target()])));
        steps.push(TimerStep::Run(command(&["launchctl", "bootstrap", &launchd_domain(), &file.display().to_string()])));
    }
    Ok(steps)
}

fn install_cron(job: &TimerJob, host: &Host<'_>) -> Result<Vec<TimerStep>> {
    let block = cron::block(job).map_err(|e| anyhow!(e))?;
    let before = host.timer_cli().crontab()?;
    let table = before.clone().unwrap_or_default();
    let after = cron::add(&table, &block).map_err(|e| anyhow!(e))?;
    Ok(if after == table { Vec::new() } else { vec![TimerStep::Crontab { before, after: Some(after) }] })
}

/// The steps that remove this timer.
///
/// # Errors
/// When its files or the crontab cannot be read.
pub fn remove(timer: Timer, manifest: &Manifest, host: &Host<'_>) -> Result<Vec<TimerStep>> {
    match timer {
        Timer::None => Ok(Vec::new()),
        Timer::Systemd => {
            let folder = systemd_folder(host);
            let files = delete_steps(&[folder.join(systemd::TIMER_NAME), folder.join(systemd::SERVICE_NAME)])?;
            if files.is_empty() {
                return Ok(files);
            }
            let disable = TimerStep::Try(command(&["systemctl", "--user", "disable", "--now", systemd::TIMER_NAME]));
            let wanted = TimerStep::Unlink(folder.join("timers.target.wants").join(systemd::TIMER_NAME));
            let reload = TimerStep::Try(command(&["systemctl", "--user", "daemon-reload"]));
            Ok([disable].into_iter().chain(files).chain([wanted, reload]).collect())
        }
        Timer::Launchd => {
            let files = delete_steps(&[launchd_file(host)])?;
            let out = (!files.is_empty()).then(|| TimerStep::Try(command(&["launchctl", "bootout", &launchd_target()])));
            Ok(out.into_iter().chain(files).collect())
        }
        Timer::Cron => {
            if !host.timer_cli().has("crontab") {
                return Ok(Vec::new());
            }
            let before = match host.timer_cli().crontab() {
                // A user who may not use cron has nothing of ours in it.
                Err(_) if !manifest.edited.contains_key(Path::new(CRONTAB)) => None,
                read => read?,
            };
            let Some(table) = &before else { return Ok(Vec::new()) };
            let after = cron::remove(table).map_err(|e| anyhow!(e))?;
            if after == *table {
                return Ok(Vec::new());
            }
            Ok(vec![TimerStep::Crontab { after: (!after.is_empty()).then_some(after), before }])
        }
    }
}

/// Steps that write those of the files whose text differs.
fn write_steps(texts: &[(PathBuf, String)]) -> Result<Vec<TimerStep>> {
    let mut steps = Vec::new();
    for (path, text) in texts {
        let file = FileSnapshot::read(path)?;
        if file.bytes.as_deref() != Some(text.as_bytes()) {
            steps.push(TimerStep::Write(file, text.clone().into_bytes()));
        }
    }
    Ok(steps)
}

/// Steps that delete those of the files that are there.
fn delete_steps(paths: &[PathBuf]) -> Result<Vec<TimerStep>> {
    let read: Vec<FileSnapshot> = paths.iter().map(|path| FileSnapshot::read(path)).collect::<Result<_>>()?;
    Ok(read.into_iter().filter(|file| file.bytes.is_some()).map(TimerStep::Delete).collect())
}

pub(crate) fn is_active(host: &Host<'_>) -> bool {
    ["is-active", "is-enabled"].iter().all(|verb| {
        host.timer_cli()
            .output(&["systemctl", "--user", "--quiet", verb, systemd::TIMER_NAME], None)
            .is_ok_and(|said| said.succeeded)
    })
}

pub(crate) fn is_loaded(host: &Host<'_>) -> bool {
    host.timer_cli().output(&["launchctl", "print", &launchd_target()], None).is_ok_and(|said| said.succeeded)
}

/// launchd's domain of the user's graphical session.
fn launchd_domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

pub(crate) fn launchd_target() -> String {
    format!("{}/{}", launchd_domain(), launchd::LABEL)
}

fn command(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
