//! OpenCode: the only module that knows how it keeps its sessions and how its tools are called. Seen with 1.18.33 and 1.1.65.
//! Since 1.2 it keeps them in SQLite ([`database`]); before, in a file for each part of a message ([`storage`]). Newer versions copy what older
//! ones wrote, and leave the files: of a session that is in both, the database is read.
//!
//! Every session is a transcript of its own, of which lines are made: one for each message of the user's, one for each part of
//! the assistant's. A part is known by the time of its message and what is in it, since a fork copies both under other ids.

mod database;
mod files;
mod made;
mod rows;
mod storage;
#[cfg(test)]
mod tests;
mod tools;

/// The client.
pub(super) struct OpenCode;
