//! Google Antigravity, its editor and its command line (`agy`): the only module that knows how they write what was said and how their tools are
//! called. Known from what others report and from small made samples; no release was tried.
//!
//! A conversation is a log of steps. A call of a tool has no id, and how it ended is a step of its own: the steps behind a call are its
//! results, in the order of the calls. Commands that take longer go on in the background, and a message of the client tells how they ended. The
//! client keeps no tokens there. A subagent has a conversation of its own; only the one that began it names it.

mod ends;
mod files;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client.
pub(super) struct Antigravity;
