//! Who writes into the memory from here, and for which projects: a person for all, an agent for the one its session is in.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::author::Author;
use crate::config::{Agent, Config};
use crate::notes::{Reach, check_folder};
use crate::source::known::folder_of;

/// Somebody who writes.
#[derive(Debug, Clone)]
pub struct Writer {
    pub author: Author,
    pub reach: Reach,
}

impl Writer {
    pub fn user() -> Self {
        Self { author: Author::User, reach: Reach::Anywhere }
    }

    /// An agent that works in `folder`. It writes for the project of its session, wherever it has changed to since.
    ///
    /// # Errors
    /// A `Refused` when that project is excluded: what is said there goes no further.
    pub fn agent(agent: &Agent, folder: &Path, config: &Config) -> Result<Self> {
        let own = agent.session.as_deref().and_then(|id| folder_of_session(id, config)).unwrap_or_else(|| folder.to_owned());
        check_folder(&own, config)?;
        let own = own.canonicalize().unwrap_or(own);
        let key = config.project_keys().key_of(own.to_str().context("the folder's name is not UTF-8")?);
        Ok(Self { author: agent.author(), reach: Reach::Only(key) })
    }

    /// Who runs a command here.
    ///
    /// # Errors
    /// As [`Writer::agent`].
    pub fn here(config: &Config, agent: Option<&Agent>) -> Result<Self> {
        let Some(agent) = agent else { return Ok(Self::user()) };
        Self::agent(agent, &std::env::current_dir().context("the current folder is gone")?, config)
    }
}

/// The transcript of a session of Claude Code's, where it lies in a folder of ours to read.
fn transcript_of(session: &str, config: &Config) -> Option<PathBuf> {
    if !session.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) {
        return None;
    }
    let name = format!("{session}.jsonl");
    let projects = config.session_dirs().into_iter().filter_map(|dir| fs::read_dir(dir.join("projects")).ok());
    projects.flatten().flatten().map(|entry| entry.path().join(&name)).find(|path| path.is_file())
}

/// The folder a session began in, which decides on its project when it is read.
fn folder_of_session(session: &str, config: &Config) -> Option<PathBuf> {
    folder_of(&transcript_of(session, config)?)
}
