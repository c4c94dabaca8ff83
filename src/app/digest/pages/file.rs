//! A page's file: replaced atomically, only if its text differs, and with the user's notes kept.

use std::path::Path;

use anyhow::{Context, Result};

use super::PageWriter;
use crate::sys::private_files;

/// Heading below which a page belongs to the user.
pub(crate) const NOTES_HEADING: &str = "## Notes";

impl PageWriter<'_> {
    /// Replaces a page if its text differs, keeping the user's notes below it.
    pub(super) fn put(&mut self, path: &str, text: &str, moved_notes: &str) -> Result<()> {
        self.counts.made += 1;
        let file = self.config.data_dir.join(path);
        let before = read(&file)?;
        let mut notes = notes_in(before.as_deref().unwrap_or_default()).to_owned();
        if !moved_notes.trim().is_empty() && !notes.contains(moved_notes.trim()) {
            notes.push_str(moved_notes);
        }
        let text = if notes.is_empty() { text.to_owned() } else { format!("{text}\n{NOTES_HEADING}\n{notes}") };
        if before.as_deref() == Some(text.as_str()) {
            return Ok(());
        }
        private_files::replace_in_unsynced_folder(&file, text.as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
        self.unsynced.extend(file.parent().map(Path::to_owned));
        self.counts.written += 1;
        Ok(())
    }

    /// Syncs the folders of the pages that were written: from here on these survive a power failure.
    pub(super) fn sync_folders(&mut self) -> Result<()> {
        std::mem::take(&mut self.unsynced).iter().try_for_each(|folder| {
            private_files::sync_folder(folder).with_context(|| format!("cannot write in {}", folder.display()))
        })
    }

    pub(super) fn notes_of(&self, path: &str) -> Result<String> {
        Ok(notes_in(&self.text_of(path)?).to_owned())
    }

    /// The text of a page; none if its file is missing.
    pub(super) fn text_of(&self, path: &str) -> Result<String> {
        Ok(read(&self.config.data_dir.join(path))?.unwrap_or_default())
    }

    pub(super) fn remove(&mut self, path: &str) -> Result<()> {
        let file = self.config.data_dir.join(path);
        // Durable removal: the page may hold forgotten text, and once its record is gone nothing would find the file.
        private_files::remove(&file)?;
        self.store.drop_page(path)
    }
}

fn read(file: &Path) -> Result<Option<String>> {
    Ok(private_files::read_if_there(file)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The text after the notes' heading, whatever the line ending. Text from sessions never starts a heading, so the first match is
/// the user's.
pub(crate) fn notes_in(page: &str) -> &str {
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == NOTES_HEADING {
            return &page[at..];
        }
    }
    ""
}
