//! Which project of another machine is one of this one's: by the address of its repository, else by its path below the home.
//!
//! Chosen when a project is met first and there is one here that fits; shown by `recall sync`, changed by `recall sync project`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::model::note::EVERYWHERE;
use crate::sys::git_config::remote_of;

/// A project as a machine tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ToldProject {
    /// Its key on that machine: a path.
    pub(super) key: String,
    /// The address of its repository, without user and scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) remote: Option<String>,
    /// The key below that machine's home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) below_home: Option<String>,
}

/// Where projects of other machines are here, by those machines' keys.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct PlacedProjects {
    pub(super) chosen: BTreeMap<String, String>,
    /// Those that none here fits yet.
    unplaced: BTreeMap<String, ToldProject>,
}

impl PlacedProjects {
    /// Is there a project now that fits one of those?
    pub(super) fn can_place(&mut self, known: &KnownProjects) -> bool {
        let unplaced = std::mem::take(&mut self.unplaced);
        for told in unplaced.values() {
            known.here(told, self);
        }
        self.unplaced.len() < unplaced.len()
    }
}

/// The projects of this machine.
pub(super) struct KnownProjects {
    home: String,
    /// By the address of the repository.
    by_remote: BTreeMap<String, String>,
    keys: Vec<String>,
    /// Told already, by key.
    told: BTreeMap<String, ToldProject>,
}

impl KnownProjects {
    /// `keys`: of all projects in the index. Their folders are looked at for the address of their repository.
    pub(super) fn of(mut keys: Vec<String>, home: &Path) -> Self {
        keys.sort();
        let home = home.to_string_lossy().trim_end_matches('/').to_owned();
        let (mut by_remote, mut told) = (BTreeMap::new(), BTreeMap::new());
        for key in &keys {
            let remote = if key == EVERYWHERE { None } else { remote_of(Path::new(key)) };
            if let Some(remote) = &remote {
                // Of two clones, the one whose path comes first.
                by_remote.entry(remote.clone()).or_insert_with(|| key.clone());
            }
            let below_home = key.strip_prefix(&home).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned);
            told.insert(key.clone(), ToldProject { key: key.clone(), remote, below_home });
        }
        Self { home, by_remote, keys, told }
    }

    /// A project as it is told to other machines.
    pub(super) fn told(&self, key: &str) -> ToldProject {
        self.told.get(key).cloned().unwrap_or_else(|| ToldProject { key: key.to_owned(), remote: None, below_home: None })
    }

    /// The project here that is another machine's; its own key if there is none. `placed` keeps what was found.
    pub(super) fn here(&self, told: &ToldProject, placed: &mut PlacedProjects) -> String {
        if told.key == EVERYWHERE {
            return told.key.clone();
        }
        if let Some(key) = placed.chosen.get(&told.key) {
            return key.clone();
        }
        let by_remote = || told.remote.as_ref().and_then(|remote| self.by_remote.get(remote)).cloned();
        let below_home = || {
            let key = format!("{}/{}", self.home, told.below_home.as_ref()?);
            let differs = |here: Option<&ToldProject>| {
                here.and_then(|here| here.remote.as_ref()).zip(told.remote.as_ref()).is_some_and(|(here, there)| here != there)
            };
            let is_it = match self.keys.contains(&key) {
                true => !differs(self.told.get(&key)),
                // A clone in which nothing was done yet.
                false => told.remote.is_some() && remote_of(Path::new(&key)) == told.remote,
            };
            is_it.then_some(key)
        };
        match by_remote().or_else(below_home) {
            Some(key) => {
                if key != told.key {
                    placed.chosen.insert(told.key.clone(), key.clone());
                }
                key
            }
            None => {
                if !self.keys.contains(&told.key) {
                    placed.unplaced.insert(told.key.clone(), told.clone());
                }
                told.key.clone()
            }
        }
    }
}

/// A path of another machine as it would be here: below the project that is the same.
pub(super) fn path_here(path: &str, (there, here): (&str, &str)) -> String {
    match path.strip_prefix(there) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{here}{rest}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(key: &str, remote: Option<&str>, below_home: Option<&str>) -> ToldProject {
        ToldProject { key: key.to_owned(), remote: remote.map(str::to_owned), below_home: below_home.map(str::to_owned) }
    }

    /// A repository with that address.
    fn clone_of(folder: &Path, address: &str) -> String {
        std::fs::create_dir_all(folder.join(".git")).unwrap();
        std::fs::write(folder.join(".git/config"), format!("[remote \"origin\"]\n\turl = {address}\n")).unwrap();
        folder.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_project_is_known_again_by_its_repository_wherever_it_lies() {
        let home = tempfile::tempdir().unwrap();
        let here = clone_of(&home.path().join("work/shop"), "git@example.com:Acme/shop.git");
        let known = KnownProjects::of(vec![here.clone()], home.path());
        let mut placed = PlacedProjects::default();
        assert_eq!(known.here(&told("/Users/anna/shop", Some("example.com/Acme/shop"), Some("shop")), &mut placed), here);
        assert_eq!(placed.chosen["/Users/anna/shop"], here);
        // What was chosen stays, whatever it is told with later.
        assert_eq!(known.here(&told("/Users/anna/shop", None, None), &mut placed), here);
        assert_eq!(known.here(&told("/Users/anna/other", Some("example.com/Acme/other"), None), &mut placed), "/Users/anna/other");
    }

    #[test]
    fn a_folder_of_the_same_name_below_the_home_is_the_same_unless_its_repository_is_another() {
        let home = tempfile::tempdir().unwrap();
        let plain = home.path().join("notes").to_str().unwrap().to_owned();
        let cloned = clone_of(&home.path().join("api"), "https://example.com/one/api");
        let known = KnownProjects::of(vec![plain.clone(), cloned], home.path());
        let mut placed = PlacedProjects::default();
        assert_eq!(known.here(&told("/Users/anna/notes", None, Some("notes")), &mut placed), plain);
        let other = told("/Users/anna/api", Some("example.com/two/api"), Some("api"));
        assert_eq!(known.here(&other, &mut placed), "/Users/anna/api");
        // A clone that nobody has worked in yet, and one of something else.
        let fresh = clone_of(&home.path().join("work/shop"), "https://example.com/one/shop");
        let same = told("/Users/anna/work/shop", Some("example.com/one/shop"), Some("work/shop"));
        assert_eq!(known.here(&same, &mut placed), fresh);
        let else_where = told("/Users/ben/work/shop", Some("example.com/two/shop"), Some("work/shop"));
        assert_eq!(known.here(&else_where, &mut placed), "/Users/ben/work/shop");
    }

    #[test]
    fn a_path_moves_with_its_project_and_no_other_does() {
        let moved = ("/Users/anna/shop", "/home/anna/work/shop");
        assert_eq!(path_here("/Users/anna/shop/web", moved), "/home/anna/work/shop/web");
        assert_eq!(path_here("/Users/anna/shopping", moved), "/Users/anna/shopping");
    }
}
