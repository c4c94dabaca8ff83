//! What the next exchange would do, before anything leaves: for whoever wants to see it, and for their first word on a project.

use anyhow::{Result, bail};

use super::exchange::NO_TEAM;
use super::projects::team_projects;
use super::state::TeamState;
use super::to_share::ToShare;
use crate::config::Config;
use crate::store::WholeIndex;

/// What would be sent of a project.
#[derive(Debug)]
pub(crate) struct PlannedProject {
    /// The address of its repository.
    pub(crate) address: String,
    /// The user has said yes to sharing it.
    pub(crate) is_confirmed: bool,
    /// Kind and text of each, in one line.
    pub(crate) to_send: Vec<(String, String)>,
    /// What stays here, as a policy of the team forbids it: kind, why, and how many records.
    pub(crate) kept: Vec<(String, String, usize)>,
    /// How many records the server would forget.
    pub(crate) to_withdraw: usize,
}

/// Of all projects in which there is something to do. Nothing is changed, and the server is not asked.
///
/// # Errors
/// When the user is in no team, or the index cannot be read.
pub(crate) fn planned(config: &Config) -> Result<Vec<PlannedProject>> {
    let Some(mut state) = TeamState::load(&config.data_dir)? else { bail!(NO_TEAM) };
    let Some(store) = WholeIndex::open_if_there(&config.database())? else { return Ok(Vec::new()) };
    let projects = team_projects(&store, config)?;
    let to_share = ToShare::of(&projects, config)?;
    state.plan(&to_share);
    let (send, withdraw) = (state.to_send(config.now(), true), state.to_withdraw());
    let mut addresses: Vec<&str> = send.iter().chain(&withdraw).map(|(id, _)| id.project.as_str()).collect();
    addresses.extend(projects.iter().filter(|one| one.consent.share).map(|one| one.address.as_str()));
    addresses.sort_unstable();
    addresses.dedup();
    let mut all = Vec::new();
    for address in addresses {
        let mut one = PlannedProject {
            address: address.to_owned(),
            is_confirmed: state.is_confirmed(address),
            to_send: Vec::new(),
            kept: Vec::new(),
            to_withdraw: withdraw.iter().filter(|(id, _)| id.project == address).count(),
        };
        for (id, _) in send.iter().filter(|(id, _)| id.project == address) {
            let Some(why) = state.why_kept(id, &to_share)? else {
                one.to_send.push((id.kind.clone(), to_share.in_words(id)?.unwrap_or_default()));
                continue;
            };
            match one.kept.iter_mut().find(|(kind, other, _)| (kind.as_str(), other.as_str()) == (&id.kind, &why)) {
                Some((.., count)) => *count += 1,
                None => one.kept.push((id.kind.clone(), why, 1)),
            }
        }
        if !one.to_send.is_empty() || one.to_withdraw > 0 || !one.is_confirmed {
            all.push(one);
        }
    }
    Ok(all)
}
