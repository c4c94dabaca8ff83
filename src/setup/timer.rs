//! What has to be done so that a timer is there, or gone: files, and the few commands that tell its manager.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use super::file::File;
use super::job::Job;
use super::manifest::{CRONTAB, Manifest};
use super::{Host, Timer, TimerChoice, cron, launchd, systemd};

/// One thing to do.
#[derive(Debug)]
pub enum Step {
    Write(File, Vec<u8>),
    Delete(File),
    /// A link of a timer's manager that its own command may have left.
    Unlink(PathBuf),
    Crontab {
        before: Option<String>,
        after: Option<String>,
    },
    /// A command that must succeed.
    Run(Vec<String>),
    /// One that may fail: what it would stop may not be running.
    Try(Vec<String>),
}

/// The timer a choice comes to, and what to tell when it is none.
pub fn choose(choice: Option<TimerChoice>, before: Option<Timer>, host: &Host<'_>) -> (Timer, Option<&'static str>) {
    match choice {
        Some(TimerChoice::Systemd) => (Timer::Systemd, None),
        Some(TimerChoice::Launchd) => (Timer::Launchd, None),
        Some(TimerChoice::Cron) => (Timer::Cron, None),
        Some(TimerChoice::None) => (Timer::None, None),
        // Who chose once does not have to say it again.
        None if before.is_some() => (before.unwrap_or(Timer::None), None),
        Some(TimerChoice::Auto) | None if cfg!(target_os = "macos") => (Timer::Launchd, None),
        Some(TimerChoice::Auto) | None if systemd_answers(host) => (Timer::Systemd, None),
        Some(TimerChoice::Auto) | None if host.tools().has("crontab") => (Timer::Cron, None),
        Some(TimerChoice::Auto) | None => (
            Timer::None,
            Some("no timer: systemd does not run for this user and there is no `crontab`; run `recall digest` yourself"),
        ),
    }
}

fn systemd_answers(host: &Host<'_>) -> bool {
    host.tools().ask(&["systemctl", "--user", "show", "--property=Version"], None).is_ok_and(|said| said.succeeded)
}

/// Where units go: where the user's systemd looks, which may not know of a variable of the shell's.
pub fn systemd_folder(host: &Host<'_>) -> PathBuf {
    let [ours, usual] = [&host.around.config_home, &host.config.home.join(".config")].map(|dir| dir.join("systemd/user"));
    if ours == usual {
        return ours;
    }
    let said = host.tools().run(&["systemctl", "--user", "show", "--property=UnitPath", "--value"], None).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let looks_in = |folder: &Path| folder.to_str().is_some_and(|folder| said.split_whitespace().any(|looked| looked == folder));
    let holds = |folder: &Path| folder.join(systemd::TIMER_NAME).exists();
    let only = |is: &dyn Fn(&Path) -> bool| is(&usual) && !is(&ours);
    if only(&looks_in) || (!looks_in(&ours) && only(&holds)) { usual } else { ours }
}

pub fn agent_file(host: &Host<'_>) -> PathBuf {
    host.config.home.join(launchd::FILE)
}

/// What is missing for this timer.
///
/// # Errors
/// When its files or the crontab cannot be read, or it cannot run the job.
pub fn install(timer: Timer, host: &Host<'_>) -> Result<Vec<Step>> {
    match timer {
        Timer::None => Ok(Vec::new()),
        Timer::Systemd => install_units(&Job::new(host)?, host),
        Timer::Launchd => install_agent(&Job::new(host)?, host),
        Timer::Cron => install_block(&Job::new(host)?, host),
    }
}

fn install_units(job: &Job, host: &Host<'_>) -> Result<Vec<Step>> {
    let folder = systemd_folder(host);
    let units = systemd::units(job).map_err(|e| anyhow!(e))?;
    let mut steps = changed(&units.map(|(name, text)| (folder.join(name), text)))?;
    if !steps.is_empty() || !is_active(host) {
        steps.push(Step::Run(command(&["systemctl", "--user", "daemon-reload"])));
        steps.push(Step::Run(command(&["systemctl", "--user", "enable", systemd::TIMER_NAME])));
        // Not only a start, because a timer that runs goes on with the times it knows.
        steps.push(Step::Run(command(&["systemctl", "--user", "restart", systemd::TIMER_NAME])));
    }
    Ok(steps)
}

