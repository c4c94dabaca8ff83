//! Switching recall off: for one session (`RECALL_OFF=1 claude`) or for a while (`recall pause 2h`).
//!
//! A session that is switched off gets no context, leaves no mark and is not stored: hooks note its id, since the next digest could not
//! recognize its transcript otherwise, and the digest excludes it for good. During a pause this applies to sessions that start in it; one
//! that was already running gets no context and leaves no marks while the pause lasts, but is digested as usual.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::config::{self, Config};
use crate::sys::{data_folder, private_files};
use transcripts::session::Millis;

/// The file that holds the end of the pause.
const FILE: &str = data_folder::PAUSE;

/// Why recall is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OffReason {
    /// This session was started with `RECALL_OFF`.
    Session,
    /// Paused for all sessions, until this time.
    Paused(Millis),
}

#[derive(Serialize, Deserialize)]
struct Pause {
    until: Millis,
}

/// Is recall off for this process?
pub(crate) fn reason(config: &Config) -> Option<OffReason> {
    let paused = || paused_until(&config.data_dir).filter(|until| *until > config.now()).map(OffReason::Paused);
    config::is_switched_off().then_some(OffReason::Session).or_else(paused)
}

/// Fails if recall is off, and says what to do about it.
pub(crate) fn check(config: &Config) -> Result<()> {
    match reason(config) {
        Some(OffReason::Session) => bail!("recall is switched off for this session: it was started with RECALL_OFF"),
        Some(OffReason::Paused(until)) => {
            bail!("recall is paused until {}: `recall pause --off` ends that", describe_end(until, config))
        }
        None => Ok(()),
    }
}

/// The end of a pause, for people.
pub(crate) fn describe_end(until: Millis, config: &Config) -> String {
    match until {
        Millis::MAX => "somebody ends it".to_owned(),
        until => config.local_time(Some(until), "%Y-%m-%d %H:%M"),
    }
}

/// The end of the current or last pause. An unreadable file counts as a pause without end, because the user relies on it.
fn paused_until(data_dir: &Path) -> Option<Millis> {
    match fs::read(data_dir.join(FILE)) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).map_or(Millis::MAX, |pause: Pause| pause.until)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(Millis::MAX),
    }
}

/// Pauses until a time.
pub(crate) fn pause(config: &Config, until: Millis) -> Result<()> {
    let bytes = serde_json::to_vec(&Pause { until })?;
    private_files::create_dir(&config.data_dir)
        .and_then(|()| private_files::replace(&config.data_dir.join(FILE), &bytes))
        .with_context(|| format!("cannot write {}", config.data_dir.join(FILE).display()))
}

/// Ends a pause. False if there was none.
pub(crate) fn end_pause(config: &Config) -> Result<bool> {
    let paused = paused_until(&config.data_dir).is_some_and(|until| until > config.now());
    private_files::remove(&config.data_dir.join(FILE))?;
    Ok(paused)
}

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join(data_folder::MARKS).join("off")
}

/// Notes that a session must not be stored. Synced to disk: its transcript remains, and nothing else records this.
pub(crate) fn note(data_dir: &Path, session: &str) -> Result<()> {
    let (folder, file) = (folder(data_dir), folder(data_dir).join(session));
    if file.exists() {
        return Ok(());
    }
    private_files::create_dir(&folder)
        .and_then(|()| private_files::open_lock(&file)?.sync_all())
        .and_then(|()| private_files::sync_folder_of(&file))
        .with_context(|| format!("cannot note in {} that the session is not to be kept", folder.display()))
}

/// Sessions that must not be stored and that no digest has excluded yet, each with the path of its note.
pub(crate) fn noted_sessions(data_dir: &Path) -> Vec<(PathBuf, String)> {
    let Ok(entries) = fs::read_dir(folder(data_dir)) else { return Vec::new() };
    let session = |path: &PathBuf| path.file_name()?.to_str().map(str::to_owned);
    entries.flatten().map(|entry| entry.path()).filter_map(|path| Some((path.clone(), session(&path)?))).collect()
}

/// Was the session noted as not to be stored?
pub(crate) fn is_noted(data_dir: &Path, session: &str) -> bool {
    !session.contains('/') && folder(data_dir).join(session).is_file()
}
