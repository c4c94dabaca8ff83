//! One install or uninstall at a time: each reads settings, crontab and manifest, and writes them whole.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::private;

/// The lock file, which lies in the data folder as long as somebody is at work.
pub const LOCK: &str = "install.lock";

/// The right to change what is installed, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    data_dir: PathBuf,
    _lock: File,
}

impl Turn {
    /// Waits until nobody else has it.
    ///
    /// # Errors
    /// When the data folder cannot be written.
    pub fn wait(data_dir: &Path) -> Result<Self> {
        let path = data_dir.join(LOCK);
        let cannot = || format!("cannot lock {}", path.display());
        loop {
            private::create_dir(data_dir).with_context(cannot)?;
            let lock = match private::open_lock(&path) {
                // The folder went with the one before.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.with_context(cannot)?,
            };
            lock.lock().with_context(cannot)?;
            // The one before removes the file: then somebody else may have locked the next one.
            let locked = lock.metadata().with_context(cannot)?;
            if fs::metadata(&path).is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino())) {
                crate::leftovers::drop_abandoned(data_dir);
                return Ok(Self { data_dir: data_dir.to_owned(), _lock: lock });
            }
        }
    }
}

impl Drop for Turn {
    /// Leaves nothing of its own; a data folder that holds nothing is of no use either.
    fn drop(&mut self) {
        let _ = fs::remove_file(self.data_dir.join(LOCK));
        let _ = fs::remove_dir(&self.data_dir);
    }
}
