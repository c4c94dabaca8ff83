//! What of this machine's memory the team has, what waits, and what does not go there and why.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde::Serialize;

use super::inbox::files_of;
use super::projects::team_projects;
use super::state::{SharedItem, TeamState};
use super::to_share::ToShare;
use crate::config::Config;
use crate::store::WholeIndex;

/// How the exchange with the team stands.
#[derive(Debug, Serialize)]
pub(crate) struct TeamStatus {
    /// The address of the server, without a password.
    pub(crate) server: String,
    /// When it was last reached: `2026-11-19 14:03`.
    pub(crate) reached: Option<String>,
    /// Why it was not reached the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
    pub(crate) projects: Vec<ProjectStatus>,
}

/// A project of this machine whose repository has an address.
#[derive(Debug, Serialize)]
pub(crate) struct ProjectStatus {
    /// Its path.
    pub(crate) project: String,
    /// The address of its repository.
    pub(crate) address: String,
    /// The config lets the team have it.
    pub(crate) share: bool,
    /// Also what came of its sessions.
    pub(crate) sessions: bool,
    /// What the server has from this machine.
    pub(crate) shared: Vec<SharedLine>,
    /// What waits for the next exchange.
    pub(crate) waiting: usize,
    /// What the server is to forget with the next exchange.
    pub(crate) to_withdraw: usize,
    /// What does not go there, and why.
    pub(crate) refused: Vec<RefusedLine>,
    /// Statements of others that are here.
    pub(crate) from_others: usize,
}

/// Something that the server has.
#[derive(Debug, Serialize)]
pub(crate) struct SharedLine {
    pub(crate) kind: String,
    pub(crate) id: String,
    /// In one line.
    pub(crate) text: String,
}

/// Something that it has not.
#[derive(Debug, Serialize)]
pub(crate) struct RefusedLine {
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) why: String,
}

/// How the last exchange ended, without a look at the index or the server.
pub(crate) struct TeamHealth {
    /// The address of the server, without a password.
    pub(crate) server: String,
    /// Why it was not reached, or not to the end.
    pub(crate) failure: Option<String>,
    /// How many records it has from this machine, and how many it did not take.
    pub(crate) shared: usize,
    pub(crate) refused: usize,
}

/// `None` if the user is in no team.
///
/// # Errors
/// When what is known of the team cannot be read.
pub(crate) fn health(config: &Config) -> Result<Option<TeamHealth>> {
    let Some(state) = TeamState::load(&config.data_dir)? else { return Ok(None) };
    let count = |fits: fn(&SharedItem) -> bool| state.shared.values().filter(|one| fits(one)).count();
    Ok(Some(TeamHealth {
        server: state.shown_address(),
        shared: count(|one| one.arrived && !one.gone),
        refused: count(|one| one.refused.is_some()),
        failure: state.last_failure,
    }))
}

/// # Errors
/// When the user is in no team, or the index cannot be read.
pub(crate) fn status(config: &Config) -> Result<TeamStatus> {
    let Some(mut state) = TeamState::load(&config.data_dir)? else {
        bail!("you are in no team: `recall team join URL` joins one");
    };
    let mut status = TeamStatus {
        server: state.shown_address(),
        reached: state.reached_at.map(|at| config.local_time(Some(at), "%Y-%m-%d %H:%M")),
        failure: state.last_failure.clone(),
        projects: Vec::new(),
    };
    let Some(store) = WholeIndex::open_if_there(&config.database())? else { return Ok(status) };
    let projects = team_projects(&store, config)?;
    let to_share = ToShare::of(&projects, config)?;
    let there = state.shared.clone();
    state.plan(&to_share);
    // Of two clones of a repository, the first one tells.
    let mut told = BTreeSet::new();
    for project in projects {
        if !told.insert(project.address.clone()) {
            continue;
        }
        let of_it = |address: &str| address == project.address;
        let mut one = ProjectStatus {
            share: project.consent.share,
            sessions: project.consent.share && project.consent.sessions,
            shared: Vec::new(),
            waiting: 0,
            to_withdraw: 0,
            refused: Vec::new(),
            from_others: files_of(&config.data_dir, project.key.as_ref()).len(),
            project: project.key.clone(),
            address: project.address.clone(),
        };
        for (id, _) in there.iter().filter(|(id, known)| of_it(&id.project) && known.arrived) {
            let text = to_share.in_words(id)?.unwrap_or_default();
            one.shared.push(SharedLine { kind: id.kind.clone(), id: id.id.clone(), text });
        }
        for (id, known) in state.shared.iter().filter(|(id, known)| of_it(&id.project) && !known.arrived) {
            match &known.refused {
                Some((why, _)) => {
                    one.refused.push(RefusedLine { kind: id.kind.clone(), id: id.id.clone(), why: why.clone() });
                }
                None if known.gone => one.to_withdraw += 1,
                None => one.waiting += 1,
            }
        }
        for (id, why) in to_share.refused.iter().filter(|(id, _)| of_it(&id.project)) {
            one.refused.push(RefusedLine { kind: id.kind.clone(), id: id.id.clone(), why: why.clone() });
        }
        status.projects.push(one);
    }
    Ok(status)
}
