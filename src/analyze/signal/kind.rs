//! The kinds of memories, how important each is, and the tiers of that scale.

use serde::Serialize;

/// What a stored item means to someone who continues the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MemoryKind {
    /// The user's own words.
    Said,
    /// Something failed.
    Error,
    /// Something was to be remembered.
    Remember,
    /// How a test, a build or a commit went.
    Check,
    Cause,
    Decision,
    Solution,
    /// The client's own summary of where things stand.
    Account,
    Workaround,
    /// A file created or changed, or a statement about one.
    Change,
    Convention,
    Configuration,
    /// Something was run, fetched or delegated.
    Command,
    /// Words that match no rule.
    Talk,
    /// A file was read, or something was searched for.
    Consulted,
    /// To-do lists, tasks, titles: a state at that time.
    State,
    /// Bookkeeping of the client's tools.
    Chatter,
}

impl MemoryKind {
    /// How much an item of this kind matters, from 0 to 1.
    pub(crate) const fn importance(self) -> f64 {
        match self {
            Self::Said | Self::Error => 1.0,
            Self::Remember => 0.95,
            Self::Check | Self::Cause => 0.9,
            Self::Decision | Self::Solution | Self::Account => 0.85,
            Self::Workaround => 0.75,
            Self::Change => 0.7,
            Self::Convention => 0.65,
            Self::Configuration => 0.6,
            Self::Command => 0.5,
            Self::Talk => 0.4,
            Self::State => 0.3,
            Self::Consulted => 0.2,
            Self::Chatter => 0.05,
        }
    }

    /// Is it an event, which cannot be announced or supposed?
    pub(crate) const fn is_event(self) -> bool {
        matches!(self, Self::Error | Self::Check | Self::Cause | Self::Solution | Self::Change | Self::Configuration)
    }
}

/// The tiers of importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tier {
    Weak,
    /// At least 0.5.
    Moderate,
    /// At least 0.8.
    Strong,
}

impl Tier {
    pub(crate) fn of(importance: f64) -> Self {
        if importance >= 0.8 {
            Self::Strong
        } else if importance >= 0.5 {
            Self::Moderate
        } else {
            Self::Weak
        }
    }
}

/// The kind and importance of an item or a sentence, and the rule that determined them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Signal {
    pub(crate) kind: MemoryKind,
    /// From 0 to 1.
    pub(crate) importance: f64,
    pub(crate) rule: &'static str,
}

impl Signal {
    pub(crate) fn new(kind: MemoryKind, rule: &'static str) -> Self {
        Self { kind, importance: kind.importance(), rule }
    }

    pub(crate) fn tier(&self) -> Tier {
        Tier::of(self.importance)
    }
}
