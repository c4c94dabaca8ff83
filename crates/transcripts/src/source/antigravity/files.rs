//! Where Antigravity keeps its conversations, and what it says of itself by that.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::rows::AntigravityLines;
use super::{Antigravity, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::{Millis, ParserState};
use crate::source::address::local_path;
use crate::source::delta::{LineReader, RawLine};
use crate::source::discover::TranscriptFile;
use crate::source::line::timestamp;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Resume, Source, TranscriptIdentity, delta, json};

/// `<program>/brain/<conversation>/.system_generated/logs/transcript_full.jsonl`, of the editor, of the command line and of the editor's later
/// folder; the last one is for somebody who names a program's own folder.
const LAYOUTS: [&str; 4] = ["antigravity/brain", "antigravity-cli/brain", "antigravity-ide/brain", "brain"];
const GENERATED: &str = ".system_generated";
const LOGS: &str = "logs";
/// The log beside it that is called `transcript.jsonl` is the same, cut short.
const TRANSCRIPT: &str = "transcript_full.jsonl";

/// Beside `brain`: the prompts of all conversations, each with the folder in which it was typed.
const HISTORY: &str = "history.jsonl";
const MAX_HISTORY_BYTES: u64 = 32 << 20;
/// How much of a conversation's start is searched for the folder of its first command.
const HEAD_BYTES: u64 = 1 << 20;
/// The same for when it began.
const FIRST_BYTES: u64 = 4 << 10;
/// How much of another one is searched for the subagent that it began.
const MAX_PARENT_BYTES: u64 = 64 << 20;
/// How deep subagents of subagents are followed.
const MAX_DEPTH: usize = 4;
/// How a step begins that names the subagents which it began.
const BEGUN: &str = "Created the following subagents:";
/// The client's own folders, in which it works for itself: no session took place there.
const OWN: &str = "/.gemini/antigravity";

/// No release was tried.
const NEWEST_TESTED: Release = Release([0, 0, 0]);

impl Source for Antigravity {
    fn layouts(&self) -> &'static [&'static str] {
        &LAYOUTS
    }

    fn may_hold(&self, _layout: &str, depth: usize, name: &[u8]) -> bool {
        match depth {
            1 => true,
            2 => name == GENERATED.as_bytes(),
            3 => name == LOGS.as_bytes(),
            _ => false,
        }
    }

    fn identify(&self, _layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        match std::str::from_utf8(below).ok()?.split('/').collect::<Vec<_>>()[..] {
            [id, GENERATED, LOGS, TRANSCRIPT] if !id.is_empty() => {
                Some(TranscriptIdentity { client: Client::Antigravity, session: id.to_owned(), agent: None, cwd: None })
            }
            _ => None,
        }
    }

    /// No row names the folder, and none whose subagent it is.
    fn look_inside(&self, file: &mut TranscriptFile) {
        self.look_inside_all(&mut [file]);
    }

    fn look_inside_all(&self, files: &mut [&mut TranscriptFile]) {
        let mut brains: HashMap<PathBuf, Brain> = HashMap::new();
        for file in files {
            if let Some((brain, id)) = conversation_at(&file.path) {
                let brain = brains.entry(brain.to_owned()).or_insert_with_key(|path| Brain::at(path.clone()));
                brain.place(id, &mut file.place);
            }
        }
    }

    fn names_folders(&self, _transcript: &Path) -> bool {
        false
    }

    /// Its hooks were not tried.
    fn calls_hooks(&self, _transcript: &Path) -> bool {
        false
    }

    /// Its command takes up what it began, and its editor lists the rest itself.
    fn resume(&self, _session: &str) -> Option<Resume> {
        None
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(AntigravityLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, b"\"PLANNER_RESPONSE\"").is_some()
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        let calls = line["tool_calls"].as_array()?;
        // Some releases write each argument as JSON in a string.
        let named = calls.iter().filter_map(|call| Some(call["args"]["Cwd"].as_str()?.trim_matches('"')));
        named.into_iter().find(|folder| folder.starts_with('/') && !folder.contains(OWN))
    }

    fn tools(&self) -> &'static ToolTable {
        &tools::TOOLS
    }

    fn newest_tested(&self) -> Release {
        NEWEST_TESTED
    }
}

/// The folder with all conversations, and the id of the one whose transcript this is.
fn conversation_at(transcript: &Path) -> Option<(&Path, &str)> {
    let folder = transcript.ancestors().nth(3)?;
    Some((folder.parent()?, folder.file_name()?.to_str()?))
}

