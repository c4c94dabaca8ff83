//! Orphaned pages: those whose session the index does not know, because they outlived an earlier index. Search does not find them.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use walkdir::WalkDir;

use crate::app::digest::pages::{notes_in, write_days};
use crate::config::{Config, SummarizerChoice};
use crate::model::digest::WITHOUT_MODEL;
use crate::model::page_path;
use crate::store::{Reader, Writer};
use crate::sys::messages::Ui;
use crate::sys::private_files;
use transcripts::session::{Millis, Project};

/// Limit for reading a page's head, far above its real size.
const MAX_HEAD_BYTES: u64 = 64 << 10;
/// Sessions listed by name.
const MAX_NAMED: usize = 5;

/// A page, and what its head says about its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionPage {
    pub(crate) file: PathBuf,
    pub(crate) session: String,
    pub(crate) project: Project,
    pub(crate) ended_at: Option<Millis>,
    /// Who made its digest.
    pub(crate) summarizer: &'static str,
}

impl SessionPage {
    /// The day whose page lists the session.
    pub(crate) fn day(&self) -> Option<String> {
        page_path::day_in_name(&self.file)
    }

    /// Was the session last active before this moment, by what its page says? To the day, where that is all. Of a renamed page that says nothing, no.
    pub(crate) fn is_older_than(&self, moment: Millis, zone: &TimeZone) -> bool {
        let end_of_day = || Some(self.day()?.parse::<Date>().ok()?.tomorrow().ok()?.to_zoned(zone.clone()).ok()?.timestamp());
        self.ended_at.or_else(|| Some(end_of_day()?.as_millisecond())).is_some_and(|at| at < moment)
    }
}

/// All orphan pages, in the order of their file names.
pub fn find(config: &Config, store: &Reader) -> Result<Vec<SessionPage>> {
    let known: HashSet<String> = store.session_heads()?.into_iter().map(|head| head.id).collect();
    Ok(pages(config).filter(|page| !known.contains(&page.session)).collect())
}

/// Has the index a record of every page of a session? One without is left behind when its session goes.
pub(crate) fn are_recorded(config: &Config, store: &Reader) -> Result<bool> {
    let recorded: HashSet<PathBuf> = store.pages()?.into_iter().map(|page| config.data_dir.join(page.path)).collect();
    Ok(files(config).filter(|file| page_path::is_of_session(file)).all(|file| recorded.contains(&file)))
}

/// Those of these sessions.
pub(crate) fn of_sessions(ids: &[String], config: &Config, store: &Reader) -> Result<Vec<SessionPage>> {
    let mut found = find(config, store)?;
    found.retain(|page| ids.contains(&page.session));
    Ok(found)
}

/// Removes such pages. As with every page, the user's notes move to the day's page. All days that list one are rewritten. That the sessions are
/// not read again is up to the caller.
///
/// # Errors
/// When a page cannot be read, written or removed.
pub(crate) fn remove(orphans: &[SessionPage], config: &Config, store: &mut Writer, ui: &Ui) -> Result<()> {
    if orphans.is_empty() {
        return Ok(());
    }
    let read = |file: &Path| match fs::read(file) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(e).with_context(|| format!("cannot read {}", file.display())),
    };
    let mut days: BTreeMap<String, String> = BTreeMap::new();
    for orphan in orphans {
        // Somebody may have renamed it.
        let day = orphan.day().unwrap_or_else(|| config.local_time(Some(orphan.ended_at.unwrap_or(config.now())), "%Y-%m-%d"));
        days.entry(day).or_default().push_str(notes_in(&read(&orphan.file)?));
    }
    let names: Vec<_> = orphans.iter().filter_map(|orphan| orphan.file.file_name()?.to_str()).collect();
    for file in files(config) {
        let Some(day) = page_path::day_of_page(&file).map(|day| day.to_string()).filter(|day| !days.contains_key(day)) else {
            continue;
        };
        let page = read(&file)?;
        if names.iter().any(|name| page.contains(name)) {
            days.entry(day).or_default();
        }
    }
    // Write the days first, so that whoever is interrupted finds the orphan pages again.
    write_days(config, store, days, ui)?;
    for orphan in orphans {
        private_files::remove(&orphan.file).with_context(|| format!("cannot remove {}", orphan.file.display()))?;
    }
    Ok(())
}

/// All pages of sessions, in the order of their file names.
pub(crate) fn pages(config: &Config) -> impl Iterator<Item = SessionPage> {
    files(config).filter(|file| page_path::is_of_session(file)).filter_map(|file| read(&file))
}

/// All pages, in the order of their file names.
pub(crate) fn files(config: &Config) -> impl Iterator<Item = PathBuf> {
    let files = WalkDir::new(page_path::pages_folder(&config.data_dir)).sort_by_file_name().into_iter().flatten();
    let files = files.filter(|entry| entry.file_type().is_file()).map(|entry| entry.into_path());
    files.filter(|file| file.extension().is_some_and(|e| e == "md"))
}

/// `None` for a file that is not a session page.
fn read(file: &Path) -> Option<SessionPage> {
    let mut lines = BufReader::new(File::open(file).ok()?.take(MAX_HEAD_BYTES)).lines().map_while(Result::ok);
    (lines.next()? == "---").then_some(())?;
    let (mut session, mut project, mut ended_at, mut summarizer) = (None, None, None, WITHOUT_MODEL);
    for line in lines.take_while(|line| line != "---") {
        let text = |value: &str| serde_json::from_str::<String>(value).ok();
        match line.split_once(": ") {
            Some(("session", value)) => session = text(value),
            Some(("project", value)) => project = text(value),
            Some(("summarizer", value)) => summarizer = SummarizerChoice::stored_word(value),
            Some(("ended", value)) => ended_at = value.parse::<jiff::Timestamp>().ok().map(|at| at.as_millisecond()),
            _ => {}
        }
    }
    let project = Project { key: project.unwrap_or_default() };
    Some(SessionPage { file: file.to_owned(), session: session.filter(|id| !id.is_empty())?, project, ended_at, summarizer })
}

/// Describes how many there are, and of which sessions; `None` if there are none.
pub(crate) fn describe(orphans: &[SessionPage]) -> Option<String> {
    let which = match orphans.len() {
        0 => return None,
        1 => "1 session is left only in its page".to_owned(),
        n => format!("{n} sessions are left only in their pages"),
    };
    let mut names: Vec<String> =
        orphans.iter().take(MAX_NAMED).map(|page| text::clean::without_controls(&page.session).to_string()).collect();
    if orphans.len() > MAX_NAMED {
        names.push("...".into());
    }
    Some(format!("{which}, which search does not find: {}", names.join(", ")))
}
