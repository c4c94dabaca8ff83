//! `recall`: a memory for Claude Code.
//!
//! Hooks leave a mark. `recall digest` ingests what was appended to the transcripts, keeps what matters, digests it once, and
//! writes daily pages and a SQLite index. Data flows one way: source → store → select → summarize → verify → store → pages.

#![forbid(unsafe_code)]
// `println!` and `eprintln!` panic if nothing reads the stream, so all output goes through `ui` and `screen`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod author;
pub mod brief;
pub mod chain;
mod child;
pub mod clean;
pub mod cli;
mod closing;
mod cmd;
pub mod condense;
pub mod config;
mod consent;
pub mod context;
pub mod course;
pub mod delta;
pub mod digest;
mod doctor;
pub mod duplicates;
pub mod embed;
pub mod extract;
pub mod facts;
mod fault;
pub mod find;
pub mod fixes;
pub mod hook;
pub mod install;
mod items;
mod last_run;
mod leftovers;
pub mod likeness;
pub mod mark;
pub mod markdown;
mod mcp;
mod moment;
pub mod notes;
mod off;
pub mod page;
mod paths;
pub mod phrase;
pub mod price;
pub mod privacy;
mod private;
pub mod prompt;
pub mod prose;
pub mod rows;
mod screen;
pub mod select;
pub mod session;
pub mod signal;
pub mod source;
mod stop;
pub mod store;
pub mod summarize;
mod tail;
pub mod terms;
pub mod timeline;
mod titles;
pub mod topic;
mod transcript;
mod ui;
pub mod verify;
mod writer;

pub use cmd::run;
