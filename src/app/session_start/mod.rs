//! What a session starts with: notes from earlier sessions of its project, within a token budget.
//!
//! `gather` collects them from the index, the marks and the ends of transcripts; `render` writes the text. It is data about the past,
//! framed as such, in a block that is never ingested again.

pub(crate) mod client_memory;
mod gather;

pub(crate) use gather::{ContextRequest, StartMode, gather, gather_compacted};

pub(crate) use crate::render::session_start::RenderedContext;
