//! Sources of sessions: finding transcripts and parsing their lines. What others need of a client's own module is named here.

mod claude_code;
pub(crate) mod claude_mem;
pub(crate) mod client_memory;
pub(crate) mod delta;
pub(crate) mod discover;
pub(crate) mod json;
pub(crate) mod json_cursor;
pub(crate) mod live_session;
pub(crate) mod mark;
pub(crate) mod working_folders;

pub(crate) use self::claude_code::release::{NEWEST_TESTED, Release};
pub(crate) use self::claude_code::{ACTING_TOOLS, LineParser, is_user_text, is_wrapped, may_be_person};
pub use self::claude_code::{ParentLink, ParsedLine, TranscriptIdentity, is_complete, parse_line};
use crate::model::session::ToolClass;

/// The tools whose uses are no memory, unless the config says otherwise, by name; a `*` at the end stands for any ending.
pub(crate) fn tools_of_no_memory() -> Vec<String> {
    claude_code::tools_of_no_memory().collect()
}

/// Here, and not with the type, since only sources know how their clients call things. What is below sees the class of a
/// [`ToolUse`](crate::model::session::ToolUse).
impl ToolClass {
    /// What a tool is for, by the name under which it is stored.
    pub(crate) fn of(name: &str) -> Self {
        claude_code::class_of_tool(name).unwrap_or(Self::Other)
    }
}
