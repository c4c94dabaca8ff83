//! The pages of days as a client reads them: which there are, and the text of one. Only files in `daily/` that are named after a day are ever
//! listed or read, and nothing that the policy hides.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use jiff::civil::Date;

use crate::app::digest::pages::{shows_hidden, visible_day_page};
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::page_path;
use crate::policy::Policy;

/// Which days.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DaysRequest {
    /// Only days before this one.
    pub(crate) before: Option<Date>,
    pub(crate) limit: usize,
}

/// Days that have a page, the newest first.
#[derive(Debug)]
pub(crate) struct DaysReply {
    pub(crate) days: Vec<WrittenDay>,
    pub(crate) has_more: bool,
}

/// A day that has a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenDay {
    pub(crate) date: Date,
    /// Of what may be seen of its page.
    pub(crate) bytes: u64,
}

/// Whoever reads: what they may see, and the index under that policy. It is opened only where the policy hides anything; otherwise pages
/// are served without it.
pub(crate) struct DayReader<'a, F: FnOnce() -> Result<Option<OpenMemory>>> {
    pub(crate) config: &'a Config,
    pub(crate) policy: Policy,
    pub(crate) open: F,
}

impl<F: FnOnce() -> Result<Option<OpenMemory>>> DayReader<'_, F> {
    /// The days that have a page. Omits days of which the policy shows nothing.
    ///
    /// # Errors
    /// If the index cannot be opened or read.
    pub(crate) fn days(self, asked: DaysRequest) -> Result<DaysReply> {
        let config = self.config;
        let mut days = days_written(&config.data_dir, asked.before);
        if let Some(memory) = self.restricted_memory()? {
            // One more than the limit, to know whether there are more.
            let shown = days.into_iter().filter_map(|day| visible_day(config, &memory, day).transpose());
            days = shown.take(asked.limit + 1).collect::<Result<_>>()?;
        }
        let has_more = days.len() > asked.limit;
        days.truncate(asked.limit);
        Ok(DaysReply { days, has_more })
    }

    /// The page of a day, as markdown; `None` if it has none. A page that shows something hidden is built again from what may be seen. The
    /// user's notes on it, which may mention anything, are then left out.
    ///
    /// # Errors
    /// If the page exists but cannot be read, or the index cannot be.
    pub(crate) fn day(self, date: Date) -> Result<Option<String>> {
        let (config, day) = (self.config, date.to_string());
        match self.restricted_memory()? {
            Some(memory) if shows_hidden(config, &memory, &day)? => visible_day_page(config, &memory, &day),
            _ => read_file(&config.data_dir, date),
        }
    }

    fn restricted_memory(self) -> Result<Option<OpenMemory>> {
        if self.policy.hides_nothing() { Ok(None) } else { (self.open)() }
    }
}

/// A day with the size of what may be seen of its page; `None` if that is nothing.
fn visible_day(config: &Config, memory: &OpenMemory, day: WrittenDay) -> Result<Option<WrittenDay>> {
    let name = day.date.to_string();
    if !shows_hidden(config, memory, &name)? {
        return Ok(Some(day));
    }
    Ok(visible_day_page(config, memory, &name)?.map(|page| WrittenDay { bytes: page.len() as u64, ..day }))
}

/// Days that have a page file, before a given day, newest first.
fn days_written(data_dir: &Path, before: Option<Date>) -> Vec<WrittenDay> {
    let mut days: Vec<WrittenDay> = Vec::new();
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
fn page_of_file(data_dir: &Path, file: &Path) -> Option<WrittenDay> {
    let date = page_path::day_of_page(file)?;
    let meta = file.symlink_metadata().ok()?;
    (file == path_of(data_dir, date) && meta.is_file()).then_some(WrittenDay { date, bytes: meta.len() })
}

fn path_of(data_dir: &Path, date: Date) -> PathBuf {
    data_dir.join(page_path::of_day(&date.to_string()))
}

/// A day's file as written.
fn read_file(data_dir: &Path, date: Date) -> Result<Option<String>> {
    let path = path_of(data_dir, date);
    let cannot = || format!("cannot read {}", path.display());
    let Ok(real) = path.canonicalize() else { return Ok(None) };
    // A symbolic link may point anywhere, even though its name is a date.
    if !real.starts_with(page_path::pages_folder(data_dir).canonicalize().with_context(cannot)?) {
        bail!("{} points outside the pages folder", path.display());
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
        let read = |day: &str| read_file(dir.path(), day.parse().unwrap());
        assert_eq!(read("2026-11-17").unwrap().as_deref(), Some("page"));
        assert!(read("2026-11-18").is_err(), "a link out of the folder");
        for day in ["2026-11-19", "2026-10-17"] {
            assert_eq!(read(day).unwrap(), None, "{day}");
        }
        let days = days_written(dir.path(), None);
        assert_eq!(days, [WrittenDay { date: "2026-11-17".parse().unwrap(), bytes: 4 }]);
        assert_eq!(days_written(&dir.path().join("nowhere"), None), Vec::new());
    }
}
