//! What Pi's tools are for, by the names under which their uses are stored.

use crate::session::ToolClass;
use crate::source::tool_use::ToolTable;

/// Writes a file whole.
pub(super) const WRITE: &str = "write";

pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &["bash"]),
    (ToolClass::Edit, &["edit", WRITE]),
    (ToolClass::Read, &["read"]),
    (ToolClass::Search, &["find", "grep", "ls"]),
]);
