//! Finds opening private tags in bytes that are not parsed: lines that are too long, and those before the part that is read.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::{READ_BYTES, open_regular};

/// Longer than the start of any tag, in bytes.
pub(super) const OVERLAP_BYTES: usize = 256;

/// An opening private tag, with each letter and space literal or as a JSON escape. Never `None`: the pattern is fixed.
static PRIVATE_TAG: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let spelled = |b: u8| format!(r"(?:{}|\\u00(?:{b:02x}|{:02x}))", b as char, b.to_ascii_uppercase());
    let name: String = b"private".map(spelled).concat();
    let tag = format!(r"(?:<|\\u003c)(?:\s|\\[nrtf]|\\u00(?:20|09|0a|0c|0d))*{name}");
    RegexBuilder::new(&tag).case_insensitive(true).unicode(false).build().ok()
});

/// Is a private tag opened in a file before its last `most` bytes? Searches at most `back` bytes; a longer file counts as a yes.
pub(crate) fn holds_private_before(path: &Path, most: u64, back: u64) -> io::Result<bool> {
    let file = open_regular(path)?;
    let end = file.metadata()?.len().saturating_sub(most);
    if end > back {
        return Ok(true);
    }
    let mut chunk = vec![0; READ_BYTES];
    let mut at = 0;
    while at < end {
        let len = (end - at).min(READ_BYTES as u64) as usize;
        file.read_exact_at(&mut chunk[..len], at)?;
        if opens_private(&chunk[..len]) {
            return Ok(true);
        }
        // A tag may span two chunks.
        at += if len > OVERLAP_BYTES && at + (len as u64) < end { len - OVERLAP_BYTES } else { len } as u64;
    }
    Ok(false)
}

/// Is a private tag opened in these bytes of a transcript, in whatever spelling?
#[inline]
pub fn opens_private(bytes: &[u8]) -> bool {
    PRIVATE_TAG.as_ref().is_none_or(|tag| tag.is_match(bytes))
}
