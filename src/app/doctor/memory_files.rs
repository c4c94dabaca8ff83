//! `recall doctor --memory`: what in the memory files of Claude's is out of date, as far as recall can know: lines that a later session
//! overtakes, that name a file which is not there, or a topic file which is gone. Nothing is written: a diff proposes to prune the index file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use crate::analyze::memory_lines::{bare, overtaken_lines, paths_in, topics_in};
use crate::app::filter::ProjectFilter;
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::inputs::client_memory::{INDEX_NAME, read};
use crate::model::memory_file::MemoryFile;
use crate::model::since_then::Statement;
use text::clean::without_controls;
use text::unified_diff::removal;
use transcripts::privacy::Sanitizer;
use transcripts::session::Millis;

#[derive(Debug, Serialize)]
pub(crate) struct MemoryReply {
    /// Those that have such a file, by key.
    pub(crate) projects: Vec<ProjectReply>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ProjectReply {
    /// The project's key.
    pub(crate) project: String,
    /// How many of its files were looked at.
    pub(crate) files: usize,
    pub(crate) findings: Vec<MemoryFinding>,
    /// What prunes its index files of the lines found there; empty if there are none.
    pub(crate) diff: String,
}

/// A line that is out of date.
#[derive(Debug, Serialize)]
pub(crate) struct MemoryFinding {
    /// Where the file lies.
    pub(crate) path: String,
    /// From 1 on.
    pub(crate) line: usize,
    /// As the file has it.
    pub(crate) text: String,
    #[serde(flatten)]
    pub(crate) what: OutOfDate,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum OutOfDate {
    /// `by`: who said what is so instead, and when.
    Overtaken { by: String },
    /// A path that is not in the project's folder.
    MissingPath { named: String },
    /// A topic file that is not beside it.
    MissingTopic { named: String },
}

impl OutOfDate {
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Overtaken { by } => format!("since then: {by}"),
            Self::MissingPath { named } => format!("`{named}` is not in the project's folder"),
            Self::MissingTopic { named } => format!("there is no {named} beside it"),
        }
    }
}

/// A file as it is now, and which of its lines may be shown.
struct LiveFile {
    file: MemoryFile,
    text: String,
    shown: Vec<bool>,
}

impl LiveFile {
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().filter(|(at, _)| self.shown[*at])
    }
}

/// # Errors
/// When the index cannot be read, or the glob means nothing.
pub(crate) fn examine(memory: &OpenMemory, config: &Config, project: Option<&str>) -> Result<MemoryReply> {
    let filter = ProjectFilter::new(project, config)?;
    let sanitizer = config.sanitizer()?;
    let mut by_project: BTreeMap<String, Vec<LiveFile>> = BTreeMap::new();
    for file in memory.0.memory_files()?.into_iter().filter(|file| filter.fits(&file.project)) {
        if let Some(live) = live(file, config, &sanitizer) {
            by_project.entry(live.file.project.key.clone()).or_default().push(live);
        }
    }
    let projects = by_project.into_iter().map(|(key, files)| of_project(memory, config, key, &files));
    Ok(MemoryReply { projects: projects.collect::<Result<_>>()? })
}

/// The file as it is on disk, unless it is gone or excluded by now, or nothing of it may be shown.
fn live(mut file: MemoryFile, config: &Config, sanitizer: &Sanitizer) -> Option<LiveFile> {
    let path = Path::new(&file.path);
    if config.exclude_transcripts.is_match(path) {
        return None;
    }
    let meta = path.metadata().ok()?;
    let text = read(path)?;
    let clean: Option<BTreeSet<String>> = sanitizer.verbatim(&text)?.map(|shown| shown.lines().map(str::to_owned).collect());
    let may_show = |line: &str| clean.as_ref().is_none_or(|clean| clean.contains(line)) && without_controls(line) == line;
    let mut shown: Vec<bool> = text.lines().map(|line| may_show(line) && !line.contains('\u{fffd}')).collect();
    // Where the file goes on behind what is read, the last line may be half of one.
    if let Some(last) = shown.last_mut().filter(|_| meta.len() > text.len() as u64) {
        *last = false;
    }
    file.at = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_millis() as Millis;
    Some(LiveFile { file, text, shown })
}

