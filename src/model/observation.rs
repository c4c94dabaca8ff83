//! What git says, at a known time, of something that a session or a note names.

use transcripts::session::Millis;

/// What became of something since it was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pub kind: ObservedKind,
    /// As it was named: `redis_cache.py`.
    pub name: String,
    pub fate: Fate,
    /// When git was asked.
    pub seen_at: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObservedKind {
    File,
    Branch,
    /// The number of a pull request or an issue, as commits name it: `#12`.
    Reference,
}

impl ObservedKind {
    /// The word by which it is stored.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Branch => "branch",
            Self::Reference => "reference",
        }
    }

    pub(crate) fn of_word(word: &str) -> Option<Self> {
        [Self::File, Self::Branch, Self::Reference].into_iter().find(|kind| kind.word() == word)
    }
}

/// "Unchanged" is never said: what git does not show may be so all the same.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum Fate {
    /// A file that a commit removed, and that is not there.
    Removed { by: CommitRef },
    /// A file that a commit gave another name.
    Renamed { to: String, by: CommitRef },
    /// A file that so many commits changed since; the last of them.
    Touched { commits: usize, last: CommitRef },
    /// A branch that is no more.
    BranchGone,
    /// A branch of whose commits one is in the history of another branch.
    Merged { into: String, by: CommitRef },
    /// A reference that a commit names.
    Named { by: CommitRef, subject: String },
}

/// A commit by its short hash, and when it was made.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CommitRef {
    pub hash: String,
    pub at: Millis,
}

impl Observation {
    /// Is what it names gone or done with, so that what is said of it may be, too?
    pub(crate) fn is_end(&self) -> bool {
        !matches!(self.fate, Fate::Touched { .. })
    }

    /// What git printed of it, to be cleaned before it is stored.
    pub(crate) fn printed_mut(&mut self) -> Option<&mut String> {
        match &mut self.fate {
            Fate::Renamed { to: text, .. } | Fate::Named { subject: text, .. } | Fate::Merged { into: text, .. } => Some(text),
            Fate::Removed { .. } | Fate::Touched { .. } | Fate::BranchGone => None,
        }
    }

    /// When it came to be: the commit's time, else when git was asked.
    pub(crate) fn at(&self) -> Millis {
        match &self.fate {
            Fate::Removed { by } | Fate::Renamed { by, .. } | Fate::Merged { by, .. } | Fate::Named { by, .. } => by.at,
            Fate::Touched { last, .. } => last.at,
            Fate::BranchGone => self.seen_at,
        }
    }

    /// `` `redis_cache.py` was removed (a1b2c3d, 2026-11-19) ``
    pub(crate) fn told(&self, day: impl Fn(Millis) -> String) -> String {
        let name = &self.name;
        let commit = |by: &CommitRef| format!("{}, {}", by.hash, day(by.at));
        match &self.fate {
            Fate::Removed { by } => format!("`{name}` was removed ({})", commit(by)),
            Fate::Renamed { to, by } => format!("`{name}` became `{to}` ({})", commit(by)),
            Fate::Touched { commits: 1, last } => format!("`{name}` was changed by a commit ({})", commit(last)),
            Fate::Touched { commits, last } => format!("`{name}` was changed by {commits} commits (the last: {})", commit(last)),
            Fate::BranchGone => format!("branch `{name}` is gone (looked for on {})", day(self.seen_at)),
            Fate::Merged { into, by } => format!("commit {} of branch `{name}` is merged into `{into}` ({})", by.hash, day(by.at)),
            Fate::Named { by, subject } => format!("commit {}, {} names {name}: {subject}", by.hash, day(by.at)),
        }
    }
}
