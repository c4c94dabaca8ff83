//! `--this`: the session in which the command runs.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::app::consent;
use crate::app::contributor::{SessionOnDisk, is_session_id, session_on_disk};
use crate::app::running::PendingEnds;
use crate::config::{Agent, Config, agent};
use text::clean::{one_line, without_controls};
use transcripts::session::Millis;
use transcripts::source::discover::{TranscriptFile, discover};
use transcripts::source::looked_into;
use transcripts::source::working_folders::folder_of;

/// How many transcripts are examined, newest first.
const MAX_EXAMINED: usize = 500;

/// The session in which a command runs.
pub(crate) struct CurrentSession {
    pub(crate) id: String,
    /// When it was last written, if it is only the newest of this folder's project: a guess that a person has to confirm.
    pub(crate) guessed: Option<Millis>,
}

/// The session whose id the agent passes to its commands, if it is live in this folder; without one, the newest session of this folder's
/// project. Who only looks may name any.
///
/// # Errors
/// When an agent names another session, when there is none, or when it is a guess and nobody can be asked.
pub(super) fn session(dry_run: bool, config: &Config) -> Result<CurrentSession> {
    let here = std::env::current_dir().context("the current folder is gone")?;
    if let Some(agent) = agent()
        && let Some(id) = agent.session.clone()
    {
        if !dry_run {
            check_live(&agent, &id, &here, config)?;
        }
        return Ok(CurrentSession { id, guessed: None });
    }
    let Some(newest) = newest(&here.to_string_lossy(), config) else {
        bail!("there is no session of {}: `recall forget --session ID` deletes another session", here.display());
    };
    let id = newest.place.session.clone();
    if !dry_run && !consent::has_terminal() {
        bail!("cannot tell which session this is. The one written last in this folder is {id}: `recall forget --session {id}`");
    }
    Ok(CurrentSession { id, guessed: Some(newest.mtime()) })
}

/// Refuses a session that is not live in this folder: what an agent says of itself may have been put into its mouth.
fn check_live(agent: &Agent, id: &str, here: &Path, config: &Config) -> Result<()> {
    let name = one_line(&without_controls(&agent.name));
    if !is_session_id(id) {
        bail!("{name} is not a session id: only a person may choose which one to forget, with `recall forget --session ID`");
    }
    if !is_live(id, here, config) {
        bail!(
            "session {id} does not run in {}: to delete another session, a person must run `recall forget --session {id}` in their own terminal",
            here.display()
        );
    }
    Ok(())
}

/// Was it written a short while ago, for this folder's project, and not ended since?
fn is_live(id: &str, here: &Path, config: &Config) -> bool {
    let Some(SessionOnDisk { folder: Some(folder), written: Some(written) }) = session_on_disk(id, config) else { return false };
    let projects = config.project_keys();
    let is_here = projects.key_of(&folder.to_string_lossy()) == projects.key_of(&here.to_string_lossy());
    is_here && PendingEnds::read(config).is_running(id, written, None, config.now())
}

/// The most recently written session of the folder's project.
fn newest(folder: &str, config: &Config) -> Option<TranscriptFile> {
    let projects = config.project_keys();
    let key = projects.key_of(folder);
    let mut all = discover(&config.client_folders(), &config.exclude_transcripts).files;
    all.retain(|file| file.place.agent.is_none());
    all.sort_by_key(|file| std::cmp::Reverse(file.mtime()));
    let folder = |file: &TranscriptFile| file.place.cwd.as_deref().map(PathBuf::from).or_else(|| folder_of(&file.path));
    let fits = |file: &TranscriptFile| folder(file).is_some_and(|cwd| projects.key_of(&cwd.to_string_lossy()) == key);
    all.into_iter().take(MAX_EXAMINED).map(looked_into).filter(|file| file.place.agent.is_none()).find(fits)
}
