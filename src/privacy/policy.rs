//! Who may see what of the memory, by the config of today and not by that of the last digest.

use super::Patterns;
use crate::notes::EVERYWHERE;
use crate::source::project::Projects;

/// From where somebody looks at the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View<'a> {
    /// The program itself, which looks after the index and shows nothing of what it reads.
    Upkeep,
    /// Who owns the memory and counts or exports it: all that is not excluded.
    Owner,
    /// Somebody in this folder: beside that, nothing of isolated projects but their own.
    From(&'a str),
    /// Somebody who is told of the project of this folder alone.
    Only(&'a str),
}

/// Which projects, and which sessions of them, are shown. `store::Memory` asks it once for everything it reads.
#[derive(Debug)]
pub struct Policy {
    /// Projects that are left out altogether.
    excluded: Patterns,
    /// Projects whose sessions are shown in themselves alone.
    isolated: Patterns,
    projects: Projects,
    /// The project of who looks.
    here: Option<String>,
    /// Nothing of other projects is shown.
    here_only: bool,
}

impl Policy {
    pub fn new(excluded: Patterns, isolated: Patterns, projects: Projects, view: View<'_>) -> Self {
        let here = match view {
            View::From(folder) | View::Only(folder) => Some(projects.key_of(folder)),
            View::Owner | View::Upkeep => None,
        };
        let excluded = if view == View::Upkeep { Patterns::default() } else { excluded };
        let isolated = if here.is_some() { isolated } else { Patterns::default() };
        Self { excluded, isolated, projects, here, here_only: matches!(view, View::Only(_)) }
    }

    /// For who looks after the index, and shows nothing of what it reads.
    pub fn upkeep() -> Self {
        Self::new(Patterns::default(), Patterns::default(), Projects::default(), View::Upkeep)
    }

    /// Is all there is shown? Then nobody need look at the projects.
    pub fn hides_nothing(&self) -> bool {
        !self.hides_folders() && !self.here_only
    }

    /// Does it matter in which folders the parts of a session took place?
    pub fn hides_folders(&self) -> bool {
        !self.excluded.is_empty() || !self.isolated.is_empty()
    }

    /// Is a project shown, by its key? What holds for all projects always is.
    pub fn shows_project(&self, key: &str) -> bool {
        key == EVERYWHERE || (!self.here_only || self.here.as_deref() == Some(key)) && self.shows_folder(key)
    }

    /// Is shown what took place in a folder? Not where it, or the project it belongs to, is excluded, or isolated and another one.
    pub fn shows_folder(&self, folder: &str) -> bool {
        if !self.hides_folders() {
            return true;
        }
        let key = self.projects.key_of(folder);
        let among = |patterns: &Patterns| patterns.fit(folder) || patterns.fit(&key);
        !among(&self.excluded) && (self.here.as_ref() == Some(&key) || !among(&self.isolated))
    }
}
