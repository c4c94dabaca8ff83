//! Documents that a client writes whole each time, read at once.

use std::io::{self, Read};
use std::path::Path;

use serde_json::Value;

use crate::source::delta::open_regular;
use crate::source::json::Raw;

/// The text of a document of at most so many bytes.
///
/// # Errors
/// When it cannot be read, or is longer.
pub(super) fn whole(path: &Path, most: u64) -> io::Result<String> {
    let file = open_regular(path)?;
    if file.metadata()?.len() > most {
        return Err(io::Error::other(format!("it is longer than {} MiB", most >> 20)));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// A part of a document, for the lines that are made of it.
pub(super) fn value(json: Raw<'_>) -> Option<Value> {
    serde_json::from_str(json.written().in_made_line()).ok()
}

/// What is wrong with a document that is no JSON, or not the JSON that was expected.
pub(super) fn not_whole() -> io::Error {
    io::Error::other("it is no document of messages, or not written to its end yet")
}
