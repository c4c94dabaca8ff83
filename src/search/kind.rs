//! Kinds of text in a session: as labels of passages, and as values of the `kind:` filter.

use crate::store::search::Said;

/// A value of the `kind:` filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind(&'static Asking);

#[derive(Debug, PartialEq, Eq)]
struct Asking {
    name: &'static str,
    /// The index columns that hold its words, possibly among others.
    columns: &'static [&'static str],
    said: &'static [Said],
}

const fn asking(name: &'static str, columns: &'static [&'static str], said: &'static [Said]) -> Asking {
    Asking { name, columns, said }
}

static KINDS: [Asking; 15] = [
    asking("title", &["title"], &[Said::Title]),
    asking("prompt", &["asked"], &[Said::Prompt]),
    asking("reply", &["said"], &[Said::Reply, Said::Plan]),
    asking("plan", &["said", "noted"], &[Said::Plan]),
    asking("decision", &["decided"], &[Said::Decision]),
    asking("outcome", &["noted"], &[Said::Outcome]),
    asking("learned", &["noted"], &[Said::Learned]),
    asking("next", &["noted"], &[Said::Next]),
    asking("blocker", &["noted"], &[Said::Blocker]),
    asking("recap", &["noted"], &[Said::Recap]),
    asking("observation", &["noted", "decided"], &[Said::Outcome, Said::Learned, Said::Next, Said::Blocker, Said::Decision]),
    asking("error", &["did"], &[Said::Error]),
    asking("command", &["did"], &[Said::Command]),
    asking("file", &["files"], &[Said::File]),
    asking("note", &["decided"], &[Said::Note]),
];

impl Kind {
    /// Parses a kind's name, singular or plural, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        KINDS.iter().find(|kind| name == kind.name || name.strip_suffix('s') == Some(kind.name)).map(Self)
    }

    pub(super) fn columns(self) -> &'static [&'static str] {
        self.0.columns
    }

    pub(super) fn said(self) -> &'static [Said] {
        self.0.said
    }

    /// Does the kind match only what was done (errors, commands, files, plans), not what was said?
    pub(super) fn is_of_deeds(self) -> bool {
        self.0.said.iter().any(|said| matches!(said, Said::Error | Said::Command | Said::File | Said::Plan))
    }
}

/// The names of all kinds.
pub fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).collect()
}
