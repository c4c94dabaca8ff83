//! Which projects of this machine the team has, and what the user lets it have of them.

use std::path::Path;

use anyhow::Result;

use crate::config::{Config, TeamConsent};
use crate::model::note::EVERYWHERE;
use crate::store::Reader;
use crate::sys::git_config::remote_of;

/// A project of this machine whose repository has an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TeamProject {
    /// The key: the path of the repository.
    pub(super) key: String,
    /// Where the repository lies, or lay where the sessions were: the key is this or a folder in it.
    pub(super) root: String,
    /// The address of the repository, by which the team knows it.
    pub(super) address: String,
    pub(super) consent: TeamConsent,
}

/// All of them, by key. Excluded ones are none of the team's.
pub(super) fn team_projects(store: &Reader, config: &Config) -> Result<Vec<TeamProject>> {
    let projects = config.project_keys();
    let mut all = Vec::new();
    for (_, project) in store.projects()? {
        let key = project.key;
        if key == EVERYWHERE || config.excludes_folder(&key, &projects) {
            continue;
        }
        let Some(address) = remote_of(Path::new(&key)) else { continue };
        all.push(TeamProject { consent: config.team_consent(&key, &address), root: key.clone(), key, address });
    }
    all.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(all)
}
