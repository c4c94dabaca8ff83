//! Sources of sessions: finding transcripts and parsing their lines.

pub(crate) mod claude_code;
pub(crate) mod delta;
pub(crate) mod discover;
pub(crate) mod json;
pub(crate) mod json_cursor;
pub(crate) mod live_session;
pub(crate) mod mark;
pub(crate) mod pause;
pub(crate) mod working_folders;
