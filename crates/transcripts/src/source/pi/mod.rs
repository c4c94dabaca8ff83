//! Pi: the only module that knows how it writes its sessions and how its tools are called. Seen with 0.73.1, by its own book of the format.
//!
//! A session is a file of entries that form a tree. A fork copies entries with their ids and times, which together are their key: an id alone
//! has 32 bits.

mod files;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client.
pub(super) struct Pi;
