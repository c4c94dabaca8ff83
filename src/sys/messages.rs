//! Writes to stderr: messages, warnings and their count. Results go to stdout, through `screen`.
//!
//! All of stderr goes through here, and nothing fails or stops because stderr cannot be written (clippy rejects `eprintln!`:
//! lib.rs).

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pager::terminal_on;
use super::progress::beside;
use text::clean::{one_line, without_controls};
use text::wrap::hanging;

/// Warnings printed per run; the others are only counted.
const MAX_WARNINGS: usize = 20;

/// Prints a message; on a terminal its lines are wrapped. If stderr is full or closed, it is lost and the program continues.
pub(crate) fn report(what: impl Display) {
    let message = format!("recall: {}", without_controls(&what.to_string()));
    let wrapped = |columns: usize| message.lines().flat_map(|line| hanging("", "  ", line, columns)).collect::<Vec<_>>().join("\n");
    let text = terminal_on(io::stderr()).map_or_else(|| message.clone(), |size| wrapped(size.columns));
    beside(|| write_whole(io::stderr().lock(), &(text + "\n")));
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
    /// A path, and what is told in its place.
    renamed: Option<(String, String)>,
}

impl Ui {
    /// One that tells a path by another name.
    #[cfg(feature = "team")]
    pub(crate) fn renaming(path: &std::path::Path, told: &std::path::Path) -> Self {
        Self { renamed: Some((path.display().to_string(), told.display().to_string())), ..Self::default() }
    }

    /// Warns that something was skipped or failed. The run continues and ends with exit code 1.
    pub(crate) fn warn(&self, what: &str) {
        let count = self.warnings.fetch_add(1, Ordering::Relaxed) + 1;
        if count <= MAX_WARNINGS {
            self.note(what);
        }
    }

    /// Prints information that is not a failure.
    pub(crate) fn note(&self, what: &str) {
        let what = match &self.renamed {
            Some((path, told)) => what.replace(path, told),
            None => what.to_owned(),
        };
        report(one_line(&without_controls(&what)));
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
}
