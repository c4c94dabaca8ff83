//! The stored sessions, newest first: which there are, and how far each is digested.

use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;

use crate::app::filter::{ProjectFilter, parse_since};
use crate::app::open_memory::OpenMemory;
use crate::app::running::{PendingEnds, written_at};
use crate::config::Config;
use crate::model::session_head::SessionHead;
use crate::store::Memory;
use text::clean::{id8, shorten};
use transcripts::client::Client;
use transcripts::session::Millis;

/// The most characters of a title that is taken from the first prompt.
const MAX_TITLE_CHARS: usize = 150;

pub(crate) struct ListRequest<'a> {
    /// Only projects that this glob means.
    pub(crate) project: Option<&'a str>,
    /// Only sessions of this client.
    pub(crate) client: Option<Client>,
    /// Only sessions that were active since then, as of `--since`.
    pub(crate) since: Option<&'a str>,
    /// How many of the newest are left out.
    pub(crate) skip: usize,
    pub(crate) limit: usize,
}

#[derive(Debug)]
pub(crate) struct ListReply {
    pub(crate) sessions: Vec<ListedSession>,
    /// How many more there are.
    pub(crate) more: usize,
}

/// A stored session in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ListedSession {
    pub(crate) session: String,
    /// Whose session it is.
    #[serde(rename = "agent")]
    pub(crate) client: Client,
    pub(crate) project: String,
    #[serde(skip)]
    pub(crate) project_name: String,
    pub(crate) began_at: Option<Millis>,
    pub(crate) ended_at: Option<Millis>,
    /// When it was active last, as local date and time.
    pub(crate) when: String,
    pub(crate) title: String,
    pub(crate) state: SessionState,
    /// The machine that it came from, if it is not this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<String>,
    /// Why it has no digest, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

/// How far a session is digested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SessionState {
    /// It was written to a short while ago, and has not ended.
    Running,
    /// Its digest tells how far it was; it goes on.
    SoFar,
    /// The next digest reads what it gained.
    Waiting,
    Digested,
    /// It has none, and will have none as it is.
    NoDigest,
}

/// # Errors
/// When the project or the time cannot be read.
pub(crate) fn list(memory: &OpenMemory, config: &Config, asked: &ListRequest<'_>) -> Result<ListReply> {
    let (filter, since) = (ProjectFilter::new(asked.project, config)?, parse_since(asked.since, config)?);
    let mut heads = memory.0.session_heads()?;
    heads.retain(|head| asked.client.is_none_or(|client| client == head.client));
    heads.retain(|head| filter.fits(&head.project) && head.last_active().is_none_or(|at| at >= since));
    newest_of(memory, config, heads, asked.skip, asked.limit)
}

/// The newest of these sessions, but for so many.
///
/// # Errors
/// If the index cannot be read.
pub(crate) fn newest_of(
    memory: &OpenMemory,
    config: &Config,
    heads: Vec<SessionHead>,
    skip: usize,
    limit: usize,
) -> Result<ListReply> {
    let memory = &memory.0;
    let mut heads = newest_first(memory, heads)?;
    heads.drain(..skip.min(heads.len()));
    let more = heads.len().saturating_sub(limit);
    heads.truncate(limit);
    let ends = PendingEnds::read(config);
    let sessions = heads.iter().map(|head| listed(memory, config, head, &ends)).collect::<Result<_>>()?;
    Ok(ListReply { sessions, more })
}

/// The session that a word means.
pub(crate) struct MeantSession {
    pub(crate) id: String,
    /// Its project, if it was looked for among all because the own one has no session.
    pub(crate) elsewhere: Option<String>,
}

