//! Folders and projects in which sessions took place, by the index and by the transcripts.

use crate::config::Config;
use crate::model::note::EVERYWHERE;
use crate::store::WholeIndex;
use transcripts::source::working_folders::folders;

/// Each folder and each project's key once, in their order. What cannot be read adds nothing.
pub(crate) fn known_folders(config: &Config) -> Vec<String> {
    let mut known = folders(&config.claude_dirs);
    let index = WholeIndex::open_if_there(&config.database()).ok().flatten();
    if let Some(index) = index {
        known.extend(index.projects().into_iter().flatten().map(|(_, project)| project.key));
        known.extend(index.folders_of_sessions().into_iter().flatten());
    }
    known.retain(|folder| folder != EVERYWHERE);
    let projects = config.project_keys();
    let keys: Vec<String> = known.iter().map(|folder| projects.key_of(folder)).collect();
    known.extend(keys);
    known.into_iter().collect()
}
