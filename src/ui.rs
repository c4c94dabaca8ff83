//! What goes to stderr: warnings, counted failures, progress. Results go to stdout, elsewhere.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::clean::{one_line, plain};

/// How many warnings of one run are printed; the rest is counted.
const MAX_WARNINGS: usize = 20;

#[derive(Debug, Default)]
pub struct Ui {
    warnings: AtomicUsize,
}

impl Ui {
    /// Something was skipped or failed; the run goes on and ends with exit code 1.
    pub fn warn(&self, what: &str) {
        let count = self.warnings.fetch_add(1, Ordering::Relaxed) + 1;
        if count <= MAX_WARNINGS {
            eprintln!("recall: {}", one_line(&plain(what)));
        }
    }

    /// Something to know that is no failure.
    pub fn note(&self, what: &str) {
        eprintln!("recall: {}", one_line(&plain(what)));
    }

    pub fn warned(&self) -> bool {
        self.warnings.load(Ordering::Relaxed) > 0
    }

    pub fn finish(&self) {
        let unseen = self.warnings.load(Ordering::Relaxed).saturating_sub(MAX_WARNINGS);
        if unseen > 0 {
            eprintln!("recall: … and {unseen} more");
        }
    }

    /// A bar over bytes, only on a terminal.
    pub fn bytes(&self, total: u64) -> ProgressBar {
        bar(total, "reading   {bar:30} {bytes:>10} / {total_bytes} {bytes_per_sec:>12} {eta:>5} left")
    }

    /// A bar over sessions, only on a terminal.
    pub fn sessions(&self, total: u64) -> ProgressBar {
        bar(total, "digesting {bar:30} {pos:>10} / {len} {eta:>18} left  {msg}")
    }

    /// A bar over documents that are embedded, only on a terminal.
    pub fn texts(&self, total: u64) -> ProgressBar {
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
