//! What Qwen Code's tools are for, by the names under which their uses are stored.

use crate::session::ToolClass;
use crate::source::tool_use::ToolTable;

/// Writes a file whole.
pub(super) const WRITE: &str = "write_file";
/// The list of what is to be done.
pub(super) const TODOS: &str = "todo_write";
/// Asks the user; its output has the answers.
pub(super) const QUESTION: &str = "ask_user_question";
/// Calls a tool that the model had to look for, such as one of a server.
pub(super) const FOUND_TOOL: &str = "tool_call";

pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &["run_shell_command"]),
    (ToolClass::Edit, &["edit", "notebook_edit", "replace", WRITE]),
    (ToolClass::Read, &["read_file"]),
    (ToolClass::Search, &["glob", "grep_search", "list_directory", "search_file_content"]),
    (ToolClass::Web, &["web_fetch", "web_search"]),
    (ToolClass::Subagent, &["agent", "task"]),
    (ToolClass::Plan, &["exit_plan_mode"]),
    (ToolClass::Todo, &[TODOS]),
    (ToolClass::Question, &[QUESTION]),
    (
        ToolClass::Bookkeeping,
        &[
            "cron_create", "cron_delete", "cron_list", "enter_plan_mode", "enter_worktree", "exit_worktree", "get_goal",
            "list_agents", "loop_wakeup", "monitor", "read_mcp_resource", "record_artifact", "record_source", "request_shutdown",
            "send_message", "skill", "structured_output", "task_create", "task_list", "task_stop", "task_update", "team_create",
            "team_delete", "team_plan_approval", "tool_search", "update_goal",
        ],
    ),
]);
