//! Kinds of text in a session: as labels of passages, and as values of the `kind:` filter.

use crate::store::search::TextKind;

/// A value of the `kind:` filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindFilter(&'static KindSpec);

#[derive(Debug, PartialEq, Eq)]
struct KindSpec {
    name: &'static str,
    /// The index columns that hold its words, possibly among others.
    columns: &'static [&'static str],
    said: &'static [TextKind],
}

const fn asking(name: &'static str, columns: &'static [&'static str], said: &'static [TextKind]) -> KindSpec {
    KindSpec { name, columns, said }
}

static KINDS: [KindSpec; 15] = [
    asking("title", &["title"], &[TextKind::Title]),
    asking("prompt", &["asked"], &[TextKind::Prompt]),
    asking("reply", &["said"], &[TextKind::Reply, TextKind::Plan]),
    asking("plan", &["said", "noted"], &[TextKind::Plan]),
    asking("decision", &["decided"], &[TextKind::Decision]),
    asking("outcome", &["noted"], &[TextKind::Outcome]),
    asking("learned", &["noted"], &[TextKind::Learned]),
    asking("next", &["noted"], &[TextKind::Next]),
    asking("blocker", &["noted"], &[TextKind::Blocker]),
    asking("recap", &["noted"], &[TextKind::Recap]),
    asking(
        "observation",
        &["noted", "decided"],
        &[TextKind::Outcome, TextKind::Learned, TextKind::Next, TextKind::Blocker, TextKind::Decision],
    ),
    asking("error", &["did"], &[TextKind::Error]),
    asking("command", &["did"], &[TextKind::Command]),
    asking("file", &["files"], &[TextKind::File]),
    asking("note", &["decided"], &[TextKind::Note]),
];

impl KindFilter {
    /// Parses a kind's name, singular or plural, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        KINDS.iter().find(|kind| name == kind.name || name.strip_suffix('s') == Some(kind.name)).map(Self)
    }

    pub(super) fn columns(self) -> &'static [&'static str] {
        self.0.columns
    }

    pub(super) fn said(self) -> &'static [TextKind] {
        self.0.said
    }

    /// Does the kind match only what was done (errors, commands, files, plans), not what was said?
    pub(super) fn is_of_deeds(self) -> bool {
        self.0.said.iter().any(|said| matches!(said, TextKind::Error | TextKind::Command | TextKind::File | TextKind::Plan))
    }
}

/// The names of all kinds.
pub fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).collect()
}
