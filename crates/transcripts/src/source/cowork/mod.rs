//! Claude Cowork, the agent of Claude Desktop: it runs Claude Code with a config folder for each task, so that its rows are read as those of
//! Claude Code are. Its folders are known from what others report; no release was tried.

use serde_json::Value;

use super::claude_code::ClaudeCode;
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Resume, Source, TranscriptIdentity};

/// `local-agent-mode-sessions/<id>/<id>/[agent/]local_<id>/.claude/projects/…`; what follows is Claude Code's.
const TASKS: &str = "local-agent-mode-sessions";
const TASK: &str = "local_";
const PROJECTS: &str = "/.claude/projects/";
/// Claude Code's own name of the layout below.
const LAYOUT: &str = "projects";
/// The deepest folder of a task that holds rows of a subagent's subagents.
const MAX_DEPTH: usize = 14;

/// The client.
pub(super) struct Cowork;

impl Source for Cowork {
    fn layouts(&self) -> &'static [&'static str] {
        &[TASKS]
    }

    /// What a task works on lies beside its config folder, and is not entered.
    fn may_hold(&self, _layout: &str, depth: usize, name: &[u8]) -> bool {
        match depth {
            1 | 2 => true,
            3 => name == b"agent" || name.starts_with(TASK.as_bytes()),
            4 => name == b".claude" || name.starts_with(TASK.as_bytes()),
            5 => name == b".claude" || name == LAYOUT.as_bytes(),
            _ => depth <= MAX_DEPTH,
        }
    }

    fn identify(&self, _layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let at = memchr::memmem::find(below, PROJECTS.as_bytes())?;
        let task = &below[memchr::memrchr(b'/', &below[..at])? + 1..at];
        let place = ClaudeCode.identify(LAYOUT, &below[at + PROJECTS.len()..])?;
        task.starts_with(TASK.as_bytes()).then_some(TranscriptIdentity { client: Client::Cowork, ..place })
    }

    fn resume(&self, _session: &str) -> Option<Resume> {
        None
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        ClaudeCode.parser(place, sanitizer, state)
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        ClaudeCode.holds_reply(piece)
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        ClaudeCode.folder_in(line)
    }

    fn tools(&self) -> &'static ToolTable {
        ClaudeCode.tools()
    }

    fn newest_tested(&self) -> Release {
        ClaudeCode.newest_tested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_known_by_its_task() {
        let at = |below: &str| Cowork.identify(TASKS, below.as_bytes()).map(|place| (place.client, place.session, place.agent));
        let own = |session: &str, agent: Option<&str>| Some((Client::Cowork, session.to_owned(), agent.map(str::to_owned)));
        assert_eq!(at("o/a/local_1/.claude/projects/-sessions-x/s1.jsonl"), own("s1", None));
        assert_eq!(at("o/a/agent/local_d/.claude/projects/-sessions-x/s1/subagents/agent-7.jsonl"), own("s1", Some("7")));
        for other in ["o/a/local_1/audit.jsonl", "o/a/other/.claude/projects/-x/s1.jsonl", "o/a/local_1/.claude/todos/s1.jsonl"] {
            assert_eq!(at(other), None, "{other}");
        }
    }
}
