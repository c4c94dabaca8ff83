//! The record of what install did, so that uninstall can undo it exactly: `install.json` in the data folder, and in `backup/` the bytes of
//! each file from before. Nothing of it is written into a repository.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::Timer;
use super::file::FileSnapshot;
use super::strict_json::Shapes;
use crate::sys::{data_folder, private_files};

const VERSION: u32 = 1;
/// The key of the crontab among the edited files.
pub(crate) const CRONTAB: &str = "crontab";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    version: u32,
    /// The timer that was chosen, by the user or for them.
    #[serde(default)]
    pub(crate) timer: Option<Timer>,
    /// Files of others that were edited, by path; the crontab as [`CRONTAB`].
    #[serde(default)]
    pub(crate) edited: BTreeMap<PathBuf, EditedFile>,
    /// Folders that were created, in this order.
    #[serde(default)]
    pub(crate) folders: Vec<PathBuf>,
}

/// How a file of others was edited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EditedFile {
    /// Did the file exist before?
    pub(crate) existed: bool,
    /// The name of its copy in the backup folder.
    pub(crate) backup: Option<String>,
    /// Do `existed` and `backup` describe the file as it is but for our edits? No more once others wrote to it between two installs.
    pub(crate) exact: bool,
    /// The hash of what was written last.
    pub(crate) after: String,
    #[serde(default, rename = "empties", skip_serializing_if = "Shapes::is_empty")]
    pub(crate) shapes: Shapes,
}

/// What a file was before the first install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Original {
    Bytes(Vec<u8>),
    Missing,
    /// Others wrote to it since: only what is ours may be removed.
    Unknown,
}

impl Manifest {
    /// # Errors
    /// When it is there and cannot be read, or is a newer program's.
    pub(crate) fn load(data_dir: &Path) -> Result<Self> {
        let path = file(data_dir);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Self::default()),
            Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
        };
        let read: Self = serde_json::from_slice(&bytes).with_context(|| {
            format!("cannot parse {}: move it away: recall does not need it to find what it must remove", path.display())
        })?;
        if read.version > VERSION {
            bail!("{} was written by a newer recall: upgrade recall", path.display());
        }
        Ok(read)
    }

    pub(crate) fn save(&mut self, data_dir: &Path) -> Result<()> {
        self.version = VERSION;
        let path = file(data_dir);
        let text = serde_json::to_string_pretty(self)? + "\n";
        private_files::replace(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Records an edit that is about to be made, and backs the file up if nothing of ours is in it yet.
    pub(crate) fn record(&mut self, data_dir: &Path, path: &Path, edit: &FileEdit<'_>) -> Result<()> {
        if edit.fresh {
            self.forget(data_dir, path)?;
        }
        let after = hash(edit.after);
        let mut entry = match self.edited.remove(path) {
            Some(known) => {
                let untouched = edit.before.is_some_and(|bytes| known.after == hash(bytes));
                EditedFile { exact: known.exact && untouched, after, ..known }
            }
            None if edit.fresh => EditedFile {
                existed: edit.before.is_some(),
                backup: edit.before.filter(|_| edit.copy).map(|bytes| back_up(data_dir, path, bytes)).transpose()?,
                exact: edit.copy,
                after,
                shapes: Shapes::new(),
            },
            None => EditedFile { existed: true, after, ..EditedFile::default() },
        };
        for (name, was) in edit.shapes {
            entry.shapes.entry(name.clone()).or_insert_with(|| was.clone());
        }
        self.edited.insert(path.to_owned(), entry);
        Ok(())
    }

    /// Records an edit, with the folders that it creates, and makes it. The record comes first, so that an edit that is interrupted can be
    /// undone.
    ///
    /// # Errors
    /// When the file cannot be written: then the record is what it was.
    pub(crate) fn write(&mut self, data_dir: &Path, file: &FileSnapshot, edit: &FileEdit<'_>) -> Result<()> {
        let before = self.clone();
        self.record(data_dir, &file.path, edit)?;
        self.save(data_dir)?;
        let written = file.write(edit.after).inspect_err(|_| {
            // A disk may fail behind the change, when it is made to last: what is there then is ours, and stays on record.
            if fs::read(&file.path).ok().as_deref() != Some(edit.after) {
                self.withdraw(before, &file.path, data_dir);
            }
        });
        self.folders.extend(written?);
        Ok(())
    }

    /// Withdraws the record of an edit that failed. Where that fails too, the next uninstall finds nothing of ours in the file.
    fn withdraw(&mut self, before: Self, path: &Path, data_dir: &Path) {
        if !before.edited.contains_key(path) {
            let _ = self.forget(data_dir, path);
        }
        *self = before;
        let mut saved = self.clone();
        let _ = if saved == Self::default() { saved.delete(data_dir) } else { saved.save(data_dir) };
    }

    /// What the file was before the first install, if `now` is what was written last.
    pub(crate) fn original(&self, data_dir: &Path, path: &Path, now: &[u8]) -> Original {
        let Some(edited) = self.edited.get(path).filter(|e| e.exact && e.after == hash(now)) else { return Original::Unknown };
        match &edited.backup {
            Some(name) => fs::read(folder(data_dir).join(name)).map_or(Original::Unknown, Original::Bytes),
            None => Original::Missing,
        }
    }

    pub(crate) fn shapes(&self, path: &Path) -> Shapes {
        self.edited.get(path).map(|e| e.shapes.clone()).unwrap_or_default()
    }

    /// Did install create the file?
    pub(crate) fn was_created(&self, path: &Path) -> bool {
        self.edited.get(path).is_some_and(|e| !e.existed)
    }

    /// Removes the record and the backup of a file that was restored.
    ///
    /// # Errors
    /// When the backup cannot be deleted; its record stays then.
    pub(crate) fn forget(&mut self, data_dir: &Path, path: &Path) -> Result<()> {
        if let Some(name) = self.edited.get(path).and_then(|e| e.backup.as_ref()) {
            let copy = folder(data_dir).join(name);
            if let Err(e) = fs::remove_file(&copy)
                && !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
            {
                return Err(e).with_context(|| format!("cannot delete {}", copy.display()));
            }
        }
        self.edited.remove(path);
        Ok(())
    }

    /// Deletes the manifest and every backup, once all is undone.
    pub(crate) fn delete(mut self, data_dir: &Path) -> Result<()> {
        for path in self.edited.keys().cloned().collect::<Vec<_>>() {
            self.forget(data_dir, &path)?;
        }
        let _ = fs::remove_dir(folder(data_dir));
        match fs::remove_file(file(data_dir)) {
            Err(e) if !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Err(e).with_context(|| format!("cannot delete {}", file(data_dir).display()))
            }
            _ => Ok(()),
        }
    }
}

