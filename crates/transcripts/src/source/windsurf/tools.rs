//! What the steps of Windsurf's assistant are for, by the names under which they are stored: those of the steps.

use crate::session::ToolClass;
use crate::source::tool_use::ToolTable;

pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &["run_command"]),
    (ToolClass::Edit, &["code_action"]),
    (ToolClass::Read, &["view_file"]),
    (ToolClass::Search, &["find", "grep_search", "list_directory"]),
    (ToolClass::Bookkeeping, &["list_resources"]),
]);
