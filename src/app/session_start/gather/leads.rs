//! The sessions to go on from: the newest with work, and one that was under way beside it.

use std::collections::HashSet;
use std::rc::Rc;

use anyhow::Result;

use super::others::Candidate;
use super::{Gatherer, IndexedProject, LeftOpen, day, local};
use crate::analyze::account::{LaterEvidence, OpenEnd, RenamedCommit, SessionAccount, is_task};
use crate::analyze::signal::is_offer;
use crate::app::brief::{continue_lives, statements_told};
use crate::app::session_start::client_memory::ClientMemory;
use crate::model::digest::claimed_by;
use crate::model::item_state::{ItemState, ItemStates, TaskItem};
use crate::render::session_start::LeadSession;
use crate::store::open_items::ListedItem;
use crate::store::recent::RecentSession;
use transcripts::session::Millis;

const DAY_MS: Millis = 24 * 3_600_000;
/// Among how many of the newest sessions the one with work is looked for.
pub(super) const MAX_LOOKED_AT: usize = 10;
/// How many sessions may share the room.
const MAX_LEADS: usize = 2;
/// Two sessions on different branches were under way together if their ends lie so close.
const TOGETHER_MS: Millis = 2 * DAY_MS;
/// A second session that ended longer ago tells nothing that is still under way.
const OLD_LEAD_MS: Millis = 14 * DAY_MS;
/// The most characters of a last reply, and of one that is older than so long: what it says may be overtaken.
const REPLY_CHARS: usize = 1_800;
const OLDER_REPLY: (Millis, usize) = (3 * DAY_MS, 600);
const OLD_REPLY: (Millis, usize) = (14 * DAY_MS, 200);

/// A session that may lead, with its account.
struct Lead<'a> {
    digested: Option<&'a RecentSession>,
    id: &'a str,
    last_at: Millis,
    undigested: bool,
    account: Option<Rc<SessionAccount>>,
    renamed: Vec<RenamedCommit>,
}

impl Lead<'_> {
    fn branch(&self) -> Option<&str> {
        self.account.as_ref()?.branch.as_deref()
    }
}

