//! A session with its items in order: whole, or a sample when it is too long for that.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context, Result};

use super::order::SessionOrder;
use crate::model::session_head::SessionHead;
use crate::store::Reader;
use crate::store::chunk;
use crate::store::chunk::{StoredItem, StoredUsage, TextReader};
use crate::store::codec::list;
use crate::store::owned;
use crate::store::sample;
use crate::store::sample::{MAX_WHOLE_BYTES, Sampler};
use transcripts::assemble::EntryBuilder;
use transcripts::session::{Entry, Item, OmittedItems, PlacedEvidence, RecordKey, Session, Title, TitleBy, is_compaction_agent};

/// The items of a session that are loaded, in order.
struct LoadedItems {
    rows: Vec<StoredItem>,
    /// How many subagents the session has.
    agents: usize,
    /// `None` when all items are loaded.
    left_out: Option<OmittedItems>,
}

impl Reader {
    /// Loads what a session owns, in order: all of it, or the sample that `sample` chooses when it is too long.
    pub fn load_session(&self, head: &SessionHead) -> Result<Session> {
        let mut order = SessionOrder::of(&self.db, head.pk)?;
        let (bytes, items) = chunk::text_size(&self.db, head.pk)?;
        let loaded =
            if bytes > MAX_WHOLE_BYTES { self.sampled_items(head, &mut order, items)? } else { self.all_items(head, &mut order)? };
        let (mut entries, evidence) = self.entries(head, &loaded, &order)?;
        if self.has_leaf_titles()? {
            entries.extend(self.leaf_titles(loaded.rows.iter().map(|kept| kept.line.key))?);
        }
        let sources = self.sources(head.pk)?;
        let told = self.told_elsewhere(head.pk)?;
        let session = Session {
            id: head.id.clone(),
            client: head.client,
            project: head.project.clone(),
            cwd: sources.cwd,
            branches: sources.branches,
            versions: sources.versions,
            end_reason: head.end_reason.clone(),
            entries,
            evidence,
            evident: sources.evident && loaded.rows.iter().all(|kept| kept.line.offset >= 0),
            usage: StoredUsage::owned_by(&self.db, head)?,
            agents: told.as_ref().map_or(loaded.agents, |told| told.facts.agents),
            left_out: loaded.left_out.unwrap_or_default(),
            told: told.map(Box::new),
            otherwise_at: head.otherwise_at(),
        };
        Ok(session.with_places())
    }

    /// Is a session too long to be loaded whole?
    pub(in crate::store) fn is_long(&self, head: &SessionHead) -> Result<bool> {
        Ok(chunk::text_size(&self.db, head.pk)?.0 > MAX_WHOLE_BYTES)
    }

    fn all_items(&self, head: &SessionHead, order: &mut SessionOrder) -> Result<LoadedItems> {
        let mut rows = owned::owned_items(&self.db, head)?;
        rows.iter().for_each(|kept| order.note(kept));
        order.settle();
        order.sort(&mut rows);
        let agents = order.agents(rows.iter().map(|kept| kept.source));
        Ok(LoadedItems { rows, agents, left_out: None })
    }

    /// The sample of a session with `items` items. Streams the session anew for each step, because a list of all its items would take more
    /// memory than everything else.
    fn sampled_items(&self, head: &SessionHead, order: &mut SessionOrder, items: usize) -> Result<LoadedItems> {
        if order.is_split() {
            owned::each_owned_item(&self.db, head, |kept| {
                order.note(&kept);
                Ok(())
            })?;
        }
        order.settle();
        let mut spots = Sampler::with_room_for(items);
        let mut sources = HashSet::new();
        owned::each_owned_item(&self.db, head, |kept| {
            spots.add(&kept.line, order.of_item(&kept), order.is_main(&kept));
            sources.insert(kept.source);
            Ok(())
        })?;
        let sample = spots.choose();
        let before: HashMap<u32, usize> = sample.prompts_before.into_iter().collect();
        let mut rows = Vec::with_capacity(sample.numbers.len());
        let (mut number, mut prompts_before) = (0, BTreeMap::new());
        owned::each_owned_item(&self.db, head, |kept| {
            if sample.numbers.binary_search(&number).is_ok() {
                prompts_before.extend(before.get(&number).map(|prompts| (kept.line.key, *prompts)));
                rows.push(kept);
            }
            number += 1;
            Ok(())
        })?;
        order.sort(&mut rows);
        let left_out = OmittedItems { items: sample.items_left_out, prompts: sample.prompts_left_out, prompts_before };
        Ok(LoadedItems { rows, agents: order.agents(sources.into_iter()), left_out: Some(left_out).filter(|out| out.items > 0) })
    }

