//! Gemini CLI: the only module that knows how it writes its sessions and how its tools are called. Seen with 0.15.3 and 0.61.0.
//!
//! A session is a log: a message comes again with more in it, a list of messages takes the place of another. What was written once was said, so
//! the union of all messages is kept, by their ids. Older clients write one document, whole each time,
//! of which such a log is made. So are the first messages where a list alone has them.

mod document;
mod files;
mod listed;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client of Google's.
pub(super) struct Gemini;
