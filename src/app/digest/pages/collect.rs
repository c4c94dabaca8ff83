//! Collects from the index what pages show of a session, for its own page and its entries on the pages of days.

use std::collections::BTreeMap;

use anyhow::Result;

use super::PageWriter;
use crate::analyze::account::SessionAccount;
use crate::app::digest::in_hand::SessionsInHand;
use crate::config::Config;
use crate::model::page_path;
use crate::model::price::{costs_by_model, session_cost};
use crate::model::session_head::SessionHead;
use crate::render::page::{DayEntry, DayEntryInput, PaidDigest, SessionPageInput, date, day_begun, session_links, session_page_of};
use crate::store::Reader;
use crate::store::overtaken::OvertakenBySession;
use crate::store::pages::SessionIds;
use transcripts::session::SessionFacts;
use transcripts::session::{Millis, Tokens};

/// A session's page, and its entries on the pages of days: of its own, and of those on which it went on.
pub(super) struct SessionPage {
    pub(super) path: String,
    pub(super) day: String,
    pub(super) text: String,
    pub(super) entries: BTreeMap<String, DayEntry>,
    pub(super) facts: SessionFacts,
}

impl SessionPage {
    /// `account` is that of the session, where it is at hand.
    pub(super) fn of(shown: &SessionPageInput<'_>, account: Option<SessionAccount>, day: &str, config: &Config) -> Self {
        let account = account.unwrap_or_else(|| SessionAccount::of(shown.session, shown.goes_on));
        let text = session_page_of(shown, &account, &config.time_zone) + &session_links(day);
        let facts = SessionFacts::of(shown.session);
        let entries = DayEntry::of_all_days(shown, account, &facts, &config.time_zone);
        Self { path: page_path::of_session(day, &shown.page), day: day.to_owned(), text, entries, facts }
    }

    /// The days after its own on which it went on.
    pub(super) fn later_days(&self) -> impl Iterator<Item = &String> {
        self.entries.keys().filter(|day| **day != self.day)
    }
}

/// What pages of many sessions are made with, read once for all of them.
#[derive(Default)]
pub(super) struct PageContext {
    /// Every page is written again: none is assumed to keep its path.
    pub(super) all: bool,
    /// Of all sessions, where many are asked for.
    pub(super) ids: Option<SessionIds>,
    pub(super) overtaken: OvertakenBySession,
    /// Sessions that need not be loaded again.
    pub(super) in_hand: SessionsInHand,
}

/// Calls `make` with everything that pages show of a session, its account if that is at hand, and its day; `None` if the session has no
/// digest.
pub(super) fn with_page_data<T>(
    config: &Config,
    store: &Reader,
    context: &PageContext,
    pk: i64,
    make: impl FnOnce(&SessionPageInput<'_>, Option<SessionAccount>, &str) -> T,
) -> Result<Option<T>> {
    let Some(stored) = store.digest_of(pk)? else { return Ok(None) };
    let head = store.session_head(pk)?;
    let goes_on = stored.interim_until.is_some();
    let (session, account) = match context.in_hand.take(pk) {
        Some(at_hand) => (at_hand.session, Some(at_hand.account).filter(|_| !goes_on)),
        None => (store.load_session(&head)?, None),
    };
    let (day, page) = page_of(&head, session.began_at(), config, store, context)?;
    let later = repeating_page(pk, config, store, context)?;
    let shown = SessionPageInput {
        session: &session,
        digest: &stored.digest,
        digest_id: &stored.id,
        summarizer: &stored.summarizer,
        paid: PaidDigest::of(&stored, &head),
        goes_on,
        items: &store.item_states(pk)?,
        overtaken: &context.overtaken.of(store, &head)?,
        costs: costs_by_model(&session.usage, &config.prices),
        costs_by_day: costs_by_day(store, &head, config)?,
        page,
        repeated_by: later.as_deref(),
    };
    Ok(Some(make(&shown, account, &day)))
}

impl PageWriter<'_> {
    /// A session's entry on the page of a day, from stored facts, without loading its records.
    pub(super) fn entry_on_record(&self, pk: i64, day: &str) -> Result<Option<DayEntry>> {
        let (config, store) = (self.config, self.store);
        let Some((path, facts)) = store.facts_of(pk)?.filter(|_| !self.context.all) else { return Ok(None) };
        let Some(stored) = store.digest_of(pk)? else { return Ok(None) };
        let Some(account) = store.account_of(pk)? else { return Ok(None) };
        let head = store.session_head(pk)?;
        let origin = store.origin_of(pk)?;
        let (branch, later) = (store.last_branch(pk)?, repeating_page(pk, config, store, self.context)?);
        let told = DayEntryInput {
            id: &head.id,
            project: &head.project,
            branch: branch.as_deref(),
            facts: &facts,
            digest: &stored.digest,
            summarizer: &stored.summarizer,
            account: &account,
            goes_on: stored.interim_until.is_some(),
            machine: origin.as_ref().map(|origin| origin.name.as_str()),
            items: &store.item_states(pk)?,
            overtaken: &self.context.overtaken.of(store, &head)?,
            costs: costs_by_model(&facts.usage, &config.prices),
            costs_by_day: costs_by_day(store, &head, config)?,
            repeated_by: later.as_deref(),
            page: path.rsplit('/').next().unwrap_or_default(),
        };
        Ok(DayEntry::from_input(day, &told, &config.time_zone))
    }
}

/// What a session cost on each day, if it was active on several; empty otherwise.
fn costs_by_day(store: &Reader, head: &SessionHead, config: &Config) -> Result<BTreeMap<String, (f64, bool)>> {
    let day = |at: Millis| date(at, &config.time_zone);
    let mut usage: BTreeMap<String, BTreeMap<String, Tokens>> = BTreeMap::new();
    let Some(last) = head.last_active().filter(|last| day(*last) != day(head.started_at)) else {
        return Ok(BTreeMap::new());
    };
    for used in store.used_tokens(head)? {
        *usage.entry(day(used.at.unwrap_or(last))).or_default().entry(used.model).or_default() += used.tokens;
    }
    Ok(usage.into_iter().map(|(day, usage)| (day, session_cost(&costs_by_model(&usage, &config.prices)))).collect())
}

/// The day of a session that began at this time by its own records, and the name of its page.
fn page_of(
    head: &SessionHead,
    began: Option<Millis>,
    config: &Config,
    store: &Reader,
    context: &PageContext,
) -> Result<(String, String)> {
    let day = day_begun(began, head.otherwise_at(), &config.time_zone);
    let shares_id8 = context.ids.as_ref().map_or_else(|| store.shares_id8(&head.id), |ids| Ok(ids.shares_id8(&head.id)))?;
    let page = page_path::session_page_name(&head.id, &head.project, &day, shares_id8);
    Ok((day, page))
}

/// Path of the page of a later, near-duplicate session.
fn repeating_page(session: i64, config: &Config, store: &Reader, context: &PageContext) -> Result<Option<String>> {
    let Some(later) = store.repeated_by(session)? else { return Ok(None) };
    if !context.all
        && let Some(path) = store.current_page_of(later)?
    {
        return Ok(Some(path));
    }
    let later = store.session_head(later)?;
    let began = match store.digest_inputs_of(&later)? {
        Some(inputs) => inputs.began,
        None => store.load_session(&later)?.began_at(),
    };
    let (day, page) = page_of(&later, began, config, store, context)?;
    Ok(Some(page_path::of_session(&day, &page)))
}
