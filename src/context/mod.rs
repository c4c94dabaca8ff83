//! What a session starts with: notes from earlier sessions of its project, within a token budget.
//!
//! `gather` collects them from the index, the marks and the ends of transcripts; `render` writes the text. It is data about the past,
//! framed as such, in a block that is never ingested again.

mod gather;
mod memory;
mod render;
mod undigested;

pub use gather::{Asked, Start, compacted, gather};
pub use render::{CLOSING, OPENING, render, said};
pub use undigested::told_by;

use crate::digest::Digest;
use crate::session::Millis;

/// The token estimate: bytes of UTF-8 per two tokens. Text like ours has 3.5 to 4.5 bytes per token, so this overestimates.
const BYTES_PER_TWO_TOKENS: usize = 7;
/// The estimate in words, for messages.
pub const ESTIMATE: &str = "one token for 3.5 bytes of UTF-8";
/// The client replaces longer text (over 10,000 characters) with a preview of a file.
pub const MAX_CHARS: usize = 9_900;

/// The estimated tokens of a text.
pub fn tokens(text: &str) -> usize {
    (text.len() * 2).div_ceil(BYTES_PER_TWO_TOKENS)
}

/// The most bytes that fit into so many tokens.
pub fn bytes_of(tokens: usize) -> usize {
    tokens.saturating_mul(BYTES_PER_TWO_TOKENS) / 2
}

/// The number of whole tokens that so many bytes have room for.
pub fn tokens_in(bytes: usize) -> usize {
    bytes * 2 / BYTES_PER_TWO_TOKENS
}

/// A session to show in full, from its digest or straight from its transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub session: String,
    /// Local date and time of the last activity.
    pub when: String,
    /// The session was still running when it was digested.
    pub goes_on: bool,
    pub digest: Digest,
    /// Ids of open items not to list: already closed, too old to ask about, or shown elsewhere.
    pub settled: Vec<String>,
}

impl Told {
    /// Hides the open items whose text matches.
    fn settle(&mut self, fits: impl Fn(&str) -> bool) {
        let fitting = self.digest.open_items(&self.session).filter(|(.., claim)| fits(&claim.text)).map(|(id, ..)| id);
        self.settled.extend(fitting);
    }

    /// Drops statements that the client's own memory already contains. Open items stay, because they can be closed by id.
    fn without(mut self, memory: &memory::OwnMemory) -> Self {
        self.digest.completed.retain(|text| !memory.says(text));
        self.digest.learned.retain(|text| !memory.says(text));
        self.digest.decisions.retain(|claim| !memory.says(&claim.text));
        self
    }
}

/// An ended session whose last part no digest covers yet, summarized from the end of its transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    pub session: String,
    pub when: String,
    pub text: String,
    pub last_at: Millis,
}

/// An item that an earlier session left open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    pub id: String,
    pub kind: String,
    pub text: String,
    pub when: String,
}

/// An earlier session in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub session: String,
    pub when: String,
    pub title: String,
    /// The session was still running when it was digested.
    pub goes_on: bool,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    pub id: String,
    pub kind: String,
    pub text: String,
    /// The note's author.
    pub by: String,
    pub when: String,
}

/// What the context describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The sessions before this one.
    Earlier,
    /// This session itself, before its context was compacted; it is not in the index yet.
    Itself,
}

/// Everything that could be shown. Lines of earlier sessions are produced lazily, while there is room.
pub struct Content<'a> {
    pub about: About,
    pub banner: Option<String>,
    /// Most important first.
    pub remembered: Vec<Remembered>,
    pub fresh: Vec<Fresh>,
    /// Sessions in full, latest first; the second is shown only if the first is short.
    pub told: Vec<Told>,
    pub open: Vec<Open>,
    pub earlier: Box<dyn Iterator<Item = Line> + 'a>,
    /// The number of sessions that could be shown, or 0 if the caller does not need the count.
    pub sessions: usize,
}

/// The rendered context with its figures.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Context {
    /// Empty if there is nothing to show or nothing fits.
    pub text: String,
    pub characters: usize,
    pub tokens: usize,
    pub sessions_shown: Vec<String>,
    pub sessions_left_out: usize,
    /// Ids of sessions shown from their transcripts because they have no digest yet.
    pub undigested_shown: Vec<String>,
    pub open_items_shown: Vec<String>,
    pub open_items_left_out: usize,
    /// Ids of notes of the project.
    pub notes_shown: Vec<String>,
    pub notes_left_out: usize,
}
