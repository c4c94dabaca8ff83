//! Who may see what of the memory, by the config of today and not by that of the last digest.

use std::cell::RefCell;
use std::collections::HashMap;

use globset::GlobSet;

use crate::notes::EVERYWHERE;
use crate::source::project::Projects;

/// From where somebody looks at the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View<'a> {
    /// The program itself, which looks after the index and shows nothing of what it reads.
    Upkeep,
    /// Who owns the memory and counts or exports it: all that is not excluded.
    Owner,
    /// Somebody in this folder.
    From(&'a str),
}

/// Which projects, and which sessions of them, are shown. `store::Memory` asks it once for everything it reads.
#[derive(Debug)]
pub struct Policy {
    /// Projects that are left out altogether.
    excluded: GlobSet,
    projects: Projects,
    hides_nothing: bool,
    known: RefCell<HashMap<String, bool>>,
}

impl Policy {
    pub fn new(excluded: GlobSet, projects: Projects, view: View<'_>) -> Self {
        let hides_nothing = view == View::Upkeep || excluded.is_empty();
        Self { excluded, projects, hides_nothing, known: RefCell::default() }
    }

    /// For who looks after the index, and shows nothing of what it reads.
    pub fn upkeep() -> Self {
        Self::new(GlobSet::empty(), Projects::default(), View::Upkeep)
    }

    /// Is all there is shown? Then nobody need look at the projects.
    pub fn hides_nothing(&self) -> bool {
        self.hides_nothing
    }

    /// Is a project shown, by its key? What holds for all projects always is.
    pub fn shows_project(&self, key: &str) -> bool {
        self.hides_nothing || key == EVERYWHERE || self.is_open(key)
    }

    /// Is a session of a project shown that had a part in a folder?
    pub fn shows_part(&self, key: &str, folder: &str) -> bool {
        self.shows_project(key) && (self.hides_nothing || self.is_open(folder))
    }

    /// Is neither the folder nor the project it belongs to excluded? Each is looked up once: that asks the disk.
    fn is_open(&self, folder: &str) -> bool {
        if let Some(known) = self.known.borrow().get(folder) {
            return *known;
        }
        let is_open = !self.excluded.is_match(folder) && !self.excluded.is_match(self.projects.key_of(folder));
        self.known.borrow_mut().insert(folder.to_owned(), is_open);
        is_open
    }
}
