//! Privacy settings: patterns that match no known project, and keys that were renamed.

use super::Finding;
use crate::app::known_folders::known_folders;
use crate::config::Config;

/// Findings on renamed keys and unused patterns; empty without either.
pub(crate) fn findings(config: &Config) -> Vec<Finding> {
    let mut all: Vec<Finding> = config
        .renamed_keys()
        .into_iter()
        .map(|told| Finding::warning("config", told, "the old key goes on working; the new one says more clearly what it means"))
        .collect();
    let known = known_folders(config);
    // Before the first session no pattern could match.
    if known.is_empty() {
        return all;
    }
    let idle = config.unmatched_patterns(&known);
    let advice = "is it spelt as the folder is? the book (docs/) says under Privacy how patterns are read; one that is for later does no harm";
    all.extend(idle.into_iter().map(|told| Finding::warning("privacy", told, advice)));
    all
}
