//! Buffers new items of many sessions and writes them as chunks.
//!
//! What a session already holds is read once, from the headers stored beside its texts; after that, telling whether an item is new takes
//! no query.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::Result;
use rayon::prelude::*;
use rusqlite::Connection;

use super::edit;
use super::packing::{ChunkTarget, PackJob, PackedChunk, last_with_room};
use super::usage::{self, MessageHash, StoredUsage};
use super::{ItemHeader, ItemKind, StoredItem, items_of};
use crate::store::chunk::forks;
use crate::store::chunk::forks::RecordIndex;
use crate::sys::threads;
use transcripts::session::{Item, Millis, RecordKey, Tokens};

/// Where an item belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemLocation {
    pub(crate) session: i64,
    pub(crate) source: i64,
    pub(crate) offset: i64,
    pub(crate) part: i64,
}

/// What `put` did with an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PutOutcome {
    New,
    /// It was known from another source, which gave it up.
    TakenOver,
    Known,
}

/// New items per session, and a cache of what these sessions already hold.
#[derive(Debug, Default)]
pub(crate) struct ItemBuffer<'i> {
    known: StoredKeys,
    fresh: BTreeMap<i64, PendingSession<'i>>,
}

/// What sessions hold. Carried from one transaction to the next, so that a session ingested in many transactions is not read again for
/// each.
#[derive(Debug, Default)]
pub(crate) struct StoredKeys(HashMap<i64, SessionKeys>);

#[derive(Debug, Default)]
struct SessionKeys {
    /// The source of each item, by record key and part.
    items: HashMap<(RecordKey, i64), i64>,
    messages: HashMap<MessageHash, Tokens>,
}

impl SessionKeys {
    fn read(db: &Connection, session: i64) -> Result<Self> {
        let items = items_of(db, session)?.iter().map(|kept| ((kept.line.key, kept.line.part), kept.source)).collect();
        let messages = StoredUsage::of_session(db, session)?.into_values().map(|used| (used.message, used.tokens)).collect();
        Ok(Self { items, messages })
    }
}

#[derive(Debug, Default)]
struct PendingSession<'i> {
    fresh: BTreeMap<Option<i64>, PendingItems<'i>>,
    /// Items that moved to another source, with the source that had them.
    given_up: HashSet<(RecordKey, i64, i64)>,
}

#[derive(Debug, Default)]
struct PendingItems<'i> {
    items: Vec<(ItemHeader, Cow<'i, Item>)>,
    used: Vec<StoredUsage>,
}

impl<'i> ItemBuffer<'i> {
    /// Continues with the cache of an earlier transaction.
    pub(crate) fn with_cache(known: StoredKeys) -> Self {
        Self { known, fresh: BTreeMap::new() }
    }

    /// Keeps the cache for these sessions only.
    pub(crate) fn into_cache(self, sessions: impl Iterator<Item = i64>) -> StoredKeys {
        let mut known = self.known;
        StoredKeys(sessions.filter_map(|session| known.0.remove_entry(&session)).collect())
    }

    /// A session that was just added holds nothing.
    pub(crate) fn begin_session(&mut self, session: i64) {
        self.known.0.insert(session, SessionKeys::default());
    }

    /// Adds an item. When another source already holds the same item, that source keeps it unless `yields`, called with that source's
    /// number, returns true.
    pub(crate) fn put(
        &mut self,
        db: &Connection,
        to: &ItemLocation,
        key: RecordKey,
        at: Option<Millis>,
        item: Cow<'i, Item>,
        yields: impl FnOnce(i64) -> Result<bool>,
    ) -> Result<PutOutcome> {
        let mut put = PutOutcome::New;
        match self.known.of(db, to.session)?.items.entry((key, to.part)) {
            Entry::Vacant(place) => _ = place.insert(to.source),
            Entry::Occupied(mut known) => {
                let other = *known.get();
                if other == to.source || !yields(other)? {
                    return Ok(PutOutcome::Known);
                }
                known.insert(to.source);
                self.fresh.entry(to.session).or_default().given_up.insert((key, to.part, other));
                put = PutOutcome::TakenOver;
            }
        }
        let line = ItemHeader { key, part: to.part, offset: to.offset, at, kind: ItemKind::of(&item), sum: 0 };
        self.pending_of(to.session, Some(to.source)).items.push((line, item));
        Ok(put)
    }

