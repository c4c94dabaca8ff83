//! Deleting the data folder: only what is surely ours, and only when nothing is at work in it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::Host;

/// What shows that a folder is a data folder.
const OURS: [&str; 3] = ["recall.db", "install.json", "marks"];

/// The data folder, where links lead, if there is one.
///
/// # Errors
/// When it is not one that may be deleted.
pub fn folder(host: &Host<'_>) -> Result<Option<PathBuf>> {
    let named = &host.config.data_dir;
    if !named.exists() {
        return Ok(None);
    }
    let folder = named.canonicalize().with_context(|| format!("cannot enter {}", named.display()))?;
    let shown = folder.display();
    if !OURS.iter().any(|name| folder.join(name).exists()) {
        bail!("{shown} does not look like a data folder of recall, and is not deleted");
    }
    let around = [&host.config.home].into_iter().chain(&host.config.claude_dirs);
    let holds = |other: &Path| other.canonicalize().is_ok_and(|other| other.starts_with(&folder));
    if folder.parent().is_none() || around.into_iter().any(|other| holds(other)) || folder.join(".git").exists() {
        bail!("{shown} holds more than the data of recall, and is not deleted");
    }
    Ok(Some(folder))
}

/// Deletes the folder and the link that led to it.
///
/// # Errors
/// When a digest is under way, or it cannot be deleted.
pub fn delete(folder: &Path, host: &Host<'_>) -> Result<()> {
    let lock = folder.join("lock");
    let mut lock = fd_lock::RwLock::new(crate::private::open_lock(&lock).context("cannot open the lock file")?);
    let Ok(_held) = lock.try_write() else { bail!("a digest is under way: try again when it is done") };
    fs::remove_dir_all(folder).with_context(|| format!("cannot delete {}", folder.display()))?;
    if host.config.data_dir.is_symlink() {
        fs::remove_file(&host.config.data_dir).with_context(|| format!("cannot delete {}", host.config.data_dir.display()))?;
    }
    Ok(())
}
