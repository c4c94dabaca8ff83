//! Deleting the data folder: only when all that is in it is ours, and nothing is at work in it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{Host, turn};
use crate::leftovers::WRITING;

/// What shows that a folder is a data folder.
const SIGNS: [&str; 3] = ["recall.db", "install.json", "marks"];
/// What can stand in one, beside what begins as the index and the log of the hooks do.
const OURS: [&str; 10] =
    ["lock", turn::LOCK, WRITING, "daily", "marks", "replies", "child", "install.json", "backup", "last-run.json"];
const BEGINNINGS: [&str; 5] = ["recall.db", "hooks.log", ".recall-tmp-", ".tmp-", ".DS_Store"];

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
    if !SIGNS.iter().any(|name| folder.join(name).exists()) {
        bail!("{shown} does not look like a data folder of recall, and is not deleted");
    }
    let around = [&host.config.home].into_iter().chain(&host.config.claude_dirs);
    let holds = |other: &Path| other.canonicalize().is_ok_and(|other| other.starts_with(&folder));
    if let Some(other) = around.into_iter().find(|other| holds(other)) {
        bail!("{shown} holds more than the data of recall, {}, and is not deleted", other.display());
    }
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {shown}"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !OURS.contains(&name.as_str()) && !BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) {
            bail!("{shown} holds more than the data of recall, `{name}`, and is not deleted");
        }
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
