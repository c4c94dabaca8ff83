//! Gemini CLI: the only module that knows how it writes its sessions and how its tools are called. Seen with 0.61.0.
//!
//! A session is a log: a message comes again with more in it, a list of messages takes the place of another. What was written once was said, so
//! the union of all messages is kept, by their ids. Older clients rewrite one document, which is not read.

mod files;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client of Google's.
pub(super) struct Gemini;
