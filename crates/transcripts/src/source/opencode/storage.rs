//! Sessions as versions before 1.2 keep them: a file each for the session, for every message and for every part of one.
//!
//! `session/<project>/<session>.json`, `message/<session>/<message>.json`, `part/<message>/<part>.json`, all in one folder. Each file is written
//! whole, in place, and again with more in it; the session's own file is not touched by that. So a session has changed if any of its files has,
//! and its lines are made anew from the first on. A file that is half written is left for the next run, and what lies behind it, too.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::made::{self, Head, NS};
use crate::client::Client;
use crate::source::delta::{LineNumbers, MAX_LINE_BYTES, MadeLine, MadeLines, open_regular};
use crate::source::discover::{FoundSessions, TranscriptFile, mtime_ns, stamp};
use crate::source::document::not_whole;

const END: &str = ".json";
/// What stands in a line for the kind of a part that is too long, and of one that was cut short and that nobody will write to its end.
const TOO_LONG: &str = "too long";
const CUT_SHORT: &str = "cut short";

/// The files of a session.
struct Files {
    storage: PathBuf,
    id: String,
}

impl Files {
    fn of(session: &Path) -> io::Result<Self> {
        let id = session.file_name().and_then(|name| name.to_str()?.strip_suffix(END));
        let storage = session.ancestors().nth(3);
        let (id, storage) = id.zip(storage).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { storage: storage.to_owned(), id: id.to_owned() })
    }

    fn messages(&self) -> PathBuf {
        self.storage.join("message").join(&self.id)
    }

    fn message(&self, id: &str) -> PathBuf {
        self.messages().join(format!("{id}{END}"))
    }

    fn parts(&self, message: &str) -> PathBuf {
        self.storage.join("part").join(message)
    }
}

/// The session of a file, with a stamp that changes with any of the session's files; none if a database has all of it.
pub(super) fn sessions(file: &TranscriptFile, found: &FoundSessions) -> io::Result<Vec<TranscriptFile>> {
    let files = Files::of(&file.path)?;
    let head = document(&file.path)?;
    let updated = head["time"]["updated"].as_i64().unwrap_or(0).saturating_mul(NS);
    // A newer version copies sessions and leaves the files. Whoever went back to the older one goes on in them.
    if found.written(Client::OpenCode, &files.id).is_some_and(|written| written >= updated) {
        return Ok(Vec::new());
    }
    let parent = |id: &str| {
        let text = |head: &Value| head["parentID"].as_str().filter(|id| is_name(id)).map(str::to_owned);
        if id == files.id { text(&head) } else { text(&document(&file.path.with_file_name(format!("{id}{END}"))).ok()?) }
    };
    let mut all = Written { size: file.size, mtime_ns: file.mtime_ns, stamp: file.stamp };
    for (message, meta) in listed(&files.messages())? {
        all.add(&meta);
        listed(&files.parts(&message))?.iter().for_each(|(_, meta)| all.add(meta));
    }
    let place = made::place(&files.id, parent);
    Ok(vec![TranscriptFile { size: all.size, is_share: true, mtime_ns: all.mtime_ns, stamp: all.stamp, place, ..file.clone() }])
}

/// What a session's files have in common.
struct Written {
    size: u64,
    mtime_ns: i64,
    stamp: i64,
}

impl Written {
    /// The order does not matter in which files are added: no two have the same stamp.
    fn add(&mut self, meta: &Metadata) {
        self.size += meta.len();
        self.mtime_ns = self.mtime_ns.max(mtime_ns(meta));
        self.stamp = self.stamp.wrapping_add(stamp(meta));
    }
}

/// The documents in a folder by the names of their files, in order; none where there is no folder.
fn listed(folder: &Path) -> io::Result<Vec<(String, Metadata)>> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut all = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(END)).filter(|name| is_name(name)) else { continue };
        // One that was deleted meanwhile is none.
        if let Ok(meta) = entry.path().metadata().map(|meta| (name.to_owned(), meta)) {
            all.push(meta);
        }
    }
    all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}

