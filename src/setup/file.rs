//! Files that belong to others: read once, replaced in one step, and only if nobody else wrote to them in between.
//!
//! A symbolic link stays one: its target is replaced, with the mode and owner it had. A file with further names (hard links) keeps them: it
//! is written in place. What is no regular file is not read, so a pipe blocks nothing.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::NamedTempFile;

use crate::sys::private_files;
use transcripts::source::delta;

/// How many links are followed before a chain counts as a circle.
const MAX_LINKS: usize = 40;
/// How often an edit is tried while somebody else writes the file, and the first pause between two tries; it doubles each time.
pub(crate) const TRIES: usize = 5;
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

/// Somebody else wrote the file since it was read, so an edit of what was read must not be written.
#[derive(Debug, thiserror::Error)]
#[error("{0} was changed by somebody else just now: try again")]
pub(crate) struct ChangedMeanwhile(String);

/// Makes an edit, and repeats it on the new content, up to [`TRIES`] times, when others write in between.
pub(crate) fn retry_when_changed<T>(mut edit: impl FnMut() -> Result<T>) -> Result<T> {
    let mut pause = PAUSE;
    for _ in 1..TRIES {
        match edit() {
            Err(e) if e.is::<ChangedMeanwhile>() => thread::sleep(pause),
            done => return done,
        }
        pause *= 2;
    }
    edit()
}

/// A file as it was when it was read.
#[derive(Debug, Clone)]
pub(crate) struct FileSnapshot {
    pub(crate) path: PathBuf,
    /// Where the path's links lead; nothing need be there.
    target: PathBuf,
    /// `None` when there was no file.
    pub(crate) bytes: Option<Vec<u8>>,
}

