//! A run on a copy of the index that is thrown away: what it would find, and nothing of the user's changes.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::ingest::ingest;
use super::report::Report;
use super::run_lock;
use crate::cli::DigestArgs;
use crate::config::Config;
use crate::session::Millis;
use crate::store::Store;
use crate::ui::Ui;

/// Opens a copy of the index that is thrown away with its folder, with what the transcripts gained taken in. Nothing of the user's
/// changes. `None` while a run is under way.
pub fn rehearsal(
    args: &DigestArgs,
    config: &Config,
    ui: &Ui,
    now: Millis,
    report: &mut Report,
) -> Result<Option<(tempfile::TempDir, Store)>> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let copy = folder.path().join("recall.db");
    if !copy_index(config, &copy)? {
        return Ok(None);
    }
    let mut store = Store::open(&copy)?;
    store.sync_later()?;
    ingest(args, config, ui, now, &mut store, report)?;
    Ok(Some((folder, store)))
}

/// Copies the index as files: opening it, even to read, would leave files beside it. False when a run is writing it just now.
fn copy_index(config: &Config, to: &Path) -> Result<bool> {
    if !Store::is_there(&config.database())? {
        return Ok(true);
    }
    let mut lock = run_lock(config)?;
    let Ok(_held) = lock.try_write() else { return Ok(false) };
    for suffix in ["", "-wal"] {
        let with = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        let from = with(&config.database());
        if from.exists() {
            std::fs::copy(&from, with(to)).with_context(|| format!("cannot copy {}", from.display()))?;
        }
    }
    Ok(true)
}
