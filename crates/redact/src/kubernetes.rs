//! Kubernetes Secrets: every value of their `data` is a secret, whatever its key.

use std::ops::Range;

use super::bytes::{self, BLANK, ByteSet, byte_at, byte_before};
use super::harmless::is_placeholder;
use super::line_wrap::line_break;
use super::value::quote_at;

/// How far the data may be from the kind on either side, and how many values are read.
const REACH_BYTES: usize = 1500;
const MAX_VALUES: usize = 32;
const KEY: ByteSet = ByteSet::of("a-zA-Z0-9._-");

/// Whether the `Secret` at `name` is a kind: `kind: Secret`, `"kind": "Secret"`.
pub(crate) fn is_kind_of_secret(text: &[u8], name: &Range<usize>) -> bool {
    if text[name.clone()] != *b"Secret" {
        return false;
    }
    let sign = bytes::run_start(text, name.start, ByteSet::of(" \"\\:"), 12);
    text[..sign].ends_with(b"kind") && text[sign..name.start].contains(&b':')
}

/// Adds the values of the Secret whose kind is at `name`.
pub(crate) fn add_values(text: &[u8], name: &Range<usize>, found: &mut Vec<Range<usize>>) {
    let from = text[..name.start].len().saturating_sub(REACH_BYTES);
    let head = &text[from..name.start];
    bytes::count_steps(head.len());
    let begin = memchr::memmem::rfind(head, b"---").map_or(from, |n| from + n);
    let end = text.len().min(name.end + REACH_BYTES);
    bytes::count_steps(end - begin);
    let end = memchr::memmem::find(&text[name.end..end], b"\n---").map_or(end, |n| name.end + n);
    for word in [&b"data"[..], b"stringData"] {
        let mut offset = begin;
        while let Some(n) = memchr::memmem::find(&text[offset..end], word) {
            let after = offset + n + word.len();
            // Not the end of `metadata`.
            if !byte_before(text, offset + n).is_ascii_alphanumeric() {
                add_block_values(text, after, end, found);
            }
            offset = after;
        }
    }
}

/// Adds the values of the block whose name ends at `name_end`.
fn add_block_values(text: &[u8], name_end: usize, end: usize, found: &mut Vec<Range<usize>>) {
    let sign = quote_at(text, name_end).map_or(name_end, |(_, after)| after);
    let open = bytes::run_end(text, sign, ByteSet::of(": \t{"), 12);
    if byte_at(text, sign) != b':' {
        return;
    }
    let mut offset = line_break(text, open).map_or(open, |(_, next)| next);
    let indent = offset - indent_start(text, offset);
    for _ in 0..MAX_VALUES {
        let Some((range, next)) = pair(text, offset, end) else { return };
        let value = &text[range.clone()];
        if value.len() >= 4 && !is_placeholder(value) && !b"{$<!".contains(&value[0]) {
            found.push(range);
        }
        let Some(next) = next_pair(text, next) else { return };
        if byte_before(text, next) != b' ' && indent > 0 || next >= end || next - indent_start(text, next) < indent {
            return;
        }
        offset = next;
    }
}

/// The value of the key that begins at `place`, and its end.
fn pair(text: &[u8], offset: usize, end: usize) -> Option<(Range<usize>, usize)> {
    let key = quote_at(text, offset).map_or(offset, |(_, inside)| inside);
    let key_end = bytes::run_end(text, key, KEY, 128);
    let sign = quote_at(text, key_end).map_or(key_end, |(_, after)| after);
    if key_end == key || byte_at(text, sign) != b':' {
        return None;
    }
    let start = bytes::run_end(text, sign + 1, BLANK, 8);
    let start = quote_at(text, start).map_or(start, |(_, inside)| inside);
    let stop = bytes::find_byte(text, start, 4096.min(end.saturating_sub(start)), |b| b <= b' ' || b"\"'\\,}".contains(&b)).0;
    Some((start..stop, stop))
}

/// The start of the next key: behind a comma, or on the next line.
fn next_pair(text: &[u8], end: usize) -> Option<usize> {
    let offset = quote_at(text, end).map_or(end, |(_, after)| after);
    if byte_at(text, offset) == b',' {
        return Some(bytes::run_end(text, offset + 1, BLANK, 8));
    }
    line_break(text, offset).map(|(_, next)| next)
}

fn indent_start(text: &[u8], offset: usize) -> usize {
    bytes::run_start(text, offset, BLANK, 64)
}
