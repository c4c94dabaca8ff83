//! What is stored of a session beside its digest.

use super::SessionAccount;
use crate::analyze::commands::{self, UsedCommand};
use crate::analyze::failures::{self, Failure, Runs};
use crate::model::session::Session;

/// An account, shortened, with what was run and what failed: those are stored as rows of their own.
#[derive(Debug)]
pub struct AccountToStore {
    pub(crate) account: SessionAccount,
    pub(crate) failures: Vec<Failure>,
    pub(crate) commands: Vec<UsedCommand>,
}

impl AccountToStore {
    /// Of a session and its whole account.
    pub(crate) fn new(session: &Session, account: SessionAccount) -> Self {
        let runs = Runs::of(session);
        let failures = failures::of(session, &runs, |at| account.turn_at(at));
        let commands = commands::of(session, &runs);
        Self { account: account.shortened(), failures, commands }
    }
}
