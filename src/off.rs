//! Switched off: for one session (`RECALL_OFF=1 claude`), or for a while (`recall pause 2h`).
//!
//! A session that is switched off is told nothing, leaves no mark, and is not kept: hooks note its id, without which the next digest could
//! not know its transcript for what it is, and the digest shuts it out for good. In a pause that goes for sessions that begin in it; one
//! that was there before is only told nothing and marked by nothing, and is digested as always.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::config::{self, Config};
use crate::private;
use crate::session::Millis;

/// The file that says until when it is paused.
pub const FILE: &str = "paused.json";

/// Why nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Off {
    /// This session was started so.
    Session,
    /// All are, until this time.
    Paused(Millis),
}

#[derive(Serialize, Deserialize)]
struct Pause {
    until: Millis,
}

/// Is it switched off for whoever started this process?
pub fn state(config: &Config) -> Option<Off> {
    let paused = || paused_until(&config.data_dir).filter(|until| *until > config.now()).map(Off::Paused);
    config::is_off().then_some(Off::Session).or_else(paused)
}

/// # Errors
/// When it is switched off, with what to do about it.
pub fn check(config: &Config) -> Result<()> {
    match state(config) {
        Some(Off::Session) => bail!("recall is switched off for this session: it was started with RECALL_OFF"),
        Some(Off::Paused(until)) => bail!("recall is paused until {}: `recall pause --off` ends that", time(until, config)),
        None => Ok(()),
    }
}

/// The end of a pause, for people.
pub fn time(until: Millis, config: &Config) -> String {
    match until {
        Millis::MAX => "somebody ends it".to_owned(),
        until => config.local_time(Some(until), "%Y-%m-%d %H:%M"),
    }
}

/// Until when it is, or was, paused. What cannot be read is a pause without an end: who asked for one relies on it.
fn paused_until(data_dir: &Path) -> Option<Millis> {
    match fs::read(data_dir.join(FILE)) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).map_or(Millis::MAX, |pause: Pause| pause.until)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(Millis::MAX),
    }
}

/// Pauses until a time.
///
/// # Errors
/// When the data folder cannot be written.
pub fn pause(config: &Config, until: Millis) -> Result<()> {
    let bytes = serde_json::to_vec(&Pause { until })?;
    private::create_dir(&config.data_dir)
        .and_then(|()| private::replace(&config.data_dir.join(FILE), &bytes))
        .with_context(|| format!("cannot write {}", config.data_dir.join(FILE).display()))
}

/// Ends a pause. False when there was none.
///
/// # Errors
/// When its file cannot be removed.
pub fn end_pause(config: &Config) -> Result<bool> {
    let paused = paused_until(&config.data_dir).is_some_and(|until| until > config.now());
    private::remove(&config.data_dir.join(FILE))?;
    Ok(paused)
}

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("marks/off")
}

/// Notes that a session is not to be kept. Synced: nothing else says so, and its transcript stays.
///
/// # Errors
/// When it cannot be written.
pub fn note(data_dir: &Path, session: &str) -> Result<()> {
    let (folder, file) = (folder(data_dir), folder(data_dir).join(session));
    if file.exists() {
        return Ok(());
    }
    private::create_dir(&folder)
        .and_then(|()| private::open_lock(&file)?.sync_all())
        .and_then(|()| private::sync_folder_of(&file))
        .with_context(|| format!("cannot note in {} that the session is not to be kept", folder.display()))
}

/// Sessions that are not to be kept and that no digest has shut out yet, with their files.
pub fn noted(data_dir: &Path) -> Vec<(PathBuf, String)> {
    let Ok(entries) = fs::read_dir(folder(data_dir)) else { return Vec::new() };
    let session = |path: &PathBuf| path.file_name()?.to_str().map(str::to_owned);
    entries.flatten().map(|entry| entry.path()).filter_map(|path| Some((path.clone(), session(&path)?))).collect()
}

/// Is it one of them?
pub fn is_noted(data_dir: &Path, session: &str) -> bool {
    !session.contains('/') && folder(data_dir).join(session).is_file()
}
