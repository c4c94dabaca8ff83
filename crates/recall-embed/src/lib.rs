//! Runs small sentence transformers (BERT) on the CPU: `all-MiniLM-L6-v2`, `bge-small-en-v1.5`, `multilingual-e5-small` and others of their
//! shape.
//!
//! `weights` maps the file with the numbers, `bert` computes, `model` reads a folder and makes vectors of texts, `protocol` answers requests.

pub mod bert;
pub mod model;
pub mod protocol;
pub mod weights;
