//! Sessions and notes as they are opened: in short, as a page, as data, as stored items, or as the lines of their transcripts.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::Value;

use crate::analyze::account::SessionAccount;
use crate::analyze::overtaken::sentence_with_id;
use crate::app::brief::{brief, known_later, leave_out_closed, no_digest_message, page, statements_told};
use crate::app::notes::{self, NoteRecord};
use crate::app::open_memory::OpenMemory;
use crate::app::raw_lines::{CopyReport, copy};
use crate::config::Config;
use crate::model::digest::{Claim, Digest};
use crate::model::item_state::{Closer, Closing};
use crate::model::memory_file::MemoryFile;
use crate::model::note::Note;
use crate::model::price::{costs_by_model, session_cost};
use crate::model::session_head::SessionHead;
use crate::model::stored_digest::StoredDigest;
use crate::policy::View;
use crate::render::item_list::{ItemSummary, list_items};
use crate::store::Memory;
use crate::store::came_since::CameSince;
#[cfg(feature = "web")]
use crate::store::pages::SessionIds;
use text::clean::{one_line, without_controls};
use text::disarm::disarm;
use transcripts::session::{Millis, OmittedItems, Session, Tokens};

/// How much of a session is told. A note is always told whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// At most 1,000 tokens.
    Brief,
    /// Its whole page.
    Page,
}

/// A session or a note as markdown.
#[derive(Debug, Serialize)]
pub(crate) struct ShownText {
    /// The whole id.
    pub(crate) id: String,
    pub(crate) text: String,
}

/// What an id names.
enum Found {
    Note(Note),
    MemoryFile(MemoryFile),
    Session(SessionHead),
}

impl Found {
    fn of(store: &Memory, id: &str) -> Result<Self> {
        if let Some(note) = store.look_up_note(id)? {
            return Ok(Self::Note(note));
        }
        Ok(match store.look_up_memory_file(id)? {
            Some(file) => Self::MemoryFile(file),
            None => Self::Session(store.find_session(id)?),
        })
    }

    /// The session, whose rows are asked for: none stand behind a note.
    fn with_rows(self) -> Result<SessionHead> {
        match self {
            Self::Session(head) => Ok(head),
            Self::Note(note) => bail!("{} is a note: this works for sessions only", note.id),
            Self::MemoryFile(file) => bail!("{} is a memory file of Claude's: this works for sessions only", file.id),
        }
    }
}

/// # Errors
/// When nothing has this id, several sessions begin with it, nothing was said in the session, or it has no page yet.
pub(crate) fn show(memory: &OpenMemory, config: &Config, id: &str, detail: Detail) -> Result<ShownText> {
    let store = &memory.0;
    let head = match Found::of(store, id)? {
        Found::Note(note) => return Ok(ShownText { text: notes::show(&note, config), id: note.id }),
        Found::MemoryFile(file) => return Ok(ShownText { text: show_memory_file(&file, config), id: file.id }),
        Found::Session(head) => head,
    };
    let text = match detail {
        Detail::Brief => match brief(store, config, &head)? {
            Some(text) => text,
            None => bail!("nothing was said in session {}", head.id),
        },
        Detail::Page => {
            let session = store.load_session(&head)?;
            page(store, config, &head, &digest_of(store, &head)?, &session)? + &made_anew(store, &head, &session)?
        }
    };
    Ok(ShownText { text, id: head.id })
}

/// What a page cannot tell: the hashes that the session's commits have by now.
fn made_anew(store: &Memory, head: &SessionHead, session: &Session) -> Result<String> {
    let account = SessionAccount::of(session, false);
    let later = known_later(store, head)?;
    let lines: String = later.renamed(&account).map(|renamed| format!("- {}\n", renamed.text())).collect();
    Ok(if lines.is_empty() { lines } else { format!("\n## Since then\n\n{lines}") })
}

/// Does this id name something that is here?
///
/// # Errors
/// When it is too short for an id, or fits several.
pub(crate) fn is_here(memory: &OpenMemory, id: &str) -> Result<bool> {
    let store = &memory.0;
    Ok(store.look_up_note(id)?.is_some() || store.look_up_memory_file(id)?.is_some() || store.look_up_session(id)?.is_some())
}

/// A memory file as markdown.
fn show_memory_file(file: &MemoryFile, config: &Config) -> String {
    let line = |text: &str| one_line(&without_controls(text));
    let when = config.local_time(Some(file.at), "%Y-%m-%d %H:%M");
    let (title, project, text) = (line(&file.title()), line(&file.project.key), disarm(&without_controls(&file.text)));
    format!("# {title} · {when} · {project} · {}\n\n{text}\n", file.id)
}

/// A memory file as data.
#[derive(Serialize)]
struct MemoryFileRecord<'a> {
    memory_file: &'a str,
    project: &'a str,
    path: &'a str,
    /// When it was last written, in milliseconds since the Unix epoch.
    at: Millis,
    text: &'a str,
}

