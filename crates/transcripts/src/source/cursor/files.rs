//! Where Cursor keeps the transcripts of its agent, and what it says of itself by that.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::rows::CursorLines;
use super::{Cursor, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::discover::TranscriptFile;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Resume, Source, TranscriptIdentity, delta};

/// `projects/<project>/agent-transcripts/<session>.jsonl`, or with a folder for each session, and in that one for its subagents.
const PROJECTS: &str = "projects";
const TRANSCRIPTS: &str = "agent-transcripts";
const SUBAGENTS: &str = "subagents";
/// What a transcript in a folder of its own may be called, besides like the folder.
const TRANSCRIPT: &str = "transcript";

/// In a project's folder: the folder in which its sessions took place.
const ROOT_FILE: &str = ".workspace-trusted";
const MAX_ROOT_BYTES: u64 = 64 << 10;
/// How many folders are listed to find the one that a project is called by.
const MAX_LISTED: usize = 400;

/// No release was tried.
const NEWEST_TESTED: Release = Release([0, 0, 0]);

impl Source for Cursor {
    fn layouts(&self) -> &'static [&'static str] {
        &[PROJECTS]
    }

    fn may_hold(&self, _layout: &str, depth: usize, name: &[u8]) -> bool {
        match depth {
            1 | 3 => true,
            2 => name == TRANSCRIPTS.as_bytes(),
            4 => name == SUBAGENTS.as_bytes(),
            _ => false,
        }
    }

    fn identify(&self, _layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let path = std::str::from_utf8(below).ok()?.strip_suffix(".jsonl")?;
        let (session, agent) = match path.split('/').collect::<Vec<_>>()[..] {
            [_, TRANSCRIPTS, session] => (session, None),
            [_, TRANSCRIPTS, session, name] if name == session || name == TRANSCRIPT => (session, None),
            [_, TRANSCRIPTS, session, SUBAGENTS, agent] if !agent.is_empty() => (session, Some(agent.to_owned())),
            _ => return None,
        };
        let place = || TranscriptIdentity { client: Client::Cursor, session: session.to_owned(), agent, cwd: None };
        (!session.is_empty()).then(place)
    }

    /// No row names the folder.
    fn look_inside(&self, file: &mut TranscriptFile) {
        file.place.cwd = project_of(&file.path).and_then(root_of);
    }

    fn names_folders(&self, _transcript: &Path) -> bool {
        false
    }

    fn possible_folders(&self, transcript: &Path) -> Option<Vec<String>> {
        possible_roots(project_of(transcript)?).filter(|all| !all.is_empty())
    }

    /// Its own command takes up what it began, and its editor the rest.
    fn resume(&self, _session: &str) -> Option<Resume> {
        None
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(CursorLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""role":"assistant""#).is_some()
    }

    fn folder_in<'l>(&self, _line: &'l Value) -> Option<&'l str> {
        None
    }

    fn tools(&self) -> &'static ToolTable {
        &tools::TOOLS
    }

    fn newest_tested(&self) -> Release {
        NEWEST_TESTED
    }
}

/// The folder of the project whose transcript this is.
fn project_of(transcript: &Path) -> Option<&Path> {
    transcript.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == TRANSCRIPTS))?.parent()
}

/// The folders on this disk that a project may be called by.
fn possible_roots(project: &Path) -> Option<Vec<String>> {
    let all = called(project.file_name()?.to_str()?, Path::new("/"))?;
    Some(all.into_iter().map(|path| path.to_string_lossy().into_owned()).collect())
}

/// The folder in which the sessions of a project took place: as a file in the project's folder has it, or the only one on this disk that the
/// project may be called by.
fn root_of(project: &Path) -> Option<String> {
    let mut text = String::new();
    let read = delta::open_regular(&project.join(ROOT_FILE)).and_then(|file| file.take(MAX_ROOT_BYTES).read_to_string(&mut text));
    let told = read.ok().and_then(|_| folder_in(&text));
    told.or_else(|| possible_roots(project).filter(|all| all.len() == 1)?.pop())
}

/// The path in a text, or in the JSON that it is.
fn folder_in(text: &str) -> Option<String> {
    let is_path = |text: &&str| text.starts_with('/') && !text.contains('\n');
    if let Some(path) = Some(text.trim()).filter(is_path) {
        return Some(path.to_owned());
    }
    let json: Value = serde_json::from_str(text).ok()?;
    let named = ["workspacePath", "path", "folder"].iter().filter_map(|name| json[name].as_str()).find(is_path);
    named.or(json.as_str().filter(is_path)).map(str::to_owned)
}

