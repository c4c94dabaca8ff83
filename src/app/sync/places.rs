//! Where the user's machines meet: adding, listing and removing such places, the key, and which projects are the same.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use sync::{History, Key, Machine, Record, RecordId, carrier};

use super::names::{ID_CHARS, MAX_NAME_CHARS, MachineNames, means};
use super::state::{self, Place, SyncState};
use super::{is_gone, why};
use crate::app::digest::alone;
use crate::config::Config;
use crate::store::WholeIndex;
use crate::sys::messages::Ui;
use crate::sys::{host, private_files};
use text::clean::shorten;
use transcripts::session::Millis;

const NOT_A_KEY: &str = "this is no key: `recall sync key --output FILE` on your other machine writes it";
pub(super) const NO_KEY: &str = "the key of your machines is gone: run `recall sync key --output FILE` on another machine, and move FILE to `sync/key` in the data folder of this one";

pub(super) const GONE: &str = "the folder is not there: is its disk mounted? If you deleted it, run `recall sync remove` and then `recall sync add` with this place";

/// How a place was added, or changed.
#[derive(Debug)]
pub(crate) struct AddedPlace {
    pub(crate) address: String,
    pub(crate) encrypted: bool,
    /// The key was made now: the user's other machines need it.
    pub(crate) new_key: bool,
    /// It was set up before, with the same key.
    pub(crate) change: Option<PlaceChange>,
    /// What keeps there what is deleted, as far as it was looked for: see [`look_for_history`].
    pub(crate) history: Option<History>,
    /// How this machine is called on the others.
    pub(crate) machine: String,
}

/// What is different of a place that was set up before, with the same key.
#[derive(Debug)]
pub(crate) struct PlaceChange {
    /// This machine has another name.
    pub(crate) renamed: bool,
    /// Whether deleted files are kept there was looked for again.
    pub(crate) looked: bool,
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

/// A place to be added or changed.
#[derive(Debug)]
pub(crate) struct PlaceRequest<'a> {
    pub(crate) address: &'a str,
    pub(crate) encryption: Encryption,
    /// How this machine is called from now on.
    pub(crate) name: Option<&'a str>,
    /// The user accepts that the place keeps what is deleted.
    pub(crate) keeps_history: bool,
}

/// Adds a place, or changes the key or this machine's name where it is set up. Nothing is exchanged yet.
///
/// # Errors
/// When the address means nothing, the place cannot be reached, it keeps what is deleted and the user does not accept that, the key is another
/// one, or another machine has the name.
pub(crate) fn add(config: &Config, asked: &PlaceRequest<'_>) -> Result<AddedPlace> {
    alone(config, &Ui::default(), || add_alone(config, asked))
}

fn add_alone(config: &Config, asked: &PlaceRequest<'_>) -> Result<AddedPlace> {
    let &PlaceRequest { address, ref encryption, name, keeps_history } = asked;
    let address = absolute(address)?;
    let known = SyncState::load(&config.data_dir)?;
    let stored = state::key(&config.data_dir)?;
    let name = name.map(|name| shorten(name.trim(), MAX_NAME_CHARS));
    ensure!(name.as_ref().is_none_or(|name| !name.is_empty()), "the name is empty");
    let known = match known {
        Some(state) if state.places.iter().any(|place| place.address == address) => {
            return change(config, state, &address, (encryption, stored), name, keeps_history);
        }
        known => known,
    };
    let place = carrier(&address)?;
    let is_shared = place.list()?.iter().any(|entry| entry.name.ends_with(".manifest"));
    let history = look_for_history(place.as_ref(), &address, keeps_history)?;
    let (key, new_key) = match encryption {
        Encryption::Off => (None, false),
        Encryption::With(text) => {
            let key = Key::parse(text.trim()).context(NOT_A_KEY)?;
            if let Some(stored) = &stored {
                ensure!(
                    stored.text() == key.text(),
                    "this machine has another key already: give your other machines that one, which `recall sync key --output FILE` writes"
                );
            }
            (Some(key), false)
        }
        Encryption::Own => match stored {
            Some(key) => (Some(key), false),
            None if is_shared => bail!(
                "another machine uses `{address}` already, and this one has no key yet: run `recall sync key --output FILE` there, move FILE here, run `recall sync add {address} --key FILE`, and delete FILE"
            ),
            None => (Some(Key::generate()), true),
        },
    };
    let mut state = match known {
        Some(state) => state,
        None => SyncState::new(Machine::new(String::new())?),
    };
    match name {
        Some(name) => state.me.name = name,
        None if state.me.name.is_empty() => state.me.name = shorten(&host::name(), MAX_NAME_CHARS),
        None => {}
    }
    ensure_free(&state, &address, key.as_ref())?;
    let encrypted = key.is_some();
    if let Some(key) = &key {
        state::save_key(&config.data_dir, key)?;
    }
    // It may have told there before.
    let mut outbox = state::load_outbox(&config.data_dir, &address)?;
    // If it is gone since, the user wants it anew.
    outbox.begin_anew();
    let mut added = Place {
        address: address.clone(),
        told_as: state.me.id.clone(),
        encrypted,
        outbox,
        inbox: Default::default(),
        exchanged_at: None,
        records: 1,
        news: BTreeMap::new(),
        history: history.as_ref().map(|history| history.keeper().to_owned()),
    };
    // So that a machine that comes next knows of this one, and of its key.
    tell_only(Some(greeting(&state.me)), config, &state.me, &mut added).map_err(|e| anyhow!(why(&e)))?;
    state.places.push(added);
    state.save(&config.data_dir)?;
    Ok(AddedPlace { address, encrypted, new_key, change: None, history, machine: state.me.name })
}

