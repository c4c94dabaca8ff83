//! What a run of the digest is asked to do.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::app::consent;
use crate::app::filter::{ProjectFilter, parse_since};
use crate::config::{Config, SummarizerChoice};
use crate::model::time_spec::parse_duration;
use transcripts::session::Millis;

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
    /// Of a dry run: name every session, not the newest few.
    pub(crate) verbose: bool,
    /// Write all pages again.
    pub(crate) rebuild_pages: bool,
    /// Report as one JSON object.
    pub(crate) json: bool,
    /// Claude Code config directories to read in place of the config's.
    pub(crate) claude_dirs: Vec<PathBuf>,
}

/// The selection made on the command line.
pub(crate) struct DigestSelection {
    pub(crate) since: Millis,
    pub(crate) project: ProjectFilter,
    pub(crate) session: Option<String>,
    pub(crate) limit: usize,
    pub(crate) newest: Option<usize>,
    pub(crate) asked_for: Option<SummarizerChoice>,
    pub(crate) settle: Millis,
    /// A person may be asked: there is a terminal, and nobody chose who makes the digests.
    pub(crate) may_ask: bool,
}

impl DigestSelection {
    pub(crate) fn of(request: &DigestRequest, config: &Config) -> Result<Self> {
        let by_model = request.summarizer.is_some_and(SummarizerChoice::names_model);
        let word = config.digest.summarizer.word_of_model();
        anyhow::ensure!(request.newest.is_none() || by_model, "--newest needs `--summarizer {word}`");
        Ok(Self {
            since: parse_since(request.since.as_deref(), config)?,
            project: ProjectFilter::new(request.project.as_deref(), config)?,
            session: request.session.clone(),
            limit: request.limit.unwrap_or(usize::MAX),
            newest: request.newest,
            asked_for: request.summarizer,
            may_ask: request.summarizer.is_none()
                && config.digest.summarizer == SummarizerChoice::Auto
                && !request.json
                && !request.in_background
                && consent::has_terminal(),
            settle: match &request.settle {
                Some(text) => parse_duration(text).context("--settle")?,
                None => config.digest.settle_minutes as Millis * 60_000,
            },
        })
    }

    /// Does the command line name a model?
    pub(super) fn names_model(&self) -> bool {
        self.asked_for.is_some_and(SummarizerChoice::names_model)
    }
}