fn install_agent(job: &Job, host: &Host<'_>) -> Result<Vec<Step>> {
    let file = agent_file(host);
    let mut steps = changed(&[(file.clone(), launchd::plist(job))])?;
    let loaded = is_loaded(host);
    if !steps.is_empty() || !loaded {
        steps.extend(loaded.then(|| Step::Try(command(&["launchctl", "bootout", &agent()]))));
        steps.push(Step::Try(command(&["launchctl", "enable", &agent()])));
        steps.push(Step::Run(command(&["launchctl", "bootstrap", &domain(), &file.display().to_string()])));
    }
    Ok(steps)
}

fn install_block(job: &Job, host: &Host<'_>) -> Result<Vec<Step>> {
    let block = cron::block(job).map_err(|e| anyhow!(e))?;
    let before = host.tools().crontab()?;
    let table = before.clone().unwrap_or_default();
    let after = cron::add(&table, &block).map_err(|e| anyhow!(e))?;
    Ok(if after == table { Vec::new() } else { vec![Step::Crontab { before, after: Some(after) }] })
}

/// What has to go so that this timer is gone.
///
/// # Errors
/// When its files or the crontab cannot be read.
pub fn remove(timer: Timer, manifest: &Manifest, host: &Host<'_>) -> Result<Vec<Step>> {
    match timer {
        Timer::None => Ok(Vec::new()),
        Timer::Systemd => {
            let folder = systemd_folder(host);
            let files = deleted(&[folder.join(systemd::TIMER_NAME), folder.join(systemd::SERVICE_NAME)])?;
            if files.is_empty() {
                return Ok(files);
            }
            let disable = Step::Try(command(&["systemctl", "--user", "disable", "--now", systemd::TIMER_NAME]));
            let wanted = Step::Unlink(folder.join("timers.target.wants").join(systemd::TIMER_NAME));
            let reload = Step::Try(command(&["systemctl", "--user", "daemon-reload"]));
            Ok([disable].into_iter().chain(files).chain([wanted, reload]).collect())
        }
        Timer::Launchd => {
            let files = deleted(&[agent_file(host)])?;
            let out = (!files.is_empty()).then(|| Step::Try(command(&["launchctl", "bootout", &agent()])));
            Ok(out.into_iter().chain(files).collect())
        }
        Timer::Cron => {
            if !host.tools().has("crontab") {
                return Ok(Vec::new());
            }
            let before = match host.tools().crontab() {
                // Who may not use cron has nothing of ours in it.
                Err(_) if !manifest.edited.contains_key(Path::new(CRONTAB)) => None,
                read => read?,
            };
            let Some(table) = &before else { return Ok(Vec::new()) };
            let after = cron::remove(table).map_err(|e| anyhow!(e))?;
            if after == *table {
                return Ok(Vec::new());
            }
            Ok(vec![Step::Crontab { after: (!after.is_empty()).then_some(after), before }])
        }
    }
}

/// The files that have another text.
fn changed(texts: &[(PathBuf, String)]) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for (path, text) in texts {
        let file = File::read(path)?;
        if file.bytes.as_deref() != Some(text.as_bytes()) {
            steps.push(Step::Write(file, text.clone().into_bytes()));
        }
    }
    Ok(steps)
}

/// Steps that delete those of the files that are there.
fn deleted(paths: &[PathBuf]) -> Result<Vec<Step>> {
    let read: Vec<File> = paths.iter().map(|path| File::read(path)).collect::<Result<_>>()?;
    Ok(read.into_iter().filter(|file| file.bytes.is_some()).map(Step::Delete).collect())
}

pub fn is_active(host: &Host<'_>) -> bool {
    ["is-active", "is-enabled"].iter().all(|verb| {
        host.tools().ask(&["systemctl", "--user", "--quiet", verb, systemd::TIMER_NAME], None).is_ok_and(|said| said.succeeded)
    })
}

pub fn is_loaded(host: &Host<'_>) -> bool {
    host.tools().ask(&["launchctl", "print", &agent()], None).is_ok_and(|said| said.succeeded)
}

/// The user's own part of launchd, where what has a window runs too.
fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

pub fn agent() -> String {
    format!("{}/{}", domain(), launchd::LABEL)
}

fn command(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
