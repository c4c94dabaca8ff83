//! What Codex's tools are for, by the names under which their uses are stored.

use crate::session::ToolClass;
use crate::source::tool_use::ToolTable;

/// The name of a patch, and of each change of a file that is told as a finished item.
pub(super) const PATCH: &str = "apply_patch";
/// The name of a command that is told as a finished item.
pub(super) const COMMAND: &str = "exec_command";
/// Asks the user; its output has the answers.
pub(super) const QUESTION: &str = "request_user_input";
/// The list of what is to be done.
pub(super) const PLAN: &str = "update_plan";
/// Types into a command that runs on, or only waits for it.
pub(super) const STDIN: &str = "write_stdin";
/// Runs JavaScript that calls the other tools, which are told as finished items.
pub(super) const CODE: &str = "exec";

/// Names that Claude Code's table holds too (`Read` is none) would have to be told apart here.
pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &[COMMAND, "shell", "shell_command", "local_shell", "container.exec"]),
    (ToolClass::Edit, &[PATCH]),
    (ToolClass::Read, &["view_image"]),
    (ToolClass::Web, &["web_search"]),
    (ToolClass::Subagent, &["spawn_agent"]),
    (ToolClass::Todo, &[PLAN]),
    (ToolClass::Question, &[QUESTION]),
    (
        ToolClass::Bookkeeping,
        &[
            "close_agent", "followup_task", "list_agents", "list_mcp_resource_templates", "list_mcp_resources",
            "read_mcp_resource", "resume_agent", "send_input", "send_message", "tool_search", "wait", "wait_agent", STDIN,
        ],
    ),
]);
