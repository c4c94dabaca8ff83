//! Checks every part of the setup. Each finding says what to do about it. Changes nothing and spends nothing.

mod client;
mod embeddings;
mod index;
mod machine;
pub(crate) mod memory_files;
mod prices;
mod privacy;
pub(crate) mod runs;
pub(crate) mod seen;
mod setup;
mod summarizer;
#[cfg(feature = "sync")]
mod sync;
#[cfg(feature = "team")]
mod team;
mod withheld;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub(crate) use self::setup::{lacks_hooks, why_stale};

use crate::app::agents::AgentState;
use crate::config::Config;
use crate::model::finding::{Finding, Repair, Severity};
use crate::setup::Host;
use crate::setup::inspect::{self, InstalledTimer};
use transcripts::session::Millis;

/// What an examination found, as `recall doctor` tells it.
#[derive(Debug, Serialize)]
pub(crate) struct DoctorReply {
    pub(crate) version: &'static str,
    /// Where this program lies; none if the config cannot be read.
    pub(crate) program: Option<PathBuf>,
    /// How bad the worst finding is that nobody marked as seen.
    pub(crate) worst: Severity,
    /// Those that are used here, or have something of ours.
    pub(crate) agents: Vec<AgentState>,
    pub(crate) findings: Vec<Finding>,
}

impl DoctorReply {
    pub(crate) fn of(findings: Vec<Finding>, agents: Vec<AgentState>, program: Option<&Path>) -> Self {
        let worst = findings.iter().map(Finding::alarm).max().unwrap_or(Severity::Ok);
        Self { version: env!("RECALL_VERSION"), program: program.map(Path::to_owned), worst, agents, findings }
    }
}

/// How thorough the checks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Only checks that are quick.
    Quick,
    /// Also verifies the index, the structure alone of a large one, asks the summarizer's client for its version and login, and asks an
    /// embeddings endpoint for a vector.
    Full,
    /// Also reads every value of a large index.
    Deep,
}

/// Runs all checks.
pub(crate) fn examine(config: &Config, host: &Host<'_>, depth: Depth, now: Millis) -> Vec<Finding> {
    examine_with(&inspect::timers(host), config, host, depth, now)
}

/// The same where it is known already which timers there are.
pub(crate) fn examine_with(timers: &[InstalledTimer], config: &Config, host: &Host<'_>, depth: Depth, now: Millis) -> Vec<Finding> {
    let mut all = setup::hooks(host);
    all.extend(setup::servers(host));
    all.extend(setup::rules(host));
    all.extend(setup::command(host));
    all.extend(setup::timers(timers, host));
    let is_timed = timers.iter().any(|timer| timer.active != Some(false));
    all.push(crate::app::doctor::runs::last_run(config, is_timed, now));
    all.extend(summarizer::left_alone(config, now));
    all.push(crate::app::doctor::runs::marks(config, now));
    all.extend(crate::app::doctor::runs::paused(config));
    all.extend(crate::app::doctor::runs::hook_log(config, now));
    all.extend(index::findings(config, depth, now));
    if depth != Depth::Quick {
        all.extend(summarizer::findings(config));
        all.extend(embeddings::findings(config));
        all.push(crate::app::doctor::runs::unread_transcripts(config, now));
        all.extend(crate::app::doctor::runs::cleanup(host));
        all.extend(privacy::findings(config));
        all.extend(withheld::findings(config));
        all.extend(prices::findings(config));
        #[cfg(feature = "sync")]
        all.extend(sync::findings(config));
        #[cfg(feature = "team")]
        all.extend(team::findings(config));
    }
    all.extend(machine::findings(config, now));
    seen::apply(&mut all, &config.data_dir);
    all
}

/// A duration for people: `12 minutes`, `3 hours`, `5 days`.
fn ago(then: Millis, now: Millis) -> String {
    let minutes = (now - then).max(0) / 60_000;
    let (count, unit) = match minutes {
        0 => return "less than a minute".to_owned(),
        1..120 => (minutes, "minute"),
        120..2880 => (minutes / 60, "hour"),
        _ => (minutes / 1440, "day"),
    };
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}
