//! Sessions that were loaded for their digests and are kept for their pages, so that these need not load and judge them again.
//!
//! ## Invariants
//! - What is kept is bounded: the sessions that come first stay, and what is taken makes no room.
//! - Nothing of it is used once anybody else stored something: it may have been about what is in hand.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;

use crate::analyze::account::SessionAccount;
use crate::store::Reader;
use transcripts::session::Session;

/// Bytes of JSON of the sessions that are kept. They take some three times as much in memory.
const ROOM_BYTES: usize = 4 << 20;

/// A session with its account, as of one that is over.
#[derive(Debug)]
pub(crate) struct SessionInHand {
    pub(crate) session: Session,
    pub(crate) account: SessionAccount,
}

#[derive(Debug, Default)]
pub(crate) struct SessionsInHand {
    /// The version of the index before the first of them was loaded; `None` if none is kept.
    seen: Option<i64>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_pk: HashMap<i64, SessionInHand>,
    bytes: usize,
}

impl SessionsInHand {
    /// With room for sessions that are loaded from now on.
    pub(crate) fn from_now(store: &Reader) -> Result<Self> {
        Ok(Self { seen: Some(store.others_version()?), kept: Mutex::default() })
    }

    pub(crate) fn has_room(&self) -> bool {
        self.seen.is_some() && self.kept().bytes < ROOM_BYTES
    }

    /// Keeps a session with so many bytes of JSON, if there is room.
    pub(crate) fn put(&self, pk: i64, bytes: usize, one: SessionInHand) {
        let mut kept = self.kept();
        if self.seen.is_some() && kept.bytes < ROOM_BYTES {
            kept.bytes += bytes;
            kept.by_pk.insert(pk, one);
        }
    }

    /// Those that still say what is stored: all or none.
    pub(crate) fn if_unchanged(self, store: &Reader) -> Result<Self> {
        let is_same = self.seen == Some(store.others_version()?);
        Ok(if is_same { self } else { Self::default() })
    }

    pub(crate) fn take(&self, pk: i64) -> Option<SessionInHand> {
        self.kept().by_pk.remove(&pk)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
