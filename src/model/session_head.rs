//! What is known of a session without its items.

use transcripts::client::Client;
use transcripts::session::{Millis, Project};

/// A session without its items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHead {
    pub(crate) pk: i64,
    pub(crate) id: String,
    pub(crate) client: Client,
    pub(crate) project: Project,
    pub(crate) started_at: Millis,
    /// Latest timestamp of its records.
    pub(crate) last_at: Option<Millis>,
    pub(crate) grew_at: Millis,
    pub(crate) ended_at: Option<Millis>,
    pub(crate) end_reason: Option<String>,
    pub(crate) dirty: bool,
    /// It is dirty only because earlier sessions changed; nothing of its own changed since its digest was made.
    pub(crate) only_shown: bool,
}

impl SessionHead {
    /// Did something of its own come in since its digest was made?
    pub(crate) fn has_grown(&self) -> bool {
        self.dirty && !self.only_shown
    }

    /// When it was, if no record of the conversation tells.
    pub(crate) fn otherwise_at(&self) -> Millis {
        if self.started_at == Millis::MAX { self.grew_at } else { self.started_at }
    }

    /// When it was active last, as far as any of its records tells.
    pub(crate) fn last_active(&self) -> Option<Millis> {
        self.last_at.or(Some(self.started_at).filter(|at| *at != Millis::MAX))
    }

    /// When it counts: at its last activity, and where none of its records tells a time, on the day of its page.
    pub(crate) fn counts_at(&self) -> Millis {
        self.last_active().unwrap_or_else(|| self.otherwise_at())
    }
}
