//! Kinds of text in a session: as labels of passages, and as values of the `kind:` filter.

use crate::model::note::NoteKind;
use crate::store::search::TextKind;

/// A value of the `kind:` filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KindFilter(&'static KindSpec);

#[derive(Debug, PartialEq, Eq)]
struct KindSpec {
    name: &'static str,
    /// The index columns that hold its words, possibly among others.
    columns: &'static [&'static str],
    said: &'static [TextKind],
    /// What a model claims. Where a session has no claims, the user's words answer, in the column `asked`.
    is_claimed: bool,
    /// The kinds of notes that are of this kind.
    notes: &'static [NoteKind],
}

const fn kind_spec(name: &'static str, columns: &'static [&'static str], said: &'static [TextKind]) -> KindSpec {
    KindSpec { name, columns, said, is_claimed: false, notes: &[] }
}

const fn claimed(name: &'static str, said: &'static [TextKind], notes: &'static [NoteKind]) -> KindSpec {
    KindSpec { name, columns: &["noted", "decided", "asked"], said, is_claimed: true, notes }
}

static KINDS: [KindSpec; 15] = [
    kind_spec("title", &["title"], &[TextKind::Title]),
    kind_spec("prompt", &["asked"], &[TextKind::Prompt]),
    kind_spec("reply", &["said"], &[TextKind::Reply, TextKind::Plan]),
    kind_spec("plan", &["said", "noted"], &[TextKind::Plan]),
    KindSpec { columns: &["decided", "asked"], ..claimed("decision", &[TextKind::Decision], &[NoteKind::Decision]) },
    claimed("outcome", &[TextKind::Outcome], &[]),
    claimed("learned", &[TextKind::Learned], &[NoteKind::Fact, NoteKind::Convention, NoteKind::Preference]),
    claimed("next", &[TextKind::Next], &[NoteKind::Todo]),
    claimed("blocker", &[TextKind::Blocker], &[]),
    kind_spec("recap", &["noted"], &[TextKind::Recap]),
    claimed(
        "observation",
        &[TextKind::Outcome, TextKind::Learned, TextKind::Next, TextKind::Blocker, TextKind::Decision],
        &NoteKind::ALL,
    ),
    kind_spec("error", &["did"], &[TextKind::Error]),
    kind_spec("command", &["did"], &[TextKind::Command]),
    kind_spec("file", &["files"], &[TextKind::File]),
    KindSpec { notes: &NoteKind::ALL, ..kind_spec("note", &["decided"], &[TextKind::Note]) },
];

impl KindFilter {
    /// Parses a kind's name, singular or plural, in any case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        KINDS.iter().find(|kind| name == kind.name || name.strip_suffix('s') == Some(kind.name)).map(Self)
    }

    pub(super) fn columns(self) -> &'static [&'static str] {
        self.0.columns
    }

    pub(super) fn said(self) -> &'static [TextKind] {
        self.0.said
    }

    /// Is a note with this name of its kind of this kind?
    pub(super) fn takes_note(self, kind: &str) -> bool {
        self.0.notes.iter().any(|note| note.name() == kind)
    }

    /// Do the user's words answer for it, where a session has no claims by a model?
    pub(crate) fn is_claimed(self) -> bool {
        self.0.is_claimed
    }

    /// Does the kind match only what was done (errors, commands, files, plans), not what was said?
    pub(super) fn matches_actions_only(self) -> bool {
        self.0.said.iter().any(|said| matches!(said, TextKind::Error | TextKind::Command | TextKind::File | TextKind::Plan))
    }
}

/// The names of all kinds.
pub(crate) fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).collect()
}
