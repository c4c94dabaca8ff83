//! Tools whose uses are not kept: those that the config lists, and recall's own: what the memory says about earlier sessions is not
//! ingested again. Without a list in the config those are not kept whose class is no memory (`ToolClass::is_no_memory`).

/// The tools of `recall mcp`: `build.rs` reads the names in its files.
pub(crate) const OWN_TOOLS: &[&str] = include!(concat!(env!("OUT_DIR"), "/own_tools.rs"));

/// Is this a tool of recall's own server? Independent of the config, where the list is the user's. A server is named by whoever
/// registered it; under a name without `recall` it cannot be recognized.
pub(crate) fn is_own_tool(name: &str) -> bool {
    let parts = name.strip_prefix("mcp__").and_then(|rest| rest.rsplit_once("__"));
    parts.is_some_and(|(server, tool)| server.to_lowercase().contains("recall") && OWN_TOOLS.contains(&tool))
}

/// Does the list name a tool? A name that ends in `*` matches every tool that begins so.
pub(crate) fn is_skipped_tool<S: AsRef<str>>(name: &str, list: &[S]) -> bool {
    // Few share the first byte, and the list names the tools of all clients.
    let first = name.bytes().next();
    let may_name = |skipped: &&str| matches!(skipped.bytes().next(), begin if begin == first || begin == Some(b'*'));
    list.iter()
        .map(AsRef::as_ref)
        .filter(may_name)
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
        let list = ["Look", "mcp__ide__*"];
        assert!(is_skipped_tool("Look", &list) && is_skipped_tool("mcp__ide__getDiagnostics", &list));
        assert!(!is_skipped_tool("Looks", &list) && !is_skipped_tool("look", &list));
        assert!(!is_skipped_tool("mcp__ide__getDiagnostics", &["mcp__ide"]));
        assert!(!is_skipped_tool("Look", &[] as &[&str]));
        assert!(is_skipped_tool("Look", &["*"]) && is_skipped_tool("", &["*"]));
    }
}
