//! What runs the memory, for a server that is asked again and again: the last digests, what starts them, and what is wrong.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Deserialize;

use crate::app::doctor::{Depth, examine_with};
use crate::app::open_memory::OpenMemory;
use crate::app::status::alarms;
use crate::config::Config;
use crate::model::finding::Finding;
use crate::setup::Host;
use crate::setup::inspect::{self, InstalledTimer};
use transcripts::session::Millis;

/// A run that did something, of the log of runs.
#[derive(Debug)]
pub(crate) struct RunLine {
    pub(crate) at: Millis,
    pub(crate) did: RunFigures,
}

/// What of a run's report is told in a line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunFigures {
    pub(crate) sessions_new: u64,
    pub(crate) sessions_digested: u64,
    pub(crate) digests_by_model: u64,
    /// At list price.
    pub(crate) cost_usd: f64,
}

/// The last runs that did something, newest first.
///
/// # Errors
/// If the index cannot be read.
pub(crate) fn last_runs(memory: &OpenMemory, limit: usize) -> Result<Vec<RunLine>> {
    let runs = memory.0.last_runs(limit)?;
    Ok(runs.into_iter().map(|(at, report)| RunLine { at, did: serde_json::from_str(&report).unwrap_or_default() }).collect())
}

/// How long a server goes by what the managers of timers said: each is a program that has to be started.
const TIMERS_KEPT: Duration = Duration::from_secs(60);

/// The timers as a server found them last.
#[derive(Debug, Default)]
pub(crate) struct KnownTimers(Mutex<Option<(Instant, Vec<InstalledTimer>)>>);

/// What a quick look finds about the setup.
#[derive(Debug)]
pub(crate) struct Health {
    /// As of [`crate::app::status::problems`].
    pub(crate) problems: Vec<Finding>,
    /// What starts the digest and when, in words; more than one line only where there is more than one timer.
    pub(crate) timers: Vec<String>,
}

/// The same look for a server, which looks again and again.
///
/// # Errors
/// If the environment cannot be told.
pub(crate) fn health(config: &Config, known: &KnownTimers) -> Result<Health> {
    let host = Host::new(config)?;
    let mut known = known.0.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = known.take().filter(|(at, _)| at.elapsed() < TIMERS_KEPT);
    let (_, timers) = known.insert(kept.unwrap_or_else(|| (Instant::now(), inspect::timers(&host))));
    let all = examine_with(timers, config, &host, Depth::Quick, config.now());
    let mut lines: Vec<String> = timers.iter().map(|timer| timer_line(timer, config)).collect();
    if lines.is_empty() {
        lines = all.iter().filter(|finding| finding.about == "timer").map(|finding| finding.found.clone()).collect();
    }
    Ok(Health { problems: alarms(all), timers: lines })
}

fn timer_line(timer: &InstalledTimer, config: &Config) -> String {
    let schedule = if timer.current { config.schedule.to_string() } else { timer.schedule.clone() };
    let next = timer.next.as_ref().map(|at| format!("next {at}"));
    let parts = [Some(timer.timer.to_string()), Some(schedule).filter(|schedule| !schedule.is_empty()), next];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
