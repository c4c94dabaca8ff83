//! OpenCode: the only module that knows how it keeps its sessions and how its tools are called. Seen with 1.18.33; since 1.2 it keeps them in
//! SQLite. The files of older versions are not read.
//!
//! Every session of the database is a transcript of its own, of which lines are made: one for each message of the user's, one for each part of
//! the assistant's. A part is known by the time of its message and what is in it, since a fork copies both under other ids.

mod database;
mod files;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client.
pub(super) struct OpenCode;
