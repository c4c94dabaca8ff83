//! Files that belong to others: read once, written in one step, and only when nobody else wrote in between.
//!
//! A symbolic link stays one: its target is replaced, with the mode and owner it had.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::private;

/// Links followed before a chain counts as a circle.
const MAX_LINKS: usize = 40;

/// A file as it was when it was looked at.
#[derive(Debug, Clone)]
pub struct File {
    pub path: PathBuf,
    /// What the path's links lead to, there or not.
    target: PathBuf,
    /// `None` when there was none.
    pub bytes: Option<Vec<u8>>,
}

impl File {
    /// # Errors
    /// When it is there and cannot be read, or its links lead in a circle.
    pub fn read(path: &Path) -> Result<Self> {
        let target = follow(path).with_context(|| format!("cannot follow the link {}", path.display()))?;
        let bytes = bytes(&target).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self { path: path.to_owned(), target, bytes })
    }

    /// Replaces the whole file, or creates it with the folders it needs. Returns the folders that were created, outermost first.
    ///
    /// # Errors
    /// When somebody changed it since it was read, or it cannot be written as its owner's file.
    pub fn write(&self, bytes: &[u8]) -> Result<Vec<PathBuf>> {
        let dir = self.target.parent().context("a file needs a folder")?;
        let created = create_folders(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        self.ensure_unchanged()?;
        self.replace(dir, bytes).with_context(|| format!("cannot write {}", self.name()))?;
        Ok(created)
    }

    fn replace(&self, dir: &Path, bytes: &[u8]) -> io::Result<()> {
        let old = match fs::metadata(&self.target) {
            Ok(meta) => Some(meta),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(e),
        };
        private::drop_abandoned(dir);
        let mut temporary = private::temporary(dir)?;
        temporary.write_all(bytes)?;
        if let Some(old) = old {
            let new = temporary.as_file().metadata()?;
            if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
                fchown(temporary.as_file(), Some(old.uid()), Some(old.gid())).map_err(|e| {
                    io::Error::other(format!(
                        "it belongs to user {} and group {}, and would not any more: {e}",
                        old.uid(),
                        old.gid()
                    ))
                })?;
            }
            temporary.as_file().set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
        }
        private::persist(temporary, &self.target)
    }

    /// Deletes it; a link stays, and leads nowhere as it did before.
    ///
    /// # Errors
    /// When somebody changed it since it was read, or it cannot be deleted.
    pub fn delete(&self) -> Result<()> {
        self.ensure_unchanged()?;
        self.target.parent().inspect(|dir| private::drop_abandoned(dir));
        match fs::remove_file(&self.target) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(e).with_context(|| format!("cannot delete {}", self.name())),
            _ => Ok(()),
        }
    }

    fn ensure_unchanged(&self) -> Result<()> {
        if bytes(&self.target).with_context(|| format!("cannot read {}", self.path.display()))? != self.bytes {
            bail!("{} was changed by somebody else just now: try again", self.path.display());
        }
        Ok(())
    }

    /// The path, and where its links lead.
    fn name(&self) -> String {
        let path = self.path.display();
        if self.path == self.target { path.to_string() } else { format!("{path} (a link to {})", self.target.display()) }
    }
}

fn bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Where a path leads when every link of its last part is followed; the end need not be there.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("/")).join(next),
            // No link, or nothing there.
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
pub fn remove_empty(folders: &[PathBuf]) {
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
        assert_eq!(File::read(&link).unwrap().write(b"new").unwrap(), [] as [PathBuf; 0]);
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
        let file = File::read(&link).unwrap();
        assert_eq!(file.bytes, None);
        assert_eq!(file.write(b"{}").unwrap(), [dir.path().join("there")]);
        File::read(&link).unwrap().delete().unwrap();
        assert!(link.is_symlink() && !link.exists());
        let folder = dir.path().join("unmounted");
        symlink("/nowhere/claude", &folder).unwrap();
        let refused = File::read(&folder.join("settings.json")).unwrap().write(b"{}").unwrap_err();
        assert!(format!("{refused:#}").contains("leads nowhere"), "{refused:#}");
        symlink("circle", dir.path().join("circle")).unwrap();
        assert!(File::read(&dir.path().join("circle")).is_err());
    }

    #[test]
    fn what_only_its_owner_may_read_is_never_seen_by_others() {
        let dir = tempfile::tempdir().unwrap();
        let mode = private::temporary(dir.path()).unwrap().as_file().metadata().unwrap().mode() & 0o7777;
        assert_eq!(mode, 0o600, "from the moment it is there");
    }

    #[test]
    fn what_somebody_wrote_meanwhile_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        let seen = File::read(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(seen.write(b"ours").unwrap_err().to_string().contains("changed by somebody else"));
        assert!(seen.delete().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
    }
}
