//! What Copilot CLI's tools are for, by the names under which their uses are stored.

use crate::session::ToolClass;
use crate::source::tool_use::ToolTable;

/// A patch, in the form of OpenAI's models.
pub(super) const PATCH: &str = "apply_patch";
/// Writes a file whole.
pub(super) const CREATE: &str = "create";
/// Asks the user.
pub(super) const QUESTION: &str = "ask_user";

pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &["bash", "powershell"]),
    (ToolClass::Edit, &["edit", CREATE, "str_replace_editor", PATCH]),
    (ToolClass::Read, &["view"]),
    (ToolClass::Search, &["glob", "grep", "rg"]),
    (ToolClass::Web, &["web_fetch"]),
    (ToolClass::Subagent, &["task"]),
    (ToolClass::Question, &[QUESTION]),
    (
        ToolClass::Bookkeeping,
        &[
            "fetch_copilot_cli_documentation", "list_agents", "list_bash", "read_agent", "read_bash", "report_intent", "skill",
            "stop_bash", "write_bash",
        ],
    ),
]);
