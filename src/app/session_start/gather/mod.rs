//! Collects the content: from the index, from marks of sessions without a digest, and from the ends of transcripts.

pub(crate) mod undigested;

use std::iter::{empty, successors};
use std::time::Instant;

use anyhow::Result;

use crate::analyze::signal::is_offer;
use crate::app::session_start::client_memory::ClientMemory;
pub(crate) use crate::app::session_start::gather::undigested::gather_compacted;
use crate::config::Config;
use crate::model::author::Author;
use crate::model::note::NoteKind;
use crate::model::session::Millis;
use crate::render::session_start::render;
use crate::render::session_start::{
    ContextParts, ContextSubject, FullSession, NoteLine, OpenItemLine, RenderedContext, SessionLine,
};
use crate::store::Memory;
use crate::store::last_run::LastRun;
use crate::store::notes::Note;
use crate::store::open_items::Wordings;
use crate::store::recent::RecentSession;
use crate::sys::projects::Projects;

/// How long an open item is shown without being confirmed, in milliseconds.
const OPEN_FOR_MS: Millis = 14 * 24 * 3_600_000;
/// The most sessions shown in full.
const MAX_IN_FULL: usize = 2;
/// How many sessions to take open items from.
const OPEN_ITEM_SESSIONS: usize = 10;
/// How many sessions to read from the index at a time.
const PAGE_SIZE: usize = 30;
/// Failed runs in a row before a session is told about it.
const MIN_FAILURES: u32 = 2;

/// How the asking session starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StartMode {
    /// With an empty context.
    Blank,
    /// With its conversation up to this time: show only what happened elsewhere since.
    Since(Millis),
}

/// A request for a session's context.
pub(crate) struct ContextRequest<'a> {
    pub(crate) cwd: &'a str,
    /// The id of the starting session, which is left out.
    pub(crate) session: Option<&'a str>,
    pub(crate) start: StartMode,
    pub(crate) max_tokens: usize,
    pub(crate) now: Millis,
    /// When to stop reading transcripts.
    pub(crate) until: Instant,
    /// Count all sessions of the project, including those without room?
    pub(crate) count: bool,
    /// A notice to the user; takes the place of the one about failing digests.
    pub(crate) notice: Option<String>,
}

/// The context from the index, the marks and the transcripts; without an index, from the other two.
pub(crate) fn gather(config: &Config, store: Option<&Memory>, asked: &ContextRequest<'_>) -> Result<RenderedContext> {
    match store {
        Some(store) => store.in_snapshot(|| gather_from(config, Some(store), asked)),
        None => gather_from(config, None, asked),
    }
}

fn gather_from(config: &Config, store: Option<&Memory>, asked: &ContextRequest<'_>) -> Result<RenderedContext> {
    let projects = config.project_keys();
    if config.excludes_folder(asked.cwd, &projects) {
        return Ok(RenderedContext::default());
    }
    let key = projects.key_of(asked.cwd);
    let known = match store {
        Some(store) => store.project_pk(&key)?.map(|project| IndexedProject { store, project }),
        None => None,
    };
    let gatherer = Gatherer { config, asked, projects: &projects, key: &key };
    let fresh = gatherer.fresh(store, known.as_ref())?;
    let failing = || LastRun::read(&config.data_dir).and_then(|run| gatherer.banner(&run));
    let banner = asked.notice.clone().or_else(failing);
    let mut content = ContextParts {
        about: ContextSubject::Earlier,
        banner,
        remembered: remembered(config, store, &key, |at| gatherer.is_new(at))?,
        fresh,
        told: Vec::new(),
        open: Vec::new(),
        earlier: Box::new(empty()),
        sessions: 0,
    };
    let memory = ClientMemory::of(config, &key, asked.cwd);
    content.remembered.retain(|note| !memory.says(&note.text));
    let Some(known) = known else { return Ok(render(content, asked.max_tokens)) };
    let first = gatherer.recent(&known, None)?;
    for one in first.iter().take(MAX_IN_FULL) {
        content.told.extend(gatherer.told(&known, one)?.map(|told| told.without(|text| memory.says(text))));
    }
    content.open = gatherer.open(&known, &first, content.told.first())?;
    // Open items of sessions before the last have a section of their own.
    content.told.iter_mut().skip(1).for_each(|told| told.settle(|_| true));
    content.sessions = if asked.count { known.store.digested_count(known.project)? } else { 0 };
    // As many as there is room for, read a page at a time.
    let pages = successors(Some(first), |page| gatherer.recent(&known, page.last()).ok().filter(|next| !next.is_empty()));
    content.earlier = Box::new(pages.flatten().map_while(|one| gatherer.line(&known, &one).ok().flatten()));
    Ok(render(content, asked.max_tokens))
}

