//! Sessions without a digest: those that ended since the last run, and the one that is resuming after its context was compacted.
//!
//! They are read from the ends of their transcripts. What was forgotten of them stays forgotten.

use std::iter::empty;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use anyhow::Result;

use super::{Gatherer, IndexedProject, day, local, remembered};
use crate::analyze::account::SessionAccount;
use crate::app::open_memory::OpenMemory;
use crate::app::session_start::client_memory::ClientMemory;
use crate::config::{Config, pause};
use crate::inputs::client_memory::folder_of;
use crate::inputs::mark;
use crate::model::item_state::ItemStates;
use crate::render::session_start::render;
use crate::render::session_start::{ContextParts, ContextSubject, LeadSession, RenderedContext};
use crate::store::Memory;
use crate::store::came_since::CameSince;
use transcripts::privacy::Sanitizer;
use transcripts::privacy::echo::PrivateWords;
use transcripts::session::{Millis, RecordKey, Session};
use transcripts::source::live_session;

/// The most marks to look at, newest first: of sessions that began in this project by the client's folder, and of others, which may have
/// begun in a worktree elsewhere.
const MAX_OWN_MARKS: usize = 10;
const MAX_OTHER_MARKS: usize = 5;
/// The most sessions to read from transcripts.
const MAX_UNDIGESTED: usize = 5;
/// Bytes to read from the end of the transcript of an undigested and of a compacted session.
const UNDIGESTED_TAIL_BYTES: u64 = 96 << 10;
const COMPACTED_TAIL_BYTES: u64 = 4 << 20;

/// A session that ended, whose end no digest covers yet.
#[derive(Debug, Clone)]
pub(super) struct UndigestedSession {
    pub(super) session: String,
    pub(super) last_at: Millis,
    /// From its digest as far as that goes, from the end of its transcript behind that.
    pub(super) account: Rc<SessionAccount>,
}

impl Gatherer<'_> {
    /// Sessions that ended without a digest, newest first, read from the ends of their transcripts.
    pub(super) fn undigested(&self, store: Option<&Memory>, known: Option<&IndexedProject<'_>>) -> Result<Vec<UndigestedSession>> {
        if !self.asked.live {
            return Ok(Vec::new());
        }
        let (project, here) = (folder_of(self.key), folder_of(self.asked.cwd));
        let is_below = |folder: &str| folder.strip_prefix(&project).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        let is_own = |folder: &str| folder == here || is_below(folder);
        let marks = mark::newest_session_ends(&self.config.data_dir, is_own, MAX_OWN_MARKS, MAX_OTHER_MARKS).into_iter();
        let mut ended: Vec<(String, String)> = marks.map(|m| (m.session, m.transcript)).collect();
        if let Some(known) = known {
            ended.extend(known.store.undigested_sessions(known.project, MAX_UNDIGESTED)?.into_iter().map(|u| (u.id, u.transcript)));
        }
        if ended.is_empty() {
            return Ok(Vec::new());
        }
        // Compiling the sanitizer's rules takes time: do it only when there is a transcript to read.
        let sanitizer = self.config.sanitizer()?;
        let mut fresh: Vec<UndigestedSession> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (id, transcript) in &ended {
            if Instant::now() >= self.asked.until || fresh.len() >= MAX_UNDIGESTED {
                break;
            }
            if seen.contains(&id.as_str()) || self.is_asking(id) || self.is_shut_out(store, id) {
                continue;
            }
            seen.push(id);
            let digested = store.map(|store| store.digested_until(id)).transpose()?.flatten();
            fresh.extend(self.read_undigested(store, id, Path::new(transcript), &sanitizer, digested));
        }
        fresh.sort_by_key(|f| std::cmp::Reverse(f.last_at));
        Ok(fresh)
    }

    fn is_shut_out(&self, store: Option<&Memory>, session: &str) -> bool {
        pause::is_noted(&self.config.data_dir, session) || is_shut_out(store, session)
    }

    /// An unreadable transcript gives nothing here; the next digest reports why. A session without new words since its digest gives nothing
    /// either: clients append records of their own when a window is closed.
    fn read_undigested(
        &self,
        store: Option<&Memory>,
        id: &str,
        transcript: &Path,
        sanitizer: &Sanitizer,
        digested: Option<Millis>,
    ) -> Option<UndigestedSession> {
        if self.config.exclude_transcripts.is_match(transcript) {
            return None;
        }
        let key_of = |cwd: &str| self.projects.key_of(cwd);
        let session = live_session::session(
            transcript,
            id,
            UNDIGESTED_TAIL_BYTES,
            sanitizer,
            key_of,
            |key| is_forgotten(store, key),
            private_words(store, id)?,
        )
        .ok()?;
        let session = without_denied_replies(store, session)?;
        let cwd = session.cwd.as_deref()?;
        let last_at = session.last_at()?;
        let fits = session.project.key == self.key
            && !self.config.excludes_folder(cwd, self.projects)
            && self.is_new(last_at)
            && digested.is_none_or(|until| last_at > until);
        if !fits {
            return None;
        }
        let account = SessionAccount::of(&session, false);
        if account.turns.is_empty() {
            return None;
        }
        let account_of = |store: &Memory| store.account_of(store.session_pk(id).ok()??).ok()?;
        let before = store.and_then(account_of);
        let account = match before {
            Some(before) => before.continued(account),
            None => account,
        };
        Some(UndigestedSession { session: id.to_owned(), last_at, account: Rc::new(account) })
    }
}

