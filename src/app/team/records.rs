//! `recall team records`: what came of the sessions in transcripts from anywhere and what they took, as the team's server keeps it.
//!
//! ## Invariants
//! - Nothing in the data folder or in a client's folder is read or written. Of the config the sanitizer's rules, exclusions, moved projects, prices and
//!   the time zone count.
//! - Each folder of transcripts is read whole and by itself, into an index of its own, at a fixed time: a session's lines are the same whatever else is
//!   asked for, on every machine with this config.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use walkdir::WalkDir;

use super::projects::TeamProject;
use super::to_share::ToShare;
use crate::app::Completion;
use crate::app::digest::digest_apart;
use crate::config::{Config, TeamConsent};
use crate::model::note::EVERYWHERE;
use crate::store::Reader;
use crate::sys::git_config::remote_of;
use crate::sys::messages::Ui;
use crate::sys::shutdown;
use text::clean::counted;
use transcripts::session::Millis;

/// Behind every transcript, so that each session has settled: the year 2200.
const NOW: Millis = 7_258_118_400_000;
/// How deep transcripts lie in a folder of them.
const MAX_DEPTH: usize = 10;
const SUBAGENTS: &str = "subagents";

/// A record, as a line of JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordLine {
    pub(super) project: String,
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) version: i64,
    pub(super) body: Value,
    pub(super) search: String,
}

pub(crate) struct RecordsRequest<'a> {
    /// Transcripts, folders of them, or folders called `projects` of such folders.
    pub(crate) paths: &'a [PathBuf],
    /// Which folder is which repository.
    pub(crate) projects: Option<&'a Path>,
    /// Threads; one a core where it is not given.
    pub(crate) jobs: Option<usize>,
}

/// Prints the records, sorted.
///
/// # Errors
/// When the config or the list of projects cannot be used, the index cannot be written, or it was asked to stop. Of what cannot be read a warning
/// tells.
pub(crate) fn records(request: &RecordsRequest<'_>, config: &Config, out: &mut impl Write) -> Result<Completion> {
    shutdown::install_handlers();
    config.sanitizer()?;
    let addresses = Addresses::read(request.projects)?;
    let ui = Ui::default();
    let mut all = Lines::default();
    let mut is_whole = true;
    for (folder, asked) in asked_folders(request.paths, &ui) {
        let of_folder = FolderReader { folder: &folder, asked: &asked, config, addresses: &addresses, jobs: request.jobs };
        match of_folder.read(&mut all) {
            Ok(is_read) => is_whole &= is_read,
            // What is wrong with one folder costs no other.
            Err(e) => ui.warn(&format!("cannot make records of {}: {e:#}", folder.display())),
        }
        ensure!(!shutdown::requested(), "stopped: no record was printed");
    }
    for line in all.lines.values() {
        writeln!(out, "{line}")?;
    }
    if all.left_out > 0 {
        let (sessions, folders) = (counted(all.left_out, "session"), counted(all.unknown.len(), "folder"));
        ui.note(&format!("skipped {sessions} of {folders}: neither --projects nor a git remote tells their repository"));
    }
    ui.finish();
    Ok(if is_whole && !ui.warned() { Completion::Done } else { Completion::Partly })
}

/// Which repository a folder is.
struct Addresses(Vec<(String, String)>);

impl Addresses {
    fn read(file: Option<&Path>) -> Result<Self> {
        let Some(file) = file else { return Ok(Self(Vec::new())) };
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let wanted =
            || format!("{}: it has to have lines like \"/home/anna/work/shop\" = \"example.com/acme/shop\"", file.display());
        let lines: BTreeMap<String, String> = toml::from_str(&text).with_context(wanted)?;
        let mut all = Vec::new();
        for (path, address) in lines {
            let path = path.trim_end_matches('/').to_owned();
            let is_address = address.contains('/') && !address.contains("://") && !address.contains(char::is_whitespace);
            ensure!(path.starts_with('/') && is_address && !address.starts_with('/'), wanted());
            all.push((path, address));
        }
        // The longest that fits counts.
        all.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        Ok(Self(all))
    }

    /// Where the repository lies that a project is or lies in, and its address.
    fn of(&self, key: &str) -> Option<(String, String)> {
        let fits = |path: &str| key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let named = self.0.iter().find(|(path, _)| fits(path)).cloned();
        named.or_else(|| Some((key.to_owned(), remote_of(Path::new(key))?)))
    }
}

/// The sessions that were asked for; `None` for all.
type Asked = Option<BTreeSet<String>>;

/// The folders to read, each once. A path that leads to none is told.
fn asked_folders(paths: &[PathBuf], ui: &Ui) -> BTreeMap<PathBuf, Asked> {
    let mut all = BTreeMap::new();
    for path in paths {
        match folders_of(path) {
            Ok(folders) => folders.into_iter().for_each(|(folder, session)| add(&mut all, folder, session)),
            Err(e) => ui.warn(&format!("{e:#}")),
        }
    }
    all
}

fn add(all: &mut BTreeMap<PathBuf, Asked>, folder: PathBuf, session: Option<String>) {
    match (all.entry(folder).or_insert_with(|| Some(BTreeSet::new())), session) {
        (Some(asked), Some(session)) => _ = asked.insert(session),
        (asked, None) => *asked = None,
        (None, _) => {}
    }
}

