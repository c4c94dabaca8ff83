//! `recall`: a memory for Claude Code.
//!
//! Hooks leave a mark; `recall digest` reads what the transcripts gained, keeps what matters, digests it once and writes daily
//! pages and a SQLite index. Data goes one way: source → store → select → summarize → verify → store → pages.

#![forbid(unsafe_code)]

mod child;
pub mod clean;
pub mod cli;
mod cmd;
pub mod condense;
pub mod config;
pub mod delta;
pub mod digest;
pub mod extract;
pub mod fixes;
pub mod install;
pub mod mark;
mod markdown;
pub mod page;
mod price;
mod private;
pub mod prose;
pub mod select;
pub mod session;
pub mod signal;
pub mod source;
mod stop;
pub mod store;
pub mod summarize;
pub mod terms;
mod ui;
pub mod verify;

pub use cmd::run;
