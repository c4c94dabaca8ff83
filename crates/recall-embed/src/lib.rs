//! Runs small sentence transformers (BERT) on the CPU: `all-MiniLM-L6-v2`, `bge-small-en-v1.5`, `multilingual-e5-small` and others of their
//! shape.
//!
//! `weights` maps the file with the numbers, `bert` computes, `folder` reads and checks the files of a model, `model` makes vectors of texts,
//! `protocol` answers requests.

pub mod bert;
pub mod folder;
pub mod model;
pub mod protocol;
pub mod weights;
