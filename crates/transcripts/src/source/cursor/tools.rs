//! What Cursor's tools are for, by the names under which their uses are stored.

use crate::session::ToolClass;
use crate::source::tool_use::ToolTable;

/// Writes a file whole.
pub(super) const WRITE: &str = "Write";
/// Takes a file away.
pub(super) const DELETE: &str = "Delete";
/// Calls a tool of a server.
pub(super) const OF_SERVER: &str = "CallMcpTool";
/// The list of what is to be done.
pub(super) const TODOS: &str = "TodoWrite";

pub(super) const TOOLS: ToolTable = ToolTable::of(&[
    (ToolClass::Shell, &["Shell"]),
    (ToolClass::Edit, &["ApplyPatch", DELETE, "EditNotebook", "MultiEdit", "StrReplace", WRITE]),
    (ToolClass::Read, &["Read", "ReadFile"]),
    (ToolClass::Search, &["Glob", "Grep", "LS", "SemanticSearch"]),
    (ToolClass::Web, &["WebFetch", "WebSearch"]),
    (ToolClass::Subagent, &["Task"]),
    (ToolClass::Plan, &["CreatePlan"]),
    (ToolClass::Todo, &[TODOS]),
    (ToolClass::Question, &["AskQuestion"]),
    (ToolClass::Bookkeeping, &["Await", "AwaitShell", "FetchMcpResource", "ReadLints", "SwitchMode"]),
]);
