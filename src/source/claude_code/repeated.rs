//! What the rows of one file say again and again: where somebody worked, on which branch, with which client and model. What may be kept
//! of it is found out once, and again when it changes.

use crate::source::json::{self, Raw};

/// Longer values are not remembered, in bytes.
const LONGEST: usize = 1 << 10;

#[derive(Debug, Default)]
pub(super) struct Repeated {
    pub cwd: Last,
    pub branch: Last,
    pub version: Last,
    pub model: Last,
}

/// A field as it stood in the last row that had it, and what was kept of it.
#[derive(Debug, Default)]
pub(super) struct Last {
    /// As JSON, which is never empty.
    raw: String,
    kept: Option<String>,
}

impl Last {
    /// What `pass` keeps of a field that is a text. The same text is only given to it once.
    pub fn kept(&mut self, field: Option<Raw<'_>>, pass: impl FnOnce(&str) -> Option<String>) -> Option<String> {
        let raw = field?;
        if raw.get() != self.raw {
            let kept = json::text(raw).and_then(|text| pass(&text));
            if raw.get().len() > LONGEST {
                return kept;
            }
            raw.get().clone_into(&mut self.raw);
            self.kept = kept;
        }
        self.kept.clone()
    }
}
