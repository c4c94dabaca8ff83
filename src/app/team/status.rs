//! What of this machine's memory the team has, what waits, and what does not go there and why.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use serde::Serialize;
use team::{Client, Deadlines, Owned};

use super::PATIENCE;
use super::elsewhere::{Installation, TITLE, installations, item_of};
use super::exchange::NO_TEAM;
use super::inbox::files_of;
use super::projects::{TeamProject, team_projects};
use super::state::{ItemId, SharedItem, TeamState};
use super::to_share::ToShare;
use crate::config::Config;
use crate::store::WholeIndex;
use text::clean::{one_line, without_controls};

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
    /// What it has from the user's other installations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) installations: Vec<Installation>,
    /// Names under `[team]` in the config that fit no project of this machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unknown: Vec<String>,
}

/// A project of this machine whose repository has an address, or one of which the server has something from this machine.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ProjectStatus {
    /// Its path; empty if it is excluded, or not here any more.
    pub(crate) project: String,
    /// The address of its repository.
    pub(crate) address: String,
    /// The config lets the team have it.
    pub(crate) share: bool,
    /// The user has seen what leaves of it and agreed.
    pub(crate) confirmed: bool,
    /// Also what came of its sessions.
    pub(crate) sessions: bool,
    /// What the server has from this machine, also what waits to be withdrawn.
    pub(crate) shared: Vec<SharedLine>,
    /// What waits for the next exchange.
    pub(crate) waiting: usize,
    /// What the server is to forget with the next exchange.
    pub(crate) to_withdraw: usize,
    /// What does not go there, and why.
    pub(crate) refused: Vec<RefusedLine>,
    /// Statements that are here of others, and of the user's other machines.
    pub(crate) from_others: usize,
}

/// Something that the server has.
#[derive(Debug, Serialize)]
pub(crate) struct SharedLine {
    pub(crate) kind: String,
    pub(crate) id: String,
    /// In one line.
    pub(crate) text: String,
    /// The server is to forget it with the next exchange.
    pub(crate) to_withdraw: bool,
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

/// What the server has from the user, from wherever they shared it; without an answer of it, what it was told from here.
///
/// # Errors
/// When the user is in no team, or the index cannot be read.
pub(crate) fn status(config: &Config) -> Result<TeamStatus> {
    let Some(mut state) = TeamState::load(&config.data_dir)? else { bail!(NO_TEAM) };
    let (owned, failure) = match there(&state) {
        Ok(owned) => (Some(owned), None),
        Err(e) => (None, Some(one_line(&without_controls(&e.to_string())))),
    };
    let mut status = TeamStatus {
        server: state.shown_address(),
        reached: state.reached_at.map(|at| config.local_time(Some(at), "%Y-%m-%d %H:%M")),
        failure: failure.or_else(|| state.failure_in_words(config)),
        projects: Vec::new(),
        installations: Vec::new(),
        unknown: Vec::new(),
    };
    let Some(store) = WholeIndex::open_if_there(&config.database())? else { return Ok(status) };
    let projects = team_projects(&store, config)?;
    status.unknown = unknown_names(&projects, config);
    let to_share = ToShare::of(&projects, config)?;
    let shared = shared_from_here(&state, owned.as_deref());
    let is_confirmed = |address: &str| state.is_confirmed(address);
    let mut all: Vec<ProjectStatus> = projects.iter().map(|project| of_project(project, config, is_confirmed)).collect();
    // Of two clones of a repository, the first one tells.
    let mut told = BTreeSet::new();
    all.retain(|one| told.insert(one.address.clone()));
    let others: BTreeSet<&String> = shared.keys().map(|id| &id.project).filter(|address| !told.contains(*address)).collect();
    all.extend(others.into_iter().map(|address| ProjectStatus { address: address.clone(), ..ProjectStatus::default() }));
    state.plan(&to_share);
    for one in &mut all {
        for (id, title) in shared.iter().filter(|(id, _)| id.project == one.address) {
            let text = to_share.in_words(id)?.or_else(|| title.clone()).unwrap_or_default();
            let to_withdraw = state.shared.get(id).is_some_and(|known| known.gone);
            one.shared.push(SharedLine { kind: id.kind.clone(), id: id.id.clone(), text, to_withdraw });
        }
        for (id, known) in state.shared.iter().filter(|(id, known)| id.project == one.address && !known.arrived) {
            match &known.refused {
                Some((why, _)) => one.refused.push(refused(id, why)),
                None if known.gone => one.to_withdraw += 1,
                None => match state.why_kept(id, &to_share)? {
                    Some(why) => one.refused.push(refused(id, &why)),
                    None => one.waiting += 1,
                },
            }
        }
        one.refused.extend(to_share.refused.iter().filter(|(id, _)| id.project == one.address).map(|(id, why)| refused(id, why)));
    }
    status.projects = all;
    status.installations = installations(owned.unwrap_or_default(), &state);
    Ok(status)
}

/// All that the server has under the user's login.
fn there(state: &TeamState) -> Result<Vec<Owned>> {
    let deadlines = Deadlines { ask: PATIENCE, pull: PATIENCE, ..Deadlines::default() };
    Ok(Client::join(&state.url, &state.machine, deadlines)?.owned(&TITLE)?)
}

/// What the server has from this machine, with its title if the server told it.
fn shared_from_here(state: &TeamState, owned: Option<&[Owned]>) -> BTreeMap<ItemId, Option<String>> {
    match owned {
        Some(owned) => owned
            .iter()
            .filter(|one| one.machine == state.machine)
            .map(|one| {
                let title = one.title.as_deref().map(|title| one_line(&without_controls(title)));
                (item_of(one), title)
            })
            .collect(),
        None => state.shared.iter().filter(|(_, known)| known.arrived).map(|(id, _)| (id.clone(), None)).collect(),
    }
}

fn of_project(project: &TeamProject, config: &Config, is_confirmed: impl Fn(&str) -> bool) -> ProjectStatus {
    ProjectStatus {
        share: project.consent.share,
        confirmed: project.consent.share && is_confirmed(&project.address),
        sessions: project.consent.share && project.consent.sessions,
        from_others: files_of(&config.data_dir, project.key.as_ref()).len(),
        project: project.key.clone(),
        address: project.address.clone(),
        ..ProjectStatus::default()
    }
}

fn refused(id: &ItemId, why: &str) -> RefusedLine {
    RefusedLine { kind: id.kind.clone(), id: id.id.clone(), why: why.to_owned() }
}

/// Names under `[team]` in the config that fit no project of this machine: mistyped, or of a project that is not here.
///
/// # Errors
/// When the index cannot be read.
pub(crate) fn unknown(config: &Config) -> Result<Vec<String>> {
    let Some(store) = WholeIndex::open_if_there(&config.database())? else { return Ok(Vec::new()) };
    Ok(unknown_names(&team_projects(&store, config)?, config))
}

fn unknown_names(projects: &[TeamProject], config: &Config) -> Vec<String> {
    let known: Vec<(&str, &str)> = projects.iter().map(|one| (one.key.as_str(), one.address.as_str())).collect();
    config.unknown_in_team(&known)
}
