//! Where the editor keeps its chats, and what it says of itself by that.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::rows::ChatLines;
use super::{VsCodeCopilot, document, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::delta::MadeLines;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Resume, Source, TranscriptIdentity};

/// `workspaceStorage/<hash>/chatSessions/<chat>.json` or `.jsonl`, of a window with a folder.
const WORKSPACES: &str = "workspaceStorage";
const CHATS: &str = "chatSessions";
/// `globalStorage/emptyWindowChatSessions/<chat>.json` or `.jsonl`, of one without.
const STORAGE: &str = "globalStorage";
const EMPTY_WINDOWS: &str = "emptyWindowChatSessions";

/// Nobody has tried any.
const NEWEST_TESTED: Release = Release([0, 0, 0]);

impl Source for VsCodeCopilot {
    fn layouts(&self) -> &'static [&'static str] {
        &[WORKSPACES, STORAGE]
    }

    fn may_hold(&self, layout: &str, depth: usize, name: &[u8]) -> bool {
        match (layout, depth) {
            (WORKSPACES, 1) => true,
            (WORKSPACES, 2) => name == CHATS.as_bytes(),
            (STORAGE, 1) => name == EMPTY_WINDOWS.as_bytes(),
            _ => false,
        }
    }

    fn identify(&self, layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let path = std::str::from_utf8(below).ok()?;
        let path = path.strip_suffix(".jsonl").or_else(|| path.strip_suffix(".json"))?;
        let session = match (layout, path.split('/').collect::<Vec<_>>().as_slice()) {
            (WORKSPACES, [_, CHATS, session]) | (STORAGE, [EMPTY_WINDOWS, session]) => *session,
            _ => return None,
        };
        let place = || TranscriptIdentity { client: Client::VscodeCopilot, session: session.to_owned(), agent: None, cwd: None };
        (!session.is_empty()).then(place)
    }

    fn made_lines(&self, _place: &TranscriptIdentity, path: &Path) -> Option<io::Result<MadeLines>> {
        Some(document::lines(path))
    }

    /// The editor lists its chats itself.
    fn resume(&self, _session: &str) -> Option<Resume> {
        None
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(ChatLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""response":[{"#).is_some()
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        line["chat"]["cwd"].as_str()
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
    fn a_chat_is_known_by_its_folder() {
        let at = |layout: &str, below: &str| VsCodeCopilot.identify(layout, below.as_bytes()).map(|place| place.session);
        assert_eq!(at(WORKSPACES, "4f1d/chatSessions/9ab.json").as_deref(), Some("9ab"));
        assert_eq!(at(WORKSPACES, "4f1d/chatSessions/9ab.jsonl").as_deref(), Some("9ab"));
        assert_eq!(at(STORAGE, "emptyWindowChatSessions/9ab.jsonl").as_deref(), Some("9ab"));
        for other in
            ["4f1d/chatEditingSessions/9ab/state.json", "4f1d/workspace.json", "4f1d/chatSessions/9ab.bak", "chatSessions/9ab.json"]
        {
            assert_eq!(at(WORKSPACES, other), None, "{other}");
        }
        assert!(
            VsCodeCopilot.may_hold(WORKSPACES, 2, b"chatSessions") && !VsCodeCopilot.may_hold(WORKSPACES, 2, b"ms-python.python")
        );
        assert!(!VsCodeCopilot.may_hold(STORAGE, 1, b"saoudrizwan.claude-dev"));
    }
}
