//! Takes what Claude Code keeps in memory files of its own into the index: those that came or changed since, and no others. A file of a project
//! that is not known yet is left for a later run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;

use crate::app::digest::report::Report;
use crate::config::Config;
use crate::inputs::client_memory::{MemoryPath, memory_paths, read};
use crate::store::memory_files::NewMemoryFile;
use crate::store::{Reader, Writer};
use transcripts::session::Millis;

pub(super) fn take_in(config: &Config, now: Millis, store: &mut Writer, report: &mut Report) -> Result<()> {
    let oldest = config.retention.oldest(now);
    let mut found = memory_paths(&config.claude_dirs, &config.exclude_transcripts);
    found.retain(|file| oldest.is_none_or(|oldest| file.at >= oldest));
    let seen = store.memory_files_seen()?;
    let there: BTreeSet<&str> = found.iter().filter_map(|file| file.path.to_str()).collect();
    // Another run may look into other folders than this one.
    let is_looked_at =
        |path: &str| config.claude_dirs.iter().any(|dir| Path::new(path).starts_with(dir)) || !Path::new(path).exists();
    let gone: Vec<String> = seen.keys().filter(|path| !there.contains(path.as_str()) && is_looked_at(path)).cloned().collect();
    let is_new = |file: &&MemoryPath| file.path.to_str().and_then(|path| seen.get(path)) != Some(&(file.size, file.stamp));
    let changed: Vec<&MemoryPath> = found.iter().filter(is_new).collect();
    if gone.is_empty() && changed.is_empty() {
        return Ok(());
    }
    let read = texts(config, &changed, store)?;
    let new: Vec<NewMemoryFile<'_>> = read.iter().filter_map(|(file, project, text)| stored(file, *project, text)).collect();
    if gone.is_empty() && new.is_empty() {
        return Ok(());
    }
    report.memory_files_read += new.len() as u64;
    report.memory_files_gone += gone.len() as u64;
    store.save_memory_files(&new, &gone)
}

fn stored<'a>(file: &'a MemoryPath, project: i64, text: &'a str) -> Option<NewMemoryFile<'a>> {
    let (path, folder) = (file.path.to_str()?, file.folder.to_str()?);
    Some(NewMemoryFile { path, folder, project, size: file.size, stamp: file.stamp, at: file.at, text })
}

/// What may be kept of these files, with the numbers of their projects. Excluded and forgotten ones are not read.
fn texts<'a>(config: &Config, changed: &[&'a MemoryPath], store: &Reader) -> Result<Vec<(&'a MemoryPath, i64, String)>> {
    let projects = config.project_keys();
    let keys: BTreeMap<i64, String> = store.projects()?.into_iter().map(|(pk, project)| (pk, project.key)).collect();
    let mut sanitizer = None;
    let mut all = Vec::new();
    for of_folder in changed.chunk_by(|a, b| a.folder == b.folder) {
        let Some(folder) = of_folder[0].folder.to_str() else { continue };
        let Some(project) = store.project_of_folder(folder)? else { continue };
        let is_out = keys.get(&project).is_none_or(|key| config.excludes_folder(key, &projects));
        if is_out || store.holds_excluded(folder)? {
            continue;
        }
        let private = store.private_words_in_folder(folder)?;
        for file in of_folder {
            let Some(path) = file.path.to_str() else { continue };
            if store.is_forgotten_file(path)? {
                continue;
            }
            let Some(text) = read(&file.path) else { continue };
            let sanitizer = match &sanitizer {
                Some(made) => made,
                None => sanitizer.insert(config.sanitizer()?),
            };
            let clean = if sanitizer.is_private_file(path) { String::new() } else { sanitizer.clean(&text) };
            all.push((*file, project, private.clean(&clean).into_owned()));
        }
    }
    Ok(all)
}
