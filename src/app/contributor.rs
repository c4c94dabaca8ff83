//! Who adds to the memory, and for which projects: a person for all, an agent only for the project of its session.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use globset::GlobSet;

use crate::app::notes::{WriteScope, check_folder};
use crate::app::running::written_at;
use crate::config::{Agent, Config};
use crate::model::author::Author;
use transcripts::session::Millis;
use transcripts::source::discover::discover;
use transcripts::source::transcript_of;
use transcripts::source::working_folders::folder_of;

/// An author with its permissions.
#[derive(Debug, Clone)]
pub(crate) struct Contributor {
    pub(crate) author: Author,
    pub(crate) reach: WriteScope,
}

impl Contributor {
    pub(crate) fn user() -> Self {
        Self { author: Author::User, reach: WriteScope::AllProjects }
    }

    /// An agent that works in `folder`. It may write for the project its session started in, wherever it is now.
    ///
    /// # Errors
    /// A `Refused` if that project is excluded.
    pub(crate) fn agent(agent: &Agent, folder: &Path, config: &Config) -> Result<Self> {
        let own = agent.session.as_deref().and_then(|id| session_on_disk(id, config)?.folder).unwrap_or_else(|| folder.to_owned());
        check_folder(&own, config)?;
        let own = own.canonicalize().unwrap_or(own);
        let key = config.project_keys().key_of(own.to_str().context("the folder's name is not UTF-8")?);
        Ok(Self { author: agent.author(), reach: WriteScope::OneProject(key) })
    }

    /// The writer for a command that runs here: the agent, or else the user.
    pub(crate) fn current(config: &Config, agent: Option<&Agent>) -> Result<Self> {
        let Some(agent) = agent else { return Ok(Self::user()) };
        Self::agent(agent, &std::env::current_dir().context("the current folder is gone")?, config)
    }
}

/// Could this be a session's id? Any other text may come from a variable, and is no name of a file and no part of a command.
pub(crate) fn is_session_id(session: &str) -> bool {
    !session.is_empty() && session.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// What is to be known of an agent's session without the index: it may be too new for that.
pub(crate) struct SessionOnDisk {
    /// Where it started, which determines its project; `None` if its transcript does not tell.
    pub(crate) folder: Option<PathBuf>,
    /// When it was last written.
    pub(crate) written: Option<Millis>,
}

/// The session of this id, if its transcript is in one of the folders of any client.
pub(crate) fn session_on_disk(session: &str, config: &Config) -> Option<SessionOnDisk> {
    if !is_session_id(session) {
        return None;
    }
    // One look tells whether it is Claude's; transcripts of others are listed.
    let name = format!("{session}.jsonl");
    let projects = config.session_dirs().into_iter().filter_map(|dir| fs::read_dir(dir.join("projects")).ok());
    let of_claude = projects.flatten().flatten().map(|entry| entry.path().join(&name)).find(|path| path.is_file());
    if let Some(path) = of_claude {
        return Some(SessionOnDisk { folder: folder_of(&path), written: written_at(&path) });
    }
    let file = transcript_of(session, discover(config.folders_of_others(), &GlobSet::empty()).files)?;
    let told = file.place.cwd.as_deref().map(PathBuf::from);
    Some(SessionOnDisk { written: Some(file.mtime()), folder: told.or_else(|| folder_of(&file.path)) })
}
