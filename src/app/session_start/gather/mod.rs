//! Collects the content: from the index, from marks of sessions without a digest, and from the ends of transcripts.

mod leads;
mod others;
pub(crate) mod undigested;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter::{from_fn, once};
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use anyhow::Result;
use jiff::civil::Date;

use self::leads::MAX_LOOKED_AT;
use self::others::{Candidate, candidates};
use crate::analyze::account::{LaterEvidence, SessionAccount};
use crate::analyze::rules::Recurring;
use crate::analyze::signal::is_offer;
use crate::analyze::stranger::only_states;
use crate::app::how::at_start;
use crate::app::open_memory::OpenMemory;
use crate::app::rules::{rule_id, rules_of};
use crate::app::session_start::client_memory::ClientMemory;
pub(crate) use crate::app::session_start::gather::undigested::{compacted_session, gather_compacted, is_read_whole};
use crate::app::share::relative;
use crate::config::Config;
use crate::model::author::{Author, signature};
use crate::model::memory_file::MemoryFile;
use crate::model::note::Note;
use crate::model::note::NoteKind;
use crate::model::since_then::SinceThen;
use crate::model::team_file::{MAX_CHARS, TeamFile};
use crate::render::session_start::render;
use crate::render::session_start::{ContextParts, ContextSubject, LeadSession, NoteLine, OpenItemLine, RenderedContext, RuleLine};
use crate::store::Memory;
use crate::store::came_since::CameSince;
use crate::store::last_run::LastRun;
use crate::store::lives::OpenItemLife;
use crate::store::recent::RecentSession;
use crate::sys::projects::Projects;
use text::clean::{one_line, shorten, without_controls};
use transcripts::session::Millis;

/// How long an open item is told after the last session that said it, in milliseconds: 30 days. Older ones are counted.
const OPEN_FOR_MS: Millis = 30 * 24 * 3_600_000;
/// How many sessions to read from the index at a time.
const PAGE_SIZE: usize = 15;
// Leads are looked up in the first page.
const _: () = assert!(MAX_LOOKED_AT <= PAGE_SIZE);
/// Where a statement is that whoever can write to the repository may have written.
const IN_REPOSITORY: &str = "a file in the repository";
/// The most statements of a team that a start tells.
const MAX_TEAM_FILES: usize = 20;
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
    /// Does what no digest covers yet count, and that digests fail? Not where the past is replayed.
    pub(crate) live: bool,
}

/// The context from the index, the marks and the transcripts; without an index, from the other two.
pub(crate) fn gather(config: &Config, memory: Option<&OpenMemory>, asked: &ContextRequest<'_>) -> Result<RenderedContext> {
    match memory {
        Some(OpenMemory(store)) => store.in_snapshot(|| gather_from(config, Some(store), asked)),
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
        Some(store) => store.project_pk(&key)?.map(|project| IndexedProject {
            store,
            project,
            key: &key,
            accounts: RefCell::default(),
            came_since: CameSince::new(store),
        }),
        None => None,
    };
    let gatherer = Gatherer { config, asked, projects: &projects, key: &key };
    let undigested = gatherer.undigested(store, known.as_ref())?;
    let failing = || LastRun::read(&config.data_dir).filter(|_| asked.live).and_then(|run| gatherer.banner(&run));
    let banner = asked.notice.clone().or_else(failing);
    let mut remembered = remembered(config, store, &key, |at| gatherer.is_new(at))?;
    remembered.extend(of_team(config, store, &key, &remembered, |at| gatherer.is_new(at))?);
    let memory = ClientMemory::of(config, &key, asked.cwd);
    remembered.retain(|note| !memory.says(&note.text));
    let first = known.as_ref().map(|known| gatherer.recent(known, None)).transpose()?.unwrap_or_default();
    // As many as there is room for, read a page at a time, each only when the one before it is told.
    let mut last = first.last().cloned();
    let later_pages = from_fn(|| {
        let page = gatherer.recent(known.as_ref()?, Some(last.as_ref()?)).ok()?;
        last = page.last().cloned();
        Some(page)
    });
    let mut all = candidates(undigested, once(first.clone()).chain(later_pages).flatten());
    let newest: Vec<Candidate> = all.by_ref().take(MAX_LOOKED_AT).collect();
    let notes: HashSet<String> = remembered.iter().map(|note| note.id.clone()).collect();
    let (leads, open) = gatherer.leads(known.as_ref(), &newest, &first, &memory, &notes)?;
    let told: Vec<String> = leads.iter().map(|lead| lead.session.clone()).collect();
    let mut later = LaterEvidence::default();
    let others = newest
        .into_iter()
        .chain(all)
        .map_while(|one| gatherer.line(known.as_ref(), &one, &mut later).ok())
        .filter(|line| !told.contains(&line.session));
    let commands = match &known {
        Some(known) if asked.start == StartMode::Blank => at_start(known.store, config, known.project)?,
        _ => None,
    };
    let content = ContextParts {
        about: ContextSubject::Earlier,
        zone: &config.time_zone,
        banner,
        rules: gatherer.rules(known.as_ref(), &memory)?,
        remembered,
        commands,
        leads,
        open: open.lines,
        older: open.older,
        others: Box::new(others),
        sessions: match &known {
            Some(known) if asked.count => known.store.digested_count(known.project)?,
            _ => 0,
        },
    };
    Ok(render(content, asked.max_tokens))
}

