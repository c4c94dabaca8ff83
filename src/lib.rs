//! `recall`: a memory for Claude Code.
//!
//! Hooks leave a mark. `recall digest` ingests what was appended to the transcripts, keeps what matters, digests it once, and
//! writes daily pages and a SQLite index. Data flows one way: source → store → select → summarize → verify → store → pages.

#![forbid(unsafe_code)]
// `println!` and `eprintln!` panic if nothing reads the stream, so all output goes through `ui` and `screen`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod analyze;
pub mod app;
pub mod cli;
pub mod config;
pub mod hook;
mod mcp;
pub mod model;
pub mod privacy;
pub mod render;
pub mod search;
pub mod setup;
pub mod source;
pub mod store;
pub mod summarize;
pub mod sys;
pub mod text;

pub use crate::cli::run;