/// The folders below this one that are called so once every sign of their path is a hyphen; `None` if there are too many to look at.
fn called(name: &str, below: &Path) -> Option<Vec<PathBuf>> {
    let (mut all, mut listed) = (Vec::new(), 0);
    add_called(name, below, &mut listed, &mut all)?;
    Some(all)
}

fn add_called(name: &str, below: &Path, listed: &mut usize, all: &mut Vec<PathBuf>) -> Option<()> {
    *listed += 1;
    if *listed > MAX_LISTED {
        return None;
    }
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut folders: Vec<_> = fs::read_dir(below).into_iter().flatten().flatten().filter(is_folder).collect();
    folders.sort_by_key(fs::DirEntry::file_name);
    for folder in folders {
        let own = folder.file_name();
        let own: String = own.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        // A dot at the start of a name leaves no second hyphen.
        let Some(rest) = name.strip_prefix(own.trim_start_matches('-')) else { continue };
        if rest.is_empty() {
            all.push(folder.path());
        } else if let Some(rest) = rest.strip_prefix('-') {
            add_called(rest, &folder.path(), listed, all)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_known_by_its_place() {
        let at = |below: &str| Cursor.identify(PROJECTS, below.as_bytes()).map(|place| (place.session, place.agent));
        let own = |agent: Option<&str>| Some(("s1".to_owned(), agent.map(str::to_owned)));
        assert_eq!(at("home-p/agent-transcripts/s1.jsonl"), own(None));
        assert_eq!(at("home-p/agent-transcripts/s1/s1.jsonl"), own(None));
        assert_eq!(at("home-p/agent-transcripts/s1/transcript.jsonl"), own(None));
        assert_eq!(at("home-p/agent-transcripts/s1/subagents/a7.jsonl"), own(Some("a7")));
        for other in ["home-p/agent-transcripts/s1.txt", "home-p/agent-transcripts/s1/s2.jsonl", "home-p/mcps/s1.jsonl"] {
            assert_eq!(at(other), None, "{other}");
        }
    }

    #[test]
    fn a_project_is_the_folder_it_names_or_is_called_by() {
        let disk = tempfile::tempdir().unwrap();
        let folder = disk.path().join("src/my-shop/.web");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(disk.path().join("src/my")).unwrap();
        assert_eq!(called("src-my-shop-web", disk.path()), Some(vec![folder]));
        assert_eq!(called("src-my-other", disk.path()), Some(vec![]));
        let project = disk.path().join("home-p");
        fs::create_dir_all(&project).unwrap();
        for text in ["/home/p\n", "\"/home/p\"", "{\"workspacePath\": \"/home/p\", \"trustedAt\": 1}"] {
            fs::write(project.join(ROOT_FILE), text).unwrap();
            assert_eq!(root_of(&project).as_deref(), Some("/home/p"), "{text}");
        }
    }

    #[test]
    fn a_project_that_may_be_one_of_two_folders_is_none_of_them() {
        let disk = tempfile::tempdir().unwrap();
        let disk = disk.path().canonicalize().unwrap();
        let both = [disk.join("my/app"), disk.join("my-app")];
        both.iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
        let name: Vec<_> = disk.iter().skip(1).map(|part| part.to_str().unwrap().trim_start_matches('.')).collect();
        let project = disk.join("projects").join(format!("{}-my-app", name.join("-")));
        let transcript = project.join("agent-transcripts/s1.jsonl");
        let both = || Some(both.iter().map(|folder| folder.to_str().unwrap().to_owned()).collect::<Vec<_>>());
        assert_eq!((root_of(&project), Cursor.possible_folders(&transcript)), (None, both()));
        fs::remove_dir_all(disk.join("my")).unwrap();
        assert_eq!(root_of(&project).as_deref(), disk.join("my-app").to_str());
        fs::remove_dir_all(disk.join("my-app")).unwrap();
        assert_eq!((root_of(&project), Cursor.possible_folders(&transcript)), (None, None));
    }

    /// A folder for each way to put hyphens into a name of so many parts.
    fn fill(below: &Path, parts: usize) {
        for n in 1..=parts {
            let folder = below.join(vec!["a"; n].join("-"));
            fs::create_dir(&folder).unwrap();
            fill(&folder, parts - n);
        }
    }

    #[test]
    fn what_was_not_looked_at_to_its_end_is_not_told() {
        let disk = tempfile::tempdir().unwrap();
        fill(disk.path(), 12);
        assert_eq!(called(&["a"; 12].join("-"), disk.path()), None);
    }
}