/// Notes of the project and notes for all projects: by author (user first), then kind, then newest first. Closed notes are left out.
fn remembered(config: &Config, store: Option<&Memory>, key: &str, is_new: impl Fn(Millis) -> bool) -> Result<Vec<NoteLine>> {
    let mut notes = store.map(|store| store.notes_for(key)).transpose()?.unwrap_or_default();
    // What is due on a day is news from then on.
    let told_from = |note: &Note| note.due().map_or(note.at, |day| begin(day, config).max(note.at));
    let is_due = |note: &Note| note.due().is_some_and(|day| begin(day, config) <= config.now());
    notes.retain(|note| note.closed.is_none() && told_from(note) <= config.now().max(note.at) && is_new(told_from(note)));
    notes.sort_by_key(|note| {
        (!is_due(note), matches!(note.author, Author::Agent { .. }), NoteKind::named(&note.kind).unwrap_or_default())
    });
    let told = |note: Note| NoteLine {
        is_due: is_due(&note),
        when: config.short_day(note.at),
        by: note.author.text(),
        id: note.id,
        kind: note.kind,
        text: note.text,
        is_quoted: false,
    };
    Ok(notes.into_iter().map(told).collect())
}

/// When a day begins.
fn begin(day: Date, config: &Config) -> Millis {
    day.to_zoned(config.time_zone.clone()).map_or(Millis::MAX, |begin| begin.timestamp().as_millisecond())
}

/// What the team keeps in the project's repository and on its server, below the user's own notes and without what these say: each statement once,
/// wherever it comes from. Whoever is named before one is who the server says, or whoever the file in the repository names.
fn of_team(
    config: &Config,
    store: Option<&Memory>,
    key: &str,
    own: &[NoteLine],
    is_new: impl Fn(Millis) -> bool,
) -> Result<Vec<NoteLine>> {
    let mut files = store.map(|store| store.team_files_of(key)).transpose()?.unwrap_or_default();
    // What others left open is theirs to do.
    files.retain(|file| is_new(file.at) && file.open_item_of_team().is_none());
    let plain = |text: &str| shorten(&one_line(&without_controls(text)), MAX_CHARS);
    let told = |file: MemoryFile| {
        let said = TeamFile::read(&file.text);
        let by = match (file.is_from_server(), said.by.is_empty()) {
            (true, _) => format!("your team: {}", said.by),
            (false, true) => IN_REPOSITORY.to_owned(),
            (false, false) => format!("{IN_REPOSITORY}, {}", signature(&said.by)),
        };
        let text = plain(&said.text);
        let at = said.date().map_or(file.at, |day| begin(day, config));
        let (kind, when) = (said.told_kind().to_owned(), config.short_day(at));
        only_states(&said.text).then_some(NoteLine { id: file.id, is_due: false, kind, text, is_quoted: true, by, when })
    };
    // As the user has it, and as it is shared; in one form, for what was taken out of a note left its spaces there.
    let shared = |note: &NoteLine| plain(&relative(&note.text, Path::new(key)));
    let mut said: BTreeSet<String> = own.iter().flat_map(|note| [plain(&note.text), shared(note)]).collect();
    let mut lines: Vec<NoteLine> = files.into_iter().filter_map(told).collect();
    lines.retain(|line| !line.text.is_empty() && said.insert(line.text.clone()));
    lines.truncate(MAX_TEAM_FILES);
    Ok(lines)
}

