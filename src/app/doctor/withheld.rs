//! Sessions that are left out whole, or shown in one place alone, because of a part of theirs; and those of which that is not known.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::Finding;
use crate::config::Config;
use crate::store::WholeIndex;
use crate::sys::projects::Projects;
use crate::text::clean::id8;

/// Most ids that a finding lists.
const MAX_LISTED: usize = 8;

/// Nothing without patterns or an index.
pub(crate) fn findings(config: &Config) -> Vec<Finding> {
    if config.exclude_projects.is_empty() && config.isolate.is_empty() {
        return Vec::new();
    }
    // An index that cannot be read is reported elsewhere.
    let opened = WholeIndex::open_if_there(&config.database()).ok().flatten();
    opened.and_then(|store| of(config, &store).ok()).unwrap_or_default()
}

fn of(config: &Config, store: &WholeIndex) -> Result<Vec<Finding>> {
    let projects = config.project_keys();
    let mut by_reason: BTreeMap<Reason<'_>, Vec<String>> = BTreeMap::new();
    for (session, folders) in store.folders_by_session()? {
        if let Some(why) = reason(config, &projects, &folders) {
            by_reason.entry(why).or_default().push(session);
        }
    }
    let mut all: Vec<Finding> = by_reason.into_iter().map(|(why, sessions)| Finding::ok("privacy", why.told(&sessions))).collect();
    let unknown = store.sessions_not_placed()?;
    if !unknown.is_empty() {
        let found = format!(
            "it is not known in which folders {} went on, as an older recall kept the first one alone: {}",
            counted(&unknown),
            listed(&unknown)
        );
        let advice = "`recall digest` learns it from the transcripts that are left; `recall forget --session ID` takes out a session that may have been where it should not be told of";
        all.push(Finding::warning("privacy", found, advice));
    }
    Ok(all)
}

/// Why a session is not shown as its project is: the pattern that fits a part of it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason<'c> {
    Excluded(&'c str),
    Isolated(&'c str),
}

/// Sessions that lie whole in what is excluded or isolated are where the user means them to be.
fn reason<'c>(config: &'c Config, projects: &Projects, folders: &BTreeSet<String>) -> Option<Reason<'c>> {
    let of_part = |by: &dyn Fn(&String) -> Option<&'c str>| {
        let found = folders.iter().find_map(by)?;
        folders.iter().any(|folder| by(folder).is_none()).then_some(found)
    };
    if folders.iter().any(|folder| config.excludes_folder(folder, projects)) {
        return of_part(&|folder| config.excluded_by(folder, projects)).map(Reason::Excluded);
    }
    of_part(&|folder| config.isolated_by(folder, projects)).map(Reason::Isolated)
}

impl Reason<'_> {
    fn told(self, sessions: &[String]) -> String {
        let (what, ids) = (counted(sessions), listed(sessions));
        let is = if sessions.len() == 1 { "is" } else { "are" };
        match self {
            Self::Excluded(pattern) => format!(
                "{what} {is} withheld whole, as a part of it took place where `{pattern}` in `privacy.exclude_projects` fits: {ids}"
            ),
            Self::Isolated(pattern) => {
                format!(
                    "{what} {is} shown only where `{pattern}` in `privacy.isolate` fits, as a part of it took place there: {ids}"
                )
            }
        }
    }
}

fn counted(sessions: &[String]) -> String {
    if sessions.len() == 1 { "1 session".to_owned() } else { format!("{} sessions", sessions.len()) }
}

fn listed(sessions: &[String]) -> String {
    let mut ids = sessions.iter().take(MAX_LISTED).map(|id| id8(id)).collect::<Vec<_>>().join(", ");
    if sessions.len() > MAX_LISTED {
        ids += &format!(" and {} more", sessions.len() - MAX_LISTED);
    }
    ids
}