/// The whole id of the session that an id, or the beginning of one, names.
///
/// # Errors
/// When no session has this id, or several begin with it.
#[cfg(feature = "web")]
pub(crate) fn whole_id(memory: &OpenMemory, id: &str) -> Result<String> {
    Ok(memory.0.find_session(id)?.id)
}

/// The ids of all sessions, for who looks up many.
#[cfg(feature = "web")]
pub(crate) struct KnownIds(SessionIds);

#[cfg(feature = "web")]
impl KnownIds {
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn of(memory: &OpenMemory) -> Result<Self> {
        Ok(Self(memory.0.session_ids()?))
    }

    /// The whole id of the session of which people see these eight characters, if that is one.
    pub(crate) fn whole(&self, shown: &str) -> Option<&str> {
        self.0.of_id8(shown)
    }

    pub(crate) fn all(&self) -> &[String] {
        self.0.all()
    }
}

/// The session with this id, with all that is loaded of it.
///
/// # Errors
/// When no session has this id, or several begin with it.
pub(crate) fn session_of(memory: &OpenMemory, id: &str) -> Result<Session> {
    memory.0.load_session(&Found::of(&memory.0, id)?.with_rows()?)
}

fn digest_of(store: &Memory, head: &SessionHead) -> Result<StoredDigest> {
    match store.digest_of(head.pk)? {
        Some(stored) => Ok(stored),
        None => bail!(no_digest_message(store, head)?),
    }
}

/// A digested session as data. Times are milliseconds since the Unix epoch.
#[derive(Serialize)]
struct SessionRecord<'a> {
    session: &'a str,
    project: &'a str,
    cwd: &'a Option<String>,
    began_at: Option<Millis>,
    ended_at: Option<Millis>,
    digest_id: &'a str,
    summarizer: &'a str,
    model: &'a Option<String>,
    made_at: Millis,
    digest_cost_usd: Option<f64>,
    waits_for_model: bool,
    interim: bool,
    /// The later session that says nearly the same.
    repeated_by: Option<String>,
    session_cost_usd: f64,
    session_cost_complete: bool,
    prompts: usize,
    usage: &'a BTreeMap<String, Tokens>,
    cost_usd_by_model: BTreeMap<String, Option<f64>>,
    digest: &'a Digest,
    /// Without tasks that were closed since: `open_items` says by whom.
    account: SessionAccount,
    open_items: Vec<ItemRecord>,
    /// What came since of what it says: "since then: Claude in session 4b1c2d3e, 2026-11-19: …".
    since_then: Vec<String>,
    /// What is missing of a session that is too long to be kept whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<&'a OmittedItems>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<ItemSummary>>,
}

/// A session, or a note, as data; with `item_chars` with its items, each with at most so many characters.
///
/// # Errors
/// As [`show`], and when the session has no digest yet.
pub(crate) fn as_data(memory: &OpenMemory, config: &Config, id: &str, item_chars: Option<usize>) -> Result<Value> {
    let store = &memory.0;
    let head = match Found::of(store, id)? {
        Found::Note(note) if item_chars.is_none() => return Ok(serde_json::to_value(NoteRecord::of(&note))?),
        Found::MemoryFile(MemoryFile { id, project, path, at, text, .. }) if item_chars.is_none() => {
            let record = MemoryFileRecord { memory_file: &id, project: &project.key, path: &path, at, text: &text };
            return Ok(serde_json::to_value(record)?);
        }
        found => found.with_rows()?,
    };
    let stored = digest_of(store, &head)?;
    let session = store.load_session(&head)?;
    let costs = costs_by_model(&session.usage, &config.prices);
    let (cost, incomplete) = session_cost(&costs);
    let later = store.repeated_by(head.pk)?.map(|later| store.session_head(later)).transpose()?;
    let mut account = SessionAccount::of(&session, stored.interim_until.is_some());
    leave_out_closed(&mut account, store, head.pk)?;
    Ok(serde_json::to_value(SessionRecord {
        session: &session.id,
        project: &session.project.key,
        cwd: &session.cwd,
        began_at: session.began_at(),
        ended_at: session.last_at(),
        digest_id: &stored.id,
        summarizer: &stored.summarizer,
        model: &stored.model,
        made_at: stored.made_at,
        digest_cost_usd: stored.cost_usd,
        waits_for_model: stored.queued,
        interim: stored.interim_until.is_some(),
        repeated_by: later.map(|later| later.id),
        session_cost_usd: cost,
        session_cost_complete: !incomplete && !session.lacks_usage(),
        prompts: session.count_prompts(),
        usage: &session.usage,
        cost_usd_by_model: costs,
        digest: &stored.digest,
        open_items: open_items(store, &head, &stored.digest)?,
        since_then: since_lines(store, config, &head, &account, &stored)?,
        account,
        left_out: (session.left_out.items > 0).then_some(&session.left_out),
        items: item_chars.map(|chars| list_items(&session, chars)),
    })?)
}

