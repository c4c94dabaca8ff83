//! Cline's command line: the only module that knows how it writes its sessions and how its tools are called. Seen with 3.0.65.
//!
//! A session is a document that is written whole each time, and another one beside it that says where it took place. A line is made of each
//! message. The extension for editors, and what was made of it, keep theirs elsewhere and in another form: those are not read.

mod document;
mod files;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client.
pub(super) struct Cline;
