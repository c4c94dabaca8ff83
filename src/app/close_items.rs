//! Closes next steps, blockers and to-do notes on request, or opens them again, and lists them.

use anyhow::{Result, bail};
use serde::Serialize;

use crate::analyze::signal::is_offer;
use crate::app::contributor::Contributor;
use crate::app::digest::{open_to_change, refresh_pages};
use crate::app::filter::ProjectFilter;
use crate::app::left_sessions::{LeftSession, left_sessions};
use crate::app::notes::{Refusal, WriteScope, is_todo};
use crate::app::open_memory::OpenMemory;
use crate::app::open_of_team::{OfColleague, open_of_team};
use crate::config::Config;
use crate::model::author::Author;
use crate::model::note::{EVERYWHERE, Note, project_label};
use crate::store::lives::OpenItemLife;
use crate::store::open_items::OpenLife;
use crate::store::{Memory, Writer};
use crate::sys::messages::Ui;
use text::clean::{one_line, without_controls};
use transcripts::session::{Millis, Project};

/// What was last said longer ago is told on request only, in milliseconds, unless it is due on a day.
const RECENT_MS: Millis = 30 * 86_400_000;

/// When something has to be said last, to be told without being asked for.
pub(crate) fn recent_since(now: Millis) -> Millis {
    now.saturating_sub(RECENT_MS)
}

/// Something that can be closed. An item that is one with a note is closed as the note.
enum Closable {
    Item { item: OpenLife, project: String },
    Note(Note),
}

/// The result for one id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ClosingResult {
    pub(crate) id: String,
    /// Whether this call changed its state.
    pub(crate) changed: bool,
    pub(crate) text: String,
}

/// Items to close or open again. All ids are resolved before anything changes.
pub(crate) struct ClosingRequest(Vec<Closable>);

impl ClosingRequest {
    /// Resolves the ids. Fails if one is unknown, ambiguous or cannot be closed.
    pub(crate) fn resolve(ids: &[String], memory: &OpenMemory) -> Result<Self> {
        Ok(Self(ids.iter().map(|id| resolve_one(id, &memory.0)).collect::<Result<_>>()?))
    }

    /// Checks that the writer may do this.
    ///
    /// # Errors
    /// A [`Refusal`] if an item belongs to another project than an agent's own, or an agent would open what the user closed.
    pub(crate) fn check(&self, writer: &Contributor, undo: bool, memory: &OpenMemory) -> Result<()> {
        for target in &self.0 {
            writer.reach.check(target.project())?;
            if undo && writer.reach != WriteScope::AllProjects && target.closer(&memory.0)?.is_some_and(|by| !is_agent(&by)) {
                return Err(Refusal::ClosedByUser(target.id().to_owned()).into());
            }
        }
        Ok(())
    }

    /// Closes the items, or with `undo` opens them again, and brings the pages that list them up to date.
    pub(crate) fn apply(self, writer: &Contributor, undo: bool, config: &Config, ui: &Ui) -> Result<Vec<ClosingResult>> {
        let mut store = open_to_change(config, ui)?;
        let all = self.settle(writer, undo, config.now(), &mut store)?;
        if all.iter().any(|one| one.changed) {
            refresh_pages(config, &mut store, ui)?;
        }
        Ok(all)
    }

    fn settle(self, writer: &Contributor, undo: bool, now: Millis, store: &mut Writer) -> Result<Vec<ClosingResult>> {
        let settle = |target: Closable| {
            let changed = match (&target, undo) {
                (Closable::Item { item, .. }, false) => store.close_item(item, now, &writer.author)?,
                (Closable::Item { item, .. }, true) => store.reopen_item(item)?,
                (Closable::Note(note), false) => store.close_note(note, Some((now, writer.author.clone())))?,
                // As with an item: what a session did stays done.
                (Closable::Note(note), true) => !store.is_done_in_session(note)? && store.close_note(note, None)?,
            };
            Ok(ClosingResult { id: target.id().to_owned(), changed, text: target.text().to_owned() })
        };
        self.0.into_iter().map(settle).collect()
    }
}

/// Something that is open in a project: an item that sessions left, or a note of what is to be done.
#[derive(Debug, Serialize)]
pub(crate) struct OpenLine {
    pub(crate) id: String,
    /// The session whose words these are; `None` of a note.
    #[serde(skip)]
    pub(crate) session: Option<String>,
    /// `next`, `blocker` or `todo`.
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) first_at: Millis,
    pub(crate) last_at: Millis,
    /// The day on which it is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) due: Option<String>,
    /// It is a note for all projects.
    #[serde(skip)]
    pub(crate) is_of_all: bool,
}

