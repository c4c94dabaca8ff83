//! Sources of sessions: finding transcripts and parsing their lines.

pub mod claude_code;
pub mod delta;
pub mod discover;
pub mod json;
pub mod json_cursor;
pub mod live_session;
pub mod mark;
pub mod working_folders;