/// A folder with conversations. What is looked for in a file is looked for once, however many conversations are asked about.
#[derive(Debug)]
struct Brain {
    path: PathBuf,
    /// Where the first prompt of each was typed, by their ids.
    typed_in: OnceCell<HashMap<String, String>>,
    /// In the order in which they were last written to.
    all: OnceCell<Vec<Conversation>>,
}

/// A conversation on disk.
#[derive(Debug)]
struct Conversation {
    id: String,
    written: Millis,
    born: OnceCell<Option<Millis>>,
    /// The subagents that it began.
    begun: OnceCell<HashSet<String>>,
}

impl Brain {
    fn at(path: PathBuf) -> Self {
        Self { path, typed_in: OnceCell::new(), all: OnceCell::new() }
    }

    fn transcript(&self, id: &str) -> PathBuf {
        self.path.join(id).join(GENERATED).join(LOGS).join(TRANSCRIPT)
    }

    /// Says where a conversation of it took place, and whose subagent it is.
    fn place(&self, id: &str, place: &mut TranscriptIdentity) {
        let callers = self.callers(id);
        place.cwd = self.folder(id).or_else(|| callers.iter().find_map(|caller| self.folder(caller)));
        if let Some(first) = callers.last() {
            place.agent = Some(std::mem::replace(&mut place.session, (*first).to_owned()));
        }
    }

    /// The folder in which a conversation was begun: where its first prompt was typed, or else where its first command ran.
    fn folder(&self, id: &str) -> Option<String> {
        let typed_in = self.typed_in.get_or_init(|| self.typed_in());
        typed_in.get(id).cloned().or_else(|| {
            let head = delta::head_of(&self.transcript(id), HEAD_BYTES).ok()?;
            lines_with(&head, "\"Cwd\"").find_map(|line| Antigravity.folder_in(&line).map(str::to_owned))
        })
    }

    fn typed_in(&self) -> HashMap<String, String> {
        let history = self.path.parent().and_then(|data| delta::head_of(&data.join(HISTORY), MAX_HISTORY_BYTES).ok());
        let mut all = HashMap::new();
        for line in lines_with(&history.unwrap_or_default(), "\"conversationId\"") {
            let folder = line["workspace"].as_str().map(local_path).filter(|folder| folder.starts_with('/'));
            if let (Some(folder), Some(id)) = (folder, line["conversationId"].as_str()) {
                all.entry(id.to_owned()).or_insert_with(|| folder.into_owned());
            }
        }
        all
    }

    fn all(&self) -> &[Conversation] {
        let of_entry = |entry: fs::DirEntry| {
            let id = entry.file_name().into_string().ok()?;
            let written = self.transcript(&id).metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            let written = i64::try_from(written.as_millis()).ok()?;
            Some(Conversation { id, written, born: OnceCell::new(), begun: OnceCell::new() })
        };
        self.all.get_or_init(|| {
            let mut all: Vec<_> = fs::read_dir(&self.path).into_iter().flatten().flatten().filter_map(of_entry).collect();
            all.sort_by(|a, b| (a.written, &a.id).cmp(&(b.written, &b.id)));
            all
        })
    }

    fn born(&self, one: &Conversation) -> Option<Millis> {
        *one.born.get_or_init(|| born(&self.transcript(&one.id)))
    }

    /// The conversation whose subagent this one is, the one of which that is one, and so on.
    fn callers(&self, id: &str) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        while all.len() < MAX_DEPTH
            && let Some(caller) = self.caller(all.last().unwrap_or(&id))
            && caller != id
            && !all.contains(&caller)
        {
            all.push(caller);
        }
        all
    }

    /// Who began it was at work when it began, so that it was written to at that time or later, and began earlier.
    fn caller(&self, id: &str) -> Option<&str> {
        let born = self.born(self.all().iter().find(|one| one.id == id)?)?;
        // Times of steps are whole seconds.
        let from = self.all().partition_point(|other| other.written + 1000 < born);
        let may_have = |other: &&Conversation| other.id != id && self.born(other).is_some_and(|began| began <= born);
        let began_it = |other: &&Conversation| {
            other.begun.get_or_init(|| begun_in(&self.transcript(&other.id)).unwrap_or_default()).contains(id)
        };
        self.all()[from..].iter().filter(may_have).find(began_it).map(|caller| caller.id.as_str())
    }
}

