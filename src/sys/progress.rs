//! Progress of a phase: on stderr, one line as wide as the terminal, gone at the phase's end, with messages above it on lines of their own; and in
//! what other processes see of a run.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::run_progress::Phase;

/// A guess of the time that is left says something only after so long.
const GUESS_AFTER: Duration = Duration::from_secs(3);
const REDRAW: Duration = Duration::from_millis(200);

/// The line that is shown, if there is one.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A phase under way, until this is dropped. Without a terminal it has no line.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// As others see it.
    phase: Arc<Phase>,
}

impl Progress {
    /// Over so many bytes.
    pub(crate) fn of_bytes(what: &'static str, total: u64) -> Self {
        let phase = Phase::begin(what, Some(total), true);
        Self { bar: bar(what, Some(total), "{wide_bar} {decimal_bytes:>10} of {decimal_total_bytes}{left}"), phase }
    }

    /// Over so many things.
    pub(crate) fn of(what: &'static str, total: u64) -> Self {
        let phase = Phase::begin(what, Some(total), false);
        Self { bar: bar(what, Some(total), "{wide_bar} {pos:>7} of {len}{left}"), phase }
    }

    /// Of which nobody knows how much there is.
    pub(crate) fn endless(what: &'static str) -> Self {
        Self { bar: bar(what, None, "{spinner}"), phase: Phase::begin(what, None, false) }
    }

    pub(crate) fn advance(&self, by: u64) {
        self.bar.inc(by);
        self.phase.advance(by);
    }
}

/// The line of a phase; hidden without a terminal.
fn bar(what: &'static str, total: Option<u64>, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(10)).with_prefix(what);
    let style = ProgressStyle::with_template(&format!("{{prefix:10}} {template}"));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("left", left));
    bar.enable_steady_tick(REDRAW);
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    bar
}

impl Drop for Progress {
    fn drop(&mut self) {
        *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.bar.finish_and_clear();
        self.phase.end();
    }
}

/// The time that is left, once it can be guessed.
fn left(state: &ProgressState, line: &mut dyn std::fmt::Write) {
    if state.elapsed() >= GUESS_AFTER && state.pos() > 0 && state.eta() >= Duration::from_secs(1) {
        let _ = write!(line, ", {:#} left", HumanDuration(state.eta()));
    }
}

/// Writes to stderr while no line is shown; it comes back below what was written.
pub(super) fn beside<T>(write: impl FnOnce() -> T) -> T {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match &*shown {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}
