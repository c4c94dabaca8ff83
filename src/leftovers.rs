//! What a run that was killed left behind and no other will use: files half written, replies whose digest is stored.

use std::fs;
use std::path::Path;

use anyhow::Result;
use walkdir::WalkDir;

use crate::private;
use crate::store::Store;

/// Removes what was half written. Only for the holder of the run lock: nobody else writes pages.
pub fn drop_half_written(data_dir: &Path) {
    for entry in WalkDir::new(data_dir.join("daily")).into_iter().flatten().filter(|e| is_half_written(e.path())) {
        let _ = fs::remove_file(entry.path());
    }
    drop_abandoned(data_dir);
}

/// The same where somebody may be writing just now: what was begun long ago.
pub fn drop_abandoned(data_dir: &Path) {
    for folder in [data_dir.to_owned(), data_dir.join("replies"), data_dir.join("backup")] {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(|e| is_half_written(&e.path())) {
            if private::age(&entry.path()).is_some_and(|age| age > private::ABANDONED) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn is_half_written(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(private::HALF_WRITTEN))
}

/// Removes replies that have done their work: the run that stored their digests came no further.
///
/// # Errors
/// When the index cannot be read.
pub fn drop_used_replies(data_dir: &Path, store: &Store) -> Result<()> {
    for entry in fs::read_dir(data_dir.join("replies")).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|e| e == "json") && store.has_digest_of(&name)? {
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}
