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

/// How far manifests have been searched, so that no stretch is searched once per Secret.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The end of what was searched, and whether a document ends there.
    to: usize,
    is_document_end: bool,
}

impl Progress {
    /// Adds the values of the Secret whose kind is at `name`. Names come ordered by start.
    pub(crate) fn add_values(&mut self, text: &[u8], name: &Range<usize>, found: &mut Vec<Range<usize>>) {
        if name.start < self.to && self.is_document_end {
            return;
        }
        let mut offset = self.to;
        if name.start >= self.to {
            let from = name.start.saturating_sub(REACH_BYTES).max(self.to);
            offset = bytes::rfind(&text[from..name.start], b"---").map_or(from, |n| from + n);
        }
        let from = name.end.max(self.to);
        let reach = text.len().min(name.end + REACH_BYTES).max(from);
        let boundary = bytes::find(&text[from..reach], b"\n---");
        let end = boundary.map_or(reach, |n| from + n);
        while let Some(after) = next_block(text, offset, end) {
            offset = add_block_values(text, after, found).max(after);
        }
        (self.to, self.is_document_end) = (end.max(offset), boundary.is_some());
    }
}

/// The offset behind the next `data` or `stringData`.
fn next_block(text: &[u8], from: usize, end: usize) -> Option<usize> {
    let mut offset = from;
    loop {
        let word = offset + bytes::find(text.get(offset..end)?, b"ata")?;
        offset = word + 3;
        let head = &text[..word];
        let is_data = head.ends_with(b"d") && !byte_before(text, word - 1).is_ascii_alphanumeric();
        // Not the end of `metadata`.
        if is_data || head.ends_with(b"stringD") && !byte_before(text, word - 7).is_ascii_alphanumeric() {
            return Some(offset);
        }
    }
}

/// Adds the values of the block whose name ends at `name_end`, and returns how far it was read.
fn add_block_values(text: &[u8], name_end: usize, found: &mut Vec<Range<usize>>) -> usize {
    let sign = quote_at(text, name_end).map_or(name_end, |(_, after)| after);
    let open = bytes::run_end(text, sign, ByteSet::of(": \t{"), 12);
    if byte_at(text, sign) != b':' {
        return name_end;
    }
    let mut offset = line_break(text, open).map_or(open, |(_, next)| next);
    let indent = offset - indent_start(text, offset);
    for _ in 0..MAX_VALUES {
        let Some(range) = pair(text, offset) else { break };
        let (value, end) = (&text[range.clone()], range.end);
        if value.len() >= 4 && !is_placeholder(value) && !b"{$<!".contains(&value[0]) {
            found.push(range);
        }
        offset = end;
        let Some(next) = next_pair(text, end) else { break };
        if byte_before(text, next) != b' ' && indent > 0 || next - indent_start(text, next) < indent {
            break;
        }
        offset = next;
    }
    offset
}

/// The value of the key that begins at `place`.
fn pair(text: &[u8], offset: usize) -> Option<Range<usize>> {
    let key = quote_at(text, offset).map_or(offset, |(_, inside)| inside);
    let key_end = bytes::run_end(text, key, KEY, 128);
    let sign = quote_at(text, key_end).map_or(key_end, |(_, after)| after);
    if key_end == key || byte_at(text, sign) != b':' {
        return None;
    }
    let start = bytes::run_end(text, sign + 1, BLANK, 8);
    let start = quote_at(text, start).map_or(start, |(_, inside)| inside);
    let stop = bytes::find_byte(text, start, 4096, |b| b <= b' ' || b"\"'\\,}".contains(&b)).0;
    Some(start..stop)
}

/// The start of the next key: behind a comma, on the next line, or both.
fn next_pair(text: &[u8], end: usize) -> Option<usize> {
    let offset = quote_at(text, end).map_or(end, |(_, after)| after);
    if byte_at(text, offset) == b',' {
        let next = bytes::run_end(text, offset + 1, BLANK, 8);
        return Some(line_break(text, next).map_or(next, |(_, next)| next));
    }
    line_break(text, offset).map(|(_, next)| next)
}

fn indent_start(text: &[u8], offset: usize) -> usize {
    bytes::run_start(text, offset, BLANK, 64)
}
