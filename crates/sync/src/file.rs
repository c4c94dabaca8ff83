//! What every file has around its content: `sync 1 plain` or `sync 1 age` and a line break, then the content compressed with zstd and, in the
//! second case, encrypted with age. Every size is bounded before memory is asked for: a file may come from anywhere.

use crate::key::Key;
use std::io::{Read, Write};

const PLAIN: &[u8] = b"sync 1 plain\n";
const ENCRYPTED: &[u8] = b"sync 1 age\n";
const ANY_FORMAT: &[u8] = b"sync ";

/// The most bytes of a manifest before it is compressed: that of about half a million records.
pub(crate) const MANIFEST_BYTES: u64 = 64 << 20;
/// The most bytes of a segment before it is compressed, and so those of a record with its first line.
pub(crate) const SEGMENT_BYTES: u64 = 64 << 20;
/// Memory that a decompressor may take for what it looks back at: 2 to this power.
const WINDOW: u32 = 26;
/// Small files are written often and read seldom: more than zstd's default gains a few parts in a hundred.
const LEVEL: i32 = 3;

/// Why the content of a file cannot be had.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// Another key, or one where none is needed, or none where one is.
    Key(&'static str),
    /// Anything else.
    Damaged(String),
}

impl Unreadable {
    pub(crate) fn why(self) -> String {
        match self {
            Self::Key(why) => why.into(),
            Self::Damaged(why) => why,
        }
    }
}

fn damaged<T>(why: impl Into<String>) -> Result<T, Unreadable> {
    Err(Unreadable::Damaged(why.into()))
}

/// A file with this content.
pub(crate) fn seal(content: &[u8], key: Option<&Key>) -> Result<Vec<u8>, String> {
    let packed = pack(content).map_err(|error| format!("zstd: {error}"))?;
    let (head, body) = match key {
        None => (PLAIN, packed),
        Some(key) => (ENCRYPTED, age::encrypt(&key.0.to_public(), &packed).map_err(|error| format!("age: {error}"))?),
    };
    Ok([head, &body].concat())
}

/// With its length and a checksum: without a key, nothing else tells a manifest whose bits have changed from one that a machine wrote.
fn pack(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.set_pledged_src_size(Some(content.len() as u64))?;
    encoder.include_checksum(true)?;
    encoder.write_all(content)?;
    encoder.finish()
}

/// The content of a file, of at most `limit` bytes.
pub(crate) fn open(file: &[u8], key: Option<&Key>, limit: u64) -> Result<Vec<u8>, Unreadable> {
    let decrypted;
    let packed = match (file.strip_prefix(PLAIN), file.strip_prefix(ENCRYPTED), key) {
        (Some(packed), _, None) => packed,
        (Some(_), _, Some(_)) => return Err(Unreadable::Key("it is not encrypted, and this machine has a key")),
        (_, Some(_), None) => return Err(Unreadable::Key("it is encrypted, and this machine has no key")),
        (_, Some(sealed), Some(key)) => {
            decrypted = decrypt(sealed, key)?;
            &decrypted
        }
        _ if file.starts_with(ANY_FORMAT) => {
            return damaged("it has another format than this program reads (1); bring all machines to one version");
        }
        _ => return damaged("it does not begin like a file of a machine"),
    };
    unpack(packed, limit)
}

fn decrypt(sealed: &[u8], key: &Key) -> Result<Vec<u8>, Unreadable> {
    let decryptor = age::Decryptor::new_buffered(sealed).map_err(|error| Unreadable::Damaged(format!("age: {error}")))?;
    let mut reader = decryptor.decrypt(std::iter::once(&key.0 as &dyn age::Identity)).map_err(|error| match error {
        age::DecryptError::NoMatchingKeys => Unreadable::Key("it is encrypted with another key"),
        error => Unreadable::Damaged(format!("age: {error}")),
    })?;
    let mut content = Vec::new();
    // Not more than what is encrypted.
    reader.read_to_end(&mut content).map_err(|error| Unreadable::Damaged(format!("age: {error}")))?;
    Ok(content)
}

fn unpack(packed: &[u8], limit: u64) -> Result<Vec<u8>, Unreadable> {
    let failed = |error: std::io::Error| Unreadable::Damaged(format!("zstd: {error}"));
    let mut decoder = zstd::Decoder::with_buffer(packed).map_err(failed)?;
    decoder.window_log_max(WINDOW).map_err(failed)?;
    let mut content = Vec::new();
    decoder.take(limit + 1).read_to_end(&mut content).map_err(failed)?;
    if content.len() as u64 > limit {
        return damaged(format!("it holds more than {limit} bytes"));
    }
    Ok(content)
}

/// By what a manifest knows a file.
pub(crate) fn hash(file: &[u8]) -> String {
    blake3::hash(file).to_hex().to_string()
}
