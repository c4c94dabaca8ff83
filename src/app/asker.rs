//! Whoever asks, by the folder they work in: which project comes first, and what they may be shown.

use std::borrow::Cow;
use std::path::Path;

use anyhow::Result;

use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::policy::View;

pub(crate) struct Asker<'a> {
    config: &'a Config,
    folder: Cow<'a, str>,
}

impl<'a> Asker<'a> {
    pub(crate) fn in_folder(config: &'a Config, folder: &'a Path) -> Self {
        Self { config, folder: folder.to_string_lossy() }
    }

    /// In the current folder. In one that is gone they are of no project.
    pub(crate) fn here(config: &'a Config) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        Self { config, folder: here.to_string_lossy().into_owned().into() }
    }

    /// The key of the project that comes first.
    pub(crate) fn project(&self) -> String {
        self.config.project_keys().key_of(&self.folder)
    }

    /// Does the config exclude this folder, or its project?
    #[cfg(feature = "team")]
    pub(crate) fn is_excluded(&self) -> bool {
        self.config.excludes_folder(&self.folder, &self.config.project_keys())
    }

    /// All projects, as they may be shown in this folder.
    pub(crate) fn view(&self) -> View<'_> {
        View::InFolder(&self.folder)
    }

    /// This folder's project alone.
    pub(crate) fn view_of_project(&self) -> View<'_> {
        View::OnlyProject(&self.folder)
    }

    /// The memory as it may be shown in this folder.
    ///
    /// # Errors
    /// As [`OpenMemory::of`].
    pub(crate) fn memory(&self) -> Result<OpenMemory> {
        OpenMemory::of(self.config, self.view())
    }

    /// The same, if there is one.
    pub(crate) fn memory_if_there(&self) -> Result<Option<OpenMemory>> {
        OpenMemory::if_there(self.config, self.view())
    }
}
