//! Compares paths by name and by where links lead.

use std::path::{Path, PathBuf};

/// Are the paths equal, directly or after resolving links?
pub(crate) fn is_same_path(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// A folder's path and, if different, its path with links resolved: programs may report either.
pub(crate) fn path_aliases(folder: &Path) -> Vec<PathBuf> {
    let real = folder.canonicalize().ok().filter(|real| real != folder);
    std::iter::once(folder.to_owned()).chain(real).collect()
}
