//! What earlier sessions say about a topic: the best passages within a budget, each with its source, or a model's account of them.
//!
//! `gather` selects, `fit` applies the budget, and `account` builds the request to the model and reads its reply; only
//! `recall context --about` uses a model.

mod account;
mod fit;
mod gather;

use serde::Serialize;

pub use account::{Account, Sentence, read, request};
pub use gather::{Asking, candidates, gather};

use crate::clean::{id8, one_line, plain};
use crate::session::Millis;

/// A session or note on the topic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source {
    /// The session's id, or the note's.
    pub id: String,
    /// `session` or `note`.
    pub origin: &'static str,
    /// The author, if it is a note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The project's key: its root folder.
    pub project: String,
    /// The project's name, if it is not the asker's own.
    #[serde(skip)]
    pub elsewhere: Option<String>,
    pub title: String,
    /// When it was last active, in milliseconds since the Unix epoch.
    pub at: Option<Millis>,
    /// `at` as a local date.
    pub when: String,
    /// The session was still running when it was digested.
    pub goes_on: bool,
    pub score: f64,
    /// The share of the query's words, by weight, that the whole source holds: 0 to 1.
    pub covered: f64,
    /// The share that its title and best passages hold.
    pub focus: f64,
    /// The weight of what these hold, in units of one word that occurs in a single document.
    pub telling: f64,
    pub passages: Vec<Passage>,
}

/// A text of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// What it is: `prompt`, `reply`, `decision`, `next` …
    pub kind: String,
    pub text: String,
}

/// A source that did not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub id: String,
    pub title: String,
    pub when: String,
}

/// What is known about a topic.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Topic {
    pub sources: Vec<Source>,
    /// Sources of which no passage fits.
    pub left_out: Vec<LeftOut>,
    /// Passages of the shown sources that did not fit.
    pub passages_left_out: usize,
    /// Estimated tokens of the text, as counted by `context::tokens`.
    pub tokens: usize,
    pub max_tokens: usize,
    #[serde(skip)]
    text: String,
}

impl Topic {
    /// The text, never more than `max_tokens`; empty if nothing is known or nothing fits.
    pub fn render(&self) -> &str {
        &self.text
    }

    /// Is nothing known?
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.left_out.is_empty()
    }
}

/// The longest id shown in full, in characters: ids of notes are this short, session ids are cut.
const WHOLE: usize = 12;

/// An id as people see and type it.
fn shown_id(id: &str) -> String {
    if id.chars().count() <= WHOLE { one_line(&plain(id)) } else { id8(id) }
}
