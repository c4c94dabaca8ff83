//! Day pages as resources: `recall://day/2026-11-17`. Only files of `daily/` that are called as a day are ever listed or read.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use jiff::civil::Date;

/// The start of every URI of ours.
const SCHEME: &str = "recall://day/";
/// How a client makes one.
pub const TEMPLATE: &str = "recall://day/{date}";
/// Pages listed at once.
pub const PAGE: usize = 50;

/// A day that has a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day {
    pub date: Date,
    pub bytes: u64,
}

impl Day {
    pub fn uri(&self) -> String {
        format!("{SCHEME}{}", self.date)
    }
}

/// Days with a page before a day, newest first, and whether there are more.
pub fn list(data_dir: &Path, before: Option<Date>) -> (Vec<Day>, bool) {
    let mut days: Vec<Day> = Vec::new();
    for month in entries(&data_dir.join("daily")) {
        days.extend(entries(&month).into_iter().filter_map(|file| day_of(data_dir, &file)));
    }
    days.retain(|day| before.is_none_or(|before| day.date < before));
    days.sort_by_key(|day| std::cmp::Reverse(day.date));
    let more = days.len() > PAGE;
    days.truncate(PAGE);
    (days, more)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// The day of a file that is where its day's page is, and a file.
fn day_of(data_dir: &Path, file: &Path) -> Option<Day> {
    let date = date(file.file_stem()?.to_str()?)?;
    let meta = file.symlink_metadata().ok()?;
    (file == path_of(data_dir, date) && meta.is_file()).then_some(Day { date, bytes: meta.len() })
}

/// A day in the one way it is written.
pub fn date(text: &str) -> Option<Date> {
    text.parse::<Date>().ok().filter(|date| date.to_string() == text)
}

fn path_of(data_dir: &Path, date: Date) -> PathBuf {
    data_dir.join(format!("daily/{}/{date}.md", date.strftime("%Y-%m")))
}

/// The page of a URI; `None` when it is none of ours or that day has none.
///
/// # Errors
/// When the page is there and cannot be read.
pub fn read(data_dir: &Path, uri: &str) -> Result<Option<String>> {
    let Some(date) = uri.strip_prefix(SCHEME).and_then(date) else { return Ok(None) };
    let path = path_of(data_dir, date);
    let cannot = || format!("cannot read {}", path.display());
    let Ok(real) = path.canonicalize() else { return Ok(None) };
    // The name is a date's; what a link makes of it may lie anywhere.
    if !real.starts_with(data_dir.join("daily").canonicalize().with_context(cannot)?) {
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
        let read = |uri: &str| read(dir.path(), uri);
        assert_eq!(read("recall://day/2026-11-17").unwrap().as_deref(), Some("page"));
        assert!(read("recall://day/2026-11-18").is_err(), "a link out of the folder");
        for uri in [
            "recall://day/2026-11-19", "recall://day/2026-10-17", "recall://day/../../recall.db", "recall://day/2026-11-17.md",
            "recall://day/20261117", "recall://day/2026-11-17/", "recall://day/2026-11-17%00", "recall://day/",
            "file:///etc/passwd", "recall://day/+002026-11-17", "recall://day/2026-11-17T00:00",
        ] {
            assert_eq!(read(uri).unwrap(), None, "{uri}");
        }
        let (days, more) = list(dir.path(), None);
        assert_eq!((days.iter().map(Day::uri).collect::<Vec<_>>(), more), (vec!["recall://day/2026-11-17".to_owned()], false));
        assert_eq!(list(&dir.path().join("nowhere"), None), (Vec::new(), false));
    }

    #[test]
    fn many_days_come_in_pages() {
        let dir = tempfile::tempdir().unwrap();
        let first: Date = "2026-01-01".parse().unwrap();
        for n in 0..PAGE as i64 + 3 {
            let path = path_of(dir.path(), first.checked_add(jiff::Span::new().days(n)).unwrap());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "page").unwrap();
        }
        let (newest, more) = list(dir.path(), None);
        assert_eq!((newest.len(), more), (PAGE, true));
        let (rest, more) = list(dir.path(), newest.last().map(|day| day.date));
        assert_eq!((rest.len(), more, rest.last().map(|day| day.date)), (3, false, Some(first)));
    }
}
