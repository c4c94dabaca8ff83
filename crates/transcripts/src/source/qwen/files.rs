//! Where Qwen Code keeps its sessions, and what it says of itself by that.

use serde_json::Value;

use super::rows::QwenLines;
use super::{QwenCode, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Source, TranscriptIdentity};

/// `projects/<slug>/chats/<session>.jsonl` and `projects/<slug>/subagents/<session>/agent-<id>.jsonl`
const PROJECTS: &str = "projects";
const CHATS: &str = "chats";
const SUBAGENTS: &str = "subagents";

/// The newest release whose rows were tested with this program.
const NEWEST_TESTED: Release = Release([0, 24, 4]);

impl Source for QwenCode {
    fn layouts(&self) -> &'static [&'static str] {
        &[PROJECTS]
    }

    fn may_hold(&self, _layout: &str, depth: usize, name: &[u8]) -> bool {
        match depth {
            2 => name == CHATS.as_bytes() || name == SUBAGENTS.as_bytes(),
            _ => depth <= 3,
        }
    }

    fn identify(&self, _layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let path = std::str::from_utf8(below).ok()?.strip_suffix(".jsonl")?;
        let (session, agent) = match path.split('/').collect::<Vec<_>>()[..] {
            [_, CHATS, session] => (session, None),
            [_, SUBAGENTS, session, agent] => (session, Some(agent.strip_prefix("agent-")?.to_owned())),
            _ => return None,
        };
        let is_named = !session.is_empty() && agent.as_deref() != Some("");
        is_named.then(|| TranscriptIdentity { client: Client::QwenCode, session: session.to_owned(), agent, cwd: None })
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(QwenLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""type":"assistant""#).is_some()
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        line["cwd"].as_str()
    }

    fn tools(&self) -> &'static ToolTable {
        &tools::TOOLS
    }

    fn newest_tested(&self) -> Release {
        NEWEST_TESTED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_whose_rows_it_holds() {
        let at = |below: &str| QwenCode.identify(PROJECTS, below.as_bytes()).map(|place| (place.session, place.agent));
        assert_eq!(at("-p-shop/chats/s1.jsonl"), Some(("s1".to_owned(), None)));
        assert_eq!(at("-p-shop/subagents/s1/agent-look-call_1.jsonl"), Some(("s1".to_owned(), Some("look-call_1".to_owned()))));
        for other in [
            "-p-shop/s1.jsonl",
            "-p-shop/chats/s1.json",
            "-p-shop/chats/.jsonl",
            "-p-shop/chats/a/s1.jsonl",
            "-p-shop/subagents/s1/agent-look.meta.json",
            "-p-shop/subagents/s1/agent-.jsonl",
            "-p-shop/memory/MEMORY.md",
        ] {
            assert_eq!(at(other), None, "{other}");
        }
    }
}
