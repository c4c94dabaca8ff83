//! The effective configuration, where each value came from, and what of it is not as it should be.

use serde::Serialize;

use crate::app::known_folders::known_folders;
use crate::config::{Config, Setting};

pub(crate) struct SettingsReply {
    pub(crate) settings: Vec<SettingLine>,
    /// Keys that are called otherwise now, and patterns that fit nothing.
    pub(crate) notices: Vec<String>,
}

/// A setting, as `recall config` tells it.
#[derive(Debug, Serialize)]
pub(crate) struct SettingLine {
    pub(crate) key: String,
    pub(crate) value: String,
    /// Where the value came from.
    pub(crate) from: String,
}

pub(crate) fn settings(config: &Config) -> SettingsReply {
    let known = known_folders(config);
    let idle = if known.is_empty() { Vec::new() } else { config.unmatched_patterns(&known) };
    let line = |Setting { key, value, origin }| SettingLine { key, value, from: origin };
    SettingsReply {
        settings: config.effective().into_iter().map(line).collect(),
        notices: config.renamed_keys().into_iter().chain(idle).collect(),
    }
}
