//! Where a session of claude-mem took place. It notes a name, which is that of the folder; seldom a path.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::known_folders::known_folders;
use crate::config::Config;
use crate::inputs::claude_mem::ClaudeMemSession;
use crate::model::note::EVERYWHERE;
use crate::sys::projects::Projects;
use text::clean::{one_line, shorten, without_controls};
use transcripts::session::Project;

/// What claude-mem itself calls a project without a name.
const UNNAMED: &str = "unknown-project";
/// The most characters of a name.
const MAX_NAME_CHARS: usize = 120;

/// The project of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The root's path, or the name alone.
    pub(super) key: String,
    /// The session's own folder, where claude-mem tells it.
    pub(super) cwd: Option<String>,
    /// The name by which it was looked for.
    name: String,
}

impl Place {
    #[cfg(test)]
    pub(super) fn of_key(key: &str) -> Self {
        Self { key: key.to_owned(), cwd: None, name: String::new() }
    }

    /// Is its folder known, and not only its name?
    pub(super) fn is_folder(&self) -> bool {
        self.key.starts_with('/')
    }
}

/// The projects that are known here.
pub(super) struct Places<'c> {
    config: &'c Config,
    projects: Projects,
    by_name: BTreeMap<String, BTreeSet<String>>,
}

impl<'c> Places<'c> {
    /// Those of the index and of the transcripts, excluded ones too.
    pub(super) fn known(config: &'c Config) -> Self {
        Self::among(&known_folders(config), config.project_keys(), config)
    }

    fn among(folders: &[String], projects: Projects, config: &'c Config) -> Self {
        let mut by_name: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for key in folders.iter().filter(|folder| folder.starts_with('/')).map(|folder| projects.key_of(folder)) {
            let project = Project { key };
            by_name.entry(project.name().to_owned()).or_default().insert(project.key);
        }
        Self { config, projects, by_name }
    }

    /// The project of a session: by the path that claude-mem tells, by `[projects]` of the config, by the paths of the files that were worked
    /// on, or by its name, where one project that is known has it. Else the name stands for it.
    pub(super) fn of(&self, session: &ClaudeMemSession) -> Place {
        let told = one_line(&without_controls(&session.project));
        let told = told.trim_end_matches('/');
        let path = match told.strip_prefix("~/") {
            Some(rest) => self.config.home.join(rest).to_str().map(str::to_owned),
            None => told.starts_with('/').then(|| told.to_owned()),
        };
        if let Some(cwd) = path {
            let key = self.projects.key_of(&cwd);
            return Place { name: Project { key: cwd.clone() }.name().to_owned(), key, cwd: Some(cwd) };
        }
        // A worktree is called after its repository and itself.
        let name = shorten(told.split('/').next().unwrap_or_default(), MAX_NAME_CHARS);
        let name = if name.is_empty() || name == EVERYWHERE { UNNAMED.to_owned() } else { name };
        let moved = Some(self.projects.moved_to(&name)).filter(|key| *key != name);
        let only = |keys: &BTreeSet<String>| keys.first().filter(|_| keys.len() == 1).cloned();
        let key = moved.or_else(|| only(&self.roots_of_files(session, &name))).or_else(|| only(self.by_name.get(&name)?));
        Place { key: key.unwrap_or_else(|| name.clone()), cwd: None, name }
    }

    /// The projects with this name in which files of a session lie.
    fn roots_of_files(&self, session: &ClaudeMemSession, name: &str) -> BTreeSet<String> {
        let root = |file: &str| {
            let at = file.find(&format!("/{name}/"))?;
            Some(self.projects.key_of(&file[..at + 1 + name.len()]))
        };
        session.files().filter(|file| file.starts_with('/')).filter_map(root).collect()
    }

    /// Is the project excluded, or one that may be it, or a folder in which files of the session lie?
    pub(super) fn excludes(&self, session: &ClaudeMemSession, place: &Place) -> bool {
        let patterns = &self.config.exclude_projects;
        if patterns.is_empty() {
            return false;
        }
        let is_out = |folder: &str| self.config.excludes_folder(folder, &self.projects);
        let of_name = || self.by_name.get(&place.name).into_iter().flatten();
        is_out(&place.key)
            || place.cwd.as_deref().is_some_and(is_out)
            || !place.is_folder() && (patterns.fit_name(&place.name) || of_name().any(|key| is_out(key)))
            || session.files().filter(|file| file.starts_with('/')).any(|file| patterns.fit(file))
    }
}
