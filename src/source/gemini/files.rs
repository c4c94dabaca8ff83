//! Where Gemini CLI keeps its sessions, and what it says of itself by that.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::rows::{GeminiLines, without_hooks};
use super::{Gemini, tools};
use crate::model::client::Client;
use crate::model::session::ParserState;
use crate::privacy::Sanitizer;
use crate::source::discover::TranscriptFile;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Source, TranscriptIdentity, delta};

/// `tmp/<project>/chats/session-<minute>-<start of the session's id>.jsonl`, and of subagents `tmp/<project>/chats/<session>/<id>.jsonl`
const PROJECTS: &str = "tmp";
const CHATS: &str = "chats";
/// Characters of the minute in a file's name, and of the id behind it.
const MINUTE_LENGTH: usize = "2026-11-18T10-00-".len();
const SHORT_ID_LENGTH: usize = 8;

/// In a project's folder: the folder in which its sessions took place.
const ROOT_FILE: &str = ".project_root";
/// Beside `tmp`: the same of all projects.
const ROOTS_FILE: &str = "projects.json";
/// How much of a file's start is read, in bytes: the first line of a session has some 200.
const HEAD_BYTES: u64 = 64 << 10;

/// The newest release whose rows were tested with this program.
const NEWEST_TESTED: Release = Release([0, 61, 0]);

impl Source for Gemini {
    fn layouts(&self) -> &'static [&'static str] {
        &[PROJECTS]
    }

    fn may_hold(&self, _layout: &str, depth: usize, name: &[u8]) -> bool {
        match depth {
            2 => name == CHATS.as_bytes(),
            _ => depth <= 3,
        }
    }

    fn identify(&self, _layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let path = std::str::from_utf8(below).ok()?.strip_suffix(".jsonl")?;
        let (session, agent) = match path.split('/').collect::<Vec<_>>()[..] {
            [_, CHATS, name] => (name.strip_prefix("session-")?.get(MINUTE_LENGTH..)?, None),
            [_, CHATS, session, agent] => (session, Some(agent.to_owned())),
            _ => return None,
        };
        let is_named = !session.is_empty() && agent.as_deref() != Some("");
        is_named.then(|| TranscriptIdentity { client: Client::Gemini, session: session.to_owned(), agent, cwd: None })
    }

    /// The path has the start of the session's id, and no row names the folder.
    fn look_inside(&self, file: &mut TranscriptFile) {
        if file.place.agent.is_none()
            && let Some(session) = id_in(&file.path).filter(|id| self.is_of(&file.place, id))
        {
            file.place.session = session;
        }
        file.place.cwd = root_of(&file.path);
    }

    fn is_of(&self, place: &TranscriptIdentity, session: &str) -> bool {
        let is_short = place.agent.is_none() && place.session.len() == SHORT_ID_LENGTH;
        place.session == session || is_short && session.starts_with(&place.session)
    }

    fn own_words<'p>(&self, prompt: &'p str) -> &'p str {
        without_hooks(prompt, |_| {})
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(GeminiLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""type":"gemini""#).is_some()
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        line["directories"][0].as_str()
    }

    fn tools(&self) -> &'static ToolTable {
        &tools::TOOLS
    }

    fn newest_tested(&self) -> Release {
        NEWEST_TESTED
    }
}

/// The session's id, as its first line has it.
fn id_in(transcript: &Path) -> Option<String> {
    let head = head_of(transcript)?;
    let line: Value = serde_json::from_slice(head.split(|b| *b == b'\n').next()?).ok()?;
    line["sessionId"].as_str().map(str::to_owned)
}

