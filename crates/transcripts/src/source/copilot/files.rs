//! Where Copilot CLI keeps its sessions, and what it says of itself by that.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::rows::CopilotLines;
use super::{CopilotCli, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Source, TranscriptIdentity};

/// `session-state/<session>/events.jsonl`
const SESSIONS: &str = "session-state";
const EVENTS: &[u8] = b"/events.jsonl";

/// The newest release whose events were tested with this program.
const NEWEST_TESTED: Release = Release([1, 0, 102]);

impl Source for CopilotCli {
    fn layouts(&self) -> &'static [&'static str] {
        &[SESSIONS]
    }

    fn may_hold(&self, _layout: &str, depth: usize, name: &[u8]) -> bool {
        depth == 1 && !name.starts_with(b".")
    }

    fn identify(&self, _layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let session = std::str::from_utf8(below.strip_suffix(EVENTS)?).ok()?;
        let is_name = !session.is_empty() && !session.contains('/');
        is_name.then(|| TranscriptIdentity { client: Client::CopilotCli, session: session.to_owned(), agent: None, cwd: None })
    }

    fn unnamed_transcript(&self, session: &str) -> Option<PathBuf> {
        Some(Path::new(SESSIONS).join(session).join("events.jsonl"))
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(CopilotLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""type":"assistant.message""#).is_some()
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        line["data"]["context"]["cwd"].as_str()
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
    fn a_session_is_known_by_its_folder() {
        let at = |below: &str| CopilotCli.identify(SESSIONS, below.as_bytes()).map(|place| place.session);
        assert_eq!(
            at("6676ae58-6998-436d-b481-b2c8bba26b1f/events.jsonl").as_deref(),
            Some("6676ae58-6998-436d-b481-b2c8bba26b1f")
        );
        for other in ["events.jsonl", "a/b/events.jsonl", "a/workspace.yaml", "/events.jsonl"] {
            assert_eq!(at(other), None, "{other}");
        }
    }
}