impl Gatherer<'_> {
    /// The sessions to tell in full, out of the `newest`, and what the others left open; without what is told as one of these notes.
    pub(super) fn leads(
        &self,
        known: Option<&IndexedProject<'_>>,
        newest: &[Candidate],
        recent: &[RecentSession],
        memory: &ClientMemory,
        notes: &HashSet<String>,
    ) -> Result<(Vec<LeadSession>, LeftOpen)> {
        let mut leads: Vec<Lead<'_>> = Vec::new();
        let mut fallback = None;
        let mut later = LaterEvidence::default();
        for one in newest {
            let (id, last_at) = (one.id(), one.last_at());
            let own = self.account(known, one)?;
            let digested = recent.iter().find(|one| one.id == id);
            let undigested = matches!(one, Candidate::Undigested(_));
            let mut lead = Lead { digested, id, last_at, undigested, account: own.clone(), renamed: Vec::new() };
            let has_work = match &own {
                Some(account) => account.has_work(),
                // What a model found worth telling.
                None => digested.is_some_and(|one| one.by_model),
            };
            let leads_on = has_work
                && match leads.first() {
                    None => true,
                    Some(first) if first.last_at - last_at > TOGETHER_MS || last_at < self.asked.now - OLD_LEAD_MS => break,
                    Some(first) => first.branch().is_some() && lead.branch().is_some() && first.branch() != lead.branch(),
                };
            if let Some(account) = lead.account.as_mut().filter(|_| leads_on || !has_work && fallback.is_none()) {
                let account = Rc::make_mut(account);
                later.leave_out_undone(account);
                lead.renamed = later.amend(account);
            }
            if let Some(account) = &own {
                later.add(account);
            }
            match (leads_on, has_work) {
                (true, _) => leads.push(lead),
                (false, true) => {}
                (false, false) => _ = fallback.get_or_insert(lead),
            }
            if leads.len() == MAX_LEADS {
                break;
            }
        }
        if leads.is_empty() {
            leads.extend(fallback);
        }
        let mut told = leads.into_iter().map(|lead| self.lead(known, lead, memory, notes)).collect::<Result<Vec<_>>>()?;
        let open = known.map(|known| self.open(known, &told)).transpose()?.unwrap_or_default();
        // Open items of sessions before the last have a section of their own.
        told.iter_mut().skip(1).for_each(|lead| lead.settle(|_| true));
        Ok((told, open))
    }

    fn lead(
        &self,
        known: Option<&IndexedProject<'_>>,
        lead: Lead<'_>,
        memory: &ClientMemory,
        notes: &HashSet<String>,
    ) -> Result<LeadSession> {
        let age = self.asked.now - lead.last_at;
        let reply_chars = [OLD_REPLY, OLDER_REPLY].iter().find(|(than, _)| age > *than).map_or(REPLY_CHARS, |(_, chars)| *chars);
        let mut told = LeadSession {
            session: lead.id.to_owned(),
            when: local(Some(lead.last_at), self.config),
            title: lead.digested.and_then(|one| one.title.clone()).unwrap_or_default(),
            goes_on: lead.account.as_ref().is_some_and(|account| account.goes_on),
            undigested: lead.undigested,
            digest: None,
            by: "a model",
            account: lead.account.map(Rc::unwrap_or_clone),
            items: ItemStates::default(),
            task_ids: Vec::new(),
            settled: Vec::new(),
            since: Vec::new(),
            renamed: lead.renamed,
            reply_chars,
        };
        let stale = self.is_stale(lead.last_at);
        if let (Some(known), Some(one)) = (known, lead.digested) {
            let states = known.store.item_states(one.pk)?;
            let items = known.store.open_items_of(one.pk)?;
            let closings = known.store.closings_told(one.pk)?;
            // What no digest covers yet is newer than what a model said before it.
            if one.by_model && !lead.undigested {
                if let Some(stored) = known.store.digest_of(one.pk)? {
                    told.by = claimed_by(&stored.summarizer);
                    told.digest = Some(stored.digest);
                }
                let is_told_elsewhere = |state: &&ItemState| state.closed.is_some() || notes.contains(&state.id);
                told.settled.extend(states.0.iter().filter(is_told_elsewhere).map(|state| state.own.clone()));
                told.settle(|text| stale || is_offer(text));
                told = told.without(|text| memory.says(text));
            }
            if let Some(account) = &mut told.account {
                let item_of = |task: &str| items.iter().find(|item| is_task(&item.text, task));
                let with_id = |task: &str| item_of(task).map(|item| TaskItem::new(task, &item.id, &states));
                told.task_ids = account.open.iter().filter_map(OpenEnd::task).filter_map(with_id).collect();
                let is_closed = |item: &ListedItem| states.is_closed(&item.id);
                account.leave_out_tasks(|task| {
                    item_of(task).is_some_and(is_closed) || closings.iter().any(|closing| is_task(&closing.text, task))
                });
            }
            let closings = closings.into_iter().filter(|closing| closing.at > Some(lead.last_at));
            told.since.extend(closings.map(|closing| closing.told(|at| day(at, self.config))));
            told.items = states;
        }
        if let Some(account) = &mut told.account {
            account.leave_out_tasks(|_| stale);
            if let Some(known) = known.filter(|_| lead.undigested) {
                // What its digest holds has its ids by now.
                let digested = std::mem::take(&mut told.task_ids);
                let began_at = account.turns.iter().find_map(|turn| turn.at).unwrap_or(lead.last_at);
                told.task_ids = continue_lives(account, known.store, self.key, began_at)?;
                told.task_ids.retain(|item| digested.iter().all(|one| one.task != item.task));
                told.task_ids.extend(digested);
            }
            let noted: Vec<&TaskItem> = told.task_ids.iter().filter(|item| notes.contains(&item.id)).collect();
            account.leave_out_tasks(|task| noted.iter().any(|item| item.task == task));
        }
        if let (Some(known), Some(account)) = (known, &told.account) {
            let said = statements_told(account, told.digest.as_ref());
            let since = known.came_since(lead.id, lead.last_at, &said)?;
            let lines = since.iter().map(|one| one.told(|at| day(at, self.config)));
            let more: Vec<String> = lines.filter(|line| !told.since.contains(line)).collect();
            told.since.extend(more);
        }
        Ok(told)
    }
}
