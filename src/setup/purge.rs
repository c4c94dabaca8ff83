//! Deletes the data folder, only if all that is in it is ours and no digest runs.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::Host;
use crate::sys::data_folder::{self, LOCKS, SIGNS};

/// What lies elsewhere because of this data folder, and how it is withdrawn: without the folder, nobody can.
const ELSEWHERE: [(&str, &str); 2] = [
    (
        "sync/state.json",
        "what this machine told your others stays at the places: `recall sync remove PLACE` before this withdraws it",
    ),
    ("team/state.json", "what you shared stays on your team's server: `recall team leave` before this erases it"),
];

/// The same of a data folder.
pub(crate) fn stays_elsewhere(folder: &Path) -> impl Iterator<Item = &'static str> {
    ELSEWHERE.into_iter().filter(|(file, _)| folder.join(file).exists()).map(|(_, what)| what)
}

/// The data folder, with its links followed, if there is one.
///
/// # Errors
/// When it may not be deleted.
pub(crate) fn folder(host: &Host<'_>) -> Result<Option<PathBuf>> {
    let named = &host.config.data_dir;
    if !named.exists() {
        return Ok(None);
    }
    let folder = named.canonicalize().with_context(|| format!("cannot enter {}", named.display()))?;
    let shown = folder.display();
    if !SIGNS.iter().any(|name| folder.join(name).exists()) && !is_left_over(&folder)? {
        bail!("{shown} does not look like a data folder of recall, and is not deleted");
    }
    let around = [&host.config.home].into_iter().chain(&host.config.claude_dirs);
    let holds = |other: &Path| other.canonicalize().is_ok_and(|other| other.starts_with(&folder));
    if let Some(other) = around.into_iter().find(|other| holds(other)) {
        bail!("{shown} holds more than the data of recall, {}, and is not deleted", other.display());
    }
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {shown}"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !data_folder::is_known(&name) {
            bail!("{shown} holds more than the data of recall, `{name}`, and is not deleted");
        }
    }
    Ok(Some(folder))
}

/// Does the folder hold only what a deletion leaves that was interrupted at its end?
fn is_left_over(folder: &Path) -> Result<bool> {
    let names = names(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    // So an empty folder may be deleted too: nothing is lost.
    Ok(names.iter().all(|name| LOCKS.iter().any(|lock| name == lock)))
}

fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// Removes all but the locks, and the signs of a data folder last, so that the same command can finish an interrupted deletion.
fn empty(folder: &Path) -> io::Result<()> {
    let is_one_of = |name: &OsString, all: &[&str]| all.iter().any(|one| name == one);
    let (signs, others): (Vec<_>, Vec<_>) =
        names(folder)?.into_iter().filter(|name| !is_one_of(name, &LOCKS)).partition(|name| is_one_of(name, &SIGNS));
    others.iter().try_for_each(|name| remove(&folder.join(name)))?;
    fs::File::open(folder)?.sync_all()?;
    signs.iter().try_for_each(|name| remove(&folder.join(name)))
}

fn remove(path: &Path) -> io::Result<()> {
    let removed =
        if path.symlink_metadata().is_ok_and(|found| found.is_dir()) { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    // The last process to close the index removes its logs.
    removed.or_else(|e| if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) })
}

/// Deletes the folder and the link that led to it.
///
/// # Errors
/// When a digest is under way, or it cannot be deleted.
pub(crate) fn delete(folder: &Path, host: &Host<'_>) -> Result<()> {
    let lock = folder.join(data_folder::RUN_LOCK);
    let mut lock = fd_lock::RwLock::new(
        crate::sys::private_files::open_lock(&lock).with_context(|| format!("cannot open {}", lock.display()))?,
    );
    let Ok(_held) = lock.try_write() else { bail!("a run is under way: try again when it has ended") };
    empty(folder).and_then(|()| fs::remove_dir_all(folder)).with_context(|| format!("cannot delete {}", folder.display()))?;
    if host.config.data_dir.is_symlink() {
        fs::remove_file(&host.config.data_dir).with_context(|| format!("cannot delete {}", host.config.data_dir.display()))?;
    }
    Ok(())
}
