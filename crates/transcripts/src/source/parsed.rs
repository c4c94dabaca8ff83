//! What a reader makes of a line, whatever the client.

use std::collections::BTreeMap;

use serde::Serialize;

use super::source_of;
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::{Millis, ParserState, PendingRuns, Record, RecordKey};

/// Stands in place of the type of a line that has none.
pub const NO_TYPE: &str = "(no type)";

/// What a file's path says about its records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptIdentity {
    pub client: Client,
    /// The session of lines that do not name one.
    pub session: String,
    /// The subagent whose file this is.
    pub agent: Option<String>,
    /// The folder in which it took place, where the client keeps that beside the file and not in its lines.
    pub cwd: Option<String>,
}

/// The result of parsing a line.
#[derive(Debug, PartialEq)]
pub enum ParsedLine {
    Record(Box<Record>),
    /// A known line without content.
    Empty,
    /// A known line without content that other lines may name as their parent.
    Link(ParentLink),
    /// The user went back to behind the record with this key, and has said nothing since. Of lines that are made: whoever reads them reads all,
    /// and where no line says so any more, nothing is taken back any more.
    WentBack(RecordKey),
    /// A bookkeeping line with the time its session began. A fork copies every conversation line with its time; only these lines
    /// carry the time of the fork itself.
    SessionStart {
        session: String,
        at: Millis,
    },
    /// The client's own estimate of the session's cost so far, by model; `None` if it is unknown or not comparable.
    Cost {
        session: String,
        by_model: Option<BTreeMap<String, f64>>,
    },
    /// The name of an unknown line type.
    Unknown(String),
    Malformed(&'static str),
}

/// The key of a record and that of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParentLink {
    pub key: RecordKey,
    pub parent: Option<RecordKey>,
}

/// Parses the lines of one file in order.
pub trait LineParser {
    /// Parses the next line; its texts have passed the sanitizer.
    fn read(&mut self, line: &[u8]) -> ParsedLine;

    /// With what another parser of the same file goes on behind this line.
    fn state(&self) -> ParserState;
}

/// With what another parser goes on: nothing where this one has kept nothing for itself.
pub(super) fn state_with(runs: &PendingRuns, own: &(impl Default + PartialEq + Serialize)) -> ParserState {
    let own = if *own == Default::default() { String::new() } else { serde_json::to_string(own).unwrap_or_default() };
    ParserState { runs: runs.clone(), own }
}

/// A parser for a file, which goes on where one with this state stopped; by default at the file's beginning.
pub fn parser_of<'p>(place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
    source_of(place.client).parser(place, sanitizer, state)
}

/// Parses one line by itself, as if it were the first of its file.
#[cfg(any(test, feature = "testing"))]
pub fn parse_line(line: &[u8], place: &TranscriptIdentity, sanitizer: &Sanitizer) -> ParsedLine {
    parser_of(place, sanitizer, &ParserState::default()).read(line)
}
