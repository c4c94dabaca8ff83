//! What Gemini CLI's tools are for, by the names under which their uses are stored.

use crate::session::ToolClass;
use crate::source::tool_use::ToolTable;

/// Writes a file whole.
pub(super) const WRITE: &str = "write_file";
/// The list of what is to be done.
pub(super) const TODOS: &str = "write_todos";

pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &["run_shell_command"]),
    (ToolClass::Edit, &["replace", WRITE]),
    (ToolClass::Read, &["read_file", "read_many_files"]),
    (ToolClass::Search, &["glob", "grep_search", "list_directory", "search_file_content"]),
    (ToolClass::Web, &["google_web_search", "web_fetch"]),
    (ToolClass::Subagent, &["codebase_investigator", "delegate_to_agent", "invoke_agent"]),
    (ToolClass::Plan, &["exit_plan_mode"]),
    (ToolClass::Todo, &[TODOS]),
    (ToolClass::Question, &["ask_user"]),
    (
        ToolClass::Bookkeeping,
        &[
            "activate_skill", "complete_task", "enter_plan_mode", "get_internal_docs", "list_background_processes",
            "list_mcp_resources", "read_background_output", "read_mcp_resource", "save_memory", "tracker_add_dependency",
            "tracker_create_task", "tracker_get_task", "tracker_list_tasks", "tracker_update_task", "tracker_visualize",
            "update_topic",
        ],
    ),
]);
