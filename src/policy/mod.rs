//! Decides what of the memory may be shown to whom, by the current config and not by that of the last digest.

mod patterns;

use crate::model::note::EVERYWHERE;
use crate::sys::projects::Projects;
pub(crate) use patterns::HOME_NAMES;
pub use patterns::ProjectPatterns;
use transcripts::session::Millis;

/// The point of view from which the memory is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View<'a> {
    /// The owner, to count or export: everything that is not excluded.
    Owner,
    /// From this folder: everything but excluded projects and other isolated ones.
    InFolder(&'a str),
    /// Only the project of this folder.
    OnlyProject(&'a str),
}

/// Which projects and sessions are shown. `store::Memory` asks it for everything it reads.
#[derive(Debug)]
pub struct Policy {
    /// Projects that are never shown.
    excluded: ProjectPatterns,
    /// Projects whose sessions are shown only within them.
    isolated: ProjectPatterns,
    projects: Projects,
    /// The project of the viewer.
    here: Option<String>,
    /// Nothing of other projects is shown.
    here_only: bool,
    /// Only what was known then is shown, in milliseconds since the Unix epoch.
    known_at: Option<Millis>,
}

impl Policy {
    pub fn new(excluded: ProjectPatterns, isolated: ProjectPatterns, projects: Projects, view: View<'_>) -> Self {
        let here = match view {
            View::InFolder(folder) | View::OnlyProject(folder) => Some(projects.key_of(folder)),
            View::Owner => None,
        };
        let isolated = if here.is_some() { isolated } else { ProjectPatterns::default() };
        Self { excluded, isolated, projects, here, here_only: matches!(view, View::OnlyProject(_)), known_at: None }
    }

    /// The same for somebody who asked at this time: sessions that had not ended, notes that nobody had written, and what git showed later
    /// are not shown.
    pub(crate) fn known_before(self, at: Millis) -> Self {
        Self { known_at: Some(at), ..self }
    }

    pub(crate) fn known_at(&self) -> Option<Millis> {
        self.known_at
    }

    /// Is everything shown? Then projects need not be looked up.
    pub(crate) fn hides_nothing(&self) -> bool {
        !self.hides_folders() && !self.here_only && self.known_at.is_none()
    }

    /// Does it matter in which folders the parts of a session took place?
    pub(crate) fn hides_folders(&self) -> bool {
        !self.excluded.is_empty() || !self.isolated.is_empty()
    }

    /// Is a project shown, by its key? Notes for all projects always are.
    pub(crate) fn shows_project(&self, key: &str) -> bool {
        key == EVERYWHERE || (!self.here_only || self.here.as_deref() == Some(key)) && self.shows_folder(key)
    }

    /// Is what took place in a folder shown? Not if it, or its project, is excluded, or is isolated and not the viewer's.
    pub(crate) fn shows_folder(&self, folder: &str) -> bool {
        if !self.hides_folders() {
            return true;
        }
        let key = self.projects.key_of(folder);
        !(self.excluded.fit(folder) || self.excluded.fit(&key) || self.isolates(folder, &key))
    }

    /// Is what took place in a folder hidden because that is isolated and not the viewer's?
    pub(crate) fn isolates_folder(&self, folder: &str) -> bool {
        !self.isolated.is_empty() && self.isolates(folder, &self.projects.key_of(folder))
    }

    fn isolates(&self, folder: &str, key: &str) -> bool {
        self.here.as_deref() != Some(key) && (self.isolated.fit(folder) || self.isolated.fit(key))
    }
}
