//! Sources of sessions: finding transcripts and parsing their lines. What others need of a client's own module is named here.
//!
//! What a parser takes out of a line is a [`RawText`](crate::privacy::raw::RawText): it sees none of it before the sanitizer has.

mod address;
mod antigravity;
mod claude_code;
mod cline;
mod codex;
mod copilot;
mod cowork;
mod cursor;
pub mod delta;
pub mod discover;
mod document;
mod editor_tasks;
pub mod foreign_db;
mod gemini;
mod line;
pub mod live_session;
mod opencode;
mod outcome;
mod parsed;
mod patch;
mod pi;
#[cfg(test)]
mod promises;
mod qwen;
mod release;
mod resume;
mod row;
mod said;
#[cfg(test)]
mod test_rows;
mod tool_use;
mod verdict;
mod vscode_copilot;
mod windsurf;
pub mod working_folders;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

pub use self::claude_code::{ACTING_TOOLS, is_user_text, is_wrapped, may_be_person};
pub use self::line::is_complete;
#[cfg(any(test, feature = "testing"))]
pub use self::parsed::parse_line;
pub use self::parsed::{LineParser, NO_TYPE, parser_of};
pub use self::parsed::{ParentLink, ParsedLine, TranscriptIdentity};
pub use self::release::Release;
pub use self::resume::{Resume, ResumeCommand, can_resume};
use crate::client::Client;
use crate::privacy::Sanitizer;
pub use crate::privacy::raw::json;
pub(crate) use crate::privacy::raw::json_cursor;
use crate::session::{Outcome, ParserState, REFUSED, ToolClass};
use crate::source::delta::{Checkpoint, MadeLines, OpenTranscript, TranscriptLines};
use crate::source::discover::{FoundSessions, TranscriptFile};
use crate::source::tool_use::ToolTable;

/// What is to be known of a client to read its sessions. Nothing outside the folder of an implementation knows how that client writes, or
/// how it calls its tools.
pub trait Source: Sync {
    /// Folders with transcripts, below the one in which the client keeps its files.
    fn layouts(&self) -> &'static [&'static str];

    /// May a folder so far below a layout, 1 or more, lead to transcripts?
    fn may_hold(&self, layout: &str, depth: usize, name: &[u8]) -> bool;

    /// Whose rows a file holds, by its path below a layout; `None` if it is no transcript.
    fn identify(&self, layout: &str, below: &[u8]) -> Option<TranscriptIdentity>;

    /// The sessions in a file that holds many, each with a path of its own below the file's, or the session of which a file is one of many, at
    /// the file's path; `None` if the file is one transcript. `found` are those in files that came before, by the order of the layouts.
    ///
    /// # Errors
    /// When it cannot be read.
    fn sessions_in(&self, _file: &TranscriptFile, _found: &FoundSessions) -> Option<io::Result<Vec<TranscriptFile>>> {
        None
    }

    /// The lines of a transcript that is no file of lines, made from its beginning; `None` if it is one.
    ///
    /// # Errors
    /// When it cannot be read.
    fn made_lines(&self, _place: &TranscriptIdentity, _path: &Path) -> Option<io::Result<MadeLines>> {
        None
    }

    /// Where below the client's folder a session of this id is written down, of a client whose hooks do not say it.
    fn unnamed_transcript(&self, _session: &str) -> Option<PathBuf> {
        None
    }

    /// Does the version that writes transcripts of this name call hooks in the way that we know?
    fn calls_hooks(&self, _transcript: &Path) -> bool {
        true
    }

    /// Do the records of a transcript of this name tell in which folder they were made, wherever that can be known?
    fn names_folders(&self, _transcript: &Path) -> bool {
        true
    }

    /// The folders of which one is that of a transcript, where no more can be told; `None` if it may be any.
    fn possible_folders(&self, _transcript: &Path) -> Option<Vec<String>> {
        None
    }

    /// Tells by a file's content, and by what lies beside it, whose rows it holds and where they were written, where its path and its lines do
    /// not. Only asked of files that changed.
    fn look_inside(&self, _file: &mut TranscriptFile) {}

    /// The same of many files. For a source that looks into others for each of them, and need not do so again.
    fn look_inside_all(&self, files: &mut [&mut TranscriptFile]) {
        files.iter_mut().for_each(|file| self.look_inside(file));
    }

    /// May a file of which the path says this hold the rows of this session?
    fn is_of(&self, place: &TranscriptIdentity, session: &str) -> bool {
        place.session == session
    }

    /// The user's own words in a prompt as a hook is given it.
    fn own_words<'p>(&self, prompt: &'p str) -> &'p str {
        prompt
    }

    /// How its program takes up the session of this id again; `None` if no command does.
    fn resume(&self, _session: &str) -> Option<Resume> {
        Some(Resume::Option("--resume"))
    }

    /// A parser of a file that goes on where one with this state stopped.
    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p>;

    /// Does a piece of a transcript hold a reply of the assistant's? Looked for as bytes: no line is parsed.
    fn holds_reply(&self, piece: &[u8]) -> bool;

    /// Does a result that is no success begin as what the client, one of its rules or a hook kept from running?
    fn kept_from_running(&self, _result: &str) -> bool {
        false
    }

    /// The folder that a line names, as JSON.
    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str>;

    /// What its tools are for, by the names under which their uses are stored.
    fn tools(&self) -> &'static ToolTable;

    /// The newest release whose transcripts and hooks were tested with this program.
    fn newest_tested(&self) -> Release;
}

