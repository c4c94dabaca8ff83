//! Is all well? Every part of the setup is looked at; each finding says what to do about it. Nothing is changed and nothing spent.

mod batch;
mod claude;
mod embeddings;
mod index;
mod machine;
mod prices;
mod privacy;
mod setup;

use serde::Serialize;

use crate::config::Config;
use crate::install::{Host, look};
use crate::session::Millis;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Ok,
    /// It works, but not for long or not as it could.
    Warning,
    /// Something does not work.
    Problem,
}

/// What `recall doctor --fix` does about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fix {
    /// What `recall install` would do for hooks and a timer that are there.
    Install,
    /// Takes the data folder's permissions from others.
    Permissions,
    /// Sets a damaged index aside and brings back what can be.
    Index,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at: `hooks`, `timer` …
    pub about: &'static str,
    pub state: State,
    pub found: String,
    /// What to do about it, or could be done; nothing where all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
    /// What the advice would change in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
}

impl Finding {
    fn ok(about: &'static str, found: impl Into<String>) -> Self {
        Self { about, state: State::Ok, found: found.into(), advice: None, fix: None, difference: None }
    }

    fn warning(about: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { about, state: State::Warning, found: found.into(), advice: Some(advice.into()), fix: None, difference: None }
    }

    pub fn problem(about: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { state: State::Problem, ..Self::warning(about, found, advice) }
    }

    fn fixed_by(self, fix: Fix) -> Self {
        Self { fix: Some(fix), ..self }
    }
}

/// How thoroughly to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What can be told at once.
    Short,
    /// Reads the whole index, asks `claude` for its version and login, and an embeddings endpoint for a vector.
    Whole,
}

/// Looks at everything.
pub fn examine(config: &Config, host: &Host<'_>, depth: Depth, now: Millis) -> Vec<Finding> {
    let mut all = setup::hooks(host);
    all.extend(setup::servers(host));
    all.extend(setup::command(host));
    let timers = look::timers(host);
    all.extend(setup::timers(&timers, host));
    let is_timed = timers.iter().any(|timer| timer.active != Some(false));
    all.push(batch::last_run(config, is_timed, now));
    all.extend(claude::rest(config, now));
    all.push(batch::marks(config, now));
    all.extend(batch::paused(config));
    all.extend(batch::hook_log(config, now));
    all.extend(index::findings(config, depth, now));
    if depth == Depth::Whole {
        all.extend(claude::findings(config));
        all.extend(embeddings::findings(config));
        all.push(batch::sweep(config, now));
        all.extend(batch::cleanup(host));
        all.extend(privacy::findings(config));
        all.extend(prices::findings(config));
    }
    all.extend(machine::findings(config, now));
    all
}

/// How long ago, for people: `12 minutes`, `3 hours`, `5 days`.
fn ago(then: Millis, now: Millis) -> String {
    let minutes = (now - then).max(0) / 60_000;
    let (count, unit) = match minutes {
        0..120 => (minutes, "minute"),
        120..2880 => (minutes / 60, "hour"),
        _ => (minutes / 1440, "day"),
    };
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}
