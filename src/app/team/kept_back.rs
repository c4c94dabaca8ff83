//! Sessions that the user keeps from the team. A list of their ids, which stays when the user leaves the team and joins again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::state::folder;
use crate::app::digest::alone;
use crate::config::Config;
use crate::store::WholeIndex;
use crate::sys::messages::Ui;
use crate::sys::private_files;

/// The fewest characters by which a session is named.
const MIN_PREFIX: usize = 4;

/// The whole ids of the sessions of which the team gets nothing.
///
/// # Errors
/// When the list is there and cannot be read.
pub(super) fn kept_back(data_dir: &Path) -> Result<BTreeSet<String>> {
    let file = file(data_dir);
    let Some(text) = private_files::read_if_there(&file)? else { return Ok(BTreeSet::new()) };
    serde_json::from_slice(&text).with_context(|| format!("{} is damaged, so nothing is shared: mend or delete it", file.display()))
}

/// From now on the team gets nothing of this session. Returns its whole id.
///
/// # Errors
/// When there is no such session, or a run is under way.
pub(crate) fn keep_back(config: &Config, session: &str) -> Result<String> {
    alone(config, &Ui::default(), || {
        let Some(store) = WholeIndex::open_if_there(&config.database())? else { bail!("there is no session yet") };
        let id = store.find_session(session)?.id;
        let mut all = kept_back(&config.data_dir)?;
        all.insert(id.clone());
        save(&config.data_dir, &all)?;
        Ok(id)
    })
}

/// The team gets this session again, as its project. Returns its whole id.
///
/// # Errors
/// When it is not kept back, or a run is under way.
pub(crate) fn share_again(config: &Config, session: &str) -> Result<String> {
    alone(config, &Ui::default(), || {
        let mut all = kept_back(&config.data_dir)?;
        let fitting: Vec<String> =
            all.iter().filter(|id| session.len() >= MIN_PREFIX && id.starts_with(session)).cloned().collect();
        ensure!(
            fitting.len() == 1,
            "`{session}` is the id of no session that you withdrew, or of several: `recall team status` lists them"
        );
        all.retain(|id| *id != fitting[0]);
        save(&config.data_dir, &all)?;
        Ok(fitting[0].clone())
    })
}

fn save(data_dir: &Path, all: &BTreeSet<String>) -> Result<()> {
    let file = file(data_dir);
    private_files::create_dir(&folder(data_dir))?;
    private_files::replace(&file, &serde_json::to_vec(all)?).with_context(|| format!("cannot write {}", file.display()))
}

/// Where the list lies.
pub(super) fn file(data_dir: &Path) -> PathBuf {
    folder(data_dir).join("kept_back.json")
}
