//! What OpenCode's tools are for, by the names under which their uses are stored.

use crate::session::ToolClass;
use crate::source::tool_use::ToolTable;

/// Writes a file whole.
pub(super) const WRITE: &str = "write";
/// The list of what is to be done.
pub(super) const TODOS: &str = "todowrite";
/// Asks the user.
pub(super) const QUESTION: &str = "question";

pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &["bash"]),
    (ToolClass::Edit, &["apply_patch", "edit", "multiedit", "patch", WRITE]),
    (ToolClass::Read, &["read"]),
    (ToolClass::Search, &["codesearch", "glob", "grep", "list", "lsp"]),
    (ToolClass::Web, &["webfetch", "websearch"]),
    (ToolClass::Subagent, &["task"]),
    (ToolClass::Todo, &["todoread", TODOS]),
    (ToolClass::Question, &[QUESTION]),
    (ToolClass::Bookkeeping, &["batch", "invalid", "plan_enter", "plan_exit", "skill"]),
]);
