//! Where OpenCode keeps its sessions, and what it says of itself by that.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::rows::{OpenCodeLines, quoted};
use super::{OpenCode, database, tools};
use crate::model::client::Client;
use crate::model::session::ParserState;
use crate::privacy::Sanitizer;
use crate::source::delta::MadeLines;
use crate::source::discover::TranscriptFile;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Source, TranscriptIdentity};

/// The newest release whose database was tested with this program.
const NEWEST_TESTED: Release = Release([1, 18, 33]);

impl Source for OpenCode {
    /// The folder itself.
    fn layouts(&self) -> &'static [&'static str] {
        &[""]
    }

    fn may_hold(&self, _layout: &str, _depth: usize, _name: &[u8]) -> bool {
        false
    }

    /// `opencode.db`, or that of a channel of releases: `opencode-beta.db`; and a session in it, as paths of such are made.
    fn identify(&self, _layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let below = std::str::from_utf8(below).ok()?;
        let (database, session) = below.split_once('/').unwrap_or((below, ""));
        let channel = database.strip_suffix(".db")?.strip_prefix("opencode")?;
        let is_one = (channel.is_empty() || channel.starts_with('-')) && !session.contains('/');
        is_one.then(|| TranscriptIdentity { client: Client::OpenCode, session: session.to_owned(), agent: None, cwd: None })
    }

    fn sessions_in(&self, file: &TranscriptFile) -> Option<io::Result<Vec<TranscriptFile>>> {
        Some(database::sessions(file))
    }

    fn made_lines(&self, _place: &TranscriptIdentity, path: &Path) -> Option<io::Result<MadeLines>> {
        Some(database::lines(path))
    }

    fn own_words<'p>(&self, prompt: &'p str) -> &'p str {
        quoted(prompt).unwrap_or(prompt)
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(OpenCodeLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""role":"assistant""#).is_some()
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        line["session"]["cwd"].as_str()
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
    fn the_database_is_known_by_its_name() {
        let is_one = |below: &str| OpenCode.identify("", below.as_bytes()).is_some();
        assert!(is_one("opencode.db") && is_one("opencode-beta.db"));
        for other in ["opencode.db-wal", "opencodes.db", "auth.json", "opencode-a/b.db", "opencode.db/a/b", "snapshot/opencode.db"]
        {
            assert!(!is_one(other), "{other}");
        }
    }
}
