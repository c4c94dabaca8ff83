//! Takes what a team keeps in its repository or on its server into the index: the files that came or changed since, of projects that are known.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use crate::app::digest::report::Report;
#[cfg(feature = "team")]
use crate::app::team;
use crate::config::Config;
use crate::inputs::client_memory::MemoryPath;
use crate::inputs::team_files::{MAX_FILES, is_too_long, read, team_paths};
use crate::model::team_file::is_team_file;
use crate::store::Writer;
use crate::store::memory_files::NewMemoryFile;

pub(super) fn take_in(config: &Config, store: &mut Writer, report: &mut Report) -> Result<()> {
    let projects = config.project_keys();
    #[cfg(feature = "team")]
    let is_in_team = team::is_set_up(&config.data_dir);
    let mut found: Vec<(i64, MemoryPath)> = Vec::new();
    for (pk, project) in store.projects()? {
        let root = Path::new(&project.key);
        if root.is_absolute() && !config.excludes_folder(&project.key, &projects) {
            #[cfg_attr(not(feature = "team"), expect(unused_mut, reason = "nothing is added"))]
            let mut files = team_paths(root, MAX_FILES);
            #[cfg(feature = "team")]
            if is_in_team {
                files.extend(team::files_of(&config.data_dir, root));
            }
            found.extend(files.into_iter().map(|file| (pk, file)));
        }
    }
    let seen = store.memory_files_seen()?;
    // Those that do not exist any more are gone already.
    let there: BTreeSet<&str> = found.iter().filter_map(|(_, file)| file.path.to_str()).collect();
    let grown = |path: &&String| is_team_file(path) && !there.contains(path.as_str()) && is_too_long(Path::new(path));
    let gone: Vec<String> = seen.keys().filter(grown).cloned().collect();
    found.retain(|(_, file)| file.path.to_str().and_then(|path| seen.get(path)) != Some(&(file.size, file.stamp)));
    if found.is_empty() && gone.is_empty() {
        return Ok(());
    }
    let sanitizer = config.sanitizer()?;
    let mut texts = Vec::new();
    for (project, file) in &found {
        let (Some(path), Some(folder)) = (file.path.to_str(), file.folder.to_str()) else { continue };
        if config.exclude_transcripts.is_match(path) || store.is_forgotten_file(path)? || sanitizer.is_private_file(path) {
            continue;
        }
        let Some(text) = read(&file.path) else { continue };
        texts.push((*project, file, path, folder, sanitizer.clean(&text)));
    }
    let new: Vec<NewMemoryFile<'_>> = texts
        .iter()
        .map(|(project, file, path, folder, text)| NewMemoryFile {
            path,
            folder,
            project: *project,
            size: file.size,
            stamp: file.stamp,
            at: file.at,
            text,
        })
        .collect();
    report.team_files_read += new.len() as u64;
    store.save_memory_files(&new, &gone)
}
