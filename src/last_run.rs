//! How the last run of `recall digest` ended: for `doctor`, `status` and the notice a session starts with.
//!
//! Beside the index, because a run may fail for want of one. One small file, replaced by every run.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::clean::{one_line, plain, shorten};
use crate::private;
use crate::session::Millis;

const FILE: &str = "last-run.json";
/// The longest reason that is kept, in characters.
const MAX_ERROR: usize = 300;
/// After so many runs in a row without one usable answer the model is left alone, for so long.
const FUTILE: u32 = 3;
const REST: Millis = 24 * 3_600_000;
/// No rest is longer: what says so was noted by a clock that was wrong.
const LONGEST_REST: Millis = 8 * REST;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastRun {
    pub at: Millis,
    /// Runs in a row that could not run or in which the model failed.
    pub failures: u32,
    /// When the first of these was.
    pub failing_since: Option<Millis>,
    /// Why the last of these failed.
    pub error: Option<String>,
    /// It was the model that failed: only a run that asks it can tell that it works again.
    pub of_model: bool,
    /// Runs in a row in which answers were, or may have been, paid for, and none could be used.
    pub futile: u32,
    /// The model is left alone.
    pub rest: Option<Rest>,
}

/// For how long the model is left alone, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    pub until: Millis,
    pub why: String,
}

/// What came of asking the model in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Some answer could be used.
    Worked,
    /// None could, and something was, or may have been, paid.
    Futile,
    /// It is over its limit.
    Limited(Rest),
}

impl LastRun {
    pub fn read(data_dir: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(data_dir.join(FILE)).ok()?).ok()
    }

    /// Why the model is left alone now, and until when.
    pub fn resting(data_dir: &Path, now: Millis) -> Option<Rest> {
        Self::read(data_dir)?.rest.filter(|rest| (1..=LONGEST_REST).contains(&(rest.until - now)))
    }

    /// The model was asked in a run that ends.
    pub fn asked(data_dir: &Path, at: Millis, asked: Asked) {
        let before = Self::read(data_dir).unwrap_or_default();
        let futile = if asked == Asked::Futile { before.futile.saturating_add(1) } else { 0 };
        let rest = match asked {
            Asked::Worked => None,
            Asked::Futile if futile < FUTILE => None,
            Asked::Futile => {
                Some(Rest { until: at.saturating_add(REST), why: format!("{futile} runs in a row brought no usable answer") })
            }
            Asked::Limited(rest) => Some(rest),
        };
        Self { futile, rest, ..before }.write(data_dir);
    }

    /// Whatever else is noted, what was found out about the model stays.
    fn about_model(data_dir: &Path) -> Self {
        let Self { futile, rest, .. } = Self::read(data_dir).unwrap_or_default();
        Self { futile, rest, ..Self::default() }
    }

    /// A run did what was to be done.
    pub fn succeeded(data_dir: &Path, at: Millis) {
        Self { at, ..Self::about_model(data_dir) }.write(data_dir);
    }

    /// A run went through and did not ask the model.
    pub fn went_through(data_dir: &Path, at: Millis) {
        let before = Self::read(data_dir).filter(|run| run.of_model).unwrap_or_else(|| Self::about_model(data_dir));
        Self { at, ..before }.write(data_dir);
    }

    /// A run could not run.
    pub fn failed(data_dir: &Path, at: Millis, why: &str) {
        Self::note(data_dir, at, why, false);
    }

    /// The model failed and nothing else was asked of it.
    pub fn model_failed(data_dir: &Path, at: Millis, why: &str) {
        Self::note(data_dir, at, why, true);
    }

    fn note(data_dir: &Path, at: Millis, why: &str, of_model: bool) {
        let before = Self::read(data_dir).unwrap_or_default();
        let failed = Self {
            at,
            failures: before.failures.saturating_add(1),
            failing_since: before.failing_since.or(Some(at)),
            error: Some(shorten(&one_line(&plain(why)), MAX_ERROR)),
            of_model,
            ..before
        };
        failed.write(data_dir);
    }

    /// The reason of a failure may quote what is to be forgotten: only that there was one stays.
    pub fn forget_reason(data_dir: &Path) {
        if let Some(run) = Self::read(data_dir).filter(|run| run.error.is_some() || run.rest.is_some()) {
            // It must not come back.
            let rest = run.rest.map(|rest| Rest { why: "the reason was forgotten".into(), ..rest });
            Self { error: None, rest, ..run }.write_by(data_dir, private::replace);
        }
    }

    /// What a power failure takes is not worth waiting for the disk after every run.
    fn write(&self, data_dir: &Path) {
        self.write_by(data_dir, private::replace_for_now);
    }

    /// What cannot be written is not worth failing for.
    fn write_by(&self, data_dir: &Path, replace: impl Fn(&Path, &[u8]) -> io::Result<()>) {
        if let Ok(bytes) = serde_json::to_vec(self) {
            let _ = replace(&data_dir.join(FILE), &bytes);
        }
    }
}