/// Notes of the project and notes for all projects: by author (user first), then kind, then newest first. Closed notes are left out.
fn remembered(config: &Config, store: Option<&Memory>, key: &str, is_new: impl Fn(Millis) -> bool) -> Result<Vec<NoteLine>> {
    let mut notes = store.map(|store| store.notes_for(key)).transpose()?.unwrap_or_default();
    notes.retain(|note| is_new(note.at) && note.closed.is_none());
    notes.sort_by_key(|note| (matches!(note.author, Author::Agent { .. }), NoteKind::named(&note.kind).unwrap_or_default()));
    let told = |note: Note| NoteLine {
        when: config.short_day(note.at),
        by: note.author.text(),
        id: note.id,
        kind: note.kind,
        text: note.text,
    };
    Ok(notes.into_iter().map(told).collect())
}

/// A project that the index knows.
struct IndexedProject<'a> {
    store: &'a Memory,
    project: i64,
}

struct Gatherer<'a> {
    config: &'a Config,
    asked: &'a ContextRequest<'a>,
    projects: &'a Projects,
    key: &'a str,
}

impl Gatherer<'_> {
    fn is_new(&self, at: Millis) -> bool {
        match self.asked.start {
            StartMode::Blank => true,
            StartMode::Since(since) => at > since,
        }
    }

    fn is_asking(&self, session: &str) -> bool {
        self.asked.session == Some(session)
    }

    /// The next page of recent sessions.
    fn recent(&self, known: &IndexedProject<'_>, behind: Option<&RecentSession>) -> Result<Vec<RecentSession>> {
        let mut recent = known.store.recent_sessions(known.project, behind, PAGE_SIZE)?;
        recent.retain(|one| !self.is_asking(&one.id) && self.is_new(one.last_at));
        Ok(recent)
    }

    fn told(&self, known: &IndexedProject<'_>, one: &RecentSession) -> Result<Option<FullSession>> {
        let Some(stored) = known.store.digest_of(one.pk)? else { return Ok(None) };
        let settled = known.store.closed_item_ids(one.pk)?;
        let when = local(Some(one.last_at), self.config);
        let mut told =
            FullSession { session: one.id.clone(), when, goes_on: stored.interim_until.is_some(), digest: stored.digest, settled };
        told.settle(is_offer);
        if self.is_stale(one) {
            told.settle(|_| true);
        }
        Ok(Some(told))
    }

    fn is_stale(&self, one: &RecentSession) -> bool {
        one.last_at < self.asked.now - OPEN_FOR_MS
    }

    /// Open items of the sessions before the last one, without those that a later session repeats or closes in other words.
    fn open(&self, known: &IndexedProject<'_>, recent: &[RecentSession], told: Option<&FullSession>) -> Result<Vec<OpenItemLine>> {
        let mut open: Vec<OpenItemLine> = Vec::new();
        let mut wordings = Wordings::default();
        if let Some(told) = told {
            wordings.extend(told.digest.open_items(&told.session).map(|(.., claim)| claim.text.as_str()));
        }
        for one in recent.iter().skip(1).take(OPEN_ITEM_SESSIONS).filter(|one| !self.is_stale(one)) {
            let mut items = known.store.open_items_of(one.pk)?;
            items.retain(|item| item.verified && !is_offer(&item.text));
            let closed = if items.is_empty() { Vec::new() } else { known.store.closed_item_ids(one.pk)? };
            let when = day(one.last_at, self.config);
            // Sessions repeat open items: once closed in one session, an item is closed in all.
            let new = items.iter().filter(|item| !wordings.has(&item.text) && !closed.contains(&item.id));
            open.extend(new.map(|item| OpenItemLine {
                id: item.id.clone(),
                kind: item.kind.clone(),
                text: item.text.clone(),
                when: when.clone(),
            }));
            wordings.extend(items.iter().map(|item| item.text.as_str()));
        }
        Ok(open)
    }

    fn line(&self, known: &IndexedProject<'_>, one: &RecentSession) -> Result<Option<SessionLine>> {
        let when = day(one.last_at, self.config);
        let title = one.title.clone().map_or_else(|| known.store.title_of(one.pk), |title| Ok(Some(title)))?;
        Ok(title.map(|title| SessionLine { session: one.id.clone(), when, title, goes_on: one.goes_on }))
    }

    fn banner(&self, run: &LastRun) -> Option<String> {
        if run.failures < MIN_FAILURES {
            return None;
        }
        let since = run.failing_since.map_or_else(String::new, |at| format!(" since {}", day(at, self.config)));
        let why = run.error.as_deref().unwrap_or("the reason is not known");
        Some(format!("the last {} digests failed{since} ({why}); `recall doctor` says what to do", run.failures))
    }
}

fn local(at: Option<Millis>, config: &Config) -> String {
    config.local_time(at, "%Y-%m-%d %H:%M")
}

fn day(at: Millis, config: &Config) -> String {
    config.local_time(Some(at), "%Y-%m-%d")
}
