//! How an open item stands: the id that it has over sessions, and whether somebody closed it.

use serde::Serialize;

use crate::model::author::Author;
use crate::model::note::Note;
use text::clean::id8;
use transcripts::session::Millis;

/// Who closed an open item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Closer {
    /// The user or an agent, on request.
    Author(Author),
    /// A later session with this id.
    Session(String),
}

impl Closer {
    /// `by the user`, `in session 4b1c2d3e`; `None` where that is not known.
    fn text(&self) -> Option<String> {
        match self {
            Self::Author(Author::Unknown) => None,
            Self::Author(author) => Some(author.text()),
            Self::Session(id) => Some(format!("in session {}", id8(id))),
        }
    }
}

/// That an open item was closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    pub by: Closer,
    /// When; of a session, its last record.
    pub at: Option<Millis>,
    /// The words that were closed; empty if they were forgotten.
    pub text: String,
}

impl Closing {
    /// By whom and on which day, as far as it is known: `by the user, 2026-11-21`.
    pub(crate) fn origin(&self, day: impl Fn(Millis) -> String) -> String {
        let parts: Vec<String> = self.by.text().into_iter().chain(self.at.map(day)).collect();
        parts.join(", ")
    }

    /// `closed by the user, 2026-11-21: …`
    pub(crate) fn told(&self, day: impl Fn(Millis) -> String) -> String {
        format!("closed {}: {}", self.origin(day), self.text)
    }
}

/// An open item of a session, in its life over sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemState {
    /// The id that derives from its session and words.
    pub own: String,
    /// The id that it is told by: that of the note that it is one with, else of its first mention.
    pub id: String,
    /// The end of the session that said it first, if that was an earlier one.
    pub since: Option<Millis>,
    pub closed: Option<Closing>,
}

impl ItemState {
    /// How a note of what is to be done stands, as an item.
    pub(crate) fn of_note(note: &Note) -> Self {
        let closed = note.closed.as_ref();
        let closed = closed.map(|(at, by)| Closing { by: Closer::Author(by.clone()), at: Some(*at), text: note.text.clone() });
        Self { own: note.id.clone(), id: note.id.clone(), since: Some(note.at), closed }
    }
}

/// The items of a session, by their own ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemStates(pub Vec<ItemState>);

impl ItemStates {
    pub(crate) fn of(&self, own: &str) -> Option<&ItemState> {
        self.0.iter().find(|state| state.own == own)
    }

    /// The id by which an item is told.
    pub(crate) fn id_of<'a>(&'a self, own: &'a str) -> &'a str {
        self.of(own).map_or(own, |state| &state.id)
    }

    pub(crate) fn closing_of(&self, own: &str) -> Option<&Closing> {
        self.of(own)?.closed.as_ref()
    }

    /// What was closed after a time.
    pub(crate) fn closed_since(&self, at: Option<Millis>) -> impl Iterator<Item = &Closing> {
        self.0.iter().filter_map(|state| state.closed.as_ref()).filter(move |closing| closing.at > at)
    }

    pub(crate) fn is_closed(&self, own: &str) -> bool {
        self.closing_of(own).is_some()
    }
}

/// A task of an account with the open item that stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaskItem {
    /// The task's words.
    pub(crate) task: String,
    /// The id by which it can be closed.
    pub(crate) id: String,
    /// The end of the session that said it first, if that was an earlier one.
    pub(crate) since: Option<Millis>,
}

impl TaskItem {
    pub(crate) fn new(task: &str, own: &str, states: &ItemStates) -> Self {
        let since = states.of(own).and_then(|state| state.since);
        Self { task: task.to_owned(), id: states.id_of(own).to_owned(), since }
    }

    /// A task that goes on with an item.
    pub(crate) fn continuing(task: &str, state: &ItemState) -> Self {
        Self { task: task.to_owned(), id: state.id.clone(), since: state.since }
    }
}