/// What is open in a project, the last said first.
#[derive(Debug, Serialize)]
pub(crate) struct OpenProject {
    /// Its key, or what stands for all projects.
    pub(crate) project: String,
    pub(crate) items: Vec<OpenLine>,
    /// Sessions that ended in mid-work, or whose last reply names something as left.
    pub(crate) sessions: Vec<LeftSession>,
    /// What others of the team left open there, by person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) team: Vec<OfColleague>,
}

impl OpenProject {
    /// When something was last said in it, by whomever.
    fn last_at(&self) -> Option<Millis> {
        let of_team = self.team.iter().flat_map(|one| &one.items).map(|item| item.last_at);
        let of_sessions = self.sessions.iter().filter_map(|session| session.at);
        self.items.iter().map(|item| item.last_at).chain(of_team).chain(of_sessions).max()
    }
}

/// All that is open in the projects that a glob means, or in all, and the sessions that were left since then; the project in which something
/// was said last first.
pub(crate) fn open_everywhere(
    memory: &OpenMemory,
    config: &Config,
    project: Option<&str>,
    since: Millis,
) -> Result<Vec<OpenProject>> {
    let filter = ProjectFilter::new(project, config)?;
    let mut left = left_sessions(memory, &filter, since)?;
    let mut all = Vec::new();
    let everywhere = Project { key: EVERYWHERE.to_owned() };
    let projects = memory.0.projects()?.into_iter().map(|(_, project)| project).filter(|project| project.key != EVERYWHERE);
    for one in projects.chain([everywhere]).filter(|project| filter.fits(project)) {
        let mut items = open_in(memory, &one.key)?;
        // Notes for all projects are told of once.
        items.retain(|item| one.key == EVERYWHERE || !item.is_of_all);
        let team = open_of_team(memory, config, &one.key)?;
        let sessions = left.remove(&one.key).unwrap_or_default();
        if !items.is_empty() || !team.is_empty() || !sessions.is_empty() {
            all.push(OpenProject { project: project_label(&one.key).to_owned(), items, sessions, team });
        }
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.last_at()));
    Ok(all)
}

/// All that is open in a project, however old: what is due on a day first, then the last said.
pub(crate) fn open_in(memory: &OpenMemory, project: &str) -> Result<Vec<OpenLine>> {
    let memory = &memory.0;
    let lives = memory.project_pk(project)?.map(|pk| memory.open_lives(pk)).transpose()?.unwrap_or_default();
    let left = lives.into_iter().filter(|item| !is_offer(&item.text));
    let left = left.map(|OpenItemLife { id, kind, text, session, first_at, last_at }| OpenLine {
        id,
        session: Some(session),
        kind,
        text,
        first_at,
        last_at,
        due: None,
        is_of_all: false,
    });
    let todos = memory.notes_for(project)?.into_iter().filter(|note| is_todo(note) && note.closed.is_none());
    let todos = todos.map(|note| OpenLine {
        is_of_all: note.project.key == EVERYWHERE,
        due: note.due().map(|day| day.to_string()),
        session: None,
        id: note.id,
        kind: note.kind,
        text: note.text,
        first_at: note.at,
        last_at: note.at,
    });
    let mut all: Vec<OpenLine> = left.chain(todos).collect();
    // What is due on a day first, then the last said.
    all.sort_by_key(|item| (item.due.is_none(), item.due.clone(), std::cmp::Reverse(item.last_at)));
    Ok(all)
}

fn resolve_one(id: &str, memory: &Memory) -> Result<Closable> {
    if let Some(note) = memory.look_up_note(id)? {
        if !is_todo(&note) {
            bail!("{} is a {}, not an open item: `recall forget --note {0}` deletes it", note.id, note.kind);
        }
        return Ok(Closable::Note(note));
    }
    if let Some(file) = memory.look_up_memory_file(id)?
        && let Some(said) = file.open_item_of_team()
    {
        bail!("{} is an open item of your team's: only {} can close it", file.id, one_line(&without_controls(&said.by)));
    }
    let item = memory.find_open_item(id)?;
    if let Some(note) = memory.note_of_item(&item.id)? {
        return Ok(Closable::Note(note));
    }
    let project = memory.session_head(item.session)?.project.key;
    Ok(Closable::Item { item, project })
}

fn is_agent(author: &Author) -> bool {
    matches!(author, Author::Agent { .. })
}

impl Closable {
    fn id(&self) -> &str {
        match self {
            Self::Item { item, .. } => &item.id,
            Self::Note(note) => &note.id,
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Item { item, .. } => &item.text,
            Self::Note(note) => &note.text,
        }
    }

    fn project(&self) -> &str {
        match self {
            Self::Item { project, .. } => project,
            Self::Note(note) => &note.project.key,
        }
    }

    fn closer(&self, memory: &Memory) -> Result<Option<Author>> {
        match self {
            Self::Item { item, .. } => memory.closed_by(item),
            Self::Note(note) => Ok(note.closed.as_ref().map(|(_, by)| by.clone())),
        }
    }
}