impl FileSnapshot {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let target = follow_links(path).with_context(|| format!("cannot follow the link {}", path.display()))?;
        let bytes = read_bytes(&target).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self { path: path.to_owned(), target, bytes })
    }

    /// The content as text, empty where there is no file.
    pub(crate) fn text(&self) -> Result<String> {
        String::from_utf8(self.bytes.clone().unwrap_or_default()).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            let line = e.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
            anyhow!("{}:{line}: not UTF-8", self.path.display())
        })
    }

    /// Replaces the whole file, or creates it with the folders it needs. Returns the folders that were created, outermost first.
    ///
    /// # Errors
    /// A [`ChangedMeanwhile`] when somebody changed it since it was read; else when it cannot be written, or not with the owner it has.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<Vec<PathBuf>> {
        let dir = self.target.parent().with_context(|| format!("the path {} has no parent folder", self.target.display()))?;
        let created = create_folders(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        self.ensure_unchanged()?;
        self.replace(dir, bytes).with_context(|| format!("cannot write {}", self.name()))?;
        Ok(created)
    }

    fn replace(&self, dir: &Path, bytes: &[u8]) -> Result<()> {
        let old = match fs::metadata(&self.target) {
            Ok(meta) => Some(meta),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(e.into()),
        };
        if old.as_ref().is_some_and(|old| old.nlink() > 1) {
            return Ok(write_in_place(&self.target, bytes)?);
        }
        private_files::remove_abandoned(dir);
        let mut temporary = private_files::temporary(dir)?;
        temporary.write_all(bytes)?;
        if let Some(old) = old {
            let new = temporary.as_file().metadata()?;
            if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
                fchown(temporary.as_file(), Some(old.uid()), Some(old.gid())).map_err(|e| {
                    io::Error::other(format!(
                        "if recall wrote it, it would no longer belong to user {} and group {}: {e}",
                        old.uid(),
                        old.gid()
                    ))
                })?;
            }
            temporary.as_file().set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
        }
        temporary.as_file().sync_all()?;
        self.exchange(temporary, bytes)?;
        Ok(private_files::sync_folder_of(&self.target)?)
    }

    /// Renames a new file to the target. The two are exchanged, so that the old one can be read afterwards: what somebody wrote up to the
    /// last moment is exchanged back.
    fn exchange(&self, new: NamedTempFile, ours: &[u8]) -> Result<()> {
        if self.bytes.is_none() {
            return match new.persist_noclobber(&self.target) {
                Err(e) if e.error.kind() == ErrorKind::AlreadyExists => Err(self.changed().into()),
                other => Ok(other.map(drop)?),
            };
        }
        let swap = || renameat_with(CWD, new.path(), CWD, &self.target, RenameFlags::EXCHANGE);
        // Writing and syncing the new one took a while.
        self.ensure_unchanged()?;
        match swap() {
            // Somebody deleted it.
            Err(rustix::io::Errno::NOENT) => return Err(self.changed().into()),
            // Some file systems cannot exchange: there what others write within this moment is lost.
            Err(_) => return Ok(new.persist(&self.target).map(drop)?),
            Ok(()) => {}
        }
        if self.bytes.as_deref().is_some_and(|bytes| bytes.trim_ascii().is_empty()) {
            // A writer may have emptied it and be about to fill it.
            thread::sleep(PAUSE);
        }
        if read_bytes(new.path())? == self.bytes {
            return Ok(());
        }
        swap()?;
        if read_bytes(new.path())?.as_deref() != Some(ours) {
            // Not ours came back, but what somebody wrote over it: the newest, which keeps the name.
            swap()?;
        }
        Err(self.changed().into())
    }

    /// Deletes the file; a link to it stays, and leads nowhere as before.
    ///
    /// # Errors
    /// A [`ChangedMeanwhile`] when somebody changed it since it was read; else when it cannot be deleted.
    pub(crate) fn delete(&self) -> Result<()> {
        self.ensure_unchanged()?;
        if self.bytes.is_none() {
            return Ok(());
        }
        self.move_away().with_context(|| format!("cannot delete {}", self.name()))
    }

    fn move_away(&self) -> Result<()> {
        let dir = self.target.parent().with_context(|| format!("the path {} has no parent folder", self.target.display()))?;
        private_files::remove_abandoned(dir);
        let aside = private_files::temporary(dir)?;
        fs::rename(&self.target, aside.path())?;
        if read_bytes(aside.path())? != self.bytes {
            // Fails where a newer one has the name by now, which then stays.
            let _ = aside.persist_noclobber(&self.target);
            return Err(self.changed().into());
        }
        Ok(aside.close()?)
    }

    fn ensure_unchanged(&self) -> Result<()> {
        let now = read_bytes(&self.target).with_context(|| format!("cannot read {}", self.path.display()))?;
        if now == self.bytes { Ok(()) } else { Err(self.changed().into()) }
    }

    fn changed(&self) -> ChangedMeanwhile {
        ChangedMeanwhile(self.path.display().to_string())
    }

    /// The path, and where its links lead, for messages.
    fn name(&self) -> String {
        let path = self.path.display();
        if self.path == self.target { path.to_string() } else { format!("{path} (a link to {})", self.target.display()) }
    }
}

fn read_bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    match delta::open_regular(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Overwrites the file in place. Interrupted between two steps it holds the new text and then white space, which all these formats allow.
fn write_in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    let mut padded = bytes.to_owned();
    padded.resize(bytes.len().max(file.metadata()?.len() as usize), b'\n');
    file.write_all_at(&padded, 0)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

/// Follows the links of the path's last part. What they lead to need not exist.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("/")).join(next),
            // Not a link, or nothing there.
            Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(path);
            }
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("too many links"))
}

fn create_folders(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<PathBuf> = dir.ancestors().take_while(|d| !d.exists()).map(Path::to_owned).collect();
    if let Some(link) = missing.iter().find(|folder| folder.is_symlink()) {
        return Err(io::Error::other(format!("{} is a link that leads nowhere", link.display())));
    }
    missing.reverse();
    fs::create_dir_all(dir)?;
    Ok(missing)
}