/// What keeps there what is deleted.
///
/// # Errors
/// When something does, and the user does not accept it.
fn look_for_history(place: &dyn sync::Carrier, address: &str, accepted: bool) -> Result<Option<History>> {
    let history = place.history()?;
    if let Some(history) = history.as_ref().filter(|_| !accepted) {
        bail!(
            "{address}: {history}. What you forget would stay in its history. {}. To use this place all the same: `--keeps-history`",
            way_out(history)
        );
    }
    Ok(history)
}

/// What can be done about a place that keeps what is deleted, without the end of the sentence.
pub(crate) fn way_out(history: &History) -> &'static str {
    match history {
        History::Repository { program: "git", .. } => "Use another folder, or have git ignore this one (`.gitignore`)",
        History::Repository { .. } => "Use another folder",
        History::Syncthing { .. } => {
            "Turn file versioning off for this folder in Syncthing, on all your machines, and delete `.stversions`; or use another folder"
        }
        History::Bucket => "Suspend versioning, and delete the old versions; or use another bucket",
    }
}

/// Refuses the name of this machine if another one has it, at a place or by what was heard.
fn ensure_free(state: &SyncState, address: &str, key: Option<&Key>) -> Result<()> {
    let heard = state.places.iter().flat_map(|place| place.inbox.machines()).map(|(machine, _)| machine.clone());
    let mut others = sync::machines_at(carrier(address)?.as_ref(), key)?.into_iter().chain(heard);
    let name = &state.me.name;
    ensure!(
        !others.any(|other| other.id != state.me.id && other.name == *name),
        "another machine is called `{name}` already: give this one another name with `--name NAME`"
    );
    Ok(())
}

/// Refuses a place that cannot be reached, and a folder that is gone: what this machine told there may come back.
fn ensure_there(place: &Place) -> Result<()> {
    match place.outbox.list(carrier(&place.address)?.as_ref()) {
        Err(sync::Error::Gone { .. }) => bail!("{}: {GONE}", place.address),
        listed => Ok(listed.map(drop)?),
    }
}

/// Changes a place that is set up: its key, this machine's name, or whether it may keep what is deleted.
fn change(
    config: &Config,
    mut state: SyncState,
    address: &str,
    (encryption, stored): (&Encryption, Option<Key>),
    name: Option<String>,
    keeps_history: bool,
) -> Result<AddedPlace> {
    let new_key = match encryption {
        Encryption::With(text) => {
            let key = Key::parse(text.trim()).context(NOT_A_KEY)?;
            stored.as_ref().is_none_or(|stored| stored.text() != key.text()).then_some(key)
        }
        Encryption::Own | Encryption::Off => None,
    };
    let is_encrypted = state.places.iter().any(|place| place.address == address && place.encrypted);
    let is_renamed = name.as_ref().is_some_and(|name| *name != state.me.name);
    let opens_up = matches!(encryption, Encryption::Off) && is_encrypted;
    ensure!(
        new_key.is_some() || (is_renamed || keeps_history) && !opens_up,
        "`{address}` is set up already; `--name NAME` gives this machine another name, `--key FILE` another key, and `--keeps-history` accepts that the place keeps what is deleted"
    );
    // Another key is for all places.
    state.places.iter().filter(|place| new_key.is_some() || place.address == address).try_for_each(ensure_there)?;
    let history = if keeps_history { look_for_history(carrier(address)?.as_ref(), address, true)? } else { None };
    if keeps_history {
        let keeper = history.as_ref().map(|history| history.keeper().to_owned());
        state.places.iter_mut().filter(|place| place.address == address).for_each(|place| place.history.clone_from(&keeper));
    }
    if let Some(name) = name {
        state.me.name = name;
    }
    ensure_free(&state, address, new_key.as_ref().or(stored.as_ref().filter(|_| is_encrypted)))?;
    let change = new_key.is_none().then_some(PlaceChange { renamed: is_renamed, looked: keeps_history });
    match &new_key {
        Some(key) => change_key(config, &mut state, key)?,
        None => state.save(&config.data_dir)?,
    }
    let encrypted = is_encrypted || change.is_none();
    Ok(AddedPlace { address: address.to_owned(), encrypted, new_key: false, change, history, machine: state.me.name })
}

