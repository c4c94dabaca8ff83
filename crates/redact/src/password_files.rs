//! Password hashes of `shadow`, `htpasswd` and directory servers, and lines of `.pgpass`.

use std::ops::Range;

use super::bytes::{self, ByteSet, WORD, byte_at, byte_before};
use super::harmless::is_placeholder;
use super::randomness::is_gibberish;

/// Beginnings of password hashes, and how many characters follow at least.
pub(crate) const HASHES: [(&str, usize); 14] = [
    ("$2a$", 50),
    ("$2b$", 50),
    ("$2y$", 50),
    ("$1$", 20),
    ("$5$", 40),
    ("$6$", 80),
    ("$y$", 40),
    ("$7$", 40),
    ("$apr1$", 20),
    ("$argon2", 40),
    ("$scrypt$", 40),
    ("$pbkdf2", 40),
    ("pbkdf2_sha256$", 50),
    ("scrypt:32768:", 60),
];
/// Ports and wildcards that give away a line of `.pgpass`.
pub(crate) const PGPASS: [&str; 4] = [":5432:", ":5433:", ":6432:", ":*:*:"];
/// Hashes of directory servers.
pub(crate) const LDAP: [&str; 4] = ["{SSHA}", "{SHA}", "{SMD5}", "{SSHA512}"];

const HASHED: ByteSet = ByteSet::of("a-zA-Z0-9./$,=+:@-");

/// The hash that begins at `hit`, with at least `least` characters behind its prefix.
pub(crate) fn hash(text: &[u8], hit: Range<usize>, least: usize) -> Option<Range<usize>> {
    let end = bytes::run_end(text, hit.end, ByteSet::of("a-zA-Z0-9./$,=+_-"), 400);
    let whole = if byte_at(text, hit.start) == b's' { bytes::run_end(text, hit.end, HASHED, 400) } else { end };
    // A comma separates it from the next element.
    let whole = if byte_before(text, whole) == b',' { whole - 1 } else { whole };
    let salted = (text[hit.end..whole].iter().any(u8::is_ascii_digit) || is_gibberish(&text[hit.end..whole]))
        && (WORD.has(byte_before(text, whole))
            || byte_before(text, whole) == b'='
            || byte_before(text, whole) == b'.'
            || byte_before(text, whole) == b'/');
    (whole - hit.end >= least && salted).then_some(hit.start..whole)
}

/// The hash behind `{SSHA}`.
pub(crate) fn ldap(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let end = bytes::run_end(text, hit.end, super::bytes::BASE64, 200);
    (end - hit.end >= 24).then_some(hit.end..end)
}

/// The password of a line `host:port:database:user:password` whose port is at `hit`.
pub(crate) fn pgpass(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    const FIELD: ByteSet = ByteSet::of("a-zA-Z0-9_.*-");
    let is_wild = byte_at(text, hit.start + 1) == b'*';
    let host = bytes::run_start(text, hit.start, FIELD, 128);
    let is_line =
        host < hit.start && matches!(byte_before(text, host), 0 | b'\n' | b'"' | b'\'' | b' ' | b'\\' | b'+' | b'>' | b'|');
    // The hit `:*:*:` includes the database.
    let database = if is_wild { hit.end } else { bytes::run_end(text, hit.end, FIELD, 64) + 1 };
    let user = bytes::run_end(text, database, FIELD, 64);
    let start = user + 1;
    if !is_line || byte_at(text, database - 1) != b':' || byte_at(text, user) != b':' || user == database {
        return None;
    }
    let end = bytes::find_byte(text, start, 128, |b| b <= b' ' || matches!(b, b'"' | b'\'')).0;
    let value = &text[start..end];
    (value.len() >= 3 && !is_placeholder(value) && !value.contains(&b'/')).then_some(start..end)
}
