//! What goes to stderr: warnings, counted failures, progress. Results go to stdout: `screen`.
//!
//! This is the only door there, and nothing fails or stops because nobody can be told (clippy keeps `eprintln!` out: lib.rs).

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::clean::{one_line, plain};

/// How many warnings of one run are printed; the rest is counted.
const MAX_WARNINGS: usize = 20;

/// Tells a line. Where stderr is full or closed it is not told, and all goes on.
pub fn tell(what: impl Display) {
    to(io::stderr().lock(), &format!("recall: {}\n", plain(&what.to_string())));
}

/// Asks on stderr, without ending the line. True when the question could be put.
pub fn ask(what: impl Display) -> bool {
    to(io::stderr().lock(), &plain(&what.to_string()))
}

/// In one piece, so that processes do not write between each other's words.
fn to(mut stderr: impl Write, text: &str) -> bool {
    stderr.write_all(text.as_bytes()).is_ok()
}

#[derive(Debug, Default)]
pub struct Ui {
    warnings: AtomicUsize,
}

impl Ui {
    /// Something was skipped or failed; the run goes on and ends with exit code 1.
    pub fn warn(&self, what: &str) {
        let count = self.warnings.fetch_add(1, Ordering::Relaxed) + 1;
        if count <= MAX_WARNINGS {
            tell(one_line(&plain(what)));
        }
    }

    /// Something to know that is no failure.
    pub fn note(&self, what: &str) {
        tell(one_line(&plain(what)));
    }

    pub fn warned(&self) -> bool {
        self.warnings.load(Ordering::Relaxed) > 0
    }

    pub fn finish(&self) {
        let unseen = self.warnings.load(Ordering::Relaxed).saturating_sub(MAX_WARNINGS);
        if unseen > 0 {
            tell(format!("… and {unseen} more"));
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
