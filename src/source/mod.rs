//! Sources of sessions: finding transcripts and parsing their lines.

pub mod claude_code;
mod cursor;
pub mod discover;
pub mod json;
pub mod known;
pub mod project;
