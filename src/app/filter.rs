//! `--project` and `--since`, shared by all commands.

use anyhow::{Context, Result};

use crate::config::{Config, ProjectMatcher};
use transcripts::session::{Millis, Project};

/// The projects of `--project`; all without it.
pub(crate) struct ProjectFilter(Option<ProjectMatcher>);

impl ProjectFilter {
    pub(crate) fn new(pattern: Option<&str>, config: &Config) -> Result<Self> {
        Ok(Self(pattern.map(|written| ProjectMatcher::read(written, &config.home)).transpose().context("--project")?))
    }

    pub(crate) fn fits(&self, project: &Project) -> bool {
        self.0.as_ref().is_none_or(|matcher| matcher.means(project))
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
