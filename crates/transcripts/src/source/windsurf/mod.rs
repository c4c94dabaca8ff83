//! Windsurf: the only module that knows how it writes what was said and how the steps of its assistant are called. Known from its documentation, from
//! a transcript that others have published and from small made samples; no release was tried.
//!
//! Windsurf keeps conversations encrypted. While a hook for `post_cascade_response_with_transcript` is configured, it also writes the whole
//! conversation after each reply, a step a line, and leaves the last hundred of these files. Steps have neither ids nor times; a tool's step
//! also has what came of it.

mod files;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client.
pub(super) struct Windsurf;
