//! `recall share`: what proved right in a project, as files in its repository that a team reviews. Nothing is committed, and nothing is
//! written without being named.
//!
//! ## Invariants
//! What the sanitizer would change is refused, and so is what names a path of a home: once pushed, it cannot be taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::analyze::commands::UsedCommand;
use crate::analyze::failures::Failure;
use crate::app::how;
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::inputs::team_files::{FOLDER, MAX_FILES, read, team_paths};
use crate::model::note::{Note, NoteKind};
use crate::model::team_file::{MAX_CHARS, TeamFile};
use crate::store::failures::MetFailure;
use crate::sys::git_config::user_name;
use text::clean::{id8, one_line, shorten, without_controls};
use text::paths::replace_path;
use transcripts::privacy::Sanitizer;
use transcripts::session::{Millis, said, short_id};
use transcripts::shell::has_check;

const MAX_NAME_CHARS: usize = 60;
/// In how many sessions an error was met before its cure is proposed.
const MIN_SESSIONS: usize = 2;
/// The most commands and cures that are proposed.
const MAX_OF_KIND: usize = 10;
/// Where homes lie on the systems that a team may use.
const HOMES: [&str; 3] = ["/home/", "/Users/", "/root/"];

/// What could be shared of a project.
#[derive(Debug, Serialize)]
pub(crate) struct ShareReply {
    /// The repository.
    pub(crate) project: String,
    pub(crate) proposals: Vec<Proposal>,
    /// The statements that the repository has already, as `recall share` writes them.
    pub(crate) shared: Vec<SharedStatement>,
}

/// A statement that the repository has. It says what the file says, whoever wrote that.
#[derive(Debug, Serialize)]
pub(crate) struct SharedStatement {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) day: String,
    /// Below the repository.
    pub(crate) file: String,
}

/// A statement that proved right.
#[derive(Debug, Serialize)]
pub(crate) struct Proposal {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) day: String,
    pub(crate) evidence: String,
    /// The file that it has or would have, below the repository.
    pub(crate) file: String,
    /// The repository has it in other words.
    pub(crate) changed: bool,
    /// Why it cannot be shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
}

/// What could be shared of the project with this key, beside what is there.
///
/// # Errors
/// When that is no repository, or the index cannot be read.
pub(crate) fn proposals(memory: &OpenMemory, config: &Config, project: &str) -> Result<ShareReply> {
    let root = repository(project)?;
    let all_there = files_there(&root);
    let there: BTreeMap<&str, &(String, TeamFile)> = all_there.iter().map(|one| (one.1.id.as_str(), one)).collect();
    let sanitizer = config.sanitizer()?;
    let mut proposals = Vec::new();
    for file in statements(memory, config, project, &root, &BTreeSet::new())? {
        let known = there.get(file.id.as_str());
        if known.is_some_and(|(_, known)| known.text == file.text) {
            continue;
        }
        let refused = why_not(&file, config, &sanitizer);
        let name = known.map_or_else(|| file.name(), |(name, _)| name.clone());
        proposals.push(Proposal {
            file: format!("{FOLDER}/{name}"),
            changed: known.is_some(),
            refused,
            id: file.id,
            kind: file.kind,
            text: file.text,
            day: file.day,
            evidence: file.evidence,
        });
    }
    let shown = |text: &str| sanitizer.clean(said(text, MAX_CHARS));
    let written = all_there.iter().filter(|(name, file)| file.is_written_as(name));
    let shared = written.map(|(name, file)| SharedStatement {
        id: file.id.clone(),
        kind: file.kind.clone(),
        text: shown(&file.text),
        day: shown(&file.day),
        file: format!("{FOLDER}/{name}"),
    });
    Ok(ShareReply { project: project.to_owned(), proposals, shared: shared.collect() })
}

/// Deletes files that hold statements in the form of [`share`], by their names or ids: all of them, or none if one is not there. Returns them,
/// below the repository.
///
/// # Errors
/// When there is none of that form with such a name or id, or it cannot be deleted.
pub(crate) fn remove(project: &str, names: &[String]) -> Result<Vec<String>> {
    let root = repository(project)?;
    let there = files_there(&root);
    let mut doomed = BTreeSet::new();
    for wanted in names {
        let wanted = wanted.strip_prefix(FOLDER).map_or(wanted.as_str(), |rest| rest.trim_start_matches('/'));
        let fits = |name: &str, file: &TeamFile| name == wanted || file.is_written_as(name) && file.id == wanted;
        let fitting: Vec<_> = there.iter().filter(|(name, file)| fits(name, file)).collect();
        if fitting.is_empty() {
            bail!("no file in {FOLDER}/ has the name or id `{wanted}`: `recall share` lists those that it wrote");
        }
        if let Some((name, _)) = fitting.iter().find(|(name, file)| !file.is_written_as(name)) {
            bail!("{FOLDER}/{name} was not written by `recall share`: delete it yourself");
        }
        doomed.extend(fitting.into_iter().map(|(name, _)| name));
    }
    for name in &doomed {
        let file = root.join(FOLDER).join(name);
        fs::remove_file(&file).with_context(|| format!("cannot delete {}", file.display()))?;
    }
    Ok(doomed.into_iter().map(|name| format!("{FOLDER}/{name}")).collect())
}

