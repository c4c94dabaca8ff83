//! The commands that work in a project: what passed, how often, and when it ran last.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use serde::Serialize;

use crate::analyze::commands::UsedCommand;
use crate::app::filter::ProjectFilter;
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::render::known_command::KnownCommand;
use crate::store::Reader;
use text::clean::{one_line, without_controls};
use transcripts::session::said;
use transcripts::shell::{CommandClass, subject};

/// What passed less often is told only if it is asked for, or if nothing that does the same passed so often.
const MIN_PASSED: usize = 2;
/// From how many passes, in how many sessions, a start tells a command; and how many of them.
const MIN_STABLE: (usize, usize) = (3, 2);
const MAX_AT_START: usize = 3;
/// The most characters of a command that a start tells.
const MAX_LINE_CHARS: usize = 90;

pub(crate) struct HowRequest<'a> {
    /// Only of the classes that these words name, or with one of them; all without any.
    pub(crate) words: &'a str,
    /// Only projects that fit this, in place of the own one.
    pub(crate) project: Option<&'a str>,
    pub(crate) all_projects: bool,
    /// The key of the project of whoever asks.
    pub(crate) own: &'a str,
}

/// Commands by project, the own one first, and class.
#[derive(Debug, Serialize)]
pub(crate) struct HowReply {
    pub(crate) commands: Vec<KnownCommand>,
}

/// # Errors
/// If the index cannot be read, or the project's pattern is none.
pub(crate) fn how(memory: &OpenMemory, config: &Config, asked: &HowRequest<'_>) -> Result<HowReply> {
    let store = &memory.0;
    let filter = ProjectFilter::new(asked.project, config)?;
    let words: Vec<String> = asked.words.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let classes: Vec<CommandClass> = words.iter().filter_map(|word| CommandClass::meant_by(word)).collect();
    let fits = |used: &UsedCommand| {
        let mut parts = used.line.split(|c: char| !c.is_alphanumeric());
        words.is_empty()
            || classes.contains(&used.class)
            || classes.is_empty() && parts.any(|part| words.contains(&part.to_lowercase()))
    };
    let mut commands = Vec::new();
    for (pk, project) in store.projects()? {
        let is_meant = if asked.project.is_some() { filter.fits(&project) } else { asked.all_projects || project.key == asked.own };
        if !is_meant {
            continue;
        }
        let all = in_project(store, pk, &BTreeSet::new())?;
        let passes = |used: &UsedCommand| used.passed >= MIN_PASSED;
        let proven: BTreeSet<(CommandClass, String, String)> =
            all.iter().filter(|(used, _)| passes(used)).map(|(used, _)| does(used)).collect();
        for (used, _) in all {
            let alone = used.passed > 0 && (!words.is_empty() || !proven.contains(&does(&used)));
            if (passes(&used) || alone) && fits(&used) {
                commands.push(KnownCommand {
                    project: project.key.clone(),
                    elsewhere: project.key != asked.own,
                    class: used.class,
                    command: one_line(&without_controls(&used.line)),
                    folder: one_line(&without_controls(&used.folder)),
                    ran: used.ran,
                    passed: used.passed,
                    passed_last: used.passed_last,
                    last: config.local_time(used.at, "%Y-%m-%d"),
                });
            }
        }
    }
    commands.sort_by_key(|one| (one.elsewhere, one.project.clone(), one.class, Reverse(one.passed)));
    Ok(HowReply { commands })
}

/// What a command does, whatever it is given: its class, its program with its subcommand or target, and where.
fn does(used: &UsedCommand) -> (CommandClass, String, String) {
    (used.class, subject(&used.line), used.folder.clone())
}

/// The commands of a project, each once, with the number of sessions that ran it, as if these other sessions had not been.
fn in_project(store: &Reader, project: i64, without: &BTreeSet<String>) -> Result<Vec<(UsedCommand, usize)>> {
    let mut all: Vec<(UsedCommand, BTreeSet<String>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    store.for_each_command(project, |session, used| match places.get(&used.same).and_then(|place| all.get_mut(*place)) {
        _ if without.contains(&session) => {}
        Some((known, sessions)) => {
            known.add(used);
            sessions.insert(session);
        }
        None => {
            places.insert(used.same.clone(), all.len());
            all.push((used, BTreeSet::from([session])));
        }
    })?;
    Ok(all.into_iter().map(|(used, sessions)| (used, sessions.len())).collect())
}

/// The steadiest commands of a project, each with the number of sessions that ran it, those that passed most often first; as if sessions `without` had
/// not been.
pub(in crate::app) fn steady(store: &Reader, project: i64, without: &BTreeSet<String>) -> Result<Vec<(UsedCommand, usize)>> {
    let is_steady = |(used, sessions): &(UsedCommand, usize)| {
        used.passed >= MIN_STABLE.0 && *sessions >= MIN_STABLE.1 && used.passed_last && used.line.chars().count() <= MAX_LINE_CHARS
    };
    let mut steady = in_project(store, project, without)?;
    steady.retain(is_steady);
    steady.sort_by_key(|(used, _)| Reverse(used.passed));
    Ok(steady)
}

/// What a session's start tells of them: one line, of the steadiest ones only.
pub(in crate::app) fn at_start(store: &Reader, config: &Config, project: i64) -> Result<Option<String>> {
    let stable: Vec<UsedCommand> = steady(store, project, &BTreeSet::new())?.into_iter().map(|(used, _)| used).collect();
    // One of each class, before a second one of any.
    let mut classes = BTreeSet::new();
    let (mut first, more): (Vec<_>, Vec<_>) = stable.into_iter().partition(|used| classes.insert(used.class));
    first.extend(more);
    first.truncate(MAX_AT_START);
    let told = first.iter().map(|used| {
        let folder = if used.folder.is_empty() { String::new() } else { format!("in {}: ", said(&used.folder, MAX_LINE_CHARS)) };
        let day = used.at.map(|at| format!(", {}", config.short_day(at))).unwrap_or_default();
        format!("{} {folder}`{}` ({} of {}{day})", used.class.name(), said(&used.line, MAX_LINE_CHARS), used.passed, used.ran)
    });
    let told: Vec<String> = told.collect();
    Ok((!told.is_empty()).then(|| format!("Commands that passed here: {}.", told.join("; "))))
}
