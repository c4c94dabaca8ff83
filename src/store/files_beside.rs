//! The files beside the index: what they are called, which are there, and which file the index itself is.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::sys::private_files;
use transcripts::sqlite_files::{LOGS, WAL, with_suffix};

/// Appended to the name of the index: the daily copy.
pub(crate) const COPY: &str = ".copy";
/// The last copy that passed the full check.
pub(crate) const CHECKED: &str = ".copy-checked";
/// Both, the later first.
pub(crate) const COPIES: [&str; 2] = [COPY, CHECKED];
/// A copy that is being written.
pub(in crate::store) const UNFINISHED: &str = ".copy-unfinished";
/// A damaged index in quarantine; a date follows.
pub(crate) const QUARANTINE: &str = ".damaged-";
/// An index that is being restored, and one that waits to be renamed into place.
pub(crate) const RESTORING: &str = ".mending";
pub(crate) const RESTORED: &str = ".mended";

/// A file beside the index: its name with a suffix. Where the index is a link, beside its target.
pub(crate) fn beside(index: &Path, suffix: &str) -> PathBuf {
    with_suffix(&index.canonicalize().unwrap_or_else(|_| index.to_owned()), suffix)
}

/// Damaged indexes in quarantine, oldest first, without their logs.
pub(crate) fn quarantined(index: &Path) -> Vec<PathBuf> {
    let mut all = siblings(index, &[QUARANTINE]).unwrap_or_default();
    all.retain(|file| !LOGS.iter().any(|log| ends_with(file, log)));
    all.sort();
    all
}

/// Logs in quarantine whose index stayed.
pub(crate) fn quarantined_logs(index: &Path) -> Vec<PathBuf> {
    let mut all = siblings(index, &[QUARANTINE]).unwrap_or_default();
    let base = |file: &Path| {
        let bytes = file.as_os_str().as_bytes();
        let log = LOGS.iter().find(|log| bytes.ends_with(log.as_bytes()))?;
        Some(PathBuf::from(OsStr::from_bytes(&bytes[..bytes.len() - log.len()])))
    };
    all.retain(|file| base(file).is_some_and(|index| !index.exists()));
    all.sort();
    all
}

/// Deletes a file; the error names it.
fn remove(file: &Path) -> io::Result<()> {
    private_files::remove(file).map_err(|e| io::Error::new(e.kind(), format!("cannot remove {}: {e}", file.display())))
}

/// Deletes every file beside the index that may hold what is deleted from it.
pub(crate) fn delete_all(index: &Path) -> io::Result<()> {
    // `COPY` is the beginning of the other copies' names.
    siblings(index, &[COPY, RESTORED, RESTORING, QUARANTINE])?.iter().try_for_each(|file| remove(file))
}

/// Deletes damaged indexes in quarantine, with their logs. Returns what was deleted.
pub(crate) fn delete_quarantined(index: &Path) -> io::Result<Vec<PathBuf>> {
    let all = siblings(index, &[QUARANTINE])?;
    all.iter().try_for_each(|file| remove(file))?;
    Ok(all)
}

/// The files beside the index whose names begin with its own and one of these suffixes.
fn siblings(index: &Path, starts: &[&str]) -> io::Result<Vec<PathBuf>> {
    let whole: Vec<PathBuf> = starts.iter().map(|start| beside(index, start)).collect();
    let fits = |path: &PathBuf| whole.iter().any(|start| path.as_os_str().as_bytes().starts_with(start.as_os_str().as_bytes()));
    let Some(folder) = whole.first().and_then(|file| file.parent()) else { return Ok(Vec::new()) };
    let named = |e: io::Error| io::Error::new(e.kind(), format!("cannot look into {}: {e}", folder.display()));
    let entries = fs::read_dir(folder).map_err(named)?.collect::<io::Result<Vec<_>>>().map_err(named)?;
    Ok(entries.into_iter().map(|entry| entry.path()).filter(fits).collect())
}

/// Is everything in the database file itself, and nothing in a log beside it?
pub(in crate::store) fn is_at_rest(index: &Path) -> bool {
    fs::metadata(beside(index, WAL)).map_or_else(|e| e.kind() == ErrorKind::NotFound, |m| m.len() == 0)
}

fn ends_with(file: &Path, end: &str) -> bool {
    file.as_os_str().as_bytes().ends_with(end.as_bytes())
}

/// Device and inode: which file it is, whatever its name becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileIdentity(u64, u64);

impl FileIdentity {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|found| Self(found.dev(), found.ino()))
    }

    /// For a writer, within its transaction.
    ///
    /// # Errors
    /// When another file has the name by now.
    pub(crate) fn check(was: Option<Self>, path: &Path) -> Result<()> {
        if was != Self::of(path) {
            bail!("the index {} was repaired meanwhile: try again", path.display());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_looked_into_is_not_taken_for_an_empty_one() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let told = delete_all(&file.path().join("recall.db")).expect_err("a file is no folder").to_string();
        assert!(told.starts_with("cannot look into ") && told.contains(&*file.path().to_string_lossy()), "{told}");
    }
}
