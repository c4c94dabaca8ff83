//! Where Claude Code keeps its transcripts, and what it says of itself by that.

use serde_json::Value;

use super::{ClaudeCode, ClaudeLines, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Source, TranscriptIdentity};

/// The layout of today's clients, and that of the oldest.
const PROJECTS: &str = "projects";
const TRANSCRIPTS: &str = "transcripts";

/// The deepest level that is searched: clients nest less below a transcript folder, but a link may lead to the whole disk.
const MAX_DEPTH: usize = 10;

/// The newest release whose flags, hooks, injection and lines were tested with this program; `.ci/newest` tests newer ones.
const NEWEST_TESTED: Release = Release([2, 1, 330]);

impl Source for ClaudeCode {
    fn layouts(&self) -> &'static [&'static str] {
        &[PROJECTS, TRANSCRIPTS]
    }

    /// `<slug>/`, `<slug>/<session>/`, `<slug>/<session>/subagents/` and folders below that.
    fn may_hold(&self, layout: &str, depth: usize, name: &[u8]) -> bool {
        layout == PROJECTS && (depth != 3 || name == b"subagents") && depth <= MAX_DEPTH
    }

    /// `<slug>/<session>.jsonl`, `<slug>/agent-<id>.jsonl` (older subagents), `<slug>/<session>/subagents/**/agent-<id>.jsonl`, and in
    /// the old layout `ses_<id>.jsonl`.
    fn identify(&self, layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let old_layout = layout == TRANSCRIPTS;
        let (folder, name) = below.split_at(memchr::memrchr(b'/', below).map_or(0, |at| at + 1));
        let stem = String::from_utf8_lossy(name.strip_suffix(b".jsonl").filter(|stem| !stem.is_empty())?);
        let agent = stem.strip_prefix("agent-").map(str::to_owned);
        let of = |session: String, agent| Some(TranscriptIdentity { client: Client::ClaudeCode, session, agent, cwd: None });
        let mut folders = folder.split_inclusive(|b| *b == b'/');
        match (folders.next(), folders.next(), folders.next()) {
            (None, ..) if old_layout => of(stem.into_owned(), None),
            (Some(_), None, _) if !old_layout => of(stem.into_owned(), agent),
            (Some(_), Some(session), Some(b"subagents/")) if !old_layout && agent.is_some() => {
                of(String::from_utf8_lossy(&session[..session.len() - 1]).into_owned(), agent)
            }
            _ => None,
        }
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(ClaudeLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""type":"assistant""#).is_some()
    }

    fn kept_from_running(&self, result: &str) -> bool {
        super::outcome::kept_from_running(result)
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
        let at = |below: &str, layout| ClaudeCode.identify(layout, below.as_bytes()).map(|p| (p.session, p.agent));
        let some = |session: &str, agent: Option<&str>| Some((session.to_owned(), agent.map(str::to_owned)));
        assert_eq!(at("-src/s1.jsonl", PROJECTS), some("s1", None));
        assert_eq!(at("-src/agent-7.jsonl", PROJECTS), some("agent-7", Some("7")));
        assert_eq!(at("-src/s1/subagents/agent-7.jsonl", PROJECTS), some("s1", Some("7")));
        assert_eq!(at("-src/s1/subagents/workflows/w/agent-7.jsonl", PROJECTS), some("s1", Some("7")));
        assert_eq!(at("ses_9.jsonl", TRANSCRIPTS), some("ses_9", None));
        for other in ["-src/s1.json", "-src/s1/tool-results/x.jsonl", "x.jsonl", "-src/s1/subagents/journal.jsonl"] {
            assert_eq!(at(other, PROJECTS), None, "{other}");
        }
    }
}
