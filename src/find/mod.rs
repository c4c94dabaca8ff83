//! Finding sessions again: what somebody asks, which sessions answer it, and which of their words to show.
//!
//! `query` reads what was typed, `document` says by what words a session is found, `store::search` has the index, `words` and `rank` say
//! which documents fit best, `passages` picks their sentences, `show` makes results of them, and `find` joins all that. Nothing here
//! writes.

pub mod document;
mod highlight;
mod kind;
mod passages;
mod query;
mod rank;
mod show;
mod synonyms;
mod words;

use anyhow::Result;

pub use self::highlight::Highlighter;
pub use self::kind::{Kind, Said, kinds};
pub use self::passages::Passage;
pub use self::query::{Filters, Query, QueryContext};
pub use self::rank::Similar;
use self::show::Shower;
use crate::clean::{one_line, plain, shorten};
use crate::session::{Millis, Project};
use crate::store::Memory;
use crate::store::load::SessionHead;
use crate::store::notes::Note;

/// What is wanted of a search.
#[derive(Debug, Clone, Default)]
pub struct Wanted<'a> {
    pub limit: usize,
    /// Results before these, for who turns pages.
    pub skip: usize,
    /// Passages of a result, at most.
    pub passages: usize,
    /// The key of a project whose own sessions come first.
    pub own: Option<&'a str>,
    pub now: Millis,
    /// What is near in meaning, by an embeddings endpoint.
    pub similar: Option<&'a Similar>,
    /// The id of a session of which nothing is to be told: the one that asks.
    pub except: Option<&'a str>,
    /// Words that nearly every session holds find nothing, and what only they could find is not weighed: for who only asks what a
    /// session is about.
    pub telling_only: bool,
    /// How much of the conversation of a result is looked at, in rows; 0 is all.
    pub reads: usize,
}

/// What was found: a session, or a note.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    Session(SessionHead),
    Note(Note),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub origin: Origin,
    pub title: String,
    /// Higher is better; of one search only.
    pub score: f64,
    /// The share of what was asked that it holds, by the weight of the words: 0 to 1.
    pub covered: f64,
    /// The share that its title and the passages hold by themselves: it is about that, where others only name it somewhere.
    pub focus: f64,
    /// The weight of what they hold, in words that no other document has: 1 is one such word.
    pub telling: f64,
    /// The best first.
    pub passages: Vec<Passage>,
    /// The session went on when it was digested.
    pub goes_on: bool,
}

impl Found {
    pub fn id(&self) -> &str {
        match &self.origin {
            Origin::Session(head) => &head.id,
            Origin::Note(note) => &note.id,
        }
    }

    /// The note, where it is one.
    pub fn note(&self) -> Option<&Note> {
        match &self.origin {
            Origin::Session(_) => None,
            Origin::Note(note) => Some(note),
        }
    }

    pub fn project(&self) -> &Project {
        match &self.origin {
            Origin::Session(head) => &head.project,
            Origin::Note(note) => &note.project,
        }
    }

    /// When it was last active, or was noted.
    pub fn at(&self) -> Millis {
        match &self.origin {
            Origin::Session(head) => head.last_at.unwrap_or(head.started_at),
            Origin::Note(note) => note.at,
        }
    }
}

/// What fits a query, best first, one result a session.
///
/// # Errors
/// When the index cannot be read. No query is an error.
pub fn find(store: &Memory, query: &Query, wanted: &Wanted<'_>) -> Result<Vec<Found>> {
    store.at_once(|| match goes_by_words(store, query, wanted)? {
        true => exactly(store, &query.by_words(), wanted),
        false => exactly(store, query, wanted),
    })
}

/// Do the words of a question's phrases count in place of them, because nothing says these as they are?
///
/// # Errors
/// As `find`.
pub fn goes_by_words(store: &Memory, query: &Query, wanted: &Wanted<'_>) -> Result<bool> {
    Ok(query.asks && exactly(store, query, &Wanted { limit: 1, skip: 0, ..wanted.clone() })?.is_empty())
}

/// What is said of that.
pub fn told_by_words(query: &Query) -> String {
    let phrases: Vec<String> =
        query.phrases.iter().map(|phrase| format!("\"{}\"", shorten(&one_line(&plain(phrase)), 60))).collect();
    format!("nothing says {} word for word: found by the words", phrases.join(" and "))
}

fn exactly(store: &Memory, query: &Query, wanted: &Wanted<'_>) -> Result<Vec<Found>> {
    match rank::ranked(store, query, wanted)? {
        Some(ranked) => Shower::new(store, query, wanted, ranked).results(),
        None => Ok(Vec::new()),
    }
}

/// The most that `telling` could be of any result: where that is too little, there is no need to look.
///
/// # Errors
/// When the index cannot be read.
pub fn most_telling(store: &Memory, query: &Query) -> Result<f64> {
    store.at_once(|| words::most_telling(store, query))
}
