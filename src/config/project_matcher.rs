//! Which projects someone means who names them: the one answer for `--project` of every command, and for `project:` of a search.
//!
//! What the config excludes or isolates is read more generously, by [`crate::policy::ProjectPatterns`]: folders below, and names in between.

use std::path::Path;

use anyhow::Result;
use globset::GlobSet;

use super::globset;
use transcripts::session::Project;

/// A pattern for projects: a glob, matched against the path of a project's root and against its name, which is that of its folder. `~` is
/// the home, by each of its paths where it lies behind a link.
#[derive(Debug, Clone)]
pub(crate) struct ProjectMatcher {
    written: String,
    globs: GlobSet,
}

impl ProjectMatcher {
    /// # Errors
    /// When it is no glob.
    pub(crate) fn read(written: &str, home: &Path) -> Result<Self> {
        Ok(Self { globs: globset(&[written.to_owned()], home)?, written: written.to_owned() })
    }

    /// The same for a search, which refuses nothing: what is no glob means no project, and may be a part of a name.
    pub(crate) fn read_any(written: &str, home: &Path) -> Self {
        Self::read(written, home).unwrap_or_else(|_| Self { written: written.to_owned(), globs: GlobSet::empty() })
    }

    pub(crate) fn written(&self) -> &str {
        &self.written
    }

    /// Is this project meant?
    pub(crate) fn means(&self, project: &Project) -> bool {
        self.globs.is_match(&project.key) || self.globs.is_match(project.name())
    }

    /// Is what was written a part of the project's name? A search takes that where no project is meant.
    pub(crate) fn is_part_of_name(&self, project: &Project) -> bool {
        project.name().to_lowercase().contains(&self.written.to_lowercase())
    }
}

/// By what was written: the home is the same for all of a run.
impl PartialEq for ProjectMatcher {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Eq for ProjectMatcher {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_meant_by_its_path_its_name_or_a_glob_of_either() {
        let project = Project { key: "/home/dev/src/Shop-api".into() };
        for (written, means, is_part) in [
            ("Shop-api", true, true),
            ("Shop*", true, false),
            ("/home/dev/src/Shop-api", true, false),
            ("~/src/Shop-api", true, false),
            ("~/src/*", true, false),
            ("*/src/*", true, false),
            ("shop", false, true),
            ("shop-api", false, true),
            ("/home/dev/src", false, false),
            ("~/src", false, false),
            ("src", false, false),
            ("[shop", false, false),
        ] {
            let matcher = ProjectMatcher::read_any(written, Path::new("/home/dev"));
            assert_eq!((matcher.means(&project), matcher.is_part_of_name(&project)), (means, is_part), "{written}");
        }
        assert!(ProjectMatcher::read("[shop", Path::new("/home/dev")).is_err());
    }
}
