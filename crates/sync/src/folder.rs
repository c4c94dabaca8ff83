//! A folder that several machines see: shared by Syncthing or a network file system, or on a disk that is carried about.

use crate::carrier::{Carrier, Entry, FILE_BYTES};
use crate::error::Error;
use crate::history::{self, HISTORY, History};
use crate::names;
use crate::process;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Few lines, from a shell of this machine.
const HISTORY_BYTES: u64 = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(60);

/// Files in a folder. It is made with mode 0700 when the first file is put there; files have mode 0600. A file is written beside its place,
/// flushed to the disk and renamed. Links and whatever else is no plain file are refused.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn get_one(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        names::check(name)?;
        let path = self.path.join(name);
        let refuse = |why: &str| Err(Error::Refused { name: name.into(), why: why.into() });
        let bytes = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("read", &path, error)),
            Ok(found) if !found.is_file() => return refuse("it is a link or no plain file"),
            Ok(found) if found.len() > FILE_BYTES => return refuse("it is larger than any file that is published"),
            Ok(found) => found.len(),
        };
        let mut content = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
        let file = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|error| failed("read", &path, error))?,
        };
        file.take(FILE_BYTES + 1).read_to_end(&mut content).map_err(|error| failed("read", &path, error))?;
        if content.len() as u64 > FILE_BYTES {
            return refuse("it is larger than any file that is published");
        }
        Ok(Some(content))
    }
}

impl Carrier for Folder {
    fn list(&self) -> Result<Vec<Entry>, Error> {
        let failed_here = |error| failed("list", &self.path, error);
        let listing = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            listing => listing.map_err(failed_here)?,
        };
        let mut entries = Vec::new();
        for entry in listing {
            let entry = entry.map_err(failed_here)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            match entry.metadata() {
                Ok(found) if !found.is_dir() => entries.push(Entry { name, bytes: found.len() }),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(failed("read", &entry.path(), error)),
            }
        }
        Ok(entries)
    }

    fn check_there(&self) -> Result<(), Error> {
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::Gone { place: self.path.display().to_string() }),
            found => found.map(drop).map_err(|error| failed("read", &self.path, error)),
        }
    }

    fn get(&self, names: &[&str]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        names.iter().map(|name| self.get_one(name)).collect()
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        names::check(name)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path).map_err(|error| failed("create", &self.path, error))?;
        let (part, whole) = (self.path.join(names::part(name)), self.path.join(name));
        remove(&part)?;
        // `create_new` follows no link that somebody put there.
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&part)
            .map_err(|error| failed("create", &part, error))?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|error| failed("write", &part, error));
        let renamed = written.and_then(|()| fs::rename(&part, &whole).map_err(|error| failed("write", &whole, error)));
        if renamed.is_err() {
            // A full disk: what was written of it is of no use, and the next run would try again.
            let _ = fs::remove_file(&part);
        }
        renamed?;
        // Some network file systems cannot flush a folder; the file itself is flushed.
        let _ = File::open(&self.path).and_then(|folder| folder.sync_all());
        Ok(())
    }

    fn delete(&self, names: &[&str]) -> Result<(), Error> {
        for name in names {
            names::check(name)?;
            remove(&self.path.join(name))?;
        }
        Ok(())
    }

    fn history(&self) -> Result<Option<History>, Error> {
        let failed_here = |why: String| failed("look around", &self.path, std::io::Error::other(why));
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", HISTORY, "sync"]).arg(&self.path);
        let outcome = process::run(shell, &[], HISTORY_BYTES, PATIENCE).map_err(|failure| failed_here(failure.to_string()))?;
        if outcome.success { Ok(history::parse(&outcome.printed)) } else { Err(failed_here(outcome.said)) }
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("delete", path, error)),
        _ => Ok(()),
    }
}

fn failed(what: &'static str, path: &Path, source: std::io::Error) -> Error {
    Error::Io { what, path: path.into(), source }
}
