//! Nearness in meaning, by an embeddings endpoint of the user's own choice. Nothing of it happens unless the config names one.
//!
//! `recall digest` sends pieces of what it has stored and keeps the vectors, `recall search` and the search of `recall mcp` send what is
//! asked; no hook ever does.
//! Vectors are only compared within a space: one model, one number of dimensions, one way to cut texts, and the same vector for a
//! fixed text, by which a model that changed behind its name is noticed.

mod endpoint;
pub mod fuse;
mod near;
pub mod pieces;
pub mod vector;
pub mod wire;

pub use endpoint::{Endpoint, Failure};
pub use near::{is_of, near, space_of};

/// The text by whose vector a space is known again. Never changed: every index would be embedded anew.
pub const PROBE: &str = "The quick brown fox jumps over the lazy dog while the build is red.";

/// How near two vectors of the probe are at least when one model made them: more than rounding, less than another model.
pub const SAME_MODEL: f64 = 0.995;
