//! A temporary copy of the index: shows what a run would find without changing any file of the user.

use std::path::Path;

use anyhow::{Context, Result};

use crate::app::digest::ingest::ingest;
use crate::app::digest::report::Report;
use crate::app::digest::request::DigestRequest;
use crate::app::digest::run_lock::run_lock;
use crate::config::Config;
use crate::store::{Writer, is_there};
use crate::sys::messages::Ui;
use transcripts::session::Millis;
use transcripts::sqlite_files::{WAL, with_suffix};

/// Opens a temporary copy of the index and ingests into it what was appended to the transcripts. The copy is deleted with the
/// returned folder. `None` while another run is under way.
pub(crate) fn open_sandbox(
    request: &DigestRequest,
    config: &Config,
    ui: &Ui,
    now: Millis,
    report: &mut Report,
) -> Result<Option<(tempfile::TempDir, Writer)>> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let copy = folder.path().join("recall.db");
    if !copy_index(config, &copy)? {
        return Ok(None);
    }
    let mut store = Writer::open(&copy)?;
    store.relax_durability()?;
    ingest(request, config, ui, now, &mut store, report)?;
    Ok(Some((folder, store)))
}

/// Copies the index file by file, because opening it, even to read, would leave files beside it. False while a run is writing it.
fn copy_index(config: &Config, to: &Path) -> Result<bool> {
    if !is_there(&config.database())? {
        return Ok(true);
    }
    let mut lock = run_lock(config)?;
    let Ok(_held) = lock.try_write() else { return Ok(false) };
    for suffix in ["", WAL] {
        let from = with_suffix(&config.database(), suffix);
        if from.exists() {
            std::fs::copy(&from, with_suffix(to, suffix)).with_context(|| format!("cannot copy {}", from.display()))?;
        }
    }
    Ok(true)
}
