//! URL and form parameters that are secrets: OAuth's `?code=…`, signatures, tickets.

use std::ops::Range;

use super::bytes::{self, ByteSet, byte_before};
use super::harmless::{is_code, is_id, is_placeholder};
use super::randomness::{has_digit, has_letter, is_gibberish, is_random};

/// Names with their `=`. The character before shows that they are parameters.
pub(crate) const NAMES: [&str; 16] = [
    "code=", "code_verifier=", "codeverifier=", "ticket=", "sig=", "signature=", "assertion=", "samlresponse=", "key=", "hash=",
    "auth=", "sid=", "nonce=", "invite=", "oobcode=", "otp=",
];
const VALUE: ByteSet = ByteSet::of("a-zA-Z0-9_.~/+%=-");
const MAX_BYTES: usize = 4096;
/// The least bytes of a value; shorter ones are numbers or words.
const MIN_BYTES: usize = 16;

/// The value of the parameter whose `name=` is at `hit`.
pub(crate) fn find(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let is_verifier = text[hit.start..].get(4) == Some(&b'_');
    let last = byte_before(text, hit.start);
    let is_named = is_verifier && matches!(last, 0 | b' ' | b'"' | b'\'' | b'\n');
    if !is_named && !matches!(last, b'?' | b'&' | b'#') {
        return None;
    }
    let end = bytes::run_end(text, hit.end, VALUE, MAX_BYTES);
    let value = &text[hit.end..end];
    let is_generated =
        value.len() >= MIN_BYTES && has_digit(value) && has_letter(value) && (is_random(value) || is_gibberish(value));
    let is_plain = !value.trim_ascii_end().iter().rev().skip_while(|b| **b == b'=').any(|b| *b == b'=');
    (is_generated && is_plain && !is_id(value) && !is_placeholder(value) && !is_code(value)).then_some(hit.end..end)
}
