//! The order of a session's items: the main conversation first, then those of its subagents by their start.
//!
//! A conversation may lie in several files: it went on in another one, or a person keeps copies of it, whole or in pieces. A record that
//! several of them hold is stored once, for the file with the smallest path, so a file may own a single reply of a long conversation.
//! The files of a conversation are therefore merged as if one file had been written.
//!
//! ## Invariants
//! - Items of one file keep its order, whatever their times say: an item counts as late as the latest item up to it.
//! - The order depends on what is stored, not on the order in which it came in.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use rusqlite::{Connection, Row};

use crate::store::chunk::StoredItem;
use transcripts::session::Millis;

/// Where the items of a session's sources stand, by source number. Every item has to be noted before the order is settled.
pub(super) struct SessionOrder {
    sources: HashMap<i64, SourcePosition>,
    /// How many conversations the session has: its own and those of its subagents.
    conversations: usize,
    /// Items of conversations that lie in several files.
    noted: Vec<NotedItem>,
}

/// Where a source stands in its session, and the subagent it belongs to.
struct SourcePosition {
    conversation: usize,
    file: usize,
    agent: Option<String>,
    last_at: Option<Millis>,
    /// Is it one of several files of its conversation?
    is_split: bool,
    /// The parts of the session that hold its items, each with the offset of its first one, ascending.
    parts: Vec<(i64, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NotedItem {
    source: i64,
    offset: i64,
    at: Option<Millis>,
}

/// A source as it is stored, and when its conversation began.
struct StoredSource {
    pk: i64,
    /// Empty for the main conversation.
    agent: String,
    file: String,
    first_at: Option<Millis>,
    last_at: Option<Millis>,
    began: Option<Millis>,
}

impl StoredSource {
    /// By this they are ordered. What began at no known time comes first.
    fn place(&self) -> (bool, Option<Millis>, &str, Option<Millis>, &str) {
        (!self.agent.is_empty(), self.began, &self.agent, self.first_at, &self.file)
    }
}

/// The sources of a session: those of its main conversation, then those of each subagent's by its start.
fn sources_in_order(db: &Connection, session: i64) -> Result<Vec<StoredSource>> {
    let mut query = db.prepare_cached("SELECT pk, agent, file, first_at, last_at FROM source WHERE session = ?1")?;
    let source = |r: &Row<'_>| {
        let (pk, agent, file) = (r.get(0)?, r.get(1)?, r.get(2)?);
        Ok(StoredSource { pk, agent, file, first_at: r.get(3)?, last_at: r.get(4)?, began: None })
    };
    let mut all: Vec<StoredSource> = query.query_map([session], source)?.collect::<rusqlite::Result<_>>()?;
    // Most sessions have one. In SQL, each of them would take two sorts and a table of its own.
    if all.len() > 1 {
        let mut began: HashMap<String, Millis> = HashMap::new();
        for source in &all {
            let Some(first_at) = source.first_at else { continue };
            began.entry(source.agent.clone()).and_modify(|began| *began = first_at.min(*began)).or_insert(first_at);
        }
        all.iter_mut().for_each(|source| source.began = began.get(&source.agent).copied());
        all.sort_unstable_by(|one, other| one.place().cmp(&other.place()));
    }
    Ok(all)
}

impl SessionOrder {
    pub(super) fn of(db: &Connection, session: i64) -> Result<Self> {
        let mut all: Vec<(i64, SourcePosition)> = Vec::new();
        for StoredSource { pk, agent, last_at, .. } in sources_in_order(db, session)? {
            let agent = Some(agent).filter(|agent| !agent.is_empty());
            let mut conversation = 0;
            let mut is_split = false;
            if let Some((_, before)) = all.last_mut() {
                is_split = before.agent == agent;
                before.is_split |= is_split;
                conversation = before.conversation + usize::from(!is_split);
            }
            let file = all.len();
            all.push((pk, SourcePosition { conversation, file, agent, last_at, is_split, parts: Vec::new() }));
        }
        let conversations = all.last().map_or(0, |(_, last)| last.conversation + 1);
        Ok(Self { sources: all.into_iter().collect(), conversations, noted: Vec::new() })
    }

    /// Does a conversation lie in several files? Otherwise no item has to be noted.
    pub(super) fn is_split(&self) -> bool {
        self.sources.values().any(|place| place.is_split)
    }