/// The folder in which the sessions of a transcript's project took place.
fn root_of(transcript: &Path) -> Option<String> {
    let project = transcript.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == CHATS))?.parent()?;
    let own = || head_of(&project.join(ROOT_FILE)).and_then(|root| String::from_utf8(root).ok());
    let listed = || {
        let all: Value = serde_json::from_slice(&fs::read(project.parent()?.parent()?.join(ROOTS_FILE)).ok()?).ok()?;
        let name = project.file_name()?.to_str()?;
        all["projects"].as_object()?.iter().find(|(_, project)| project.as_str() == Some(name)).map(|(root, _)| root.clone())
    };
    let is_folder = |root: &String| root.starts_with('/');
    own().map(|root| root.trim().to_owned()).filter(is_folder).or_else(|| listed().filter(is_folder))
}

fn head_of(file: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    delta::open_regular(file).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "93e7562b-1d7d-4e18-b3ed-b992d462256e";

    fn at(below: &str) -> Option<TranscriptIdentity> {
        Gemini.identify(PROJECTS, below.as_bytes())
    }

    #[test]
    fn a_path_says_whose_rows_it_holds() {
        let whose = |below: &str| at(below).map(|place| (place.session, place.agent));
        assert_eq!(whose("shop/chats/session-2026-11-18T10-00-93e7562b.jsonl"), Some(("93e7562b".to_owned(), None)));
        assert_eq!(whose(&format!("shop/chats/{ID}/a-1.jsonl")), Some((ID.to_owned(), Some("a-1".to_owned()))));
        for other in [
            "shop/chats/session-2026-11-18T10-00-93e7562b.json",
            "shop/chats/session-2026-11-18T10-00-.jsonl",
            "shop/chats/session-x.jsonl",
            "shop/chats/93e7562b.jsonl",
            "shop/session-2026-11-18T10-00-93e7562b.jsonl",
            "shop/logs.jsonl",
            "shop/chats/a/.jsonl",
            "shop/chats/a/b/c.jsonl",
        ] {
            assert_eq!(at(other), None, "{other}");
        }
    }

    #[test]
    fn a_file_is_a_session_s_own_by_the_start_of_its_id() {
        let main = at("shop/chats/session-2026-11-18T10-00-93e7562b.jsonl").expect("a session");
        assert!(Gemini.is_of(&main, ID) && !Gemini.is_of(&main, "93e7562c-1d7d") && !Gemini.is_of(&main, "93e7"));
        let agent = at("shop/chats/93e7562b/a-1.jsonl").expect("a subagent");
        assert!(!Gemini.is_of(&agent, ID), "a folder has the whole id");
    }

    #[test]
    fn the_id_stands_in_the_file_and_the_folder_beside_it() {
        let home = tempfile::tempdir().expect("a folder");
        let project = home.path().join("tmp/shop");
        let path = project.join("chats/session-2026-11-18T10-00-93e7562b.jsonl");
        fs::create_dir_all(path.parent().expect("a parent")).expect("the folder");
        let look = |line: String| {
            fs::write(&path, line).expect("the transcript");
            let place = at("shop/chats/session-2026-11-18T10-00-93e7562b.jsonl").expect("a session");
            let mut file = TranscriptFile { path: path.clone(), size: 1, is_share: false, mtime_ns: 0, stamp: 0, place };
            Gemini.look_inside(&mut file);
            (file.place.session, file.place.cwd)
        };
        let line = format!("{{\"sessionId\":\"{ID}\"}}\n{{}}");
        assert_eq!(look(line.clone()), (ID.to_owned(), None));
        fs::write(home.path().join("projects.json"), r#"{"projects":{"/p/cart":"cart","/p/shop":"shop"}}"#).expect("the list");
        assert_eq!(look(line.clone()), (ID.to_owned(), Some("/p/shop".to_owned())));
        fs::write(project.join(".project_root"), "/p/own\n").expect("the root");
        assert_eq!(look(line), (ID.to_owned(), Some("/p/own".to_owned())));
        for torn in [String::new(), "{\"sessionId\":\"93e7".to_owned(), "{\"sessionId\":\"another-id\"}\n".to_owned()] {
            assert_eq!(look(torn).0, "93e7562b");
        }
    }
}