/// When the first step of a conversation was written.
fn born(transcript: &Path) -> Option<Millis> {
    let head = delta::head_of(transcript, FIRST_BYTES).ok()?;
    // The first prompt may be longer than that; the time comes before it.
    let first = String::from_utf8_lossy(head.split(|b| *b == b'\n').next()?);
    let [at] = json::fields_before_cut(&*first, &["created_at"]);
    timestamp(at?)
}

/// The subagents that a conversation says it began, by their ids.
fn begun_in(transcript: &Path) -> io::Result<HashSet<String>> {
    let mut lines = LineReader::new(delta::open_regular(transcript)?.take(MAX_PARENT_BYTES), 0);
    let mut all = HashSet::new();
    while let Some((.., piece)) = lines.next_line()? {
        let (RawLine::Complete(line) | RawLine::Tail(line)) = piece else { continue };
        if memchr::memmem::find(line, BEGUN.as_bytes()).is_none() {
            continue;
        }
        let row: Value = serde_json::from_slice(line).unwrap_or_default();
        let content = row["content"].as_str().filter(|content| row["source"] != "USER_EXPLICIT" && tells_of_subagents(content));
        all.extend(content.into_iter().flat_map(named_in).map(str::to_owned));
    }
    Ok(all)
}

/// The ids of conversations that a text names.
fn named_in(content: &str) -> impl Iterator<Item = &str> {
    let names = content.split("\"conversationId\":").skip(1);
    names.filter_map(|rest| Some(rest.trim_start().strip_prefix('"')?.split_once('"')?.0))
}

/// Does the content of a step say that it began subagents?
fn tells_of_subagents(content: &str) -> bool {
    let lines = content.lines().filter(|line| !["Created At: ", "Completed At: "].iter().any(|head| line.starts_with(head)));
    lines.into_iter().find(|line| !line.is_empty()).is_some_and(|line| line.starts_with(BEGUN))
}

