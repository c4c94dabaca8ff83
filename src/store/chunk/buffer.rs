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
use super::packing::{Job, Packed, Target, last_of};
use super::usage::{self, Message, Used};
use super::{Kept, Kind, Line, rows_of};
use crate::model::session::{Item, Millis, RowKey, Tokens};
use crate::store::chunk::forks;
use crate::store::chunk::forks::Whereabouts;

/// Where an item belongs.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub session: i64,
    pub source: i64,
    pub offset: i64,
    pub part: i64,
}

/// What `put` did with an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    New,
    /// It was known from another source, which gave it up.
    TakenOver,
    Known,
}

/// New items per session, and a cache of what these sessions already hold.
#[derive(Debug, Default)]
pub struct Gathered<'i> {
    known: Known,
    fresh: BTreeMap<i64, OfSession<'i>>,
}

/// What sessions hold. Carried from one transaction to the next, so that a session ingested in many transactions is not read again for
/// each.
#[derive(Debug, Default)]
pub struct Known(HashMap<i64, Holds>);

#[derive(Debug, Default)]
struct Holds {
    /// The source of each item, by record key and part.
    items: HashMap<(RowKey, i64), i64>,
    messages: HashMap<Message, Tokens>,
}

impl Holds {
    fn read(db: &Connection, session: i64) -> Result<Self> {
        let items = rows_of(db, session)?.iter().map(|kept| ((kept.line.key, kept.line.part), kept.source)).collect();
        let messages = Used::of_session(db, session)?.into_values().map(|used| (used.message, used.tokens)).collect();
        Ok(Self { items, messages })
    }
}

#[derive(Debug, Default)]
struct OfSession<'i> {
    fresh: BTreeMap<Option<i64>, Fresh<'i>>,
    /// Items that moved to another source, with the source that had them.
    given_up: HashSet<(RowKey, i64, i64)>,
}

#[derive(Debug, Default)]
struct Fresh<'i> {
    items: Vec<(Line, Cow<'i, Item>)>,
    used: Vec<Used>,
}

impl<'i> Gathered<'i> {
    /// Continues with the cache of an earlier transaction.
    pub fn with(known: Known) -> Self {
        Self { known, fresh: BTreeMap::new() }
    }

    /// Keeps the cache for these sessions only.
    pub fn known_of(self, sessions: impl Iterator<Item = i64>) -> Known {
        let mut known = self.known;
        Known(sessions.filter_map(|session| known.0.remove_entry(&session)).collect())
    }

    /// Adds an item. When another source already holds the same item, that source keeps it unless `yields`, called with that source's
    /// number, returns true.
    pub fn put(
        &mut self,
        db: &Connection,
        to: &Place,
        key: RowKey,
        at: Option<Millis>,
        item: Cow<'i, Item>,
        yields: impl FnOnce(i64) -> Result<bool>,
    ) -> Result<Put> {
        let mut put = Put::New;
        match self.known.of(db, to.session)?.items.entry((key, to.part)) {
            Entry::Vacant(place) => _ = place.insert(to.source),
            Entry::Occupied(mut known) => {
                let other = *known.get();
                if other == to.source || !yields(other)? {
                    return Ok(Put::Known);
                }
                known.insert(to.source);
                self.fresh.entry(to.session).or_default().given_up.insert((key, to.part, other));
                put = Put::TakenOver;
            }
        }
        let line = Line { key, part: to.part, offset: to.offset, at, kind: Kind::of(&item), sum: 0 };
        self.fresh_of(to.session, Some(to.source)).items.push((line, item));
        Ok(put)
    }

    /// Adds the token usage of a message. Records repeat it with growing figures while the message is written, so the largest count.
    /// Returns whether anything is new.
    pub fn put_used(&mut self, db: &Connection, session: i64, source: Option<i64>, used: Used) -> Result<bool> {
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
        let fresh = &mut self.fresh_of(session, source).used;
        // Usage grows record by record: update the last entry instead of adding one.
        match fresh.last_mut().filter(|last| last.message == used.message) {
            Some(last) => last.tokens = usage::larger(&last.tokens, &tokens),
            None => fresh.push(used),
        }
        Ok(true)
    }

    /// Drops everything buffered and cached for a session that was deleted, or from which something was removed.
    pub fn drop_session(&mut self, session: i64) {
        self.known.0.remove(&session);
        self.fresh.remove(&session);
    }

    fn fresh_of(&mut self, session: i64, source: Option<i64>) -> &mut Fresh<'i> {
        self.fresh.entry(session).or_default().fresh.entry(source).or_default()
    }

    /// Writes everything that is buffered and records which sessions became forks by it.
    pub fn flush(&mut self, db: &Connection, whereabouts: &mut Whereabouts) -> Result<()> {
        let mut jobs = Vec::new();
        for (session, of) in std::mem::take(&mut self.fresh) {
            if !of.given_up.is_empty() {
                let gone = |kept: &Kept| of.given_up.contains(&(kept.line.key, kept.line.part, kept.source));
                let rows = rows_of(db, session)?;
                edit::change(db, session, rows.into_iter().filter(gone).map(|kept| (kept, None)))?;
            }
            for (source, Fresh { mut items, used }) in of.fresh {
                items.retain(|(line, _)| source.is_none_or(|source| !of.given_up.contains(&(line.key, line.part, source))));
                if !items.is_empty() || !used.is_empty() {
                    jobs.push(Job { session, source, onto: last_of(db, session, source)?, items, used });
                }
            }
        }
        let mut new = Vec::new();
        for job in &jobs {
            let lines: Vec<Line> = job.items.iter().map(|(line, _)| *line).collect();
            let hashes = forks::hashes(&lines, &job.used);
            new.extend(hashes.iter().map(|hash| (*hash, job.session)));
            whereabouts.add(job.session, hashes.into_iter());
        }
        // Packing is the expensive part and runs on all idle cores; a single job is not worth waking them.
        let packed: Vec<(Target, Vec<Packed>)> = match jobs.len() {
            0 | 1 => jobs.into_iter().map(Job::pack).collect::<Result<_>>()?,
            _ => jobs.into_par_iter().map(Job::pack).collect::<Result<_>>()?,
        };
        for (target, bundles) in packed {
            let Target { session, source, mut onto } = target;
            for packed in bundles {
                packed.write(db, session, source, onto.take())?;
            }
        }
        forks::note(db, &whereabouts.pairs(&new))
    }
}

impl Known {
    fn of(&mut self, db: &Connection, session: i64) -> Result<&mut Holds> {
        Ok(match self.0.entry(session) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Holds::read(db, session)?),
        })
    }
}
