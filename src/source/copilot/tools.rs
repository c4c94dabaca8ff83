//! What Copilot CLI's tools are for, by the names under which their uses are stored.

use crate::model::session::ToolClass;

/// A patch, in the form of OpenAI's models.
pub(super) const PATCH: &str = "apply_patch";
/// Writes a file whole.
pub(super) const CREATE: &str = "create";
/// Asks the user.
pub(super) const QUESTION: &str = "ask_user";

/// All else asks for the class and no name.
const TOOLS: [(ToolClass, &[&str]); 8] = [
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
];

/// What a tool of the client is for; `None` if it is unknown.
pub(super) fn class_of(name: &str) -> Option<ToolClass> {
    TOOLS.iter().find(|(_, names)| names.contains(&name)).map(|(class, _)| *class)
}

/// The tools whose uses are no memory, in the order of their names.
pub(super) fn of_no_memory() -> impl Iterator<Item = String> {
    let mut tools: Vec<&str> =
        TOOLS.iter().filter(|(class, _)| class.is_no_memory()).flat_map(|(_, names)| *names).copied().collect();
    tools.sort_unstable();
    tools.into_iter().map(str::to_owned)
}
