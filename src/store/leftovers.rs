//! Cleans up after killed runs: half-written files, and replies whose digest is already stored.
//!
//! There are many pages in many folders, so they are searched only if a run was interrupted while it wrote pages; a marker file that exists
//! while pages are written shows this.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use walkdir::WalkDir;

use crate::inputs::claude_mem;
use crate::model::page_path::pages_folder;
use crate::store::Writer;
use crate::sys::{data_folder, private_files};

/// Holds the marker file until it is dropped.
#[derive(Debug)]
pub(crate) struct WritingMarker(PathBuf);

impl WritingMarker {
    /// Creates the marker file, synced. What a killed writer left half-written is removed first: once this marker is gone, nobody looks for it.
    /// The caller must hold the run lock.
    pub(crate) fn begin(data_dir: &Path) -> io::Result<Self> {
        let file = data_dir.join(data_folder::WRITING);
        if file.exists() {
            remove_half_written_anywhere(data_dir);
        }
        private_files::open_lock(&file)?;
        private_files::sync_folder_of(&file)?;
        Ok(Self(file))
    }
}

impl Drop for WritingMarker {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Removes half-written files and copies of killed runs. The caller must hold the run lock, since only its holder writes pages and copies databases.
pub(crate) fn remove_half_written(data_dir: &Path) {
    match data_dir.join(data_folder::WRITING).exists() {
        true => remove_half_written_anywhere(data_dir),
        false => remove_left(data_dir),
    }
}

/// Like [`remove_half_written`], but searches all folders whether or not the marker exists.
pub(crate) fn remove_half_written_anywhere(data_dir: &Path) {
    for entry in WalkDir::new(pages_folder(data_dir)).into_iter().flatten().filter(|e| private_files::is_temporary(e.path())) {
        let _ = fs::remove_file(entry.path());
    }
    let _ = fs::remove_file(data_dir.join(data_folder::WRITING));
    remove_left(data_dir);
}

fn remove_left(data_dir: &Path) {
    // The next run tries again.
    let _ = claude_mem::remove_copies(data_dir);
    remove_abandoned(data_dir);
}

/// Removes only old half-written files, so that it is safe while another process is writing.
pub(crate) fn remove_abandoned(data_dir: &Path) {
    for folder in [data_dir.to_owned(), data_dir.join(data_folder::REPLIES), data_dir.join(data_folder::BACKUP)] {
        private_files::remove_abandoned(&folder);
    }
    // What it holds is used once, right after it was written.
    private_files::remove_if_old(&data_dir.join(data_folder::BROWSER_PAGE));
}

/// Removes replies whose digest is stored, including those that an interrupted run left.
pub(crate) fn remove_used_replies(data_dir: &Path, store: &Writer) -> Result<()> {
    let used = store.used_replies()?;
    if used.is_empty() {
        return Ok(());
    }
    match remove_replies(&data_dir.join(data_folder::REPLIES), &used) {
        // The next run tries again.
        Err(e) if e.kind() != io::ErrorKind::NotFound => Ok(()),
        // No folder means no replies.
        _ => store.drop_used_replies(),
    }
}

fn remove_replies(folder: &Path, used: &[String]) -> io::Result<()> {
    for path in fs::read_dir(folder)?.flatten().map(|entry| entry.path()) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|e| e == "json") && used.iter().any(|hash| hash.starts_with(&name)) {
            private_files::remove(&path)?;
        }
    }
    // Sync before the index forgets that they were used: none may reappear.
    fs::File::open(folder)?.sync_all()
}
