//! What Antigravity's tools are for, by the names under which their uses are stored.

use crate::session::ToolClass;
use crate::source::tool_use::ToolTable;

/// Writes a file whole.
pub(super) const WRITE: &str = "write_to_file";
/// Takes several parts out of a file and puts others there.
pub(super) const REPLACE_MANY: &str = "multi_replace_file_content";
/// Calls a tool of a server, which its arguments name.
pub(super) const OF_SERVER: &str = "call_mcp_tool";

pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &["run_command"]),
    (ToolClass::Edit, &[REPLACE_MANY, "notebook_edit", "replace_file_content", "sed_file", WRITE]),
    (ToolClass::Read, &["view_code_item", "view_content_chunk", "view_file", "view_file_outline"]),
    (ToolClass::Search, &["code_search", "codebase_search", "find_by_name", "grep_search", "list_dir", "search_in_file"]),
    (ToolClass::Web, &["open_browser_url", "read_url_content", "search_web"]),
    (ToolClass::Subagent, &["browser_subagent", "invoke_subagent"]),
    (ToolClass::Question, &["ask_question"]),
    (
        ToolClass::Bookkeeping,
        &[
            "ask_custom_permission", "ask_permission", "command_status", "define_subagent", "generate_image", "list_permissions",
            "list_resources", "manage_subagents", "manage_task", "notify_user", "read_resource", "read_terminal", "schedule",
            "send_command_input", "send_message", "skill", "task_boundary",
        ],
    ),
]);
