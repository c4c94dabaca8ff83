//! `--project` and `--since`, the same for every command.

use std::path::Path;

use anyhow::{Context, Result};
use globset::GlobSet;

use crate::config::{Config, globset};
use crate::session::{Millis, Project};

/// Which projects are meant. A pattern without a slash is matched against the last folder as well.
pub struct ProjectFilter(Option<GlobSet>);

impl ProjectFilter {
    pub fn new(pattern: Option<&str>, config: &Config) -> Result<Self> {
        Ok(Self(pattern.map(|p| globset(&[p.to_owned()], &config.home)).transpose().context("--project")?))
    }

    pub fn fits(&self, project: &Project) -> bool {
        self.0.as_ref().is_none_or(|globs| globs.is_match(Path::new(&project.key)) || globs.is_match(project.name()))
    }
}

/// The moment from which `--since` asks.
pub fn since(text: Option<&str>, config: &Config) -> Result<Millis> {
    text.map_or(Ok(Millis::MIN), |text| moment("--since", text, config))
}

/// The moment that an age or a date stand for.
pub fn moment(option: &str, text: &str, config: &Config) -> Result<Millis> {
    crate::moment::moment(text, config.now(), &config.time_zone).with_context(|| format!("{option} {text}"))
}
