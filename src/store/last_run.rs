//! The outcome of the last `recall digest`, for `doctor`, `status` and the notice at a session's start.
//!
//! A small file of its own, replaced by every run: not in the index, because a run may fail for lack of one.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::sys::{data_folder, private_files};
use text::clean::{one_line, shorten, without_controls};
use transcripts::session::Millis;

const FILE: &str = data_folder::LAST_RUN;
/// The longest error text stored, in characters.
const MAX_ERROR_CHARS: usize = 300;
/// After this many runs in a row without a usable reply, no model is called for the time below, in milliseconds.
const MAX_FUTILE_RUNS: u32 = 3;
const BACKOFF_MS: Millis = 24 * 3_600_000;
/// The longest valid rest, in milliseconds; a longer one was written with a wrong clock.
const MAX_BACKOFF_MS: Millis = 8 * BACKOFF_MS;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LastRun {
    pub(crate) at: Millis,
    /// Runs in a row that could not run or in which the model failed.
    pub(crate) failures: u32,
    /// When the first of these failed.
    pub(crate) failing_since: Option<Millis>,
    /// Why the last of these failed.
    pub(crate) error: Option<String>,
    /// The failure was the model's: only a run that calls it can show that it works again.
    pub(crate) of_model: bool,
    /// Runs in a row in which replies were or may have been paid for and none was usable.
    pub(crate) futile: u32,
    /// Set while the model is not to be called.
    pub(crate) rest: Option<ModelBackoff>,
}

/// Until when the model is not to be called, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ModelBackoff {
    pub(crate) until: Millis,
    pub(crate) why: String,
}

/// The outcome of the model calls of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelRunOutcome {
    /// At least one reply was usable.
    Worked,
    /// No reply was usable, and at least one was or may have been paid for.
    Futile,
    /// The model is over its usage limit.
    Limited(ModelBackoff),
}

impl LastRun {
    pub(crate) fn read(data_dir: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(data_dir.join(FILE)).ok()?).ok()
    }

    /// The current rest, if the model must not be called now.
    pub(crate) fn backoff(data_dir: &Path, now: Millis) -> Option<ModelBackoff> {
        Self::read(data_dir)?.rest.filter(|rest| (1..=MAX_BACKOFF_MS).contains(&(rest.until - now)))
    }

    /// Records the outcome of a run's model calls.
    pub(crate) fn record_model_outcome(data_dir: &Path, at: Millis, asked: ModelRunOutcome) {
        let before = Self::read(data_dir).unwrap_or_default();
        let futile = if asked == ModelRunOutcome::Futile { before.futile.saturating_add(1) } else { 0 };
        let rest = match asked {
            ModelRunOutcome::Worked => None,
            ModelRunOutcome::Futile if futile < MAX_FUTILE_RUNS => None,
            ModelRunOutcome::Futile => Some(ModelBackoff {
                until: at.saturating_add(BACKOFF_MS),
                why: format!("{futile} runs in a row brought no usable answer"),
            }),
            ModelRunOutcome::Limited(rest) => Some(rest),
        };
        Self { futile, rest, ..before }.write(data_dir);
    }

    /// A default record that keeps what is known about the model.
    fn model_state(data_dir: &Path) -> Self {
        let Self { futile, rest, .. } = Self::read(data_dir).unwrap_or_default();
        Self { futile, rest, ..Self::default() }
    }

    /// Records a run that did its work.
    pub(crate) fn record_success(data_dir: &Path, at: Millis) {
        Self { at, ..Self::model_state(data_dir) }.write(data_dir);
    }

    /// Records a run that finished without calling the model: a failure of the model stays on record.
    pub(crate) fn record_without_model(data_dir: &Path, at: Millis) {
        let before = Self::read(data_dir).filter(|run| run.of_model).unwrap_or_else(|| Self::model_state(data_dir));
        Self { at, ..before }.write(data_dir);
    }

    /// Records a run that could not start or finish.
    pub(crate) fn record_failure(data_dir: &Path, at: Millis, why: &str) {
        Self::record(data_dir, at, why, false);
    }

    /// Records that the model failed in a run where no call succeeded.
    pub(crate) fn record_model_failure(data_dir: &Path, at: Millis, why: &str) {
        Self::record(data_dir, at, why, true);
    }

    fn record(data_dir: &Path, at: Millis, why: &str, of_model: bool) {
        let before = Self::read(data_dir).unwrap_or_default();
        let failed = Self {
            at,
            failures: before.failures.saturating_add(1),
            failing_since: before.failing_since.or(Some(at)),
            error: Some(shorten(&one_line(&without_controls(why)), MAX_ERROR_CHARS)),
            of_model,
            ..before
        };
        failed.write(data_dir);
    }

    /// Removes error texts, which may quote what is being forgotten; only the fact of the failure stays.
    pub(crate) fn forget_reason(data_dir: &Path) {
        if let Some(run) = Self::read(data_dir).filter(|run| run.error.is_some() || run.rest.is_some()) {
            // Synced, so that the text cannot come back after a power failure.
            let rest = run.rest.map(|rest| ModelBackoff { why: "the reason was forgotten".into(), ..rest });
            Self { error: None, rest, ..run }.write_by(data_dir, private_files::replace);
        }
    }

    /// Not synced: losing this in a power failure costs less than waiting for the disk in every run.
    fn write(&self, data_dir: &Path) {
        self.write_by(data_dir, private_files::replace_unsynced);
    }

    /// Ignores write errors: they are no reason to fail.
    fn write_by(&self, data_dir: &Path, replace: impl Fn(&Path, &[u8]) -> io::Result<()>) {
        if let Ok(bytes) = serde_json::to_vec(self) {
            let _ = replace(&data_dir.join(FILE), &bytes);
        }
    }
}
