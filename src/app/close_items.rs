//! Closes next steps, blockers and to-do notes on request, or opens them again.

use anyhow::{Result, bail};
use serde::Serialize;

use crate::app::contributor::Writer;
use crate::app::notes::{Reach, Refused, is_todo};
use crate::model::author::Author;
use crate::model::session::Millis;
use crate::store::notes::Note;
use crate::store::open_items::ListedItem;
use crate::store::{Memory, Store};

/// Something that can be closed.
enum Target {
    Item { item: ListedItem, project: String },
    Note(Note),
}

/// The result for one id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Closed {
    pub id: String,
    /// Whether this call changed its state.
    pub changed: bool,
    pub text: String,
}

/// Items to close or open again. All ids are resolved before anything changes.
pub struct Closing(Vec<Target>);

impl Closing {
    /// Resolves the ids. Fails if one is unknown, ambiguous or cannot be closed.
    pub fn find(ids: &[String], memory: &Memory) -> Result<Self> {
        Ok(Self(ids.iter().map(|id| find(id, memory)).collect::<Result<_>>()?))
    }

    /// Checks that the writer may do this.
    ///
    /// # Errors
    /// A [`Refused`] if an item belongs to another project than an agent's own, or an agent would open what the user closed.
    pub fn check(&self, writer: &Writer, undo: bool, memory: &Memory) -> Result<()> {
        for target in &self.0 {
            writer.reach.check(target.project())?;
            if undo && writer.reach != Reach::Anywhere && target.closer(memory)?.is_some_and(|by| !is_agent(&by)) {
                return Err(Refused::ClosedByUser(target.id().to_owned()).into());
            }
        }
        Ok(())
    }

    /// Closes the items, or with `undo` opens them again.
    pub fn apply(self, writer: &Writer, undo: bool, now: Millis, store: &mut Store) -> Result<Vec<Closed>> {
        let apply = |target: Target| {
            let changed = match (&target, undo) {
                (Target::Item { item, .. }, false) => store.close_item(item, now, &writer.author)?,
                (Target::Item { item, .. }, true) => store.reopen_item(item)?,
                (Target::Note(note), false) => store.close_note(note, Some((now, writer.author.clone())))?,
                (Target::Note(note), true) => store.close_note(note, None)?,
            };
            Ok(Closed { id: target.id().to_owned(), changed, text: target.text().to_owned() })
        };
        self.0.into_iter().map(apply).collect()
    }
}

fn find(id: &str, memory: &Memory) -> Result<Target> {
    if let Some(note) = memory.look_up_note(id)? {
        if !is_todo(&note) {
            bail!("{} is a {}, and nothing that can be done: `recall forget --note {0}` takes it out", note.id, note.kind);
        }
        return Ok(Target::Note(note));
    }
    let item = memory.find_item(id)?;
    let project = memory.session_head(item.session)?.project.key;
    Ok(Target::Item { item, project })
}

fn is_agent(author: &Author) -> bool {
    matches!(author, Author::Agent { .. })
}

impl Target {
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
            Self::Item { item, .. } => memory.closer_of(item),
            Self::Note(note) => Ok(note.closed.as_ref().map(|(_, by)| by.clone())),
        }
    }
}
