//! What fails again and again in a project, and how long it took until it passed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde::Serialize;

use crate::app::filter::ProjectFilter;
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::store::failures::MetFailure;
use text::clean::{one_line, without_controls};
use transcripts::session::Millis;

/// How often an error was met that is told; less often if it was in so many sessions.
const MIN_TIMES: usize = 3;
const MIN_SESSIONS: usize = 2;

pub(crate) struct FrictionRequest<'a> {
    pub(crate) project: Option<&'a str>,
    /// The key of the project of whoever asks: it comes first.
    pub(crate) own: &'a str,
    pub(crate) limit: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct FrictionReply {
    /// By project, the own one first, and in each the one that took longest until it passed.
    pub(crate) errors: Vec<RepeatedError>,
}

/// An error that was met again and again.
#[derive(Debug, Serialize)]
pub(crate) struct RepeatedError {
    /// The project's key.
    pub(crate) project: String,
    /// It is another project than that of whoever asks.
    #[serde(skip)]
    pub(crate) elsewhere: bool,
    pub(crate) times: usize,
    pub(crate) sessions: usize,
    /// The days on which it was met first and last.
    pub(crate) first: String,
    pub(crate) last: String,
    /// From the first failure to the run that passed, in milliseconds, summed up over those that passed.
    pub(crate) until_passed: Millis,
    /// After how many of the failures no pass was seen.
    pub(crate) not_passed: usize,
    /// As it was met last.
    pub(crate) error: String,
    pub(crate) command: String,
    #[serde(skip)]
    at: Option<Millis>,
}

/// # Errors
/// If the index cannot be read, or the project's pattern is none.
pub(crate) fn friction(memory: &OpenMemory, config: &Config, asked: &FrictionRequest<'_>) -> Result<FrictionReply> {
    let filter = ProjectFilter::new(asked.project, config)?;
    let mut met: BTreeMap<(String, String), Vec<MetFailure>> = BTreeMap::new();
    for one in memory.0.all_failures()?.into_iter().filter(|one| filter.fits(&one.project)) {
        met.entry((one.project.key.clone(), one.failure.signature.clone())).or_default().push(one);
    }
    let day = |at: Option<Millis>| config.local_time(at, "%Y-%m-%d");
    let mut errors: Vec<RepeatedError> = met.into_values().filter_map(|group| repeated(&group, asked.own, &day)).collect();
    errors.sort_by_key(|one| (one.elsewhere, one.project.clone(), Reverse(one.until_passed), Reverse(one.times), Reverse(one.at)));
    let mut of_project: BTreeMap<String, usize> = BTreeMap::new();
    errors.retain(|one| {
        let told = of_project.entry(one.project.clone()).or_default();
        *told += 1;
        *told <= asked.limit
    });
    Ok(FrictionReply { errors })
}

/// All that a project met of one error, in order; `None` if that is not often.
fn repeated(group: &[MetFailure], own: &str, day: &impl Fn(Option<Millis>) -> String) -> Option<RepeatedError> {
    let sessions: BTreeSet<&str> = group.iter().map(|one| one.session.as_str()).collect();
    if group.len() < MIN_TIMES && sessions.len() < MIN_SESSIONS {
        return None;
    }
    // The first failure before each run that passed.
    let mut passes: BTreeMap<(&str, Millis), Millis> = BTreeMap::new();
    for one in group {
        let passed = one.failure.passed.as_ref().and_then(|passed| passed.at);
        if let (Some(passed), Some(at)) = (passed, one.failure.at) {
            passes.entry((&one.session, passed)).and_modify(|first| *first = at.min(*first)).or_insert(at);
        }
    }
    let [first, .., newest] = group else { return None };
    let plain = |text: &str| one_line(&without_controls(text));
    Some(RepeatedError {
        project: newest.project.key.clone(),
        elsewhere: newest.project.key != own,
        times: group.len(),
        sessions: sessions.len(),
        first: day(first.failure.at),
        last: day(newest.failure.at),
        until_passed: passes.iter().map(|((_, passed), first)| passed - first).sum(),
        not_passed: group.iter().filter(|one| one.failure.passed.is_none()).count(),
        error: plain(&newest.failure.line),
        command: plain(&newest.failure.command),
        at: newest.failure.at,
    })
}
