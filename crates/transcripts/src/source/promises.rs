//! What every source promises, held against rows that its client wrote, and what a new one begins with: [`Skeleton`].

use std::path::{Path, PathBuf};

use globset::GlobSet;
use serde_json::{Value, json};

use super::discover::{ClientFolder, discover};
use super::row::{NoRecord, RowPlace, Said, parsed};
use super::said::reply;
use super::{LineParser, ParentLink, ParsedLine, Release, Source, TranscriptIdentity, looked_into, open, source_of};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::{Item, ParserState, PendingRuns, RecordKey, ToolClass};
use crate::source::delta::RawLine;
use crate::source::json::{self, fields};
use crate::source::line::{malformed, text_of_line, timestamp};
use crate::source::parsed::state_with;
use crate::source::tool_use::ToolTable;

/// A key that is in no recorded row.
const KEY: &str = "ghp_Tk4RvZq81mXw2LcB7nKd9fHs3jPy6eAu5gQo";

/// The folders of clients, as they keep them below a home: recorded, or made by hand of those whose rows nobody may publish or that nobody has tried.
fn recorded() -> Vec<ClientFolder> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let of = |client: Client| {
        let folder = match client {
            Client::ClaudeCode => "claude-code-2.1.197",
            Client::CopilotCli => "copilot",
            Client::QwenCode => "qwen",
            other => other.key(),
        };
        let versions = std::fs::read_dir(fixtures.join(folder)).expect("recordings").map(|entry| entry.expect("a folder").path());
        versions.map(move |path| ClientFolder { client, path })
    };
    Client::ALL.into_iter().flat_map(of).collect()
}

/// A transcript's rows, and whose they are.
fn transcripts() -> Vec<(TranscriptIdentity, PathBuf, Vec<Vec<u8>>)> {
    // Each by itself: one of them may hold what another has copied.
    let of_folder = |folder: ClientFolder| {
        let found = discover(&[folder], &GlobSet::empty());
        assert_eq!(found.unreadable, [""; 0]);
        found.files
    };
    let rows_of = |file| {
        let file = looked_into(file);
        let mut lines = open(&file.place, &file.path, None).expect("a transcript").lines;
        let mut rows = Vec::new();
        while let Some((.., RawLine::Complete(line) | RawLine::Tail(line))) = lines.next_line().expect("a line") {
            rows.push(line.to_vec());
        }
        (file.place, file.path, rows)
    };
    recorded().into_iter().flat_map(of_folder).map(rows_of).collect()
}

/// What a source makes of rows; `anew`: each is read by another parser, which goes on where the last one stopped.
fn read(source: &dyn Source, place: &TranscriptIdentity, rows: &[Vec<u8>], anew: bool) -> Vec<ParsedLine> {
    let sanitizer = Sanitizer::shipped();
    let mut parser = source.parser(place, &sanitizer, &ParserState::default());
    let one = |row: &Vec<u8>| {
        let read = parser.read(row);
        if anew {
            parser = source.parser(place, &sanitizer, &parser.state());
        }
        read
    };
    rows.iter().map(one).collect()
}

/// Rows are the same in whatever pieces they are read, with or without their lines' ends; half a row is none; what is stored has passed the
/// sanitizer, whichever field it was in; a folder is a whole path.
fn hold(source: &dyn Source, place: &TranscriptIdentity, path: &Path, rows: &[Vec<u8>]) {
    let at_once = read(source, place, rows, false);
    assert!(read(source, place, rows, true) == at_once, "{}: in pieces", path.display());
    let ended: Vec<_> = rows.iter().map(|row| [row, &b" \r"[..]].concat()).collect();
    assert!(read(source, place, &ended, false) == at_once, "{}: with their ends", path.display());
    let of_record = |line: &ParsedLine| if let ParsedLine::Record(row) = line { row.cwd.clone() } else { None };
    let folders: Vec<_> = at_once.iter().filter_map(of_record).filter(|cwd| !cwd.starts_with('/')).collect();
    assert!(folders.is_empty(), "{}: {folders:?}", path.display());
    for row in rows {
        let half = &row[..row.len() / 2];
        // Some rows are passed over by how they begin.
        let read = read(source, place, &[half.to_vec()], false);
        assert!(matches!(read[..], [ParsedLine::Malformed(_) | ParsedLine::Empty]), "{}: {read:?}", path.display());
    }
    let sanitizer = Sanitizer::shipped();
    let mut state = ParserState::default();
    for row in rows {
        for n in 0.. {
            let mut planted = serde_json::from_slice(row).expect("JSON");
            if plant(&mut planted, &mut { n }).is_none() {
                break;
            }
            let planted = planted.to_string();
            let kept = format!("{:?}", source.parser(place, &sanitizer, &state).read(planted.as_bytes()));
            assert!(!kept.contains(KEY), "{}: {planted} → {kept}", path.display());
        }
        let mut parser = source.parser(place, &sanitizer, &state);
        parser.read(row);
        state = parser.state();
    }
}

