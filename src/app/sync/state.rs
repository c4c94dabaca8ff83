//! What this machine knows of the exchange: who it is, where it exchanges, what it told and heard. A file of its own in `sync/` of the data
//! folder, with the key beside it. It holds ids, versions and hashes, and no text of a session or note.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sync::{Inbox, Key, Machine, Outbox, RecordId};

use super::projects::PlacedProjects;
use crate::inputs::sync_places;
use crate::sys::{data_folder, map_as_list, private_files};
use transcripts::session::Millis;

/// All that is kept between two exchanges.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SyncState {
    pub(super) me: Machine,
    pub(super) places: Vec<Place>,
    /// Counts exchanges. The index has the same number: another one means that the index comes from a copy, or was made anew.
    pub(super) exchanges: u64,
    /// The highest count in a version that was seen: see [`super::said`].
    pub(super) last_count: u64,
    /// What people said, as it stands.
    #[serde(with = "map_as_list")]
    pub(super) said: BTreeMap<RecordId, Said>,
    /// What came of things that are not here: a closed item of a session that no machine tells of. Without its text.
    #[serde(with = "map_as_list")]
    pub(super) waiting: BTreeMap<RecordId, String>,
    pub(super) projects: PlacedProjects,
}

/// Something that several machines share: a folder, a host, a bucket.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) address: String,
    /// The id under which this machine told what lies there: see [`SyncState::go_on_as_another`].
    #[serde(default)]
    pub(super) told_as: String,
    /// Nobody who sees what lies there can read it.
    pub(super) encrypted: bool,
    /// What keeps there what was deleted, in one word, where the user accepted it.
    #[serde(default)]
    pub(super) history: Option<String>,
    /// In a file of its own, because it is written in the middle of an exchange.
    #[serde(skip)]
    pub(super) outbox: Outbox,
    #[serde(default)]
    pub(super) inbox: Inbox,
    /// When this machine last read and wrote there.
    #[serde(default)]
    pub(super) exchanged_at: Option<Millis>,
    /// How many records this machine has there.
    #[serde(default)]
    pub(super) records: usize,
    /// The last news of each other machine, by id.
    #[serde(default)]
    pub(super) news: BTreeMap<String, News>,
}

/// The last that a machine published: reading the same again is no news.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct News {
    generation: u64,
    /// When it was read here.
    pub(super) at: Millis,
}

impl Place {
    /// Takes note of what other machines published since.
    pub(super) fn note_news(&mut self, now: Millis) {
        for (machine, _) in self.inbox.machines() {
            let Some(generation) = self.inbox.generation(&machine.id) else { continue };
            if self.news.get(&machine.id).is_none_or(|news| news.generation < generation) {
                self.news.insert(machine.id.clone(), News { generation, at: now });
            }
        }
    }
}

/// The last word on a note, on whether an item is closed, and the like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Said {
    pub(super) version: u64,
    /// The machine that said it.
    pub(super) machine: String,
    /// It was taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) gone: bool,
    /// Of what is stored of it here; `None` where nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hash: Option<u64>,
    /// The version of the word on the same note that it was said over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) over: Option<u64>,
    /// This machine said it since the last exchange: no other one knows of it.
    #[serde(skip)]
    pub(super) is_untold: bool,
}

impl SyncState {
    pub(super) fn new(me: Machine) -> Self {
        Self {
            me,
            places: Vec::new(),
            exchanges: 0,
            last_count: 0,
            said: BTreeMap::new(),
            waiting: BTreeMap::new(),
            projects: PlacedProjects::default(),
        }
    }

    /// Takes another id: somebody else tells under this one, because the disk was copied, or what was told is not known any more. What was
    /// said under it was said by this machine.
    pub(super) fn go_on_as_another(&mut self) -> Result<()> {
        let other = Machine::new(self.me.name.clone())?;
        let before = std::mem::replace(&mut self.me, other);
        for said in self.said.values_mut().filter(|said| said.machine == before.id) {
            said.machine.clone_from(&self.me.id);
        }
        Ok(())
    }

    /// What is kept; `None` if no exchange was ever set up.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub(super) fn load(data_dir: &Path) -> Result<Option<Self>> {
        let file = file(data_dir);
        let Some(text) = private_files::read_if_there(&file)? else { return Ok(None) };
        let explain = || {
            format!(
                "{} is damaged: delete it and run `recall sync add PLACE --name NAME` with a name that no machine has: the other machines then treat this one as new",
                file.display()
            )
        };
        let mut state: Self = serde_json::from_slice(&text).with_context(explain)?;
        for place in &mut state.places {
            place.outbox = load_outbox(data_dir, &place.address)?;
        }
        Ok(Some(state))
    }

    pub(super) fn save(&self, data_dir: &Path) -> Result<()> {
        let file = file(data_dir);
        private_files::create_dir(&folder(data_dir))?;
        private_files::replace(&file, &serde_json::to_vec(self)?).with_context(|| format!("cannot write {}", file.display()))
    }
}

/// Is an exchange set up? One look, for whoever does nothing if not.
pub(crate) fn is_set_up(data_dir: &Path) -> bool {
    file(data_dir).exists()
}

pub(super) fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join(data_folder::SYNC)
}

fn file(data_dir: &Path) -> PathBuf {
    sync_places::file(data_dir)
}

fn key_file(data_dir: &Path) -> PathBuf {
    folder(data_dir).join("key")
}

fn outbox_file(data_dir: &Path, address: &str) -> PathBuf {
    folder(data_dir).join(format!("{}.json", &blake3::hash(address.as_bytes()).to_hex()[..16]))
}

/// What was told at a place; nothing if that is not known any more: then all of it is told again.
pub(super) fn load_outbox(data_dir: &Path, address: &str) -> Result<Outbox> {
    let known = private_files::read_if_there(&outbox_file(data_dir, address))?;
    Ok(known.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default())
}

pub(super) fn save_outbox(data_dir: &Path, address: &str, outbox: &Outbox) -> Result<()> {
    let file = outbox_file(data_dir, address);
    private_files::replace(&file, &serde_json::to_vec(outbox)?).with_context(|| format!("cannot write {}", file.display()))
}

/// Nothing was ever told at a place.
pub(super) fn remove_outbox(data_dir: &Path, address: &str) {
    let _ = fs::remove_file(outbox_file(data_dir, address));
}

/// The key of this user's machines, if they have one.
pub(super) fn key(data_dir: &Path) -> Result<Option<Key>> {
    let file = key_file(data_dir);
    let Some(bytes) = private_files::read_if_there(&file)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    Key::parse(text.trim()).map(Some).with_context(|| format!("{} holds no key", file.display()))
}

pub(super) fn save_key(data_dir: &Path, key: &Key) -> Result<()> {
    private_files::create_dir(&folder(data_dir))?;
    let file = key_file(data_dir);
    private_files::replace(&file, format!("{}\n", key.text()).as_bytes())
        .with_context(|| format!("cannot write {}", file.display()))
}
