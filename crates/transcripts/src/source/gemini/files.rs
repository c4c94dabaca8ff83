//! Where Gemini CLI keeps its sessions, and what it says of itself by that.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::rows::{GeminiLines, without_hooks};
use super::{Gemini, document, listed, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::delta::MadeLines;
use crate::source::discover::TranscriptFile;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Source, TranscriptIdentity, delta, json};

/// `tmp/<project>/chats/session-<minute>-<start of the session's id>.jsonl`, and of subagents `tmp/<project>/chats/<session>/<id>.jsonl`.
/// Older versions end the name of a document in `.json`, and call a project by the SHA-256 of its folder.
const PROJECTS: &str = "tmp";
const CHATS: &str = "chats";
const LOG: &str = ".jsonl";
const DOCUMENT: &str = ".json";
/// Hexadecimal digits of a SHA-256.
const HASH_LENGTH: usize = 64;
/// Characters of the minute in a file's name, and of the id behind it.
const MINUTE_LENGTH: usize = "2026-11-18T10-00-".len();
const SHORT_ID_LENGTH: usize = 8;

/// In a project's folder: the folder in which its sessions took place.
const ROOT_FILE: &str = ".project_root";
/// Beside `tmp`: the same of all projects.
const ROOTS_FILE: &str = "projects.json";
/// The most documents of a project that are searched for its folder beside the one that is read.
const MOST_OTHERS: usize = 16;
/// Beside `tmp`: folders that the user trusts, by path.
const TRUSTED_FILE: &str = "trustedFolders.json";
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
        let below = std::str::from_utf8(below).ok()?;
        let path = below.strip_suffix(LOG).or_else(|| below.strip_suffix(DOCUMENT))?;
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

    fn made_lines(&self, _place: &TranscriptIdentity, path: &Path) -> Option<io::Result<MadeLines>> {
        if is_document(path) { Some(document::lines(path)) } else { listed::lines(path) }
    }

    /// Those that write documents were not tried.
    fn calls_hooks(&self, transcript: &Path) -> bool {
        !is_document(transcript)
    }

    fn names_folders(&self, transcript: &Path) -> bool {
        !is_document(transcript)
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
        [&br#""type":"gemini""#[..], br#""type": "gemini""#].into_iter().any(|reply| memchr::memmem::find(piece, reply).is_some())
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

fn is_document(transcript: &Path) -> bool {
    transcript.as_os_str().as_encoded_bytes().ends_with(DOCUMENT.as_bytes())
}

/// The session's id, as its first line has it, or the beginning of the document.
fn id_in(transcript: &Path) -> Option<String> {
    let head = delta::head_of(transcript, HEAD_BYTES).ok()?;
    if is_document(transcript) {
        let head = String::from_utf8_lossy(&head);
        let [id] = json::fields_before_cut(&*head, &["sessionId"]);
        return id.and_then(json::text).map(|id| id.id());
    }
    let line: Value = serde_json::from_slice(head.split(|b| *b == b'\n').next()?).ok()?;
    line["sessionId"].as_str().map(str::to_owned)
}

/// The folder in which the sessions of a transcript's project took place.
fn root_of(transcript: &Path) -> Option<String> {
    let project = transcript.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == CHATS))?.parent()?;
    let own = || String::from_utf8(delta::head_of(&project.join(ROOT_FILE), HEAD_BYTES).ok()?).ok();
    let listed = || {
        let all: Value = serde_json::from_slice(&fs::read(project.parent()?.parent()?.join(ROOTS_FILE)).ok()?).ok()?;
        let name = project.file_name()?.to_str()?;
        all["projects"].as_object()?.iter().find(|(_, project)| project.as_str() == Some(name)).map(|(root, _)| root.clone())
    };
    let is_folder = |root: &String| root.starts_with('/');
    let found = own().map(|root| root.trim().to_owned()).filter(is_folder).or_else(|| listed().filter(is_folder));
    found.or_else(|| {
        let hash = project.file_name()?.to_str()?;
        let is_hash = hash.len() == HASH_LENGTH && is_document(transcript);
        is_hash
            .then(|| document::folder_of_hash(hash, known_roots(project.parent()?.parent()?), documents_of_project(transcript)))?
    })
}

/// A document, and then others of its project, in the order of their names.
fn documents_of_project(transcript: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = transcript.parent().and_then(|chats| fs::read_dir(chats).ok()).into_iter().flatten();
    let mut others: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_document(path)).collect();
    others.sort_unstable();
    let others: Vec<_> = others.into_iter().filter(|path| path != transcript).take(MOST_OTHERS).collect();
    std::iter::once(transcript.to_owned()).chain(others)
}

/// Folders that the client knows, whatever it calls them.
fn known_roots(home: &Path) -> Vec<String> {
    let read = |name: &str| serde_json::from_slice::<Value>(&fs::read(home.join(name)).ok()?).ok();
    let names = |all: &Value| all.as_object().map(|all| all.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let projects = read(ROOTS_FILE).map(|all| names(&all["projects"])).unwrap_or_default();
    let trusted = read(TRUSTED_FILE).map(|all| names(&all)).unwrap_or_default();
    [projects, trusted].concat()
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
        assert_eq!(whose("0a1b/chats/session-2026-11-18T10-00-93e7562b.json"), Some(("93e7562b".to_owned(), None)));
        assert_eq!(whose(&format!("shop/chats/{ID}/a-1.jsonl")), Some((ID.to_owned(), Some("a-1".to_owned()))));
        for other in [
            "shop/chats/session-2026-11-18T10-00-93e7562b.json.tmp",
            "shop/chats/session-2026-11-18T10-00-.jsonl",
            "shop/chats/session-x.jsonl",
            "shop/chats/93e7562b.jsonl",
            "shop/session-2026-11-18T10-00-93e7562b.jsonl",
            "shop/logs.jsonl",
            "shop/logs.json",
            "shop/checkpoint-a.json",
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