fn of_project(memory: &OpenMemory, config: &Config, key: String, files: &[LiveFile]) -> Result<ProjectReply> {
    let mut found: BTreeMap<(usize, usize), OutOfDate> = BTreeMap::new();
    let is_here = Path::new(&key).is_dir();
    for (n, live) in files.iter().enumerate() {
        for (at, line) in live.lines() {
            let missing = missing_topic(live, line).or_else(|| missing_path(&key, line).filter(|_| is_here));
            found.extend(missing.map(|what| ((n, at), what)));
        }
    }
    found.extend(overtaken(memory, config, &key, files)?);
    let diff = files.iter().enumerate().filter(|(_, live)| live.file.name() == INDEX_NAME).map(|(n, live)| {
        let removed: Vec<usize> = found.keys().filter(|(of, _)| *of == n).map(|(_, at)| *at).collect();
        removal(INDEX_NAME, &live.text, &removed, |at| live.shown[at])
    });
    let diff = diff.collect();
    let finding = |((n, at), what): ((usize, usize), OutOfDate)| MemoryFinding {
        path: files[n].file.path.clone(),
        line: at + 1,
        text: files[n].text.lines().nth(at).unwrap_or_default().to_owned(),
        what,
    };
    Ok(ProjectReply { project: key, files: files.len(), findings: found.into_iter().map(finding).collect(), diff })
}

/// A topic file that an index file names and that is gone.
fn missing_topic(live: &LiveFile, line: &str) -> Option<OutOfDate> {
    let folder = Path::new(&live.file.path).parent().filter(|_| live.file.name() == INDEX_NAME)?;
    let is_gone = |named: &&str| folder.join(named).symlink_metadata().is_err();
    topics_in(line).into_iter().find(is_gone).map(|named| OutOfDate::MissingTopic { named: named.to_owned() })
}

/// A path that a line names and that is not there. What begins with no folder of the project is of another one, or no path.
fn missing_path(project: &str, line: &str) -> Option<OutOfDate> {
    let root = Path::new(project);
    let begins_here = |path: &&str| path.split('/').next().is_some_and(|first| root.join(first).is_dir());
    let is_gone = |path: &&str| root.join(path).symlink_metadata().is_err();
    let gone = paths_in(line, project).into_iter().filter(begins_here).find(is_gone);
    gone.map(|named| OutOfDate::MissingPath { named: named.to_owned() })
}

/// The lines that what was said in a session, or noted, after their file was written overtakes, by their places.
fn overtaken(memory: &OpenMemory, config: &Config, key: &str, files: &[LiveFile]) -> Result<Vec<((usize, usize), OutOfDate)>> {
    let mut places = Vec::new();
    let mut lines: Vec<(Millis, String)> = Vec::new();
    for (n, live) in files.iter().enumerate() {
        for (at, line) in live.lines() {
            places.push((n, at));
            lines.push((live.file.at, bare(line)));
        }
    }
    let Some(oldest) = lines.iter().map(|(at, _)| *at).min() else { return Ok(Vec::new()) };
    let later = memory.0.statements_since(key, oldest)?;
    let texts: Vec<(Millis, &str)> = later.iter().map(|one| (one.at, one.text.as_str())).collect();
    let told = overtaken_lines(&lines, &texts).into_iter().map(|one| {
        let by = Statement { text: one.later_sentence, ..later[one.later].clone() };
        (places[one.line], OutOfDate::Overtaken { by: by.told(|at| config.local_time(Some(at), "%Y-%m-%d")) })
    });
    Ok(told.collect())
}
