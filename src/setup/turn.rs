//! One install or uninstall at a time: each reads settings, crontab and manifest, and writes them whole.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::manifest::Manifest;
use crate::config::Config;
use crate::sys::private_files;

/// The lock file, which lies in the data folder as long as somebody is at work.
pub const LOCK: &str = "install.lock";

/// The right to change what is installed, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    data_dir: PathBuf,
    _lock: File,
}

impl Turn {
    /// Waits until nobody else has it, and removes what those left over that were killed: also where nothing is left to be changed.
    ///
    /// # Errors
    /// When the data folder cannot be written.
    pub fn wait(config: &Config) -> Result<Self> {
        let turn = Self::lock(&config.data_dir)?;
        crate::store::leftovers::drop_abandoned(&config.data_dir);
        folders_of_edited_files(config).iter().for_each(|folder| private_files::drop_abandoned(folder));
        Ok(turn)
    }

    fn lock(data_dir: &Path) -> Result<Self> {
        let path = data_dir.join(LOCK);
        let cannot = || format!("cannot lock {}", path.display());
        loop {
            private_files::create_dir(data_dir).with_context(cannot)?;
            let lock = match private_files::open_lock(&path) {
                // The folder went with the one before.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.with_context(cannot)?,
            };
            lock.lock().with_context(cannot)?;
            // The one before removes the file: then somebody else may have locked the next one.
            let locked = lock.metadata().with_context(cannot)?;
            if fs::metadata(&path).is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino())) {
                return Ok(Self { data_dir: data_dir.to_owned(), _lock: lock });
            }
        }
    }
}

/// Where files of others lie that an install edits: the client's, and those that the manifest names.
fn folders_of_edited_files(config: &Config) -> BTreeSet<PathBuf> {
    let manifest = Manifest::load(&config.data_dir).unwrap_or_default();
    let noted = manifest.edited.keys().filter_map(|file| file.parent()).filter(|folder| folder.is_absolute());
    config.claude_dirs.iter().map(PathBuf::as_path).chain([config.home.as_path()]).chain(noted).map(Path::to_owned).collect()
}

impl Drop for Turn {
    /// Leaves nothing of its own; a data folder that holds nothing is of no use either.
    fn drop(&mut self) {
        let _ = fs::remove_file(self.data_dir.join(LOCK));
        let _ = fs::remove_dir(&self.data_dir);
    }
}
