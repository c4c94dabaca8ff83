//! What a run that was killed left behind and no other will use: files half written, replies whose digest is stored.
//!
//! Pages are many, and lie in many folders: these are looked through only when a run did not come to the end of writing them, of which a
//! file tells that stands as long as they are written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use walkdir::WalkDir;

use crate::private;
use crate::store::Store;

/// The file that says that pages are being written.
pub const WRITING: &str = "writing";

/// Pages are being written, until this is dropped.
#[derive(Debug)]
pub struct Writing(PathBuf);

impl Writing {
    /// # Errors
    /// When the data folder cannot be written.
    pub fn begin(data_dir: &Path) -> io::Result<Self> {
        let file = data_dir.join(WRITING);
        private::open_lock(&file)?;
        private::sync_folder_of(&file)?;
        Ok(Self(file))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Removes what a run that was killed has left half written. Only for the holder of the run lock: nobody else writes pages.
pub fn drop_half_written(data_dir: &Path) {
    match data_dir.join(WRITING).exists() {
        true => drop_half_written_anywhere(data_dir),
        false => drop_abandoned(data_dir),
    }
}

/// The same of all folders, whatever is known of runs before.
pub fn drop_half_written_anywhere(data_dir: &Path) {
    for entry in WalkDir::new(data_dir.join("daily")).into_iter().flatten().filter(|e| private::is_half_written(e.path())) {
        let _ = fs::remove_file(entry.path());
    }
    let _ = fs::remove_file(data_dir.join(WRITING));
    drop_abandoned(data_dir);
}

/// The same where somebody may be writing just now: what was begun long ago.
pub fn drop_abandoned(data_dir: &Path) {
    for folder in [data_dir.to_owned(), data_dir.join("replies"), data_dir.join("backup")] {
        private::drop_abandoned(&folder);
    }
}

/// Removes replies that have done their work, those of them that were used before in this run or by one that came no further.
///
/// # Errors
/// When the index cannot be read or written.
pub fn drop_used_replies(data_dir: &Path, store: &Store) -> Result<()> {
    let used = store.used_replies()?;
    if used.is_empty() {
        return Ok(());
    }
    match drop_replies(&data_dir.join("replies"), &used) {
        // The next run tries again.
        Err(e) if e.kind() != io::ErrorKind::NotFound => Ok(()),
        // Where there is no folder there is no reply.
        _ => store.forget_used_replies(),
    }
}

fn drop_replies(folder: &Path, used: &[String]) -> io::Result<()> {
    for path in fs::read_dir(folder)?.flatten().map(|entry| entry.path()) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|e| e == "json") && used.iter().any(|hash| hash.starts_with(&name)) {
            private::remove(&path)?;
        }
    }
    // Once it is not known any more that they were used, none may come back.
    fs::File::open(folder)?.sync_all()
}
