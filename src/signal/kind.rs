//! What a memory can be, how much each kind weighs, and the tiers of that scale.

use serde::Serialize;

/// What a kept item is to somebody who goes on with the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
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
    /// The client's own account of where things stand.
    Account,
    Workaround,
    /// A file, or what is said to have been, created or changed.
    Change,
    Convention,
    Configuration,
    /// Something was run, fetched or delegated.
    Command,
    /// Words that fall under no rule.
    Talk,
    /// A file was read, or something looked for.
    Consulted,
    /// To-do lists, tasks, titles: what was so at that moment.
    State,
    /// Bookkeeping of the client's tools.
    Chatter,
}

impl Kind {
    /// How much an item of this kind matters, 0 to 1.
    pub const fn importance(self) -> f64 {
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

    /// Is it something that happened, which nobody can plan or suppose?
    pub const fn is_deed(self) -> bool {
        matches!(self, Self::Error | Self::Check | Self::Cause | Self::Solution | Self::Change | Self::Configuration)
    }
}

/// The steps of the scale of importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    None,
    /// 0.5 and more.
    Moderate,
    /// 0.8 and more.
    Strong,
}

impl Tier {
    pub fn of(importance: f64) -> Self {
        if importance >= 0.8 {
            Self::Strong
        } else if importance >= 0.5 {
            Self::Moderate
        } else {
            Self::None
        }
    }
}

/// What an item or a sentence is to memory, and by which rule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Signal {
    pub kind: Kind,
    /// 0 to 1.
    pub importance: f64,
    pub rule: &'static str,
}

impl Signal {
    pub fn new(kind: Kind, rule: &'static str) -> Self {
        Self { kind, importance: kind.importance(), rule }
    }

    pub fn tier(&self) -> Tier {
        Tier::of(self.importance)
    }
}
