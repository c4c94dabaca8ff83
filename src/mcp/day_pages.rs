//! Day pages as resources: `recall://day/2026-11-17`. Only files in `daily/` that are named after a day are ever listed or read.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use jiff::civil::Date;

use super::tools::ToolContext;
use crate::app::digest::pages::{shows_hidden, visible_day_page};
use crate::app::open_memory::OpenMemory;
use crate::model::page_path;

/// Prefix of all our URIs.
const SCHEME: &str = "recall://day/";
/// URI template given to clients.
pub(crate) const TEMPLATE: &str = "recall://day/{date}";
/// Pages listed at once.
pub(crate) const PAGE_SIZE: usize = 50;

/// A day that has a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DayPage {
    pub(crate) date: Date,
    pub(crate) bytes: u64,
}

impl DayPage {
    pub(crate) fn uri(&self) -> String {
        format!("{SCHEME}{}", self.date)
    }
}

/// Days that have a page, before a given day, newest first, and whether there are more. Omits days of which the policy shows
/// nothing.
pub(crate) fn list(site: &ToolContext<'_>, before: Option<Date>) -> Result<(Vec<DayPage>, bool)> {
    let mut days = days_written(&site.config.data_dir, before);
    if let Some(restricted_memory) = restricted_memory(site)? {
        let mut shown = Vec::new();
        for day in days {
            // One more than the limit, to know whether there are more.
            if shown.len() > PAGE_SIZE {
                break;
            }
            let name = day.date.to_string();
            if !shows_hidden(site.config, &restricted_memory, &name)? {
                shown.push(day);
            } else if let Some(page) = visible_day_page(site.config, &restricted_memory, &name)? {
                shown.push(DayPage { bytes: page.len() as u64, ..day });
            }
        }
        days = shown;
    }
    let more = days.len() > PAGE_SIZE;
    days.truncate(PAGE_SIZE);
    Ok((days, more))
}

/// The index, if the policy hides anything; otherwise pages are served without it.
fn restricted_memory(site: &ToolContext<'_>) -> Result<Option<OpenMemory>> {
    if site.policy().hides_nothing() { Ok(None) } else { site.memory_if_there() }
}

/// Days that have a page file, before a given day, newest first.
fn days_written(data_dir: &Path, before: Option<Date>) -> Vec<DayPage> {
    let mut days: Vec<DayPage> = Vec::new();
    for month in entries(&page_path::pages_folder(data_dir)) {
        days.extend(entries(&month).into_iter().filter_map(|file| page_of_file(data_dir, &file)));
    }
    days.retain(|day| before.is_none_or(|before| day.date < before));
    days.sort_by_key(|day| std::cmp::Reverse(day.date));
    days
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// The day of a page file: a regular file at the path of its day.
fn page_of_file(data_dir: &Path, file: &Path) -> Option<DayPage> {
    let date = page_path::day_of_page(file)?;
    let meta = file.symlink_metadata().ok()?;
    (file == path_of(data_dir, date) && meta.is_file()).then_some(DayPage { date, bytes: meta.len() })
}

fn path_of(data_dir: &Path, date: Date) -> PathBuf {
    data_dir.join(page_path::of_day(&date.to_string()))
}

/// The page of a URI; `None` if the URI is not ours or the day has no page. A page that shows something hidden is built again
/// from what may be seen. The user's notes on it, which may mention anything, are then left out.
///
/// # Errors
/// If the page exists but cannot be read.
pub fn read(site: &ToolContext<'_>, uri: &str) -> Result<Option<String>> {
    let Some(date) = uri.strip_prefix(SCHEME).and_then(page_path::parse_day) else { return Ok(None) };
    let day = date.to_string();
    match restricted_memory(site)? {
        Some(restricted_memory) if shows_hidden(site.config, &restricted_memory, &day)? => {
            visible_day_page(site.config, &restricted_memory, &day)
        }
        _ => read_file(&site.config.data_dir, date),
    }
}

/// A day's file as written.
fn read_file(data_dir: &Path, date: Date) -> Result<Option<String>> {
    let path = path_of(data_dir, date);
    let cannot = || format!("cannot read {}", path.display());
    let Ok(real) = path.canonicalize() else { return Ok(None) };
    // A symbolic link may point anywhere, even though its name is a date.
    if !real.starts_with(page_path::pages_folder(data_dir).canonicalize().with_context(cannot)?) {
        bail!("{} leads out of the folder of the pages", path.display());
    }
    fs::read_to_string(&real).with_context(cannot).map(Some)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_pages_of_days_are_read_and_listed() {
        let dir = tempfile::tempdir().unwrap();
        let month = dir.path().join("daily/2026-11");
        fs::create_dir_all(&month).unwrap();
        fs::write(dir.path().join("recall.db"), "secret").unwrap();
        fs::write(month.join("2026-11-17.md"), "page").unwrap();
        fs::write(month.join("2026-10-17.md"), "in another month's folder").unwrap();
        fs::write(month.join("notes.md"), "no day").unwrap();
        symlink("../../recall.db", month.join("2026-11-18.md")).unwrap();
        let read = |uri: &str| {
            uri.strip_prefix(SCHEME).and_then(page_path::parse_day).map_or(Ok(None), |date| read_file(dir.path(), date))
        };
        assert_eq!(read("recall://day/2026-11-17").unwrap().as_deref(), Some("page"));
        assert!(read("recall://day/2026-11-18").is_err(), "a link out of the folder");
        for uri in [
            "recall://day/2026-11-19", "recall://day/2026-10-17", "recall://day/../../recall.db", "recall://day/2026-11-17.md",
            "recall://day/20261117", "recall://day/2026-11-17/", "recall://day/2026-11-17%00", "recall://day/",
            "file:///etc/passwd", "recall://day/+002026-11-17", "recall://day/2026-11-17T00:00",
        ] {
            assert_eq!(read(uri).unwrap(), None, "{uri}");
        }
        assert_eq!(days_written(dir.path(), None).iter().map(DayPage::uri).collect::<Vec<_>>(), ["recall://day/2026-11-17"]);
        assert_eq!(days_written(&dir.path().join("nowhere"), None), Vec::new());
    }
}
