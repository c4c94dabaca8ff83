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
}

impl LastRun {
    pub fn read(data_dir: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(data_dir.join(FILE)).ok()?).ok()
    }

    /// A run did what was to be done.
    pub fn succeeded(data_dir: &Path, at: Millis) {
        Self { at, ..Self::default() }.write(data_dir);
    }

    /// A run went through and did not ask the model.
    pub fn went_through(data_dir: &Path, at: Millis) {
        let before = Self::read(data_dir).filter(|run| run.of_model).unwrap_or_default();
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
        };
        failed.write(data_dir);
    }

    /// The reason of a failure may quote what is to be forgotten: only that there was one stays.
    pub fn forget_reason(data_dir: &Path) {
        if let Some(run) = Self::read(data_dir).filter(|run| run.error.is_some()) {
            // It must not come back.
            Self { error: None, ..run }.write_by(data_dir, private::replace);
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