/// A session whose context was compacted, straight from the end of its transcript; `None` if nothing of it may be told. The index contributes
/// only what was forgotten.
pub(crate) fn compacted_session(
    config: &Config,
    memory: Option<&OpenMemory>,
    transcript: &Path,
    session: &str,
) -> Result<Option<Session>> {
    let store = memory.map(|memory| &memory.0);
    let projects = config.project_keys();
    if pause::is_noted(&config.data_dir, session) || is_shut_out(store, session) {
        return Ok(None);
    }
    let key_of = |cwd: &str| projects.key_of(cwd);
    let Some(private_words) = private_words(store, session) else { return Ok(None) };
    let session = live_session::session(
        transcript,
        session,
        COMPACTED_TAIL_BYTES,
        &config.sanitizer()?,
        key_of,
        |key| is_forgotten(store, key),
        private_words,
    )?;
    let Some(session) = without_denied_replies(store, session) else { return Ok(None) };
    let excluded = session.cwd.as_deref().is_some_and(|cwd| config.excludes_folder(cwd, &projects));
    Ok(Some(session).filter(|session| !excluded && session.has_work()))
}

/// Is a transcript read from its beginning? Turns have their numbers then.
pub(crate) fn is_read_whole(transcript: &Path) -> bool {
    transcript.metadata().is_ok_and(|file| file.len() <= COMPACTED_TAIL_BYTES)
}

/// What a session did before its context was compacted. The index contributes the project's notes, too, which the session got when it
/// started.
pub(crate) fn gather_compacted(
    config: &Config,
    memory: Option<&OpenMemory>,
    session: &Session,
    max_tokens: usize,
) -> Result<RenderedContext> {
    let store = memory.map(|memory| &memory.0);
    let memory = ClientMemory::of(config, &session.project.key, session.cwd.as_deref().unwrap_or_default());
    let account = SessionAccount::of(session, true);
    // Without it the session is told all the same: a start never fails for what it lacks.
    let since = store.and_then(|store| since_own(store, config, session, &account).ok()).unwrap_or_default();
    let lead = LeadSession {
        session: session.id.clone(),
        when: local(session.last_at(), config),
        title: String::new(),
        goes_on: true,
        undigested: false,
        digest: None,
        by: "a model",
        account: Some(account),
        items: ItemStates::default(),
        task_ids: Vec::new(),
        settled: Vec::new(),
        since,
        renamed: Vec::new(),
        reply_chars: usize::MAX,
    };
    let mut remembered = remembered(config, store, &session.project.key, |_| true).unwrap_or_default();
    remembered.retain(|note| !memory.says(&note.text));
    let content = ContextParts {
        about: ContextSubject::Itself,
        zone: &config.time_zone,
        banner: None,
        rules: Vec::new(),
        remembered,
        commands: None,
        leads: vec![lead],
        open: Vec::new(),
        older: 0,
        others: Box::new(empty()),
        sessions: 1,
    };
    Ok(render(content, max_tokens))
}

/// What came meanwhile, in other sessions, of what it says.
fn since_own(store: &Memory, config: &Config, session: &Session, account: &SessionAccount) -> Result<Vec<String>> {
    let since = CameSince::new(store).of((&session.project.key, &session.id), session.last_at(), account.replies())?;
    Ok(since.iter().map(|one| one.told(|at| day(at, config))).collect())
}

/// Was the whole session forgotten, or did it go on in an excluded folder? True if that cannot be determined, so that nothing is shown.
fn is_shut_out(store: Option<&Memory>, session: &str) -> bool {
    store.is_some_and(|store| store.is_shut_out(session).unwrap_or(true) || store.is_excluded(session).unwrap_or(true))
}

/// The hashes of the session's private words; `None` if they cannot be read, and then nothing is shown.
fn private_words(store: Option<&Memory>, session: &str) -> Option<PrivateWords> {
    store.map_or(Some(PrivateWords::default()), |store| store.private_words_by_id(session).ok())
}

/// The session without replies that the user said are not so; `None` if it cannot be read which they are, and then nothing is shown.
fn without_denied_replies(store: Option<&Memory>, mut session: Session) -> Option<Session> {
    if let Some(store) = store {
        let denied = store.denied_replies().ok()?;
        session.empty_replies(|row| denied.has(row));
    }
    Some(session)
}

fn is_forgotten(store: Option<&Memory>, key: RecordKey) -> bool {
    store.is_some_and(|store| store.is_forgotten_row(key).unwrap_or(true))
}
