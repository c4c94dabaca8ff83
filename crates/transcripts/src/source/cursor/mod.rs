//! Cursor: the only module that knows how it writes its agent's transcripts and how its tools are called. Known from what others report and
//! from small made samples; no release was tried.
//!
//! The rows have neither ids nor results, and only newer prompts have times. What the panel of the editor keeps in its own database, and the
//! texts that older releases wrote, are not read.

mod files;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client.
pub(super) struct Cursor;
