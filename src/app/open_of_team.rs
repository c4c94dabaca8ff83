//! What others of the team left open in a project, as the server of the team gave it: told under their names, and theirs to close.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use jiff::civil::Date;
use serde::Serialize;

use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::note::due_in;
use text::clean::{one_line, without_controls};
use transcripts::session::Millis;

/// What one of them left open.
#[derive(Debug, Serialize)]
pub(crate) struct OfColleague {
    /// The login by which the server knows them.
    pub(crate) by: String,
    /// What is due on a day first, then the last said.
    pub(crate) items: Vec<ColleagueLine>,
}

/// An open item of somebody else's.
#[derive(Debug, Serialize)]
pub(crate) struct ColleagueLine {
    /// The id by which `recall show` shows it; it closes nothing.
    pub(crate) id: String,
    /// `next`, `blocker` or `todo`.
    pub(crate) kind: String,
    pub(crate) text: String,
    /// The beginning of the day on which it was last said.
    pub(crate) last_at: Millis,
    /// The day on which it is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) due: Option<String>,
}

/// What is open of others in the project with this key, by person. What somebody shares from two machines is told once.
///
/// # Errors
/// When the index cannot be read.
pub(crate) fn open_of_team(memory: &OpenMemory, config: &Config, project: &str) -> Result<Vec<OfColleague>> {
    let mut by_person: BTreeMap<String, Vec<ColleagueLine>> = BTreeMap::new();
    let mut told = BTreeSet::new();
    for file in memory.0.team_files_of(project)? {
        let Some(said) = file.open_item_of_team() else { continue };
        let (by, text) = (one_line(&without_controls(&said.by)), one_line(&without_controls(&said.text)));
        if text.is_empty() || !told.insert((by.clone(), text.clone())) {
            continue;
        }
        let began = |day: Date| day.to_zoned(config.time_zone.clone()).ok().map(|at| at.timestamp().as_millisecond());
        let last_at = said.day.parse().ok().and_then(began).unwrap_or(file.at);
        let due = due_in(&text).filter(|_| said.kind == "todo").map(|day| day.to_string());
        by_person.entry(by).or_default().push(ColleagueLine { id: file.id, kind: said.kind, text, last_at, due });
    }
    let mut all: Vec<OfColleague> = by_person.into_iter().map(|(by, items)| OfColleague { by, items }).collect();
    for one in &mut all {
        one.items.sort_by_key(|item| (item.due.is_none(), item.due.clone(), std::cmp::Reverse(item.last_at)));
    }
    Ok(all)
}
