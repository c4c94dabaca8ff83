//! The brief of a session that `recall show` prints: 500 to 1,000 tokens, less for short sessions, never more.
//!
//! `app::brief` collects it from the index, `write` tells it: what a model said of the session, as the model's, then the session's account,
//! which quotes and counts (`render::quoted`). Room that one part leaves goes to the others, and each thing is told once.

mod frame;
mod write;

pub(crate) use frame::{DigestCoverage, FrameFacts};
pub(crate) use write::{BriefInput, ModelClaims, write};

/// The token limit of a brief, by the estimate of [`text::budget::tokens`].
pub(crate) const MAX_TOKENS: usize = 1_000;
