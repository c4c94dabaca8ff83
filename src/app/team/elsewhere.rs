//! What the server has from the user's other installations: another machine, or a data folder that is gone. It knows each by a name of its own.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use anyhow::{Result, bail, ensure};
use serde::Serialize;
use team::{Client, Deadlines, Owned, Withdrawal};

use super::exchange::{NO_TEAM, record_id};
use super::state::{ItemId, TeamState};
use super::to_share::{SESSION, USAGE};
use crate::app::digest::alone;
use crate::config::Config;
use crate::sys::messages::Ui;
use text::clean::{one_line, without_controls};

/// The fields of a body that tell what it is about.
pub(super) const TITLE: [&str; 3] = ["title", "text", "day"];
/// Kinds that each installation makes of what ran there: that one has nothing of it any more says nothing about another.
const MADE: [&str; 2] = ["command", "cure"];
/// The fewest characters by which an installation is named.
const MIN_NAME: usize = 6;

/// One of the user's installations that is not this one.
#[derive(Debug, Serialize)]
pub(crate) struct Installation {
    /// What the server knows it by.
    pub(crate) name: String,
    /// What it shares.
    pub(crate) shared: Vec<SharedElsewhere>,
}

/// Something that another installation shares.
#[derive(Debug, Serialize)]
pub(crate) struct SharedElsewhere {
    /// The address of the repository.
    pub(crate) project: String,
    pub(crate) kind: String,
    pub(crate) id: String,
    /// In one line.
    pub(crate) text: String,
}

/// What a record is to this installation, whichever shared it.
pub(super) fn item_of(one: &Owned) -> ItemId {
    ItemId { project: one.project.clone(), kind: one.kind.clone(), id: one.id.clone() }
}

/// By installation, without this one.
pub(super) fn installations(all: Vec<Owned>, state: &TeamState) -> Vec<Installation> {
    let mut by_name: BTreeMap<String, Vec<SharedElsewhere>> = BTreeMap::new();
    for one in all.into_iter().filter(|one| one.machine != state.machine) {
        let text = one_line(&without_controls(&one.title.unwrap_or_default()));
        by_name.entry(one.machine).or_default().push(SharedElsewhere { project: one.project, kind: one.kind, id: one.id, text });
    }
    by_name.into_iter().map(|(name, shared)| Installation { name, shared }).collect()
}

/// Withdraws what the user forgot or keeps back here and shared from other installations: these sessions, and notes that are among `gone`. Returns how
/// many.
///
/// # Errors
/// When the server does not do it.
pub(super) fn withdraw_forgotten(
    client: &mut Client,
    state: &TeamState,
    sessions: &HashSet<String>,
    gone: &BTreeSet<ItemId>,
) -> Result<usize> {
    let is_forgotten = |one: &Owned| match one.kind.as_str() {
        SESSION | USAGE => sessions.contains(&one.id),
        kind => !MADE.contains(&kind) && gone.contains(&item_of(one)),
    };
    let all = client.owned(&[])?;
    let doomed: Vec<Owned> = all.into_iter().filter(|one| one.machine != state.machine && is_forgotten(one)).collect();
    withdraw_all(client, &doomed)
}

/// Withdraws all that another installation of the user's shared. Returns how many records that was.
///
/// # Errors
/// When the user is in no team, the server does not do it, or there is none whose name begins like this.
pub(crate) fn withdraw(config: &Config, name: &str) -> Result<usize> {
    alone(config, &Ui::default(), || {
        let Some(state) = TeamState::load(&config.data_dir)? else { bail!(NO_TEAM) };
        let mut client = Client::join(&state.url, &state.machine, Deadlines::default())?;
        let mut all = client.owned(&[])?;
        all.retain(|one| one.machine != state.machine);
        let names: BTreeSet<&str> = all.iter().map(|one| one.machine.as_str()).collect();
        let fitting: Vec<&str> = match names.get(name) {
            Some(whole) => vec![*whole],
            None => names.iter().filter(|one| name.len() >= MIN_NAME && one.starts_with(name)).copied().collect(),
        };
        ensure!(
            fitting.len() == 1,
            "none of your other machines on the server, or more than one, is called `{name}`: `recall team status` names them"
        );
        let name = fitting[0].to_owned();
        all.retain(|one| one.machine == name);
        withdraw_all(&mut client, &all)
    })
}

/// In the order of their machines.
fn withdraw_all(client: &mut Client, doomed: &[Owned]) -> Result<usize> {
    let mut by_machine: BTreeMap<&str, Vec<Withdrawal>> = BTreeMap::new();
    for one in doomed {
        let withdrawal = Withdrawal { id: record_id(&item_of(one)), version: one.version };
        by_machine.entry(&one.machine).or_default().push(withdrawal);
    }
    for (machine, records) in by_machine {
        client.withdraw_of(machine, &records)?;
    }
    Ok(doomed.len())
}
