//! What earlier sessions say on a topic: the best passages within a budget, each with its source, or an account that a model makes
//! of them.
//!
//! `gather` selects, `fit` keeps within the budget, `account` is the model's part; only `recall context --about` uses that.

mod account;
mod fit;
mod gather;

use serde::Serialize;

pub use account::{Account, Sentence, read, request};
pub use gather::{Asking, candidates, gather};

use crate::clean::{id8, one_line, plain};
use crate::session::Millis;

/// A session or a remembered note that speaks of the topic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source {
    /// The session's id, or the note's.
    pub id: String,
    /// `session` or `note`.
    pub origin: &'static str,
    /// Of a note: who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The project's root.
    pub project: String,
    /// The project's name, where it is another one than the asker's.
    #[serde(skip)]
    pub elsewhere: Option<String>,
    pub title: String,
    /// When it was last active, in milliseconds since the epoch.
    pub at: Option<Millis>,
    /// The same as a local day.
    pub when: String,
    /// It went on when it was digested.
    pub goes_on: bool,
    pub score: f64,
    /// The share of the asked words, by their weight, that it holds: 0 to 1.
    pub covered: f64,
    /// The share that its title and best passages hold by themselves.
    pub focus: f64,
    /// The weight of what they hold, in words that nothing else has.
    pub telling: f64,
    pub passages: Vec<Passage>,
}

/// Something a source says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// What it is to the source: `prompt`, `reply`, `decision`, `next` …
    pub kind: String,
    pub text: String,
}

/// A source there was no room for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub id: String,
    pub title: String,
    pub when: String,
}

/// What is said of a topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Topic {
    pub sources: Vec<Source>,
    /// Sources of which nothing is said for want of room.
    pub left_out: Vec<LeftOut>,
    /// Passages of the sources that there was no room for.
    pub passages_left_out: usize,
    /// Of the text, by the estimate of `context`.
    pub tokens: usize,
    pub max_tokens: usize,
    #[serde(skip)]
    text: String,
}

impl Topic {
    /// The text: never more than `max_tokens`; empty where nothing is known, or there is no room for a word of it.
    pub fn render(&self) -> &str {
        &self.text
    }

    /// Is nothing known?
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.left_out.is_empty()
    }
}

/// The longest id that is shown whole, in characters: notes have such, sessions are known by the start of theirs.
const WHOLE: usize = 12;

/// An id as people see and type it.
fn shown_id(id: &str) -> String {
    if id.chars().count() <= WHOLE { one_line(&plain(id)) } else { id8(id) }
}
