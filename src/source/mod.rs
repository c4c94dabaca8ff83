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

use crate::model::session::ToolClass;

/// Here, and not with the type, since only sources know how their clients call things. What is below sees the class of a
/// [`ToolUse`](crate::model::session::ToolUse).
impl ToolClass {
    /// What a tool is for, by the name under which it is stored.
    pub(crate) fn of(name: &str) -> Self {
        claude_code::class_of_tool(name).unwrap_or(Self::Other)
    }
}
