//! Where something private is opened in bytes of which no row was made: in lines that are too long, and before those that are read.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::{CHUNK, regular};

/// More than the start of a tag is long, in bytes.
pub(super) const OVERLAP: usize = 256;

/// Where something private is opened, with each letter and space as it is or in one of JSON's escapes. `None` never comes: the pattern is
/// fixed.
static PRIVATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let spelled = |b: u8| format!(r"(?:{}|\\u00(?:{b:02x}|{:02x}))", b as char, b.to_ascii_uppercase());
    let name: String = b"private".map(spelled).concat();
    let tag = format!(r"(?:<|\\u003c)(?:\s|\\[nrtf]|\\u00(?:20|09|0a|0c|0d))*{name}");
    RegexBuilder::new(&tag).case_insensitive(true).unicode(false).build().ok()
});

/// Is something private opened in a file before its last `most` bytes? Looks back no further than `back` bytes; in a longer file it may.
pub fn holds_private_before(path: &Path, most: u64, back: u64) -> io::Result<bool> {
    let file = regular(path)?;
    let end = file.metadata()?.len().saturating_sub(most);
    if end > back {
        return Ok(true);
    }
    let mut chunk = vec![0; CHUNK];
    let mut at = 0;
    while at < end {
        let len = (end - at).min(CHUNK as u64) as usize;
        file.read_exact_at(&mut chunk[..len], at)?;
        if opens_private(&chunk[..len]) {
            return Ok(true);
        }
        // A tag may lie over the edge of two chunks.
        at += if len > OVERLAP && at + (len as u64) < end { len - OVERLAP } else { len } as u64;
    }
    Ok(false)
}

/// Is something private opened in these bytes of a transcript, however it is spelled?
#[inline]
pub fn opens_private(bytes: &[u8]) -> bool {
    PRIVATE.as_ref().is_none_or(|tag| tag.is_match(bytes))
}
