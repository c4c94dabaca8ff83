//! What the tools of Cline, Roo Code and Kilo Code are for, by the names under which their uses are stored.

use crate::session::ToolClass;
use crate::source::tool_use::ToolTable;

/// Runs a command.
const COMMAND: &str = "execute_command";
/// Writes a file whole.
pub(super) const WRITE: &str = "write_to_file";
/// A patch of several files.
pub(super) const PATCH: &str = "apply_patch";
/// The list of what is to be done.
pub(super) const TODOS: &str = "update_todo_list";
/// Calls a tool of a server, which it is given by name.
pub(super) const OF_SERVER: &str = "use_mcp_tool";
/// What the assistant says by calling a tool; the result is what the user says to it.
pub(super) const SAYS: [&str; 4] = ["act_mode_respond", "attempt_completion", "plan_mode_respond", "plan_mode_response"];

pub(in crate::source) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &[COMMAND]),
    (
        ToolClass::Edit,
        &[
            PATCH, WRITE, "apply_diff", "delete_file", "edit", "edit_file", "insert_content", "replace_in_file",
            "search_and_replace", "search_replace",
        ],
    ),
    (ToolClass::Read, &["read_file"]),
    (ToolClass::Search, &["codebase_search", "list_code_definition_names", "list_files", "search_files"]),
    (ToolClass::Web, &["browser_action", "web_fetch", "web_search"]),
    (ToolClass::Subagent, &["new_task", "use_subagents"]),
    (ToolClass::Todo, &[TODOS]),
    (ToolClass::Question, &["ask_followup_question"]),
    (
        ToolClass::Bookkeeping,
        &[
            "access_mcp_resource", "act_mode_respond", "attempt_completion", "condense", "fetch_instructions", "focus_chain",
            "generate_explanation", "load_mcp_documentation", "new_rule", "plan_mode_respond", "plan_mode_response",
            "read_command_output", "report_bug", "run_slash_command", "skill", "summarize_task", "switch_mode", "use_skill",
            OF_SERVER,
        ],
    ),
]);