/// What came since of what a session says, a line each.
fn since_lines(
    store: &Memory,
    config: &Config,
    head: &SessionHead,
    account: &SessionAccount,
    stored: &StoredDigest,
) -> Result<Vec<String>> {
    let claims = stored.is_by_model().then_some(&stored.digest);
    let since = CameSince::new(store).of_opened(head, statements_told(account, claims))?;
    Ok(since.iter().map(|one| one.line(|at| config.local_time(Some(at), "%Y-%m-%d"))).collect())
}

/// An open item of a session, and how it stands.
#[derive(Serialize)]
struct ItemRecord {
    id: String,
    kind: &'static str,
    text: String,
    /// When it was first said.
    since: Option<Millis>,
    closed: Option<ClosingRecord>,
}

#[derive(Serialize)]
struct ClosingRecord {
    at: Option<Millis>,
    by: Closer,
}

fn open_items(store: &Memory, head: &SessionHead, digest: &Digest) -> Result<Vec<ItemRecord>> {
    let items = store.item_states(head.pk)?;
    let record = |(own, kind, claim): (String, &'static str, &Claim)| {
        let closed = |closing: &Closing| ClosingRecord { at: closing.at, by: closing.by.clone() };
        ItemRecord {
            id: items.id_of(&own).to_owned(),
            kind,
            text: claim.text.clone(),
            since: items.of(&own).and_then(|state| state.since),
            closed: items.closing_of(&own).map(closed),
        }
    };
    Ok(digest.open_items(&head.id).map(record).collect())
}

/// What is stored of a session, item by item.
pub(crate) struct SessionItems {
    /// The whole id.
    pub(crate) id: String,
    pub(crate) items: Vec<ItemSummary>,
    /// What is missing of a session that is too long to be kept whole.
    pub(crate) left_out: Option<String>,
    /// What a model said of it that no row supports, with its kind.
    pub(crate) unsupported: Vec<(&'static str, String)>,
}

/// The items of a session, each with at most so many characters.
///
/// # Errors
/// When no session has this id, or several begin with it.
pub(crate) fn items(memory: &OpenMemory, id: &str, chars: usize) -> Result<SessionItems> {
    let store = &memory.0;
    let head = Found::of(store, id)?.with_rows()?;
    let session = store.load_session(&head)?;
    let stored = store.digest_of(head.pk)?;
    let unsupported = stored.map_or(Ok(Vec::new()), |stored| unsupported(store, &head, &stored.digest))?;
    Ok(SessionItems { items: list_items(&session, chars), left_out: session.left_out.told(), unsupported, id: head.id })
}

/// What came since of what a session says, a line each, as in [`as_data`]; nothing of one without a digest.
///
/// # Errors
/// As [`items`].
#[cfg(feature = "web")]
pub(crate) fn since_then(memory: &OpenMemory, config: &Config, id: &str) -> Result<Vec<String>> {
    let store = &memory.0;
    let head = Found::of(store, id)?.with_rows()?;
    let Some(stored) = store.digest_of(head.pk)? else { return Ok(Vec::new()) };
    let account = SessionAccount::of(&store.load_session(&head)?, stored.interim_until.is_some());
    since_lines(store, config, &head, &account, &stored)
}

/// The statements of a model's that no row supports, the items it closed without one, and what it says is overtaken without a proof.
fn unsupported(store: &Memory, head: &SessionHead, digest: &Digest) -> Result<Vec<(&'static str, String)>> {
    let claims = digest.left_out().map(|(section, claim)| Ok((section.spec().kind.unwrap_or_default(), claim.text.clone())));
    let closes = digest.closes_left_out.iter().map(|claimed| {
        let item = store.open_item(&claimed.id)?.map(|item| item.text).unwrap_or_default();
        Ok(("closes", format!("{} {item}", claimed.id).trim_end().to_owned()))
    });
    // Only who left something out has to know what all of the project said.
    let said =
        if digest.replaces_left_out.is_empty() { Vec::new() } else { store.statements_since(&head.project.key, Millis::MIN)? };
    let replaces = digest.replaces_left_out.iter().map(|claimed| {
        let text = said.iter().find_map(|one| sentence_with_id(one.by.place(), &one.text, &claimed.id)).unwrap_or_default();
        Ok(("replaces", format!("{} {text}", claimed.id).trim_end().to_owned()))
    });
    claims.chain(closes).chain(replaces).collect()
}

/// Writes the lines of a session's transcripts, as far as these still exist and `view` shows them.
///
/// # Errors
/// When no session has this id, several begin with it, or no line of it is left.
pub(crate) fn raw(memory: &OpenMemory, config: &Config, view: View<'_>, id: &str, out: &mut impl Write) -> Result<CopyReport> {
    let head = Found::of(&memory.0, id)?.with_rows()?;
    let copied = copy(&memory.0, &config.policy(view), config, &head, out)?;
    if copied.rows == 0 {
        let why = if copied.missing.is_empty() {
            "its transcripts contain no more lines of it that may be shown".to_owned()
        } else {
            copied.missing.join("; ")
        };
        bail!("{why}: `recall show {} --full` has what was kept of the session", head.id);
    }
    Ok(copied)
}
