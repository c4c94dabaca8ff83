//! Where Cline keeps its sessions, and what it says of itself by that.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::parser::ClineParser;
use super::{Cline, document, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::delta::MadeLines;
use crate::source::editor_tasks::{self, PROFILES, STORAGE};
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Resume, Source, TranscriptIdentity};

/// `data/sessions/<session>/<session>.messages.json`, and beside it those of its subagents: `agent_<id>.messages.json`.
const SESSIONS: &str = "data/sessions";
const END: &str = ".messages.json";
const AGENT: &str = "agent_";
/// Tasks of releases that kept them in the form of the extension, and the extension's id.
const TASKS: &str = "data/tasks";
const EXTENSION: &str = "saoudrizwan.claude-dev";

/// The newest release whose documents were tested with this program.
const NEWEST_TESTED: Release = Release([3, 0, 65]);

impl Source for Cline {
    fn layouts(&self) -> &'static [&'static str] {
        &[SESSIONS, TASKS, STORAGE, PROFILES]
    }

    fn may_hold(&self, layout: &str, depth: usize, name: &[u8]) -> bool {
        match layout {
            SESSIONS | TASKS => depth == 1,
            _ => editor_tasks::leads_to_tasks(EXTENSION, layout, depth, name),
        }
    }

    fn identify(&self, layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        match layout {
            SESSIONS => {}
            TASKS => return editor_tasks::task(Client::Cline, below),
            _ => return editor_tasks::below_editor(Client::Cline, EXTENSION, layout, below),
        }
        let (session, name) = std::str::from_utf8(below).ok()?.strip_suffix(END)?.split_once('/')?;
        let agent = name.strip_prefix(AGENT).filter(|agent| !agent.is_empty() && !agent.contains('/'));
        let is_named = !session.is_empty() && (name == session || agent.is_some());
        is_named.then(|| TranscriptIdentity {
            client: Client::Cline,
            session: session.to_owned(),
            agent: agent.map(str::to_owned),
            cwd: None,
        })
    }

    fn made_lines(&self, place: &TranscriptIdentity, path: &Path) -> Option<io::Result<MadeLines>> {
        Some(if editor_tasks::is_task(path) { editor_tasks::lines(place, path) } else { document::lines(path) })
    }

    fn resume(&self, session: &str) -> Option<Resume> {
        // A task of the extension, which lists them itself, has the time alone for an id.
        let is_of_extension = session.bytes().all(|b| b.is_ascii_digit());
        (!is_of_extension).then_some(Resume::Option("--id"))
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(ClineParser::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""role":"assistant""#).is_some()
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        line["session"]["cwd"].as_str().or_else(|| line["task"]["cwd"].as_str())
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
    fn a_document_is_known_by_its_folder() {
        let at = |below: &str| Cline.identify(SESSIONS, below.as_bytes()).map(|place| (place.session, place.agent));
        assert_eq!(at("17_ab/17_ab.messages.json"), Some(("17_ab".into(), None)));
        assert_eq!(at("17_ab/agent_18_c.messages.json"), Some(("17_ab".into(), Some("18_c".into()))));
        for other in ["17_ab/17_ab.json", "17_ab/18_c.messages.json", "17_ab.messages.json", "17_ab/x/17_ab.messages.json"] {
            assert_eq!(at(other), None, "{other}");
        }
        let extension = "saoudrizwan.claude-dev/tasks/17/api_conversation_history.json";
        assert!(Cline.identify(STORAGE, extension.as_bytes()).is_some_and(|place| place.session == "17"));
        assert!(Cline.identify(TASKS, b"17/api_conversation_history.json").is_some());
    }
}