/// The session that a word means: `last` is the newest session of the project `own`, or of all where it has none, `-2` the one before it; any
/// other word is an id itself.
///
/// # Errors
/// When there are not so many sessions.
pub(crate) fn meant(memory: &OpenMemory, own: &str, word: &str) -> Result<MeantSession> {
    let back = match word {
        "last" => 1,
        _ => match word.strip_prefix('-').and_then(|number| number.parse::<usize>().ok()) {
            Some(back) if back > 0 => back,
            _ => return Ok(MeantSession { id: word.to_owned(), elsewhere: None }),
        },
    };
    let mut heads = newest_first(&memory.0, memory.0.session_heads()?)?;
    let has_own = heads.iter().any(|head| head.project.key == own);
    heads.retain(|head| !has_own || head.project.key == own);
    match heads.into_iter().nth(back - 1) {
        Some(head) => Ok(MeantSession { id: head.id, elsewhere: (!has_own).then_some(head.project.key) }),
        None if has_own => bail!("fewer than {back} sessions in this project: see `recall list`"),
        None => bail!("fewer than {back} sessions: see `recall list`"),
    }
}

/// Those sessions in which somebody said something, the newest first.
pub(super) fn newest_first(memory: &Memory, mut heads: Vec<SessionHead>) -> Result<Vec<SessionHead>> {
    let of_nobody = memory.sessions_of_nobody()?;
    heads.retain(|head| !of_nobody.contains(&head.pk));
    heads.sort_by(|a, b| (b.last_active(), &b.id).cmp(&(a.last_active(), &a.id)));
    Ok(heads)
}

fn listed(memory: &Memory, config: &Config, head: &SessionHead, ends: &PendingEnds) -> Result<ListedSession> {
    let state = match memory.digest_state(head.pk)? {
        _ if is_running(memory, config, head, ends)? => SessionState::Running,
        Some(digest) if digest.interim => SessionState::SoFar,
        _ if head.has_grown() => SessionState::Waiting,
        Some(_) => SessionState::Digested,
        None => SessionState::NoDigest,
    };
    let why = if state == SessionState::NoDigest { memory.skip_of(head.pk)? } else { None };
    let began_at = Some(head.started_at).filter(|at| *at != Millis::MAX);
    Ok(ListedSession {
        session: head.id.clone(),
        client: head.client,
        project: head.project.key.clone(),
        project_name: head.project.name().to_owned(),
        began_at,
        ended_at: head.last_at,
        when: config.local_time(head.last_active(), "%Y-%m-%d %H:%M"),
        title: title_of(memory, head)?.unwrap_or_default(),
        state,
        machine: memory.origin_of(head.pk)?.map(|origin| origin.name),
        why,
    })
}

/// The same of the session with this whole id.
///
/// # Errors
/// When there is none.
#[cfg(feature = "web")]
pub(crate) fn title_of_session(memory: &OpenMemory, id: &str) -> Result<Option<String>> {
    title_of(&memory.0, &memory.0.find_session(id)?)
}

/// By what a session is named: its title, or the first words of its first prompt while it has none.
pub(super) fn title_of(memory: &Memory, head: &SessionHead) -> Result<Option<String>> {
    if let Some(title) = memory.title_of(head.pk)? {
        return Ok(Some(title));
    }
    Ok(memory.load_session(head)?.prompts().next().map(|(_, text)| shorten(text, MAX_TITLE_CHARS)))
}

/// Was a transcript of it written a short while ago, with no end since?
fn is_running(memory: &Memory, config: &Config, head: &SessionHead, ends: &PendingEnds) -> Result<bool> {
    let written = memory.source_files(head.pk)?.iter().filter_map(|file| written_at(Path::new(&file.path))).max();
    Ok(written.is_some_and(|at| ends.is_running(&head.id, at, head.ended_at, config.now())))
}

impl ListedSession {
    /// What is worth saying of its state; nothing of one that is digested.
    pub(crate) fn remark(&self) -> Option<&'static str> {
        match self.state {
            SessionState::Running => Some("running"),
            SessionState::SoFar => Some("so far"),
            SessionState::Waiting => Some("waiting"),
            SessionState::NoDigest => Some("no digest"),
            SessionState::Digested => None,
        }
    }

    /// As much of the id as lists show.
    pub(crate) fn id(&self) -> String {
        id8(&self.session)
    }
}