/// The lines of a log that hold this, as JSON.
fn lines_with<'l>(log: &'l [u8], part: &'l str) -> impl Iterator<Item = Value> + 'l {
    let lines = log.split(|b| *b == b'\n').filter(|line| memchr::memmem::find(line, part.as_bytes()).is_some());
    lines.filter_map(|line| serde_json::from_slice(line).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn write(brain: &Path, id: &str, rows: &[Value]) -> PathBuf {
        let path = Brain::at(brain.to_owned()).transcript(id);
        fs::create_dir_all(path.parent().expect("a parent")).expect("the folder");
        fs::write(&path, rows.iter().map(|row| format!("{row}\n")).collect::<String>()).expect("a transcript");
        path
    }

    fn step(n: u64, second: &str, kind: &str, content: &str) -> Value {
        json!({"step_index": n, "type": kind, "created_at": format!("2026-11-20T10:00:{second}Z"), "content": content})
    }

    fn looked_at(path: PathBuf) -> TranscriptIdentity {
        let id = conversation_at(&path).expect("a conversation").1.to_owned();
        let place = TranscriptIdentity { client: Client::Antigravity, session: id, agent: None, cwd: None };
        let mut file = TranscriptFile { path, size: 1, is_share: false, mtime_ns: 0, stamp: 0, place };
        Antigravity.look_inside(&mut file);
        file.place
    }

    #[test]
    fn a_conversation_is_known_by_its_folder() {
        let at = |below: &str| Antigravity.identify(LAYOUTS[0], below.as_bytes()).map(|place| place.session);
        assert_eq!(at("04385df3/.system_generated/logs/transcript_full.jsonl").as_deref(), Some("04385df3"));
        for other in [
            "04385df3/.system_generated/logs/transcript.jsonl",
            "04385df3/.system_generated/logs/overview.txt",
            "04385df3/.system_generated/transcript_full.jsonl",
            "04385df3/task.md",
            "/.system_generated/logs/transcript_full.jsonl",
        ] {
            assert_eq!(at(other), None, "{other}");
        }
        let enters =
            |path: &str| path.split('/').enumerate().all(|(n, name)| Antigravity.may_hold(LAYOUTS[0], n + 1, name.as_bytes()));
        assert!(enters("04385df3/.system_generated/logs"));
        assert!(
            !enters("04385df3/.system_generated/steps") && !enters("04385df3/browser") && !enters("a/.system_generated/logs/b")
        );
    }

    #[test]
    fn its_folder_is_where_it_was_typed_or_where_its_first_command_ran() {
        let home = tempfile::tempdir().expect("a folder");
        let brain = home.path().join("antigravity-cli/brain");
        let call = |cwd: &str| json!({"type": "PLANNER_RESPONSE", "tool_calls": [{"name": "run_command", "args": {"Cwd": cwd}}]});
        let rows = [call("/home/u/.gemini/antigravity/scratch"), call("\"/src/larder\""), call("/src/other")];
        let path = write(&brain, "c1", &rows);
        assert_eq!(looked_at(path.clone()).cwd.as_deref(), Some("/src/larder"));
        let typed = |id: &str, folder: &str| format!("{}\n", json!({"display": "c1", "workspace": folder, "conversationId": id}));
        let history =
            typed("c2", "/src/two") + &typed("c1", "c:\\src") + &typed("c1", "file:///src/my%20one") + &typed("c1", "/src/three");
        fs::write(home.path().join("antigravity-cli/history.jsonl"), history).expect("the history");
        assert_eq!(looked_at(path).cwd.as_deref(), Some("/src/my one"));
    }

    fn begun(id: &str) -> String {
        format!("Created the following subagents:\n{{\n  \"conversationId\": \"{id}\"\n}}")
    }

    #[test]
    fn a_caller_is_found_behind_any_number_of_others() {
        let home = tempfile::tempdir().expect("a folder");
        let brain = home.path().join("antigravity/brain");
        let ids: Vec<_> = (0..200).map(|n| format!("a{n:03}")).collect();
        let calls = ids.iter().map(|id| step(3, "05", "INVOKE_SUBAGENT", &begun(id)));
        let first = step(0, "00", "USER_INPUT", "Go");
        let all: Vec<_> = ids.iter().map(|id| write(&brain, id, &[step(0, "05", "USER_INPUT", "Look")])).collect();
        write(&brain, "m", &[first].into_iter().chain(calls).collect::<Vec<_>>());
        for path in [&all[0], &all[100], &all[199]] {
            assert_eq!(looked_at(path.clone()).session, "m", "{}", path.display());
        }
    }

    #[test]
    fn of_many_files_each_is_searched_once() {
        let home = tempfile::tempdir().expect("a folder");
        let brain = home.path().join("antigravity/brain");
        let main = write(&brain, "m", &[step(0, "00", "USER_INPUT", "Go"), step(3, "05", "INVOKE_SUBAGENT", &begun("a"))]);
        write(&brain, "a", &[step(0, "05", "USER_INPUT", "Look")]);
        write(&brain, "b", &[step(0, "06", "USER_INPUT", "Look closer")]);
        let known = Brain::at(brain.clone());
        assert_eq!((known.callers("a"), known.callers("b")), (vec!["m"], vec![]));
        fs::write(main, "").expect("a transcript");
        assert_eq!(known.callers("a"), ["m"]);
        assert_eq!(Brain::at(brain).callers("a"), [""; 0]);
    }

    #[test]
    fn a_subagent_belongs_to_the_session_that_began_it() {
        let home = tempfile::tempdir().expect("a folder");
        let brain = home.path().join("antigravity/brain");
        let call = json!({"type": "PLANNER_RESPONSE", "tool_calls": [{"name": "run_command", "args": {"Cwd": "/src/larder"}}]});
        let main = write(&brain, "m", &[step(0, "00", "USER_INPUT", "Go"), call, step(3, "05", "INVOKE_SUBAGENT", &begun("a"))]);
        // Who only speaks of it has not begun it.
        write(&brain, "n", &[step(2, "02", "VIEW_FILE", &format!("1: {}", begun("a")))]);
        let first = write(&brain, "a", &[step(0, "05", "USER_INPUT", "Look"), step(2, "08", "GENERIC", &begun("b"))]);
        let second = write(&brain, "b", &[step(0, "08", "USER_INPUT", "Look closer")]);
        let whose = |path: &PathBuf| {
            let place = looked_at(path.clone());
            (place.session, place.agent, place.cwd)
        };
        let folder = || Some("/src/larder".to_owned());
        assert_eq!(whose(&main), ("m".to_owned(), None, folder()));
        assert_eq!(whose(&first), ("m".to_owned(), Some("a".to_owned()), folder()));
        assert_eq!(whose(&second), ("m".to_owned(), Some("b".to_owned()), folder()));
    }
}
