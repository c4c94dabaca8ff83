//! Writes to stderr: warnings, their count, progress. Results go to stdout, through `screen`.
//!
//! All of stderr goes through here, and nothing fails or stops because stderr cannot be written (clippy rejects `eprintln!`:
//! lib.rs).

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text::clean::{one_line, without_controls};

/// Warnings printed per run; the others are only counted.
const MAX_WARNINGS: usize = 20;

/// Prints a line. If stderr is full or closed, the line is lost and the program continues.
pub(crate) fn report(what: impl Display) {
    write_whole(io::stderr().lock(), &format!("recall: {}\n", without_controls(&what.to_string())));
}

/// Prints a question without a newline. True if it was written.
pub(crate) fn ask(what: impl Display) -> bool {
    write_whole(io::stderr().lock(), &without_controls(&what.to_string()))
}

/// One write per message, so that lines of several processes do not mix.
fn write_whole(mut stderr: impl Write, text: &str) -> bool {
    stderr.write_all(text.as_bytes()).is_ok()
}

#[derive(Debug, Default)]
pub(crate) struct Ui {
    warnings: AtomicUsize,
}

impl Ui {
    /// Warns that something was skipped or failed. The run continues and ends with exit code 1.
    pub(crate) fn warn(&self, what: &str) {
        let count = self.warnings.fetch_add(1, Ordering::Relaxed) + 1;
        if count <= MAX_WARNINGS {
            report(one_line(&without_controls(what)));
        }
    }

    /// Prints information that is not a failure.
    pub(crate) fn note(&self, what: &str) {
        report(one_line(&without_controls(what)));
    }

    pub(crate) fn warned(&self) -> bool {
        self.warnings.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn finish(&self) {
        let unseen = self.warnings.load(Ordering::Relaxed).saturating_sub(MAX_WARNINGS);
        if unseen > 0 {
            report(format!("… and {unseen} more"));
        }
    }

    /// A progress bar over bytes; hidden unless stderr is a terminal.
    pub(crate) fn bytes(&self, total: u64) -> ProgressBar {
        bar(total, "reading   {bar:30} {bytes:>10} / {total_bytes} {bytes_per_sec:>12} {eta:>5} left")
    }

    /// A progress bar over sessions; hidden unless stderr is a terminal.
    pub(crate) fn sessions(&self, total: u64) -> ProgressBar {
        bar(total, "digesting {bar:30} {pos:>10} / {len} {eta:>18} left  {msg}")
    }

    /// A progress bar over sessions that are replayed; hidden unless stderr is a terminal.
    pub(crate) fn replays(&self, total: u64) -> ProgressBar {
        bar(total, "replaying {bar:30} {pos:>10} / {len} {eta:>18} left")
    }

    /// A progress bar over embedded documents; hidden unless stderr is a terminal.
    pub(crate) fn texts(&self, total: u64) -> ProgressBar {
        bar(total, "embedding {bar:30} {pos:>10} / {len} {eta:>18} left")
    }
}

fn bar(total: u64, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
