//! Files that hold nothing but a key: Rails' `config/master.key`, `.erlang.cookie`, `.vault_pass`. What stands behind the name of one, or is
//! written into it, is that key.

use std::ops::Range;

use super::bytes::{self, ANY_HEX, ByteSet};
use super::candidate::is_secret;
use super::line_wrap::{next_line, skip_line_prefix};
use super::randomness::{distinct_bytes, has_digit};
use super::secret_names::SecretKind;
use super::sentence::only_word_of_line;
use super::spoken_keys::runs;

/// Names of such files of Rails, whose keys have 32 hexadecimal digits.
pub(crate) const RAILS: [&str; 5] = ["master.key", "production.key", "staging.key", "development.key", "test.key"];
/// Of others, whose keys are read only on the line below.
pub(crate) const OTHERS: [&str; 5] = ["erlang.cookie", "vault_pass", "vault-pass", "vault-token", "vault_password_file"];
const REACH_BYTES: usize = 160;

/// The key of Rails behind the name at `hit`, on its line or the next, or before it on its line.
pub(crate) fn rails(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    let line_end = |from: usize| bytes::find_byte(text, from, REACH_BYTES, |b| b == b'\n').0;
    let end = line_end(hit.end);
    let below = next_line(text, hit.end, REACH_BYTES).map_or(end, line_end);
    let fits = |range: &Range<usize>| {
        let value = &text[range.clone()];
        value.len() == 32 && has_digit(value) && distinct_bytes(value) >= 8
    };
    let behind = runs(text, hit.end..end.max(below), ANY_HEX)
        .find(fits)
        .filter(|range| leads_to_key(&text[hit.start.saturating_sub(24)..range.start]));
    behind.or_else(|| {
        let head = &text[hit.start.saturating_sub(REACH_BYTES / 2)..hit.start];
        let start = hit.start - head.len() + bytes::rfind_sign(b'\n', head).map_or(0, |n| n + 1);
        runs(text, start..hit.start, ANY_HEX).find(fits).filter(|range| leads_to_key(&text[range.end..hit.start]))
    })
}

/// Whether nothing between the name and the digits says that they are something else.
fn leads_to_key(between: &[u8]) -> bool {
    let lower = between.to_ascii_lowercase();
    !["md5", "sha", "sum", "commit", "hash", "etag", "digest", " id"]
        .iter()
        .any(|word| bytes::find(&lower, word.as_bytes()).is_some())
}

/// The key that is alone on the line below the name at `hit`.
pub(crate) fn below(text: &[u8], hit: Range<usize>) -> Option<Range<usize>> {
    // Only behind the command that prints it.
    let end = bytes::run_end(text, hit.end, ByteSet::of("a-z._\"'` \t\r"), 24);
    let next = next_line(text, end, 1)?;
    let range = only_word_of_line(text, skip_line_prefix(text, next))?;
    let value = &text[range.clone()];
    let is_cookie = value.len() == 20 && value.iter().all(u8::is_ascii_uppercase) && distinct_bytes(value) >= 8;
    (is_cookie || is_secret(value, SecretKind::Password, true)).then_some(range)
}
