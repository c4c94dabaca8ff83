//! Where Windsurf writes its transcripts, and what it says of itself by that.

use std::path::Path;

use serde_json::Value;

use super::rows::WindsurfLines;
use super::{Windsurf, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::address::local_path;
use crate::source::discover::TranscriptFile;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Resume, Source, TranscriptIdentity, delta};

/// `transcripts/<session>.jsonl`
const TRANSCRIPTS: &str = "transcripts";
/// How much of a file is searched for the first folder in it: steps hold whole files.
const HEAD_BYTES: u64 = 8 << 20;
/// Steps that name a folder, and their fields that do.
const FOLDERS: [(&str, &str); 4] =
    [("run_command", "cwd"), ("list_directory", "path"), ("find", "search_directory"), ("grep_search", "search_path")];

/// No release was tried.
const NEWEST_TESTED: Release = Release([0, 0, 0]);

impl Source for Windsurf {
    fn layouts(&self) -> &'static [&'static str] {
        &[TRANSCRIPTS]
    }

    fn may_hold(&self, _layout: &str, _depth: usize, _name: &[u8]) -> bool {
        false
    }

    fn identify(&self, _layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let session = std::str::from_utf8(below).ok()?.strip_suffix(".jsonl")?;
        let is_named = !session.is_empty() && !session.starts_with('.') && !session.contains('/');
        is_named.then(|| TranscriptIdentity { client: Client::Windsurf, session: session.to_owned(), agent: None, cwd: None })
    }

    /// Most steps do not name the folder.
    fn look_inside(&self, file: &mut TranscriptFile) {
        let Ok(head) = delta::head_of(&file.path, HEAD_BYTES) else { return };
        let names_one = |line: &&[u8]| FOLDERS.iter().any(|(kind, _)| memchr::memmem::find(line, kind.as_bytes()).is_some());
        let lines = head.split(|b| *b == b'\n').filter(names_one);
        let steps = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        file.place.cwd = steps.filter_map(|step| local_folder(&step)).next();
    }

    fn names_folders(&self, _transcript: &Path) -> bool {
        false
    }

    /// Its hooks give a session nothing, and tell no more than its transcripts.
    fn calls_hooks(&self, _transcript: &Path) -> bool {
        false
    }

    fn resume(&self, _session: &str) -> Option<Resume> {
        None
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(WindsurfLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, b"\"planner_response\"").is_some()
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        named(line).find(|folder| folder.starts_with('/'))
    }

    fn tools(&self) -> &'static ToolTable {
        &tools::TOOLS
    }

    fn newest_tested(&self) -> Release {
        NEWEST_TESTED
    }
}

/// What a step names as a folder.
fn named(step: &Value) -> impl Iterator<Item = &str> {
    FOLDERS.iter().filter_map(|(kind, field)| step[kind][field].as_str())
}

/// The folder on this disk that a step names.
fn local_folder(step: &Value) -> Option<String> {
    named(step).map(|folder| local_path(folder).into_owned()).find(|folder| folder.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_known_by_the_name_of_its_file() {
        let at = |below: &str| Windsurf.identify(TRANSCRIPTS, below.as_bytes()).map(|place| place.session);
        assert_eq!(at("0b8e-a1.jsonl").as_deref(), Some("0b8e-a1"));
        for other in ["0b8e-a1.json", ".jsonl", ".0b8e.jsonl", "a/0b8e.jsonl", "0b8e.jsonl.tmp"] {
            assert_eq!(at(other), None, "{other}");
        }
    }

    #[test]
    fn the_folder_is_the_first_that_a_step_names() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("s1.jsonl");
        let looked_at = |rows: &str| {
            std::fs::write(&path, rows).expect("a transcript");
            let place = Windsurf.identify(TRANSCRIPTS, b"s1.jsonl").expect("a session");
            let mut file = TranscriptFile { path: path.clone(), size: 1, is_share: false, mtime_ns: 0, stamp: 0, place };
            Windsurf.look_inside(&mut file);
            file.place.cwd
        };
        let said = r#"{"type":"user_input","status":"done","user_input":{"user_response":"run_command in /src"}}"#;
        let listed = r#"{"type":"list_directory","status":"done","list_directory":{"path":"file:///src/my%20larder"}}"#;
        let ran = r#"{"type":"run_command","status":"done","run_command":{"command":"ls","cwd":"/src/larder"}}"#;
        assert_eq!(looked_at(said), None);
        assert_eq!(looked_at(&format!("{said}\n{ran}\n{listed}\n")).as_deref(), Some("/src/larder"));
        assert_eq!(looked_at(&format!("{said}\n{listed}\n{ran}\n")).as_deref(), Some("/src/my larder"));
    }
}