/// An id is the name of a file.
fn is_name(id: &str) -> bool {
    !id.is_empty() && !id.contains('/') && !id.starts_with('.')
}

/// What a file holds.
enum Held {
    Document(Value),
    TooLong,
    /// No document: it is being written, or was never written to its end.
    Half,
    Gone,
}

impl Held {
    fn of(path: &Path) -> io::Result<Self> {
        let file = match open_regular(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::Gone),
            other => other?,
        };
        let mut bytes = Vec::new();
        file.take(MAX_LINE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > MAX_LINE_BYTES {
            return Ok(Self::TooLong);
        }
        Ok(serde_json::from_str(&String::from_utf8_lossy(&bytes)).map_or(Self::Half, Self::Document))
    }
}

fn document(path: &Path) -> io::Result<Value> {
    match Held::of(path)? {
        Held::Document(document) => Ok(document),
        Held::Gone => Err(io::ErrorKind::NotFound.into()),
        Held::TooLong | Held::Half => Err(not_whole()),
    }
}

/// The lines of the session of a file.
pub(super) fn lines(path: &Path) -> io::Result<MadeLines> {
    let files = Files::of(path)?;
    let document = document(path)?;
    let text = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
    let at = |name: &str| document["time"][name].as_i64().unwrap_or(0);
    let head = Head::of([text("directory"), text("version"), text("title")], [at("created"), at("updated")]);
    let ((began, first), (updated, last)) = (head.first(), head.last());
    let pieces = pieces(&files, made::first_taken_back(&document["revert"]))?;
    let mut lines = SessionLines { files, session: head.session(), numbers: LineNumbers::default(), known: None, is_half: false };
    let went_back = pieces.iter().any(Piece::is_taken_back).then(|| Piece::Made(None, head.went_back()));
    let all = [Piece::Made(Some(began), first)].into_iter().chain(pieces).chain(went_back);
    let all = all.chain([Piece::Made(Some(updated), last)]);
    Ok(MadeLines::new(all.filter_map(move |piece| lines.line(piece).transpose())))
}

/// A message, before its parts are read.
struct Message {
    id: String,
    /// In milliseconds; of one that cannot be read that of the one before.
    created: i64,
    is_assistants: bool,
    is_done: bool,
    is_half: bool,
}

/// What a line is made of.
enum Piece {
    /// A line as it is, and its time if it has one.
    Made(Option<i64>, String),
    /// A message of the user's with all its parts.
    Prompt { message: String, is_live: bool, is_taken_back: bool },
    /// A part of a message of the assistant's; `is_last`: nothing follows it yet.
    Part { message: String, part: String, is_last: bool, is_live: bool },
    /// The end of a message of the assistant's.
    End(String),
    /// A message that is half written; `is_live`: it may still be written to its end.
    Half { is_live: bool },
}

/// The messages of a session in the order in which they were begun.
fn messages(files: &Files) -> io::Result<Vec<Message>> {
    let mut all: Vec<Message> = Vec::new();
    for (id, _) in listed(&files.messages())? {
        let (document, is_half) = match Held::of(&files.message(&id))? {
            Held::Document(document) => (document, false),
            Held::Half => (Value::Null, true),
            Held::TooLong | Held::Gone => continue,
        };
        let before = all.last().map_or(0, |message| message.created);
        let is_assistants = document["role"] == "assistant";
        all.push(Message {
            created: document["time"]["created"].as_i64().unwrap_or(before),
            is_done: is_assistants && made::is_done(&document),
            id,
            is_assistants,
            is_half,
        });
    }
    // By their ids where they began in the same moment.
    all.sort_by_key(|message| message.created);
    Ok(all)
}

impl Piece {
    fn is_taken_back(&self) -> bool {
        matches!(self, Self::Prompt { is_taken_back: true, .. })
    }
}

