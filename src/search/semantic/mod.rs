//! Semantic similarity, by a model that is installed on this machine or an endpoint that the user chooses. Off without either.
//!
//! `recall digest` embeds pieces of what is stored and keeps their vectors; `recall search` and the search tool of `recall mcp` embed the
//! query. Hooks never do either.
//!
//! Vectors are compared only within a space: one model, one number of dimensions, one version of the cutting, and the same vector for
//! the probe text. The probe detects a model that was replaced under the same name.

mod embedder;
mod endpoint;
mod local_model;
pub(crate) mod nearest;
pub(crate) mod pieces;
pub(crate) mod score_fusion;
pub(crate) mod wire;

pub(crate) use crate::search::semantic::nearest::{matches_probe, semantic_matches, space_of};
pub(crate) use embedder::{Embedder, TextRole, TextToEmbed};
pub(crate) use endpoint::{EmbeddingError, Endpoint};
pub(crate) use local_model::{LocalModel, program as local_program};

/// The text whose vector identifies a space. Never change it: every index would have to be embedded again.
pub(crate) const PROBE: &str = "The quick brown fox jumps over the lazy dog while the build is red.";

/// The least cosine of two probe vectors of the same model: allows for rounding, not for another model.
pub(crate) const SAME_MODEL_COSINE: f64 = 0.995;
