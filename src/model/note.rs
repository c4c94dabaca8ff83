//! What a note is about, and for which project it holds. Pure.

use crate::model::author::Author;
use crate::model::session::{Millis, Project};

/// A note that a person or an agent had recall keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub pk: i64,
    pub id: String,
    pub project: Project,
    pub kind: String,
    pub text: String,
    pub at: Millis,
    pub author: Author,
    /// For a note about something to do: when it was closed, and by whom.
    pub closed: Option<(Millis, Author)>,
}

impl Note {
    /// Who wrote it, and whether it is done. Shown with the note wherever it is shown.
    pub(crate) fn origin(&self) -> String {
        let by = self.author.text();
        match &self.closed {
            Some((_, closer)) => format!("{by}; done, {}", closer.text()),
            None => by,
        }
    }
}

/// The project key of notes for all projects; not a valid folder path.
pub(crate) const EVERYWHERE: &str = "*";

/// What a note is about, the weightiest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum NoteKind {
    /// How things are done here.
    Convention,
    /// What the user likes.
    Preference,
    /// What was decided, and why.
    Decision,
    /// What is to be done.
    Todo,
    /// What is the case.
    #[default]
    Fact,
}

impl NoteKind {
    pub(crate) const ALL: [Self; 5] = [Self::Convention, Self::Preference, Self::Decision, Self::Todo, Self::Fact];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Convention => "convention",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Todo => "todo",
            Self::Fact => "fact",
        }
    }

    /// Parses a kind's name, in any case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name.trim()))
    }
}

/// The result of storing a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredNote {
    pub(crate) id: String,
    /// An equivalent note was already stored: the other fields are that note's.
    pub(crate) known: bool,
    /// The key of the project it is for, or [`EVERYWHERE`].
    pub(crate) project: String,
    pub(crate) author: Author,
}

/// A project's key as it is shown.
pub(crate) fn project_label(key: &str) -> &str {
    if key == EVERYWHERE { "all projects" } else { key }
}
