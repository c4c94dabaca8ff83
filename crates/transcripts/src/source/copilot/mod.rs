//! Copilot CLI: the only module that knows how it writes its sessions and how its tools are called. Seen with 1.0.102.
//!
//! A session is a file of events, each with an id and the event it follows. Subagents write into the same file, with an id of theirs.
//! The client also writes what hooks were given and what they answered: that is passed over, or `recall` would read its own words.

mod files;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client of GitHub's.
pub(super) struct CopilotCli;
