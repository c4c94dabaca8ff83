//! What a session starts with: notes from earlier sessions of its project, within a token budget.
//!
//! `gather` collects them from the index, the marks and the ends of transcripts; `render` writes the text. It is data about the past,
//! framed as such, in a block that is never ingested again.

pub(crate) mod client_memory;
mod gather;

use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use text::budget::ESTIMATE;

pub(crate) use gather::{ContextRequest, StartMode, compacted_session, gather, gather_compacted, is_read_whole};

pub(crate) use crate::render::session_start::RenderedContext;

/// A question for what a new session would start with in a folder.
pub(crate) struct FreshStartRequest<'a> {
    pub(crate) cwd: &'a str,
    /// As the config says if not given.
    pub(crate) max_tokens: Option<usize>,
    /// When to stop reading transcripts.
    pub(crate) until: Instant,
}

/// What a new session would start with, as `recall context` tells it.
#[derive(Debug, Serialize)]
pub(crate) struct FreshStart {
    #[serde(flatten)]
    pub(crate) context: RenderedContext,
    pub(crate) max_tokens: usize,
    /// How tokens are counted.
    pub(crate) estimate: &'static str,
    /// The project's key.
    pub(crate) project: String,
}

/// # Errors
/// When the index cannot be read.
pub(crate) fn fresh_start(config: &Config, memory: Option<&OpenMemory>, asked: &FreshStartRequest<'_>) -> Result<FreshStart> {
    let max_tokens = asked.max_tokens.unwrap_or(config.hooks.max_inject_tokens);
    let wanted = ContextRequest {
        cwd: asked.cwd,
        session: None,
        start: StartMode::Blank,
        max_tokens,
        now: config.now(),
        until: asked.until,
        count: true,
        notice: None,
        live: true,
    };
    let context = gather(config, memory, &wanted)?;
    Ok(FreshStart { context, max_tokens, estimate: ESTIMATE, project: config.project_keys().key_of(asked.cwd) })
}
