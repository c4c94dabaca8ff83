//! What is stored of a session beside its digest.

use serde::{Deserialize, Serialize};

use super::SessionAccount;
use crate::analyze::commands::{self, UsedCommand};
use crate::analyze::failures::{self, Failure, Runs};
use transcripts::session::Session;

/// An account, shortened, with what was run and what failed: those are stored as rows of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountToStore {
    pub(crate) account: SessionAccount,
    pub(crate) failures: Vec<Failure>,
    pub(crate) commands: Vec<UsedCommand>,
}

impl AccountToStore {
    /// Of a session and its whole account.
    pub(crate) fn new(session: &Session, account: SessionAccount) -> Self {
        if let Some(told) = Self::told_elsewhere(session) {
            return Self { account: account.shortened(), ..told };
        }
        let runs = Runs::of(session);
        let failures = failures::of(session, &runs, |at| account.turn_at(at));
        let commands = commands::of(session, &runs);
        Self { account: account.shortened(), failures, commands }
    }

    /// The same, whole: as another machine tells it.
    pub(crate) fn whole(session: &Session, goes_on: bool) -> Self {
        let account = SessionAccount::of(session, goes_on);
        let runs = Runs::of(session);
        let failures = failures::of(session, &runs, |at| account.turn_at(at));
        Self { failures, commands: commands::of(session, &runs), account }
    }

    /// What another machine told of a session; `None` if it is of this one, or this program cannot read it.
    pub(crate) fn told_elsewhere(session: &Session) -> Option<Self> {
        Self::deserialize(&session.told.as_ref()?.account).ok()
    }
}