/// Puts the key behind the `n`th text of a row; `None` if there are not so many. What only tells rows apart is none.
fn plant(row: &mut Value, n: &mut usize) -> Option<()> {
    match row {
        Value::String(text) if *n == 0 => {
            text.push_str(&format!("\n{KEY}"));
            return Some(());
        }
        Value::String(_) => *n -= 1,
        Value::Array(all) => return all.iter_mut().find_map(|one| plant(one, n)),
        Value::Object(all) => {
            let is_id = |name: &str| name.to_lowercase().ends_with("id");
            return all.iter_mut().filter(|(name, _)| !is_id(name)).find_map(|(_, one)| plant(one, n));
        }
        _ => {}
    }
    None
}

#[test]
fn every_source_keeps_its_promises_over_what_its_client_wrote() {
    let all = transcripts();
    for client in Client::ALL {
        let own: Vec<_> = all.iter().filter(|(place, ..)| place.client == client).collect();
        assert!(own.len() > 2, "{client:?}: {}", own.len());
        own.into_iter().for_each(|(place, path, rows)| hold(source_of(client), place, path, rows));
    }
}

#[test]
fn every_tool_that_a_client_was_seen_to_use_is_known() {
    let of_line = |line: ParsedLine| if let ParsedLine::Record(row) = line { row.items } else { Vec::new() };
    for (place, path, rows) in transcripts() {
        let source = source_of(place.client);
        for item in read(source, &place, &rows, false).into_iter().flat_map(of_line) {
            if let Item::Tool(tool) = item {
                assert!(source.tools().class_of(&tool.name).is_some(), "{}: {}", path.display(), tool.name);
            }
        }
    }
}

/// A source to begin with: a made client that writes `sessions/<session>.jsonl`, with rows such as
/// `{"id": "1", "at": "2026-11-18T10:00:00Z", "cwd": "/p/shop", "role": "user", "text": "…"}`.
struct Skeleton;

static TOOLS: ToolTable = ToolTable::of(&[(ToolClass::Shell, &["shell"])]);

impl Source for Skeleton {
    fn layouts(&self) -> &'static [&'static str] {
        &["sessions"]
    }

    fn may_hold(&self, _layout: &str, _depth: usize, _name: &[u8]) -> bool {
        false
    }

    fn identify(&self, _layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        let session = std::str::from_utf8(below).ok()?.strip_suffix(".jsonl")?;
        let place = || TranscriptIdentity { session: session.to_owned(), ..TranscriptIdentity::default() };
        (!session.is_empty() && !session.contains('/')).then(place)
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        let before = serde_json::from_str(&state.own).unwrap_or_default();
        Box::new(SkeletonLines { place, sanitizer, before, runs: state.runs.clone() })
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""role":"assistant""#).is_some()
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        line["cwd"].as_str()
    }

    fn tools(&self) -> &'static ToolTable {
        &TOOLS
    }

    fn newest_tested(&self) -> Release {
        Release([1, 0, 0])
    }
}

struct SkeletonLines<'p> {
    place: &'p TranscriptIdentity,
    sanitizer: &'p Sanitizer,
    /// State: the record before, which is what a row follows here.
    before: Option<RecordKey>,
    /// Commands whose output is still to come.
    runs: PendingRuns,
}

impl LineParser for SkeletonLines<'_> {
    fn read(&mut self, line: &[u8]) -> ParsedLine {
        let (line, text) = text_of_line(line);
        let Ok([id, at, cwd, role, said]) = fields(&text, &["id", "at", "cwd", "role", "text"]) else { return malformed(&text) };
        let session = &self.place.session;
        // The same in a copy of the row; without an id the row itself is one.
        let key = match id.and_then(json::text) {
            Some(id) => id.key_in(session, 0),
            None => RecordKey::from_line(session, line),
        };
        let words = said.and_then(json::text).unwrap_or_default();
        let role = role.and_then(json::text);
        let said = match role.as_ref().map(|role| role.known(&["user", "assistant"])) {
            Some("user") => Said::prompt(self.sanitizer.pass_users(&[words]), false, false),
            Some("assistant") => Ok(Said::only(reply(&words, self.sanitizer))),
            _ => Err(NoRecord::unknown("", role, "(no role)")),
        };
        let place = RowPlace {
            link: ParentLink { key, parent: self.before.replace(key) },
            session,
            agent: self.place.agent.clone(),
            at: at.and_then(timestamp),
            cwd: cwd.and_then(json::text).filter(|cwd| cwd.starts_with("/")).map(|cwd| self.sanitizer.redact(&cwd)),
            branch: None,
            version: None,
        };
        parsed(said, place, &mut self.runs, self.sanitizer)
    }

    fn state(&self) -> ParserState {
        state_with(&self.runs, &self.before)
    }
}

#[test]
fn the_skeleton_keeps_its_promises() {
    let place = Skeleton.identify("sessions", b"s1.jsonl").expect("a transcript");
    let row = |n: usize, role: &str| {
        json!({"id": n.to_string(), "at": "2026-11-18T10:00:00Z", "cwd": "/p/shop", "role": role, "text": format!("say {n}")})
            .to_string()
            .into_bytes()
    };
    let rows: Vec<_> = (0..6).map(|n| row(n, ["user", "assistant", "hologram"][n % 3])).collect();
    hold(&Skeleton, &place, Path::new("s1.jsonl"), &rows);
    let kept = read(&Skeleton, &place, &rows, false);
    assert_eq!(kept.iter().filter(|line| matches!(line, ParsedLine::Record(_))).count(), 4);
    assert_eq!(kept[2], ParsedLine::Unknown("hologram".to_owned()));
}
