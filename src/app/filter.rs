//! `--project` and `--since`, shared by all commands.

use std::path::Path;

use anyhow::{Context, Result};
use globset::GlobSet;

use crate::config::{Config, globset};
use crate::model::session::{Millis, Project};

/// Matches projects by glob. A pattern without a slash is also matched against the last folder of the path.
pub(crate) struct ProjectFilter(Option<GlobSet>);

impl ProjectFilter {
    pub(crate) fn new(pattern: Option<&str>, config: &Config) -> Result<Self> {
        Ok(Self(pattern.map(|p| globset(&[p.to_owned()], &config.home)).transpose().context("--project")?))
    }

    pub(crate) fn fits(&self, project: &Project) -> bool {
        self.0.as_ref().is_none_or(|globs| globs.is_match(Path::new(&project.key)) || globs.is_match(project.name()))
    }
}

/// Start of the range that `--since` asks for.
pub(crate) fn parse_since(text: Option<&str>, config: &Config) -> Result<Millis> {
    text.map_or(Ok(Millis::MIN), |text| parse_time("--since", text, config))
}

/// Parses a time spec: an age or a date.
pub(crate) fn parse_time(option: &str, text: &str, config: &Config) -> Result<Millis> {
    crate::model::time_spec::parse_time(text, config.now(), &config.time_zone).with_context(|| format!("{option} {text}"))
}