/// A project that the index knows.
struct IndexedProject<'a> {
    store: &'a Memory,
    project: i64,
    key: &'a str,
    /// Those that were read: leads, open items and lines ask for the same ones.
    accounts: RefCell<HashMap<i64, Option<Rc<SessionAccount>>>>,
    came_since: CameSince<'a>,
}

impl IndexedProject<'_> {
    /// What came after a session of texts that it says.
    fn came_since(&self, session: &str, last_at: Millis, texts: &[&str]) -> Result<Vec<SinceThen>> {
        self.came_since.of((self.key, session), Some(last_at), texts.iter().copied())
    }

    fn account(&self, session: i64) -> Result<Option<Rc<SessionAccount>>> {
        if let Some(known) = self.accounts.borrow().get(&session) {
            return Ok(known.clone());
        }
        let account = self.store.account_of(session)?.map(Rc::new);
        self.accounts.borrow_mut().insert(session, account.clone());
        Ok(account)
    }
}

/// What is open besides what the leads tell.
#[derive(Default)]
struct LeftOpen {
    lines: Vec<OpenItemLine>,
    older: usize,
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

    /// What the user says again and again in the project.
    fn rules(&self, known: Option<&IndexedProject<'_>>, memory: &ClientMemory) -> Result<Vec<RuleLine>> {
        let Some(known) = known else { return Ok(Vec::new()) };
        let line = |rule: Recurring| RuleLine {
            id: rule_id(&rule),
            sessions: rule.sessions(),
            when: self.config.short_day(rule.newest().at),
            text: rule.telling().text.clone(),
        };
        let all = rules_of(known.store, self.key, memory)?.standing;
        Ok(all.into_iter().filter(|rule| self.is_new(rule.newest().at)).map(line).collect())
    }

    fn is_stale(&self, last_at: Millis) -> bool {
        last_at < self.asked.now - OPEN_FOR_MS
    }

    /// What is open in the project, each once in its newest words, without what a lead tells; and how much of it nobody has spoken of for
    /// [`OPEN_FOR_MS`].
    fn open(&self, known: &IndexedProject<'_>, leads: &[LeadSession]) -> Result<LeftOpen> {
        // What a model left open in the second of them is told here.
        let leads = leads.iter().enumerate().filter(|(at, lead)| *at == 0 || lead.digest.is_none()).map(|(_, lead)| lead);
        let leads: Vec<&LeadSession> = leads.collect();
        let told: HashSet<String> = leads.iter().flat_map(|lead| lead.open_ids()).collect();
        // What a lead does not list of its own was done in it since its digest.
        let is_of_lead =
            |item: &OpenItemLife| leads.iter().any(|lead| lead.session == item.session) && !self.is_stale(item.last_at);
        let mut open = known.store.open_lives(known.project)?;
        open.retain(|item| !told.contains(&item.id) && !is_of_lead(item) && !is_offer(&item.text));
        open.retain(|item| self.is_new(item.last_at) && !self.is_asking(&item.session));
        let (older, open): (Vec<_>, Vec<_>) = open.into_iter().partition(|item| self.is_stale(item.last_at));
        let line = |item: OpenItemLife| {
            let since = known.came_since(&item.session, item.last_at, &[&item.text])?;
            let observed = since.iter().find(|one| matches!(one, SinceThen::Observed(_)));
            Ok(OpenItemLine {
                when: day(item.first_at, self.config),
                again: item.first_at < item.last_at,
                doubt: observed.map(|one| one.told(|at| day(at, self.config))),
                id: item.id,
                kind: item.kind,
                text: item.text,
            })
        };
        Ok(LeftOpen { lines: open.into_iter().map(line).collect::<Result<_>>()?, older: older.len() })
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
