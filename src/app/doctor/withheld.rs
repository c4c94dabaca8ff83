//! Sessions that are left out whole or kept in part, or shown in one place alone, because of a part of theirs; and those of which that
//! is not known.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::Finding;
use crate::config::Config;
use crate::policy::View;
use crate::store::{Memory, WholeIndex};
use crate::sys::projects::Projects;
use text::clean::id8;

/// Most ids that a finding lists.
const MAX_LISTED: usize = 8;

/// Nothing without patterns or an index.
pub(crate) fn findings(config: &Config) -> Vec<Finding> {
    if config.exclude_projects.is_empty() && config.isolate.is_empty() {
        return Vec::new();
    }
    // An index that cannot be read is reported elsewhere.
    of(config).unwrap_or_default()
}

fn of(config: &Config) -> Result<Vec<Finding>> {
    let Some(store) = WholeIndex::open_if_there(&config.database())? else { return Ok(Vec::new()) };
    // Of what is shown, since a config of after the last digest may leave out more.
    let parts = Memory::open(&config.database(), &config.policy(View::Owner))?.parts()?;
    let projects = config.project_keys();
    let mut by_reason: BTreeMap<Reason<'_>, Vec<String>> = BTreeMap::new();
    for (session, folders) in store.folders_by_session()? {
        let Some(why) = reason(config, &projects, &folders) else { continue };
        let (why, told) = match (why, parts.get(&session)) {
            (Reason::Excluded(pattern), Some(until)) => {
                let until = config.local_time(Some(*until), "%H:%M on %Y-%m-%d");
                (Reason::Left(pattern), format!("{} up to {until}", id8(&session)))
            }
            (why, _) => (why, id8(&session).to_owned()),
        };
        by_reason.entry(why).or_default().push(told);
    }
    let mut all: Vec<Finding> = by_reason.into_iter().map(|(why, sessions)| Finding::ok("privacy", why.told(&sessions))).collect();
    let unknown: Vec<String> = store.sessions_not_placed()?.iter().map(|id| id8(id).to_owned()).collect();
    if !unknown.is_empty() {
        let found = format!(
            "it is not known in which folders {} ran, because an older version stored only the first folder: {}",
            counted(&unknown),
            listed(&unknown)
        );
        let advice = "`recall digest` reads them from the remaining transcripts; `recall forget --session ID` deletes a session that may have been in an excluded folder";
        all.push(Finding::warning("privacy", found, advice));
    }
    Ok(all)
}

/// Why a session is not shown as its project is: the pattern that fits a part of it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason<'c> {
    Excluded(&'c str),
    /// What it said before it came there is kept.
    Left(&'c str),
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
                "{what} {is} fully hidden, as part of the work was in a folder matching `{pattern}` in `privacy.exclude_projects`: {ids}"
            ),
            Self::Left(pattern) => format!(
                "{what} {is} kept in part, because {} continued in a folder that matches `{pattern}` in `privacy.exclude_projects`: {ids}",
                if sessions.len() == 1 { "it" } else { "they" }
            ),
            Self::Isolated(pattern) => {
                format!(
                    "{what} {is} shown only in folders that match `{pattern}` in `privacy.isolate`, because a part of it ran there: {ids}"
                )
            }
        }
    }
}

fn counted(sessions: &[String]) -> String {
    if sessions.len() == 1 { "1 session".to_owned() } else { format!("{} sessions", sessions.len()) }
}

fn listed(sessions: &[String]) -> String {
    let mut ids = sessions.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if sessions.len() > MAX_LISTED {
        ids += &format!(" and {} more", sessions.len() - MAX_LISTED);
    }
    ids
}
