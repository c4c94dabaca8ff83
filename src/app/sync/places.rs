//! Where the user's machines meet: adding, listing and removing such places, the key, and which projects are the same.

use anyhow::{Context, Result, anyhow, bail, ensure};
use sync::{Key, Machine, Record, RecordId, carrier};

use super::state::{self, Place, SyncState};
use super::why;
use crate::config::Config;
use crate::store::WholeIndex;
use crate::sys::{host, private_files};
use crate::text::clean::shorten;

const MAX_NAME_CHARS: usize = 60;
const NOT_A_KEY: &str = "this is no key: `recall sync key` on your other machine prints it";
pub(super) const NO_KEY: &str = "the key of your machines is gone from `sync/key` in the data folder: write there what `recall sync key` prints on another machine";

/// How a place was added.
#[derive(Debug)]
pub(crate) struct AddedPlace {
    pub(crate) address: String,
    pub(crate) encrypted: bool,
    /// The key was made now: the user's other machines need it.
    pub(crate) new_key: bool,
    /// How this machine is called on the others.
    pub(crate) machine: String,
}

/// Whether what lies at a place is encrypted, and with which key.
#[derive(Debug, Clone)]
pub(crate) enum Encryption {
    /// With the key of this machine; one is made if there is none.
    Own,
    /// With the key of another machine of the user's.
    With(String),
    /// Not at all.
    Off,
}

/// Adds a place. Nothing is exchanged yet.
///
/// # Errors
/// When the address means nothing, the place cannot be reached, or the key is another one.
pub(crate) fn add(config: &Config, address: &str, encryption: &Encryption, name: Option<&str>) -> Result<AddedPlace> {
    private_files::create_dir(&config.data_dir).with_context(|| format!("cannot create {}", config.data_dir.display()))?;
    let address = absolute(address)?;
    let known = SyncState::load(&config.data_dir)?;
    let stored = state::key(&config.data_dir)?;
    if let Some(state) = known.as_ref().filter(|state| state.places.iter().any(|place| place.address == address)) {
        let machine = state.me.name.clone();
        match encryption {
            Encryption::With(text) if stored.is_none_or(|stored| stored.text() != text.trim()) => change_key(config, text)?,
            _ => bail!("`{address}` is set up already"),
        }
        return Ok(AddedPlace { address, encrypted: true, new_key: false, machine });
    }
    let place = carrier(&address)?;
    let is_shared = place.list()?.iter().any(|entry| entry.name.ends_with(".manifest"));
    let (key, new_key) = match encryption {
        Encryption::Off => (None, false),
        Encryption::With(text) => {
            let key = Key::parse(text.trim()).context(NOT_A_KEY)?;
            if let Some(stored) = &stored {
                ensure!(
                    stored.text() == key.text(),
                    "this machine has another key already: give your other machines that one, which `recall sync key` prints"
                );
            }
            (Some(key), false)
        }
        Encryption::Own => match stored {
            Some(key) => (Some(key), false),
            None if is_shared => bail!(
                "another machine uses `{address}` already, and this one has no key yet: run `recall sync key` there and `recall sync add {address} --key FILE` here"
            ),
            None => (Some(Key::generate()), true),
        },
    };
    let is_named = name.is_some();
    let name = name.map_or_else(host::name, str::to_owned);
    let mut state = match known {
        Some(state) => state,
        None => SyncState::new(Machine::new(String::new())?),
    };
    if state.me.name.is_empty() || is_named {
        state.me.name = shorten(&name, MAX_NAME_CHARS);
    }
    let encrypted = key.is_some();
    if let Some(key) = &key {
        state::save_key(&config.data_dir, key)?;
    }
    // It may have told there before.
    let outbox = state::load_outbox(&config.data_dir, &address)?;
    let mut added = Place { address: address.clone(), told_as: state.me.id.clone(), encrypted, outbox, inbox: Default::default() };
    // So that a machine that comes next knows of this one, and of its key.
    tell_only(Some(greeting(&state.me)), config, &state.me, &mut added).map_err(|e| anyhow!(why(&e)))?;
    state.places.push(added);
    state.save(&config.data_dir)?;
    Ok(AddedPlace { address, encrypted, new_key, machine: state.me.name })
}

/// Takes the key of another machine in place of the own one: what was told is told anew with it.
fn change_key(config: &Config, text: &str) -> Result<()> {
    let key = Key::parse(text.trim()).context(NOT_A_KEY)?;
    let mut state = SyncState::load(&config.data_dir)?.context("no place is set up")?;
    for place in &mut state.places {
        sync::remove_machine(carrier(&place.address)?.as_ref(), &state.me.id)?;
        place.inbox.reset();
        place.outbox = Default::default();
        place.encrypted = true;
        state::remove_outbox(&config.data_dir, &place.address);
    }
    state::save_key(&config.data_dir, &key)?;
    state.save(&config.data_dir)
}

/// A record without which a machine that has nothing to tell would not be seen.
pub(super) fn greeting(me: &Machine) -> RecordId {
    RecordId { kind: "machine".to_owned(), id: me.id.clone() }
}

/// The record of a greeting.
pub(super) fn greeting_record(id: &RecordId) -> Result<Record> {
    Ok(Record { id: id.clone(), version: 1, body: Some(serde_json::value::to_raw_value(&())?) })
}

