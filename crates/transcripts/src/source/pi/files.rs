//! Where Pi keeps its sessions, and what it says of itself by that.

use serde_json::Value;

use super::rows::PiLines;
use super::{Pi, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Resume, Source, TranscriptIdentity};

/// `sessions/<folder>/<time>_<session>.jsonl`
const SESSIONS: &str = "sessions";

/// The newest release whose rows were tested with this program.
const NEWEST_TESTED: Release = Release([0, 73, 1]);

impl Source for Pi {
    fn layouts(&self) -> &'static [&'static str] {
        &[SESSIONS]
    }

    fn may_hold(&self, _layout: &str, depth: usize, _name: &[u8]) -> bool {
        depth == 1
    }

    fn identify(&self, _layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let (folder, name) = std::str::from_utf8(below).ok()?.strip_suffix(".jsonl")?.split_once('/')?;
        let (_, session) = name.split_once('_')?;
        let is_named = !folder.is_empty() && !session.is_empty() && !name.contains('/');
        is_named.then(|| TranscriptIdentity { client: Client::Pi, session: session.to_owned(), agent: None, cwd: None })
    }

    fn resume(&self, _session: &str) -> Option<Resume> {
        Some(Resume::Option("--session"))
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(PiLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""role":"assistant""#).is_some()
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
    fn a_session_is_known_by_the_end_of_its_name() {
        let at = |below: &str| Pi.identify(SESSIONS, below.as_bytes()).map(|place| place.session);
        assert_eq!(at("--p-shop--/2026-11-18T10-00-00-000Z_01a2-b.jsonl").as_deref(), Some("01a2-b"));
        for other in ["--p-shop--/a.jsonl", "--p-shop--/t_a.json", "t_a.jsonl", "--p-shop--/b/t_a.jsonl", "--p-shop--/t_.jsonl"] {
            assert_eq!(at(other), None, "{other}");
        }
    }
}