/// What was written, and what was not.
pub(crate) struct Written {
    /// The files, below the repository.
    pub(crate) files: Vec<String>,
    /// Ids, each with why it is not shared.
    pub(crate) refused: Vec<(String, String)>,
}

/// Writes the files of these proposals, or of all that are not refused.
///
/// # Errors
/// When one is not known or is refused, or a file cannot be written.
pub(crate) fn share(memory: &OpenMemory, config: &Config, project: &str, ids: &[String]) -> Result<Written> {
    let reply = proposals(memory, config, project)?;
    let root = repository(project)?;
    let mut wanted: Vec<&Proposal> = Vec::new();
    for id in ids {
        let Some(found) = reply.proposals.iter().find(|one| one.id == *id) else {
            bail!("nothing to share has the id `{id}`: `recall share` lists what has");
        };
        if let Some(why) = &found.refused {
            bail!("`{id}` is not shared: {why}");
        }
        wanted.push(found);
    }
    let mut refused = Vec::new();
    if ids.is_empty() {
        wanted.extend(reply.proposals.iter().filter(|one| one.refused.is_none()));
        refused.extend(reply.proposals.iter().filter_map(|one| Some((one.id.clone(), one.refused.clone()?))));
    }
    let by = who(&root, config);
    let folder = root.join(FOLDER);
    if folder.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
        bail!("{} is no folder", folder.display());
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for one in &wanted {
        let Proposal { id, kind, text, day, evidence, file, .. } = one;
        let file = root.join(file);
        let text = TeamFile {
            kind: kind.clone(),
            id: id.clone(),
            by: by.clone(),
            day: day.clone(),
            evidence: evidence.clone(),
            text: text.clone(),
        };
        if file.symlink_metadata().is_ok_and(|meta| !meta.is_file()) {
            bail!("{} is no plain file", file.display());
        }
        fs::write(&file, text.write()).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(Written { files: wanted.into_iter().map(|one| one.file.clone()).collect(), refused })
}

/// What proved right in a project, each with why it cannot be shared, if it cannot. Nothing comes from sessions `without`.
///
/// # Errors
/// When the index cannot be read.
#[cfg(feature = "team")]
pub(crate) fn shareable(
    memory: &OpenMemory,
    config: &Config,
    sanitizer: &Sanitizer,
    project: &str,
    without: &BTreeSet<String>,
) -> Result<Vec<(TeamFile, Option<String>)>> {
    let all = statements(memory, config, project, Path::new(project), without)?;
    let with_why = |file| {
        let why = why_not(&file, config, sanitizer);
        (file, why)
    };
    Ok(all.into_iter().map(with_why).collect())
}

fn repository(project: &str) -> Result<PathBuf> {
    let root = PathBuf::from(project);
    if root.join(".git").symlink_metadata().is_err() {
        bail!("{project} is no git repository: statements are shared as files in one");
    }
    Ok(root)
}

/// The statements that the repository has, with the names of their files.
fn files_there(root: &Path) -> Vec<(String, TeamFile)> {
    let named = |path: &Path| Some((path.file_name()?.to_str()?.to_owned(), TeamFile::read(&read(path)?)));
    team_paths(root, MAX_FILES).iter().filter_map(|file| named(&file.path)).collect()
}

/// What proved right: what the user noted, commands that pass, errors that were met again and cured.
fn statements(
    memory: &OpenMemory,
    config: &Config,
    project: &str,
    root: &Path,
    without: &BTreeSet<String>,
) -> Result<Vec<TeamFile>> {
    let store = &memory.0;
    let day = |at: Option<Millis>| config.local_time(at, "%Y-%m-%d");
    let mut all = Vec::new();
    let is_kept = |note: &Note| {
        let kind = NoteKind::named(&note.kind).unwrap_or_default();
        note.project.key == project
            && note.closed.is_none()
            && note.author.is_user()
            && !matches!(kind, NoteKind::Todo | NoteKind::Preference)
    };
    for note in store.notes_for(project)?.into_iter().filter(is_kept) {
        // As a file gives it back.
        let text = relative(note.text.trim(), root);
        all.push(TeamFile { kind: note.kind, id: note.id, day: day(Some(note.at)), text, ..TeamFile::default() });
    }
    let Some(pk) = store.project_pk(project)? else { return Ok(all) };
    for (used, sessions) in how::steady(store, pk, without)?.into_iter().take(MAX_OF_KIND) {
        let UsedCommand { same, class, line, folder, ran, passed, at, .. } = used;
        let place = if folder.is_empty() { String::new() } else { format!(" in {folder}") };
        all.push(TeamFile {
            kind: "command".to_owned(),
            id: short_id("h", &[&same, &folder]),
            day: day(at),
            evidence: format!("passed {passed} of {ran} times in {sessions} sessions"),
            text: relative(&format!("{}: `{}`{place}", class.name(), one_line(&without_controls(&line))), root),
            ..TeamFile::default()
        });
    }
    all.extend(cures(memory, project, without)?.into_iter().take(MAX_OF_KIND).map(|cure| TeamFile {
        text: relative(&cure.text, root),
        day: day(cure.at),
        ..cure.file
    }));
    Ok(all)
}

struct Cure {
    at: Option<Millis>,
    text: String,
    file: TeamFile,
}

/// Errors that several sessions of the project met and after which something was done and the same check passed, those of most sessions first.
fn cures(memory: &OpenMemory, project: &str, without: &BTreeSet<String>) -> Result<Vec<Cure>> {
    let mut by_signature: BTreeMap<String, Vec<MetFailure>> = BTreeMap::new();
    let counts = |met: &MetFailure| met.project.key == project && !without.contains(&met.session);
    for met in memory.0.all_failures()?.into_iter().filter(counts) {
        by_signature.entry(met.failure.signature.clone()).or_default().push(met);
    }
    let mut cures = Vec::new();
    for (signature, met) in by_signature {
        let mut sessions: Vec<String> = met.iter().map(|one| id8(&one.session)).collect();
        sessions.sort();
        sessions.dedup();
        let Some(last) = met.iter().rev().find(|one| is_cured(&one.failure)) else { continue };
        let Some(passed) = last.failure.passed.as_ref().filter(|_| sessions.len() >= MIN_SESSIONS) else { continue };
        let line = |text: &str| one_line(&without_controls(text));
        let mut text = format!("`{}`\n\nfrom `{}`.", line(&last.failure.line), line(&last.failure.command));
        let between = &passed.between;
        for (label, what) in [("Changed before it passed", &between.changed), ("Run before it passed", &between.ran)] {
            if !what.is_empty() {
                text += &format!(" {label}: {}.", line(what));
            }
        }
        text += &format!(" Then `{}` passed.", line(&passed.command));
        let evidence = format!("sessions {}", sessions.join(", "));
        let file = TeamFile { kind: "cure".to_owned(), id: short_id("f", &[&signature]), evidence, ..TeamFile::default() };
        cures.push((sessions.len(), Cure { at: passed.at, text, file }));
    }
    cures.sort_by_key(|(sessions, cure)| (std::cmp::Reverse(*sessions), cure.file.id.clone()));
    Ok(cures.into_iter().map(|(_, cure)| cure).collect())
}

/// Without anything that was done, or of what is no check, that it passed later says nothing about the error.
fn is_cured(failure: &Failure) -> bool {
    let Some(passed) = &failure.passed else { return false };
    let is_done = !passed.between.changed.is_empty() || !passed.between.ran.is_empty();
    is_done && has_check(&failure.command)
}

/// Paths in the repository, as seen from it.
pub(crate) fn relative(text: &str, root: &Path) -> String {
    replace_path(text, &root.to_string_lossy(), "", ".")
}

/// Why a statement cannot go to others.
pub(crate) fn why_not(file: &TeamFile, config: &Config, sanitizer: &Sanitizer) -> Option<String> {
    let home = config.home.to_string_lossy();
    let whole = file.write();
    if sanitizer.clean(&file.text) != file.text {
        Some("it may hold a secret or something private".to_owned())
    } else if !home.is_empty() && whole.contains(home.as_ref()) || HOMES.iter().any(|home| whole.contains(home)) {
        Some("it contains a path in a home folder".to_owned())
    } else if file.text.chars().count() > MAX_CHARS {
        Some(format!("it has more than {MAX_CHARS} characters"))
    } else {
        None
    }
}

/// Who works in a repository, as git's config there or in the home says; empty if neither does.
fn who(root: &Path, config: &Config) -> String {
    user_name(root, &config.home).map(|name| shorten(&one_line(&without_controls(&name)), MAX_NAME_CHARS)).unwrap_or_default()
}
