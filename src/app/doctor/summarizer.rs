//! The summarizer: what its own check found, and whether its model is left alone now.

use super::Finding;
use crate::config::Config;
use crate::store::last_run::{LastRun, ModelBackoff};
use crate::summarize;
use transcripts::session::Millis;

/// Whether the model is not asked for now, and why.
pub(crate) fn left_alone(config: &Config, now: Millis) -> Option<Finding> {
    let ModelBackoff { until, why } = LastRun::backoff(&config.data_dir, now)?;
    let until = config.local_time(Some(until), "%Y-%m-%d %H:%M");
    let word = config.digest.summarizer.word_of_model();
    let advice = format!("digests are made without it meanwhile; `recall digest --summarizer {word}` asks it now");
    Some(Finding::warning("model", format!("{why}: not called until {until}"), advice))
}

pub(crate) fn findings(config: &Config) -> Vec<Finding> {
    let checked = summarize::check(config.digest.summarizer, config);
    let mut all = checked.findings;
    all.extend(super::client::findings(config, checked.client_version.as_deref()));
    all
}
