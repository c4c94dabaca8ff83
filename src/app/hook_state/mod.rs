//! What hooks keep between two calls: what a session was shown, which start was answered, what went wrong.

use std::path::Path;

use crate::source::mark;

pub mod dedupe;
pub mod log;
pub mod seen;

/// Removes what hooks left behind and no longer need.
pub fn tidy(data_dir: &Path) {
    mark::tidy(data_dir);
    dedupe::tidy(data_dir);
    seen::tidy(data_dir);
}