/// An edit of a file of others that is about to be made.
#[derive(Debug)]
pub(crate) struct FileEdit<'a> {
    /// `None` when there was no file.
    pub(crate) before: Option<&'a [u8]>,
    pub(crate) after: &'a [u8],
    /// Was nothing of ours in the file before?
    pub(crate) fresh: bool,
    pub(crate) shapes: &'a Shapes,
    /// Is the file to be backed up?
    pub(crate) copy: bool,
}

pub(crate) fn file(data_dir: &Path) -> PathBuf {
    data_dir.join(data_folder::MANIFEST)
}

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join(data_folder::BACKUP)
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Writes the bytes into the backup folder, under a name made from the file's path, and returns that name.
fn back_up(data_dir: &Path, path: &Path, bytes: &[u8]) -> Result<String> {
    use std::os::unix::ffi::OsStrExt;
    let name = format!("{}.bak", &hash(path.as_os_str().as_bytes())[..16]);
    let backup = folder(data_dir).join(&name);
    private_files::replace(&backup, bytes).with_context(|| format!("cannot write {}", backup.display()))?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/home/x/.claude/settings.json";

    fn edit<'a>(before: Option<&'a str>, after: &'a str, fresh: bool, shapes: &'a Shapes) -> FileEdit<'a> {
        FileEdit { before: before.map(str::as_bytes), after: after.as_bytes(), fresh, shapes, copy: true }
    }

    #[test]
    fn the_bytes_from_before_the_first_install_are_given_back() {
        let dir = tempfile::tempdir().unwrap();
        let (none, mut manifest) = (Shapes::new(), Manifest::default());
        manifest.record(dir.path(), FILE.as_ref(), &edit(Some("{}"), "one", true, &none)).unwrap();
        manifest.record(dir.path(), FILE.as_ref(), &edit(Some("one"), "two", false, &none)).unwrap();
        manifest.save(dir.path()).unwrap();
        let mut read = Manifest::load(dir.path()).unwrap();
        assert_eq!(read, manifest);
        assert_eq!(read.original(dir.path(), FILE.as_ref(), b"two"), Original::Bytes(b"{}".to_vec()));
        assert_eq!(read.original(dir.path(), FILE.as_ref(), b"others wrote"), Original::Unknown);
        read.forget(dir.path(), FILE.as_ref()).unwrap();
        read.delete(dir.path()).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_backup_others_have_written_past_is_not_trusted() {
        let dir = tempfile::tempdir().unwrap();
        let (none, mut manifest) = (Shapes::new(), Manifest::default());
        let path = FILE.as_ref();
        manifest.record(dir.path(), path, &edit(None, "one", true, &none)).unwrap();
        assert_eq!(manifest.original(dir.path(), path, b"one"), Original::Missing);
        manifest.record(dir.path(), path, &edit(Some("one, edited"), "two", false, &none)).unwrap();
        assert_eq!(manifest.original(dir.path(), path, b"two"), Original::Unknown);
        assert!(manifest.was_created(path));
    }
}
