//! The lock that lets one install or uninstall run at a time: each reads settings, crontab and manifest, and writes them whole.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::manifest::Manifest;
use crate::config::Config;
use crate::sys::{data_folder, private_files};

/// Held while the installation is changed; released when dropped.
#[derive(Debug)]
pub(crate) struct InstallLock {
    data_dir: PathBuf,
    _lock: File,
}

impl InstallLock {
    /// Waits for the lock, then removes the temporary files of runs that were killed, also where nothing else is left to be done.
    ///
    /// # Errors
    /// When the data folder cannot be written.
    pub(crate) fn acquire(config: &Config) -> Result<Self> {
        let lock = Self::wait(&config.data_dir)?;
        crate::store::leftovers::remove_abandoned(&config.data_dir);
        folders_of_edited_files(config).iter().for_each(|folder| private_files::remove_abandoned(folder));
        Ok(lock)
    }

    fn wait(data_dir: &Path) -> Result<Self> {
        let path = data_dir.join(data_folder::INSTALL_LOCK);
        let cannot = || format!("cannot lock {}", path.display());
        loop {
            private_files::create_dir(data_dir).with_context(cannot)?;
            let lock = match private_files::open_lock(&path) {
                // The holder before removed the folder.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.with_context(cannot)?,
            };
            lock.lock().with_context(cannot)?;
            // The holder before removes the file; by now another process may have locked a new one of that name.
            let locked = lock.metadata().with_context(cannot)?;
            if fs::metadata(&path).is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino())) {
                return Ok(Self { data_dir: data_dir.to_owned(), _lock: lock });
            }
        }
    }
}

/// The folders of files that an install edits: the client's, and those that the manifest names.
fn folders_of_edited_files(config: &Config) -> BTreeSet<PathBuf> {
    let manifest = Manifest::load(&config.data_dir).unwrap_or_default();
    let recorded = manifest.edited.keys().filter_map(|file| file.parent()).filter(|folder| folder.is_absolute());
    config.claude_dirs.iter().map(PathBuf::as_path).chain([config.home.as_path()]).chain(recorded).map(Path::to_owned).collect()
}

impl Drop for InstallLock {
    /// Removes the lock file, and the data folder if nothing else is in it.
    fn drop(&mut self) {
        let _ = fs::remove_file(self.data_dir.join(data_folder::INSTALL_LOCK));
        let _ = fs::remove_dir(&self.data_dir);
    }
}
