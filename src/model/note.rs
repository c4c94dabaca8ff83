//! What a note is about, and for which project it holds. Pure.

use jiff::civil::Date;

use crate::model::author::Author;
use transcripts::session::{Millis, Project};

/// What stands before the day on which a note is due.
const DUE: &str = "due:";

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
    /// The words behind a `#`. They are part of the text, so that they stay with it in pages, exports and the search.
    pub(crate) fn tags(&self) -> impl Iterator<Item = &str> {
        self.text
            .split_whitespace()
            .filter_map(|word| word.strip_prefix('#'))
            .map(|word| word.trim_end_matches([',', '.', ';', ':']))
            .filter(|tag| is_tag(tag))
    }

    /// Has it this tag, in any case?
    pub(crate) fn has_tag(&self, tag: &str) -> bool {
        let tag = tag.trim_start_matches('#').to_lowercase();
        self.tags().any(|own| own.to_lowercase() == tag)
    }

    /// The day that stands in the text of something to do: `due:2026-12-01`, as todo.txt has it.
    pub(crate) fn due(&self) -> Option<Date> {
        let is_todo = NoteKind::named(&self.kind) == Some(NoteKind::Todo);
        if is_todo { due_in(&self.text) } else { None }
    }

    /// Who wrote it, and whether it is done. Shown with the note wherever it is shown.
    pub(crate) fn origin(&self) -> String {
        let by = self.author.text();
        match &self.closed {
            Some((_, closer)) => format!("{by}; done, {}", closer.text()),
            None => by,
        }
    }
}

/// The day that stands in a text of something to do.
pub(crate) fn due_in(text: &str) -> Option<Date> {
    text.split_whitespace().find_map(|word| word.strip_prefix(DUE)?.parse().ok())
}

/// Letters, digits, `-`, `_` and `/`, and one letter at least: `#12` is an issue.
pub(crate) fn is_tag(word: &str) -> bool {
    word.chars().any(char::is_alphabetic) && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '/'))
}

/// A text with tags and the day on which it is due, as [`Note::tags`] and [`Note::due`] read them. Those that it has already are not
/// repeated; another day takes the place of the one it has.
pub(crate) fn with_marks(text: &str, tags: &[String], due: Option<Date>) -> String {
    let is_due = |word: &str| word.strip_prefix(DUE).is_some_and(|day| day.parse::<Date>().is_ok());
    let mut text = match due {
        Some(_) => text.split(' ').filter(|word| !is_due(word)).collect::<Vec<_>>().join(" "),
        None => text.to_owned(),
    };
    for tag in tags {
        let mark = format!("#{tag}");
        if !text.split_whitespace().any(|word| word == mark) {
            text = format!("{} {mark}", text.trim_end());
        }
    }
    due.map_or(text.clone(), |day| format!("{} {DUE}{day}", text.trim_end()))
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
    /// What needs to be done.
    Todo,
    /// Something that is true.
    #[default]
    Fact,
}

impl NoteKind {
    pub(crate) const ALL: [Self; 5] = [Self::Convention, Self::Preference, Self::Decision, Self::Todo, Self::Fact];

    pub(crate) const fn name(self) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn note(kind: &str, text: &str) -> Note {
        let project = Project { key: EVERYWHERE.to_owned() };
        Note {
            pk: 1,
            id: "m1".into(),
            project,
            kind: kind.into(),
            text: text.into(),
            at: 0,
            author: Author::default(),
            closed: None,
        }
    }

    #[test]
    fn tags_and_due_days_are_words_of_the_text() {
        let note = note("todo", "Renew the certificate (#12), see #Deploy, #ops/tls due:2026-12-01");
        assert_eq!(note.tags().collect::<Vec<_>>(), ["Deploy", "ops/tls"]);
        assert!(note.has_tag("deploy") && note.has_tag("#OPS/tls") && !note.has_tag("12") && !note.has_tag("ops"));
        assert_eq!(note.due(), "2026-12-01".parse().ok());
        assert_eq!(super::tests::note("fact", "due:2026-12-01").due(), None);
    }

    #[test]
    fn marks_are_added_once_and_a_new_day_replaces_the_old_one() {
        let day = |text: &str| text.parse::<Date>().ok();
        let tags = ["deploy".to_owned(), "tls".to_owned()];
        let text = with_marks("Renew it #tls", &tags, day("2026-12-01"));
        assert_eq!(text, "Renew it #tls #deploy due:2026-12-01");
        assert_eq!(with_marks(&text, &tags, day("2026-12-24")), "Renew it #tls #deploy due:2026-12-24");
        assert_eq!(with_marks(&text, &[], None), text);
    }
}
