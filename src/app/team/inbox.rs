//! What others share, as files below the data folder: in the form of those in a repository, so that a digest takes them in in the same way.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use team::Shared;

use super::state::folder;
use super::to_share::{SESSION, USAGE, told_kind};
use crate::inputs::client_memory::MemoryPath;
use crate::inputs::team_files::{FOLDER, team_paths};
use crate::model::team_file::{MAX_CHARS, TeamFile, is_open_kind};
use crate::sys::git_config::remote_of;
use crate::sys::private_files;
use text::clean::{one_line, shorten, without_controls};

/// How many statements of a project are kept here. The server has the others.
pub(super) const MAX_STATEMENTS: usize = 2_000;
const MAX_OPEN_ITEMS: usize = 500;
const MAX_NAME_CHARS: usize = 60;
/// Where those lie that are open, so that they leave no statement without room.
const OPEN: &str = "open";
const PROJECTS: &str = "projects";

/// The files of what others share of the project with this root, where the user is in a team.
pub(crate) fn files_of(data_dir: &Path, root: &Path) -> Vec<MemoryPath> {
    let Some(address) = remote_of(root) else { return Vec::new() };
    let folder = of_project(data_dir, &address);
    [team_paths(&folder, MAX_STATEMENTS), team_paths(&folder.join(OPEN), MAX_OPEN_ITEMS)].concat()
}

/// Where those of a project lie, by the address of its repository.
fn of_project(data_dir: &Path, address: &str) -> PathBuf {
    let readable: String = address.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let hash = blake3::hash(address.as_bytes()).to_hex();
    folder(data_dir).join(PROJECTS).join(format!("{readable}-{}", &hash[..12]))
}

/// Keeps what another member shares, or removes it if they withdrew it. Returns whether there is something new to read.
///
/// # Errors
/// When a file cannot be written or removed.
pub(super) fn keep(data_dir: &Path, address: &str, shared: &Shared) -> Result<bool> {
    if [SESSION, USAGE].contains(&shared.kind.as_str()) {
        return Ok(false);
    }
    let key = format!("{}\0{}\0{}\0{}", shared.member, shared.machine, shared.kind, shared.id);
    let kind: String = shared.kind.chars().filter(char::is_ascii_alphanumeric).take(MAX_NAME_CHARS).collect();
    // Of nothing that changes with what it says or with who is there.
    let name = format!("{kind}-{}.md", &blake3::hash(key.as_bytes()).to_hex()[..16]);
    let of_project = of_project(data_dir, address);
    let folder = if is_open_kind(&shared.kind) { of_project.join(OPEN) } else { of_project }.join(FOLDER);
    let file = folder.join(name);
    let Some(file_text) = statement(shared) else {
        let was_there = file.exists();
        private_files::remove(&file)?;
        return Ok(was_there);
    };
    private_files::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    private_files::replace_in_unsynced_folder(&file, file_text.as_bytes())
        .with_context(|| format!("cannot write {}", file.display()))?;
    Ok(true)
}

/// The file of a statement; `None` if it says nothing. Whoever shared it is who the server says, whatever is in it.
fn statement(shared: &Shared) -> Option<String> {
    let body = shared.body.as_ref()?;
    let line = |text: &str| shorten(&one_line(&without_controls(text)), MAX_NAME_CHARS);
    let field = |name: &str| line(body.get(name).and_then(|value| value.as_str()).unwrap_or_default());
    let lines: Vec<_> = body.get("text")?.as_str()?.lines().map(without_controls).collect();
    let text = shorten(&lines.join("\n"), MAX_CHARS);
    let file = TeamFile {
        kind: line(told_kind(&shared.kind)),
        id: line(&shared.id),
        by: line(shared.login.as_deref().unwrap_or("somebody who left")),
        day: field("day"),
        evidence: field("evidence"),
        text,
    };
    (!file.text.trim().is_empty()).then(|| file.write())
}

/// Removes what was kept of projects other than these, by address. Returns whether there was any.
///
/// # Errors
/// When a folder cannot be removed.
pub(super) fn keep_only(data_dir: &Path, addresses: &BTreeSet<String>) -> Result<bool> {
    let kept: BTreeSet<PathBuf> = addresses.iter().map(|address| of_project(data_dir, address)).collect();
    let all = fs::read_dir(folder(data_dir).join(PROJECTS)).into_iter().flatten().flatten().map(|entry| entry.path());
    let others: Vec<PathBuf> = all.filter(|folder| !kept.contains(folder)).collect();
    for folder in &others {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(!others.is_empty())
}