/// Takes the key of another machine in place of the own one: what was told is told anew with it.
fn change_key(config: &Config, state: &mut SyncState, key: &Key) -> Result<()> {
    for place in &mut state.places {
        sync::remove_machine(carrier(&place.address)?.as_ref(), &state.me.id)?;
        place.inbox.reset();
        place.outbox = Default::default();
        place.encrypted = true;
        state::remove_outbox(&config.data_dir, &place.address);
    }
    state::save_key(&config.data_dir, key)?;
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

/// A place that was removed.
#[derive(Debug)]
pub(crate) struct RemovedPlace {
    pub(crate) address: String,
    /// Otherwise nothing was deleted.
    pub(crate) was_there: bool,
}

/// Ends the exchange at a place: what this machine told there is deleted, and goes from the other machines; what it heard stays.
///
/// # Errors
/// When it is not set up, or cannot be reached. A folder that is gone is no error.
pub(crate) fn remove(config: &Config, address: &str) -> Result<RemovedPlace> {
    alone(config, &Ui::default(), || remove_alone(config, address))
}

fn remove_alone(config: &Config, address: &str) -> Result<RemovedPlace> {
    let mut state = SyncState::load(&config.data_dir)?.context("no place is set up")?;
    let address = absolute(address)?;
    let Some(at) = state.places.iter().position(|place| place.address == address) else {
        bail!("`{address}` is not set up: `recall sync status` lists the places");
    };
    let mut place = state.places.remove(at);
    // With nothing in it: so the other machines hear that it was withdrawn. Where that cannot be written, all of it is deleted.
    let told = tell_only(None, config, &state.me, &mut place);
    let was_there = !told.as_ref().is_err_and(is_gone);
    if told.is_err() && was_there {
        sync::remove_machine(carrier(&address)?.as_ref(), &state.me.id)?;
    }
    // What was told last is still known, should it tell there again: others would not listen to one that begins anew.
    state.save(&config.data_dir)?;
    Ok(RemovedPlace { address, was_there })
}

/// Deletes what a machine that is no more left at all places. What the others heard of it stays.
///
/// # Errors
/// When no machine is called so, several are, it is this one, or a place cannot be reached.
pub(crate) fn forget_machine(config: &Config, name: &str) -> Result<usize> {
    let state = SyncState::load(&config.data_dir)?.context("no place is set up")?;
    let heard = state.places.iter().flat_map(|place| place.inbox.machines()).map(|(machine, _)| machine);
    let meant: BTreeMap<&str, &Machine> =
        heard.chain([&state.me]).filter(|machine| means(name, machine)).map(|machine| (machine.id.as_str(), machine)).collect();
    let ids: Vec<&str> = meant.keys().copied().collect();
    let id = match ids.as_slice() {
        [] => bail!("no machine is called `{name}`: `recall sync status` lists them"),
        [id] if *id == state.me.id => {
            bail!("this machine is called `{name}`: `recall sync remove PLACE` withdraws what it wrote")
        }
        [id] => *id,
        ids => {
            let mine = |id: &&str| if **id == state.me.id { format!("{id} (this machine)") } else { (*id).to_owned() };
            let ids: Vec<String> = ids.iter().map(mine).collect();
            bail!(
                "{} machines are called `{name}`: give the id of the one that you mean, or its first {ID_CHARS} digits: {}",
                ids.len(),
                ids.join(", ")
            )
        }
    };
    state.places.iter().try_for_each(ensure_there)?;
    let mut removed = 0;
    for place in &state.places {
        removed += sync::remove_machine(carrier(&place.address)?.as_ref(), id)?;
    }
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

/// Writes the key of this user's machines to a new file that only the user can read.
///
/// # Errors
/// When there is no key, something is there already, or the folder cannot be written.
pub(crate) fn write_key(config: &Config, file: &Path) -> Result<()> {
    let text = key_text(config)?;
    private_files::create_new(file, format!("{text}\n").as_bytes()).with_context(|| format!("cannot write {}", file.display()))
}

/// Says which project here is one of another machine's. Sessions that came in move with the next exchange.
///
/// # Errors
/// When nothing is set up.
pub(crate) fn choose_project(config: &Config, there: &str, here: &str) -> Result<()> {
    alone(config, &Ui::default(), || {
        let mut state = SyncState::load(&config.data_dir)?.context("no place is set up")?;
        let here = absolute(here)?;
        ensure!(Path::new(&here).is_dir(), "`{here}` is no folder of this machine");
        state.projects.chosen.insert(there.to_owned(), here);
        // What was heard is heard again, and put in its place.
        state.places.iter_mut().for_each(|place| place.inbox.reset());
        state.save(&config.data_dir)
    })
}

/// What is set up, and what was heard of whom.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct SyncStatus {
    /// What this machine is called on the others; empty where no place was ever set up.
    pub(crate) machine: String,
    /// Its id.
    pub(crate) id: String,
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
    /// What keeps there what was deleted, which the user accepted: `git`, `syncthing`, `bucket` …
    pub(crate) history: Option<String>,
    /// When this machine last read and wrote there, in milliseconds since the Unix epoch; `None` before the first time.
    pub(crate) exchanged_at: Option<Millis>,
    /// How many records this machine has there.
    pub(crate) records: usize,
    /// The other machines.
    pub(crate) machines: Vec<MachineStatus>,
}

/// Another machine at a place.
#[derive(Debug, serde::Serialize)]
pub(crate) struct MachineStatus {
    pub(crate) name: String,
    pub(crate) id: String,
    /// How many records it has there.
    pub(crate) records: usize,
    /// When something new of it was last read here.
    pub(crate) news_at: Option<Millis>,
}

/// # Errors
/// When what is known of the exchange cannot be read.
pub(crate) fn status(config: &Config) -> Result<SyncStatus> {
    let Some(state) = SyncState::load(&config.data_dir)? else { return Ok(SyncStatus::default()) };
    let (sessions, stored) = match crate::store::is_there(&config.database())? {
        true => {
            let index = WholeIndex::open(&config.database())?;
            (index.sessions_from_afar()?.len(), index.machines_from_afar()?)
        }
        false => (0, Vec::new()),
    };
    let names = names(config, &state, stored)?;
    let places = state.places.iter().map(|place| PlaceStatus {
        address: place.address.clone(),
        encrypted: place.encrypted,
        history: place.history.clone(),
        exchanged_at: place.exchanged_at,
        records: place.records,
        machines: place
            .inbox
            .machines()
            .map(|(machine, records)| MachineStatus {
                name: names.called(machine),
                id: machine.id.clone(),
                records,
                news_at: place.news.get(&machine.id).map(|news| news.at),
            })
            .collect(),
    });
    let (machine, places) = (names.called(&state.me), places.collect());
    Ok(SyncStatus { machine, id: state.me.id, places, projects: state.projects.chosen, sessions })
}

/// What all known machines are called here.
fn names(config: &Config, state: &SyncState, stored: Vec<(String, String)>) -> Result<MachineNames> {
    let sanitizer = config.sanitizer()?;
    Ok(MachineNames::of(&state.me, &state.places, stored, |name| sanitizer.clean(name)))
}

/// The places as they are now.
#[derive(Debug, Default)]
pub(crate) struct PlacesNow {
    /// What this machine is called.
    pub(crate) me: String,
    /// By address, each with what is there, or why it cannot be reached.
    pub(crate) places: Vec<(String, Result<PlaceNow>)>,
}

/// A place that can be reached.
#[derive(Debug)]
pub(crate) struct PlaceNow {
    /// The names of the other machines that were heard of there.
    pub(crate) machines: Vec<String>,
    /// What keeps there what is deleted.
    pub(crate) history: Option<History>,
    /// The user knows that.
    pub(crate) is_accepted: bool,
}

/// Looks whether the places can be reached, and whether they keep what is deleted.
///
/// # Errors
/// When what is known of the exchange cannot be read.
pub(crate) fn look(config: &Config) -> Result<PlacesNow> {
    let Some(state) = SyncState::load(&config.data_dir)? else { return Ok(PlacesNow::default()) };
    let names = names(config, &state, Vec::new())?;
    let reached = |place: &Place| -> Result<PlaceNow> {
        if place.encrypted {
            state::key(&config.data_dir)?.context(NO_KEY)?;
        }
        let carrier = carrier(&place.address)?;
        match place.outbox.list(carrier.as_ref()) {
            Err(sync::Error::Gone { .. }) => bail!(GONE),
            listed => drop(listed?),
        }
        Ok(PlaceNow {
            machines: place.inbox.machines().map(|(machine, _)| names.called(machine)).collect(),
            history: carrier.history()?,
            is_accepted: place.history.is_some(),
        })
    };
    let places = state.places.iter().map(|place| (place.address.clone(), reached(place))).collect();
    Ok(PlacesNow { me: names.called(&state.me), places })
}
