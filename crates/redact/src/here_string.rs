//! `kinit user <<< 'password'`: what a shell gives a command that reads a password.

use std::ops::Range;

use super::bytes::{self, BLANK, byte_at};
use super::candidate::is_secret;
use super::piped_password::READERS;
use super::secret_names::SecretKind;
use super::value::{ValueEnd, bare_value, opening_quote, quoted_end};

pub(crate) const KEY: &str = "<<<";
const REACH_BYTES: usize = 160;

/// The password behind the `<<<` at `hit`.
pub(crate) fn find(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    if byte_at(text, hit.end) == b'<' {
        return None;
    }
    let start = bytes::run_end(text, hit.end, BLANK, 4);
    let range = match opening_quote(text, start) {
        Some((quote, inside)) => inside..quoted_end(text, inside, quote, REACH_BYTES)?,
        None => bare_value(text, start, ValueEnd::Whitespace, REACH_BYTES),
    };
    let head = &text[hit.start.saturating_sub(REACH_BYTES)..hit.start];
    let line = &head[bytes::rfind_sign(b'\n', head).map_or(0, |n| n + 1)..];
    let is_read = || READERS.iter().any(|reader| bytes::find(line, reader.as_bytes()).is_some());
    (is_secret(&text[range.clone()], SecretKind::Password, true) && is_read()).then_some(range)
}