/// Tells at a place a greeting or nothing, and nothing else.
fn tell_only(greeting: Option<RecordId>, config: &Config, me: &Machine, place: &mut Place) -> Result<()> {
    let key = if place.encrypted { state::key(&config.data_dir)? } else { None };
    let mut load = greeting_record;
    let address = place.address.clone();
    let mut save = |outbox: &sync::Outbox| state::save_outbox(&config.data_dir, &address, outbox);
    let now = greeting.into_iter().map(|greeting| (greeting, 1)).collect();
    place.outbox.publish(carrier(&place.address)?.as_ref(), key.as_ref(), me, &now, &mut load, &mut save)?;
    Ok(())
}

/// A folder as a full path: the timer runs elsewhere.
fn absolute(address: &str) -> Result<String> {
    if address.contains("://") {
        return Ok(address.trim_end_matches('/').to_owned());
    }
    let path = std::path::absolute(address).with_context(|| format!("`{address}` is no folder"))?;
    let path = path.to_str().context("the folder's name is not UTF-8")?;
    Ok(path.trim_end_matches('/').to_owned())
}

/// Ends the exchange at a place: what this machine told there is deleted, and goes from the other machines; what it heard stays.
///
/// # Errors
/// When it is not set up, or cannot be reached.
pub(crate) fn remove(config: &Config, address: &str) -> Result<String> {
    let mut state = SyncState::load(&config.data_dir)?.context("no place is set up")?;
    let address = absolute(address)?;
    let Some(at) = state.places.iter().position(|place| place.address == address) else {
        bail!("`{address}` is not set up: `recall sync status` lists the places");
    };
    let mut place = state.places.remove(at);
    // With nothing in it: so the other machines hear that it was withdrawn. Where that cannot be written, all of it is deleted.
    if tell_only(None, config, &state.me, &mut place).is_err() {
        sync::remove_machine(carrier(&address)?.as_ref(), &state.me.id)?;
    }
    // What was told last is still known, should it tell there again: others would not listen to one that begins anew.
    state.save(&config.data_dir)?;
    Ok(address)
}

/// Deletes what a machine that is no more left at all places. What the others heard of it stays.
///
/// # Errors
/// When no machine is called so, or a place cannot be reached.
pub(crate) fn forget_machine(config: &Config, name: &str) -> Result<usize> {
    let state = SyncState::load(&config.data_dir)?.context("no place is set up")?;
    let (mut known, mut removed) = (false, 0);
    for place in &state.places {
        for (machine, _) in place.inbox.machines().filter(|(machine, _)| machine.name == name || machine.id == name) {
            known = true;
            removed += sync::remove_machine(carrier(&place.address)?.as_ref(), &machine.id)?;
        }
    }
    ensure!(known, "no machine is called `{name}`: `recall sync status` lists them");
    Ok(removed)
}

/// The key of this user's machines, as text.
///
/// # Errors
/// When there is none.
pub(crate) fn key_text(config: &Config) -> Result<String> {
    let key = state::key(&config.data_dir)?.context("this machine has no key: `recall sync add` makes one")?;
    Ok(key.text())
}

/// Says which project here is one of another machine's. Sessions that came in move with the next exchange.
///
/// # Errors
/// When nothing is set up.
pub(crate) fn choose_project(config: &Config, there: &str, here: &str) -> Result<()> {
    let mut state = SyncState::load(&config.data_dir)?.context("no place is set up")?;
    let here = absolute(here)?;
    state.projects.chosen.insert(there.to_owned(), here);
    // What was heard is heard again, and put in its place.
    state.places.iter_mut().for_each(|place| place.inbox.reset());
    state.save(&config.data_dir)
}

/// What is set up, and what was heard of whom.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct SyncStatus {
    /// What this machine is called on the others; empty where no place was ever set up.
    pub(crate) machine: String,
    pub(crate) places: Vec<PlaceStatus>,
    /// Projects of other machines that are one here, by that machine's name for them.
    pub(crate) projects: std::collections::BTreeMap<String, String>,
    /// Sessions here that came from other machines.
    pub(crate) sessions: usize,
}

#[derive(Debug, serde::Serialize)]
pub(crate) struct PlaceStatus {
    pub(crate) address: String,
    pub(crate) encrypted: bool,
    /// The other machines, each with how many records it tells.
    pub(crate) machines: Vec<(String, usize)>,
}

/// # Errors
/// When what is known of the exchange cannot be read.
pub(crate) fn status(config: &Config) -> Result<SyncStatus> {
    let Some(state) = SyncState::load(&config.data_dir)? else { return Ok(SyncStatus::default()) };
    let sessions = match crate::store::is_there(&config.database())? {
        true => WholeIndex::open(&config.database())?.sessions_from_afar()?.len(),
        false => 0,
    };
    let places = state.places.iter().map(|place| PlaceStatus {
        address: place.address.clone(),
        encrypted: place.encrypted,
        machines: place.inbox.machines().map(|(machine, records)| (machine.name.clone(), records)).collect(),
    });
    Ok(SyncStatus { machine: state.me.name, places: places.collect(), projects: state.projects.chosen, sessions })
}

/// Every place with the names of the other machines that were heard of there, or why it cannot be reached now.
///
/// # Errors
/// When what is known of the exchange cannot be read.
pub(crate) fn look(config: &Config) -> Result<Vec<(String, Result<Vec<String>>)>> {
    let Some(state) = SyncState::load(&config.data_dir)? else { return Ok(Vec::new()) };
    let reached = |place: &Place| -> Result<Vec<String>> {
        if place.encrypted {
            state::key(&config.data_dir)?.context(NO_KEY)?;
        }
        carrier(&place.address)?.list()?;
        Ok(place.inbox.machines().map(|(machine, _)| machine.name.clone()).collect())
    };
    Ok(state.places.iter().map(|place| (place.address.clone(), reached(place))).collect())
}
