//! Orphaned pages: those whose session the index does not know, because they outlived an earlier index. Search does not find them.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::Result;
use walkdir::WalkDir;

use crate::config::{Config, SummarizerChoice};
use crate::model::digest::WITHOUT_MODEL;
use crate::model::page_path;
use crate::store::Reader;
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
}

/// All orphan pages, in the order of their file names.
pub fn find(config: &Config, store: &Reader) -> Result<Vec<SessionPage>> {
    let known: HashSet<String> = store.session_heads()?.into_iter().map(|head| head.id).collect();
    Ok(pages(config).filter(|page| !known.contains(&page.session)).collect())
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
