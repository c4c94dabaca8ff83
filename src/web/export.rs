//! The same pages as files: a folder that a browser opens without a server, or that a private web server hands out.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use crate::app::asker::Asker;
use crate::app::health::KnownTimers;
use crate::app::list::{ListRequest, list};
use crate::app::notes::{NoteList, list_notes};
use crate::app::project_overview::known_projects;
use crate::config::Config;
use crate::model::note::EVERYWHERE;
use crate::web::addresses;
use crate::web::export_folder::ExportFolder;
use crate::web::layout::{Page, document, home};
use crate::web::pages;
use crate::web::pages::sessions::Narrowing;
use crate::web::router::ASSETS;
use crate::web::viewer::{Purpose, Viewer};

/// What was written, and what went.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exported {
    pub(crate) pages: usize,
    /// Files of earlier exports, of what is not shown any more.
    pub(crate) deleted: usize,
}

/// Writes all pages into a folder, which is made, or may hold an earlier export: of that nothing stays that is not written again.
///
/// # Errors
/// When the folder holds something else, or cannot be written; or when there is no memory yet.
pub(crate) fn export(config: &Config, folder: &Path) -> Result<Exported> {
    let asker = Asker::here(config);
    let timers = KnownTimers::default();
    let viewer = Viewer::new(config, &asker, asker.memory()?, Purpose::Exported, &timers);
    let mut folder = ExportFolder::open(folder)?;
    for (address, _, text) in ASSETS {
        folder.put(address, text)?;
    }
    let mut count = 0;
    let mut write = |page: &Page| -> Result<()> {
        let base = match addresses::depth(&page.address) {
            0 => "./".to_owned(),
            deep => "../".repeat(deep),
        };
        folder.put(&page.address, &document(page, &base, &viewer).into_string())?;
        count += 1;
        Ok(())
    };
    let first = pages::day::newest(&viewer)?;
    write(&Page { address: home(false).to_owned(), ..first })?;
    write(&pages::days::days(&viewer)?)?;
    write(&pages::sessions::sessions(&viewer, &Narrowing::default())?)?;
    write(&pages::projects::projects(&viewer)?)?;
    write(&pages::open_items::open_items(&viewer)?)?;
    write(&pages::told::told(&viewer)?)?;
    write(&pages::status::status_page(&viewer)?)?;
    let mut weeks = BTreeSet::new();
    for day in viewer.days(None, usize::MAX - 1)?.days {
        pages::day::day(&viewer, day.date)?.iter().try_for_each(&mut write)?;
        weeks.insert(addresses::week_name(day.date));
    }
    for week in weeks {
        pages::week::week(&viewer, &week)?.iter().try_for_each(&mut write)?;
    }
    let mut notes = notes_of(&viewer, EVERYWHERE)?;
    for project in known_projects(&viewer.memory)? {
        notes.extend(notes_of(&viewer, &project.key)?);
        pages::project::project(&viewer, &addresses::project_name(&project.key))?.iter().try_for_each(&mut write)?;
    }
    let all = list(&viewer.memory, config, &ListRequest { project: None, client: None, since: None, skip: 0, limit: usize::MAX })?;
    for one in &all.sessions {
        write(&pages::session::session(&viewer, &one.session)?)?;
        write(&pages::rows::rows(&viewer, &one.session)?)?;
    }
    notes.iter().try_for_each(|id| write(&pages::note::note(&viewer, id)?))?;
    Ok(Exported { pages: count, deleted: folder.finish()? })
}

/// The ids of the notes that a project shows.
fn notes_of(viewer: &Viewer<'_>, project: &str) -> Result<BTreeSet<String>> {
    let asked = NoteList { project: project.to_owned(), kind: None, tags: Vec::new() };
    Ok(list_notes(&viewer.memory, &asked)?.into_iter().map(|note| note.id).collect())
}
