//! The folder of an export. A list in it names the files that exports wrote, by which a folder of recall's own is known.
//!
//! ## Invariants
//! - A file is in the list before it is in the folder, so what an export leaves that was killed is deleted by the next one.
//! - No file is deleted that the list does not name, and none outside of the folder, whatever the list says.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::sys::private_files;

/// The list: a line that says what it is, then a name on each line, relative to the folder.
const LIST: &str = ".recall-export";
/// How the list begins.
const HEAD: &str =
    "# Written by `recall serve --export`: these files are replaced or deleted by the next export into this folder.\n";

/// A folder into which an export is being written.
#[derive(Debug)]
pub(super) struct ExportFolder {
    folder: PathBuf,
    list: File,
    /// What the list names.
    listed: BTreeSet<String>,
    written: BTreeSet<String>,
}

impl ExportFolder {
    /// Makes the folder, or takes up that of an earlier export.
    ///
    /// # Errors
    /// When it holds anything else, or cannot be written.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let file = folder.join(LIST);
        let text = private_files::read_if_there(&file)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let listed = match text.as_deref().map(|text| text.strip_prefix(HEAD)) {
            Some(Some(names)) => names_in(names),
            None if is_empty(folder)? => BTreeSet::new(),
            _ => bail!("{} holds files that no export wrote: name a new folder, or that of an earlier export", folder.display()),
        };
        let cannot = || format!("cannot write {}", file.display());
        // What a write that was cut short left at its end is taken off.
        private_files::replace(&file, list_of(&listed).as_bytes()).with_context(cannot)?;
        let list = File::options().append(true).open(&file).with_context(cannot)?;
        Ok(Self { folder: folder.to_owned(), list, listed, written: BTreeSet::new() })
    }

    /// Writes the file at an address.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn put(&mut self, address: &str, text: &str) -> Result<()> {
        let file = self.folder.join(address);
        self.list(address).with_context(|| format!("cannot write {}", self.folder.join(LIST).display()))?;
        let parent = file.parent().unwrap_or(&self.folder);
        private_files::create_dir(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        private_files::replace(&file, text.as_bytes()).with_context(|| format!("cannot write {}", file.display()))?;
        self.written.insert(address.to_owned());
        Ok(())
    }

    fn list(&mut self, address: &str) -> io::Result<()> {
        if self.listed.insert(address.to_owned()) {
            writeln!(self.list, "{address}")?;
            self.list.sync_data()?;
        }
        Ok(())
    }

    /// Deletes the files of earlier exports that this one did not write, and what killed ones left half-written. Returns how many files were
    /// deleted.
    ///
    /// # Errors
    /// When one cannot be deleted, or the list cannot be written.
    pub(super) fn finish(self) -> Result<usize> {
        let mut deleted = 0;
        for name in self.listed.difference(&self.written) {
            let Some(file) = self.inside(name).filter(|file| file.symlink_metadata().is_ok_and(|found| !found.is_dir())) else {
                continue;
            };
            private_files::remove(&file)?;
            deleted += 1;
        }
        let folders: BTreeSet<&Path> = self.listed.iter().filter_map(|name| Path::new(name).parent()).collect();
        for folder in folders.into_iter().filter_map(|folder| self.inside_folder(folder)) {
            private_files::remove_abandoned(&folder);
        }
        let file = self.folder.join(LIST);
        private_files::replace(&file, list_of(&self.written).as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
        Ok(deleted)
    }

    /// The path of a name of the list; `None` if that is no file in the folder.
    fn inside(&self, name: &str) -> Option<PathBuf> {
        let path = Path::new(name);
        Some(self.inside_folder(path.parent()?)?.join(path.file_name()?))
    }

    /// The path of a folder within; `None` if it leads elsewhere, by its name or by a link.
    fn inside_folder(&self, relative: &Path) -> Option<PathBuf> {
        let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
        let path = self.folder.canonicalize().ok().filter(|_| is_plain)?.join(relative);
        (path.canonicalize().ok()? == path).then_some(path)
    }
}

/// The names on whole lines.
fn names_in(text: &str) -> BTreeSet<String> {
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
}

fn list_of(names: &BTreeSet<String>) -> String {
    names.iter().fold(HEAD.to_owned(), |list, name| list + name + "\n")
}

/// Is nothing in the folder, or nothing but what an export left that was killed at its start?
fn is_empty(folder: &Path) -> Result<bool> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
        entries => entries.with_context(|| format!("cannot read {}", folder.display()))?,
    };
    for entry in entries {
        if !private_files::is_temporary(&entry.with_context(|| format!("cannot read {}", folder.display()))?.path()) {
            return Ok(false);
        }
    }
    Ok(true)
}
