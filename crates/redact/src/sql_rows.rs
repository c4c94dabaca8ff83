//! Rows of a database dump: `INSERT INTO users (login, password) VALUES (…)`, `COPY users (login, password) FROM stdin;`.

use std::ops::Range;

use super::bytes::{self, ByteSet, byte_at, byte_before};
use super::candidate::is_secret;
use super::line_wrap::{after_newline, line_break};
use super::secret_names::{SecretKind, kind_of_name};
use super::value::{opening_quote, quoted_end};

/// What stands between the columns and the rows.
pub(crate) const KEYS: [&str; 2] = ["values", "stdin;"];
/// The most bytes of the list of columns, of a row and of a value, and the most rows.
const MAX_HEAD_BYTES: usize = 400;
const MAX_BYTES: usize = 400;
const MAX_ROWS: usize = 24;

/// Adds the secrets of the rows behind the keyword at `hit`, from `to` on, which moves behind what was read.
pub(crate) fn find(text: &[u8], hit: Range<usize>, to: &mut usize, found: &mut Vec<Range<usize>>) {
    let is_copied = text[hit.clone()].ends_with(b";");
    // `) FROM stdin;`
    let from = if is_copied { 5 } else { 0 };
    let close = bytes::run_start(text, hit.start.saturating_sub(from), ByteSet::of(" \t\r\n"), 40);
    if byte_before(text, close) != b')' || hit.start < *to {
        return;
    }
    let head = &text[close.saturating_sub(MAX_HEAD_BYTES)..close - 1];
    let Some(open) = bytes::rfind_sign(b'(', head) else { return };
    let columns: Vec<Option<SecretKind>> = head[open + 1..].split(|b| *b == b',').map(kind_of_column).collect();
    if columns.iter().all(Option::is_none) {
        return;
    }
    let mut row = bytes::run_end(text, hit.end, ByteSet::of(" \t"), 8);
    for _ in 0..MAX_ROWS {
        let next = if is_copied { copied(text, row, &columns, found) } else { tuple(text, row, &columns, found) };
        let Some(next) = next else { break };
        (row, *to) = (next, next);
    }
}

fn kind_of_column(name: &[u8]) -> Option<SecretKind> {
    let name = name.trim_ascii();
    kind_of_name(name.strip_prefix(b"`").and_then(|name| name.strip_suffix(b"`")).unwrap_or(name.trim_ascii()))
}

/// Reads a row `(1, 'a', 'b')`, and returns the offset behind it.
fn tuple(text: &[u8], row: usize, columns: &[Option<SecretKind>], found: &mut Vec<Range<usize>>) -> Option<usize> {
    let mut offset = row;
    while let Some((_, next)) = line_break(text, offset).filter(|(_, next)| next - row < MAX_BYTES) {
        offset = next;
    }
    offset = bytes::run_end(text, offset, ByteSet::of(" ,"), 8);
    while let Some((_, next)) = line_break(text, offset).filter(|(_, next)| next - row < MAX_BYTES) {
        offset = next;
    }
    if byte_at(text, offset) != b'(' {
        return None;
    }
    for column in columns {
        offset = bytes::run_end(text, offset + 1, ByteSet::of(" \t"), 8);
        if let Some((quote, inside)) = opening_quote(text, offset) {
            let end = quoted_end(text, inside, quote, MAX_BYTES)?;
            add(text, inside..end, *column, found);
            offset = end + 1 + quote.backslashes;
        }
        let (end, is_closed) = bytes::find_byte(text, offset, MAX_BYTES, |b| matches!(b, b',' | b')' | b'\n'));
        if !is_closed || byte_at(text, end) == b'\n' {
            return None;
        }
        offset = end;
    }
    Some(offset + 1)
}

/// Reads a line whose cells are separated by tabs, and returns its end.
fn copied(text: &[u8], row: usize, columns: &[Option<SecretKind>], found: &mut Vec<Range<usize>>) -> Option<usize> {
    let start = after_newline(text, row)?;
    let (end, _) = bytes::find_byte(text, start, MAX_BYTES, |b| b == b'\n');
    let mut cell = start;
    for column in columns {
        let stop = bytes::find_byte(text, cell, end.saturating_sub(cell), |b| b == b'\t').0;
        add(text, cell..stop, *column, found);
        cell = stop + 1;
    }
    (cell > end && end > start).then_some(end)
}

fn add(text: &[u8], range: Range<usize>, column: Option<SecretKind>, found: &mut Vec<Range<usize>>) {
    let is_one =
        |kind: SecretKind| kind != SecretKind::Auth && text.get(range.clone()).is_some_and(|value| is_secret(value, kind, true));
    if column.is_some_and(is_one) {
        found.push(range);
    }
}
