//! Compares paths by name and by where links lead.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Are the paths equal, directly or after resolving links?
pub(crate) fn is_same_path(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Do the paths lead to one file, by links or as its names?
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino()));
    one == other || matches!((file(one), file(other)), (Ok(a), Ok(b)) if a == b)
}

/// Resolves links of many paths, looking at each folder once.
#[derive(Debug, Default, Clone)]
pub(crate) struct RealPaths(Arc<Mutex<HashMap<PathBuf, Option<PathBuf>>>>);

impl RealPaths {
    /// The same as [`path_aliases`].
    pub(crate) fn aliases(&self, folder: &Path) -> Vec<PathBuf> {
        let is_plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
        if !folder.is_absolute() || !folder.components().all(is_plain) {
            return path_aliases(folder);
        }
        let real = self.real(folder).filter(|real| real != folder);
        std::iter::once(folder.to_owned()).chain(real).collect()
    }

    fn real(&self, folder: &Path) -> Option<PathBuf> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(real) = known().get(folder) {
            return real.clone();
        }
        let real = match (folder.parent(), folder.file_name()) {
            (Some(parent), Some(name)) => self.real(parent).map(|parent| parent.join(name)).and_then(|path| {
                let is_link = path.symlink_metadata().ok()?.is_symlink();
                if is_link { path.canonicalize().ok() } else { Some(path) }
            }),
            _ => Some(folder.to_owned()),
        };
        known().insert(folder.to_owned(), real.clone());
        real
    }
}

/// A folder's path and, if different, its path with links resolved: programs may report either.
pub(crate) fn path_aliases(folder: &Path) -> Vec<PathBuf> {
    let real = folder.canonicalize().ok().filter(|real| real != folder);
    std::iter::once(folder.to_owned()).chain(real).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_links_and_several_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("one"), "").unwrap();
        std::fs::write(at("other"), "").unwrap();
        std::fs::hard_link(at("one"), at("name")).unwrap();
        std::os::unix::fs::symlink(at("name"), at("link")).unwrap();
        for (name, is_same) in [("one", true), ("name", true), ("link", true), ("other", false), ("gone", false)] {
            assert_eq!(is_same_file(&at("one"), &at(name)), is_same, "{name}");
        }
    }

    #[test]
    fn aliases_looked_up_together_are_those_of_each_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("real/deep/er")).unwrap();
        for (to, link) in [("real", "link"), ("link/deep", "far"), ("nowhere", "dead"), ("loop", "loop")] {
            std::os::unix::fs::symlink(at(to), at(link)).unwrap();
        }
        let real = RealPaths::default();
        for name in
            ["real/deep", "link", "link/deep/er", "far/er", "far/gone", "dead", "dead/x", "loop/x", "gone/x", "real/../link", ""]
        {
            assert_eq!(real.aliases(&at(name)), path_aliases(&at(name)), "{name}");
        }
        assert_eq!(real.aliases(Path::new("relative")), path_aliases(Path::new("relative")));
    }
}
