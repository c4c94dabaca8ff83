//! What a run of the digest is asked to do.

use std::path::PathBuf;

use crate::config::SummarizerChoice;

/// What to read and digest, and within which bounds. The default reads and digests all that the config names.
#[derive(Debug, Clone, Default)]
pub struct DigestRequest {
    /// Only sessions that were active since: an age such as `7d`, or a date.
    pub(crate) since: Option<String>,
    /// Only projects whose root matches this glob.
    pub(crate) project: Option<String>,
    /// Only this session, by id or its start.
    pub(crate) session: Option<String>,
    /// Digest at most this many sessions.
    pub(crate) limit: Option<usize>,
    /// The model digests the newest sessions that have none by it, up to this number, of a backlog, too.
    pub(crate) newest: Option<usize>,
    /// Spend at most this much on the model, in US dollars.
    pub(crate) max_cost: Option<f64>,
    /// Threads for reading; one a core where it is not given.
    pub(crate) jobs: Option<usize>,
    /// Stop before digesting.
    pub(crate) ingest_only: bool,
    /// At low priority and for a bounded time: no one waits for it.
    pub(crate) in_background: bool,
    /// In place of the config's.
    pub(crate) summarizer: Option<SummarizerChoice>,
    /// Digest sessions that have been quiet for this long, such as `10m`.
    pub(crate) settle: Option<String>,
    /// Change nothing; report what would be done and what it would cost.
    pub(crate) dry_run: bool,
    /// Write all pages again.
    pub(crate) rebuild_pages: bool,
    /// Report as one JSON object.
    pub(crate) json: bool,
    /// Claude Code config directories to read in place of the config's.
    pub(crate) claude_dirs: Vec<PathBuf>,
}
