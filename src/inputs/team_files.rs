//! Statements that a team keeps in a repository: `.recall/*.md` below its root, a file each; and those of its server, which lie in the same form
//! below the data folder. What is read is as the file has it, and anybody who can write to the repository or the server wrote it: whoever stores
//! or shows any of it passes it through the sanitizer first.

use std::fs;
use std::path::{Path, PathBuf};

use super::client_memory::{MAX_BYTES, MemoryPath, described, read_inside};

/// The folder, below the root of a repository.
pub(crate) const FOLDER: &str = ".recall";
/// How many files of a repository are read. A statement takes some hundred bytes.
pub(crate) const MAX_FILES: usize = 200;

/// The files of a repository with this root, by path, at most so many. Nothing of them is read. A link that leads out of the repository is not
/// followed; what is too long for a statement is none.
pub(crate) fn team_paths(root: &Path, most: usize) -> Vec<MemoryPath> {
    let folder = root.join(FOLDER);
    // As a link it could lead to another repository's, which is private.
    if !folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return Vec::new();
    }
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = entries.filter(|file| file.extension().is_some_and(|ending| ending == "md")).collect();
    let is_plain = |file: &PathBuf| file.symlink_metadata().is_ok_and(|meta| meta.is_file());
    files.retain(|file| file.to_str().is_some() && is_plain(file) && !is_too_long(file));
    files.sort();
    files.truncate(most);
    files.iter().filter_map(|file| described(&folder, file)).collect()
}

/// Is there a file that is too long for a statement?
pub(crate) fn is_too_long(file: &Path) -> bool {
    file.symlink_metadata().is_ok_and(|meta| meta.len() > MAX_BYTES)
}

/// The text of one of them, as far as it is read.
pub(crate) fn read(file: &Path) -> Option<String> {
    read_inside(file.parent()?, file)
}
