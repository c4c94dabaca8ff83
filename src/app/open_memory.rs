//! The memory as it may be shown to whoever asks. An adapter opens it and hands it to use cases, which alone look inside.

use std::time::Duration;

use anyhow::Result;
use rusqlite::InterruptHandle;

use crate::config::Config;
use crate::policy::{Policy, View};
pub(crate) use crate::store::error::{explained, is_store_error};
use crate::store::{Memory, OtherFormat, WholeIndex, is_there};
use transcripts::session::Millis;

pub(crate) struct OpenMemory(pub(in crate::app) Memory);

impl OpenMemory {
    /// Opens it, migrating an index of an earlier program first.
    ///
    /// # Errors
    /// When there is none yet, or a newer program wrote it.
    pub(crate) fn of(config: &Config, view: View<'_>) -> Result<Self> {
        Ok(Self(Memory::open(&config.database(), &config.policy(view))?))
    }

    /// The same under a policy of the caller's own.
    pub(crate) fn under(config: &Config, policy: &Policy) -> Result<Self> {
        Ok(Self(Memory::open(&config.database(), policy)?))
    }

    /// The same, if there is one.
    pub(crate) fn if_there(config: &Config, view: View<'_>) -> Result<Option<Self>> {
        Ok(Memory::open_if_there(&config.database(), &config.policy(view))?.map(Self))
    }

    /// Opens it without changing anything; `patience` is how long to wait for locks.
    ///
    /// # Errors
    /// When there is none yet, or its schema is not this program's: an [`OtherFormat`].
    pub(crate) fn as_it_is(config: &Config, policy: &Policy, patience: Duration) -> Result<Self> {
        Ok(Self(Memory::open_unchanged(&config.database(), policy, patience)?))
    }

    /// Is there an index?
    pub(crate) fn is_there(config: &Config) -> Result<bool> {
        is_there(&config.database())
    }

    /// How long a statement waits for another process's transaction from now on.
    pub(crate) fn be_patient(&self, patience: Duration) -> Result<()> {
        self.0.set_lock_timeout(patience)
    }

    /// When a session was last active, in milliseconds since the Unix epoch.
    pub(crate) fn last_active(&self, session: &str) -> Result<Option<Millis>> {
        self.0.last_active(session)
    }

    /// Ends what is being read, from another thread.
    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        self.0.interrupt_handle()
    }
}

/// What a session is told until the next digest upgrades an index of an earlier program, which may be long if nothing starts one; `None` for
/// other errors.
pub(crate) fn waits_for_upgrade(error: &anyhow::Error) -> Option<String> {
    error.downcast_ref().filter(|form| **form != OtherFormat::Newer).map(OtherFormat::to_string)
}

/// When a session ended, whoever's it is; `None` too where the index cannot be read.
pub(crate) fn session_end(config: &Config, session: &str) -> Option<Millis> {
    let memory = WholeIndex::open(&config.database()).ok()?;
    memory.session_end(session).ok().flatten()
}
