//! What hooks keep between two calls: what a session was shown, which summary is awaited, which start was answered, what went wrong.

use std::path::Path;

use crate::inputs::mark;

pub(crate) mod compaction;
pub(crate) mod dedupe;
pub(crate) mod log;
pub(crate) mod seen;

/// Removes what hooks left behind and no longer need.
pub(crate) fn tidy(data_dir: &Path) {
    mark::remove_leftovers(data_dir);
    dedupe::remove_old(data_dir);
    seen::remove_old(data_dir);
    compaction::remove_old(data_dir);
}
