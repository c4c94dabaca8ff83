//! Bookkeeping tools of the client, whose uses are not worth remembering.
//!
//! Recall's own tools are among them: what the memory says about earlier sessions is not ingested again. Their effects are kept:
//! to-do lists and tasks as state, the user's answers as words, plans as plans.

/// Tools that are not stored by default. A name that ends in `*` matches every tool that begins so.
pub(crate) const SKIP_TOOLS: [&str; 39] = [
    "AskUserQuestion", "BashOutput", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree", "ExitWorktree",
    "Glob", "Grep", "KillBash", "KillShell", "ListMcpResources", "ListMcpResourcesTool", "LS", "Monitor", "ReadMcpResource",
    "ReadMcpResourceTool", "ScheduleWakeup", "SendMessage", "SendUserFile", "Skill", "SlashCommand", "StructuredOutput",
    "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TeamCreate", "TeamDelete", "TodoRead",
    "TodoWrite", "ToolSearch", "mcp__ide__*", "mcp__ccd_session__*", "mcp__recall__*", "mcp__plugin_recall_recall__*",
];

/// The tools of `recall mcp`.
pub(crate) const OWN_TOOLS: [&str; 7] = ["search", "timeline", "get", "recall", "remember", "close", "status"];

/// Is this a tool of recall's own server? Independent of the config, where the list is the user's. A server is named by whoever
/// registered it; under a name without `recall` it cannot be recognized.
pub(crate) fn is_own_tool(name: &str) -> bool {
    let parts = name.strip_prefix("mcp__").and_then(|rest| rest.rsplit_once("__"));
    parts.is_some_and(|(server, tool)| server.to_lowercase().contains("recall") && OWN_TOOLS.contains(&tool))
}

/// Does the list name a tool?
pub(crate) fn is_skipped_tool<S: AsRef<str>>(name: &str, list: &[S]) -> bool {
    list.iter()
        .map(AsRef::as_ref)
        .any(|skipped| name == skipped || skipped.strip_suffix("*").is_some_and(|start| name.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_tools_are_known_under_any_name_of_the_server_that_holds_ours() {
        for own in ["mcp__recall__search", "mcp__plugin_recall_recall__get", "mcp__my-Recall__timeline"] {
            assert!(is_own_tool(own), "{own}");
        }
        for other in ["mcp__memory__search", "mcp__recall__delete_meeting", "recall__search", "search", "mcp__recall"] {
            assert!(!is_own_tool(other), "{other}");
        }
    }

    #[test]
    fn a_name_is_skipped_as_a_whole_or_by_its_start() {
        assert!(is_skipped_tool("Skill", &SKIP_TOOLS));
        assert!(is_skipped_tool("mcp__ide__getDiagnostics", &SKIP_TOOLS));
        assert!(!is_skipped_tool("Skills", &SKIP_TOOLS));
        assert!(!is_skipped_tool("mcp__ide__getDiagnostics", &["mcp__ide"]));
        assert!(!is_skipped_tool("Skill", &[] as &[&str]));
        // These tools are stored: one's outcome says whether a plan was approved, the other's line what the assistant asked.
        assert!(!is_skipped_tool("ExitPlanMode", &SKIP_TOOLS));
        assert!(!is_skipped_tool("Task", &SKIP_TOOLS));
    }
}
