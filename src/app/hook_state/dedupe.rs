//! Dedupes hooks: several settings files may hold the same hook, and only the first one to claim an event answers it.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::sys::{data_folder, private_files};

/// Time within which equal claims count as one event. Hooks of one event run concurrently; the user cannot start the same session
/// again this quickly.
const SAME_EVENT: Duration = Duration::from_secs(5);

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join(data_folder::MARKS).join("started")
}

/// Whether this is the first hook for this start of the session.
pub(crate) fn claim(data_dir: &Path, session: &str, source: &str) -> Result<bool> {
    let name: String = format!("{session}.{source}").chars().filter(|c| c.is_ascii_alphanumeric() || ".-_".contains(*c)).collect();
    let path = folder(data_dir).join(name);
    let create = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let created = match create() {
        Err(e) if e.kind() == ErrorKind::NotFound => private_files::create_dir(&folder(data_dir)).and_then(|()| create()),
        Err(e) if e.kind() == ErrorKind::AlreadyExists && private_files::age(&path).is_none_or(|age| age > SAME_EVENT) => {
            let _ = fs::remove_file(&path);
            create()
        }
        other => other,
    };
    match created {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e).with_context(|| format!("cannot write {}", path.display())),
    }
}

/// Removes claims of events that are long over.
pub(crate) fn remove_old(data_dir: &Path) {
    private_files::remove_files(&folder(data_dir), |age| age.is_none_or(|age| age > SAME_EVENT * 60));
}
