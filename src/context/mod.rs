//! What a session starts with: notes from earlier sessions of its project, within a budget.
//!
//! `gather` collects them from the index, the marks and the ends of transcripts; `render` writes them down. The text is data about
//! the past, framed as such, in a block that is never taken in again.

mod gather;
mod memory;
mod render;
mod undigested;

pub use gather::{Asked, Start, compacted, gather};
pub use render::{CLOSING, OPENING, render, said};
pub use undigested::told_by;

use crate::digest::Digest;
use crate::session::Millis;

/// Bytes of UTF-8 to one token, times two: text like ours has 3.5 to 4.5; the estimate errs on the large side.
const BYTES_PER_TWO_TOKENS: usize = 7;
/// How the estimate is told to people.
pub const ESTIMATE: &str = "one token for 3.5 bytes of UTF-8";
/// The client replaces what is longer than 10,000 characters by a preview of a file.
pub const MAX_CHARS: usize = 9_900;

/// Tokens of a text, by the estimate.
pub fn tokens(text: &str) -> usize {
    (text.len() * 2).div_ceil(BYTES_PER_TWO_TOKENS)
}

/// The longest text, in bytes, of so many tokens.
pub fn bytes_of(tokens: usize) -> usize {
    tokens.saturating_mul(BYTES_PER_TWO_TOKENS) / 2
}

/// How many whole tokens so many bytes have room for.
pub fn tokens_in(bytes: usize) -> usize {
    bytes * 2 / BYTES_PER_TWO_TOKENS
}

/// A session in full, from its digest or straight from its transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub session: String,
    /// Local day and time of its last words.
    pub when: String,
    /// The session went on when it was digested.
    pub goes_on: bool,
    pub digest: Digest,
    /// Open items that are closed by now, too old to be asked about, or told elsewhere.
    pub settled: Vec<String>,
}

impl Told {
    /// Open items of such words are not told.
    fn settle(&mut self, fits: impl Fn(&str) -> bool) {
        let fitting = self.digest.open_items(&self.session).filter(|(.., claim)| fits(&claim.text)).map(|(id, ..)| id);
        self.settled.extend(fitting);
    }

    /// The same without the statements that the client's own memory tells beside it. What is open stays: it is closed by its id.
    fn without(mut self, memory: &memory::OwnMemory) -> Self {
        self.digest.completed.retain(|text| !memory.says(text));
        self.digest.learned.retain(|text| !memory.says(text));
        self.digest.decisions.retain(|claim| !memory.says(&claim.text));
        self
    }
}

/// A session that no digest has seen yet, as the end of its transcript tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    pub session: String,
    pub when: String,
    pub text: String,
    pub last_at: Millis,
}

/// Something an earlier session left open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    pub id: String,
    pub kind: String,
    pub text: String,
    pub when: String,
}

/// An earlier session in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub session: String,
    pub when: String,
    pub title: String,
    /// The session went on when it was digested.
    pub goes_on: bool,
}

/// What somebody wanted remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    pub id: String,
    pub kind: String,
    pub text: String,
    /// Who wrote it.
    pub by: String,
    pub when: String,
}

/// What the context is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The sessions before this one.
    Earlier,
    /// This very session, before its context was compacted. Nothing of it is in the index yet.
    Itself,
}

/// All there is to say. Lines are made only as long as there is room for them.
pub struct Content<'a> {
    pub about: About,
    pub banner: Option<String>,
    /// The weightiest first.
    pub remembered: Vec<Remembered>,
    pub fresh: Vec<Fresh>,
    /// Sessions in full, the last one first; the second is told when there is little to say of the first.
    pub told: Vec<Told>,
    pub open: Vec<Open>,
    pub earlier: Box<dyn Iterator<Item = Line> + 'a>,
    /// How many sessions there are to tell of, where anybody wants to know.
    pub sessions: usize,
}

/// What a session starts with, and the numbers behind it.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Context {
    /// Empty when there is nothing to say, or no room for a word of it.
    pub text: String,
    pub characters: usize,
    pub tokens: usize,
    pub sessions_shown: Vec<String>,
    pub sessions_left_out: usize,
    /// Sessions read from their transcripts because no digest has seen them yet.
    pub undigested_shown: Vec<String>,
    pub open_items_shown: Vec<String>,
    pub open_items_left_out: usize,
    /// Notes of the project, by id.
    pub notes_shown: Vec<String>,
    pub notes_left_out: usize,
}