/// What the lines of a session are made of, in order. Only ids are held. `back`: the first message that was taken back.
fn pieces(files: &Files, back: Option<&str>) -> io::Result<Vec<Piece>> {
    let messages = messages(files)?;
    // Of what lies before a message that was ended, nothing is written any more.
    let live_from = messages.iter().rposition(|message| message.is_done).map_or(0, |last| last + 1);
    let mut pieces = Vec::new();
    let mut is_taken_back = false;
    for (n, Message { id, is_assistants, is_half, .. }) in messages.into_iter().enumerate() {
        let is_live = n >= live_from;
        is_taken_back |= back == Some(&id);
        if is_half {
            pieces.push(Piece::Half { is_live });
        } else if is_assistants {
            let of_part = |(part, _)| Piece::Part { message: id.clone(), part, is_last: false, is_live };
            pieces.extend(listed(&files.parts(&id))?.into_iter().map(of_part));
            pieces.push(Piece::End(id));
        } else {
            pieces.push(Piece::Prompt { message: id, is_live, is_taken_back });
        }
    }
    if let [.., Piece::Part { is_last, .. }, Piece::End(_)] = &mut pieces[..] {
        *is_last = true;
    }
    Ok(pieces)
}

/// Makes the lines of a session.
struct SessionLines {
    files: Files,
    session: String,
    numbers: LineNumbers,
    /// The last message that was read.
    known: Option<(String, Value)>,
    /// Something is half written: the next run goes on there.
    is_half: bool,
}

impl SessionLines {
    /// `None` if there is nothing to be said yet, or not any more.
    fn line(&mut self, piece: Piece) -> io::Result<Option<MadeLine>> {
        if self.is_half {
            return Ok(None);
        }
        let made = self.made(piece)?.filter(|_| !self.is_half);
        Ok(made.map(|(at, text)| MadeLine { at: self.numbers.of(at), text }))
    }

    /// The time of a piece and its line.
    fn made(&mut self, piece: Piece) -> io::Result<Option<(Option<i64>, String)>> {
        let is_taken_back = piece.is_taken_back();
        let (id, parts, is_last) = match piece {
            Piece::Made(at, line) => return Ok(Some((at, line))),
            Piece::Half { is_live } => {
                self.is_half = is_live;
                return Ok(Some((None, made::line(&self.session, &json!({"role": CUT_SHORT}).to_string(), &[]))));
            }
            Piece::Prompt { message, is_live, .. } => {
                let folder = self.files.parts(&message);
                let mut parts = Vec::new();
                for (part, _) in listed(&folder)? {
                    parts.extend(self.part(&folder, &part, is_live)?);
                }
                (message, parts, false)
            }
            Piece::Part { message, part, is_last, is_live } => {
                let read = self.part(&self.files.parts(&message), &part, is_live)?;
                (message, read.into_iter().collect(), is_last)
            }
            Piece::End(message) => (message, Vec::new(), false),
        };
        let session = self.session.clone();
        let Some(message) = self.message(&id)? else { return Ok(None) };
        // More of its text may come.
        if is_last && !made::is_done(message) && parts.iter().any(|part: &Value| part["type"] == "text") {
            return Ok(None);
        }
        let parts: Vec<String> = parts.iter().map(Value::to_string).collect();
        let line = made::line(&session, &message.to_string(), &parts);
        Ok(Some((message["time"]["created"].as_i64(), if is_taken_back { made::taken_back(&line) } else { line })))
    }

    fn message(&mut self, id: &str) -> io::Result<Option<&Value>> {
        if self.known.as_ref().is_none_or(|(known, _)| known != id) {
            self.known = match Held::of(&self.files.message(id))? {
                Held::Document(message) => Some((id.to_owned(), message)),
                Held::Half => {
                    self.is_half = true;
                    None
                }
                Held::TooLong | Held::Gone => None,
            };
        }
        Ok(self.known.as_ref().map(|(_, message)| message))
    }

    /// A part, or what stands for it; `None` if it is gone.
    fn part(&mut self, folder: &Path, id: &str, is_live: bool) -> io::Result<Option<Value>> {
        Ok(match Held::of(&folder.join(format!("{id}{END}")))? {
            Held::Document(part) => Some(part),
            Held::TooLong => Some(json!({"type": TOO_LONG})),
            Held::Half => {
                self.is_half |= is_live;
                Some(json!({"type": CUT_SHORT}))
            }
            Held::Gone => None,
        })
    }
}
