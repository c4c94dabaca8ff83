//! Where OpenCode keeps its sessions, and what it says of itself by that.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::rows::{OpenCodeLines, quoted};
use super::{OpenCode, database, storage, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::delta::MadeLines;
use crate::source::discover::{FoundSessions, TranscriptFile};
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Resume, Source, TranscriptIdentity};

/// Where versions before 1.2 keep sessions: `<project>/<session>.json`, beside the folders with what was said in them.
const STORAGE: &str = "storage/session";
const SESSION: &str = "ses_";

/// The newest release whose database was tested with this program.
const NEWEST_TESTED: Release = Release([1, 18, 33]);

impl Source for OpenCode {
    /// The folder itself has the database, which is looked into first.
    fn layouts(&self) -> &'static [&'static str] {
        &["", STORAGE]
    }

    fn may_hold(&self, layout: &str, depth: usize, _name: &[u8]) -> bool {
        layout == STORAGE && depth == 1
    }

    /// `opencode.db`, or that of a channel of releases: `opencode-beta.db`; and a session in it, as paths of such are made. Or the file of a
    /// session.
    fn identify(&self, layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let below = std::str::from_utf8(below).ok()?;
        let session = if layout == STORAGE { session_of_file(below) } else { session_of_database(below) };
        session.map(|id| TranscriptIdentity { client: Client::OpenCode, session: id.to_owned(), agent: None, cwd: None })
    }

    fn sessions_in(&self, file: &TranscriptFile, found: &FoundSessions) -> Option<io::Result<Vec<TranscriptFile>>> {
        Some(if is_file_of_session(&file.path) { storage::sessions(file, found) } else { database::sessions(file) })
    }

    fn made_lines(&self, _place: &TranscriptIdentity, path: &Path) -> Option<io::Result<MadeLines>> {
        Some(if is_file_of_session(path) { storage::lines(path) } else { database::lines(path) })
    }

    fn own_words<'p>(&self, prompt: &'p str) -> &'p str {
        quoted(prompt).unwrap_or(prompt)
    }

    fn resume(&self, _session: &str) -> Option<Resume> {
        Some(Resume::Option("--session"))
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

/// The session in a database by a path below it; the database itself has none.
fn session_of_database(below: &str) -> Option<&str> {
    let (database, session) = below.split_once('/').unwrap_or((below, ""));
    let channel = database.strip_suffix(".db")?.strip_prefix("opencode")?;
    ((channel.is_empty() || channel.starts_with('-')) && !session.contains('/')).then_some(session)
}

/// The session whose file this is, by its path below the folder of sessions.
fn session_of_file(below: &str) -> Option<&str> {
    let (_, name) = below.split_once('/')?;
    name.strip_suffix(".json").filter(|id| id.starts_with(SESSION) && !id.contains('/'))
}

fn is_file_of_session(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_session_is_known_by_its_folder() {
        let of = |below: &str| OpenCode.identify(STORAGE, below.as_bytes()).map(|place| place.session);
        assert_eq!(of("0a1b/ses_1.json"), Some("ses_1".into()));
        for other in
            ["ses_1.json", "0a1b/msg_1.json", "0a1b/ses_1.json.tmp", "0a1b/x/ses_1.json", "0a1b/ses_1/x.json", "opencode.db"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }

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
