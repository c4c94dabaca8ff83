//! Paths as people name them and where links lead.

use std::path::{Path, PathBuf};

/// Do two paths lead to one place, by their names or by where links lead?
pub fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// A folder by its name and, where that goes through a link, by where it leads: programs may tell either.
pub fn names_of(folder: &Path) -> Vec<PathBuf> {
    let real = folder.canonicalize().ok().filter(|real| real != folder);
    std::iter::once(folder.to_owned()).chain(real).collect()
}