    /// Adds the token usage of a message. Records repeat it with growing figures while the message is written, so the largest count.
    /// Returns whether anything is new.
    pub(crate) fn put_usage(&mut self, db: &Connection, session: i64, source: Option<i64>, used: StoredUsage) -> Result<bool> {
        let tokens = used.tokens;
        match self.known.of(db, session)?.messages.entry(used.message) {
            Entry::Vacant(place) => _ = place.insert(tokens),
            Entry::Occupied(mut known) => {
                let larger = usage::larger(known.get(), &tokens);
                if larger == *known.get() {
                    return Ok(false);
                }
                known.insert(larger);
            }
        }
        let fresh = &mut self.pending_of(session, source).used;
        // Usage grows record by record: update the last entry instead of adding one.
        match fresh.last_mut().filter(|last| last.message == used.message) {
            // Its first record tells when.
            Some(last) => last.tokens = usage::larger(&last.tokens, &tokens),
            None => fresh.push(used),
        }
        Ok(true)
    }

    /// Drops everything buffered and cached for a session that was deleted, or from which something was removed.
    pub(crate) fn drop_session(&mut self, session: i64) {
        self.known.0.remove(&session);
        self.fresh.remove(&session);
    }

    fn pending_of(&mut self, session: i64, source: Option<i64>) -> &mut PendingItems<'i> {
        self.fresh.entry(session).or_default().fresh.entry(source).or_default()
    }

    /// Writes everything that is buffered and records which sessions became forks by it.
    pub(crate) fn flush(&mut self, db: &Connection, whereabouts: &mut RecordIndex) -> Result<()> {
        let mut jobs = Vec::new();
        for (session, of) in std::mem::take(&mut self.fresh) {
            if !of.given_up.is_empty() {
                let gone = |kept: &StoredItem| of.given_up.contains(&(kept.line.key, kept.line.part, kept.source));
                let rows = items_of(db, session)?;
                edit::replace_items(db, session, rows.into_iter().filter(gone).map(|kept| (kept, None)))?;
            }
            for (source, PendingItems { mut items, used }) in of.fresh {
                items.retain(|(line, _)| source.is_none_or(|source| !of.given_up.contains(&(line.key, line.part, source))));
                if !items.is_empty() || !used.is_empty() {
                    jobs.push(PackJob { session, source, onto: last_with_room(db, session, source)?, items, used });
                }
            }
        }
        let mut new = Vec::new();
        for job in &jobs {
            let lines: Vec<ItemHeader> = job.items.iter().map(|(line, _)| *line).collect();
            let hashes = forks::hashes(&lines, &job.used);
            new.extend(hashes.iter().map(|hash| (*hash, job.session)));
            whereabouts.add(job.session, hashes.into_iter());
        }
        // Packing is the expensive part and runs on all idle cores; a single job is not worth waking them.
        let cores = if jobs.len() > 1 { threads::shared() } else { None };
        let packed: Vec<(ChunkTarget, Vec<PackedChunk>)> = match cores {
            None => jobs.into_iter().map(PackJob::pack).collect::<Result<_>>()?,
            Some(cores) => cores.install(|| jobs.into_par_iter().map(PackJob::pack).collect::<Result<_>>())?,
        };
        for (target, bundles) in packed {
            let ChunkTarget { session, source, mut onto } = target;
            for packed in bundles {
                packed.write(db, session, source, onto.take())?;
            }
        }
        forks::record_forks(db, &whereabouts.pairs(&new))
    }
}

impl StoredKeys {
    fn of(&mut self, db: &Connection, session: i64) -> Result<&mut SessionKeys> {
        Ok(match self.0.entry(session) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(SessionKeys::read(db, session)?),
        })
    }
}