pub fn source_of(client: Client) -> &'static dyn Source {
    match client {
        Client::ClaudeCode => &claude_code::ClaudeCode,
        Client::Codex => &codex::Codex,
        Client::CopilotCli => &copilot::CopilotCli,
        Client::QwenCode => &qwen::QwenCode,
        Client::Pi => &pi::Pi,
        Client::OpenCode => &opencode::OpenCode,
        Client::Cline => &cline::Cline,
        Client::Cowork => &cowork::Cowork,
        Client::Gemini => &gemini::Gemini,
        Client::Cursor => &cursor::Cursor,
        Client::RooCode => &editor_tasks::ROO_CODE,
        Client::KiloCode => &editor_tasks::KILO_CODE,
        Client::VscodeCopilot => &vscode_copilot::VsCodeCopilot,
        Client::Antigravity => &antigravity::Antigravity,
        Client::Windsurf => &windsurf::Windsurf,
    }
}

/// Opens a transcript at its checkpoint.
///
/// # Errors
/// When it cannot be read.
pub fn open(place: &TranscriptIdentity, path: &Path, checkpoint: Option<&Checkpoint>) -> io::Result<OpenTranscript> {
    match source_of(place.client).made_lines(place, path) {
        Some(lines) => Ok(OpenTranscript::anew(TranscriptLines::Made(lines?))),
        None => delta::open(path, checkpoint),
    }
}

/// Is there something where a transcript was: the file itself, or the one that held it beside others?
pub fn is_there(path: &Path) -> bool {
    path.exists() || path.parent().is_some_and(Path::is_file)
}

/// A transcript with all that is to be known of it before it is read.
pub fn looked_into(mut file: TranscriptFile) -> TranscriptFile {
    source_of(file.place.client).look_inside(&mut file);
    file
}

/// The same of many transcripts.
pub fn look_into_all<'f>(files: impl Iterator<Item = &'f mut TranscriptFile>) {
    let mut by_client: BTreeMap<Client, Vec<&mut TranscriptFile>> = BTreeMap::new();
    files.for_each(|file| by_client.entry(file.place.client).or_default().push(file));
    by_client.into_iter().for_each(|(client, mut files)| source_of(client).look_inside_all(&mut files));
}

/// The own transcript of the session or subagent of this id, among files that were found.
pub fn transcript_of(id: &str, found: Vec<TranscriptFile>) -> Option<TranscriptFile> {
    let may_be = |file: &TranscriptFile| source_of(file.place.client).is_of(&file.place, id);
    let is_own = |file: &TranscriptFile| file.place.agent.as_ref().unwrap_or(&file.place.session) == id;
    found.into_iter().filter(may_be).map(looked_into).find(is_own)
}

/// The folders in which a client would keep its files if a path were this session's own transcript, and no subagent's.
pub fn homes_of<'p>(client: Client, path: &'p Path, session: &str) -> impl Iterator<Item = &'p Path> {
    let source = source_of(client);
    let is_own = move |below: &Path, layout: &str| {
        let below = below.strip_prefix(layout).ok().map(|below| below.as_os_str().as_encoded_bytes());
        let place = below.and_then(|below| source.identify(layout, below));
        place.is_some_and(|place| place.agent.is_none() && source.is_of(&place, session))
    };
    path.ancestors()
        .filter(move |root| path.strip_prefix(root).is_ok_and(|below| source.layouts().iter().any(|layout| is_own(below, layout))))
}

/// The tools whose uses are no memory, unless the config says otherwise, by name; a `*` at the end stands for any ending.
pub fn tools_of_no_memory() -> Vec<String> {
    let mut seen = HashSet::new();
    let all = Client::ALL.into_iter().flat_map(|client| source_of(client).tools().of_no_memory());
    all.filter(|name| seen.insert(name.clone())).collect()
}

/// Whether a tool is one of these.
pub fn is_tool_of_no_memory(name: &str) -> bool {
    // Many: those of all clients.
    static TOOLS: LazyLock<(HashSet<&str>, Vec<&str>)> = LazyLock::new(|| {
        let of = |table: fn(&'static ToolTable) -> Vec<&'static str>| {
            Client::ALL.into_iter().flat_map(move |client| table(source_of(client).tools()))
        };
        (of(ToolTable::named_of_no_memory).collect(), of(ToolTable::served_of_no_memory).collect())
    });
    TOOLS.0.contains(name) || TOOLS.1.iter().any(|start| name.starts_with(start))
}

impl Outcome {
    /// Did the user, the client or what came before it keep the tool use from running?
    pub fn never_ran(&self) -> bool {
        let is_kept = |client| source_of(client).kept_from_running(&self.brief);
        self.brief == REFUSED || !self.ok && Client::ALL.into_iter().any(is_kept)
    }
}

/// Here, and not with the type, since only sources know how their clients call things. What is below sees the class of a
/// [`ToolUse`](crate::session::ToolUse).
impl ToolClass {
    /// What a tool is for, by the name under which it is stored.
    pub fn of(name: &str) -> Self {
        Client::ALL.into_iter().find_map(|client| source_of(client).tools().class_of(name)).unwrap_or(Self::Other)
    }
}
