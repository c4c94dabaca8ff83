//! Cline: the only module that knows how its command line writes sessions and how its tools are called. Seen with 3.0.65.
//!
//! A session is a document that is written whole each time, and another one beside it that says where it took place. A line is made of each
//! message. What the extension for editors keeps in another form, [`editor_tasks`](super::editor_tasks) reads.

mod document;
mod files;
mod parser;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client.
pub(super) struct Cline;
