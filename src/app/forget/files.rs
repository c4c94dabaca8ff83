//! Forgetting in the files beside the index: the user's notes in pages, replies of the model, logs, marks.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use walkdir::WalkDir;

use crate::app::digest::pages::{NOTES_HEADING, notes_in};
use crate::app::hook_state::log;
use crate::app::orphans;
use crate::config::Config;
use crate::inputs::mark;
use crate::model::page_path;
use crate::store::Reader;
use crate::store::last_run::LastRun;
use crate::store::leftovers::WritingMarker;
use crate::sys::messages::Ui;
use crate::sys::{data_folder, private_files};
use text::phrase::PhraseMatcher;
use transcripts::sqlite_files::LOGS;

/// For each page, how many lines of the user's notes contain the text.
pub(crate) fn count_in_notes(phrase: &PhraseMatcher, config: &Config, ui: &Ui) -> Vec<(String, usize)> {
    let found = pages_on_disk(config).filter_map(|file| {
        let (_, lines) = page_without(phrase, &file, ui)?;
        Some((named(&file, config), lines))
    });
    found.collect()
}

/// Removes those lines. Returns the same counts as [`count_in_notes`].
pub(crate) fn remove_from_notes(phrase: &PhraseMatcher, config: &Config, ui: &Ui) -> Result<Vec<(String, usize)>> {
    let mut found = Vec::new();
    let _writing =
        WritingMarker::begin(&config.data_dir).with_context(|| format!("cannot write in {}", config.data_dir.display()))?;
    for file in pages_on_disk(config) {
        if let Some((text, lines)) = page_without(phrase, &file, ui) {
            private_files::replace(&file, text.as_bytes()).with_context(|| format!("cannot write {}", file.display()))?;
            found.push((named(&file, config), lines));
        }
    }
    Ok(found)
}

/// All pages, whether the index has a record of them or not; no file that somebody else put among them.
fn pages_on_disk(config: &Config) -> impl Iterator<Item = PathBuf> {
    orphans::files(config).filter(|file| page_path::is_of_session(file) || page_path::day_of_page(file).is_some())
}

/// A page as it is named to the user.
fn named(file: &Path, config: &Config) -> String {
    page_path::below(file, &config.data_dir).unwrap_or_else(|| file.display().to_string())
}

/// Does the page say it, above what the user wrote on it?
pub(crate) fn is_said_on(page: &Path, phrase: &PhraseMatcher) -> bool {
    fs::read(page).is_ok_and(|bytes| {
        let page = String::from_utf8_lossy(&bytes);
        phrase.is_in(&page[..page.len() - notes_in(&page).len()])
    })
}

/// The page without the lines of its notes that contain the text, and their number; `None` if there are none.
fn page_without(phrase: &PhraseMatcher, file: &Path, ui: &Ui) -> Option<(String, usize)> {
    let page = match fs::read(file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return None,
        Err(e) => {
            ui.warn(&format!("cannot read {}: {e}: the page stays as it is", file.display()));
            return None;
        }
    };
    let notes = notes_in(&page);
    let (left, lines) = phrase.lines_without(notes);
    let above = &page[..page.len() - notes.len()];
    let text = match above.trim_end().strip_suffix(NOTES_HEADING) {
        // An empty notes section loses its heading, too.
        Some(above) if left.trim().is_empty() => format!("{}\n", above.trim_end()),
        _ => format!("{above}{left}"),
    };
    (lines > 0).then_some((text, lines))
}

/// Whether any page contains the text.
pub(crate) fn any_page_contains(phrase: &PhraseMatcher, config: &Config, store: &Reader) -> Result<bool> {
    Ok(store.pages()?.iter().any(|page| file_contains(phrase, &config.data_dir.join(&page.path))))
}

/// Removes everything that may quote what was forgotten and is not needed any more.
pub(crate) fn remove_traces(config: &Config, sessions: &[String], fits: impl Fn(&str) -> bool) -> Result<()> {
    let dir = &config.data_dir;
    private_files::remove_files(&dir.join(data_folder::REPLIES), |_| true);
    log::remove_lines(dir, |line| fits(line) || sessions.iter().any(|id| line.contains(id)))
        .with_context(|| format!("cannot clean {}", log::path(dir).display()))?;
    for (file, mark) in mark::pending(dir) {
        if mark.is_some_and(|mark| sessions.contains(&mark.session)) {
            let _ = fs::remove_file(file);
        }
    }
    LastRun::forget_reason(dir);
    Ok(())
}

/// Files of the data folder, other than the index, that contain the text.
pub(crate) fn files_containing(phrase: &PhraseMatcher, config: &Config) -> Vec<PathBuf> {
    // The index and its log are searched separately.
    let of_index = |name: &str| name.strip_prefix("recall.db").is_some_and(|end| end.is_empty() || LOGS.contains(&end));
    let index = |path: &Path| path.file_name().and_then(OsStr::to_str).is_some_and(of_index);
    let files = WalkDir::new(&config.data_dir).sort_by_file_name().into_iter().flatten().filter(|e| e.file_type().is_file());
    files.map(|e| e.into_path()).filter(|path| !index(path) && file_contains(phrase, path)).collect()
}

fn file_contains(phrase: &PhraseMatcher, file: &Path) -> bool {
    fs::read(file).is_ok_and(|bytes| phrase.is_in(&String::from_utf8_lossy(&bytes)))
}
