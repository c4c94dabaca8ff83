//! Tokens of Discord bots, which have no fixed beginning: their two dots give them away.

use super::bytes::{self, ALNUM, URL64, byte_at, byte_before};
use super::marks::Finding;
use super::randomness::is_mixed;

/// Adds the tokens of a text: an id in base64, a dot, six characters, a dot, a signature.
pub(crate) fn find(text: &[u8], found: &mut Vec<Finding>) {
    for dot in bytes::each_sign(b'.', text) {
        if byte_at(text, dot + 7) != b'.' || !ALNUM.has(byte_before(text, dot)) {
            continue;
        }
        let from = bytes::run_start(text, dot, ALNUM, 30);
        // The `n` of an escaped newline is not part of the token.
        let start = if byte_before(text, from) == b'\\' { from + 1 } else { from };
        let end = bytes::run_end(text, dot + 8, URL64, 48);
        let is_id = (23..=28).contains(&(dot - start)) && matches!(text[start], b'M' | b'N' | b'O');
        let fits = is_id && bytes::run_end(text, dot + 1, URL64, 6) == dot + 7 && (27..=40).contains(&(end - dot - 8));
        if fits && is_mixed(&text[start..end]) {
            found.push(Finding { rule: "discord-bot-token".into(), range: start..end });
        }
    }
}
