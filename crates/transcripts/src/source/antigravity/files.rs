//! Where Antigravity keeps its conversations, and what it says of itself by that.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::Value;

use super::rows::AntigravityLines;
use super::{Antigravity, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::{Millis, ParserState};
use crate::source::address::local_path;
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
/// The most conversations that are searched for the one that began this one.
const MAX_OTHERS: usize = 64;
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
        let Some(own) = Conversation::at(&file.path) else { return };
        let callers = own.callers();
        file.place.cwd = own.folder().or_else(|| callers.iter().find_map(Conversation::folder));
        if let Some(first) = callers.last() {
            file.place.agent = Some(std::mem::replace(&mut file.place.session, first.id.clone()));
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

/// A conversation on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Conversation {
    brain: PathBuf,
    id: String,
}

impl Conversation {
    fn at(transcript: &Path) -> Option<Self> {
        let folder = transcript.ancestors().nth(3)?;
        Some(Self { brain: folder.parent()?.to_owned(), id: folder.file_name()?.to_str()?.to_owned() })
    }

    fn transcript(&self) -> PathBuf {
        self.brain.join(&self.id).join(GENERATED).join(LOGS).join(TRANSCRIPT)
    }

    /// The folder in which it was begun: where its first prompt was typed, or else where its first command ran.
    fn folder(&self) -> Option<String> {
        let typed_in = |line: &Value| {
            let folder = line["workspace"].as_str().filter(|_| line["conversationId"] == *self.id)?;
            Some(local_path(folder).into_owned()).filter(|folder| folder.starts_with('/'))
        };
        let history =
            self.brain.parent().and_then(|data| delta::head_of(&data.join(HISTORY), MAX_HISTORY_BYTES).ok()).unwrap_or_default();
        let found = lines_with(&history, &self.id).find_map(|line| typed_in(&line));
        found.or_else(|| {
            let head = delta::head_of(&self.transcript(), HEAD_BYTES).ok()?;
            lines_with(&head, "\"Cwd\"").find_map(|line| Antigravity.folder_in(&line).map(str::to_owned))
        })
    }

    /// When its first step was written.
    fn born(&self) -> Option<Millis> {
        let head = delta::head_of(&self.transcript(), FIRST_BYTES).ok()?;
        // The first prompt may be longer than that; the time comes before it.
        let first = String::from_utf8_lossy(head.split(|b| *b == b'\n').next()?);
        let [at] = json::fields_before_cut(&*first, &["created_at"]);
        timestamp(at?)
    }

    /// The conversation whose subagent it is, the one of which that is one, and so on.
    fn callers(&self) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        while all.len() < MAX_DEPTH
            && let Some(caller) = all.last().unwrap_or(self).caller()
            && caller != *self
            && !all.contains(&caller)
        {
            all.push(caller);
        }
        all
    }

    /// Who began it was at work when it began, so that it was written to at that time or later, and began earlier.
    fn caller(&self) -> Option<Self> {
        let born = self.born()?;
        let of_entry = |entry: fs::DirEntry| {
            let other = Self { brain: self.brain.clone(), id: entry.file_name().into_string().ok()? };
            let written = other.transcript().metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            let written = i64::try_from(written.as_millis()).ok()?;
            // Times of steps are whole seconds.
            (other.id != self.id && written + 1000 >= born).then_some((written, other))
        };
        let mut others: Vec<_> = fs::read_dir(&self.brain).ok()?.flatten().filter_map(of_entry).collect();
        others.sort_by(|a, b| (a.0, &a.1.id).cmp(&(b.0, &b.1.id)));
        let began_it = |other: &Self| {
            let text = delta::head_of(&other.transcript(), MAX_PARENT_BYTES).unwrap_or_default();
            let is_begun =
                |line: Value| line["source"] != "USER_EXPLICIT" && line["content"].as_str().is_some_and(tells_of_subagents);
            let named = format!("\\\"conversationId\\\": \\\"{}\\\"", self.id);
            let without_space = named.replace(": ", ":");
            lines_with(&text, &named).chain(lines_with(&text, &without_space)).any(is_begun)
        };
        let may_have = |other: &Self| other.born().is_some_and(|began| began <= born);
        others.into_iter().map(|(_, other)| other).take(MAX_OTHERS).find(|other| may_have(other) && began_it(other))
    }
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
        let own = Conversation { brain: brain.to_owned(), id: id.to_owned() };
        let path = own.transcript();
        fs::create_dir_all(path.parent().expect("a parent")).expect("the folder");
        fs::write(&path, rows.iter().map(|row| format!("{row}\n")).collect::<String>()).expect("a transcript");
        path
    }

    fn step(n: u64, second: &str, kind: &str, content: &str) -> Value {
        json!({"step_index": n, "type": kind, "created_at": format!("2026-11-20T10:00:{second}Z"), "content": content})
    }

    fn looked_at(path: PathBuf) -> TranscriptIdentity {
        let id = Conversation::at(&path).expect("a conversation").id;
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

    #[test]
    fn a_subagent_belongs_to_the_session_that_began_it() {
        let home = tempfile::tempdir().expect("a folder");
        let brain = home.path().join("antigravity/brain");
        let begun = |id: &str| format!("Created the following subagents:\n{{\n  \"conversationId\": \"{id}\"\n}}");
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