fn folders_of(path: &Path) -> Result<Vec<(PathBuf, Option<String>)>> {
    let explain = || format!("cannot read {}", path.display());
    let real = path.canonicalize().with_context(explain)?;
    if real.is_file() {
        let (folder, session) = session_of(&real).with_context(|| format!("{} is no transcript of a session", path.display()))?;
        return Ok(vec![(folder, Some(session))]);
    }
    if real.file_name() != Some(OsStr::new("projects")) {
        return Ok(vec![(real, None)]);
    }
    let mut folders = Vec::new();
    for entry in fs::read_dir(&real).with_context(explain)? {
        let folder = entry.with_context(explain)?.path();
        if folder.is_dir() {
            folders.push((folder, None));
        }
    }
    Ok(folders)
}

/// The folder of a transcript, and its session.
fn session_of(file: &Path) -> Option<(PathBuf, String)> {
    let stem = |path: &Path| path.file_stem()?.to_str().map(str::to_owned);
    if let Some(subagents) = file.ancestors().find(|folder| folder.file_name() == Some(OsStr::new(SUBAGENTS))) {
        let session = subagents.parent()?;
        return Some((session.parent()?.to_owned(), session.file_name()?.to_str()?.to_owned()));
    }
    let session = stem(file).filter(|stem| !stem.starts_with("agent-"))?;
    (file.extension()? == "jsonl").then_some((file.parent()?.to_owned(), session))
}

/// What was made so far.
#[derive(Default)]
struct Lines {
    /// By project, id, version and kind: the same session may lie in several folders.
    lines: BTreeMap<(String, String, i64, String, PathBuf), String>,
    /// Sessions of folders that are no known repository, and these folders.
    left_out: usize,
    unknown: BTreeSet<String>,
}

/// Reads one folder of transcripts.
struct FolderReader<'a> {
    folder: &'a Path,
    asked: &'a Asked,
    config: &'a Config,
    addresses: &'a Addresses,
    jobs: Option<usize>,
}

impl FolderReader<'_> {
    /// Returns whether all could be read.
    fn read(&self, all: &mut Lines) -> Result<bool> {
        let apart = tempfile::Builder::new().prefix("recall-").tempdir().context("cannot create a temporary folder")?;
        let client = apart.path().join("client");
        let links = client.join("projects").join(self.folder.file_name().unwrap_or(OsStr::new("root")));
        let ui = Ui::renaming(&links, self.folder);
        if self.link(&links, &ui)? > 0 {
            let config = self.config.apart(apart.path().join("data"), client, NOW);
            let store = digest_apart(&config, self.jobs, &ui)?;
            self.collect(&config, &store, all)?;
        }
        ui.finish();
        Ok(!ui.warned())
    }

    /// Links the transcripts into the folder of a client. Returns how many.
    fn link(&self, links: &Path, ui: &Ui) -> Result<usize> {
        let mut count = 0;
        for entry in WalkDir::new(self.folder).follow_links(true).max_depth(MAX_DEPTH).sort_by_file_name() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(e) => {
                    ui.warn(&format!("cannot read {e}"));
                    continue;
                }
            };
            let path = entry.path();
            let is_transcript = !entry.file_type().is_dir() && path.extension().is_some_and(|ending| ending == "jsonl");
            if !is_transcript || self.config.exclude_transcripts.is_match(path) {
                continue;
            }
            let link = links.join(path.strip_prefix(self.folder)?);
            let explain = || format!("cannot write {}", link.display());
            link.parent().map_or(Ok(()), fs::create_dir_all).with_context(explain)?;
            symlink(path, &link).with_context(explain)?;
            count += 1;
        }
        Ok(count)
    }

    fn collect(&self, config: &Config, store: &Reader, all: &mut Lines) -> Result<()> {
        let projects = self.known_projects(config, store, all)?;
        let to_share = ToShare::sessions_of(&projects, config)?;
        for (id, head) in to_share.of_sessions().filter(|(id, _)| self.is_asked_for(&id.id)) {
            let Some(text) = to_share.text(id)? else { continue };
            let version = head.last_active().unwrap_or_default();
            let line = RecordLine {
                project: id.project.clone(),
                kind: id.kind.clone(),
                id: id.id.clone(),
                version,
                body: text.body,
                search: text.search,
            };
            let key = (id.project.clone(), id.id.clone(), version, id.kind.clone(), self.folder.to_owned());
            all.lines.insert(key, serde_json::to_string(&line)?);
        }
        Ok(())
    }

    /// The projects that are known repositories. The sessions of others are counted.
    fn known_projects(&self, config: &Config, store: &Reader, all: &mut Lines) -> Result<Vec<TeamProject>> {
        let keys = config.project_keys();
        let mut known = Vec::new();
        for head in store.sessions_from_here()? {
            let key = &head.project.key;
            let is_known = known.iter().any(|project: &TeamProject| project.key == *key);
            if is_known || key == EVERYWHERE || config.excludes_folder(key, &keys) || !self.is_asked_for(&head.id) {
                continue;
            }
            // One without a digest may have taken something.
            if store.digest_state(head.pk)?.is_none() && store.used_tokens(&head)?.is_empty() {
                continue;
            }
            let Some((root, address)) = self.addresses.of(key) else {
                all.left_out += 1;
                all.unknown.insert(key.clone());
                continue;
            };
            known.push(TeamProject {
                key: key.clone(),
                root,
                address,
                consent: TeamConsent { share: true, ..TeamConsent::default() },
            });
        }
        Ok(known)
    }

    fn is_asked_for(&self, session: &str) -> bool {
        self.asked.as_ref().is_none_or(|asked| asked.contains(session))
    }
}