/// Removes folders that are empty, innermost first.
pub(crate) fn remove_empty_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_stays_and_its_target_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("dotfiles/settings.json"), dir.path().join("settings.json"));
        fs::create_dir(dir.path().join("dotfiles")).unwrap();
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
        symlink("middle", &link).unwrap();
        symlink("dotfiles/settings.json", dir.path().join("middle")).unwrap();
        assert_eq!(FileSnapshot::read(&link).unwrap().write(b"new").unwrap(), [] as [PathBuf; 0]);
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(fs::metadata(&real).unwrap().mode() & 0o7777, 0o640);
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("middle"));
        assert_eq!(fs::read_dir(dir.path().join("dotfiles")).unwrap().count(), 1, "nothing temporary is left");
    }

    #[test]
    fn a_link_to_nothing_gets_its_target_and_loses_it_again() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        symlink("there/settings.json", &link).unwrap();
        let file = FileSnapshot::read(&link).unwrap();
        assert_eq!(file.bytes, None);
        assert_eq!(file.write(b"{}").unwrap(), [dir.path().join("there")]);
        FileSnapshot::read(&link).unwrap().delete().unwrap();
        assert!(link.is_symlink() && !link.exists());
        let folder = dir.path().join("unmounted");
        symlink("/nowhere/claude", &folder).unwrap();
        let refused = FileSnapshot::read(&folder.join("settings.json")).unwrap().write(b"{}").unwrap_err();
        assert!(format!("{refused:#}").contains("leads nowhere"), "{refused:#}");
        symlink("circle", dir.path().join("circle")).unwrap();
        assert!(FileSnapshot::read(&dir.path().join("circle")).is_err());
    }

    #[test]
    fn a_file_with_two_names_keeps_both() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (dir.path().join("settings.json"), dir.path().join("dotfile"));
        fs::write(&one, "a long text of theirs").unwrap();
        fs::hard_link(&one, &other).unwrap();
        for text in ["short", "a text that is much longer than that"] {
            FileSnapshot::read(&one).unwrap().write(text.as_bytes()).unwrap();
            assert_eq!((fs::read_to_string(&one).unwrap(), fs::read_to_string(&other).unwrap()), (text.into(), text.into()));
        }
    }

    #[test]
    fn nobody_waits_for_a_pipe() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("settings.json");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let refused = format!("{:#}", FileSnapshot::read(&pipe).unwrap_err());
        assert!(refused.contains("settings.json") && refused.contains("not a regular file"), "{refused}");
    }

    #[test]
    fn what_was_written_behind_the_last_look_gets_its_name_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        let new = || {
            let mut new = private_files::temporary(dir.path()).unwrap();
            new.write_all(b"ours").unwrap();
            new
        };
        fs::write(&path, "as it was").unwrap();
        let seen = FileSnapshot::read(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(seen.exchange(new(), b"ours").unwrap_err().is::<ChangedMeanwhile>());
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert!(seen.move_away().unwrap_err().is::<ChangedMeanwhile>());
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        fs::remove_file(&path).unwrap();
        assert!(seen.exchange(new(), b"ours").unwrap_err().is::<ChangedMeanwhile>() && !path.exists(), "who deleted it meant it");
        let unseen = FileSnapshot::read(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(unseen.exchange(new(), b"ours").unwrap_err().is::<ChangedMeanwhile>());
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing temporary is left");
    }

    #[test]
    fn what_only_its_owner_may_read_is_never_seen_by_others() {
        let dir = tempfile::tempdir().unwrap();
        let mode = private_files::temporary(dir.path()).unwrap().as_file().metadata().unwrap().mode() & 0o7777;
        assert_eq!(mode, 0o600, "from the moment it is there");
    }

    #[test]
    fn what_somebody_wrote_meanwhile_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        let seen = FileSnapshot::read(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(seen.write(b"ours").unwrap_err().to_string().contains("changed by somebody else"));
        assert!(seen.delete().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
    }
}
