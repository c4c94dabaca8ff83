//! What the program that reads sessions says in them itself, which is not to be read again, and the tools whose uses are not kept: its own, and
//! those that the config lists. Without a list in the config those are not kept whose class is no memory
//! ([`ToolClass::is_no_memory`](crate::session::ToolClass)).

use std::collections::HashSet;

use crate::session::ToldNames;

/// By what its own words are known.
#[derive(Debug, Clone, Copy)]
pub struct OwnWords {
    /// The tools of its server.
    pub tools: &'static [&'static str],
    /// What is named in a text that a hook of its own told a session: no more of it is kept.
    pub names_in: fn(&str) -> ToldNames,
}

impl OwnWords {
    /// It says nothing in sessions.
    pub const NONE: Self = Self { tools: &[], names_in: |_| ToldNames::default() };

    /// Is this a tool of its own server? Independent of the config, where the list is the user's. A server is named by whoever registered it;
    /// under a name without `recall` it cannot be recognized.
    pub(super) fn is_tool(&self, name: &str) -> bool {
        let parts = name.strip_prefix("mcp__").and_then(|rest| rest.rsplit_once("__"));
        parts.is_some_and(|(server, tool)| server.to_lowercase().contains("recall") && self.tools.contains(&tool))
    }

    /// The name under which a tool of its own server is kept; `None` for any other tool. Some clients join the names of server and tool in another
    /// way: `recall_search`, `recall__search`, `mcp_recall_search`. With other servers nothing tells where the tool's name begins.
    pub(super) fn tool_in(&self, name: &str) -> Option<String> {
        let (server, tool) = name.rsplit_once('_')?;
        let server = server.strip_prefix("mcp_").unwrap_or(server).trim_matches('_');
        let kept = format!("mcp__{server}__{tool}");
        self.is_tool(&kept).then_some(kept)
    }
}

/// Tools whose uses are not kept.
#[derive(Debug, Clone)]
pub enum SkippedTools {
    /// Those that a list names. A name that ends in `*` stands for every tool that begins so.
    Named { whole: HashSet<String>, starts: Vec<String> },
    /// Those of which this says so.
    By(fn(&str) -> bool),
}

impl SkippedTools {
    pub fn named(list: Vec<String>) -> Self {
        let (starts, whole): (Vec<String>, Vec<String>) = list.into_iter().partition(|name| name.ends_with('*'));
        let starts = starts.into_iter().filter_map(|name| name.strip_suffix('*').map(str::to_owned)).collect();
        Self::Named { whole: whole.into_iter().collect(), starts }
    }

    pub(super) fn holds(&self, name: &str) -> bool {
        match self {
            Self::Named { whole, starts } => whole.contains(name) || starts.iter().any(|start| name.starts_with(start.as_str())),
            Self::By(is_skipped) => is_skipped(name),
        }
    }
}

impl Default for SkippedTools {
    /// None.
    fn default() -> Self {
        Self::named(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{is_tool_of_no_memory, tools_of_no_memory};

    const OWN: OwnWords = OwnWords { tools: &["search", "get", "timeline"], ..OwnWords::NONE };

    #[test]
    fn our_own_tools_are_known_under_any_name_of_the_server_that_holds_ours() {
        for own in ["mcp__recall__search", "mcp__plugin_recall_recall__get", "mcp__my-Recall__timeline"] {
            assert!(OWN.is_tool(own), "{own}");
            assert_eq!(OWN.tool_in(own).as_deref(), Some(own));
        }
        for other in ["mcp__memory__search", "mcp__recall__delete_meeting", "recall__search", "search", "mcp__recall"] {
            assert!(!OWN.is_tool(other), "{other}");
        }
        for own in ["recall_search", "recall__search", "mcp_recall_search"] {
            assert_eq!(OWN.tool_in(own).as_deref(), Some("mcp__recall__search"), "{own}");
        }
        for other in ["memory_search", "recall_delete", "search", "_search", "recall", "mcp__recall__delete_meeting"] {
            assert_eq!(OWN.tool_in(other), None, "{other}");
        }
    }

    #[test]
    fn a_name_is_skipped_as_a_whole_or_by_its_start() {
        let list = |names: &[&str]| SkippedTools::named(names.iter().map(ToString::to_string).collect());
        let some = list(&["Look", "mcp__ide__*"]);
        assert!(some.holds("Look") && some.holds("mcp__ide__getDiagnostics"));
        assert!(!some.holds("Looks") && !some.holds("look"));
        assert!(!list(&["mcp__ide"]).holds("mcp__ide__getDiagnostics"));
        assert!(!list(&[]).holds("Look"));
        assert!(list(&["*"]).holds("Look") && list(&["*"]).holds(""));
    }

    #[test]
    fn the_tools_of_no_memory_are_looked_up_as_their_list_would_be() {
        let list = SkippedTools::named(tools_of_no_memory());
        let by = SkippedTools::By(is_tool_of_no_memory);
        let told = tools_of_no_memory().into_iter().map(|name| name.replace('*', "x"));
        for name in told.chain(["Task", "ExitPlanMode", "bash", "mcp__ide", ""].map(str::to_owned)) {
            assert_eq!(by.holds(&name), list.holds(&name), "{name}");
        }
        assert!(by.holds("Skill") && by.holds("mcp__ide__getDiagnostics") && !by.holds("Task"));
    }
}