    /// Takes note of an item whose place is to be asked for.
    pub(super) fn note(&mut self, kept: &StoredItem) {
        if self.sources.get(&kept.source).is_some_and(|place| place.is_split) {
            let this = NotedItem { source: kept.source, offset: kept.line.offset, at: kept.line.at };
            // The items of a record stand together.
            if self.noted.last() != Some(&this) {
                self.noted.push(this);
            }
        }
    }

    /// Divides the conversations into parts, each of which lies in one file.
    pub(super) fn settle(&mut self) {
        let mut noted = std::mem::take(&mut self.noted);
        noted.sort_unstable_by_key(|item| (item.source, item.offset, item.at));
        for of_source in noted.chunk_by_mut(|one, other| one.source == other.source) {
            self.date(of_source);
        }
        let place = |source: i64| &self.sources[&source];
        noted.sort_by_cached_key(|item| (place(item.source).conversation, item.at, item.offset, place(item.source).file));
        let mut runs = noted.chunk_by(|one, other| one.source == other.source).map(|run| (run[0].source, run[0].offset)).peekable();
        let whole = self.sources.iter().filter(|(_, place)| !place.is_split);
        let whole: HashMap<usize, i64> = whole.map(|(source, place)| (place.conversation, *source)).collect();
        let mut part = 0;
        for conversation in 0..self.conversations {
            let whole = whole.get(&conversation).map(|source| (*source, i64::MIN));
            let of_this = std::iter::from_fn(|| runs.next_if(|(source, _)| self.sources[source].conversation == conversation));
            let starts: Vec<(i64, i64)> = whole.into_iter().chain(of_this).collect();
            for (source, offset) in starts {
                self.sources.entry(source).and_modify(|place| place.parts.push((offset, part)));
                part += 1;
            }
        }
    }

    /// Gives each item of a source the latest time up to it. What comes before the first time counts as then; a source without any time
    /// has at least that of its last record that another file owns.
    fn date(&self, items: &mut [NotedItem]) {
        let first = items.iter().find_map(|item| item.at);
        let mut latest = first.or(self.sources[&items[0].source].last_at);
        for item in items {
            latest = latest.max(item.at);
            item.at = latest;
        }
    }

    pub(super) fn agent(&self, kept: &StoredItem) -> Option<&str> {
        self.sources.get(&kept.source)?.agent.as_deref()
    }

    pub(super) fn is_main(&self, kept: &StoredItem) -> bool {
        self.agent(kept).is_none()
    }

    /// Number of subagents among these sources.
    pub(super) fn agents(&self, sources: impl Iterator<Item = i64>) -> usize {
        sources.filter_map(|source| self.sources.get(&source)?.agent.as_deref()).collect::<HashSet<_>>().len()
    }

    /// The part of the session and the file. Within them, items are ordered by offset and part of their record.
    pub(super) fn of_item(&self, kept: &StoredItem) -> (usize, usize) {
        let Some(place) = self.sources.get(&kept.source) else { return (usize::MAX, usize::MAX) };
        let behind = place.parts.partition_point(|(offset, _)| *offset <= kept.line.offset);
        (place.parts.get(behind.saturating_sub(1)).map_or(usize::MAX, |(_, part)| *part), place.file)
    }

    pub(super) fn sort(&self, rows: &mut [StoredItem]) {
        rows.sort_by_cached_key(|kept| {
            let (part, file) = self.of_item(kept);
            (part, kept.line.offset, file, kept.line.part)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rusqlite::params;

    proptest! {
        /// As SQL states it.
        #[test]
        fn sources_stand_in_the_order_of_their_conversations(
            sources in prop::collection::btree_map(("(|a|b)", "[x-z]"), prop::option::of(0i64..3), 0..8),
        ) {
            let db = Connection::open_in_memory().unwrap();
            db.execute_batch("CREATE TABLE source(pk INTEGER PRIMARY KEY, session, agent, file, first_at, last_at)").unwrap();
            for ((agent, file), at) in &sources {
                let sql = "INSERT INTO source(session, agent, file, first_at) VALUES (1, ?1, ?2, ?3), (2, ?1, ?2, ?3)";
                db.execute(sql, params![agent, file, at]).unwrap();
            }
            let sql = "SELECT pk FROM source WHERE session = 1
                 ORDER BY agent <> '', min(first_at) OVER (PARTITION BY agent), agent, first_at, file";
            let expected: Vec<i64> = db.prepare(sql).unwrap().query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
            let found: Vec<i64> = sources_in_order(&db, 1).unwrap().iter().map(|source| source.pk).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
