//! `--this`: the session in which the command runs.

use anyhow::{Context, Result, bail};

use crate::app::consent;
use crate::config::{Config, agent};
use crate::source::discover::{TranscriptFile, discover};
use crate::source::working_folders::folder_of;
use crate::text::clean::id8;

/// How many transcripts are examined, newest first.
const MAX_EXAMINED: usize = 500;

/// The session id that the agent passes to its commands; without one, the newest session of this folder's project, after a person
/// confirmed it.
pub(super) fn session(dry_run: bool, config: &Config) -> Result<String> {
    if let Some(session) = agent().and_then(|agent| agent.session) {
        return Ok(session);
    }
    let here = std::env::current_dir().context("the current folder is gone")?;
    let Some(newest) = newest(&here.to_string_lossy(), config) else {
        bail!("no session of {} is there: `recall forget --session ID` takes out another", here.display());
    };
    let id = newest.place.session.clone();
    if dry_run {
        return Ok(id);
    }
    let last = config.local_time(Some(newest.mtime()), "%Y-%m-%d %H:%M");
    if !consent::has_terminal() {
        bail!("which session this is, is not known here; the newest of this folder is {id}: `recall forget --session {id}`");
    }
    consent::confirm(&format!("Forget the newest session of this folder, {}, last active {last}?", id8(&id)))?;
    Ok(id)
}

/// The most recently written session of the folder's project.
fn newest(folder: &str, config: &Config) -> Option<TranscriptFile> {
    let projects = config.project_keys();
    let key = projects.key_of(folder);
    let mut all = discover(&config.claude_dirs, &config.exclude_transcripts).files;
    all.retain(|file| file.place.agent.is_none());
    all.sort_by_key(|file| std::cmp::Reverse(file.mtime()));
    let fits = |file: &TranscriptFile| folder_of(&file.path).is_some_and(|cwd| projects.key_of(&cwd.to_string_lossy()) == key);
    all.into_iter().take(MAX_EXAMINED).find(fits)
}
