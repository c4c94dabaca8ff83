//! Checks every part of the setup. Each finding says what to do about it. Changes nothing and spends nothing.

mod claude;
mod embeddings;
mod index;
mod machine;
mod prices;
mod privacy;
pub(crate) mod runs;
pub(crate) mod seen;
mod setup;
mod withheld;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::Config;
use crate::model::session::Millis;
use crate::setup::{Host, inspect};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    Ok,
    /// Works, but not for long or not as well as it could.
    Warning,
    /// Something does not work.
    Problem,
}

/// The repair that `recall doctor --fix` makes for a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Repair {
    /// Repeats `recall install` for the hooks and the timer that are installed.
    Install,
    /// Closes the data folder to other users, and opens it to its owner.
    Permissions,
    /// Quarantines a damaged index and restores what can be restored.
    Index,
}

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What was checked: `hooks`, `timer` …
    pub(crate) about: &'static str,
    pub(crate) state: Severity,
    pub(crate) found: String,
    /// What to do, or what could be done; absent if all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<Repair>,
    /// The change to a file that the advice would make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) difference: Option<String>,
    /// What of a finding has to stay the same for it to be the same finding; `None` for all it says.
    #[serde(skip)]
    pub(crate) same_while: Option<String>,
    /// A person has seen it, by `recall doctor --seen`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) seen: bool,
}

impl Finding {
    fn ok(about: &'static str, found: impl Into<String>) -> Self {
        Self {
            about,
            state: Severity::Ok,
            found: found.into(),
            advice: None,
            fix: None,
            difference: None,
            same_while: None,
            seen: false,
        }
    }

    fn warning(about: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { state: Severity::Warning, advice: Some(advice.into()), ..Self::ok(about, found) }
    }

    pub(crate) fn problem(about: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { state: Severity::Problem, ..Self::warning(about, found, advice) }
    }

    fn same_while(self, same: impl Into<String>) -> Self {
        Self { same_while: Some(same.into()), ..self }
    }

    /// How bad it is for somebody who has seen what was seen.
    pub(crate) fn alarm(&self) -> Severity {
        if self.seen { Severity::Ok } else { self.state }
    }

    fn fixed_by(self, fix: Repair) -> Self {
        Self { fix: Some(fix), ..self }
    }
}

/// What an examination found, as `recall doctor` tells it.
#[derive(Debug, Serialize)]
pub(crate) struct DoctorReply {
    pub(crate) version: &'static str,
    /// Where this program lies; none if the config cannot be read.
    pub(crate) program: Option<PathBuf>,
    /// How bad the worst finding is that nobody marked as seen.
    pub(crate) worst: Severity,
    pub(crate) findings: Vec<Finding>,
}

impl DoctorReply {
    pub(crate) fn of(findings: Vec<Finding>, program: Option<&Path>) -> Self {
        let worst = findings.iter().map(Finding::alarm).max().unwrap_or(Severity::Ok);
        Self { version: env!("CARGO_PKG_VERSION"), program: program.map(Path::to_owned), worst, findings }
    }
}

/// How thorough the checks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Only checks that are quick.
    Quick,
    /// Also verifies the whole index, asks `claude` for its version and login, and asks an embeddings endpoint for a vector.
    Full,
}

/// Runs all checks.
pub(crate) fn examine(config: &Config, host: &Host<'_>, depth: Depth, now: Millis) -> Vec<Finding> {
    let mut all = setup::hooks(host);
    all.extend(setup::servers(host));
    all.extend(setup::command(host));
    let timers = inspect::timers(host);
    all.extend(setup::timers(&timers, host));
    let is_timed = timers.iter().any(|timer| timer.active != Some(false));
    all.push(crate::app::doctor::runs::last_run(config, is_timed, now));
    all.extend(claude::rest(config, now));
    all.push(crate::app::doctor::runs::marks(config, now));
    all.extend(crate::app::doctor::runs::paused(config));
    all.extend(crate::app::doctor::runs::hook_log(config, now));
    all.extend(index::findings(config, depth, now));
    if depth == Depth::Full {
        all.extend(claude::findings(config));
        all.extend(embeddings::findings(config));
        all.push(crate::app::doctor::runs::unread_transcripts(config, now));
        all.extend(crate::app::doctor::runs::cleanup(host));
        all.extend(privacy::findings(config));
        all.extend(withheld::findings(config));
        all.extend(prices::findings(config));
    }
    all.extend(machine::findings(config, now));
    seen::apply(&mut all, &config.data_dir);
    all
}

/// A duration for people: `12 minutes`, `3 hours`, `5 days`.
fn ago(then: Millis, now: Millis) -> String {
    let minutes = (now - then).max(0) / 60_000;
    let (count, unit) = match minutes {
        0..120 => (minutes, "minute"),
        120..2880 => (minutes / 60, "hour"),
        _ => (minutes / 1440, "day"),
    };
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}
