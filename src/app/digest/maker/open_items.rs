//! Open items that sessions left behind, each session's found once in a run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::digest::{Claim, Digest, OpenItem};
use crate::model::section::Section;
use crate::model::session_head::SessionHead;

/// Most sessions whose open items are cached. Only those of the last days are asked for.
const MAX_CACHED_SESSIONS: usize = 4096;

/// Open items that whole sessions left behind, by session. The first caller computes an entry; the others wait for it.
#[derive(Default)]
pub(crate) struct OpenItemsCache(Mutex<HashMap<i64, OpenItemsSlot>>);

/// `None` until computed.
type OpenItemsSlot = Arc<Mutex<Option<Vec<OpenItem>>>>;

impl OpenItemsCache {
    pub(crate) fn of(&self, session: i64) -> OpenItemsSlot {
        let mut all = lock_unpoisoned(&self.0);
        if all.len() >= MAX_CACHED_SESSIONS {
            all.clear();
        }
        all.entry(session).or_default().clone()
    }
}

/// Locks a mutex, ignoring poison: a panicking thread leaves the data valid.
pub(crate) fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The open items for what a session leaves open.
pub(crate) fn open_items(left: Vec<Claim>, head: &SessionHead) -> Vec<OpenItem> {
    let digest = Digest::default().with(Section::NextSteps, left);
    digest.open_items(&head.id).map(|(id, _, claim)| OpenItem { id, text: claim.text.clone(), session: head.pk }).collect()
}