    fn entries(&self, head: &SessionHead, loaded: &LoadedItems, order: &SessionOrder) -> Result<(Vec<Entry>, Vec<PlacedEvidence>)> {
        let mut texts = TextReader::new(&self.db);
        let mut entries = EntryBuilder::default();
        let is_told = |kept: &&StoredItem| !kept.line.kind.is_evidence();
        let main = loaded.rows.iter().take_while(|kept| order.is_main(kept)).filter(is_told).count();
        let mut next = 0;
        for kept in &loaded.rows {
            let at = next;
            next += usize::from(is_told(&kept));
            let mut item = texts.take(kept).with_context(|| unreadable(head))?;
            if loaded.left_out.is_some() && !sample::is_at_end(at, main) {
                sample::shorten(&mut item);
            }
            let agent = order.agent(kept).map(str::to_owned);
            entries.push(Entry { key: kept.line.key, at: kept.line.at, agent, item, outcome: None });
        }
        Ok(entries.finish())
    }

    /// Calls `each` with every item a session owns, in the order of ingest, and whether it belongs to the main conversation.
    pub(in crate::store) fn each_session_item(&self, head: &SessionHead, mut each: impl FnMut(&Item, bool)) -> Result<()> {
        let order = SessionOrder::of(&self.db, head.pk)?;
        let (mut texts, mut keys) = (TextReader::new(&self.db), Vec::new());
        let has_titles = self.has_leaf_titles()?;
        owned::each_owned_item(&self.db, head, |kept| {
            if order.agent(&kept).is_some_and(is_compaction_agent) {
                return Ok(());
            }
            each(&texts.take(&kept).with_context(|| unreadable(head))?, order.is_main(&kept));
            keys.extend(has_titles.then_some(kept.line.key));
            Ok(())
        })?;
        self.leaf_titles(keys.into_iter())?.iter().for_each(|title| each(&title.item, true));
        Ok(())
    }

    /// The folder in which a session began.
    pub(crate) fn first_folder(&self, session: i64) -> Result<Option<String>> {
        Ok(self.sources(session)?.cwd)
    }

    /// The branch a session was on at its end.
    pub(crate) fn last_branch(&self, session: i64) -> Result<Option<String>> {
        Ok(self.sources(session)?.branches.pop())
    }

    /// The branches a session was on.
    pub(in crate::store) fn branches(&self, session: i64) -> Result<Vec<String>> {
        Ok(self.sources(session)?.branches)
    }

    /// Titles that summary records, in whatever file, give to a conversation containing records with these keys.
    fn leaf_titles(&self, keys: impl Iterator<Item = RecordKey>) -> Result<Vec<Entry>> {
        let (mut titles, mut seen) = (Vec::new(), HashSet::new());
        for key in keys.filter(|key| seen.insert(*key)) {
            for text in self.titles_of_row(key)? {
                let title = Title { text, by: TitleBy::Summary, leaf: Some(key) };
                titles.push(Entry { key, at: None, agent: None, item: Item::Title(title), outcome: None });
            }
        }
        Ok(titles)
    }

    fn sources(&self, session: i64) -> Result<SessionSources> {
        let sql =
            "SELECT agent, cwd, branches, versions, evident FROM source WHERE session = ?1 ORDER BY agent <> '', first_at, file";
        let mut query = self.db.prepare_cached(sql)?;
        let mut rows = query.query([session])?;
        let mut all = SessionSources { evident: true, ..SessionSources::default() };
        while let Some(row) = rows.next()? {
            if all.cwd.is_none() {
                all.cwd = row.get(1)?;
            }
            list(&row.get::<_, String>(3)?)?.iter().for_each(|version| move_to_end(&mut all.versions, version));
            // A subagent's worktree branch is not the session's.
            if row.get::<_, String>(0)?.is_empty() {
                all.evident &= row.get::<_, bool>(4)?;
                list(&row.get::<_, String>(2)?)?.iter().for_each(|branch| move_to_end(&mut all.branches, branch));
            }
        }
        Ok(all)
    }
}

fn unreadable(head: &SessionHead) -> String {
    format!("session {} cannot be read", head.id)
}

#[derive(Debug, Default)]
struct SessionSources {
    cwd: Option<String>,
    branches: Vec<String>,
    versions: Vec<String>,
    evident: bool,
}

/// Adds a value behind the others, each of which stands once: what was named last is at the end.
pub(in crate::store) fn move_to_end(list: &mut Vec<String>, value: &str) {
    if list.last().is_none_or(|last| last != value) {
        list.retain(|known| known != value);
        list.push(value.to_owned());
    }
}
