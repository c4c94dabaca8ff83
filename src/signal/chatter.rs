//! Tools of the client's own bookkeeping: what they were called for is nobody's memory.
//!
//! Our own are among them: what the memory says of earlier sessions is not taken in again.
//! What they leave behind stays: to-do lists and tasks as state, the user's answers as words, plans as plans.

/// Tools that are not kept where the config does not say otherwise. One that ends in `*` stands for all that begin so.
pub const SKIP_TOOLS: [&str; 39] = [
    "AskUserQuestion", "BashOutput", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree", "ExitWorktree",
    "Glob", "Grep", "KillBash", "KillShell", "ListMcpResources", "ListMcpResourcesTool", "LS", "Monitor", "ReadMcpResource",
    "ReadMcpResourceTool", "ScheduleWakeup", "SendMessage", "SendUserFile", "Skill", "SlashCommand", "StructuredOutput",
    "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TeamCreate", "TeamDelete", "TodoRead",
    "TodoWrite", "ToolSearch", "mcp__ide__*", "mcp__ccd_session__*", "mcp__recall__*", "mcp__plugin_recall_recall__*",
];

/// Does the list name a tool?
pub fn is_chatter_tool<S: AsRef<str>>(name: &str, list: &[S]) -> bool {
    list.iter().map(AsRef::as_ref).any(|skipped| match skipped.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == skipped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_skipped_as_a_whole_or_by_its_start() {
        assert!(is_chatter_tool("Skill", &SKIP_TOOLS));
        assert!(is_chatter_tool("mcp__ide__getDiagnostics", &SKIP_TOOLS));
        assert!(!is_chatter_tool("Skills", &SKIP_TOOLS));
        assert!(!is_chatter_tool("mcp__ide__getDiagnostics", &["mcp__ide"]));
        assert!(!is_chatter_tool("Skill", &[] as &[&str]));
        // Whether a plan was approved stands in how this ended, and what the assistant asked of whom in this.
        assert!(!is_chatter_tool("ExitPlanMode", &SKIP_TOOLS));
        assert!(!is_chatter_tool("Task", &SKIP_TOOLS));
    }
}
