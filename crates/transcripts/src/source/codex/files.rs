//! Where Codex keeps its rollouts, and what it says of itself by that.

use serde_json::Value;

use super::rows::{CodexLines, Meta};
use super::{Codex, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::discover::TranscriptFile;
use crate::source::line::text_of_line;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Resume, Source, TranscriptIdentity, delta};

/// `sessions/YYYY/MM/DD/rollout-….jsonl`, and where `codex archive` puts them.
const SESSIONS: &str = "sessions";
const ARCHIVED: &str = "archived_sessions";
const MAX_DEPTH: usize = 3;

/// How much of a rollout's start is read for its first line, in bytes: it holds the client's instructions, of some 20 KB.
const FIRST_LINE_BYTES: u64 = 256 << 10;
/// Characters of a UUID.
const UUID_LENGTH: usize = 36;

/// The newest release whose rollouts and hooks were tested with this program.
const NEWEST_TESTED: Release = Release([0, 169, 0]);

impl Source for Codex {
    fn layouts(&self) -> &'static [&'static str] {
        &[SESSIONS, ARCHIVED]
    }

    fn may_hold(&self, _layout: &str, depth: usize, name: &[u8]) -> bool {
        depth <= MAX_DEPTH && name.iter().all(u8::is_ascii_digit)
    }

    fn identify(&self, _layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let name = std::str::from_utf8(&below[memchr::memrchr(b'/', below).map_or(0, |at| at + 1)..]).ok()?;
        let stem = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".jsonl.zst"))?.strip_prefix("rollout-")?;
        let session = stem.get(stem.len().checked_sub(UUID_LENGTH)?..)?;
        let is_uuid = session.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        is_uuid.then(|| TranscriptIdentity { client: Client::Codex, session: session.to_owned(), agent: None, cwd: None })
    }

    /// A subagent's rollout is called like any other: its first line tells whose it is.
    fn look_inside(&self, file: &mut TranscriptFile) {
        let Ok(head) = delta::head_of(&file.path, FIRST_LINE_BYTES) else { return };
        let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
        if let Some(of) = Meta::of_line(&text_of_line(line).1).and_then(|meta| meta.worked_for()) {
            file.place.agent = Some(std::mem::replace(&mut file.place.session, of));
        }
    }

    fn resume(&self, _session: &str) -> Option<Resume> {
        Some(Resume::Subcommand("resume"))
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(CodexLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""role":"assistant""#).is_some()
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        line["payload"]["cwd"].as_str()
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
    fn a_rollout_is_known_by_its_name() {
        let at = |below: &str| Codex.identify(SESSIONS, below.as_bytes()).map(|place| place.session);
        let id = "01a2059c-b240-7761-a3ba-28ca785d3559";
        for name in
            [format!("2026/11/22/rollout-2026-11-22T23-34-45-{id}.jsonl"), format!("rollout-2026-11-22T23-34-45-{id}.jsonl.zst")]
        {
            assert_eq!(at(&name).as_deref(), Some(id), "{name}");
        }
        for other in ["2026/11/22/rollout-short.jsonl", "history.jsonl", "rollout-2026-11-22T23-34-45-é.jsonl", "2026/x.json"] {
            assert_eq!(at(other), None, "{other}");
        }
    }
}
