//! Values that the lines of one file repeat: folder, branch, client version and model. Each is sanitized once, and again when it
//! changes.

use crate::privacy::raw::RawText;
use crate::source::json::{self, Raw};

/// Longest value that is cached, in bytes.
const MAX_CACHED_BYTES: usize = 1 << 10;

#[derive(Debug, Default)]
pub(super) struct FieldCache {
    pub cwd: CachedField,
    pub branch: CachedField,
    pub version: CachedField,
    pub model: CachedField,
}

/// A field's value in the last line that had it, and what was kept of it.
#[derive(Debug, Default)]
pub(super) struct CachedField {
    /// As JSON, which is never empty.
    raw: RawText<'static>,
    kept: Option<String>,
}

impl CachedField {
    /// Returns what `pass` keeps of a text field; `pass` is only called when the value changes.
    pub fn kept(&mut self, field: Option<Raw<'_>>, pass: impl FnOnce(&RawText<'_>) -> Option<String>) -> Option<String> {
        let raw = field?;
        if raw.written() != self.raw {
            let kept = json::text(raw).and_then(|text| pass(&text));
            if raw.len() > MAX_CACHED_BYTES {
                return kept;
            }
            self.raw = raw.written().into_owned();
            self.kept = kept;
        }
        self.kept.clone()
    }
}
